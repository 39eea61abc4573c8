/* SPDX-License-Identifier: MIT */
#include "tracer/memory/rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "link/code.h"
#include "link/records.h"
#include "tracer/known/regs.h"
#include "tracer/known/state.h"

#define TURNS 0x8000u /* that rings begin at one of: far from where the tag is 0 again */

static struct cp_detour_ring *ring_at(const struct rings *rings, uint32_t ring)
{
	return (struct cp_detour_ring *)(void *)(rings->memory + ring * rings->size);
}

/* Unlike that of the cprof before, which may have been killed (arch/detour_ring.h). */
static uint16_t first_turn(void)
{
	return (uint16_t)(1 + cp_random_of(cp_arch_time_stamp()) % TURNS);
}

struct rings *rings_create(int fd, uint32_t number, unsigned log)
{
	size_t size = cp_detour_ring_size(log);
	struct rings *rings = calloc(1, sizeof(*rings));
	struct ring_use *uses = calloc(number, sizeof(*uses));
	void *memory = mmap(NULL, number * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint32_t i;

	if (!rings || !uses || memory == MAP_FAILED) {
		if (memory != MAP_FAILED)
			munmap(memory, number * size);
		free(rings);
		free(uses);
		close(fd);
		return NULL;
	}
	*rings = (struct rings){ .users = 1,
				 .fd = fd,
				 .memory = memory,
				 .number = number,
				 .log = log,
				 .turn = first_turn(),
				 .size = size,
				 .uses = uses };
	/* The others when they are given: that `head` is not 0 tells that one was. */
	for (i = 0; i <= CP_RINGS_CLOSED; i++) {
		cp_records_create_at(ring_at(rings, i), log, rings->turn);
		uses[i].taken = true;
	}
	/* Threads share it, and are to count what they lose together (arch/x86_64/detour_slow.c). */
	ring_at(rings, CP_RINGS_CLOSED)->wait_until = 1;
	return rings;
}

void rings_release(struct rings *rings)
{
	if (!rings || --rings->users)
		return;
	munmap(rings->memory, rings->number * rings->size);
	cp_close_fd(&rings->fd);
	free(rings->uses);
	free(rings);
}

uint32_t rings_mapped(const struct rings *rings, pid_t pid)
{
	unsigned long start, end;
	char path[64], line[512];
	uint32_t ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (!ret && maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start == rings->base)
			ret = (uint32_t)((end - start) / rings->size);
	return ret;
}

bool rings_find(const struct rings *rings, uint64_t base, uint32_t *ret)
{
	uint64_t offset = base + rings->zero - rings->base;

	if (offset >= rings->number * rings->size || offset % rings->size)
		return false;
	*ret = (uint32_t)(offset / rings->size);
	return true;
}

uint64_t rings_base(const struct rings *rings, uint32_t ring)
{
	return rings->base + ring * rings->size - rings->zero;
}

void rings_mark_stale(struct rings *rings, uint32_t ring)
{
	if (ring <= CP_RINGS_CLOSED)
		return;
	rings->stale = true;
	rings->uses[ring].taken = true;
	cp_records_create_at(ring_at(rings, ring), rings->log, rings->turn);
	cp_records_ask(ring_at(rings, ring), UINT64_MAX, 0);
}

/* Zeroes, whatever somebody wrote there before. */
static bool give_memory_back(const struct rings *rings, uint32_t ring)
{
	return !fallocate(rings->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(ring * rings->size), (off_t)rings->size);
}

/* Threads have ways of their own to the first block of a sample. */
static void first_way(const struct rings *rings, struct cp_detour_ring *ring)
{
	ring->way = (uint32_t)cp_arch_time_stamp() * CP_DETOUR_HASH >> 16;
	rings_next_way(rings, ring);
}

void rings_next_way(const struct rings *rings, struct cp_detour_ring *ring)
{
	const uint64_t *ways = (const void *)(rings->memory + cp_detour_ways_offset(rings->log));

	ring->left = (int64_t)ways[ring->way++ % CP_DETOUR_WAYS];
}

uint64_t *rings_slot(const struct thread *t, uint64_t sp)
{
	uint8_t *ring = (uint8_t *)rings_of(t);

	return ring ? (uint64_t *)(void *)(ring + cp_detour_table_offset(t->rings->log)) +
			       cp_detour_slot(sp)
		    : NULL;
}

static uint8_t *chosen_at(const struct rings *rings, uint64_t address)
{
	return rings->memory + cp_detour_chosen_offset(rings->log) +
	       cp_detour_chosen(address, rings->log);
}

bool rings_may_be_chosen(const struct rings *rings, uint64_t address)
{
	return *chosen_at(rings, address) != 0;
}

void rings_choose(const struct rings *rings, uint64_t address)
{
	uint8_t *chosen = chosen_at(rings, address);

	if (*chosen < CP_DETOUR_MANY)
		__atomic_add_fetch(chosen, 1, __ATOMIC_RELAXED);
}

static bool is_marked(const struct rings *rings, uint64_t caller, uint64_t sp)
{
	const uint8_t *callers = rings->memory + cp_detour_callers_offset(rings->log);
	uint8_t mark = __atomic_load_n(&callers[cp_detour_caller(caller, sp, rings->log)],
				       __ATOMIC_RELAXED);

	return mark == CP_DETOUR_ANY || mark == cp_detour_caller_mark(caller, sp);
}

bool rings_know_caller(const struct rings *rings, uint64_t caller, uint64_t sp)
{
	return is_marked(rings, caller, 0) || is_marked(rings, caller, sp);
}

void rings_count_down(const struct rings *rings, uint64_t address)
{
	uint64_t offset = address - rings->zero;

	if (offset % sizeof(uint64_t) || offset < CP_DETOUR_BUFFER ||
	    offset >= cp_detour_table_offset(rings->log))
		return;
	__atomic_sub_fetch((uint64_t *)(void *)(rings->memory + offset), 1, __ATOMIC_RELAXED);
}

bool rings_give(struct rings *rings, struct thread *t, uint64_t tail)
{
	struct cp_records records;
	uint64_t wait;
	uint32_t i;

	for (i = CP_RINGS_CLOSED + 1; i < rings->number; i++) {
		struct ring_use *use = &rings->uses[i];

		if (use->taken || use->until_tail > tail ||
		    (use->until_tail && !give_memory_back(rings, i)))
			continue;
		*use = (struct ring_use){ .taken = true };
		cp_records_create_at(ring_at(rings, i), rings->log, rings->turn);
		/* Without loss from the first record on, if that is wanted. */
		wait = ring_at(rings, 0)->first_wait;
		ring_at(rings, i)->wait_until = wait ? cp_arch_time_stamp() + wait : 0;
		first_way(rings, ring_at(rings, i));
		cp_records_open(&records, ring_at(rings, i), rings->log);
		rings->users++;
		t->rings = rings;
		t->ring = i;
		return true;
	}
	return false;
}

void rings_take_back(struct thread *t, uint64_t until)
{
	if (!t->rings)
		return;
	t->rings->uses[t->ring] = (struct ring_use){ .until_tail = until };
	rings_release(t->rings);
	t->rings = NULL;
}

struct cp_detour_ring *rings_of(const struct thread *t)
{
	return t->rings ? ring_at(t->rings, t->ring) : NULL;
}

void rings_forget(const struct rings *rings, pid_t tid)
{
	uint64_t prstatus[PRSTATUS_MAX / 8], base;
	uint32_t ring;

	if (!rings || !regs_read(tid, prstatus))
		return;
	base = cp_arch_ring_base(prstatus);
	if (!base || !rings_find(rings, base, &ring))
		return;
	cp_arch_set_ring_base(prstatus, 0);
	regs_write(tid, prstatus);
}

/* What the controller says meanwhile stays: it may be that nobody reads, or is to wait. */
static void extend(uint64_t *field, uint64_t until)
{
	uint64_t before = __atomic_load_n(field, __ATOMIC_RELAXED);

	if (before && before < until)
		__atomic_compare_exchange_n(field, &before, until, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

void rings_believe(const struct rings *rings, uint64_t ticks)
{
	uint64_t until = cp_arch_time_stamp() + ticks;
	uint32_t i;

	for (i = 0; rings && i < rings->number; i++) {
		struct cp_detour_ring *ring = ring_at(rings, i);

		if (i == CP_RINGS_CLOSED || (i && !rings->uses[i].taken))
			continue;
		extend(&ring->read_until, until);
		extend(&ring->wait_until, until);
	}
}

void rings_close(const struct rings *rings, uint64_t tail)
{
	uint32_t i;

	for (i = 0; rings && i < rings->number; i++) {
		struct cp_detour_ring *ring = ring_at(rings, i);

		if (!rings->uses[i].taken) {
			if (rings->uses[i].until_tail && rings->uses[i].until_tail <= tail)
				give_memory_back(rings, i);
			continue;
		}
		__atomic_store_n(&ring->asks, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->read_until, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->wait_until, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->limit, 0, __ATOMIC_RELEASE);
	}
}
