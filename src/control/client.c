/* SPDX-License-Identifier: MIT */
#include "control/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "control/control.h"
#include "control/place.h"

#define PATIENCE_S 30 /* where many others want to be connected */

/* ---- finding it ---- */

/* A number of /proc/PID/status; 0: it is not known. */
static pid_t status_number(pid_t pid, const char *key)
{
	char path[64], line[256];
	int value = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	CP_FCLOSE FILE *f = fopen(path, "re");
	while (f && !value && fgets(line, sizeof(line), f))
		if (cp_starts_with(line, key) && line[strlen(key)] == ':')
			value = atoi(line + strlen(key) + 1);
	return value;
}

struct search {
	int place;
	pid_t pid, cprof; /* who traces that one; 0: nobody */
	int fd; /* -1: not found */
	int errnum; /* of the last one that was found and can't be had */
};

static bool try_socket(void *ctx, const struct cp_control_socket *socket)
{
	struct search *s = ctx;
	int errnum;

	if (socket->target != s->pid && socket->cprof != s->pid && socket->cprof != s->cprof)
		return true;
	errnum = cp_control_connect(s->place, socket->name, PATIENCE_S, &s->fd);
	if (errnum && errnum != ECONNREFUSED)
		s->errnum = errnum;
	return errnum != 0;
}

static CP_ERROR no_session(pid_t pid, pid_t tracer)
{
	CP_CLOSE int process = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_PATH | O_CLOEXEC);
	if (process < 0)
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no process %d", (int)pid);
	if (tracer)
		return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						  "process %d is traced by process %d, of which "
						  "you have no socket",
						  (int)pid, (int)tracer),
				     "a session of another user, or with another "
				     "XDG_RUNTIME_DIR, is reached by the path of its socket");
	return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0, "no session profiles process %d",
					  (int)pid),
			     "'cprof attach %d' begins one", (int)pid);
}

CP_ERROR cp_control_find(pid_t pid, int *fd_ret)
{
	struct search s = { .place = -1, .pid = pid, .fd = -1 };
	pid_t tracer = status_number(pid, "TracerPid");
	CP_FREE char *path = NULL;
	CP_CLOSE int place = -1;
	struct cp_error *err;

	s.cprof = tracer ? status_number(tracer, "PPid") : 0;
	err = cp_control_open_place(false, &place, &path);
	if (err && err->code != CP_ERR_NOT_FOUND)
		return err;
	cp_error_free(err);
	s.place = place;
	if (place >= 0)
		cp_control_each_socket(place, try_socket, &s);
	if (s.fd < 0 && s.errnum)
		return cp_error_new(CP_ERR_IO, s.errnum, "connecting to the session of process %d",
				    (int)pid);
	if (s.fd < 0)
		return no_session(pid, tracer);
	*fd_ret = s.fd;
	return NULL;
}

CP_ERROR cp_control_open(const char *path, int *fd_ret)
{
	const char *name = cp_basename(path);
	CP_FREE char *directory = strndup(path, (size_t)(name - path));
	CP_CLOSE int place = -1;
	int errnum;

	if (!directory)
		return cp_error_nomem();
	place = open(*directory ? directory : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	errnum = place < 0 ? errno : cp_control_connect(place, name, PATIENCE_S, fd_ret);
	if (errnum == ECONNREFUSED)
		return cp_error_new(CP_ERR_NOT_FOUND, 0,
				    "nobody listens at '%s': it is no socket, or its cprof is gone",
				    path);
	if (errnum)
		return cp_error_new(errnum == ENOENT ? CP_ERR_NOT_FOUND : CP_ERR_IO, errnum,
				    "connecting to '%s'", path);
	return NULL;
}

/* ---- saying something ---- */

static CP_ERROR lost(int errnum)
{
	return cp_error_new(CP_ERR_GONE, errnum, "the session ended, or let go of us");
}

/* Waits until the socket is ready for `events`. */
static CP_ERROR wait_for(int fd, short events, uint64_t wait_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, wait_ns ? (int)(wait_ns / CP_NS_PER_MS) : -1);

	if (!n)
		return cp_error_new(CP_ERR_TIMEOUT, 0, "the session does not answer");
	return n < 0 && errno != EINTR ? lost(errno) : NULL;
}

static CP_ERROR send_all(int fd, const char *bytes, size_t size, uint64_t wait_ns)
{
	ssize_t n;

	while (size) {
		n = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			CP_TRY(wait_for(fd, POLLOUT, wait_ns));
		else if (n < 0 && errno != EINTR)
			return errno == EPIPE ? NULL : lost(errno); /* it may have said why */
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return NULL;
}

/* Reads until `size` bytes are there, or with `line` until a newline is. */
static CP_ERROR receive(int fd, size_t size, bool line, uint64_t wait_ns, struct cp_buf *out)
{
	char bytes[4096];
	size_t want;
	ssize_t n;

	while (size && !out->failed) {
		want = line ? 1 : size < sizeof(bytes) ? size : sizeof(bytes);
		n = recv(fd, bytes, want, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			CP_TRY(wait_for(fd, POLLIN, wait_ns));
		else if (!n || (n < 0 && errno != EINTR))
			return lost(n ? errno : 0);
		if (n <= 0)
			continue;
		cp_buf_add(out, bytes, (size_t)n);
		size -= (size_t)n;
		if (line && bytes[0] == '\n')
			return NULL;
	}
	return out->failed ? cp_error_nomem() : NULL;
}

static CP_ERROR nonsense(void)
{
	return cp_error_new(CP_ERR_FORMAT, 0, "what answers is no session of cprof");
}

/* "ok 12\n" */
static CP_ERROR read_head(int fd, uint64_t wait_ns, bool *done_ret, size_t *size_ret)
{
	struct cp_buf head CP_CLEANUP(cp_buf_free) = { 0 };
	uint64_t size;
	char *end;

	CP_TRY(receive(fd, 32, true, wait_ns, &head));
	end = memchr(head.bytes, '\n', head.size);
	if (!end || head.size < 4 || head.bytes[2] != ' ')
		return nonsense();
	*end = head.bytes[2] = 0;
	if (strcmp(head.bytes, CP_CONTROL_OK) != 0 && strcmp(head.bytes, CP_CONTROL_NO) != 0)
		return nonsense();
	if (!cp_parse_u64(head.bytes + 3, CP_CONTROL_ANSWER_MAX, &size))
		return nonsense();
	*done_ret = !strcmp(head.bytes, CP_CONTROL_OK);
	*size_ret = (size_t)size;
	return NULL;
}

CP_ERROR cp_control_say(int fd, const char *command, const char *argument, uint64_t wait_ns,
			bool *done_ret, struct cp_buf *out)
{
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };
	bool done = false;
	size_t size = 0;

	cp_buf_printf(&line, "%s%s%s\n", command, argument ? " " : "", argument ? argument : "");
	if (line.failed)
		return cp_error_nomem();
	if (line.size > CP_CONTROL_LINE_MAX || memchr(line.bytes, '\n', line.size - 1))
		return cp_error_new(CP_ERR_USAGE, 0, "a command is one line of at most %u bytes",
				    CP_CONTROL_LINE_MAX - 1);
	CP_TRY(send_all(fd, line.bytes, line.size, wait_ns));
	CP_TRY(read_head(fd, wait_ns, &done, &size));
	CP_TRY(receive(fd, size, false, wait_ns, out));
	*done_ret = done;
	return NULL;
}
