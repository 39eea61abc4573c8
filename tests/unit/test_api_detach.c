/* SPDX-License-Identifier: MIT
 *
 * Letting go: whenever a session detaches, the program runs on with the text that
 * it had, nobody traces it, and no event comes any more. The program is a child of
 * this one; what it does, it says in memory that both see, and its text is read by
 * us, not by cprof.
 */
#include <cprof/cprof.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

#define ENTERS 50
#define MORE 10000 /* calls that show that it goes on */
#define TEXT_MAX (1 << 22)
#define SECONDS 60

/* ---- the program ---- */

struct board {
	volatile unsigned long calls;
	volatile bool stop;
};
static struct board *board;

NOIPA static unsigned long detached_step(unsigned long n)
{
	return n + 1;
}

static int program(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	while (!board->stop)
		board->calls = detached_step(board->calls);
	return 7;
}

static pid_t begin_program(void)
{
	pid_t pid;

	board->calls = 0;
	board->stop = false;
	pid = fork();
	if (!pid)
		_exit(program());
	CHECK(pid > 0);
	return pid;
}

/* False after a minute: the program does not go on. */
static bool goes_on(void)
{
	unsigned long until = board->calls + MORE;
	time_t end = time(NULL) + SECONDS;

	while (board->calls < until && time(NULL) < end)
		sched_yield();
	return board->calls >= until;
}

static void end_program(pid_t pid)
{
	int status = 0;

	board->stop = true;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ---- what the kernel says of it ---- */

struct text {
	unsigned char bytes[TEXT_MAX];
	size_t size;
};
static struct text before, during, after;

/* The mapping of this program's code, as it is in the process. */
static void read_text(pid_t pid, struct text *ret)
{
	unsigned long step = (unsigned long)(uintptr_t)detached_step, start, end;
	char path[64], line[512];
	FILE *maps;
	int mem;

	ret->size = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || step < start || step >= end)
			continue;
		CHECK(end - start <= TEXT_MAX);
		ret->size = end - start <= TEXT_MAX ? end - start : 0;
		if (pread(mem, ret->bytes, ret->size, (off_t)start) != (ssize_t)ret->size)
			ret->size = 0;
	}
	if (maps)
		fclose(maps);
	close(mem);
	CHECK(ret->size > 0);
}

static bool same(const struct text *a, const struct text *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static int tracer_of(pid_t pid)
{
	char path[64], line[256];
	int tracer = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %d", &tracer);
	if (f)
		fclose(f);
	return tracer;
}

/* Nobody traces it, its text is as before, and it runs. */
static void check_free(pid_t pid)
{
	CHECK(tracer_of(pid) == 0);
	read_text(pid, &after);
	CHECK(same(&before, &after));
	CHECK(goes_on());
}

/* ---- a profiler ---- */

struct cprof_profiler {
	unsigned enters, others, ended;
	pid_t pid;
};

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	cprof_session *s = cprof_session_current();

	(void)f;
	(void)context;
	if (++p->enters != ENTERS)
		return;
	read_text(p->pid, &during);
	CHECK(cprof_session_detach(s) == CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
	CHECK(tracer_of(p->pid) != 0); /* nothing came of it */
	cprof_session_stop(s);
}

static void other(cprof_profiler *p)
{
	p->others++;
}

static void ended(cprof_profiler *p)
{
	p->ended++;
}

/* A session that is attached to the program and wants its calls. */
static cprof_session *attached(cprof_profiler *p)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle h = cprof_profiler_create(p);
	cprof_callspec *spec = cprof_callspec_parse("detached_step", NULL);

	CHECK(s && h && spec);
	CHECK(cprof_session_detach(s) == CPROF_E_UNSUPPORTED_CALL_SEQUENCE); /* no target */
	cprof_profiler_set_max_rate(0, 0);
	CHECK(cprof_profiler_trace(h, spec, CPROF_CALL_INSTRUMENTATION_ENTER) == CPROF_OK);
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(h, entered);
	cprof_profiler_set_runtime_initialized_callback(h, other);
	cprof_profiler_set_heartbeat_callback(h, other);
	cprof_profiler_set_runtime_shutdown_end_callback(h, ended);
	CHECK(cprof_session_attach(s, p->pid, 0) == CPROF_OK);
	return s;
}

/* ---- tests ---- */

static void test_in_the_middle(void)
{
	cprof_profiler p = { .pid = begin_program() };
	cprof_session *s;
	unsigned enters;

	CHECK(goes_on());
	read_text(p.pid, &before);
	s = attached(&p);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK(p.enters >= ENTERS);
	CHECK(!same(&before, &during)); /* or there was nothing to put back */
	enters = p.enters;
	check_free(p.pid);
	CHECK(cprof_session_detach(s) == CPROF_OK); /* nothing to do */
	CHECK(cprof_session_detach(s) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
	CHECK(goes_on());
	CHECK_U64(p.enters, enters);
	cprof_session_destroy(s);
	CHECK_U64(p.enters, enters);
	CHECK_U64(p.ended, 1);
	check_free(p.pid);
	end_program(p.pid);
}

/* Of a session that was not run: no event comes, first or last. */
static void test_before_it_runs(void)
{
	cprof_profiler p = { .pid = begin_program() };
	cprof_session *s;

	CHECK(goes_on());
	read_text(p.pid, &before);
	s = attached(&p);
	CHECK(tracer_of(p.pid) != 0);
	CHECK(cprof_session_detach(s) == CPROF_OK);
	check_free(p.pid);
	CHECK(cprof_session_detach(s) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
	cprof_session_destroy(s);
	CHECK(!p.enters && !p.others && !p.ended);
	check_free(p.pid);
	end_program(p.pid);
}

/* The next session finds nothing of the one before. */
static void test_again(void)
{
	cprof_profiler p = { .pid = begin_program() };
	cprof_session *s;
	unsigned i;

	read_text(p.pid, &before);
	for (i = 0; i < 3; i++) {
		p.enters = 0;
		s = attached(&p);
		CHECK(cprof_session_run(s, 0) == CPROF_OK);
		CHECK(p.enters >= ENTERS);
		cprof_session_destroy(s);
		check_free(p.pid);
	}
	end_program(p.pid);
}

/* A launched program that was never run is let run. */
static void test_launched(char *self)
{
	char *argv[] = { self, (char[]){ "ends" }, NULL };
	cprof_session *s = cprof_session_create();

	CHECK(cprof_session_launch(s, self, argv, NULL, 0) == CPROF_OK);
	CHECK(cprof_session_detach(s) == CPROF_OK);
	CHECK(tracer_of(cprof_session_pid(s)) <= 0); /* -1: it has ended */
	CHECK_U64((uint64_t)WEXITSTATUS(cprof_session_exit_status(s, true)), 9);
	CHECK(cprof_session_detach(s) == CPROF_OK);
	cprof_session_destroy(s);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		_exit(9);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK(board != MAP_FAILED);
	test_in_the_middle();
	test_before_it_runs();
	test_again();
	test_launched(argv[0]);
	TEST_MAIN_END;
}
