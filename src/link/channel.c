/* SPDX-License-Identifier: MIT
 *
 * Requests and answers. The controller asks, the tracer answers at once, one
 * request after the other.
 */
#include "link/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

/* How long an answer is waited for: so long while the tracer does nothing, and until it
 * has computed so long for it. Time says nothing alone: eight thousand threads are
 * attached to in a second of its own, which on a busy machine is half a minute. */
#define ANSWER_NS (10 * CP_NS_PER_S)
#define LOOK_MS 500

static struct cp_error *gone(void)
{
	return cp_error_new(CP_ERR_GONE, 0, "the tracer process is gone");
}

struct patience {
	uint64_t cpu_first, cpu_last; /* its CPU time */
	uint64_t since_ns; /* it has done nothing */
};

static uint64_t cpu_time(pid_t tracer)
{
	clockid_t clock;

	return tracer && !clock_getcpuclockid(tracer, &clock) ? cp_clock_ns(clock) : 0;
}

static bool waits_for_cpu(pid_t tracer)
{
	char state[4];

	return tracer && cp_file_stat_field(tracer, 3, state, sizeof(state)) && *state == 'R';
}

static bool is_over(const struct cp_link *link, struct patience *p)
{
	uint64_t cpu = cpu_time(link->tracer), now = cp_now();

	if (cpu != p->cpu_last || waits_for_cpu(link->tracer))
		p->since_ns = now;
	p->cpu_last = cpu;
	return now - p->since_ns >= ANSWER_NS || cpu - p->cpu_first >= ANSWER_NS;
}

static struct cp_error *wait_answer(struct cp_link *link)
{
	struct pollfd p = { .fd = link->controller_socket, .events = POLLIN };
	int n = poll(&p, 1, LOOK_MS); /* mostly it answers at once */
	uint64_t cpu = n > 0 ? 0 : cpu_time(link->tracer);
	struct patience patience = { cpu, cpu, n > 0 ? 0 : cp_now() };

	while ((n < 0 && errno == EINTR) || (n == 0 && !is_over(link, &patience)))
		n = poll(&p, 1, LOOK_MS);
	if (n == 0)
		return cp_error_new(CP_ERR_TIMEOUT, 0, "the tracer process does not answer");
	return NULL;
}

/* The descriptor that came with a message, or -1. */
static int message_fd(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Receives one message; a descriptor of an earlier one is closed. */
static struct cp_error *receive(struct cp_link *link, struct cp_answer *ret, int *fd_ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { ret, sizeof(*ret) };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t n;

	cp_close_fd(fd_ret);
	*fd_ret = -1;
	CP_TRY(wait_answer(link));
	do {
		n = recvmsg(link->controller_socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		*fd_ret = message_fd(&m);
	return n == sizeof(*ret) ? NULL : gone();
}

struct cp_error *cp_link_send(struct cp_link *link, const struct cp_request *request,
			      uint64_t *serial_ret)
{
	struct cp_request numbered = *request;

	numbered.serial = ++link->serial;
	if (send(link->controller_socket, &numbered, sizeof(numbered), MSG_NOSIGNAL) < 0)
		return gone();
	*serial_ret = numbered.serial;
	return NULL;
}

struct cp_error *cp_link_wait(struct cp_link *link, uint64_t serial, struct cp_answer *ret,
			      int *fd_ret)
{
	struct cp_answer answer;
	CP_CLOSE int fd = -1;

	do
		CP_TRY(receive(link, &answer, &fd));
	while (answer.serial != serial);
	*ret = answer;
	if (fd_ret)
		*fd_ret = cp_steal_fd(&fd);
	return NULL;
}

struct cp_error *cp_link_call(struct cp_link *link, const struct cp_request *request,
			      struct cp_answer *ret, int *fd_ret)
{
	struct cp_answer answer;
	CP_CLOSE int fd = -1;
	uint64_t serial;

	CP_TRY(cp_link_send(link, request, &serial));
	CP_TRY(cp_link_wait(link, serial, &answer, &fd));
	if (answer.type != request->type)
		return gone();
	*ret = answer;
	if (fd_ret)
		*fd_ret = cp_steal_fd(&fd);
	return NULL;
}

bool cp_link_receive(struct cp_link *link, struct cp_request *ret, bool *gone_ret)
{
	ssize_t n = recv(link->tracer_socket, ret, sizeof(*ret), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		*gone_ret = true;
	return n == sizeof(*ret);
}

void cp_link_answer(struct cp_link *link, const struct cp_answer *answer, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct cp_answer copy = *answer;
	struct iovec v = { &copy, sizeof(copy) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	/* A controller that is gone is noticed by the next receive. */
	if (sendmsg(link->tracer_socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}
