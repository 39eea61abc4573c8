/* SPDX-License-Identifier: MIT
 *
 * Detours in a process: rings, and code near its images. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_DETOURS_H
#define CP_ENGINE_PROBES_DETOURS_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/probes/sites.h"
#include "link/records.h"
#include "probe/shadow_plain.h"

/* What one of its threads wrote. */
struct engine_ring {
	struct cp_records records, before; /* ring NULL: nobody had it yet; before: `next` */
	int32_t tid; /* 0: nobody has it now */
	bool has_next; /* `next` was read and not yet told */
	struct cp_record next;
	uint64_t next_ns, told;
	uint64_t full_ns; /* since when it waits for room; 0: it doesn't */
	uint64_t sp; /* of the thread, when it was given the ring */
	bool walks, reaches; /* its records may bring stacks, or what pointers lead to */
	/* Records that were told and then cancelled: they will come again, and are not told
	 * twice. Signals may come one within the other. */
	struct engine_again {
		uint64_t sp; /* 0: none */
		uint32_t site;
	} again[8], last;
	/* Calls that are told in blocks (calls/blocks.c). */
	struct cp_shadow_own own;
	CP_VEC(cprof_call_event) block; /* not told yet */
	uint64_t last_ns; /* of the last record: times of a thread rise */
};

/* What a record of a site says, where it says nothing else. */
enum engine_plain {
	ENGINE_PLAIN_UNKNOWN, /* not looked at */
	ENGINE_PLAIN_NOT,
	ENGINE_PLAIN_ENTER,
	ENGINE_PLAIN_LEAVE,
	ENGINE_PLAIN_TAIL,
};

struct engine_plain_site {
	const cprof_function *function;
	const cprof_function *target; /* of TAIL; NULL: not known */
	uint32_t traced;
	uint8_t what; /* enum engine_plain */
};

/* Code that is not traced, by a return address there; or it is traced. */
struct engine_plain_caller {
	uint64_t address; /* 0: none */
	const cprof_image *image; /* NULL: it is traced */
};
#define ENGINE_PLAIN_CALLERS 1024

/* Rings, of a process and those that it forked. */
struct engine_rings {
	unsigned users; /* processes */
	uint8_t *memory; /* mapped here, all of it */
	size_t size;
	uint64_t base; /* where the program has it */
	struct cp_detour_rings code; /* `slow` is an image's */
	struct engine_ring *items; /* owned */
	uint32_t count, used; /* used: all that anybody ever had are below */
	struct cp_map callers; /* return addresses that were looked at: places on stacks */
	unsigned blind; /* looks that told nothing */
};

struct engine_detours {
	struct engine_rings *rings; /* shared; NULL: there can be none */
	bool tried;
	/* The process's own, and good as long as the session's `changes` are these. */
	CP_VEC(struct engine_plain_site) plain; /* by site */
	struct engine_plain_caller *callers; /* owned; by a hash of the address; NULL: none */
	uint64_t changes;
	bool silent; /* system calls are filtered, or may be: none is made to follow a pointer */
};

/* Where something of a detour stands in an image. */
struct engine_detour_site {
	uint64_t address; /* run-time */
	uint64_t to; /* where a thread goes on that comes to it; 0: nobody does */
	uint32_t flags; /* CP_SITE_WINDOW, _LANDING, _HOP, _RING */
	uint32_t traced; /* its function */
	uint8_t size; /* of the instruction there */
	struct cp_window window; /* of WINDOW, HOP */
};

struct engine_detour_sites {
	CP_VEC(struct engine_detour_site) items; /* those of a function one after the other */
};

/* Puts the code of detours for those functions of `numbers` that suit near the image, where
 * nothing leads to it yet, and gives up those for which that can't be, or that are not
 * alone in their windows: `own` are sites of families' own that come, too. An errno: none
 * has any. */
int engine_detours_make(cprof_image *image, const struct engine_numbers *numbers,
			const struct engine_numbers *own, struct engine_detour_sites *ret);
/* What a call costs more for being seen by detours: at most, in ns; 0: not known. */
uint64_t engine_detour_cost(const struct engine_detour_cost *cost);
/* Does the program wait where what it records finds no room? Else records are dropped. */
bool engine_detours_wait(const cprof_session *s);
/* Has the function a detour in the image? */
bool engine_detours_has(const cprof_image *image, uint32_t number);
/* The image of the process that has it; NULL: none. */
cprof_image *engine_detours_image(const cprof_process *p, uint32_t number);
/* What was made could not be placed, or is gone with the image. */
void engine_detours_unmake(cprof_image *image);
/* An image has the detours that the other one has, in a process that was forked. */
void engine_detours_copy(cprof_image *image, const cprof_image *from);
/* The function whose jump is at a link-time address of the image, or ENGINE_NO_FUNCTION. */
uint32_t engine_detours_at(const cprof_image *image, uint64_t address);
/* Takes the function's detours out, in all processes: it has breakpoints from now on,
 * which the caller places in `image`; elsewhere they are still to be. */
void engine_detours_yield(const cprof_image *image, uint32_t number);
/* A forked process has what its parent has. */
void engine_detours_inherit(cprof_process *p, const cprof_process *parent);
/* It runs another program, or is gone. */
void engine_detours_forget(cprof_process *p);

/* The ring of a thread; NULL: it has none. */
struct engine_ring *engine_detours_ring(const cprof_process *p, int32_t tid);
/* Tells its detours which stack is its own, as far as that is known. */
void engine_detours_stack(const cprof_thread *t);

#endif
