/* SPDX-License-Identifier: MIT
 *
 * Calls through the API, as an embedder uses them: filters and specs, the
 * method_* events with their contexts, and the ELT hooks with the rules of
 * their flags. The program that is profiled is this one, called with an
 * argument.
 */
#include <cprof/cprof.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* ---- the profiled program ---- */

#define ROUNDS 20

/* Planning the sanitizers' own libraries takes so long under them that the
 * program is gone before its memory is looked at. */
#ifdef SANITIZED
#define SLOW true
#else
#define SLOW false
#endif

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

NOIPA static long traced_add(int a, long b)
{
	return a + b;
}

NOIPA static long traced_outer(int a)
{
	return traced_add(a, 40) * 2;
}

NOIPA static long traced_jump(int a)
{
	return traced_add(a, 1);
}

static jmp_buf back;

NOIPA static long traced_out(int a)
{
	if (a >= 0)
		longjmp(back, 1);
	return 1;
}

static int program(void)
{
	volatile long sum = 0;

	for (volatile int i = 0; i < ROUNDS; i++) {
		sum += traced_outer(i) + traced_jump(i);
		if (!setjmp(back))
			traced_out(i);
	}
	return (int)(sum % 100);
}

/* ---- events ---- */

struct cprof_profiler {
	unsigned flags; /* what the filter answers */
	unsigned filtered, enters, leaves, tail_calls, unwound, with_context;
	unsigned add_enters, reads, shown, c_reads, c_shown, walks, walks_with_main, refused_walks,
		held_reads;
	unsigned long sum;
	unsigned deepest;
	bool late_refused;
};

static bool is(const cprof_function *f, const char *name)
{
	return f && !strcmp(cprof_function_name(f), name);
}

static unsigned filter(cprof_profiler *p, const cprof_function *f)
{
	p->filtered++;
	return strncmp(cprof_function_name(f), "traced_", 7) ? 0 : p->flags;
}

static cprof_walk find_main(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			    size_t size, const cprof_context *context, void *data)
{
	(void)ip;
	(void)info;
	(void)size;
	(void)context;
	*(bool *)data |= is(f, "main");
	return CPROF_WALK_CONTINUE;
}

static void check_arguments(cprof_profiler *p, cprof_call_context *context, bool leave)
{
	const cprof_value *a = cprof_call_context_argument(context, 0);
	const cprof_value *b = cprof_call_context_argument(context, 1);
	long *bytes;
	int *first;

	CHECK_U64(cprof_call_context_argument_count(context), 2);
	CHECK(a && a->kind == CPROF_VALUE_INT && !strcmp(a->name, "a"));
	CHECK(b && (b->u.i == 40 || b->u.i == 1) && !strncmp(b->type, "long", 4));
	CHECK(!cprof_call_context_argument(context, 2));
	CHECK(cprof_profiler_call_context_error(context) == CPROF_E_NOT_FOUND);
	first = cprof_profiler_call_context_get_argument(context, 0);
	bytes = cprof_profiler_call_context_get_argument(context, 1);
	CHECK(first && cprof_profiler_buffer_size(first) == 4 && a && *first == a->u.i);
	CHECK(bytes && cprof_profiler_buffer_size(bytes) == 8 && b && *bytes == b->u.i);
	CHECK(!cprof_profiler_call_context_get_this(context));
	if (!leave && a && b)
		p->sum += (unsigned long)(a->u.i + b->u.i);
	cprof_profiler_call_context_free_buffer(first);
	cprof_profiler_call_context_free_buffer(bytes);
}

/* It is the same program as this one. */
static const void *own_code(const cprof_function *f)
{
	long (*const add)(int, long) = traced_add;
	long (*const others[])(int) = { traced_outer, traced_jump, traced_out };

	if (is(f, "traced_add"))
		return (const void *)(uintptr_t)add;
	return (const void *)(uintptr_t)others[is(f, "traced_outer")  ? 0
					       : is(f, "traced_jump") ? 1
								      : 2];
}

/* Where the C library asks the kernel to block signals there is a jump of cprof's. */
#define C_CODE 512

static bool compare_c_library(cprof_image *image, void *data)
{
	cprof_profiler *p = data;
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	const uint8_t *own = library ? dlsym(library, "pthread_sigmask") : NULL;
	uint8_t code[C_CODE];
	struct link_map *map = NULL;
	size_t done;

	if (strcmp(cprof_image_name(image), "libc.so.6") != 0)
		return true;
	CHECK(own && !dlinfo(library, RTLD_DI_LINKMAP, &map));
	if (!map)
		return false;
	CHECK(memmem(own, C_CODE, "\xb8\x0e\0\0\0\x0f\x05", 7));
	if (cprof_read_memory(cprof_current_process(),
			      cprof_image_base(image) + ((uintptr_t)own - map->l_addr), code,
			      C_CODE, &done) == CPROF_OK &&
	    ++p->c_reads)
		p->c_shown += !memcmp(code, own, C_CODE);
	dlclose(library);
	return false;
}

static int gate = -1; /* open until the program may end */

static void open_gate(void)
{
	if (gate >= 0)
		close(gate);
	gate = -1;
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	bool found = false;
	cprof_status walked =
		cprof_do_stack_snapshot(cprof_current_thread(), find_main, 0, &found, NULL, 0);
	uint8_t code[4];
	cprof_call call;
	size_t done;

	p->enters++;
	/* The program's text is the program's: no breakpoint shows. */
	if (cprof_read_memory(cprof_current_process(), cprof_function_address(f), code,
			      sizeof(code), &done) == CPROF_OK &&
	    ++p->reads)
		p->shown += !memcmp(code, own_code(f), sizeof(code));
	cprof_for_each_image(compare_c_library, p);
	if (p->reads && p->c_reads)
		open_gate();
	CHECK(cprof_current_call(&call) && call.enter_ns == call.timestamp_ns);
	if (call.depth > p->deepest)
		p->deepest = call.depth;
	p->walks += walked == CPROF_OK;
	p->walks_with_main += found;
	p->refused_walks += walked == CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	if (!context)
		return;
	p->with_context++;
	CHECK(cprof_call_context_thread(context) == cprof_current_thread());
	CHECK(cprof_call_context_cfa(context) == call.cfa);
	CHECK_U64(cprof_call_context_depth(context), call.depth);
	CHECK(cprof_call_context_caller(context) != 0);
	CHECK(!cprof_call_context_result(context));
	if (!is(f, "traced_add"))
		return;
	p->add_enters++;
	check_arguments(p, context, false);
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	cprof_call call;
	long *bytes;

	p->leaves++;
	CHECK(cprof_current_call(&call) && call.enter_ns < call.timestamp_ns && !call.process_exit);
	CHECK(call.overhead_ns <= call.timestamp_ns - call.enter_ns);
	if (!context || !is(f, "traced_add"))
		return;
	check_arguments(p, context, true);
	bytes = cprof_profiler_call_context_get_result(context);
	CHECK(bytes && cprof_profiler_buffer_size(bytes) == 8);
	if (bytes)
		p->sum -= (unsigned long)*bytes;
	cprof_profiler_call_context_free_buffer(bytes);
	CHECK(cprof_call_context_result(context) != NULL);
}

static void tail_call(cprof_profiler *p, const cprof_function *f, const cprof_function *target)
{
	p->tail_calls++;
	CHECK(is(f, "traced_jump") && is(target, "traced_add"));
}

static void unwound(cprof_profiler *p, const cprof_function *f, const cprof_object *exception)
{
	(void)exception;
	p->unwound++;
	CHECK(is(f, "traced_out"));
}

static cprof_profiler_handle late_handle;

static void initialized(cprof_profiler *p)
{
	cprof_callspec *spec = cprof_callspec_parse("traced_*", NULL);

	p->late_refused =
		cprof_profiler_trace(late_handle, spec, 2) == CPROF_E_CALL_ONLY_FROM_INIT &&
		!cprof_profiler_enable_call_context_introspection();
	cprof_callspec_free(spec);
}

static cprof_profiler_handle listen(cprof_profiler *p)
{
	cprof_profiler_handle h = cprof_profiler_create(p);

	cprof_profiler_set_method_enter_callback(h, enter);
	cprof_profiler_set_method_leave_callback(h, leave);
	cprof_profiler_set_method_tail_call_callback(h, tail_call);
	cprof_profiler_set_method_exception_leave_callback(h, unwound);
	return h;
}

/* The program, which ends when its memory was looked at if `looked_at`. */
static void run_until(cprof_session *s, char *self, bool looked_at)
{
	char number[16] = "";
	char *argv[] = { self, (char[]){ "run" }, looked_at ? number : NULL, NULL };
	int ends[2] = { -1, -1 };

	if (looked_at) {
		CHECK(!pipe(ends) && !fcntl(ends[1], F_SETFD, FD_CLOEXEC));
		snprintf(number, sizeof(number), "%d", ends[0]);
		gate = ends[1];
	}
	CHECK(cprof_session_launch(s, self, argv, NULL, 0) == CPROF_OK);
	CHECK(cprof_session_run(s, 0) == CPROF_OK);
	CHECK_STR(cprof_session_error(s), "");
	CHECK_U64((uint64_t)WEXITSTATUS(cprof_session_exit_status(s, true)), (uint64_t)program());
	open_gate();
	close(ends[0]);
}

static void run(cprof_session *s, char *self)
{
	run_until(s, self, false);
}

#define EVERYTHING \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE | \
	 CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE)

static void check_counts(const cprof_profiler *p)
{
	CHECK_U64(p->enters, 5 * ROUNDS);
	CHECK_U64(p->leaves, 3 * ROUNDS);
	CHECK_U64(p->tail_calls, ROUNDS);
	CHECK_U64(p->unwound, ROUNDS);
	CHECK_U64(p->deepest, 1);
	CHECK(p->reads > 0 || SLOW);
	CHECK_U64(p->shown, p->reads);
	CHECK(p->c_reads > 0 || SLOW);
	CHECK_U64(p->c_shown, p->c_reads);
}

static void test_filter(char *self)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler p = { .flags = EVERYTHING };
	cprof_call_statistics c;
	cprof_profiler_handle h = listen(&p);

	cprof_profiler_set_call_instrumentation_filter_callback(h, filter);
	late_handle = h;
	cprof_profiler_set_runtime_initialized_callback(h, initialized);
	run_until(s, self, !SLOW);
	check_counts(&p);
	CHECK(p.filtered > 100 && p.late_refused);
	CHECK_U64(p.with_context, 0);
	CHECK_U64(p.refused_walks, p.enters);
	CHECK_U64(cprof_traced_functions(), 4);
	cprof_get_call_statistics(&c);
	CHECK_U64(c.functions, 4);
	CHECK_U64(c.events, 10 * ROUNDS);
	CHECK_U64(c.hits, 9 * ROUNDS + c.rejected_inside); /* the unwound have no stop */
	CHECK_U64(c.unmatched, 0);
	cprof_session_destroy(s);
}

static void test_contexts(char *self)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler p = { 0 };
	cprof_callspec *spec = cprof_callspec_parse("traced_*", NULL);
	cprof_profiler_handle h = listen(&p);

	CHECK(cprof_profiler_enable_call_context_introspection());
	CHECK(cprof_profiler_trace(h, spec,
				   EVERYTHING | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
					   CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT |
					   CPROF_CALL_INSTRUMENTATION_STACK) == CPROF_OK);
	cprof_callspec_free(spec);
	run_until(s, self, !SLOW);
	check_counts(&p);
	CHECK_U64(p.with_context, p.enters);
	CHECK_U64(p.add_enters, 2 * ROUNDS);
	CHECK_U64(p.sum, 0); /* results are the sums of the arguments */
	CHECK(p.walks_with_main == p.enters || SLOW);
	cprof_session_destroy(s);
}

/* Two profilers want different things of one function: both get all of it. */
static void test_union_and_hold(char *self)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler p = { 0 }, q = { 0 };
	cprof_callspec *spec = cprof_callspec_parse("traced_add,traced_outer", NULL);
	cprof_profiler_handle first = listen(&p), second = listen(&q);

	cprof_profiler_trace(first, spec, CPROF_CALL_INSTRUMENTATION_ENTER);
	cprof_profiler_trace(second, spec,
			     CPROF_CALL_INSTRUMENTATION_LEAVE | CPROF_CALL_INSTRUMENTATION_HOLD);
	cprof_callspec_free(spec);
	run(s, self);
	CHECK_U64(p.enters, 3 * ROUNDS);
	CHECK_U64(q.enters, 3 * ROUNDS);
	CHECK_U64(p.leaves, 3 * ROUNDS);
	CHECK_U64(p.walks_with_main, 3 * ROUNDS); /* it stands still */
	cprof_session_destroy(s);
}

/* What a callback takes while the thread is held is not the program's time. */
struct holder {
	uint64_t held_ns, longer, told; /* per call of traced_outer */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void enter_slowly(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	struct holder *h = (struct holder *)p;
	uint64_t from = now_ns();

	(void)context;
	while (is(f, "traced_add") && now_ns() < from + 300000)
		;
	h->held_ns = now_ns() - from;
}

static void leave_held(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	struct holder *h = (struct holder *)p;
	cprof_call call;

	(void)context;
	if (!is(f, "traced_outer") || !cprof_current_call(&call))
		return;
	h->told++;
	h->longer += call.overhead_ns >= h->held_ns &&
		     call.overhead_ns <= call.timestamp_ns - call.enter_ns;
}

static void test_time_held(char *self)
{
	cprof_session *s = cprof_session_create();
	struct holder h = { 0 };
	cprof_callspec *spec = cprof_callspec_parse("traced_add,traced_outer", NULL);
	cprof_profiler_handle handle = cprof_profiler_create((cprof_profiler *)&h);

	cprof_profiler_set_method_enter_callback(handle, enter_slowly);
	cprof_profiler_set_method_leave_callback(handle, leave_held);
	cprof_profiler_trace(handle, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE |
				     CPROF_CALL_INSTRUMENTATION_HOLD);
	cprof_callspec_free(spec);
	run(s, self);
	CHECK_U64(h.told, ROUNDS);
	CHECK_U64(h.longer, ROUNDS);
	cprof_session_destroy(s);
}

static void test_condition(char *self)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler p = { 0 };
	cprof_callspec *spec = cprof_callspec_parse("traced_add", NULL);
	cprof_call_statistics c;
	char *error;

	cprof_profiler_trace(listen(&p), spec, EVERYTHING);
	cprof_callspec_free(spec);
	error = cprof_profiler_set_call_condition("b ==");
	CHECK(error && *error);
	free(error);
	CHECK(!cprof_profiler_set_call_condition("b == 40 && a < 5"));
	run(s, self);
	CHECK_U64(p.enters, 5);
	CHECK_U64(p.leaves, 5);
	cprof_get_call_statistics(&c);
	CHECK_U64(c.rejected_condition, 2 * (2 * ROUNDS - 5)); /* entry and return */
	CHECK_U64(c.hits, c.events + c.rejected_condition);
	cprof_session_destroy(s);
}

/* ---- ELT ---- */

static struct {
	unsigned enters, leaves, tail_calls, by_id, ranges, frames;
	long results;
	cprof_elt_info *stale;
} elt;

static void elt_enter(cprof_function_or_client_id id)
{
	elt.enters++;
	elt.by_id += id.client_id == 7;
	CHECK(cprof_get_function_tailcall3_info(NULL, NULL, NULL) ==
	      CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
}

static void elt_leave(cprof_function_or_client_id id)
{
	(void)id;
	elt.leaves++;
}

static void elt_tail_call(cprof_function_or_client_id id)
{
	(void)id;
	elt.tail_calls++;
}

static void elt_enter_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	union {
		cprof_function_argument_info info;
		uint8_t room[256];
	} arguments;
	const cprof_frame_info *frame = NULL;
	size_t size = 0;
	int a = -1;

	elt.enters++;
	CHECK(cprof_get_function_enter3_info(id.function, info, &frame, &size, NULL) ==
	      CPROF_E_INSUFFICIENT_BUFFER);
	CHECK(size >= 8 && size <= sizeof(arguments));
	CHECK(cprof_get_function_enter3_info(id.function, info, &frame, &size, &arguments.info) ==
	      CPROF_OK);
	elt.frames += frame && cprof_frame_info_cfa(frame) != 0;
	elt.ranges += arguments.info.num_ranges;
	CHECK(cprof_get_function_leave3_info(id.function, info, &frame, NULL) ==
	      CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
	if (is(id.function, "traced_add")) {
		CHECK_U64(arguments.info.num_ranges, 2);
		CHECK_U64(arguments.info.total_argument_size, 12);
		CHECK(cprof_read_range(info, &arguments.info.ranges[0], &a, sizeof(a)) == CPROF_OK);
		CHECK(a >= 0 && a < ROUNDS);
	}
	elt.stale = info;
}

static void elt_leave_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	cprof_function_argument_range range;
	const cprof_frame_info *frame;
	long result = 0;

	elt.leaves++;
	CHECK(cprof_get_function_leave3_info(id.function, info, &frame, &range) == CPROF_OK);
	CHECK_U64(range.length, 8);
	CHECK(cprof_read_range(info, &range, &result, sizeof(result)) == CPROF_OK);
	if (is(id.function, "traced_add"))
		elt.results += result;
}

static void elt_tail_call_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	const cprof_frame_info *frame;

	elt.tail_calls++;
	CHECK(is(id.function, "traced_jump"));
	CHECK(cprof_get_function_tailcall3_info(id.function, info, &frame) == CPROF_OK);
}

static uintptr_t mapper(const cprof_function *f, void *data, bool *hook)
{
	++*(unsigned *)data;
	*hook = !strncmp(cprof_function_name(f), "traced_", 7);
	return is(f, "traced_add") ? 7 : 0;
}

static uintptr_t chooser(const cprof_function *f, void *data, bool *hook)
{
	(void)data;
	*hook = !strncmp(cprof_function_name(f), "traced_", 7);
	return 0;
}

/* The rules of the CLR's source, one after the other. */
static void test_elt_flags(void)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle h = cprof_profiler_create(NULL);
	uint64_t mask = 1;

	CHECK(cprof_get_event_mask(h, &mask) == CPROF_OK && mask == CPROF_MONITOR_NONE);
	/* all hooks NULL */
	CHECK(cprof_set_enter_leave_function_hooks3(h, NULL, NULL, NULL) ==
	      CPROF_E_INVALID_ARGUMENT);
	CHECK(cprof_set_enter_leave_function_hooks3_with_info(h, NULL, NULL, NULL) ==
	      CPROF_E_INVALID_ARGUMENT);
	/* slow hooks while no slow flag is set; a stack snapshot is none */
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE | CPROF_ENABLE_STACK_SNAPSHOT) ==
	      CPROF_OK);
	CHECK(cprof_set_enter_leave_function_hooks3_with_info(h, elt_enter_info, NULL, NULL) ==
	      CPROF_E_INCONSISTENT_WITH_FLAGS);
	/* fast hooks while a slow flag is set */
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE | CPROF_ENABLE_FRAME_INFO) ==
	      CPROF_OK);
	CHECK(cprof_set_enter_leave_function_hooks3(h, elt_enter, NULL, NULL) ==
	      CPROF_E_INCONSISTENT_WITH_FLAGS);
	/* after slow hooks: a mask without any, or without ENTERLEAVE */
	CHECK(cprof_set_enter_leave_function_hooks3_with_info(h, elt_enter_info, NULL, NULL) ==
	      CPROF_OK);
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE) == CPROF_E_INCONSISTENT_WITH_FLAGS);
	CHECK(cprof_set_event_mask(h, CPROF_ENABLE_FRAME_INFO) == CPROF_E_INCONSISTENT_WITH_FLAGS);
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE | CPROF_ENABLE_FUNCTION_ARGS) ==
	      CPROF_OK);
	CHECK(cprof_get_event_mask(h, &mask) == CPROF_OK &&
	      mask == (CPROF_MONITOR_ENTERLEAVE | CPROF_ENABLE_FUNCTION_ARGS));
	cprof_session_destroy(s);

	s = cprof_session_create();
	h = cprof_profiler_create(NULL);
	/* after fast hooks: a mask with a slow flag, or without ENTERLEAVE */
	CHECK(cprof_set_enter_leave_function_hooks3(h, elt_enter, NULL, NULL) == CPROF_OK);
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE | CPROF_ENABLE_FUNCTION_RETVAL) ==
	      CPROF_E_INCONSISTENT_WITH_FLAGS);
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_NONE) == CPROF_E_INCONSISTENT_WITH_FLAGS);
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE) == CPROF_OK);
	cprof_session_destroy(s);
}

static void try_late(cprof_profiler *p)
{
	uint64_t mask;

	(void)p;
	cprof_get_event_mask(late_handle, &mask);
	CHECK(cprof_set_event_mask(late_handle, mask ^ CPROF_MONITOR_CODE_TRANSITIONS) ==
	      CPROF_E_CALL_ONLY_FROM_INIT);
	CHECK(cprof_set_event_mask(late_handle, mask) == CPROF_OK);
	CHECK(cprof_set_enter_leave_function_hooks3(late_handle, elt_enter, NULL, NULL) ==
	      CPROF_E_CALL_ONLY_FROM_INIT);
}

static void test_elt_fast(char *self)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle h = cprof_profiler_create(NULL);
	unsigned mapped = 0;

	late_handle = h;
	memset(&elt, 0, sizeof(elt));
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE) == CPROF_OK);
	CHECK(cprof_set_enter_leave_function_hooks3(h, elt_enter, elt_leave, elt_tail_call) ==
	      CPROF_OK);
	CHECK(cprof_set_function_id_mapper2(h, mapper, &mapped) == CPROF_OK);
	CHECK(cprof_set_function_id_mapper2(h, mapper, &mapped) != CPROF_OK);
	cprof_profiler_set_runtime_initialized_callback(h, try_late);
	run(s, self);
	CHECK_U64(elt.enters, 5 * ROUNDS);
	CHECK_U64(elt.leaves, 3 * ROUNDS);
	CHECK_U64(elt.tail_calls, ROUNDS);
	CHECK_U64(elt.by_id, 2 * ROUNDS);
	CHECK(mapped > 100);
	cprof_session_destroy(s);
}

static void test_elt_slow(char *self)
{
	cprof_session *s = cprof_session_create();
	cprof_profiler_handle h = cprof_profiler_create(NULL);
	size_t size = 0;

	memset(&elt, 0, sizeof(elt));
	CHECK(cprof_set_event_mask(h, CPROF_MONITOR_ENTERLEAVE | CPROF_SLOW_PATH_FLAGS) ==
	      CPROF_OK);
	CHECK(cprof_set_enter_leave_function_hooks3_with_info(h, elt_enter_info, elt_leave_info,
							      elt_tail_call_info) == CPROF_OK);
	CHECK(cprof_set_function_id_mapper2(h, chooser, NULL) == CPROF_OK);
	run(s, self);
	CHECK_U64(elt.enters, 5 * ROUNDS);
	CHECK_U64(elt.leaves, 3 * ROUNDS);
	CHECK_U64(elt.tail_calls, ROUNDS);
	CHECK_U64(elt.frames, elt.enters);
	CHECK_U64(elt.ranges, 7 * ROUNDS);
	CHECK_U64((uint64_t)elt.results, ROUNDS * (ROUNDS - 1) + 41 * ROUNDS);
	CHECK(cprof_get_function_enter3_info(NULL, elt.stale, NULL, &size, NULL) ==
	      CPROF_E_UNSUPPORTED_CALL_SEQUENCE);
	cprof_session_destroy(s);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		int status = program();
		char end;

		if (argc > 2 && read(atoi(argv[2]), &end, 1) < 0)
			status = -1;
		_exit(status); /* leak checks fail under ptrace */
	}
	test_filter(argv[0]);
	test_contexts(argv[0]);
	test_union_and_hold(argv[0]);
	test_time_held(argv[0]);
	test_condition(argv[0]);
	test_elt_flags();
	test_elt_fast(argv[0]);
	test_elt_slow(argv[0]);
	TEST_MAIN_END;
}
