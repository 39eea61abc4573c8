/* SPDX-License-Identifier: MIT
 *
 * The rings that detours write into (arch/detour.h): one file, which a program and its
 * forked children, the controller and we have mapped.
 *
 *     ring 0    closed, for threads that have none yet: also mapped at `zero`
 *     1         closed, for threads that get none
 *     2 ...     a thread's own each. Those that an earlier cprof gave to threads are as the
 *               first one: who still has one of them gets another
 *
 * A program has as many mapped as its threads need, and at least RINGS_FIRST: what it maps
 * counts where it limits its address space.
 */
#ifndef CP_TRACER_RINGS_H
#define CP_TRACER_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cp_detour_ring;
struct thread;

#define RINGS_LEAST 3u
#define RINGS_FIRST 4u
#define RINGS_MOST 16384u

struct ring_use {
	bool taken;
	uint64_t until_tail; /* not taken: it is free when the controller is past that */
};

/* Shared by processes that were forked. */
struct rings {
	unsigned users; /* spaces, and threads that have a ring */
	int fd; /* owned */
	uint8_t *memory; /* owned; number * size */
	uint64_t zero, base; /* in the program: of the first one, and of all */
	uint32_t number;
	unsigned log;
	uint16_t turn; /* the first one, of each */
	size_t size; /* of each */
	struct ring_use *uses; /* owned; of each */
	bool stale; /* somebody may have one since before: they stay mapped */
};

/* Of the file `fd`, which it takes, closed. NULL: without memory. */
struct rings *rings_create(int fd, uint32_t number, unsigned log);
/* So many of them does the process have mapped, from the first. */
uint32_t rings_mapped(const struct rings *rings, pid_t pid);
/* Somebody may have that one since before. */
void rings_mark_stale(struct rings *rings, uint32_t ring);
void rings_release(struct rings *rings);
/* The ring that a base of gs leads to; false: that is none of these. */
bool rings_find(const struct rings *rings, uint64_t base, uint32_t *ret);
uint64_t rings_base(const struct rings *rings, uint32_t ring);
/* The thread gets a ring of its own, open. False: there is none left. */
bool rings_give(struct rings *rings, struct thread *t, uint64_t tail);
/* It has none any more: another thread may get it when the controller is past `until`. */
void rings_take_back(struct thread *t, uint64_t until);
/* From a byte that chose a block of a sample to the next one. */
void rings_next_way(const struct rings *rings, struct cp_detour_ring *ring);
/* Was the thread's call with this stack pointer accepted by a detour? NULL: it has no ring;
 * else it was if that is there. */
uint64_t *rings_slot(const struct thread *t, uint64_t sp);
/* Are there chosen blocks that are live at addresses like this one (arch/detour_ring.h)? The
 * program and the controller count, too. */
bool rings_may_be_chosen(const struct rings *rings, uint64_t address);
/* There is one more. */
void rings_choose(const struct rings *rings, uint64_t address);
/* A number that detours count in (arch/detour_count.h), at that address of the program, goes
 * down again. */
void rings_count_down(const struct rings *rings, uint64_t address);
/* Is somebody known to call from there (arch/detour_ring.h): what returns to `caller`, on that
 * place of the stack or on any? */
bool rings_know_caller(const struct rings *rings, uint64_t caller, uint64_t sp);
struct cp_detour_ring *rings_of(const struct thread *t);
/* The stopped thread goes on without a ring, if it has one of these. */
void rings_forget(const struct rings *rings, pid_t tid);
/* Who writes, and is to wait for room, believes for so many ticks more that somebody reads. */
void rings_believe(const struct rings *rings, uint64_t ticks);
/* Nothing is written any more, and what was read gives its memory back. */
void rings_close(const struct rings *rings, uint64_t tail);

#endif
