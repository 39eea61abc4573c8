/* SPDX-License-Identifier: MIT
 *
 * Coverage through the API: what a program did, block by block, whatever way
 * it ended. The program that is profiled is this one, called with an argument.
 */
#include <cprof/cprof.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

/* ---- the profiled program ---- */

static volatile int sink;

NOIPA static int cov_sign(int a)
{
	if (a > 0)
		return 1; /* sign: positive */
	if (a < 0)
		return -1; /* sign: negative */
	return 0; /* sign: zero */
}

NOIPA static int cov_loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			sum += cov_sign(i + 1); /* loop: third */
		sum++; /* loop: body */
	}
	return sum;
}

NOIPA static int cov_always(int n)
{
	int odd = 0;

	for (int i = 0; i < n; i++) {
		if (n) /* always: so */
			odd += i & 1;
		sink = i;
	}
	return odd;
}

NOIPA static void cov_never(void)
{
	sink = 1; /* never */
}

NOIPA static void cov_end(const char *how)
{
	if (!strcmp(how, "abort"))
		abort(); /* end: abort */
	if (!strcmp(how, "_exit"))
		_exit(7); /* end: _exit */
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL); /* end: kill */
	if (!strcmp(how, "crash"))
		*(volatile int *)(uintptr_t)sink = 1; /* end: crash */
	sink = 2; /* end: here */
}

NOIPA static int cov_child(const char *how)
{
	int status = 0;
	pid_t pid = !strcmp(how, "vfork") ? vfork() : fork();

	if (!pid)
		_exit(cov_sign(-5) == -1 ? 0 : 1); /* child */
	waitpid(pid, &status, 0);
	return status;
}

static void *many_loops(void *arg)
{
	for (int i = 0; i < 50; i++)
		cov_loop(10);
	return arg;
}

static void threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, many_loops, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* Shared with who watches a program that goes on whatever becomes of cprof. */
struct board {
	_Atomic uint64_t rounds, stop, ended, wrong;
};

static struct board *open_board(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	return at;
}

static int spin(const char *path)
{
	struct board *b = open_board(path);

	while (!b->stop) {
		b->wrong += cov_loop(10) != 14 || cov_always(4) != 2;
		b->rounds++;
	}
	b->ended = 1;
	return 0;
}

/* A symbol that points into the middle of an instruction. */
#ifdef __x86_64__
int over_real(void);
__asm__(".type over_real,@function; .type over_false,@function\n"
	"over_real: .byte 0xb8\n" /* mov $0x007401a8,%eax */
	"over_false: .byte 0xa8,0x01,0x74,0x00\n" /* test $1,%al; je .+2 */
	"ret; .size over_real, .-over_real; .size over_false, .-over_false");
#define OVER_REAL 0x007401a8
#endif

static int program(const char *how)
{
	char *again[] = { (char[]){ "self" }, (char[]){ "program" }, (char[]){ "never" }, NULL };

	if (how[0] == '/')
		return spin(how);
#ifdef __x86_64__
	if (!strcmp(how, "over"))
		return over_real() == OVER_REAL && over_real() == OVER_REAL ? 0 : 1;
#endif
	sink = cov_loop(10);
	sink = cov_always(2000);
	sink = 0;
	if (strstr(how, "fork"))
		return cov_child(how);
	if (!strcmp(how, "never"))
		cov_never();
	if (!strcmp(how, "exec"))
		execv("/proc/self/exe", again);
	if (!strcmp(how, "threads"))
		threads();
	cov_end(how);
	return 0;
}

/* ---- its coverage ---- */

struct cprof_profiler {
	cprof_coverage_mode mode;
	cprof_coverage_branches branches;
	unsigned filtered, functions, unknown, data;
	uint64_t line[1000]; /* largest count of each line; UNKNOWN: none */
	bool seen[1000];
	const cprof_function *sign;
	cprof_profiler_handle handle;
	cprof_coverage_branch always;
	cprof_coverage_statistics stats;
	bool trace; /* calls of cov_sign, too */
	unsigned enters, leaves;
};

static struct cprof_profiler profiler;
static char source[4096]; /* where this file is */

static bool filter(cprof_profiler *p, const cprof_function *f)
{
	p->filtered++;
	if (!strcmp(cprof_function_name(f), "cov_sign")) {
		p->sign = f;
		snprintf(source, sizeof(source), "%s", cprof_function_file(f) ?: "");
	}
	return !strncmp(cprof_function_name(f), "cov_", 4);
}

/* Lines of this file, found by what is written on them. */
static unsigned line_of(const char *mark)
{
	char text[256], want[64];
	unsigned line = 0, found = 0;
	FILE *f = fopen(source, "r");

	snprintf(want, sizeof(want), "/* %s */", mark);
	while (f && fgets(text, sizeof(text), f)) {
		line++;
		if (strstr(text, want) && !found)
			found = line;
	}
	if (f)
		fclose(f);
	CHECK(found != 0);
	return found;
}

static uint64_t count_of(const char *mark)
{
	unsigned line = line_of(mark);

	CHECK(profiler.seen[line]);
	return profiler.line[line];
}

static void take_rows(struct cprof_profiler *p, const cprof_coverage_function *f)
{
	size_t i;

	for (i = 0; i < f->row_count; i++) {
		const cprof_coverage_row *r = &f->rows[i];
		uint64_t count = f->blocks[r->block].count;

		CHECK(r->block < f->block_count && r->line < 1000);
		CHECK(r->address >= f->blocks[r->block].address);
		CHECK(r->file && strstr(r->file, "test_api_coverage.c"));
		p->seen[r->line] = true;
		if (count != CPROF_COVERAGE_UNKNOWN && count > p->line[r->line])
			p->line[r->line] = count;
	}
}

static bool take(const cprof_coverage_function *f, void *data)
{
	struct cprof_profiler *p = data;
	size_t i;

	p->functions++;
	CHECK(f->complete && f->block_count && f->entry < f->block_count);
	CHECK(f->blocks[f->entry].address == f->address);
	CHECK(!strncmp(f->name, "cov_", 4) && f->line && f->file);
	for (i = 0; i < f->block_count; i++)
		p->unknown += f->blocks[i].count == CPROF_COVERAGE_UNKNOWN;
	take_rows(p, f);
	for (i = 0; i < f->branch_count; i++)
		if (f->branches[i].line == line_of("always: so"))
			p->always = f->branches[i];
	return true;
}

static void data(cprof_profiler *p, const cprof_coverage_data *d)
{
	CHECK(d->function == p->sign && d->line && d->file_name);
	if (d->line == line_of("sign: zero"))
		CHECK_U64(d->counter, 0);
	if (d->line == line_of("sign: positive"))
		CHECK(p->mode == CPROF_COVERAGE_COUNT ? d->counter >= 4 : d->counter == 1);
	p->data++;
}

static void ended(cprof_profiler *p)
{
	cprof_coverage_each(take, p);
	CHECK(p->sign && cprof_profiler_get_coverage_data(p->handle, p->sign, data));
	CHECK(!p->sign || strstr(cprof_function_file(p->sign), "test_api_coverage.c"));
	CHECK(!p->sign || cprof_function_line(p->sign));
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)f;
	(void)context;
	p->enters++;
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)f;
	(void)context;
	p->leaves++;
}

static void trace_sign(struct cprof_profiler *p)
{
	cprof_callspec *spec = cprof_callspec_parse("cov_sign", NULL);

	CHECK(spec && cprof_profiler_trace(p->handle, spec,
					   CPROF_CALL_INSTRUMENTATION_ENTER |
						   CPROF_CALL_INSTRUMENTATION_LEAVE) == CPROF_OK);
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(p->handle, enter);
	cprof_profiler_set_method_leave_callback(p->handle, leave);
}

/* Runs `how` and returns its wait status. */
static int cover(const char *how, cprof_coverage_mode mode, cprof_coverage_branches branches)
{
	bool trace = profiler.trace;
	char *argv[] = { (char[]){ "/proc/self/exe" }, (char[]){ "program" },
			 (char *)(uintptr_t)how, NULL };
	cprof_session *s = cprof_session_create();
	cprof_coverage_statistics *stats = &profiler.stats;
	char self[4096] = { 0 };
	int status;

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	argv[0] = self;
	profiler = (struct cprof_profiler){ .mode = mode, .branches = branches };
	profiler.handle = cprof_profiler_create(&profiler);
	CHECK(cprof_profiler_enable_coverage());
	CHECK(cprof_profiler_set_coverage_mode(profiler.handle, mode));
	CHECK(cprof_profiler_set_coverage_branches(profiler.handle, branches));
	cprof_profiler_set_coverage_filter_callback(profiler.handle, filter);
	cprof_profiler_set_runtime_shutdown_end_callback(profiler.handle, ended);
	if (trace)
		trace_sign(&profiler);
	CHECK(cprof_session_launch(s, self, argv, environ, CPROF_SESSION_FOLLOW_FORKS) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK(!cprof_session_warning(s, 0));
	CHECK(!cprof_profiler_enable_coverage());
	status = cprof_session_exit_status(s, true);
	cprof_get_coverage_statistics(stats);
	CHECK_U64(stats->functions, 6);
	CHECK_U64(stats->refused, 0);
	CHECK(stats->hits >= 20 && stats->sites >= stats->blocks);
	CHECK_U64(profiler.functions, 6);
	CHECK_U64(profiler.unknown, 0);
	CHECK(profiler.data >= 3 && profiler.filtered > profiler.functions);
	cprof_session_destroy(s);
	return status;
}

static void check_common(uint64_t thirds, uint64_t bodies)
{
	CHECK_U64(count_of("sign: positive"), thirds);
	CHECK_U64(count_of("sign: zero"), 0);
	CHECK_U64(count_of("loop: third"), thirds);
	CHECK_U64(count_of("loop: body"), bodies);
	CHECK_U64(count_of("never"), 0);
}

static void check_end(const char *how, int status)
{
	static const char *const marks[] = { "abort", "_exit", "kill", "crash", "here" };
	char mark[32];
	size_t i;

	CHECK_U64((uint64_t)cover(how, CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET),
		  (uint64_t)status);
	check_common(1, 1);
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		snprintf(mark, sizeof(mark), "end: %s", marks[i]);
		CHECK_U64(count_of(mark), !strcmp(how, marks[i]));
	}
	CHECK_U64(count_of("child"), 0);
}

static void test_ends(void)
{
	check_end("here", 0);
	check_end("_exit", 7 << 8);
	check_end("abort", SIGABRT);
	check_end("kill", SIGKILL);
	check_end("crash", SIGSEGV);
}

static void test_children(void)
{
	CHECK_U64((uint64_t)cover("fork", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET),
		  0);
	CHECK_U64(count_of("child"), 1);
	CHECK_U64(count_of("sign: negative"), 1);
	CHECK_U64((uint64_t)cover("vfork", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET),
		  0);
	CHECK_U64(count_of("child"), 1);
	CHECK_U64(count_of("sign: negative"), 1);
}

/* A direction that was never seen: given up, or known not to be. */
static void test_branches(void)
{
	cprof_coverage_branch *b = &profiler.always;

	cover("here", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET);
	CHECK((b->taken == 1 && b->passed == CPROF_COVERAGE_UNKNOWN) ||
	      (b->passed == 1 && b->taken == CPROF_COVERAGE_UNKNOWN));
	cover("here", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_EXACT);
	CHECK(b->taken + b->passed == 1);
	cover("here", CPROF_COVERAGE_COUNT, CPROF_COVERAGE_BRANCHES_EXACT);
	CHECK(b->taken + b->passed == 2000);
	CHECK(!b->taken || !b->passed);
	check_common(4, 10);
	cover("here", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_NONE);
	CHECK(!b->address);
}

static void test_exec(void)
{
	cover("exec", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_NONE);
	CHECK_U64(count_of("never"), 1);
	/* What was reached before needs no breakpoint again. */
	CHECK(profiler.stats.sites > profiler.stats.blocks);
	CHECK(profiler.stats.sites < 2 * profiler.stats.blocks - 10);
	cover("exec", CPROF_COVERAGE_COUNT, CPROF_COVERAGE_BRANCHES_NONE);
	CHECK_U64(count_of("loop: body"), 20);
	CHECK_U64(profiler.stats.sites, 2 * profiler.stats.blocks);
}

static void test_threads(void)
{
	cover("threads", CPROF_COVERAGE_COUNT, CPROF_COVERAGE_BRANCHES_BUDGET);
	CHECK_U64(count_of("loop: body"), 10 * 201);
	CHECK_U64(count_of("loop: third"), 4 * 201);
	cover("threads", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET);
	check_common(1, 1);
}

/* Several sites at one address: of calls, of blocks, of branches. */
static void test_calls_too(void)
{
	profiler.trace = true;
	cover("here", CPROF_COVERAGE_COUNT, CPROF_COVERAGE_BRANCHES_EXACT);
	check_common(4, 10);
	CHECK_U64(profiler.enters, 4);
	CHECK_U64(profiler.leaves, 4);
	profiler.trace = true;
	cover("here", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET);
	check_common(1, 1);
	CHECK_U64(profiler.enters, 4);
	CHECK_U64(profiler.leaves, 4);
	profiler.trace = false;
}

/* ---- functions on top of each other ---- */

#ifdef __x86_64__
static bool filter_over(cprof_profiler *p, const cprof_function *f)
{
	(void)p;
	return !strncmp(cprof_function_name(f), "over_", 5);
}

static bool take_over(const cprof_coverage_function *f, void *data)
{
	struct cprof_profiler *p = data;
	bool real = !strcmp(f->name, "over_real");

	p->functions++;
	CHECK_U64(f->blocks[f->entry].count, real ? 1 : CPROF_COVERAGE_UNKNOWN);
	return true;
}

static void ended_over(cprof_profiler *p)
{
	cprof_coverage_each(take_over, p);
}

static void test_overlap(void)
{
	char self[4096] = { 0 };
	char *argv[] = { self, (char[]){ "program" }, (char[]){ "over" }, NULL };
	cprof_session *s = cprof_session_create();

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	profiler = (struct cprof_profiler){ 0 };
	profiler.handle = cprof_profiler_create(&profiler);
	CHECK(cprof_profiler_enable_coverage());
	cprof_profiler_set_coverage_filter_callback(profiler.handle, filter_over);
	cprof_profiler_set_runtime_shutdown_end_callback(profiler.handle, ended_over);
	CHECK(cprof_session_launch(s, self, argv, environ, 0) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK_U64((uint64_t)cprof_session_exit_status(s, true), 0);
	CHECK_U64(profiler.functions, 2);
	cprof_session_destroy(s);
}
#endif

/* ---- cprof is killed ---- */

/* The tracer of the session in `controller`; 0: not yet there. */
static pid_t tracer_of(pid_t controller)
{
	char path[64], name[32];
	int pid, found = 0;
	FILE *children, *comm;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", controller, controller);
	children = fopen(path, "r");
	while (children && !found && fscanf(children, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		comm = fopen(path, "r");
		if (comm && fgets(name, sizeof(name), comm) && !strcmp(name, "cprof-tracer\n"))
			found = pid;
		if (comm)
			fclose(comm);
	}
	if (children)
		fclose(children);
	return found;
}

/* The program makes so many rounds more. */
static bool runs_on(const struct board *b, uint64_t rounds)
{
	uint64_t want = b->rounds + rounds;
	int patience = 100000;

	while (b->rounds < want && patience--)
		usleep(100);
	return b->rounds >= want;
}

static void controller(const char *path, cprof_coverage_mode mode)
{
	char self[4096] = { 0 };
	char *argv[] = { self, (char[]){ "program" }, (char *)(uintptr_t)path, NULL };
	cprof_session *s = cprof_session_create();

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		_exit(1);
	profiler.handle = cprof_profiler_create(&profiler);
	cprof_profiler_enable_coverage();
	cprof_profiler_set_coverage_mode(profiler.handle, mode);
	cprof_profiler_set_coverage_filter_callback(profiler.handle, filter);
	cprof_session_launch(s, self, argv, environ, CPROF_SESSION_FOLLOW_FORKS);
	cprof_session_run(s, 0);
	_exit(0);
}

/* The program goes on, and its sums stay right. Which of us dies, and when,
 * goes with `n`. */
static void test_kill(unsigned n)
{
	char path[] = "/tmp/cprof-coverage.XXXXXX";
	int fd = mkstemp(path), status;
	struct board *b;
	pid_t pid, tracer;

	CHECK(fd >= 0 && !ftruncate(fd, sizeof(*b)));
	close(fd);
	b = open_board(path);
	pid = fork();
	if (!pid)
		controller(path, n % 2 ? CPROF_COVERAGE_COUNT : CPROF_COVERAGE_ONESHOT);
	while (n % 3 && !b->rounds && waitpid(pid, &status, WNOHANG) != pid)
		usleep(50);
	CHECK(n % 3 == 0 || b->rounds);
	if (n % 3 == 0) /* while breakpoints are placed, or so */
		CHECK(runs_on(b, 1 + n / 3 % 5));
	tracer = tracer_of(pid);
	CHECK(tracer > 0);
	if (tracer > 0 && n % 4)
		kill(tracer, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(runs_on(b, 1000));
	CHECK_U64(b->wrong, 0);
	b->stop = 1;
	for (int patience = 100000; !b->ended && patience--;)
		usleep(100);
	CHECK_U64(b->ended, 1);
	munmap(b, sizeof(*b));
	unlink(path);
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("CPROF_TEST_LONG");
	unsigned n;

	if (argc > 2 && !strcmp(argv[1], "program"))
		return program(argv[2]);
	test_ends();
	test_children();
	test_branches();
	test_exec();
	test_threads();
	test_calls_too();
#ifdef __x86_64__
	test_overlap();
#endif
	for (n = 0; n < (rounds ? 120 : 12); n++)
		test_kill(n);
	TEST_MAIN_END;
}
