/* SPDX-License-Identifier: MIT
 *
 * Calls: from filters to breakpoints, from those to events. Private to src/engine.
 *
 *   filters ──► traced functions ──► sites ──► armed in each mapping   (plans.c, arm.c)
 *                     ▲                ▲
 *   hit ── number of its site ─────────┘ ──► shadow stack ──► method_* (calls/calls.c)
 *                                        └─► what was captured: values (calls/context.c)
 *
 * A traced function and its sites belong to an ELF object and are planned
 * once, however often it is mapped; a hit tells by its pc which mapping it is.
 */
#ifndef CP_ENGINE_PROBES_SITES_H
#define CP_ENGINE_PROBES_SITES_H

#include <cprof/cprof.h>

#include "arch/detour.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/probes/price.h"
#include "engine/target/family.h"
#include "inspect/declared.h"
#include "inspect/inspect.h"
#include "inspect/signature.h"
#include "link/sites.h"
#include "probe/match.h"
#include "probe/plan.h"
#include "probe/shadow.h"
#include "probe/spec.h"

struct cp_condition;
struct cp_declared;
struct cp_detour_plan;
struct cp_decoder;
struct cp_event_hit;
struct cp_hit_vector;
struct cp_spec;
struct cp_value_arena;
struct engine_choice;
struct engine_valued;
struct engine_ifuncs;
struct engine_known_callers;
struct engine_rings;
struct engine_role_plan;
struct engine_windows;

/* Numbers of sites, or of traced functions. */
struct engine_numbers {
	uint32_t *items;
	size_t count, capacity;
};

/* Sites of a family's own that go together: too many hits of one disarm the family. */
struct engine_own_group {
	uint32_t number; /* of the family's groups, in the session */
	uint8_t often; /* as in struct engine_watch */
	uint32_t first, count; /* in `sites` */
	uint64_t quiet_at; /* link-time; as in struct cp_site_group */
	uint32_t quiet;
};

/* Sites of a family's own in an ELF object. */
struct engine_own {
	struct engine_numbers sites;
	CP_VEC(struct engine_own_group) groups;
	void *data; /* the family's, free()d; NULL: none */
};

/* What is known of one ELF object's functions. */
struct engine_plans {
	struct cp_probe_functions functions;
	bool read; /* `functions` were, or can't be */
	bool pads_read, exports_read; /* functions.pads, exports were */
	bool base_read, base_used; /* used: its code uses what detours find rings by (base.c) */
	struct cp_map exports; /* hash of an exported name -> number of its symbol */
	struct cp_map library_calls; /* where a library call is made -> traced function (stubs.c) */
	struct cp_map returns; /* return addresses that got breakpoints, in any process */
	uint32_t *numbers; /* by function: its number as a traced one + 1; 0: not asked */
	bool watched; /* the sites below were looked for */
	struct engine_own own[ENGINE_FAMILIES];
	struct engine_role_plan *roles; /* owned; roles.c; NULL: not looked at */
	struct engine_ifuncs *ifuncs; /* owned; ifuncs.c; NULL: not looked at */
	CP_VEC(struct engine_choice) choices; /* of functions here (ifuncs.h) */
	uint64_t hook_address; /* of the dynamic linker's hook, link-time; 0: none */
	struct engine_windows *windows; /* owned; windows.c; NULL: not looked at */
	struct engine_asked *asked; /* owned; wishes.c; NULL: nothing was asked */
};

/* A flag beside CPROF_CALL_INSTRUMENTATION_*: the function has a role (roles.h). */
#define ENGINE_TRACED_ROLE 0x80000000u

/* What profilers have copied of calls (cprof/fetch.h). */
struct engine_fetch {
	cprof_callspec *spec; /* a reference: of which functions */
	cprof_fetch what;
};

/* What of that is a traced function's (fetches.c). */
struct engine_fetching {
	struct engine_numbers numbers; /* of engine_calls.fetches */
	CP_VEC(struct cp_fetches) lists; /* owned; of its sites, with what its signature says */
	bool entry, leave, late; /* there are such as are read then */
};

/* A function that filters chose, or that has a role. */
struct engine_traced {
	cprof_assembly *assembly;
	struct cp_probe_function *function; /* of assembly->plans */
	unsigned flags; /* CPROF_CALL_INSTRUMENTATION_*, ENGINE_TRACED_ROLE */
	uint8_t family, role; /* what it is watched for: ENGINE_NO_FAMILY, 0: nothing */
	enum cp_probe_why why;
	uint32_t max_rate; /* 0: any */
	uint32_t first_site, site_count; /* the entry first; 0: can't be traced */
	uint32_t entry_count; /* several of a library function that is called without a stub */
	uint32_t return_site; /* the site for return addresses, where exits are not known */
	struct cp_probe_range ranges[CP_GROUP_RANGES];
	bool by_return;
	bool disarmed; /* it was called too often */
	bool loops; /* see struct cp_probe_plan */
	struct cp_signature *signature; /* owned; NULL: no values asked for */
	struct engine_fetching *fetching; /* owned; NULL: nothing */
	bool type_anew; /* `signature` knows nothing, and types of another name may */
	const char *called; /* the ifunc's name by which it is asked for; NULL: none */
	struct cp_detour_plan *windows; /* owned; of its detours; NULL: none were planned */
	unsigned planned; /* the flags that `windows` were planned for */
	bool returns; /* it was not traced, and is again: nothing of it stands */
	bool condition_held; /* its calls stand while the condition is evaluated */
	char *condition_lacks; /* owned; why the condition means nothing there; or NULL */
	bool counted; /* its sites were placed, and count as that */
	uint8_t slow; /* enum engine_slow: why it has breakpoints instead */
	uint32_t pushed; /* engine_traced_pushed(), and 1; 0: not looked at */
	uint32_t second_entries; /* by records, in the second that began at: */
	uint64_t second_ns;
};

/* Does anybody trace the function for other things than its role? */
static inline bool engine_traced_by_others(const struct engine_traced *t)
{
	return (t->flags & ~ENGINE_TRACED_ROLE) != 0;
}

enum engine_site_kind {
	ENGINE_SITE_ENTRY,
	ENGINE_SITE_EXIT,
	ENGINE_SITE_TAIL,
	ENGINE_SITE_RETURN, /* behind a call, wherever that is */
	ENGINE_SITE_OWN, /* no call: of a family's own */
};

#define ENGINE_NO_FUNCTION UINT32_MAX
/* Groups of sites that are no functions: the number is that of a family's own group. */
#define ENGINE_GROUP_OWN(family, number) (0xf0000000u | (uint32_t)(family) << 16 | (number))
#define ENGINE_GROUP_NUMBER 0xffffu
#define ENGINE_GROUP_RETURNS 0xfffffff1u
#define ENGINE_GROUP_COUNTING 0xfffffff2u
#define ENGINE_GROUP_SHARED 0xfffffff3u /* of all detours */
#define ENGINE_GROUP_COUNTED 0xfffffff4u /* of windows that count */

/* What records bring of stacks. */
enum engine_walks {
	ENGINE_WALKS_NONE,
	ENGINE_WALKS_NEAR, /* as much as a copy has room for */
	ENGINE_WALKS_ALL, /* who is deeper stops (calls/reading.c) */
};

struct engine_site {
	uint64_t address; /* link-time; 0: RETURN */
	uint32_t traced; /* number, or ENGINE_NO_FUNCTION */
	uint8_t kind; /* enum engine_site_kind */
	uint8_t family, what; /* of OWN: the family, and which of its kinds of sites */
	uint8_t size; /* of the instruction */
	uint8_t code[16];
	uint32_t also; /* another site at its instruction, of which a detour's record tells,
			  too; 0: none */
	struct cp_capture_list list;
	struct cp_uses uses; /* of list: registers that a detour records */
	bool valued; /* a detour records what `list` says: not only a condition is about it */
	uint16_t words; /* of its detour's record, but for strings */
	bool formed; /* `form` was looked for */
	const struct engine_valued *form; /* (valued.h); borrowed; NULL: none */
	bool judged; /* of an entry: the controller has the last word about the condition */
	uint8_t walked; /* enum engine_walks: so a detour records what a walk begins with */
	bool answers; /* an EXIT by a jump to what answers with its first argument */
	bool sampled; /* a detour says whether what the call asks for was chosen */
	bool jumps; /* a computed jump, which a detour records in `jumps_by` */
	struct cp_detour_value jumps_by;
};

struct cprof_callspec {
	struct cp_spec *spec;
	unsigned references;
};

/* A SPEC and what its functions get. */
struct engine_trace {
	cprof_profiler_handle owner;
	cprof_callspec *spec; /* a reference */
	unsigned flags;
};

/* The call event being delivered. */
struct engine_hit {
	const struct cp_event_hit *event;
	uint32_t site; /* number */
	uint8_t what; /* of a family's own site */
	const cprof_image *image; /* where it is mapped; NULL: not known */
	bool recorded; /* by a detour, or in the place of that: no stop at a site */
	struct cp_regs regs; /* known 0: not captured */
	const struct cp_hit_vector *vector;
	const uint8_t *fetched, *stack; /* NULL: none */
};

/* A function whose detours gave way in one image, and so did those in another. */
struct engine_yielded {
	cprof_image *image;
	uint32_t traced;
};

/* The time stamp counter as a clock. */
struct engine_tick {
	uint64_t ticks, ns;
};

#define ENGINE_CLOCK_SHIFT 32

struct engine_clock {
	struct engine_tick first, last;
	double ns_per_tick;
	uint64_t ns_shifted; /* the same, times 2 to the power of ENGINE_CLOCK_SHIFT */
	uint64_t alive_ticks; /* for how long the program is told that somebody reads */
};

/* The time of a stamp counter's value near that of `last`. */
static inline uint64_t engine_clock_ns(const struct engine_clock *clock, uint64_t ticks)
{
	__extension__ typedef __int128 wide;
	wide units = (wide)(int64_t)(ticks - clock->last.ticks) * (int64_t)clock->ns_shifted;

	return clock->last.ns + (uint64_t)(int64_t)(units >> ENGINE_CLOCK_SHIFT);
}

struct engine_calls {
	/* settings */
	CP_VEC(struct engine_trace) traces;
	CP_VEC(struct engine_fetch) fetches; /* what profilers have copied, by number */
	unsigned retraced; /* how often those changed: what they said is asked anew */
	bool filters; /* some profiler has a filter of its own */
	bool begins_late; /* the session ran without breakpoints until now */
	uint32_t rate_named, rate_globbed;
	bool rate_said, rate_warned; /* not the usual ones; of too many calls */
	struct cp_condition *condition;
	struct cp_chosen *arguments; /* owned; what is told for them; NULL: all */
	bool cpu_time; /* the CPU time of each call is wanted */
	struct cp_declared *declared; /* owned; NULL: not asked for, or not there */
	bool declared_tried;
	/* plans */
	struct cp_decoder *decoder;
	CP_VEC(struct engine_traced *) traced; /* owned */
	CP_VEC(struct engine_site) sites;
	CP_VEC(struct engine_valued *) forms; /* owned: all that sites ever had */
	uint32_t own_groups[ENGINE_FAMILIES]; /* how many groups of their own families have */
	CP_VEC(cprof_image *) refilters; /* requests to ask filters again; NULL: of all images */
	uint64_t chosen; /* functions that filters chose */
	bool by_return; /* some of them are watched by return address */
	/* the event being delivered */
	cprof_call current;
	bool has_current;
	int32_t inherited_from; /* tid of who entered the call, in another process; 0: none */
	struct engine_known_callers *callers; /* (calls/invoke.c); owned; NULL: none */
	const struct cp_call *entering; /* the call whose enter is being delivered; else NULL */
	bool exiting; /* open calls end because their thread or process does */
	bool reached; /* ... because control comes to where they are left, which is seen */
	bool unsure_warned; /* a warning was given of calls that may not be over */
	uint64_t now_ns; /* when what is being delivered happened */
	uint64_t records_seen; /* `records` at the last engine_records_hurry() */
	struct cp_value_arena *arena;
	CP_VEC(uint64_t) chain;
	bool chain_falls, chain_open; /* to another stack; its outermost frame has no size */
	bool stacks_within; /* in some process stacks lie within frames of others */
	/* counts */
	uint64_t late; /* hits of functions that are disarmed */
	uint64_t hooks; /* stops that are no events: the dynamic linker's hook, ... */
	uint64_t events, rejected_inside, rejected_condition, unmatched;
	uint64_t told, untold; /* calls of which the condition could be told, or not; */
	char *untold_why; /* owned; why not, of the first that said it; or NULL */
	uint64_t armed_functions, armed_sites, detoured_functions, detoured_sites;
	/* detours */
	CP_VEC(struct engine_yielded) yielded; /* breakpoints that are still to be placed */
	CP_VEC(struct engine_rings *) rings; /* borrowed: of all processes */
	struct engine_clock clock;
	struct engine_price price; /* of a call by detours, */
	bool priced; /* if it was tried out */
	uint64_t changes; /* of what is known of sites: images, functions, detours */
	uint64_t records, records_lost, records_unread;
	uint8_t walks; /* enum engine_walks: the most that one of them brings */
	bool reaches; /* some of them bring what pointers lead to */
};

#endif
