/* SPDX-License-Identifier: MIT
 *
 * Address spaces and the breakpoints in them. Private to src/tracer.
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
#include "tracer/known/own.h"
#include "tracer/hits/pause.h"
#include "tracer/known/state.h"
#include "tracer/memory/tables.h"

/* Of each site: armed or not, and how often it counted. */
#define STATE_ARMED 0x8000u
#define STATE_PAUSED 0x4000u /* not armed now, but will be again */
#define STATE_ASLEEP 0x2000u /* likewise, when somebody is to be seen there */
#define STATE_HITS 0x1fffu

/* As the kernel has it. */
struct trap_action {
	uint64_t handler, flags, restorer, mask;
};

struct space {
	unsigned users; /* processes, and one more while it is kept */
	bool kept;
	pid_t pid; /* one of them */
	int mem; /* /proc/PID/mem, to read and write; -1: not open yet */
	struct site_table *table;
	CP_VEC(uint16_t) states; /* by number of the site */
	CP_VEC(struct site_group) groups;
	struct cp_map by_group; /* the controller's number -> index */
	size_t armed; /* sites */
	uint32_t batches; /* so far */
	/* Of the batch that is coming in pieces: numbers of sites, to be armed with the
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
	uint64_t handler, restorer; /* of SIGTRAP, installed by us; 0: none */
	struct trap_action own; /* what the program has for SIGTRAP, as it believes */
	bool watched; /* its calls of sigaction() are seen */
	bool reset; /* a handler for once was called: the header still has it */
	pid_t reset_by; /* for this thread: it is past it at its next hit */
	bool stale; /* the kernel has another action than the one for `own` */
	bool ignored; /* the program before an exec ignored SIGTRAP, and it is not yet */
	uint8_t leaving; /* at the end, how often it was tried to leave it as it was */
	uint32_t looks; /* at stacks that hits may still have, in parts (opens.c) */
	struct own_clock clock; /* that limits of calls go by */
	struct pause pause;
	struct heap_sample heap;
	bool occupied; /* at the end, somebody may be in a slot */
	bool cleared; /* what an earlier cprof left was looked for */
	bool left; /* there was an area of one that was killed */
	struct finisher *finisher; /* owned (finish.c); NULL: nothing was finished here */
	struct cp_map faults; /* addresses of instructions of which faults were told (fault.c) */
	CP_VEC(uint64_t) annotated; /* roots in which our bit is set (annotate.c) */
};

/* A change of one breakpoint's bytes. */
struct patch {
	uint64_t address;
	uint8_t expect[CP_TRAP_MAX], bytes[CP_TRAP_MAX];
	bool done;
};

/* annotate.c */
/* Has the program's annotations recorded. */
void annotate(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
/* In all of the space, no more. */
void annotate_end(struct space *space);

/* table.c */
struct site_table *table_create(void);
void table_release(struct site_table *table);
/* Before anything of the table is changed: makes it the space's own. */
bool table_own(struct space *space);
bool table_share(struct space *to, const struct space *from);
/* The first site at an address, or SITE_NONE. */
uint32_t table_find(const struct site_table *table, uint64_t address);
/* It will be looked for soon. */
void table_expect(const struct site_table *table, uint64_t address);
/* Room for more sites; then table_add() can't fail: an unarmed one behind
 * `last` of its address, or, with SITE_NONE, the first one there. All but address
 * and fetches (none) is to be filled in. */
bool table_reserve(struct space *space, size_t more);
uint32_t table_add(struct space *space, uint64_t address, uint32_t last);
void table_remove(struct space *space, uint32_t number);

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

/* The next one at its address, or NULL. */
static inline struct site *site_next(const struct space *space, const struct site *site)
{
	return site->next == SITE_NONE ? NULL : &space->table->sites.items[site->next];
}

/* space.c */
struct space *space_create(pid_t pid);
void space_release(struct space *space);
/* Opens the memory of `pid`'s space; errno or 0. */
int space_open(struct space *space);
/* For a process that was born: shares the space of another one that is traced,
 * copies it, or has a new one. NULL without memory. */
struct space *space_of_child(struct tracer *tr, pid_t pid, pid_t parent);
/* A process replaced its memory (exec). */
void space_renew(struct process *p);
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

/* sites.c */
void sites_arm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
void sites_disarm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
void sites_disarm_group(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
/* Those of one group (an index) in one space. */
void sites_disarm_in(struct space *space, uint32_t group);
/* What is armed of groups that pause comes out, and is put back. */
void sites_pause(struct space *space);
void sites_resume(struct space *space);
/* Those where sampled groups are left come out, until they are woken: those of a
 * group (an index), and at one address. */
void sites_sleep(struct space *space);
void sites_wake(struct space *space, uint32_t group, uint64_t address);
/* A copy of a space whose breakpoints were changed while the copy was made: puts
 * and takes what the table says. */
void sites_sync(struct space *space);
/* All of them; what the memory says counts, not the table. The jumps of calls about
 * signals last: with them our handler stays. */
void sites_clean_traps(struct space *space);
void sites_clean(struct space *space);

/* patch.c */
/* Sorts the patches by address and applies those where the expected bytes
 * stand. Returns how many were done. */
size_t patch_apply(const struct space *space, struct patch *patches, size_t count);

/* area.c */
void area_map(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
struct injection;
/* Maps an area at *at, or, with 0, anywhere; then *at is where. errno or 0. */
int area_map_at(struct tracer *tr, struct injection *in, uint64_t *at, uint64_t size);
/* Registers the slots of new sites. False: taken by another address. */
bool area_claim(struct area *area, uint64_t slot, uint64_t address);
/* Writes the table anew; sites are those of the space. */
bool area_write_table(struct space *space, struct area *area);
/* Empties the tables: the areas of a space mean nothing any more. */
void area_forget(const struct space *space);

/* newborn.c */
/* A copy of `from` that was made before `from` got all of its areas, slots and
 * our handler. */
bool newborn_lacks(const struct space *space, const struct space *from);
/* Gives a process at its first stop what it lacks of space->older_than. */
void newborn_complete(struct tracer *tr, struct thread *t);

struct tids {
	pid_t *items;
	size_t count, capacity;
};

/* System calls by a thread of the program (inject.c). */
struct injection {
	struct thread *thread;
	struct space *space;
	bool stays; /* stopped, after it too: it was held, or the caller lets it go */
	uint64_t regs[PRSTATUS_MAX / 8];
	uint64_t mask;
	struct tids others; /* held still with it (sigmask.c); items owned */
	unsigned running; /* others that could not be */
	unsigned unseen; /* of those, who never was */
	uint64_t guard; /* sp at which a signal frame leads back to `regs` (guard.c); 0: none */
};

/* inject.c */
/* Has a thread at a stop of an interrupt, which may be under way; NULL: not in time,
 * or gone. */
struct thread *inject_stop(struct tracer *tr, pid_t tid, bool interrupted);
void inject_let_run(struct tracer *tr, struct thread *t);
/* Stops a thread of the space where it can do system calls for us, as if
 * nothing had happened; errno or 0. */
int inject_begin(struct tracer *tr, struct space *space, struct injection *ret);
/* The result as the kernel returns it: -errno, or a value. */
int64_t inject_call(struct tracer *tr, struct injection *in, int64_t nr, const uint64_t args[6]);
void inject_end(struct tracer *tr, struct injection *in);
/* Instead of inject_begin(): with a thread that is stopped at a breakpoint. It
 * stays stopped. */
bool inject_here(struct tracer *tr, struct thread *t, struct injection *ret);
/* The signal of a thread's stop becomes pending again; it has to be blocked in
 * `mask`, which the thread gets. It stays stopped. */
bool inject_requeue(struct thread *t, int signal, uint64_t mask);

/* guard.c: should we be killed in the middle, the thread finds back by itself */
/* Looks through the program's code for what injections need: a `syscall`, of
 * the vdso if there is one, and what leads back from it (0 where none is). */
void guard_find_code(struct space *space);
/* A breakpoint comes to `site`: if there is such code, other is looked for. */
void guard_avoid(struct space *space, uint64_t site);
/* Writes the frame below the stack of in->thread, whose registers and mask are
 * in *in, and sets in->guard where that can be done without harm. */
void guard_place(struct injection *in);

/* hit.c */
enum hit {
	HIT_NONE, /* not a breakpoint of ours */
	HIT_DONE, /* the thread went on */
	HIT_FULL, /* it stays as it is: there is no room in the ring */
};
enum hit hit_serve(struct tracer *tr, struct thread *t);
/* A signal is about to be delivered to a thread that may be in a slot: puts
 * its registers to where it really is. */
void hit_leave_slot(struct thread *t);
/* The same for a copy of its registers, which is for others to see. */
void hit_hide_slot(const struct thread *t, void *prstatus);
uint64_t hit_hide_pc(const struct thread *t, uint64_t pc);

#endif
