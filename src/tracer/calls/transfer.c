/* SPDX-License-Identifier: MIT
 *
 * Which transfers go on until all is done, unless something comes in between,
 * and what is left to do of one that was interrupted.
 *
 * Many calls return less than they were asked for and always did: a read() of a
 * pipe takes what is there. To ask for the rest would block for what never
 * comes. So what counts is where the kernel itself would have gone on:
 *
 *     write and its like    to pipes, stream sockets, terminals; files of FUSE
 *     sendfile              but not into a pipe, which is filled once
 *     copy_file_range       of files, one and two
 *     splice                out of a pipe, as long as something is in it
 *     recv                  MSG_WAITALL of a stream
 *     read and its like     of /dev/zero and its like. (A terminal's VMIN is not kept
 *                           to by the kernel itself, for more than 64 bytes.)
 *     getrandom
 *     recvmmsg              up to the number of messages
 *
 * on descriptors that block.
 */
#include "tracer/calls/transfer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tracer/known/proc.h"
#include "tracer/memory/space.h"

#define TRANSFER_MOST UINT64_C(0x7ffff000) /* of one call: MAX_RW_COUNT */
/* With others the rest would be another thing than the whole. */
#define SEND_FLAGS (MSG_NOSIGNAL | MSG_MORE | MSG_DONTROUTE | MSG_EOR | MSG_CONFIRM)
#define RECEIVE_FLAGS (MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)

#define LIMIT_MOST (INT64_C(1) << 32) /* seconds; longer ones are none */
#define MEMORY_DEVICES 1 /* major numbers: /dev/zero, /dev/urandom */
#define IS_TERMINAL(major) \
	((major) == 4 || (major) == 5 || ((major) >= 136 && (major) <= 143) || (major) == 166 || \
	 (major) == 188 || (major) == 204)

enum shape {
	WRITE, /* fd, buffer, size */
	READ,
	WRITE_AT, /* and where in the file */
	READ_AT,
	WRITE_VECTOR, /* fd, vectors, their number */
	READ_VECTOR,
	WRITE_VECTOR_AT, /* and where in the file */
	READ_VECTOR_AT,
	SEND, /* fd, buffer, size, flags */
	RECEIVE,
	SEND_MESSAGE, /* fd, message, flags */
	RECEIVE_MESSAGE,
	SEND_MESSAGES, /* fd, messages, their number, flags */
	RECEIVE_MESSAGES,
	SEND_FILE, /* to, from, where in it, size */
	SPLICE, /* from, where, to, where, size, flags */
	COPY, /* the same */
	RANDOM, /* buffer, size */
};

static const struct kind {
	int64_t nr;
	enum shape shape;
} kinds[] = {
	{ SYS_write, WRITE },
	{ SYS_writev, WRITE_VECTOR },
	{ SYS_sendto, SEND },
	{ SYS_sendmsg, SEND_MESSAGE },
	{ SYS_read, READ },
	{ SYS_readv, READ_VECTOR },
	{ SYS_recvfrom, RECEIVE },
	{ SYS_recvmsg, RECEIVE_MESSAGE },
	{ SYS_sendfile, SEND_FILE },
	{ SYS_splice, SPLICE },
	{ SYS_copy_file_range, COPY },
	{ SYS_pwrite64, WRITE_AT },
	{ SYS_pwritev, WRITE_VECTOR_AT },
	{ SYS_pwritev2, WRITE_VECTOR_AT },
	{ SYS_pread64, READ_AT },
	{ SYS_preadv, READ_VECTOR_AT },
	{ SYS_preadv2, READ_VECTOR_AT },
	{ SYS_getrandom, RANDOM },
	{ SYS_sendmmsg, SEND_MESSAGES },
	{ SYS_recvmmsg, RECEIVE_MESSAGES },
};

static const struct kind *kind_of(int64_t nr)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].nr == nr)
			return &kinds[i];
	return NULL;
}

bool transfer_may_be(int64_t nr)
{
	return kind_of(nr) != NULL;
}

/* ---- what was asked for ---- */

/* A call that is looked at. */
struct look {
	const struct thread *t;
	const struct transfer *call;
	enum shape shape;
	struct transfer_rest *rest;
	uint64_t asked;
	struct proc_file file;
};

static bool read_vectors(struct look *l, uint64_t at, uint64_t count)
{
	struct transfer_rest *rest = l->rest;
	size_t i;

	if (!count || count > TRANSFER_VECTORS ||
	    !space_read(l->t->process->space, at, rest->vectors, count * sizeof(rest->vectors[0])))
		return false;
	rest->vector_count = count;
	for (i = 0; i < count; i++)
		l->asked += rest->vectors[i].iov_len;
	return true;
}

/* Of several messages, the last one that was sent at all. */
static bool last_is_short(struct look *l)
{
	const struct transfer *call = l->call;
	struct mmsghdr last;
	bool is_short;

	if (!space_read(l->t->process->space, call->args[1] + (call->done - 1) * sizeof(last),
			&last, sizeof(last)))
		return false;
	is_short = read_vectors(l, (uintptr_t)last.msg_hdr.msg_iov, last.msg_hdr.msg_iovlen) &&
		   last.msg_len < l->asked;
	l->rest->vector_count = 0;
	return is_short;
}

/* False: it can't be told. */
static bool read_asked(struct look *l)
{
	const uint64_t *args = l->call->args;
	struct msghdr *message = &l->rest->message;

	l->asked = 0;
	l->rest->vector_count = 0;
	l->rest->limit_arg = -1;
	l->rest->given = false;
	switch (l->shape) {
	case WRITE:
	case READ:
	case WRITE_AT:
	case READ_AT:
	case SEND:
	case RECEIVE:
	case RECEIVE_MESSAGES:
		l->asked = args[2];
		return true;
	case SEND_MESSAGES:
		l->asked = args[2] + last_is_short(l);
		return true;
	case SEND_FILE:
		l->asked = args[3];
		return true;
	case SPLICE:
	case COPY:
		l->asked = args[4];
		return true;
	case RANDOM:
		l->asked = args[1];
		return true;
	case WRITE_VECTOR:
	case READ_VECTOR:
	case WRITE_VECTOR_AT:
	case READ_VECTOR_AT:
		return read_vectors(l, args[1], args[2]);
	case SEND_MESSAGE:
	case RECEIVE_MESSAGE:
		l->rest->given = true;
		return space_read(l->t->process->space, args[1], message, sizeof(*message)) &&
		       read_vectors(l, (uintptr_t)message->msg_iov, message->msg_iovlen);
	}
	return false;
}

/* ---- would it have gone on? ---- */

/* A descriptor of the program's, as one of ours; -1: it can't be had. */
static int borrow(const struct thread *t, int fd)
{
	CP_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, t->process->pid, 0);

	/* The leader's: threads that do not share its files are left alone. */
	if (pidfd < 0 || !proc_same_files(t->tid, t->process->pid))
		return -1;
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

static bool is_stream(const struct thread *t, int fd)
{
	CP_CLOSE int own = borrow(t, fd);
	int type = 0, protocol = 0;
	socklen_t size = sizeof(type);

	return own >= 0 && !getsockopt(own, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_STREAM && !getsockopt(own, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) &&
	       protocol != IPPROTO_SCTP;
}

/* Of an ordinary file, which no signal interrupts, unless it is far away: at the
 * limit of a file's size another call would bring the signal. */
static bool no_limit(const struct thread *t)
{
	struct rlimit limit;

	return !prlimit(t->process->pid, RLIMIT_FSIZE, NULL, &limit) &&
	       limit.rlim_cur == RLIM_INFINITY;
}

static enum transfer_cut look_at_write(const struct look *l)
{
	switch (l->file.mode & S_IFMT) {
	case S_IFIFO:
	case S_IFSOCK:
		return TRANSFER_REST;
	case S_IFREG:
		return no_limit(l->t) ? TRANSFER_REST : TRANSFER_WHOLE;
	case S_IFCHR:
		return IS_TERMINAL(major(l->file.device)) ? TRANSFER_REST : TRANSFER_LOST;
	default:
		return TRANSFER_WHOLE;
	}
}

static enum transfer_cut look_at_read(const struct look *l)
{
	return S_ISCHR(l->file.mode) && major(l->file.device) == MEMORY_DEVICES ? TRANSFER_REST
										: TRANSFER_WHOLE;
}

static enum transfer_cut look_at_send(const struct look *l, uint64_t flags)
{
	if (flags & MSG_DONTWAIT)
		return TRANSFER_WHOLE;
	return flags & ~(uint64_t)SEND_FLAGS ? TRANSFER_LOST : look_at_write(l);
}

/* Descriptors that came with one part would be lost with another. */
static enum transfer_cut look_at_receive(const struct look *l, uint64_t flags)
{
	if (!(flags & MSG_WAITALL) || flags & (MSG_DONTWAIT | MSG_PEEK) ||
	    !is_stream(l->t, (int)l->call->args[0]))
		return TRANSFER_WHOLE;
	if (flags & ~(uint64_t)RECEIVE_FLAGS || (l->rest->given && l->rest->message.msg_control))
		return TRANSFER_LOST;
	return TRANSFER_REST;
}

/* Out of a pipe, into something that blocks. */
static enum transfer_cut look_at_splice(const struct look *l)
{
	struct proc_file to;

	if (!S_ISFIFO(l->file.mode) || !proc_file(l->t, (int)l->call->args[2], &to) ||
	    S_ISFIFO(to.mode) || to.flags & O_NONBLOCK)
		return TRANSFER_WHOLE;
	return TRANSFER_REST;
}

/* From one file to another, or within one: at the end of the first nothing is left to do. */
static enum transfer_cut look_at_copy(const struct look *l)
{
	return S_ISREG(l->file.mode) && no_limit(l->t) ? TRANSFER_REST : TRANSFER_WHOLE;
}

static enum transfer_cut look_closer(struct look *l)
{
	const uint64_t *args = l->call->args;

	switch (l->shape) {
	case WRITE:
	case WRITE_VECTOR:
	case WRITE_AT:
		return look_at_write(l);
	case WRITE_VECTOR_AT: /* RWF_* of pwritev2 */
		return args[5] && l->call->nr == SYS_pwritev2 ? TRANSFER_LOST : look_at_write(l);
	case READ:
	case READ_VECTOR:
	case READ_AT:
		return look_at_read(l);
	case READ_VECTOR_AT: /* RWF_* of preadv2 */
		if (args[5] && l->call->nr == SYS_preadv2 && look_at_read(l) == TRANSFER_REST)
			return TRANSFER_LOST;
		return look_at_read(l);
	case SEND:
		return look_at_send(l, args[3]);
	case SEND_MESSAGE:
		return look_at_send(l, args[2]);
	case RECEIVE:
		return look_at_receive(l, args[3]);
	case RECEIVE_MESSAGE:
		return look_at_receive(l, args[2]);
	case SEND_MESSAGES: /* how much of the last one went out is in its memory */
		return args[3] & MSG_DONTWAIT ? TRANSFER_WHOLE : TRANSFER_LOST;
	case RECEIVE_MESSAGES: /* with a time limit, that may be over */
		if (args[3] & (MSG_DONTWAIT | MSG_WAITFORONE | MSG_PEEK))
			return TRANSFER_WHOLE;
		return args[4] ? TRANSFER_LOST : TRANSFER_REST;
	case SEND_FILE:
		return S_ISFIFO(l->file.mode) ? TRANSFER_WHOLE : look_at_write(l);
	case SPLICE:
		return look_at_splice(l);
	case COPY:
		return look_at_copy(l);
	case RANDOM:
		break;
	}
	return TRANSFER_REST;
}

/* ---- the rest ---- */

static void drop_done(struct transfer_rest *rest, uint64_t done)
{
	size_t i = 0;

	while (done >= rest->vectors[i].iov_len)
		done -= rest->vectors[i++].iov_len;
	rest->vector_count -= i;
	memmove(rest->vectors, rest->vectors + i, rest->vector_count * sizeof(rest->vectors[0]));
	/* In the program's memory. */
	rest->vectors[0].iov_base = (void *)((uintptr_t)rest->vectors[0].iov_base + done);
	rest->vectors[0].iov_len -= done;
}

/* What went with the first part does not go again. */
static void rest_of_message(struct transfer_rest *rest)
{
	rest->message.msg_control = NULL;
	rest->message.msg_controllen = 0;
	rest->message.msg_iovlen = rest->vector_count;
}

static void make_rest(const struct look *l)
{
	uint64_t done = l->call->done, *args = l->rest->args;

	memcpy(args, l->call->args, sizeof(l->call->args));
	if (l->rest->vector_count)
		drop_done(l->rest, done);
	switch (l->shape) {
	case WRITE_AT:
	case READ_AT:
		args[3] += done;
		args[1] += done;
		args[2] = l->asked - done;
		break;
	case SEND:
		args[3] |= MSG_NOSIGNAL; /* what was sent counts first */
		args[1] += done;
		args[2] = l->asked - done;
		break;
	case WRITE:
	case READ:
	case RECEIVE:
		args[1] += done;
		args[2] = l->asked - done;
		break;
	case WRITE_VECTOR_AT:
	case READ_VECTOR_AT:
		args[3] += args[3] == UINT64_MAX ? 0 : done; /* the file's own position */
		args[2] = l->rest->vector_count;
		break;
	case WRITE_VECTOR:
	case READ_VECTOR:
		args[2] = l->rest->vector_count;
		break;
	case SEND_MESSAGE:
		args[2] |= MSG_NOSIGNAL;
		rest_of_message(l->rest);
		break;
	case RECEIVE_MESSAGE:
		rest_of_message(l->rest);
		break;
	case SEND_MESSAGES:
	case RECEIVE_MESSAGES:
		args[1] += done * sizeof(struct mmsghdr);
		args[2] -= done;
		break;
	case SEND_FILE: /* the kernel has moved on what says where */
		args[3] = l->asked - done;
		break;
	case SPLICE: /* until the pipe is empty, as it would have */
		args[4] = l->asked - done;
		args[5] |= SPLICE_F_NONBLOCK;
		break;
	case COPY: /* as with sendfile */
		args[4] = l->asked - done;
		break;
	case RANDOM:
		args[0] += done;
		args[1] -= done;
		break;
	}
}

enum transfer_cut transfer_look(const struct thread *t, const struct transfer *call,
				struct transfer_rest *ret)
{
	const struct kind *kind = kind_of(call->nr);
	struct look l = { .t = t, .call = call, .rest = ret };
	enum transfer_cut cut;

	if (!kind)
		return TRANSFER_WHOLE;
	l.shape = kind->shape;
	if (!read_asked(&l))
		return TRANSFER_WHOLE;
	if (l.asked > TRANSFER_MOST)
		l.asked = TRANSFER_MOST;
	if (call->done >= l.asked)
		return TRANSFER_WHOLE;
	if (l.shape != RANDOM &&
	    (!proc_file(t, (int)call->args[0], &l.file) || l.file.flags & O_NONBLOCK))
		return TRANSFER_WHOLE;
	cut = look_closer(&l);
	if (cut == TRANSFER_REST)
		make_rest(&l);
	return cut;
}

/* ---- calls that wait ---- */

/* Calls that never start again by themselves, with the argument that is their
 * limit: a time in memory, or milliseconds; -1: they have none. */
static const struct limited {
	int64_t nr;
	int arg;
	bool in_memory;
} limited[] = {
	{ SYS_epoll_pwait, 3, false }, { SYS_epoll_pwait2, 3, true },
	{ SYS_semtimedop, 3, true },   { SYS_rt_sigtimedwait, 2, true },
	{ SYS_io_getevents, 4, true }, { SYS_semop, -1, false },
	{ SYS_msgrcv, -1, false },     { SYS_msgsnd, -1, false },
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, 3, false },
#endif
};

/* False: it is none that the kernel takes. */
static bool read_limit(const struct space *space, const struct limited *l, const uint64_t args[6],
		       uint64_t *ns_ret)
{
	struct timespec limit;
	int ms = l->arg < 0 ? -1 : (int)args[l->arg];

	if (!l->in_memory) {
		*ns_ret = ms < 0 ? TRANSFER_FOREVER : (uint64_t)ms * CP_NS_PER_MS;
		return true;
	}
	if (!args[l->arg]) {
		*ns_ret = TRANSFER_FOREVER;
		return true;
	}
	if (!space_read(space, args[l->arg], &limit, sizeof(limit)) || limit.tv_sec < 0 ||
	    limit.tv_sec > LIMIT_MOST)
		return false;
	*ns_ret = (uint64_t)limit.tv_sec * CP_NS_PER_S + (uint64_t)limit.tv_nsec;
	return true;
}

bool transfer_limit(const struct thread *t, struct transfer *call, struct transfer_rest *ret)
{
	const struct limited *l = limited, *end = l + sizeof(limited) / sizeof(*l);
	uint64_t ns, now = cp_now(), since = t->watch.since_ns;

	while (l < end && l->nr != call->nr)
		l++;
	if (l == end || !read_limit(t->process->space, l, call->args, &ns))
		return false;
	if (!call->deadline_ns)
		call->deadline_ns = ns == TRANSFER_FOREVER ? ns : (since ? since : now) + ns;
	memcpy(ret->args, call->args, sizeof(ret->args));
	ret->vector_count = 0;
	ret->given = false;
	ret->limit_arg = -1;
	if (call->deadline_ns == TRANSFER_FOREVER)
		return true;
	ns = call->deadline_ns > now ? call->deadline_ns - now : 0;
	ret->limit = cp_timespec(ns);
	ret->limit_arg = l->in_memory ? l->arg : -1;
	if (!l->in_memory)
		ret->args[l->arg] = (ns + CP_NS_PER_MS - 1) / CP_NS_PER_MS;
	return true;
}
