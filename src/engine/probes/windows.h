/* SPDX-License-Identifier: MIT
 *
 * Which traced functions get detours (src/detour), and where their windows are: once for
 * an ELF object. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_WINDOWS_H
#define CP_ENGINE_PROBES_WINDOWS_H

#include "detour/plan.h"
#include "detour/points.h"
#include "engine/probes/sites.h"

/* Why calls of a function are seen by breakpoints. */
enum engine_slow {
	ENGINE_FAST, /* they are not: it has windows */
	ENGINE_SLOW_ASKED, /* the session has no detours */
	ENGINE_SLOW_COVERED, /* coverage has breakpoints everywhere */
	ENGINE_SLOW_LIBRARY, /* a call of a library function, seen where it is made */
	ENGINE_SLOW_ROLE, /* a family of events watches it */
	ENGINE_SLOW_SITES, /* it has no entry of its own, or not all of its exits are known */
	ENGINE_SLOW_STOP, /* what is asked for needs the thread to stop */
	ENGINE_SLOW_CONDITION,
	ENGINE_SLOW_VALUES, /* of memory, or too many */
	ENGINE_SLOW_CODE, /* no windows: see cp_detour_plan.why */
	ENGINE_SLOW_BESIDE, /* a breakpoint has to stand in one of its windows */
	ENGINE_SLOW_PLACE, /* no room for its code near by */
};

struct engine_windows; /* what is known of an object's code */
void engine_windows_free(struct engine_windows *windows);

/* Leaves out of a function's sites those of computed jumps where its frame stands, so
 * that they can't lead to another one: an interpreter makes millions of them. */
void engine_windows_settle(cprof_assembly *a, struct cp_probe_plan *plan);
/* Plans the windows of a function, `plan` being its sites: sets t->windows and t->slow. */
void engine_windows_plan(cprof_session *s, struct engine_traced *t,
			 const struct cp_probe_plan *plan);
/* Forgets them. */
void engine_windows_drop(struct engine_traced *t);
/* What is asked of a function may have changed: is it one with windows now? */
bool engine_windows_suit(const cprof_session *s, struct engine_traced *t);
/* A breakpoint has to stand in one of its windows, or there is no room: never again. */
void engine_windows_give_up(struct engine_traced *t, enum engine_slow why);

/* Windows of points that are counted (detour/points.h); false without memory. */
bool engine_windows_points(cprof_session *s, cprof_assembly *a, struct cp_probe_function *f,
			   const struct cp_detour_point *points, size_t count,
			   struct cp_detour_windows *ret);

/* The records of a window's detour. False: too many values. */
bool engine_windows_records(cprof_session *s, const struct engine_traced *t,
			    const struct cp_detour_window *window, struct cp_detour *detour);

/* Does `visit` for each link-time address in the function that a call returns to. */
void engine_windows_returns(const struct engine_traced *t,
			    void (*visit)(void *ctx, uint64_t address), void *ctx);

#endif
