/* SPDX-License-Identifier: MIT
 *
 * Enter, leave and tail call hooks in the CLR's manner. eltprobe:matrix prints
 * the statuses of the rules, :fast and :slow count, :slow asks for all there
 * is, :args, :retval and :frame for one of them, :replaced sets hooks twice,
 * :masked sets them and asks for nothing.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	unsigned enters, leaves, tail_calls, mapped, refused_id, wrong_data;
};

static cprof_profiler prof;
static cprof_profiler_handle handle;
static cprof_elt_info *kept;

static void enter(cprof_function_or_client_id id)
{
	size_t size = 0;

	prof.enters++;
	prof.mapped += id.client_id == 7;
	prof.refused_id += id.client_id == 9;
	/* A fast hook has no info, and an old one is no longer good. */
	if (cprof_get_function_enter3_info(id.function, kept, NULL, &size, NULL) !=
	    CPROF_E_UNSUPPORTED_CALL_SEQUENCE)
		printf("an old info lives\n");
}

static void leave(cprof_function_or_client_id id)
{
	(void)id;
	prof.leaves++;
}

static void tail_call(cprof_function_or_client_id id)
{
	(void)id;
	prof.tail_calls++;
}

static bool is(const cprof_function *f, const char *name)
{
	return !strcmp(cprof_function_name(f), name);
}

static const cprof_function *add, *big, *owner, *tail;

/* ---- what a slow hook may ask ---- */

/* Who may be asked in this hook. */
static void ask_all(const char *hook, const cprof_function *f, const cprof_function *other,
		    cprof_elt_info *info)
{
	size_t size = 0;

	printf("%s: enter %d leave %d tail call %d, of another function %d %d %d\n", hook,
	       cprof_get_function_enter3_info(f, info, NULL, &size, NULL),
	       cprof_get_function_leave3_info(f, info, NULL, NULL),
	       cprof_get_function_tailcall3_info(f, info, NULL),
	       cprof_get_function_enter3_info(other, info, NULL, &size, NULL),
	       cprof_get_function_leave3_info(other, info, NULL, NULL),
	       cprof_get_function_tailcall3_info(other, info, NULL));
}

static void arguments(const cprof_function *f, const char *name, cprof_elt_info *info)
{
	union {
		cprof_function_argument_info info;
		unsigned char room[512];
	} u;
	const cprof_frame_info *frame = NULL;
	size_t size = 0, needed, less, i;
	unsigned touched = 0;
	long first = 0;
	cprof_status asked = cprof_get_function_enter3_info(f, info, NULL, &size, NULL), got, few;

	needed = size;
	less = needed - 1;
	memset(&u, 0x5a, sizeof(u));
	few = cprof_get_function_enter3_info(f, info, NULL, &less, &u.info);
	for (i = 0; i < sizeof(u); i++)
		touched += u.room[i] != 0x5a;
	printf("%s: ask %d, needs %zu; one byte too few %d, needs %zu, %u bytes touched\n", name,
	       asked, needed, few, less, touched);
	got = cprof_get_function_enter3_info(f, info, &frame, &size, &u.info);
	for (i = size; i < sizeof(u); i++)
		touched += u.room[i] != 0x5a;
	if (got == CPROF_OK && u.info.num_ranges)
		cprof_read_range(info, &u.info.ranges[0], &first, sizeof(first));
	printf("%s: %d, %u ranges, %u bytes, the first %ld, flags %u, %s frame, %u bytes beyond\n",
	       name, got, u.info.num_ranges, u.info.total_argument_size,
	       u.info.num_ranges ? first : -1, u.info.num_ranges ? u.info.ranges[0].flags : 0,
	       frame ? "a" : "no", touched);
	printf("%s: no size %d\n", name,
	       cprof_get_function_enter3_info(f, info, NULL, NULL, &u.info));
}

static void enter_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	enter(id);
	if (id.client_id == 7) {
		arguments(add, "probed_add", info);
		ask_all("enter", add, big, info);
	} else if (id.function == big) {
		arguments(big, "probed_big", info);
	} else if (id.function == owner) {
		arguments(owner, "probed_owner", info);
	}
	kept = info;
}

static void leave_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	cprof_function_argument_range range = { 1, 1, 1 };
	const cprof_frame_info *frame = NULL;
	int result = 0;

	leave(id);
	if (id.client_id != 7)
		return;
	printf("leave: %d, ", cprof_get_function_leave3_info(add, info, &frame, &range));
	printf("%d, %u bytes: ", cprof_read_range(info, &range, &result, sizeof(result)),
	       range.length);
	printf("%d, %s frame\n", result, frame ? "a" : "no");
	ask_all("leave", add, big, info);
}

static void tail_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	const cprof_frame_info *frame = NULL;

	tail_call(id);
	printf("tail call: %d, ", cprof_get_function_tailcall3_info(tail, info, &frame));
	printf("%s frame\n", frame ? "a" : "no");
	ask_all("tail call", tail, big, info);
}

/* probed_add has an id, probed_fib is not hooked and its id means nothing. */
static uintptr_t mapper(const cprof_function *f, void *data, bool *hook)
{
	prof.wrong_data += data != &prof;
	*hook = !strncmp(cprof_function_name(f), "probed_", 7) && !is(f, "probed_fib");
	add = is(f, "probed_add") ? f : add;
	big = is(f, "probed_big") ? f : big;
	owner = is(f, "probed_owner") ? f : owner;
	tail = is(f, "probed_tail") ? f : tail;
	return is(f, "probed_add") ? 7 : is(f, "probed_fib") ? 9 : 0;
}

static uintptr_t other_mapper(const cprof_function *f, void *data, bool *hook)
{
	(void)f;
	(void)data;
	*hook = false;
	return 0;
}

#define FAST(enter, leave, tail) cprof_set_enter_leave_function_hooks3(handle, enter, leave, tail)
#define SLOW(enter, leave, tail) \
	cprof_set_enter_leave_function_hooks3_with_info(handle, enter, leave, tail)
#define MASK(mask) cprof_set_event_mask(handle, mask)
#define ON CPROF_MONITOR_ENTERLEAVE

/* ---- the rules ---- */

/* Slow and fast hooks with this mask, each of a profiler of its own. */
static void both(const char *what, uint64_t mask)
{
	cprof_status slow, fast, set;

	handle = cprof_profiler_create(&prof);
	set = MASK(mask);
	slow = SLOW(enter_info, NULL, NULL);
	handle = cprof_profiler_create(&prof);
	MASK(mask);
	fast = FAST(enter, NULL, NULL);
	printf("%s: %d, slow %d, fast %d\n", what, set, slow, fast);
}

/* What can be set once there are hooks, and that a refusal changes nothing. */
static void then(const char *what, uint64_t mask)
{
	uint64_t before = 1, after = 1;
	cprof_status status;

	cprof_get_event_mask(handle, &before);
	status = MASK(mask);
	cprof_get_event_mask(handle, &after);
	printf("%s: %d%s\n", what, status,
	       after != (status ? before : mask) ? ", and the mask is another" : "");
}

static void matrix(void)
{
	uint64_t mask = 1;

	printf("nobody: %d %d %d %d %d\n",
	       cprof_set_enter_leave_function_hooks3(NULL, enter, NULL, NULL),
	       cprof_set_enter_leave_function_hooks3_with_info(NULL, enter_info, NULL, NULL),
	       cprof_set_event_mask(NULL, ON), cprof_get_event_mask(NULL, &mask),
	       cprof_set_function_id_mapper2(NULL, mapper, NULL));
	printf("no hooks: %d %d\n", FAST(NULL, NULL, NULL), SLOW(NULL, NULL, NULL));
	printf("no mask: %d\n", cprof_get_event_mask(handle, NULL));
	printf("no mapper: %d\n", cprof_set_function_id_mapper2(handle, NULL, NULL));
	printf("mappers: %d, ", cprof_set_function_id_mapper2(handle, mapper, &prof));
	printf("then %d\n", cprof_set_function_id_mapper2(handle, other_mapper, NULL));
	both("nothing", 0);
	both("enter and leave", ON);
	both("stack snapshot", ON | CPROF_ENABLE_STACK_SNAPSHOT);
	both("arguments", ON | CPROF_ENABLE_FUNCTION_ARGS);
	both("result", ON | CPROF_ENABLE_FUNCTION_RETVAL);
	both("frame", ON | CPROF_ENABLE_FRAME_INFO);
	handle = cprof_profiler_create(&prof);
	MASK(ON | CPROF_ENABLE_FUNCTION_ARGS);
	SLOW(enter_info, NULL, NULL);
	then("slow, then no slow flag", ON);
	then("slow, then a stack snapshot", ON | CPROF_ENABLE_STACK_SNAPSHOT);
	then("slow, then no enter and leave", CPROF_ENABLE_FUNCTION_ARGS);
	then("slow, then another slow flag", ON | CPROF_ENABLE_FRAME_INFO);
	handle = cprof_profiler_create(&prof);
	FAST(enter, NULL, NULL);
	then("fast, then arguments", ON | CPROF_ENABLE_FUNCTION_ARGS);
	then("fast, then result", ON | CPROF_ENABLE_FUNCTION_RETVAL);
	then("fast, then frame", ON | CPROF_ENABLE_FRAME_INFO);
	then("fast, then nothing", 0);
	then("fast, then enter and leave", ON);
	then("fast, then a stack snapshot", ON | CPROF_ENABLE_STACK_SNAPSHOT);
}

/* ---- start and end ---- */

static void ended(cprof_profiler *p)
{
	cprof_call_statistics c;
	size_t size = 0;

	cprof_get_call_statistics(&c);
	printf("%lu stops for %lu events\n", (unsigned long)(c.hits - c.rejected_inside),
	       (unsigned long)c.events);
	printf("%u enters, %u leaves, %u tail calls, %u by id, %u by a refused one\n", p->enters,
	       p->leaves, p->tail_calls, p->mapped, p->refused_id);
	printf("outside: %d %d %d\n", cprof_get_function_enter3_info(add, kept, NULL, &size, NULL),
	       cprof_get_function_leave3_info(add, kept, NULL, NULL),
	       cprof_get_function_tailcall3_info(add, kept, NULL));
	if (p->wrong_data)
		printf("the mapper's data are not its own\n");
	fflush(stdout);
}

static void started(cprof_profiler *p)
{
	uint64_t mask;

	(void)p;
	cprof_get_event_mask(handle, &mask);
	printf("late: %d %d %d %d, what may change %d\n", FAST(enter, leave, NULL),
	       SLOW(enter_info, NULL, NULL), MASK(mask ^ CPROF_ENABLE_FUNCTION_RETVAL),
	       cprof_set_function_id_mapper2(handle, other_mapper, NULL),
	       MASK(mask | CPROF_MONITOR_THREADS));
}

static uint64_t mask_of(const char *args)
{
	return !strcmp(args, "slow")	 ? ON | CPROF_SLOW_PATH_FLAGS
	       : !strcmp(args, "args")	 ? ON | CPROF_ENABLE_FUNCTION_ARGS
	       : !strcmp(args, "retval") ? ON | CPROF_ENABLE_FUNCTION_RETVAL
	       : !strcmp(args, "frame")	 ? ON | CPROF_ENABLE_FRAME_INFO
	       : !strcmp(args, "masked") ? 0
					 : ON;
}

CPROF_PROFILER_INIT(eltprobe)
{
	const char *args = cprof_profiler_desc_args(desc);

	handle = cprof_profiler_create(&prof);
	if (!strcmp(args, "matrix")) {
		matrix();
		fflush(stdout);
		return;
	}
	MASK(mask_of(args));
	if (mask_of(args) & CPROF_SLOW_PATH_FLAGS)
		SLOW(enter_info, leave_info, tail_info);
	else
		FAST(enter, leave, tail_call);
	if (!strcmp(args, "replaced"))
		FAST(NULL, leave, NULL);
	cprof_set_function_id_mapper2(handle, mapper, &prof);
	cprof_profiler_set_runtime_initialized_callback(handle, started);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}
