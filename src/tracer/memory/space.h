/* SPDX-License-Identifier: MIT
 *
 * Address spaces, their memory, and the breakpoints in it.
 *
 * A space is what processes share that share their memory: one process as a
 * rule, a vfork child and its parent until the child executes. It holds a
 * descriptor of the memory, the areas that slots live in, and the table of
 * sites. A site that is disarmed stays in the table: a thread may have trapped
 * on it before the breakpoint was removed.
 */
#ifndef CP_TRACER_SPACE_H
#define CP_TRACER_SPACE_H

#include "base/map.h"
#include "tracer/known/state.h"
#include "tracer/memory/table.h"

/* The state of a site: armed or not. */
#define STATE_ARMED 0x8000u
#define STATE_PAUSED 0x4000u /* not armed now, but will be again */
#define STATE_ASLEEP 0x2000u /* likewise, when somebody is to be seen there */
#define STATE_WAITS 0x1000u /* likewise, when somebody comes to a block (hits/unreached.c) */
#define STATE_JUMPS 1u /* of SITE_JUMPS, which count nothing: the jump stands */

/* The action of a signal, as the kernel has it. */
struct trap_action {
	uint64_t handler, flags, restorer, mask;
};

/* Memory in which the program finishes system calls that were cut short (calls/finish.c). */
#define FINISH_PAIRS 12u /* of slots, each one thread's */

struct finish_area {
	uint64_t address;
	pid_t owners[FINISH_PAIRS]; /* threads; 0: none that we know of */
};

struct finisher {
	CP_VEC(struct finish_area) areas;
	unsigned failed; /* attempts to map one, in a row */
};

/* Breakpoints that pause when they are hit too often (hits/pause.c). */
struct pause {
	uint32_t rate; /* hits a second; 0: none came yet */
	uint64_t credit; /* hits that may come before the next pause */
	double added_ns; /* by the space's clock, when the credit was last added to */
	struct own_clock piece; /* when this piece began; seen_ns 0: there was no pause yet */
	bool begins; /* a piece does, with the next hit */
	uint64_t since_ns; /* when the pause began */
	uint64_t until_ns; /* it ends then; 0: there is none */
	pid_t pid; /* of whom it was told */
};

/* A sample of what is allocated (hits/heap_sample.c). */
struct heap_sample {
	double left; /* bytes up to the next one that is chosen */
	uint64_t random; /* 0: nothing was drawn yet */
	uint64_t *live; /* owned; addresses of chosen blocks that were not freed; 0: free */
	size_t count; /* of them */
	bool full; /* there was no room for one: what is freed may be any */
};

/* Memory of the program for code of detours. */
struct chunk {
	uint64_t address, size;
};

struct code_batch;
struct rings;

struct space {
	unsigned users; /* processes, and one more while it is kept */
	bool kept;
	pid_t pid; /* one of them */
	int mem; /* /proc/PID/mem, to read and write; -1: not open yet */
	int pagemap; /* /proc/PID/pagemap; -1: not open yet, -2: not needed */
	struct site_table *table;
	CP_VEC(uint16_t) states; /* by number of the site */
	CP_VEC(struct site_group) groups;
	struct cp_map by_group; /* the controller's number -> index */
	size_t armed; /* sites */
	uint32_t batches; /* so far */
	/* The batch that is coming in pieces: numbers of sites, to be armed with the
	 * last one. The first ones tell what the program does with SIGTRAP. */
	CP_VEC(uint32_t) entered;
	size_t entered_watches;
	uint64_t entered_area;
	uint64_t changed_ns; /* when a breakpoint was last put or taken */
	uint64_t grown_ns; /* when slots or the handler last came */
	/* Until a child's first stop is served: it has not yet what this one has. */
	const struct space *older_than;
	uint64_t syscall_insn; /* address of one, 0 not yet looked for */
	/* A `syscall; ret`, and the C library's signal return code; 0: none found. */
	uint64_t guard_syscall, guard_restorer;
	/* The first thread's stack, as the mappings had it then; 0: not looked for. */
	uint64_t stack_start, stack_end, stack_ns;
	uint64_t handler, restorer; /* of SIGTRAP, installed by us; 0: none */
	struct trap_action own; /* what the program has for SIGTRAP, as it believes */
	bool watched; /* its calls of sigaction() are seen */
	bool translates; /* and those to block signals: the stand-in (signals/sigmask.c) means SIGTRAP */
	bool reset; /* a handler for once was called: the header still has it */
	pid_t reset_by; /* for this thread: it is past it at its next hit */
	bool stale; /* the kernel has another action than the one for `own` */
	bool ignored; /* the program before an exec ignored SIGTRAP, and it is not yet */
	uint8_t leaving; /* at the end, how often it was tried to leave it as it was */
	uint32_t looks; /* at stacks that hits may still have, in parts (hits/opens.c) */
	struct own_clock clock; /* that limits of calls go by */
	size_t gone_next; /* site that is looked at next (hits/gone.c) */
	bool gone_told;
	struct pause pause;
	struct heap_sample heap;
	bool occupied; /* at the end, somebody may be in a slot */
	/* Nothing of the program that was executed ran yet; and no filter of system calls
	 * is in the way. */
	bool fresh, unfiltered;
	uint64_t ignored_first; /* while it is both: bits of signals that are ignored */
	bool cleared; /* what an earlier cprof left was looked for */
	bool left; /* there was an area of one that was killed */
	uint64_t left_area; /* ... and here is its first one */
	struct finisher finisher;
	/* Detours (detours.c); shared by processes that were forked. */
	CP_VEC(struct code_batch *) code;
	CP_VEC(struct chunk) chunks;
	struct rings *rings; /* NULL: none */
	uint32_t rings_mapped; /* so many of them are, from the first */
	struct cp_map
		faults; /* addresses of instructions of which faults were told (hits/fault.c) */
	CP_VEC(uint64_t) annotated; /* roots in which our bit is set (annotate.c) */
};

static inline uint16_t *site_state(const struct space *space, const struct site *site)
{
	return &space->states.items[site - space->table->sites.items];
}

static inline bool site_armed(const struct space *space, const struct site *site)
{
	return *site_state(space, site) & STATE_ARMED;
}

static inline void site_arm(struct space *space, const struct site *site)
{
	space->armed += !site_armed(space, site);
	*site_state(space, site) |= STATE_ARMED;
}

static inline void site_disarm(struct space *space, const struct site *site)
{
	space->armed -= site_armed(space, site);
	*site_state(space, site) &= (uint16_t)~STATE_ARMED;
}

/* Does a jump stand at the site, in the place of its breakpoint? */
static inline bool site_jumps(const struct space *space, const struct site *site)
{
	return site->flags & SITE_JUMPS && *site_state(space, site) & STATE_JUMPS;
}

/* The next one at its address, or NULL. */
static inline struct site *site_next(const struct space *space, const struct site *site)
{
	return site->next == SITE_NONE ? NULL : &space->table->sites.items[site->next];
}

struct space *space_create(pid_t pid);
void space_release(struct space *space);
/* It stays while its processes may go. False: somebody else sees to that. */
bool space_keep(struct space *space);
void space_let_go(struct space *space, bool kept);
/* Opens the memory of `pid`'s space; errno or 0. */
int space_open(struct space *space);
bool space_read(const struct space *space, uint64_t address, void *to, size_t size);
bool space_write(const struct space *space, uint64_t address, const void *from, size_t size);
/* For struct cp_reader. */
size_t space_reader(void *space, uint64_t address, void *to, size_t size);
/* The area that `address` lies in, or NULL. */
struct area *space_area(const struct space *space, uint64_t address);
/* The site whose slot the address lies in, and where that slot is. */
struct site *space_slot_site(const struct space *space, uint64_t pc, uint64_t *slot_ret);
struct site *space_site(const struct space *space, uint64_t address);
/* Is this site, or one behind it at its address, armed? */
bool space_any_armed(const struct space *space, const struct site *site);
/* Is SIGTRAP's action in the space the one that we keep for the program? Signal
 * handlers of processes that share their memory are not shared, as a rule; who will
 * execute soon has its own. */
bool space_has_trap(const struct space *space);
/* The program ignores SIGTRAP, though the kernel does not know. */
bool space_ignores_trap(const struct space *space);

#endif
