/* SPDX-License-Identifier: MIT
 *
 * Coverage through the API: what a program did, block by block, whatever way
 * it ended. The program that is profiled is coverage_program.c.
 */
#include <cprof/cprof.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coverage_program.h"
#include "test.h"

static const char *program; /* path */

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
		CHECK(r->file && strstr(r->file, "coverage_program.c"));
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
	uint64_t seen = 0;

	cprof_coverage_each(take, p);
	CHECK(cprof_coverage_changed(&seen) && seen);
	CHECK(!cprof_coverage_changed(&seen));
	CHECK(p->sign && cprof_profiler_get_coverage_data(p->handle, p->sign, data));
	CHECK(!p->sign || strstr(cprof_function_file(p->sign), "coverage_program.c"));
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
	char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)how, NULL };
	cprof_session *s = cprof_session_create();
	cprof_coverage_statistics *stats = &profiler.stats;
	int status;

	profiler = (struct cprof_profiler){ .mode = mode, .branches = branches };
	profiler.handle = cprof_profiler_create(&profiler);
	CHECK(cprof_profiler_enable_coverage());
	CHECK(cprof_profiler_set_coverage_mode(profiler.handle, mode));
	CHECK(cprof_profiler_set_coverage_branches(profiler.handle, branches));
	cprof_profiler_set_coverage_filter_callback(profiler.handle, filter);
	cprof_profiler_set_runtime_shutdown_end_callback(profiler.handle, ended);
	if (trace)
		trace_sign(&profiler);
	CHECK(cprof_session_launch(s, program, argv, environ, CPROF_SESSION_FOLLOW_FORKS) ==
	      CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK(!cprof_session_warning(s, 0));
	CHECK(!cprof_profiler_enable_coverage());
	status = cprof_session_exit_status(s, true);
	cprof_get_coverage_statistics(stats);
	CHECK_U64(stats->functions, 6);
	CHECK_U64(stats->refused, 0);
	CHECK(stats->hits >= 20);
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
	/* Where both ways out of a block are seen, it has no breakpoint of its own. */
	CHECK(profiler.stats.sites < profiler.stats.blocks);
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

/* One process after the other: each asks for what none has told yet, and what always goes
 * one way is given up once for all. */
static void test_processes(void)
{
	cprof_coverage_branch *b = &profiler.always;

	cover("40", CPROF_COVERAGE_ONESHOT, CPROF_COVERAGE_BRANCHES_BUDGET);
	check_common(1, 1);
	CHECK(profiler.stats.hits < 400);
	CHECK((b->taken == 1 && b->passed == CPROF_COVERAGE_UNKNOWN) ||
	      (b->passed == 1 && b->taken == CPROF_COVERAGE_UNKNOWN));
	CHECK_U64(count_of("end: here"), 1);
	cover("40", CPROF_COVERAGE_COUNT, CPROF_COVERAGE_BRANCHES_NONE);
	CHECK_U64(count_of("loop: body"), 400);
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
	char *argv[] = { (char *)(uintptr_t)program, (char[]){ "over" }, NULL };
	cprof_session *s = cprof_session_create();

	profiler = (struct cprof_profiler){ 0 };
	profiler.handle = cprof_profiler_create(&profiler);
	CHECK(cprof_profiler_enable_coverage());
	cprof_profiler_set_coverage_filter_callback(profiler.handle, filter_over);
	cprof_profiler_set_runtime_shutdown_end_callback(profiler.handle, ended_over);
	CHECK(cprof_session_launch(s, program, argv, environ, 0) == CPROF_OK);
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
	char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)path, NULL };
	cprof_session *s = cprof_session_create();

	profiler.handle = cprof_profiler_create(&profiler);
	cprof_profiler_enable_coverage();
	cprof_profiler_set_coverage_mode(profiler.handle, mode);
	cprof_profiler_set_coverage_filter_callback(profiler.handle, filter);
	cprof_session_launch(s, program, argv, environ, CPROF_SESSION_FOLLOW_FORKS);
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

	if (argc < 2)
		return 2;
	program = argv[1];
	test_ends();
	test_children();
	test_branches();
	test_exec();
	test_processes();
	test_threads();
	test_calls_too();
#ifdef __x86_64__
	test_overlap();
#endif
	for (n = 0; n < (rounds ? 120 : 12); n++)
		test_kill(n);
	TEST_MAIN_END;
}
