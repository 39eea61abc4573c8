/* SPDX-License-Identifier: MIT
 *
 * Breakpoints on their way to the tracer. The controller writes a batch into
 * the plan area (cp_link.plan, shared), the request names the piece; the
 * tracer copies it once, checks each part and acts. Addresses are run-time
 * ones of the process that the request names.
 *
 *     struct cp_batch | sites | groups | fetches | windows | slot code
 */
#ifndef CP_LINK_SITES_H
#define CP_LINK_SITES_H

#include <string.h>

#include "arch/arch.h"
#include "arch/detour.h"
#include "arch/insn.h"
#include "base/doubt.h"
#include "link/code.h"
#include "link/fetch.h"
#include "link/link.h"

#define CP_LINK_PLAN (UINT64_C(256) << 20)

/* The kinds of sites:
 *   ENTRY   a function begins
 *   EXIT    its `ret`
 *   TAIL    a jump that leaves it when it goes outside of the group's ranges;
 *           otherwise it is no event ("inside" in the counts)
 *   RETURN  the instruction after a call: for functions that can't be decoded
 *           to their end; one site for each return address
 *   ONCE    removed at the first hit
 *   COUNT   (coverage) no event: counters[id] of the link goes up. With ONCE, at
 *           the first hit in each process; with HOLD, too, it stays: CP_EVENT_OPENED
 *           The thread's next hit says that the block was executed to its end
 *           (CP_COUNT_WHOLE), unless that is in the middle of it: MIDDLE
 *           LATER: no breakpoint, until a branch waits for somebody to come to the block.
 *           Nobody did as long as the counters `ways`, of what it leads to, are 0
 *   BRANCH  a conditional jump: counters[id] when it will jump, counters[id + 1]
 *           when not. With ONCE, it is removed when those are not 0 that are
 *           waited for (TAKEN, PASSED), or after the group's max_rate hits, of all
 *           processes (0: any number): then what is still 0 of them becomes
 *           CP_COUNT_GAVE_UP
 *           A breakpoint for COUNT or BRANCH that could not be placed makes
 *           CP_COUNT_GAVE_UP of counters that are 0.
 *   SIGACTION  (tracer/signals/trap.c) the program calls sigaction(): no event
 *   SIGCALL (tracer/memory/sigcall.c) a system call about signals, which is made in
 *           the slot: no event, and soon a jump instead of a breakpoint
 *   WATCH_RETURN  at the ENTRY: wants a RETURN site at the return address
 *   WINDOW  (arch/detour.h) of a detour, which its slot leads to: a breakpoint, and
 *           when all of the batch stand, a jump. No event
 *   LANDING a later instruction in a window, or in what a hop's jump replaces: the
 *           jump has a breakpoint there. Its slot leads to the detour. No event
 *   HOP     where a jump stands that a window's leads to, and that nobody comes to
 *           otherwise: without a breakpoint. No event
 *   RING    the breakpoint in what cp_detour_slow() makes: its thread has no ring yet
 *   FOREIGN another one there: its thread is not on its own stack. The event is that of
 *           the record's site, with registers and stack (CP_HIT_RECORD) */
#define CP_SITE_ENTRY 1u
#define CP_SITE_EXIT 2u
#define CP_SITE_TAIL 4u
#define CP_SITE_RETURN 8u
#define CP_SITE_ONCE 16u
#define CP_SITE_WATCH_RETURN 512u
#define CP_SITE_COUNT 1024u
#define CP_SITE_BRANCH 2048u
#define CP_SITE_TAKEN 4096u
#define CP_SITE_PASSED 8192u
#define CP_SITE_MIDDLE CP_SITE_TAKEN /* with COUNT */
#define CP_SITE_LATER CP_SITE_PASSED /* with COUNT and ONCE */
#define CP_SITE_SIGACTION 16384u
#define CP_SITE_SIGCALL 32768u
#define CP_SITE_WINDOW (1u << 16)
#define CP_SITE_LANDING (1u << 17)
#define CP_SITE_HOP (1u << 18)
#define CP_SITE_RING (1u << 19)
#define CP_SITE_FOREIGN (1u << 20)
/* A site has captured: general registers; cp_hit_vector; a copy of the
 * stack, as a sample has it. HOLD: the thread stays until the controller has
 * released the event. */
#define CP_SITE_REGS 32u
#define CP_SITE_VECTOR 64u
#define CP_SITE_STACK 128u
#define CP_SITE_HOLD 256u

struct cp_site {
	uint64_t address;
	uint32_t id; /* the controller's number for it; comes back in the event */
	uint32_t group; /* index in the batch's groups */
	uint32_t first_fetch; /* in the batch's fetches */
	uint32_t fetch_count;
	uint32_t flags; /* CP_SITE_* */
	uint32_t window; /* WINDOW, HOP: index in the batch's windows */
	uint32_t ways[2]; /* LATER: counters */
	uint8_t original[CP_TRAP_MAX]; /* bytes expected there */
	uint32_t slot; /* number of its slot in the area; a number belongs to one address for
			  ever, and FREE steps have one too (it is what finds them in the table) */
	struct cp_step step;
};

/* A function: sites that come and go together.
 *   PAUSES  above max_rate it is not disarmed for good: all such groups of the
 *           process, whose entries are counted together, pause for a moment. In
 *           the first CP_PAUSE_BURST_S seconds' worth of entries none does.
 *   KEEPS   what the first register of arguments holds at an ENTRY is kept for
 *           fetches (CP_FETCH_KEPT) at the sites where that call ends
 *   SAMPLED allocates or frees: events are of what cp_heap_probe has chosen, and of
 *           all else only where others want to see the function, too */
#define CP_GROUP_PAUSES 1u
/*   LIBRARY its ENTRY sites may stand where something goes to the function. One at a
 *           call is told as if that was done (CP_HIT_CALLS), all of them behind
 *           what else happens there */
#define CP_GROUP_LIBRARY 2u
#define CP_GROUP_KEEPS 4u
#define CP_GROUP_SAMPLED 8u
/*   OPENS   an ENTRY's call is open until an EXIT, TAIL or RETURN of it is hit */
#define CP_GROUP_OPENS 16u
#define CP_PAUSE_BURST_S 4
#define CP_GROUP_RANGES 4
#define CP_NO_REG 0xffu
/* Numbers (DWARF's) of registers at the entry; CP_NO_REG: there is none. */
struct cp_heap_probe {
	uint64_t every; /* one block about every so many bytes */
	uint8_t size, times; /* bytes that are asked for: their product */
	uint8_t address; /* that is freed, or moved */
	uint8_t where; /* that the answer is written to; none: it is the result */
	uint8_t others; /* bool: all calls are events */
	uint8_t pad[3];
};

struct cp_site_group {
	uint32_t id; /* the controller's number */
	uint32_t max_rate; /* entries a second, above which it is disarmed; 0: any; BRANCH: above */
	uint32_t flags, quiet; /* CP_GROUP_* */
	uint64_t quiet_at; /* unless 0: no hit is told while that int of the program's is `quiet` */
	struct {
		uint64_t start, end;
	} ranges[CP_GROUP_RANGES]; /* unused ones are 0, 0 */
	struct cp_heap_probe heap; /* of SAMPLED */
};

/* What stands at a WINDOW or HOP and what shall stand there. Its slot has it in its last
 * bytes, too, for who takes out what a killed cprof left. */
struct cp_window {
	uint8_t size;
	uint8_t original[CP_DETOUR_FILLED];
	uint8_t jump[CP_DETOUR_FILLED];
};

/* An area, which MAP made and the tracer fills:
 *
 *     header, handler │ table │ its twin │ slots
 *     CP_AREA_HEAD      one entry a slot
 *
 * The controller places slots by these two. */
static inline uint64_t cp_area_slot_count(uint64_t size)
{
	size_t each = CP_SLOT_SIZE + 2 * sizeof(struct cp_area_entry);

	return size > CP_AREA_HEAD ? (size - CP_AREA_HEAD) / each : 0;
}

static inline uint64_t cp_area_slot(uint64_t area, uint64_t size, uint64_t slot)
{
	uint64_t tables = 2 * cp_area_slot_count(size) * sizeof(struct cp_area_entry);

	return area + CP_AREA_HEAD + tables + slot * CP_SLOT_SIZE;
}

/* Bytes of an area (whole pages) with at least that many slots. */
static inline uint64_t cp_area_size(uint64_t slots)
{
	size_t each = CP_SLOT_SIZE + 2 * sizeof(struct cp_area_entry);

	return (CP_AREA_HEAD + slots * each + 4095) & ~UINT64_C(4095);
}

struct cp_batch {
	uint64_t size; /* of all of it */
	uint64_t area; /* address of the area whose slots these are */
	uint32_t site_count, group_count, fetch_count;
	uint32_t window_count;
	/* then the arrays, in the order of the drawing; slot code: CP_SLOT_SIZE bytes a
	 * site */
};

/* ---- the event ---- */

/* FOREIGN_STACK: sp is not on the thread's own stack (coroutines, signal
 * stacks), or that is not known: as long as stack_low and stack_end are not, and
 * where the hit does not follow from the open calls (tracer/hits/opens.c), up to its
 * cp_hit_place() being in `places`. Registers and stack come along.
 * TAKEN: a TAIL site that leaves its function; `target` is where to.
 * WANTS_RETURN: an ENTRY with WATCH_RETURN, and there is no site at `caller`
 * yet: the thread is held until the event is released. */
#define CP_HIT_FOREIGN_STACK 1u
#define CP_HIT_TAKEN 2u
#define CP_HIT_WANTS_RETURN 4u
/* An ENTRY before the instruction that calls: sp, registers and what was fetched by
 * them are as behind it, the return address is not yet in memory. */
#define CP_HIT_CALLS 8u
/* A hit of a SAMPLED group: something of it was chosen, what is freed or (without PASSED)
 * what is allocated. */
#define CP_HIT_CHOSEN 16u
#define CP_HIT_PASSED 32u
/* In the place of a detour's record: `site` is the record's, `pc` the program's. Registers
 * and stack come along, nothing is fetched; CALLER is read, whatever the site. */
#define CP_HIT_RECORD 64u
/* The condition was decided by the detour, and holds: set by the controller. */
#define CP_HIT_DECIDED 128u
/* Of a RING event: the program is told of its own system calls (user dispatch). */
#define CP_HIT_DISPATCHES 256u
#define CP_HIT_STAYS 512u /* the thread does, until the controller has come to the event */

/* Behind it come, each padded to 8 bytes: regs (not CP_REG_MAX words, but the ISA's
 * nregs), vector, fetched blocks (struct cp_fetched, then its bytes), stack. */
struct cp_event_hit {
	struct cp_event e; /* e.flags: CP_HIT_*; e.ts_ns: when the stop was seen */
	uint32_t site; /* cp_site.id */
	uint32_t slot; /* of the thread in the hints */
	uint64_t pc, sp;
	uint64_t target; /* of a tail call; ENTRY: the first argument register; RETURN: 0 */
	/* ENTRY: return address (0: not read); RETURN: what is left of it; of a RING event
	 * the thread pointer. */
	uint64_t caller;
	uint64_t lost_ns; /* what stops of this thread took so far, not this one */
	struct cp_doubt doubt; /* about that */
	uint64_t run_ns; /* CP_TRACE_CPU: its CPU time so far; 0: not known */
	uint64_t records; /* head of the thread's ring, which is at rest; 0: it has none */
	uint32_t regs_size, vector_size, fetched_size, stack_size;
	uint64_t stack_base;
};

/* A number that two hits have in common which are the same: then they are on the same
 * stack. */
static inline uint64_t cp_hit_place(const struct cp_event_hit *e)
{
	uint64_t h = (uint64_t)(uint32_t)e->e.tid * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ e->pc ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ e->sp ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
	h = (h ^ e->caller ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	return (h ^ h >> 32) | 1; /* 0: an empty place */
}

struct cp_fetched {
	uint32_t index; /* of the fetch in its site */
	uint32_t size; /* bytes read, which follow (padded to 8); 0: unreadable */
	uint64_t address;
};

/* The block at *at of `size` bytes of blocks; false: there is none, or not all
 * of it. *bytes_ret: what was read, block->size of them, in `blocks`. */
static inline bool cp_fetched_next(const uint8_t *blocks, size_t size, size_t *at,
				   struct cp_fetched *block, const uint8_t **bytes_ret)
{
	if (!blocks || *at > size || size - *at < sizeof(*block))
		return false;
	memcpy(block, blocks + *at, sizeof(*block));
	*at += sizeof(*block);
	if (block->size > size - *at)
		return false;
	*bytes_ret = blocks + *at;
	*at += cp_align8(block->size);
	return true;
}

/* Floating-point and vector state, as much of it as calls pass values in. */
struct cp_hit_vector {
	uint8_t v[CP_ARCH_VECTORS][16]; /* xmm0-15 / v0-15, low halves */
	uint8_t x87[2][16]; /* st0, st1: 10 bytes each */
};

/* Groups that pause: from now on there are no hits of them, or are again. */
#define CP_PAUSE_OVER 1u
struct cp_event_pause {
	struct cp_event e; /* e.flags: CP_PAUSE_* */
	uint64_t since_ns; /* OVER: when it began */
};

/* A group was disarmed by its max_rate, or because a thread did nothing any more but to
 * handle signals, in which it is entered (tracer/known/starve.c). */
struct cp_event_disarmed {
	struct cp_event e;
	uint32_t group; /* cp_site_group.id */
	uint32_t rate; /* entries in the second that was too many; 0: signals */
};

#endif
