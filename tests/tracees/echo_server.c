/* SPDX-License-Identifier: MIT
 *
 * A server under load, and its clients. The server (--mode=server) answers on
 * 127.0.0.1 from an epoll loop and --threads workers behind a queue; --ready
 * receives "PID PORT" instead of the pid alone. --mode=client --size=PORT keeps
 * --threads connections busy and counts: a request lost, answered twice, or
 * wrongly, and a connection dropped, is a failure. The client is never profiled.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tracee.h"

struct request {
	uint32_t number, work;
};

static int pollfd, listener;
static atomic_long requests, eintr;
static atomic_bool stop;
static bool quiet;

static void rearm(int fd, int op)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.fd = fd };

	TRY(epoll_ctl(pollfd, op, fd, &event));
}

static void answer(int fd)
{
	struct request r;
	ssize_t n = recv(fd, &r, sizeof(r), MSG_WAITALL);

	if (n == 0 || (n < 0 && errno == ECONNRESET)) {
		close(fd);
		return;
	}
	CHECK(n == sizeof(r), "request of %zd bytes: %s", n, strerror(errno));
	r.work = tracee_mix(r.number, r.work);
	CHECK(send(fd, &r, sizeof(r), MSG_NOSIGNAL) == sizeof(r), "send: %s", strerror(errno));
	requests++;
	rearm(fd, EPOLL_CTL_MOD);
}

static void *serve(void *arg)
{
	struct epoll_event event;

	(void)arg;
	while (!stop) {
		int n = epoll_wait(pollfd, &event, 1, 100), fd;

		if (n == -1 && errno == EINTR) {
			eintr++;
			continue;
		}
		CHECK(n >= 0, "epoll_wait: %s", strerror(errno));
		if (n == 0)
			continue;
		if (event.data.fd != listener) {
			answer(event.data.fd);
			continue;
		}
		TRY(fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC));
		rearm(fd, EPOLL_CTL_ADD);
		rearm(listener, EPOLL_CTL_MOD);
	}
	return NULL;
}

static void say_port(void)
{
	struct sockaddr_in name;
	socklen_t len = sizeof(name);
	int fd;

	TRY(getsockname(listener, (struct sockaddr *)&name, &len));
	if (!opt.ready)
		return;
	TRY(fd = open(opt.ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	dprintf(fd, "%d %d\n", (int)getpid(), ntohs(name.sin_port));
	close(fd);
	opt.ready = NULL;
}

static int server(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	pthread_t threads[TRACEE_THREADS];

	TRY(listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(bind(listener, (struct sockaddr *)&any, sizeof(any)));
	TRY(listen(listener, 128));
	TRY(pollfd = epoll_create1(EPOLL_CLOEXEC));
	rearm(listener, EPOLL_CTL_ADD);
	for (long i = 0; i < opt.threads; i++)
		threads[i] = tracee_thread(serve, NULL);
	say_port();
	tracee_wait();
	stop = true;
	for (long i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
	CHECK(!eintr, "%ld EINTR from epoll_wait", (long)eintr);
	return quiet ? 0 : tracee_ok("no EINTR");
}

static void *client(void *arg)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)opt.size),
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	uint32_t number = (uint32_t)(uintptr_t)arg << 24;
	int fd, one = 1;

	TRY(fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(connect(fd, (struct sockaddr *)&name, sizeof(name)));
	TRY(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	do {
		struct request r = { ++number, 500 }, got;
		ssize_t n;

		CHECK(send(fd, &r, sizeof(r), MSG_NOSIGNAL) == sizeof(r), "request %u: %s", number,
		      strerror(errno));
		n = recv(fd, &got, sizeof(got), MSG_WAITALL);
		CHECK(n == sizeof(got), "request %u lost: %s", number,
		      n ? strerror(errno) : "connection closed");
		CHECK(got.number == number && got.work == tracee_mix(number, 500),
		      "request %u was answered wrongly", number);
		requests++;
	} while (!stop);
	close(fd);
	return NULL;
}

static int clients(void)
{
	pthread_t threads[TRACEE_THREADS];

	for (long i = 0; i < opt.threads; i++)
		threads[i] = tracee_thread(client, (void *)i);
	while (requests < opt.threads)
		usleep(1000);
	tracee_wait();
	stop = true;
	for (long i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
	return tracee_ok("every request was answered");
}

/* Without --mode both in one, for the native test. */
static int both(void)
{
	char port[32] = "", path[64];
	int fds[2], end[2], status;
	pid_t pid;

	TRY(pipe2(fds, O_CLOEXEC));
	TRY(pipe2(end, O_CLOEXEC));
	TRY(pid = fork());
	if (!pid) {
		TRY(dup2(end[0], STDIN_FILENO));
		close(end[1]);
		opt.until = "-";
		quiet = true;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
		opt.ready = path;
		_exit(server());
	}
	CHECK(read(fds[0], port, sizeof(port) - 1) > 0, "the server said nothing");
	opt.size = strtol(strchr(port, ' '), NULL, 10);
	CHECK(!clients(), "the clients failed");
	close(end[1]);
	status = tracee_reap(pid);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	tracee_begin("echo_server", argc, argv, (struct tracee_options){ .threads = 4, .ms = 300 });
	if (!opt.mode)
		return both();
	return strcmp(opt.mode, "client") ? server() : clients();
}
