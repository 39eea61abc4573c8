/* SPDX-License-Identifier: MIT
 *
 * The API as an embedder uses it, through libcprof: start-up rules, who owns
 * the sampler, order of callbacks, snapshots and their refusals. The program
 * that is profiled is this one, called with an argument.
 */
#include <cprof/cprof.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

struct cprof_profiler {
	char name;
	unsigned hits, root_frames;
	uint64_t weight_ns;
	bool late_calls_refused, found_leaf;
};

static char order[256];

static void note(char c)
{
	size_t n = strlen(order);

	if (n + 1 < sizeof(order))
		order[n] = c;
}

/* ---- the profiled program ---- */

__attribute__((noinline)) static unsigned burn(unsigned x)
{
	struct timespec t;

	do {
		for (int i = 0; i < 100000; i++)
			x = x * 1664525 + 1013904223;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_nsec < 300000000);
	return x;
}

/* ---- a profiler ---- */

struct walk {
	unsigned frames, with_context, with_vectors;
	bool burn, main;
	unsigned stop_after;
};

static cprof_walk frame(const cprof_function *function, cprof_addr ip, const cprof_frame_info *info,
			size_t size, const cprof_context *context, void *data)
{
	struct walk *w = data;

	(void)info;
	w->frames++;
	if (context && size == sizeof(*context) && cprof_context_ip(context) == ip)
		w->with_context++;
	if (context && context->parts & CPROF_CONTEXT_XSTATE && context->xstate_size >= 576)
		w->with_vectors += w->frames == 1;
	if (function && !strcmp(cprof_function_name(function), "burn"))
		w->burn = true;
	if (function && !strcmp(cprof_function_name(function), "main"))
		w->main = true;
	return w->frames == w->stop_after ? CPROF_WALK_ABORT : CPROF_WALK_CONTINUE;
}

static void try_late_calls(cprof_profiler *p)
{
	p->late_calls_refused = !cprof_profiler_create(p) &&
				cprof_profiler_load("log") == CPROF_E_CALL_ONLY_FROM_INIT &&
				!cprof_profiler_enable_vector_state();
}

static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	struct walk plain = { 0 }, full = { 0 }, aborted = { .stop_after = 1 };
	cprof_context seed = *context;
	cprof_sample sample;

	note(p->name);
	p->hits++;
	if (cprof_current_sample(&sample))
		p->weight_ns += sample.weight_ns;
	CHECK(cprof_context_ip(context) == ip);
	CHECK(context->parts & CPROF_CONTEXT_SEGMENTS && context->u.x86_64.cs != 0);
	CHECK(context->parts & CPROF_CONTEXT_XSTATE && context->xstate_size >= 576);
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), frame, 0, &plain, NULL, 0) ==
	      CPROF_OK);
	CHECK_U64(plain.with_context, 0);
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), frame,
				      CPROF_SNAPSHOT_REGISTER_CONTEXT | CPROF_SNAPSHOT_FLOATING,
				      &full, NULL, 0) == CPROF_OK);
	CHECK_U64(full.with_context, full.frames);
	CHECK_U64(full.with_vectors, 1);
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), frame, 0, &aborted, NULL, 0) ==
	      CPROF_E_STACKSNAPSHOT_ABORTED);
	CHECK_U64(aborted.frames, 1);
	seed.u.x86_64.rip = 16;
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), frame, 0, &plain, &seed,
				      sizeof(seed)) == CPROF_E_STACKSNAPSHOT_UNMANAGED_CTX);
	seed = *context;
	seed.u.x86_64.rsp = 8;
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), frame, 0, &plain, &seed,
				      sizeof(seed)) == CPROF_E_UNEXPECTED);
	p->root_frames += full.main;
	p->found_leaf |= full.burn;
	if (p->hits == 1)
		try_late_calls(p);
}

static void initialized(cprof_profiler *p)
{
	note((char)(p->name + 'A' - 'a'));
}

static void ended(cprof_profiler *p)
{
	(void)p;
	note('.');
}

static void cleanup(cprof_profiler *p)
{
	note(p->name);
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), frame, 0, NULL, NULL, 0) ==
	      CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD);
}

static cprof_profiler_handle install(cprof_profiler *p)
{
	cprof_profiler_handle h = cprof_profiler_create(p);

	CHECK(h != NULL);
	cprof_profiler_set_runtime_initialized_callback(h, initialized);
	cprof_profiler_set_runtime_shutdown_end_callback(h, ended);
	cprof_profiler_set_cleanup_callback(h, cleanup);
	return h;
}

static void test_ownership(cprof_profiler_handle first, cprof_profiler_handle second)
{
	cprof_sample_mode mode = CPROF_SAMPLE_MODE_REAL;
	uint32_t hz = 0;

	CHECK(cprof_profiler_enable_sampling(first));
	CHECK(cprof_profiler_enable_sampling(second));
	CHECK(cprof_profiler_get_sample_mode(first, &mode, &hz));
	CHECK(mode == CPROF_SAMPLE_MODE_NONE && hz == 100);
	CHECK(!cprof_profiler_set_sample_mode(second, CPROF_SAMPLE_MODE_REAL, 50));
	CHECK(!cprof_profiler_get_sample_mode(second, NULL, NULL));
	CHECK(!cprof_profiler_set_sample_mode(first, CPROF_SAMPLE_MODE_PROCESS, 0));
	CHECK(!cprof_profiler_set_sample_mode(first, CPROF_SAMPLE_MODE_PROCESS,
					      CPROF_SAMPLE_MAX_FREQUENCY + 1));
	CHECK(cprof_profiler_set_sample_mode(first, CPROF_SAMPLE_MODE_PROCESS, 200));
	CHECK(cprof_profiler_get_sample_mode(second, &mode, &hz) == false);
	CHECK(mode == CPROF_SAMPLE_MODE_PROCESS && hz == 200);
}

static void test_run(char *self)
{
	cprof_profiler a = { .name = 'a' }, b = { .name = 'b' };
	char *argv[] = { self, (char[]){ "burn" }, NULL };
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle first, second;
	cprof_overhead cost;

	CHECK(s && cprof_session_current() == s);
	first = install(&a);
	second = install(&b);
	test_ownership(first, second);
	CHECK(cprof_profiler_enable_vector_state());
	cprof_profiler_set_sample_hit_callback(first, hit);
	CHECK(cprof_session_launch(s, self, argv, NULL, 0) == CPROF_OK);
	CHECK(!strcmp(order, "")); /* no event before start-up is done */
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK_U64((uint64_t)WEXITSTATUS(cprof_session_exit_status(s, true)), 7);
	cprof_get_overhead(&cost);
	CHECK(a.hits > 0 && b.hits == 0 && cost.samples >= a.hits);
	CHECK(a.found_leaf && a.root_frames > 0 && a.late_calls_refused);
	/* What no sample carries is what was used after the last one. */
	CHECK(a.weight_ns <= cost.cpu_ns &&
	      a.weight_ns + cost.unsampled_ns >= cost.cpu_ns * 98 / 100);
	CHECK(!strncmp(order, "BA", 2)); /* the newest first */
	order[0] = 0;
	memset(order, 0, sizeof(order));
	cprof_session_destroy(s);
	CHECK_STR(order, "ba");
	CHECK(cprof_session_current() == NULL);
}

static void test_no_mode_no_samples(char *self)
{
	cprof_profiler a = { .name = 'a' };
	char *argv[] = { self, (char[]){ "burn" }, NULL };
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle h = install(&a);

	cprof_profiler_enable_sampling(h);
	cprof_profiler_set_sample_hit_callback(h, hit);
	CHECK(cprof_session_launch(s, self, argv, NULL, 0) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK_U64(a.hits, 0);
	cprof_session_destroy(s);
}

static void test_refusals(void)
{
	char *argv[] = { (char[]){ "/nonexistent/program" }, NULL };
	cprof_session *s = cprof_session_create();

	CHECK(cprof_profiler_load("nope:x=1") == CPROF_E_NOT_FOUND);
	CHECK(strstr(cprof_session_error(s), "nope") != NULL);
	CHECK(cprof_session_attach(s, 0x7ffffff0, 0) == CPROF_E_NOT_FOUND);
	CHECK(cprof_session_attach(s, getpid(), 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_launch(s, argv[0], argv, NULL, 0) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_E_NOT_FOUND);
	CHECK_U64((uint64_t)cprof_session_exec_errno(s), 2);
	CHECK_STR(cprof_session_error(s),
		  "cannot run '/nonexistent/program': No such file or directory");
	cprof_session_destroy(s);
	CHECK(cprof_profiler_create(NULL) == NULL); /* no session */
}

static void on_begin(cprof_profiler *prof)
{
	prof->hits++;
	CHECK(cprof_session_create() == NULL);
	cprof_session_destroy(cprof_session_current());
	CHECK(cprof_session_current() != NULL);
}

/* Where an event has no process or thread, and a frame no function. */
static void test_no_object(void)
{
	CHECK(!cprof_current_process() && !cprof_current_thread());
	CHECK(!cprof_process_pid(NULL) && !cprof_process_start(NULL) && !cprof_process_end(NULL));
	CHECK_STR(cprof_process_name(NULL), "");
	CHECK_STR(cprof_process_exe(NULL), "");
	CHECK(cprof_process_wait_status(NULL) == -1 && cprof_thread_wait_status(NULL) == -1);
	CHECK(!cprof_thread_tid(NULL) && !cprof_thread_process(NULL));
	CHECK_STR(cprof_thread_name(NULL), "");
	CHECK_STR(cprof_function_name(NULL), "");
	CHECK_STR(cprof_function_linkage_name(NULL), "");
	CHECK(!cprof_function_image(NULL) && !cprof_function_address(NULL));
	CHECK_STR(cprof_image_name(NULL), "");
	CHECK_STR(cprof_image_path(NULL), "");
	CHECK_STR(cprof_image_build_id(NULL), "");
	CHECK(!cprof_image_size(NULL) && !cprof_image_namespace(NULL));
	CHECK_STR(cprof_assembly_debug_path(NULL), "");
}

/* Of several sessions the newest is current; callbacks neither make nor end any. */
static void test_several(char *self)
{
	cprof_profiler a = { .name = 'a' };
	char *argv[] = { self, (char[]){ "burn" }, NULL };
	cprof_session *first = cprof_session_create(), *second, *third;

	second = cprof_session_create();
	third = cprof_session_create();
	CHECK(cprof_session_current() == third);
	cprof_session_destroy(second);
	CHECK(cprof_session_current() == third);
	cprof_session_destroy(third);
	CHECK(cprof_session_current() == first);
	cprof_profiler_set_runtime_initialized_callback(cprof_profiler_create(&a), on_begin);
	CHECK(cprof_session_launch(first, self, argv, NULL, 0) == CPROF_OK);
	CHECK(cprof_session_run(first, 0) == CPROF_OK);
	CHECK_U64(a.hits, 1);
	cprof_session_destroy(first);
	CHECK(cprof_session_current() == NULL);
}

/* Who ends before cprof_session_run() leaves nothing running behind. */
static void test_launch_and_die(void)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "echo ran" }, NULL };
	char said[8];
	int out[2];
	pid_t pid;

	CHECK(!pipe(out));
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		close(out[1]);
		if (cprof_session_launch(cprof_session_create(), argv[0], argv, NULL, 0))
			_exit(1);
		raise(SIGKILL);
	}
	close(out[1]);
	CHECK(read(out[0], said, sizeof(said)) == 0); /* ends when everybody has */
	CHECK(waitpid(pid, NULL, 0) == pid);
	close(out[0]);
}

/* Only what the profiler knows is negated, and only without a value. */
static void test_negation(void)
{
	static const char *const known[] = { "calls", "alloc", NULL };
	static const struct {
		const char *key;
		bool negated;
	} expected[] = { { "calls", true },
			 { "alloc", false },
			 { "notes", false },
			 { "nocalls", false },
			 { "no", false } };
	const char *at = "nocalls,alloc,notes,nocalls=1,no";
	char *key, *value;
	bool negated;
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CHECK(cprof_profiler_desc_next(&at, known, &key, &value, &negated));
		CHECK_STR(key, expected[i].key);
		CHECK(negated == expected[i].negated);
		free(key);
	}
	CHECK(!cprof_profiler_desc_next(&at, known, &key, &value, &negated));
}

static void test_desc(void)
{
	const char *at = "a=1,'b,c'=\"d,e\",,f\\,g";
	char *key, *value;

	CHECK(cprof_profiler_desc_next(&at, NULL, &key, &value, NULL));
	CHECK_STR(key, "a");
	CHECK_STR(value, "1");
	free(key);
	CHECK(cprof_profiler_desc_next(&at, NULL, &key, &value, NULL));
	CHECK_STR(key, "b,c");
	CHECK_STR(value, "d,e");
	free(key);
	CHECK(cprof_profiler_desc_next(&at, NULL, &key, &value, NULL));
	CHECK_STR(key, "f,g");
	CHECK(!value);
	free(key);
	CHECK(!cprof_profiler_desc_next(&at, NULL, &key, &value, NULL));
	test_negation();
	CHECK_STR(cprof_profiler_desc_args("log:report,x"), "report,x");
	CHECK_STR(cprof_profiler_desc_args("log"), "");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		_exit(burn((unsigned)argc) ? 7 : 8); /* leak checks fail under ptrace */
	test_desc();
	test_refusals();
	test_no_object();
	test_several(argv[0]);
	test_launch_and_die();
	test_run(argv[0]);
	test_no_mode_no_samples(argv[0]);
	TEST_MAIN_END;
}
