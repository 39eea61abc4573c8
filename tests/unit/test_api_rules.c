/* SPDX-License-Identifier: MIT
 *
 * The API's rules, from inside callbacks: what comes too late, what is over,
 * what of other threads can be looked at while one stands still. The program
 * that is profiled is this one, called with an argument: a thread that counts,
 * one that sleeps, one that ends, a fiber, and calls that wait for the counter
 * to go on, so that a thread that was not let go hangs the test.
 */
#include <cprof/cprof.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "test.h"

/* ---- the profiled program ---- */

#define ROUNDS 6

struct rule_pair {
	int x;
	const char *name;
};

static volatile unsigned long rule_counter;
static volatile int rule_shown, rule_over, rule_asleep;
static ucontext_t rule_fiber, rule_main;
static int rule_pipe[2];
static char rule_stack[65536];
static long rule_text_size = 7; /* found by the test through its address */

__attribute__((noinline)) static void *rule_spin(void *arg)
{
	while (!rule_over)
		rule_counter++;
	return arg;
}

__attribute__((noinline)) static void *rule_sleep(void *arg)
{
	char byte;

	rule_asleep = 1;
	return read(rule_pipe[0], &byte, 1) == 1 ? arg : NULL;
}

static void *rule_end(void *arg)
{
	return arg;
}

__attribute__((noinline)) static void rule_fiber_deep(int depth)
{
	volatile int here = depth;

	if (depth)
		rule_fiber_deep(depth - 1);
	else
		swapcontext(&rule_fiber, &rule_main);
	here++;
}

static void rule_fiber_body(void)
{
	rule_fiber_deep(3);
}

__attribute__((noinline)) static int rule_call(int round, struct rule_pair *pair)
{
	return round + pair->x;
}

__attribute__((noinline)) static int rule_late(int round)
{
	return round;
}

__attribute__((noinline)) static int rule_outer(int round, char letter)
{
	volatile long twice = 2L * round;
	struct rule_pair pair = { 100 + round, "a pair" };
	unsigned long before = rule_counter;
	int sum;

	rule_shown = round;
	sum = rule_call(round, &pair);
	while (rule_counter == before)
		sched_yield();
	return sum + (int)twice + letter + rule_late(round);
}

static int program(void)
{
	pthread_t spinner, sleeper, ended;
	int sum = 0;

	if (pipe(rule_pipe) || pthread_create(&ended, NULL, rule_end, NULL) ||
	    pthread_join(ended, NULL) || pthread_create(&spinner, NULL, rule_spin, NULL) ||
	    pthread_create(&sleeper, NULL, rule_sleep, NULL))
		return 1;
	getcontext(&rule_fiber);
	rule_fiber.uc_stack.ss_sp = rule_stack;
	rule_fiber.uc_stack.ss_size = sizeof(rule_stack);
	makecontext(&rule_fiber, rule_fiber_body, 0);
	swapcontext(&rule_main, &rule_fiber);
	while (!rule_counter || !rule_asleep)
		sched_yield();
	for (int i = 0; i < ROUNDS; i++)
		sum += rule_outer(i, 'q');
	rule_over = 1;
	if (write(rule_pipe[1], "", 1) != 1 || pthread_join(spinner, NULL) ||
	    pthread_join(sleeper, NULL))
		return 1;
	return sum == 0;
}

/* ---- a profiler ---- */

struct cprof_profiler {
	char name;
	unsigned filtered, enters, leaves, spinning, sleeping, fibers, gone, frames, late_calls;
	bool refused;
};

static cprof_profiler_handle handles[2];
static cprof_call_context *kept_context;
static const cprof_frame_info *kept_frame;
static cprof_thread *kept_thread;

static bool is(const cprof_function *f, const char *name)
{
	return f && !strcmp(cprof_function_name(f), name);
}

#define HELD \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT | \
	 CPROF_CALL_INSTRUMENTATION_LEAVE | CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT | \
	 CPROF_CALL_INSTRUMENTATION_HOLD)

static unsigned filter(cprof_profiler *p, const cprof_function *f)
{
	p->filtered++;
	if (is(f, "rule_late"))
		return p->enters ? CPROF_CALL_INSTRUMENTATION_ENTER : 0;
	return is(f, "rule_call") ? HELD : 0;
}

/* Where this program's own object is in the profiled one. */
static cprof_addr there(const cprof_function *f, const volatile void *here)
{
	int (*const call)(int, struct rule_pair *) = rule_call;

	return cprof_function_address(f) + (cprof_addr)(uintptr_t)here -
	       (cprof_addr)(uintptr_t)call;
}

struct walk {
	const char *wanted;
	unsigned frames, stop_after;
	bool found;
};

static cprof_walk look(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
		       size_t size, const cprof_context *context, void *data)
{
	struct walk *w = data;

	(void)ip;
	(void)size;
	CHECK(!context);
	w->frames++;
	w->found |= is(f, w->wanted);
	kept_frame = info;
	return w->frames == w->stop_after ? CPROF_WALK_ABORT : CPROF_WALK_CONTINUE;
}

static bool is_on_stack(cprof_thread *t, const char *wanted, const cprof_context *seed)
{
	struct walk w = { .wanted = wanted };
	cprof_status status = cprof_do_stack_snapshot(t, look, 0, &w, seed, sizeof(*seed));

	CHECK_STR(cprof_status_string(status), cprof_status_string(CPROF_OK));
	/* Dead with its callback. */
	CHECK(!cprof_frame_info_cfa(kept_frame) && !cprof_frame_info_image(kept_frame) &&
	      !cprof_frame_info_name(kept_frame) && !cprof_frame_info_run_length(kept_frame) &&
	      !cprof_frame_info_call_context(kept_frame));
	return w.found;
}

static bool look_at_thread(cprof_thread *t, void *data)
{
	struct walk aborted = { .wanted = "", .stop_after = 1 };
	cprof_profiler *p = data;
	cprof_context context;
	uint64_t value;

	if (t == cprof_current_thread()) {
		CHECK(is_on_stack(t, "rule_outer", NULL));
	} else if (is_on_stack(t, "rule_spin", NULL)) {
		p->spinning++;
		CHECK(cprof_thread_context(t, CPROF_CONTEXT_CONTROL, &context) == CPROF_OK);
		CHECK(cprof_context_get(&context, "rbx", &value, NULL));
		CHECK(context.parts & CPROF_CONTEXT_SEGMENTS && context.u.x86_64.cs != 0);
	} else {
		p->sleeping += is_on_stack(t, "rule_sleep", NULL);
		CHECK(cprof_thread_context(t, CPROF_CONTEXT_CONTROL, &context) == CPROF_OK);
		CHECK(cprof_context_ip(&context) && cprof_context_sp(&context));
	}
	CHECK(cprof_do_stack_snapshot(t, look, 0, &aborted, NULL, 0) ==
	      CPROF_E_STACKSNAPSHOT_ABORTED);
	return true;
}

static void look_at_fiber(cprof_profiler *p, const cprof_function *f)
{
	cprof_context seed = { .size = sizeof(seed), .arch = CPROF_ARCH_X86_64 };
	ucontext_t fiber;
	size_t done;

	CHECK(cprof_read_memory(cprof_current_process(), there(f, &rule_fiber), &fiber,
				sizeof(fiber), &done) == CPROF_OK);
	seed.u.x86_64.rip = (uint64_t)fiber.uc_mcontext.gregs[REG_RIP];
	seed.u.x86_64.rsp = (uint64_t)fiber.uc_mcontext.gregs[REG_RSP];
	seed.u.x86_64.rbp = (uint64_t)fiber.uc_mcontext.gregs[REG_RBP];
	seed.u.x86_64.rbx = (uint64_t)fiber.uc_mcontext.gregs[REG_RBX];
	seed.valid = 1u << 16 | 1u << 7 | 1u << 6 | 1u << 3;
	p->fibers += is_on_stack(cprof_current_thread(), "rule_fiber_body", &seed);
	seed.u.x86_64.rip = 16;
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), look, 0, p, &seed, sizeof(seed)) ==
	      CPROF_E_STACKSNAPSHOT_UNMANAGED_CTX);
}

/* Arguments and locals of a caller that stands still. */
static cprof_walk look_into(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			    size_t size, const cprof_context *context, void *data)
{
	cprof_call_context *x = cprof_frame_info_call_context(info);
	const cprof_value *v;
	cprof_profiler *p = data;
	bool twice = false;
	char *text;
	int *round;
	size_t i;

	(void)ip;
	(void)size;
	(void)context;
	if (!is(f, "rule_outer"))
		return CPROF_WALK_CONTINUE;
	CHECK(x && cprof_call_context_argument_count(x) == 2);
	v = cprof_call_context_argument(x, 0);
	CHECK(v && !strcmp(v->name, "round") && v->u.i == (int)p->enters - 1);
	v = cprof_call_context_argument(x, 1);
	CHECK(v && !strcmp(v->name, "letter") && v->u.i == 'q');
	for (i = 0; i < cprof_call_context_local_count(x); i++) {
		v = cprof_call_context_local(x, i);
		twice |= !strcmp(v->name, "twice") && v->u.i == 2 * ((long)p->enters - 1);
		if (strcmp(v->name, "pair"))
			continue;
		round = cprof_profiler_call_context_get_local(x, (uint32_t)i);
		CHECK(round && *round == 100 + (int)p->enters - 1);
		CHECK(cprof_profiler_buffer_address(round) == v->address && v->address);
		text = cprof_profiler_buffer_format(round, 0);
		CHECK(text && strstr(text, "name=\"a pair\""));
		free(text);
		cprof_profiler_call_context_free_buffer(round);
	}
	CHECK(twice);
	CHECK(!cprof_call_context_result(x));
	CHECK(!cprof_profiler_call_context_get_argument(x, 2));
	CHECK(cprof_profiler_call_context_error(x) == CPROF_E_NOT_FOUND);
	p->frames++;
	return CPROF_WALK_CONTINUE;
}

/* Of what nothing may happen any more. */
static bool is_too_late(cprof_profiler *p)
{
	cprof_profiler_handle h = handles[0];
	cprof_callspec *spec = cprof_callspec_parse("rule_spin", NULL);
	bool traced = cprof_profiler_trace(h, spec, 2) != CPROF_E_CALL_ONLY_FROM_INIT;
	char *error = cprof_profiler_set_call_condition("round == 1000");
	bool refused = error != NULL;

	cprof_callspec_free(spec);
	free(error);
	cprof_profiler_set_max_rate(1, 1);
	cprof_profiler_set_value_limits(1, 1);
	return refused && !traced && !cprof_profiler_create(p) &&
	       cprof_profiler_load("log") == CPROF_E_CALL_ONLY_FROM_INIT &&
	       !cprof_profiler_enable_coverage() &&
	       !cprof_profiler_set_coverage_mode(h, CPROF_COVERAGE_COUNT) &&
	       !cprof_profiler_enable_sampling(h) && !cprof_profiler_enable_vector_state() &&
	       !cprof_profiler_enable_allocations() && !cprof_profiler_enable_clauses() &&
	       !cprof_profiler_enable_fileio() && !cprof_profiler_enable_monitors() &&
	       !cprof_profiler_enable_mappings() && !cprof_profiler_enable_jit() &&
	       !cprof_profiler_enable_annotations() &&
	       !cprof_profiler_enable_call_context_introspection() &&
	       !cprof_profiler_enable_call_cpu_time() &&
	       cprof_set_event_mask(h, CPROF_SLOW_PATH_FLAGS) == CPROF_E_CALL_ONLY_FROM_INIT;
}

/* The text around, as the program was built: no breakpoint in it. */
static void look_at_text(const cprof_function *f)
{
	int (*const call)(int, struct rule_pair *) = rule_call;
	static uint8_t text[8192];
	size_t done;

	CHECK(cprof_read_memory(cprof_current_process(), cprof_function_address(f), text,
				sizeof(text), &done) == CPROF_OK ||
	      done >= 256);
	CHECK(!memcmp(text, (const void *)(uintptr_t)call, 256));
}

static bool count_function(const cprof_function *f, void *data)
{
	(void)f;
	return ++*(unsigned *)data < 5;
}

static void ask_about(const cprof_function *f)
{
	const cprof_image *image = cprof_function_image(f);
	const cprof_function *spin = cprof_function_from_name(image, "rule_spin");
	cprof_addr name;
	unsigned count = 0;
	uint32_t line = 0;
	char *text;

	CHECK(cprof_function_from_ip(cprof_function_address(f) + 1) == f);
	CHECK(spin && cprof_function_from_name(NULL, "rule_call") == f);
	CHECK(!cprof_function_from_name(NULL, "rule_no_such"));
	CHECK(strstr(cprof_function_source(f, &line), "test_api_rules.c") && line > 30);
	CHECK_U64(cprof_function_argument_count(f), 2);
	CHECK_STR(cprof_function_argument_name(f, 1), "pair");
	CHECK(!cprof_function_argument_name(f, 2));
	CHECK(cprof_function_flags(f) == CPROF_FUNCTION_HAS_DEBUG_INFO);
	CHECK(cprof_image_size(image) > cprof_function_address(f) - cprof_image_base(image));
	cprof_image_for_each_function(image, count_function, &count);
	CHECK_U64(count, 5);
	CHECK(cprof_read_memory(cprof_current_process(), there(f, &rule_text_size), &name, 8,
				NULL) == CPROF_OK &&
	      name == 7);
	text = cprof_read_string(cprof_current_process(), there(f, "a pair"), 64);
	CHECK_STR(text, "a pair");
	free(text);
	text = cprof_read_string(cprof_current_process(), there(f, "a pair"), 3);
	CHECK_STR(text, "a p");
	free(text);
	CHECK(!cprof_read_string(cprof_current_process(), 16, 64));
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	int shown = -1, *round;
	size_t done;

	if (is(f, "rule_late")) {
		p->late_calls++;
		return;
	}
	CHECK(is(f, "rule_call"));
	/* Kept from before, and over. */
	CHECK(cprof_profiler_call_context_error(kept_context) == CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
	CHECK(!cprof_call_context_argument(kept_context, 0) &&
	      !cprof_profiler_call_context_get_argument(kept_context, 0) &&
	      !cprof_call_context_thread(kept_context) && !cprof_call_context_cfa(kept_context));
	kept_context = context;
	CHECK(cprof_call_context_timestamp(context) &&
	      cprof_call_context_timestamp(context) == cprof_call_context_enter_timestamp(context));
	/* It stands still: memory is what it is at this call. */
	CHECK(cprof_read_memory(cprof_current_process(), there(f, &rule_shown), &shown,
				sizeof(shown), &done) == CPROF_OK);
	CHECK_U64((uint64_t)shown, p->enters);
	round = cprof_profiler_call_context_get_argument(context, 0);
	CHECK(round && *round == shown);
	cprof_profiler_call_context_free_buffer(round);
	p->enters++;
	look_at_text(f);
	look_at_fiber(p, f);
	cprof_for_each_thread(look_at_thread, p);
	CHECK(cprof_do_stack_snapshot(cprof_current_thread(), look_into, 0, p, NULL, 0) ==
	      CPROF_OK);
	CHECK(cprof_do_stack_snapshot(cprof_thread_from_tid(0), look_into, 0, p, NULL, 0) ==
	      CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD);
	if (p->enters > 1)
		return;
	ask_about(f);
	p->refused = is_too_late(p);
	/* From this round on, rule_late() is seen as well. */
	CHECK(cprof_profiler_refilter(NULL) == CPROF_OK);
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	CHECK(is(f, "rule_call"));
	CHECK(kept_context != context && !cprof_call_context_cfa(kept_context));
	CHECK(cprof_call_context_timestamp(context) > cprof_call_context_enter_timestamp(context));
	if (++p->leaves == 3) /* from inside itself */
		cprof_profiler_set_method_leave_callback(handles[0], NULL);
}

static void exited(cprof_profiler *p, uintptr_t tid)
{
	struct walk w = { .wanted = "" };

	(void)tid;
	if (kept_thread) /* of one that is gone already */
		p->gone += cprof_do_stack_snapshot(kept_thread, look, 0, &w, NULL, 0) ==
			   CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD;
	kept_thread = cprof_current_thread();
}

static unsigned other_filter(cprof_profiler *p, const cprof_function *f)
{
	(void)f;
	p->filtered++;
	return 0;
}

static void hook(cprof_function_or_client_id id)
{
	(void)id;
}

/* What needs breakpoints is taken from a target that was made for them, and
 * refused by another one, rather than taken for nothing. */
static void test_after_launch(unsigned flags, bool taken)
{
	char *argv[] = { (char[]){ "true" }, NULL };
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle h = cprof_profiler_create(NULL);
	cprof_callspec *spec = cprof_callspec_parse("rule_spin", NULL);
	cprof_status traced, hooked;
	char *error;

	CHECK(cprof_session_launch(s, argv[0], argv, NULL, flags) == CPROF_OK);
	CHECK(cprof_profiler_enable_coverage() == taken);
	CHECK(cprof_profiler_set_coverage_mode(h, CPROF_COVERAGE_COUNT) == taken);
	CHECK(cprof_profiler_enable_allocations() == taken);
	CHECK(cprof_profiler_enable_clauses() == taken);
	CHECK(cprof_profiler_enable_monitors() == taken);
	CHECK(cprof_profiler_enable_annotations() == taken);
	CHECK(cprof_profiler_enable_call_cpu_time() == taken);
	error = cprof_profiler_set_call_condition("round == 1000");
	CHECK(!error == taken);
	free(error);
	traced = cprof_profiler_trace(h, spec, CPROF_CALL_INSTRUMENTATION_ENTER);
	CHECK(traced == (taken ? CPROF_OK : CPROF_E_CALL_ONLY_FROM_INIT));
	hooked = cprof_set_enter_leave_function_hooks3(h, hook, NULL, NULL);
	CHECK(hooked == (taken ? CPROF_OK : CPROF_E_CALL_ONLY_FROM_INIT));
	/* Samples need none. */
	CHECK(cprof_profiler_enable_sampling(h) && cprof_profiler_enable_vector_state() &&
	      cprof_profiler_enable_call_context_introspection());
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	cprof_session_destroy(s);
	cprof_callspec_free(spec);
}

static void thread(cprof_thread *t, bool captured, void *data)
{
	(void)t;
	(void)captured;
	(void)data;
}

/* What create() answers where there is no memory, and who does not look. */
static void test_no_session(void)
{
	char *args[] = { (char[]){ "true" }, NULL }, *none[] = { NULL };
	cprof_session *s;

	CHECK(cprof_session_launch(NULL, "true", args, NULL, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_attach(NULL, 1, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_run(NULL, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_detach(NULL) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_snapshot(NULL, 0, thread, NULL) == CPROF_E_INVALID_ARGUMENT);
	CHECK_STR(cprof_session_error(NULL), "there is no session");
	CHECK_STR(cprof_session_error_hint(NULL), "");
	CHECK(!cprof_session_warning(NULL, 0) && !cprof_session_help(NULL) &&
	      !cprof_session_profiler_failed(NULL) && !cprof_session_pid(NULL) &&
	      !cprof_session_target(NULL) && !cprof_session_command(NULL) &&
	      !cprof_session_is_attached(NULL) && !cprof_session_exec_errno(NULL));
	CHECK(cprof_session_exit_status(NULL, true) == -1);
	CHECK(cprof_session_set_capture(NULL, CPROF_CAPTURE_AUTO, 99) == CPROF_E_INVALID_ARGUMENT);
	CHECK_STR(cprof_session_capture(NULL), "");
	CHECK_STR(cprof_session_capture_reason(NULL), "");
	cprof_session_stop(NULL);
	cprof_session_set_plugin_dirs(NULL, NULL);
	cprof_session_set_wait(NULL, 1, NULL, NULL);
	cprof_session_each_process(NULL, NULL, NULL);
	cprof_session_destroy(NULL);
	s = cprof_session_create();
	CHECK(cprof_session_launch(s, NULL, args, NULL, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_launch(s, "true", NULL, NULL, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_launch(s, "true", none, NULL, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_snapshot(s, 0, NULL, NULL) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_set_capture(s, CPROF_CAPTURE_AUTO, 0) == CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_session_set_capture(s, CPROF_CAPTURE_AUTO, 99) == CPROF_OK);
	CHECK_STR(cprof_session_capture(s), ""); /* nobody samples yet */
	cprof_session_destroy(s);
}

int main(int argc, char **argv)
{
	cprof_profiler p = { .name = 'p' }, q = { .name = 'q' };
	char *args[] = { argv[0], (char[]){ "run" }, NULL };
	cprof_session *s;

	if (argc > 1)
		_exit(program()); /* leak checks fail under ptrace */
	test_no_session();
	test_after_launch(0, false);
	test_after_launch(CPROF_SESSION_CALLS, true);
	s = cprof_session_create();
	handles[0] = cprof_profiler_create(&p);
	handles[1] = cprof_profiler_create(&q);
	cprof_profiler_set_call_instrumentation_filter_callback(handles[0], filter);
	cprof_profiler_set_call_instrumentation_filter_callback(handles[1], other_filter);
	cprof_profiler_set_method_enter_callback(handles[0], enter);
	cprof_profiler_set_method_leave_callback(handles[0], leave);
	cprof_profiler_set_thread_exited_callback(handles[0], exited);
	CHECK(cprof_profiler_enable_call_context_introspection());
	/* Nothing happens, and nothing crashes. */
	cprof_profiler_set_method_enter_callback(NULL, enter);
	cprof_profiler_set_cleanup_callback(NULL, NULL);
	CHECK(!cprof_profiler_enable_sampling(NULL));
	CHECK(cprof_session_launch(s, argv[0], args, NULL, CPROF_SESSION_KILL_ON_EXIT) ==
	      CPROF_E_NOT_SUPPORTED);
	CHECK(cprof_session_launch(s, argv[0], args, NULL, CPROF_SESSION_NO_ASLR) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK_STR(cprof_session_error(s), "");
	CHECK_U64((uint64_t)cprof_session_exit_status(s, true), 0);
	CHECK_U64(p.enters, ROUNDS);
	CHECK_U64(p.leaves, 3);
	CHECK_U64(p.late_calls, ROUNDS);
	CHECK_U64(p.spinning, ROUNDS);
	CHECK_U64(p.sleeping, ROUNDS);
	CHECK_U64(p.fibers, ROUNDS);
	CHECK_U64(p.frames, ROUNDS);
	CHECK(p.gone > 0);
	CHECK(p.refused);
	CHECK(p.filtered > 100 && p.filtered == q.filtered);
	CHECK(cprof_do_stack_snapshot(kept_thread, look, 0, NULL, NULL, 0) ==
	      CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD);
	cprof_session_destroy(s);
	TEST_MAIN_END;
}
