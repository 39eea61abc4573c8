/* SPDX-License-Identifier: MIT
 *
 * One descriptor for all of it: an epoll instance with the socket, whoever is connected,
 * and a clock, by which those who are silent are let go and commands that came together
 * are served one at a time.
 */
#include "control/server.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "control/control.h"
#include "control/place.h"
#include "control/port.h"

#define PEERS 16
#define ACCEPTS 32 /* at once */
#define LATER_NS (20 * CP_NS_PER_MS)
#define SILENCE_NS (10 * CP_NS_PER_S)

/* Who is connected. */
struct peer {
	int fd; /* -1: a free place */
	uint64_t heard_ns; /* when it last said, or read, something */
	char line[CP_CONTROL_LINE_MAX];
	size_t size;
	struct cp_buf out; /* answers, of which `sent` bytes went */
	size_t sent;
	bool ends; /* it is let go when it has read its answer */
	bool at_the_end; /* that is given when the session is over */
	bool later; /* `out` is it, once that is so */
};

struct cp_control_server {
	int place, listener, events, clock; /* place: -1: it is a port; */
	const char *only; /* the command that is taken there; static */
	char *name, *path; /* owned: in the directory; with it */
	struct peer peers[PEERS];
};

/* What epoll says of who is no peer. */
#define LISTENER PEERS
#define CLOCK (PEERS + 1)

static int watch(struct cp_control_server *s, int how, int fd, uint32_t events, uint32_t who)
{
	struct epoll_event e = { .events = events, .data.u32 = who };

	return epoll_ctl(s->events, how, fd, &e);
}

static void set_clock(struct cp_control_server *s, uint64_t ns)
{
	const struct itimerspec when = { .it_value = cp_timespec(ns) };

	timerfd_settime(s->clock, 0, &when, NULL);
}

/* ---- one of them ---- */

static void let_go(struct peer *p)
{
	cp_close_fd(&p->fd);
	cp_buf_free(&p->out);
	*p = (struct peer){ .fd = -1 };
}

static void answer(struct peer *p, bool done, const struct cp_buf *text)
{
	size_t size = text->size < CP_CONTROL_ANSWER_MAX ? text->size : CP_CONTROL_ANSWER_MAX;

	cp_buf_printf(&p->out, "%s %zu\n", done ? CP_CONTROL_OK : CP_CONTROL_NO, size);
	cp_buf_add(&p->out, text->bytes, size);
	p->ends |= p->out.failed;
}

static void refuse(struct peer *p, const char *why)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_str(&text, why);
	answer(p, false, &text);
	p->ends = true;
}

/* Sends what there is; false: the peer is gone. */
static bool send_answers(struct cp_control_server *s, struct peer *p)
{
	ssize_t n;

	while (p->sent < p->out.size && !p->later) {
		n = send(p->fd, p->out.bytes + p->sent, p->out.size - p->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			break;
		p->sent += (size_t)n;
		p->heard_ns = cp_now();
	}
	if (p->later) {
		watch(s, EPOLL_CTL_MOD, p->fd, 0, (uint32_t)(p - s->peers));
		return true;
	}
	if (p->sent < p->out.size) {
		if (errno != EAGAIN && errno != EINTR)
			return false;
		watch(s, EPOLL_CTL_MOD, p->fd, EPOLLOUT, (uint32_t)(p - s->peers));
		return true;
	}
	p->sent = 0;
	cp_buf_clear(&p->out);
	watch(s, EPOLL_CTL_MOD, p->fd, p->at_the_end ? 0 : EPOLLIN, (uint32_t)(p - s->peers));
	return !p->ends;
}

/* Splits "command argument" where it stands. */
static const char *argument_of(char *line)
{
	char *at = line + strcspn(line, " ");

	if (!*at)
		return at;
	*at++ = 0;
	return at + strspn(at, " ");
}

/* Serves the first line of what the peer said; false: there is no whole one. */
static bool serve_line(const struct cp_control_server *s, struct peer *p, cp_control_fn fn,
		       void *ctx)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	char *end = memchr(p->line, '\n', p->size);
	enum cp_control_answer how;
	const char *argument;
	size_t size;

	if (!end)
		return false;
	size = (size_t)(end - p->line) + 1;
	*end = 0;
	if (strlen(p->line) + 1 != size) {
		refuse(p, "a command is a line of text");
		return true;
	}
	if (size > 1 && end[-1] == '\r')
		end[-1] = 0;
	argument = argument_of(p->line);
	if (s->only && (strcmp(p->line, s->only) != 0 || *argument)) {
		refuse(p, "this port takes no such command");
		return true;
	}
	how = fn(ctx, p->line, argument, &text);
	p->at_the_end = how == CP_CONTROL_AT_THE_END;
	p->later = how == CP_CONTROL_LATER;
	if (!p->at_the_end)
		answer(p, how != CP_CONTROL_REFUSED, &text);
	memmove(p->line, end + 1, p->size - size);
	p->size -= size;
	return true;
}

static bool has_line(const struct peer *p)
{
	return p->fd >= 0 && !p->out.size && !p->at_the_end && memchr(p->line, '\n', p->size);
}

/* False: the peer is gone. */
static bool hear(struct peer *p)
{
	ssize_t n = recv(p->fd, p->line + p->size, sizeof(p->line) - p->size, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	p->size += (size_t)n;
	if (n)
		p->heard_ns = cp_now();
	if (!memchr(p->line, '\n', p->size) && p->size == sizeof(p->line))
		refuse(p, "the line is too long");
	return n || has_line(p);
}

static void serve_peer(struct cp_control_server *s, struct peer *p, uint32_t events,
		       cp_control_fn fn, void *ctx)
{
	bool stays = true;

	if (p->fd < 0)
		return;
	if (p->at_the_end || p->later) { /* EPOLLHUP: it does not wait any more */
		let_go(p);
		return;
	}
	if (!p->out.size && events & (EPOLLIN | EPOLLHUP) && !has_line(p))
		stays = hear(p);
	if (stays && !p->out.size)
		serve_line(s, p, fn, ctx);
	if (!stays || !send_answers(s, p))
		let_go(p);
}

/* ---- all of them ---- */

/* A place for one more: of those who are connected, the longest silent one loses its own. */
static struct peer *make_place(struct cp_control_server *s)
{
	struct peer *p, *silent = NULL;

	for (p = s->peers; p < s->peers + PEERS; p++) {
		if (p->fd < 0)
			return p;
		if (!p->at_the_end && !p->later && (!silent || p->heard_ns < silent->heard_ns))
			silent = p;
	}
	if (silent)
		let_go(silent);
	return silent;
}

static bool may_steer(const struct cp_control_server *s, int fd)
{
	uid_t who = s->only ? cp_control_port_peer(fd) : cp_control_peer(fd);

	return who == geteuid() || who == 0;
}

/* Takes the next one that has connected; false: there is none. */
static bool take_peer(struct cp_control_server *s, cp_control_fn fn, void *ctx)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer *p;

	if (fd < 0)
		return errno == ECONNABORTED || errno == EINTR;
	p = make_place(s);
	if (!p || watch(s, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)(p - s->peers))) {
		close(fd);
		return true;
	}
	*p = (struct peer){ .fd = fd, .heard_ns = cp_now() };
	if (!may_steer(s, fd))
		refuse(p, "the session is another user's");
	serve_peer(s, p, EPOLLIN, fn, ctx); /* it has mostly said what it wants */
	return true;
}

/* Gives those their answer who wait for it. */
static void look_at_later(struct cp_control_server *s, cp_control_settled_fn settled, void *ctx)
{
	struct peer *p;

	for (p = s->peers; p < s->peers + PEERS; p++) {
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
		bool failed = false;

		if (p->fd < 0 || !p->later || !settled(ctx, &failed, &text))
			continue;
		p->later = false;
		p->heard_ns = cp_now();
		if (failed) {
			cp_buf_clear(&p->out);
			answer(p, false, &text);
		}
		if (!send_answers(s, p))
			let_go(p);
	}
}

/* Lets go of who is silent; sets the clock for the next look. */
static void look_at_clock(struct cp_control_server *s)
{
	uint64_t now = cp_now(), rings, wait = 0;
	struct peer *p;

	if (read(s->clock, &rings, sizeof(rings)) < 0 && errno != EAGAIN)
		return;
	for (p = s->peers; p < s->peers + PEERS; p++) {
		if (p->fd >= 0 && !p->at_the_end && !p->later && now - p->heard_ns > SILENCE_NS)
			let_go(p);
		if (has_line(p))
			wait = 1;
		else if (p->fd >= 0 && p->later && wait != 1)
			wait = LATER_NS;
		else if (p->fd >= 0 && !wait)
			wait = CP_NS_PER_S;
	}
	set_clock(s, wait);
}

void cp_control_serve(struct cp_control_server *s, cp_control_fn fn, cp_control_settled_fn settled,
		      void *ctx)
{
	struct epoll_event events[PEERS + 2];
	int n = epoll_wait(s->events, events, PEERS + 2, 0), i, k;
	uint32_t who;

	for (i = 0; i < n; i++) {
		who = events[i].data.u32;
		for (k = 0; who == LISTENER && k < ACCEPTS && take_peer(s, fn, ctx); k++)
			;
		if (who < PEERS)
			serve_peer(s, &s->peers[who], events[i].events, fn, ctx);
	}
	for (i = 0; i < PEERS; i++) /* what came together with what was served before */
		if (has_line(&s->peers[i]))
			serve_peer(s, &s->peers[i], 0, fn, ctx);
	look_at_later(s, settled, ctx);
	look_at_clock(s);
}

/* ---- the server ---- */

static CP_ERROR watch_all(struct cp_control_server *s)
{
	s->events = epoll_create1(EPOLL_CLOEXEC);
	s->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->events < 0 || s->clock < 0 ||
	    watch(s, EPOLL_CTL_ADD, s->listener, EPOLLIN, LISTENER) ||
	    watch(s, EPOLL_CTL_ADD, s->clock, EPOLLIN, CLOCK))
		return cp_error_new(CP_ERR_IO, errno, "waiting for commands");
	return NULL;
}

static CP_ERROR listen_for(struct cp_control_server *s, pid_t target)
{
	CP_FREE char *place = NULL;

	CP_TRY(cp_control_open_place(true, &s->place, &place));
	cp_control_clean(s->place);
	CP_TRY(cp_control_bind(s->place, target, &s->listener, &s->name));
	if (asprintf(&s->path, "%s/%s", place, s->name) < 0)
		return s->path = NULL, cp_error_nomem();
	return watch_all(s);
}

static CP_ERROR listen_at(struct cp_control_server *s, uint16_t port)
{
	CP_TRY(cp_control_listen_at(port, &s->listener));
	return watch_all(s);
}

/* For a target by the socket of its session, or for a command at a port. */
static CP_ERROR create(pid_t target, uint16_t port, const char *command,
		       struct cp_control_server **ret)
{
	struct cp_control_server *s = calloc(1, sizeof(*s));
	struct cp_error *err;
	size_t i;

	if (!s)
		return cp_error_nomem();
	s->only = command;
	s->place = s->listener = s->events = s->clock = -1;
	for (i = 0; i < PEERS; i++)
		s->peers[i].fd = -1;
	err = command ? listen_at(s, port) : listen_for(s, target);
	if (err) {
		cp_control_destroy(s, "", true);
		return err;
	}
	*ret = s;
	return NULL;
}

CP_ERROR cp_control_create(pid_t target, struct cp_control_server **ret)
{
	return create(target, 0, NULL, ret);
}

CP_ERROR cp_control_create_at(uint16_t port, const char *command, struct cp_control_server **ret)
{
	return create(0, port, command, ret);
}

const char *cp_control_path(const struct cp_control_server *s)
{
	return s->path;
}

int cp_control_fd(const struct cp_control_server *s)
{
	return s->events;
}

void cp_control_destroy(struct cp_control_server *s, const char *last, int failed)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct peer *p;

	if (!s)
		return;
	if (s->name)
		unlinkat(s->place, s->name, 0);
	cp_buf_str(&text, last);
	for (p = s->peers; p < s->peers + PEERS; p++) {
		if (p->fd >= 0 && p->at_the_end)
			answer(p, !failed, &text);
		p->later = false; /* by now it is so */
		if (p->fd >= 0 && p->out.size)
			send_answers(s, p);
		let_go(p);
	}
	cp_close_fd(&s->listener);
	cp_close_fd(&s->clock);
	cp_close_fd(&s->events);
	cp_close_fd(&s->place);
	free(s->name);
	free(s->path);
	free(s);
}
