/* SPDX-License-Identifier: MIT
 *
 * The rings that a process's detours write to. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_RINGS_H
#define CP_ENGINE_PROBES_RINGS_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/probes/hide.h"
#include "engine/probes/sites.h"
#include "link/records.h"
#include "probe/shadow_plain.h"

/* What one of its threads wrote. */
struct engine_ring {
	struct cp_records records, before; /* ring NULL: nobody has it; before: `next` */
	int32_t tid; /* 0: nobody has it now */
	bool has_next; /* `next` was read and not yet told */
	struct cp_record next;
	uint64_t next_ns, told;
	uint64_t lost_ns; /* since when what it records is lost; 0: it isn't */
	uint64_t sp; /* of the thread, when it was given the ring */
	uint8_t walks; /* enum engine_walks: what its records may bring of stacks, */
	bool reaches; /* and of what pointers lead to */
	unsigned unlearnt; /* looks at other stacks that did not show where they end */
	bool cuts; /* stacks that are deeper than a record has room for */
	bool unwatched; /* a filter of system calls would not be seen, so far */
	uint64_t base; /* of what the thread keeps, as engine_thread_stack_end() has it */
	uint32_t deep; /* how often the thread stopped instead, in the second that began then */
	uint64_t deep_ns;
	/* Records that were told and then cancelled: they will come again, and are not told
	 * twice. Signals may come one within the other. */
	struct engine_again {
		uint64_t sp; /* 0: none */
		uint64_t call; /* what tells it from others at that place (engine_site_mark()) */
		uint32_t site;
	} again[8], last;
	/* Calls that are told in blocks (calls/blocks.c). */
	struct cp_shadow_own own;
	CP_VEC(cprof_call_event) block; /* not told yet, */
	CP_VEC(cprof_value) values; /* their values, */
	CP_VEC(uint64_t) numbers; /* those that are told as numbers, */
	CP_VEC(char) text; /* and the texts of both */
	struct engine_bare bare; /* where what was read last came from */
	uint64_t last_ns; /* of the last record: times of a thread rise */
};

/* What a record of a site says, where it says nothing else. */
enum engine_plain {
	ENGINE_PLAIN_UNKNOWN, /* not looked at */
	ENGINE_PLAIN_NOT,
	ENGINE_PLAIN_ENTER,
	ENGINE_PLAIN_LEAVE,
	ENGINE_PLAIN_TAIL,
	ENGINE_PLAIN_BOTH, /* an entry, and what `also` says */
};

/* Who has more arguments than this on the stack is rare. */
#define ENGINE_PUSHED_MOST 256u
struct engine_plain_site {
	const cprof_function *function;
	const cprof_function *target; /* of TAIL; NULL: not known */
	const struct engine_valued *valued; /* NULL: no values */
	uint32_t traced;
	uint32_t pushed; /* as in struct cp_shadow_at; ENGINE_PUSHED_MOST: not looked at */
	uint32_t also; /* of BOTH: the site of the call's end */
	uint8_t what; /* enum engine_plain */
	bool jumps; /* of TAIL: the record says where to */
	bool loops; /* see struct cp_probe_plan */
};

/* Code that is not traced, by a return address there; or it is traced. */
struct engine_plain_caller {
	uint64_t address; /* 0: none */
	const cprof_image *image; /* NULL: it is traced */
};
#define ENGINE_PLAIN_CALLERS 1024

/* What begins at an address, or lies around it, that a function jumped to. */
struct engine_plain_target {
	uint64_t address; /* 0: none */
	const cprof_function *function; /* NULL: nothing that has a name */
};
#define ENGINE_PLAIN_TARGETS 1024

/* Rings, of a process and those that it forked. */
/* A number of coverage: which counter it is of, and what of it was added to that. */
struct engine_number {
	uint32_t counter;
	uint64_t taken;
};

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
	unsigned others; /* places on other stacks that are known */
	uint64_t zero_lost; /* records of threads without a ring that are known as lost */
	bool asking; /* who has no ring was told that somebody reads */
	/* Numbers that detours count in (arch/detour_count.h), by their place there. */
	CP_VEC(struct engine_number) numbers;
	struct cp_map places; /* of counters, + 1 */
};

/* A stack that is no thread's own, as far as it is known (calls/other_stacks.c). */
struct engine_stack {
	uint64_t low, root; /* the lowest address, and where chains of callers end */
	uint64_t pc; /* of who is there */
	int32_t tid; /* who was there last */
	bool interrupts; /* a signal's handler: its thread goes on elsewhere */
	bool likely; /* chains end there for want of unwind data */
};

struct engine_detours {
	struct engine_rings *rings; /* shared; NULL: there can be none */
	bool tried;
	bool foreign; /* the program uses what threads' rings are found by: none are made */
	/* The process's own, and good as long as the session's `changes` are these. */
	CP_VEC(struct engine_plain_site) plain; /* by site */
	struct engine_plain_caller *callers; /* owned; by a hash of the address; NULL: none */
	struct engine_plain_target *targets; /* likewise */
	uint64_t changes;
	CP_VEC(struct engine_stack) stacks; /* by address, apart from each other, */
	uint64_t stack_high[8]; /* and what is above the bits of their addresses in records */
	unsigned stack_highs;
	bool likely_deny; /* none is taken that is only likely */
	bool silent; /* no system call is made to follow a pointer (families/probing.c) */
	bool looked; /* ... for what the process already had when its first ring was given */
};

/* What is known of a process's detours, and of its stacks; NULL without memory. */
struct engine_detours *engine_detours_of(cprof_process *p);
/* The process's rings, made when it has none; NULL: it can't have any. */
struct engine_rings *engine_rings_of(cprof_process *p);
/* Does the program wait where what it records finds no room? Else records are dropped. */
bool engine_rings_wait(const cprof_session *s);
/* A forked process has what its parent has. */
void engine_rings_inherit(cprof_process *p, const cprof_process *parent);
/* It runs another program, or is gone. */
void engine_rings_forget(cprof_process *p);
/* The ring of a thread; NULL: it has none. */
struct engine_ring *engine_ring_of(const cprof_process *p, int32_t tid);
/* Of the values of a site's record: of an entry who called, and the first argument, which
 * handlers that return leave as they were. */
uint64_t engine_site_mark(const struct engine_site *site, const uint64_t *values, unsigned words);
/* Was the thread's record, or a hit in the place of one, told before, and has not happened
 * then? It is the last one from now on. */
bool engine_ring_told(struct engine_ring *ring, const struct engine_again *now);
/* The last one has not happened: what was told will come again. */
void engine_ring_cancel(struct engine_ring *ring);
/* Tells its detours which stack is its own, as far as that is known. */
void engine_ring_stack(const cprof_thread *t);
/* One more block of a sample, or one less, counts as live at the address, or one like it
 * (arch/detour_ring.h). */
void engine_rings_chosen(const cprof_process *p, uint64_t address, bool more);

/* The address in the program of the number for a counter; 0: there is no room. */
uint32_t engine_rings_number(struct engine_rings *rings, uint32_t counter);
/* Adds what was counted since to where `add` says, of all processes. */
void engine_rings_collect(const cprof_session *s,
			  void (*add)(void *ctx, uint32_t counter, uint64_t more), void *ctx);

/* Counts as lost what threads without a ring could not record since they were told that
 * somebody reads; `asking`: they are told so from now on. */
void engine_rings_settle(cprof_session *s, struct engine_rings *rings, bool asking);
/* Records that were lost so far. */
uint64_t engine_rings_lost(const cprof_session *s);

#endif
