/* SPDX-License-Identifier: MIT
 *
 * Enter, leave and tail call hooks in the CLR's manner. eltprobe:matrix prints
 * the statuses of the rules, :fast and :slow count, :slow asks for arguments.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	unsigned enters, leaves, tail_calls, mapped;
};

static cprof_profiler prof;
static cprof_profiler_handle handle;
static cprof_elt_info *kept;

static void enter(cprof_function_or_client_id id)
{
	prof.enters++;
	prof.mapped += id.client_id == 7;
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

static const cprof_function *add, *big;

static void arguments(const cprof_function *f, const char *name, cprof_elt_info *info)
{
	union {
		cprof_function_argument_info info;
		char room[512];
	} u;
	size_t size = 0;
	long first = 0;
	cprof_status asked = cprof_get_function_enter3_info(f, info, NULL, &size, NULL), got;

	got = cprof_get_function_enter3_info(f, info, NULL, &size, &u.info);
	if (got == CPROF_OK && u.info.num_ranges)
		cprof_read_range(info, &u.info.ranges[0], &first, sizeof(first));
	printf("%s: ask %d, then %d, %u ranges, %u bytes, the first %ld, flags %u\n", name, asked,
	       got, u.info.num_ranges, u.info.total_argument_size, first, u.info.ranges[0].flags);
	size--;
	printf("%s: one byte too few %d, as a leave %d\n", name,
	       cprof_get_function_enter3_info(f, info, NULL, &size, &u.info),
	       cprof_get_function_leave3_info(f, info, NULL, NULL));
}

static void enter_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	size_t size = 0;

	enter(id);
	if (kept && cprof_get_function_enter3_info(add, kept, NULL, &size, NULL) !=
			    CPROF_E_UNSUPPORTED_CALL_SEQUENCE)
		printf("an old info lives\n");
	if (id.client_id == 7)
		arguments(add, "probed_add", info);
	else if (id.function == big)
		arguments(big, "probed_big", info);
	kept = info;
}

static void leave_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	cprof_function_argument_range range = { 0, 0, 0 };
	int result = 0;

	leave(id);
	if (id.client_id != 7)
		return;
	printf("leave: %d, ", cprof_get_function_leave3_info(add, info, NULL, &range));
	printf("%d, %u bytes: ", cprof_read_range(info, &range, &result, sizeof(result)),
	       range.length);
	printf("%d\n", result);
}

static void tail_info(cprof_function_or_client_id id, cprof_elt_info *info)
{
	(void)info;
	tail_call(id);
}

/* probed_add has an id, probed_fib is not hooked. */
static uintptr_t mapper(const cprof_function *f, void *data, bool *hook)
{
	(void)data;
	*hook = !strncmp(cprof_function_name(f), "probed_", 7) && !is(f, "probed_fib");
	add = is(f, "probed_add") ? f : add;
	big = is(f, "probed_big") ? f : big;
	return is(f, "probed_add") ? 7 : 0;
}

#define FAST(enter, leave, tail) cprof_set_enter_leave_function_hooks3(handle, enter, leave, tail)
#define SLOW(enter, leave, tail) \
	cprof_set_enter_leave_function_hooks3_with_info(handle, enter, leave, tail)
#define MASK(mask) cprof_set_event_mask(handle, mask)
#define ON CPROF_MONITOR_ENTERLEAVE

static void matrix(void)
{
	printf("no hooks: %d %d\n", FAST(NULL, NULL, NULL), SLOW(NULL, NULL, NULL));
	MASK(ON | CPROF_ENABLE_STACK_SNAPSHOT);
	printf("slow without a slow flag: %d\n", SLOW(enter_info, NULL, NULL));
	MASK(ON | CPROF_ENABLE_FUNCTION_ARGS);
	printf("fast with a slow flag: %d\n", FAST(enter, NULL, NULL));
	printf("slow with one: %d\n", SLOW(enter_info, NULL, NULL));
	printf("then no slow flag: %d, no ENTERLEAVE: %d, another slow flag: %d\n", MASK(ON),
	       MASK(CPROF_ENABLE_FUNCTION_ARGS), MASK(ON | CPROF_ENABLE_FRAME_INFO));
	handle = cprof_profiler_create(&prof);
	printf("fast: %d\n", FAST(enter, NULL, NULL));
	printf("then a slow flag: %d, no ENTERLEAVE: %d, the same: %d\n",
	       MASK(ON | CPROF_ENABLE_FUNCTION_RETVAL), MASK(0), MASK(ON));
	printf("no mapper: %d\n", cprof_set_function_id_mapper2(handle, NULL, NULL));
}

static void ended(cprof_profiler *p)
{
	cprof_call_statistics c;
	size_t size = 0;

	cprof_get_call_statistics(&c);
	printf("%lu stops for %lu events\n", (unsigned long)(c.hits - c.rejected_inside),
	       (unsigned long)c.events);
	printf("%u enters, %u leaves, %u tail calls, %u by id\n", p->enters, p->leaves,
	       p->tail_calls, p->mapped);
	printf("outside: %d %d %d\n", cprof_get_function_enter3_info(add, kept, NULL, &size, NULL),
	       cprof_get_function_leave3_info(add, kept, NULL, NULL),
	       cprof_get_function_tailcall3_info(add, kept, NULL));
	fflush(stdout);
}

static void started(cprof_profiler *p)
{
	uint64_t mask;

	(void)p;
	cprof_get_event_mask(handle, &mask);
	printf("late: %d %d %d\n", FAST(enter, leave, NULL),
	       MASK(mask ^ CPROF_ENABLE_FUNCTION_RETVAL),
	       cprof_set_function_id_mapper2(handle, mapper, NULL));
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
	MASK(!strcmp(args, "fast") ? ON : ON | CPROF_SLOW_PATH_FLAGS);
	if (!strcmp(args, "fast"))
		FAST(enter, leave, tail_call);
	else
		SLOW(enter_info, leave_info, tail_info);
	cprof_set_function_id_mapper2(handle, mapper, NULL);
	cprof_profiler_set_runtime_initialized_callback(handle, started);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}
