/* SPDX-License-Identifier: MIT
 *
 * What the stress programs share. Each verifies itself and prints exactly one
 * line, "NAME: ok ..." (status 0) or "NAME: FAILED why" (status 1), so that the
 * expected output of a test comes from the program and not from us.
 *
 *	main:	tracee_begin("name", argc, argv, (struct tracee_options){.rounds = 20});
 *		while (tracee_more())
 *			one round, with CHECK()s
 *		return tracee_ok("what was checked");
 *
 *	--ready=FILE|N	the pid is written there (a file, a FIFO, a descriptor) when the
 *			first round is about to begin
 *	--until=FILE|-	rounds go on until FILE exists, or standard input ends
 *	--rounds=N	how many otherwise
 *	--threads=N --size=N --depth=N --ms=N --mode=WORD	as each program says
 *	--limit=SECONDS	a program that takes longer fails (120)
 *
 * Works in C and C++. Only write() is used, so that a fork never prints twice.
 */
#ifndef TRACEE_H
#define TRACEE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct tracee_options {
	const char *ready, *until, *mode;
	long rounds, threads, size, depth, ms, limit;
};

/* A function that is called as it is written: not inlined, not specialised. */
#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

/* Of --threads, for arrays. */
#define TRACEE_THREADS 64

/* One of each in a program of several files. */
__attribute__((weak)) const char *tracee_name;
__attribute__((weak)) struct tracee_options opt;
__attribute__((weak)) long tracee_round;

__attribute__((format(printf, 2, 3), unused)) static void tracee_line(const char *state,
								      const char *fmt, ...)
{
	char text[1024], line[1200];
	va_list ap;
	int n;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = snprintf(line, sizeof(line), "%s: %s%s%s\n", tracee_name, state, *text ? " " : "",
		     text);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

#define tracee_fail(...) \
	do { \
		tracee_line("FAILED", __VA_ARGS__); \
		_exit(1); \
	} while (0)

#define tracee_ok(...) (tracee_line("ok", __VA_ARGS__), 0)

/* Meson and bats count 77 as skipped; the line says why. */
#define tracee_skip(...) \
	do { \
		tracee_line("skipped", __VA_ARGS__); \
		_exit(77); \
	} while (0)

#define CHECK(cond, ...) \
	do { \
		if (!(cond)) \
			tracee_fail(__VA_ARGS__); \
	} while (0)

/* A call that returns -1 and sets errno. */
#define TRY(call) CHECK((call) != -1, "%s: %s", #call, strerror(errno))

static inline void tracee_late(int sig)
{
	static const char text[] = ": FAILED took too long\n";

	(void)sig;
	(void)!write(STDOUT_FILENO, tracee_name, strlen(tracee_name));
	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

static inline bool tracee_option(const char *arg, const char *name, const char **text, long *number)
{
	size_t n = strlen(name);

	if (strncmp(arg, name, n) || arg[n] != '=')
		return false;
	if (text)
		*text = arg + n + 1;
	else
		*number = strtol(arg + n + 1, NULL, 0);
	return true;
}

static inline void tracee_begin(const char *name, int argc, char **argv,
				struct tracee_options defaults)
{
	tracee_name = name;
	opt = defaults;
	opt.limit = 120;
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];

		if (!tracee_option(a, "--ready", &opt.ready, NULL) &&
		    !tracee_option(a, "--until", &opt.until, NULL) &&
		    !tracee_option(a, "--mode", &opt.mode, NULL) &&
		    !tracee_option(a, "--rounds", NULL, &opt.rounds) &&
		    !tracee_option(a, "--threads", NULL, &opt.threads) &&
		    !tracee_option(a, "--size", NULL, &opt.size) &&
		    !tracee_option(a, "--depth", NULL, &opt.depth) &&
		    !tracee_option(a, "--ms", NULL, &opt.ms) &&
		    !tracee_option(a, "--limit", NULL, &opt.limit))
			tracee_fail("unknown argument %s", a);
	}
	signal(SIGALRM, tracee_late);
	alarm((unsigned)opt.limit);
}

/* Says that the program is ready; a FIFO makes it wait for its reader. */
static inline void tracee_ready(void)
{
	char *end, line[32];
	long fd;
	int n;

	if (!opt.ready)
		return;
	fd = strtol(opt.ready, &end, 10);
	if (*end)
		TRY(fd = open(opt.ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	n = snprintf(line, sizeof(line), "%d\n", (int)getpid());
	CHECK(write((int)fd, line, (size_t)n) == n, "--ready: %s", strerror(errno));
	close((int)fd);
	opt.ready = NULL;
}

static inline bool tracee_told_to_stop(void)
{
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };
	char c;

	if (strcmp(opt.until, "-"))
		return access(opt.until, F_OK) == 0;
	return poll(&in, 1, 0) == 1 && read(STDIN_FILENO, &c, 1) <= 0;
}

/* One more round? The first question says that the program is ready. */
static inline bool tracee_more(void)
{
	tracee_ready();
	if (opt.until)
		return tracee_round++ < 1 || !tracee_told_to_stop();
	return tracee_round++ < opt.rounds;
}

/* Blocks until told to stop; --ms (or 0) without --until. */
static inline void tracee_wait(void)
{
	struct timespec nap = { opt.ms / 1000, opt.ms % 1000 * 1000000 };
	ssize_t n;
	char c;

	tracee_ready();
	if (!opt.until) {
		CHECK(nanosleep(&nap, NULL) == 0, "nanosleep: %s", strerror(errno));
	} else if (strcmp(opt.until, "-")) {
		nap.tv_sec = 0;
		nap.tv_nsec = 5000000;
		while (!tracee_told_to_stop())
			CHECK(nanosleep(&nap, NULL) == 0, "nanosleep: %s", strerror(errno));
	} else {
		while ((n = read(STDIN_FILENO, &c, 1)) > 0)
			;
		CHECK(n == 0, "read of standard input: %s", strerror(errno));
	}
}

static inline pthread_t tracee_thread_of(size_t stack, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	err = pthread_create(&thread, &attr, run, arg);
	CHECK(!err, "pthread_create: %s", strerror(err));
	pthread_attr_destroy(&attr);
	return thread;
}

static inline pthread_t tracee_thread(void *(*run)(void *), void *arg)
{
	return tracee_thread_of(0, run, arg);
}

static inline uint64_t tracee_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline pid_t tracee_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Waits for a child and returns its status; EINTR is a failure here. */
static inline int tracee_reap(pid_t pid)
{
	int status;
	pid_t got = waitpid(pid, &status, 0);

	CHECK(got > 0 && (pid < 0 || got == pid), "waitpid(%d) = %d: %s", (int)pid, (int)got,
	      strerror(errno));
	return status;
}

/* Some work that no compiler removes. */
__attribute__((unused)) NOIPA static uint32_t tracee_mix(uint32_t x, long n)
{
	for (long i = 0; i < n; i++)
		x = (x ^ (x >> 15)) * 0x2c1b3c6dU + (uint32_t)i;
	return x;
}

#endif
