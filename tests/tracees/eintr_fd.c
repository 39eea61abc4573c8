/* SPDX-License-Identifier: MIT
 *
 * Blocking calls on descriptors: see eintr.c.
 */
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "eintr.h"

/* --- readable descriptors --- */

static void set_timeout(int fd, int option)
{
	struct timeval hour = { 3600, 0 };

	TRY(setsockopt(fd, SOL_SOCKET, option, &hour, sizeof(hour)));
}

static bool make_pipe(struct slot *s)
{
	TRY(pipe2(s->fd, O_CLOEXEC));
	return true;
}

static bool make_socket(struct slot *s)
{
	TRY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->fd));
	return true;
}

static bool make_socket_timeout(struct slot *s)
{
	make_socket(s);
	set_timeout(s->fd[0], SO_RCVTIMEO);
	return true;
}

static bool make_epoll(struct slot *s)
{
	struct epoll_event event = { .events = EPOLLIN };

	make_pipe(s);
	TRY(s->aux = epoll_create1(EPOLL_CLOEXEC));
	TRY(epoll_ctl(s->aux, EPOLL_CTL_ADD, s->fd[0], &event));
	return true;
}

static void feed(struct slot *s)
{
	CHECK(write(s->fd[1], "x", 1) == 1, "%s: release: %s", s->call->name, strerror(errno));
}

static long do_read(struct slot *s)
{
	char c[8];

	return result(read(s->fd[0], c, sizeof(c)));
}

static long do_readv(struct slot *s)
{
	char c[2];
	struct iovec parts[] = { { c, 1 }, { c + 1, 1 } };

	return result(readv(s->fd[0], parts, 2));
}

static long do_splice(struct slot *s)
{
	int sink[2];
	long n;

	TRY(pipe2(sink, O_CLOEXEC));
	n = result(splice(s->fd[0], NULL, sink[1], NULL, 1, 0));
	close(sink[0]);
	close(sink[1]);
	return n;
}

static long do_poll(struct slot *s)
{
	struct pollfd p = { s->fd[0], POLLIN, 0 };

	return result(poll(&p, 1, -1));
}

static long do_ppoll(struct slot *s)
{
	struct pollfd p = { s->fd[0], POLLIN, 0 };
	sigset_t none;

	pthread_sigmask(SIG_SETMASK, NULL, &none);
	return result(ppoll(&p, 1, NULL, &none));
}

static long do_select(struct slot *s)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(s->fd[0], &set);
	return result(select(s->fd[0] + 1, &set, NULL, NULL, NULL));
}

static long do_pselect(struct slot *s)
{
	fd_set set;
	sigset_t none;

	pthread_sigmask(SIG_SETMASK, NULL, &none);
	FD_ZERO(&set);
	FD_SET(s->fd[0], &set);
	return result(pselect(s->fd[0] + 1, &set, NULL, NULL, NULL, &none));
}

static long do_epoll_wait(struct slot *s)
{
	struct epoll_event event;

	return result(epoll_wait(s->aux, &event, 1, -1));
}

static long do_epoll_pwait(struct slot *s)
{
	struct epoll_event event;
	sigset_t none;

	pthread_sigmask(SIG_SETMASK, NULL, &none);
	return result(epoll_pwait(s->aux, &event, 1, 3600000, &none));
}

static long do_recv(struct slot *s)
{
	char c;

	return result(recv(s->fd[0], &c, 1, 0));
}

static long do_recv_all(struct slot *s)
{
	char c[100];

	return result(recv(s->fd[0], c, sizeof(c), MSG_WAITALL));
}

static void feed_all(struct slot *s)
{
	char c[100] = { 0 };

	CHECK(send(s->fd[1], c, 50, 0) == 50, "send");
	CHECK(send(s->fd[1], c, 50, 0) == 50, "send");
}

static long do_recvfrom(struct slot *s)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char c;

	return result(recvfrom(s->fd[0], &c, 1, 0, (struct sockaddr *)&from, &len));
}

static long do_recvmsg(struct slot *s)
{
	char c;
	struct iovec part = { &c, 1 };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	return result(recvmsg(s->fd[0], &msg, 0));
}

static long do_recvmmsg(struct slot *s)
{
	char c;
	struct iovec part = { &c, 1 };
	struct mmsghdr msg = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	return result(recvmmsg(s->fd[0], &msg, 1, 0, NULL));
}

static long do_poll_timeout(struct slot *s)
{
	struct pollfd p = { s->fd[0], POLLIN, 0 };

	return result(poll(&p, 1, NAP_NS / 1000000));
}

static long do_epoll_timeout(struct slot *s)
{
	struct epoll_event event;

	return result(epoll_wait(s->aux, &event, 1, NAP_NS / 1000000));
}

/* --- full descriptors --- */

static void fill(int fd)
{
	static const char zeros[4096];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	while (write(fd, zeros, 1) > 0)
		;
	CHECK(errno == EAGAIN, "fill: %s", strerror(errno));
	fcntl(fd, F_SETFL, 0);
}

static bool full_pipe(struct slot *s)
{
	make_pipe(s);
	fill(s->fd[1]);
	return true;
}

static bool full_socket(struct slot *s)
{
	make_socket(s);
	fill(s->fd[1]);
	return true;
}

static bool full_socket_timeout(struct slot *s)
{
	full_socket(s);
	set_timeout(s->fd[1], SO_SNDTIMEO);
	return true;
}

static long do_write(struct slot *s)
{
	return result(write(s->fd[1], "x", 1));
}

static long do_send(struct slot *s)
{
	return result(send(s->fd[1], "x", 1, 0));
}

static long do_sendmsg(struct slot *s)
{
	char c = 'x';
	struct iovec part = { &c, 1 };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	return result(sendmsg(s->fd[1], &msg, 0));
}

static void drain(struct slot *s)
{
	static char sink[65536];

	while (!s->done) {
		struct pollfd p = { s->fd[0], POLLIN, 0 };

		if (poll(&p, 1, 1) == 1)
			(void)!read(s->fd[0], sink, sizeof(sink));
	}
}

/* --- connections --- */

static bool make_listener(struct slot *s)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

	TRY(s->fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(bind(s->fd[0], (struct sockaddr *)&any, sizeof(any)));
	TRY(listen(s->fd[0], 4));
	return true;
}

static bool make_listener_timeout(struct slot *s)
{
	make_listener(s);
	set_timeout(s->fd[0], SO_RCVTIMEO);
	return true;
}

static long accepted(int fd)
{
	if (fd == -1)
		return -errno;
	close(fd);
	return 0;
}

static long do_accept(struct slot *s)
{
	return accepted(accept(s->fd[0], NULL, NULL));
}

static long do_accept4(struct slot *s)
{
	return accepted(accept4(s->fd[0], NULL, NULL, SOCK_CLOEXEC));
}

static void connect_to(struct slot *s)
{
	struct sockaddr_in name;
	socklen_t len = sizeof(name);
	int fd;

	TRY(getsockname(s->fd[0], (struct sockaddr *)&name, &len));
	TRY(fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(connect(fd, (struct sockaddr *)&name, len));
	close(fd);
}

/* A unix listener whose queue is full makes connect() block. */
static void unix_name(struct slot *s, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "eintr-%d-%d", (int)getpid(),
		 s->fd[0]);
}

static bool full_listener(struct slot *s)
{
	struct sockaddr_un name;

	TRY(s->fd[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	unix_name(s, &name);
	TRY(bind(s->fd[0], (struct sockaddr *)&name, sizeof(name)));
	TRY(listen(s->fd[0], 0));
	TRY(s->fd[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(connect(s->fd[1], (struct sockaddr *)&name, sizeof(name)));
	return true;
}

static long do_connect(struct slot *s)
{
	struct sockaddr_un name;
	long r;
	int fd;

	unix_name(s, &name);
	TRY(fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	r = result(connect(fd, (struct sockaddr *)&name, sizeof(name)));
	close(fd);
	return r;
}

static void accept_one(struct slot *s)
{
	close(accept(s->fd[0], NULL, NULL));
}

/* --- files and locks on them --- */

static bool make_file(struct slot *s)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", scratch, s->call->name);
	TRY(s->fd[0] = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	TRY(s->fd[1] = open(s->path, O_RDWR | O_CLOEXEC));
	return true;
}

static bool flocked_file(struct slot *s)
{
	make_file(s);
	return flock(s->fd[1], LOCK_EX) == 0;
}

static long do_flock(struct slot *s)
{
	return result(flock(s->fd[0], LOCK_EX));
}

static void funlock(struct slot *s)
{
	flock(s->fd[1], LOCK_UN);
}

static bool ofd_locked_file(struct slot *s)
{
	struct flock lock = { .l_type = F_WRLCK };

	make_file(s);
	return fcntl(s->fd[1], F_OFD_SETLK, &lock) == 0;
}

static long do_ofd_lock(struct slot *s)
{
	struct flock lock = { .l_type = F_WRLCK };

	return result(fcntl(s->fd[0], F_OFD_SETLKW, &lock));
}

static void ofd_unlock(struct slot *s)
{
	struct flock lock = { .l_type = F_UNLCK };

	TRY(fcntl(s->fd[1], F_OFD_SETLK, &lock));
}

/* A child holds the lock, and tells through a pipe that it does. */
static bool child_locked_file(struct slot *s)
{
	struct flock lock = { .l_type = F_WRLCK };
	int fds[2];
	char c;

	make_file(s);
	TRY(pipe2(fds, O_CLOEXEC));
	TRY(s->child = fork());
	if (!s->child) {
		fcntl(s->fd[1], F_SETLK, &lock);
		(void)!write(fds[1], "x", 1);
		for (;;)
			pause();
	}
	CHECK(read(fds[0], &c, 1) == 1, "read");
	close(fds[0]);
	close(fds[1]);
	return true;
}

static long do_setlkw(struct slot *s)
{
	struct flock lock = { .l_type = F_WRLCK };

	return result(fcntl(s->fd[0], F_SETLKW, &lock));
}

static void kill_locker(struct slot *s)
{
	kill(s->child, SIGKILL);
	tracee_reap(s->child);
}

static bool make_fifo(struct slot *s)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", scratch, s->call->name);
	return mkfifo(s->path, 0600) == 0;
}

static long do_open_fifo(struct slot *s)
{
	return accepted(open(s->path, O_RDONLY | O_CLOEXEC));
}

static void open_other_end(struct slot *s)
{
	close(open(s->path, O_WRONLY | O_CLOEXEC));
}

static bool make_inotify(struct slot *s)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", scratch, "watched");
	close(open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	TRY(s->fd[0] = inotify_init1(IN_CLOEXEC));
	TRY(inotify_add_watch(s->fd[0], s->path, IN_ATTRIB));
	return true;
}

static long do_read_inotify(struct slot *s)
{
	struct inotify_event event;

	return result(read(s->fd[0], &event, sizeof(event)));
}

static void touch(struct slot *s)
{
	chmod(s->path, 0644);
}

static bool make_signalfd(struct slot *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	TRY(s->fd[0] = signalfd(-1, &set, SFD_CLOEXEC));
	return true;
}

static long do_read_signalfd(struct slot *s)
{
	struct signalfd_siginfo info;

	return result(read(s->fd[0], &info, sizeof(info)));
}

static void send_usr1(struct slot *s)
{
	pthread_kill(s->thread, SIGUSR1);
}

static bool make_eventfd(struct slot *s)
{
	TRY(s->fd[0] = s->fd[1] = eventfd(0, EFD_CLOEXEC));
	return true;
}

static void feed_eventfd(struct slot *s)
{
	uint64_t one = 1;

	CHECK(write(s->fd[1], &one, sizeof(one)) == sizeof(one), "eventfd");
}

static bool make_timerfd(struct slot *s)
{
	TRY(s->fd[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
	return true;
}

static void fire_timer(struct slot *s)
{
	struct itimerspec now = { .it_value = { 0, 1 } };

	TRY(timerfd_settime(s->fd[0], 0, &now, NULL));
}

static bool make_tty(struct slot *s)
{
	s->fd[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s->fd[1] == -1 || grantpt(s->fd[1]) || unlockpt(s->fd[1]))
		return false;
	s->fd[0] = open(ptsname(s->fd[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	return s->fd[0] != -1;
}

static void feed_line(struct slot *s)
{
	CHECK(write(s->fd[1], "x\n", 2) == 2, "tty");
}

/* --- asynchronous I/O --- */

static bool make_aio(struct slot *s)
{
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = POLLIN }, *list = &cb;

	if (syscall(SYS_io_setup, 1, &s->aio))
		return false;
	make_eventfd(s);
	cb.aio_fildes = (uint32_t)s->fd[0];
	return syscall(SYS_io_submit, s->aio, 1, &list) == 1;
}

static long do_io_getevents(struct slot *s)
{
	struct io_event event;

	return result(syscall(SYS_io_getevents, s->aio, 1, 1, &event, NULL));
}

static bool make_ring(struct slot *s)
{
	struct io_uring_sqe *sqe;
	uint32_t *array, *tail;
	char *sq;

	make_eventfd(s);
	s->aux = (int)syscall(SYS_io_uring_setup, 1, &s->ring);
	if (s->aux == -1)
		return false;
	sq = mmap(NULL, s->ring.sq_off.array + 64, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, s->aux, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, s->aux,
		   IORING_OFF_SQES);
	CHECK(sq != MAP_FAILED && sqe != MAP_FAILED, "io_uring: %s", strerror(errno));
	array = (uint32_t *)(void *)(sq + s->ring.sq_off.array);
	tail = (uint32_t *)(void *)(sq + s->ring.sq_off.tail);
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD,
				      .fd = s->fd[0],
				      .poll32_events = POLLIN };
	array[0] = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, s->aux, 1, 0, 0, NULL, 0) == 1;
}

static long do_io_uring(struct slot *s)
{
	return result(syscall(SYS_io_uring_enter, s->aux, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
}

/* clang-format off */
const struct call descriptor_calls[] = {
	{ "read_pipe", make_pipe, do_read, feed, 1 },
	{ "readv_pipe", make_pipe, do_readv, feed, 1 },
	{ "read_tty", make_tty, do_read, feed_line, 2 },
	{ "splice", make_pipe, do_splice, feed, 1 },
	{ "write_pipe", full_pipe, do_write, drain, 1 },
	{ "recv", make_socket, do_recv, feed, 1 },
	{ "recv+RCVTIMEO", make_socket_timeout, do_recv, feed, 1 },
	{ "recv+MSG_WAITALL", make_socket, do_recv_all, feed_all, 100 },
	{ "recvfrom", make_socket, do_recvfrom, feed, 1 },
	{ "recvfrom+RCVTIMEO", make_socket_timeout, do_recvfrom, feed, 1 },
	{ "recvmsg", make_socket, do_recvmsg, feed, 1 },
	{ "recvmsg+RCVTIMEO", make_socket_timeout, do_recvmsg, feed, 1 },
	{ "recvmmsg", make_socket, do_recvmmsg, feed, 1 },
	{ "read_socket+RCVTIMEO", make_socket_timeout, do_read, feed, 1 },
	{ "send", full_socket, do_send, drain, 1 },
	{ "send+SNDTIMEO", full_socket_timeout, do_send, drain, 1 },
	{ "sendmsg", full_socket, do_sendmsg, drain, 1 },
	{ "accept", make_listener, do_accept, connect_to, 0 },
	{ "accept+RCVTIMEO", make_listener_timeout, do_accept, connect_to, 0 },
	{ "accept4", make_listener, do_accept4, connect_to, 0 },
	{ "connect", full_listener, do_connect, accept_one, 0 },
	{ "poll", make_pipe, do_poll, feed, 1 },
	{ "ppoll", make_pipe, do_ppoll, feed, 1 },
	{ "select", make_pipe, do_select, feed, 1 },
	{ "pselect", make_pipe, do_pselect, feed, 1 },
	{ "epoll_wait", make_epoll, do_epoll_wait, feed, 1 },
	{ "epoll_pwait", make_epoll, do_epoll_pwait, feed, 1 },
	{ "flock", flocked_file, do_flock, funlock, 0 },
	{ "F_SETLKW", child_locked_file, do_setlkw, kill_locker, 0 },
	{ "F_OFD_SETLKW", ofd_locked_file, do_ofd_lock, ofd_unlock, 0 },
	{ "open_fifo", make_fifo, do_open_fifo, open_other_end, 0 },
	{ "inotify", make_inotify, do_read_inotify, touch, sizeof(struct inotify_event) },
	{ "eventfd", make_eventfd, do_read, feed_eventfd, 8 },
	{ "timerfd", make_timerfd, do_read, fire_timer, 8 },
	{ "io_getevents", make_aio, do_io_getevents, feed_eventfd, 1 },
	{ "io_uring_enter", make_ring, do_io_uring, feed_eventfd, 0 },
	{ "poll(30)", make_pipe, do_poll_timeout, NULL, 0 },
	{ "epoll_wait(30)", make_epoll, do_epoll_timeout, NULL, 0 },
	{ "signalfd", make_signalfd, do_read_signalfd, send_usr1, sizeof(struct signalfd_siginfo) },
};
/* clang-format on */

const size_t descriptor_call_count = sizeof(descriptor_calls) / sizeof(descriptor_calls[0]);
