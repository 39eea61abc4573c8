/* SPDX-License-Identifier: MIT
 *
 * What a call costs that is seen by detours: no time that a program's records have can say
 * it, for most of it lies before the entry's and behind the exit's. So a function that does
 * nothing is called here, thousands of times, as it is and with detours that write into a
 * ring as a program's do. Half of the calls take less than what is said; where a function has
 * something to do meanwhile, part of that (CP_TAKEN_LEAST).
 */
#include "engine/probes/price.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "link/records.h"

#define LOG 18 /* of the ring: beyond the first cache, as a program's is */
#define BATCHES 16
#define CALLS 256 /* of a batch */
#define ROOM 8192 /* for code: the function, */
#define SLOW 256 /* and, from here on, */
#define MADE (SLOW + CP_DETOUR_SLOW_MAX)
#define LOWEST UINT64_C(0x10000000) /* where a ring's address fits in an instruction */
#define HIGHEST UINT64_C(0x70000000)

struct trial {
	uint8_t *memory, *code;
	uint8_t *pc[2]; /* of the entry's window and the exit's, */
	uint8_t jumps[2][CP_DETOUR_JUMP + CP_DETOUR_PREFIXES]; /* and what comes there */
	struct cp_detour_rings rings;
	struct cp_records reader;
	uint64_t plain_ns[BATCHES], detoured_ns[BATCHES]; /* what a batch took */
	uint64_t ticks[BATCHES]; /* from its first record to its last */
	uint64_t within[BATCHES * CALLS]; /* ticks of each call */
};

static bool map(struct trial *t)
{
	uint64_t size = cp_detour_ring_size(LOG), at;
	void *p = MAP_FAILED;

	for (at = LOWEST; p == MAP_FAILED && at < HIGHEST; at += LOWEST / 16)
		p = mmap((void *)(uintptr_t)at, size + ROOM, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	t->memory = p;
	t->code = t->memory + size;
	t->rings = (struct cp_detour_rings){ .zero = (uint32_t)(uintptr_t)p,
					     .log = LOG,
					     .slow = (uintptr_t)t->code + SLOW };
	return true;
}

/* The function, and its detours; the jumps there are not yet written. */
static bool make(struct trial *t)
{
	static const struct cp_detour_landing anywhere;
	const struct cp_arch *arch = cp_arch_host();
	struct cp_detour windows[2];
	uint64_t at = (uintptr_t)t->code + MADE;
	size_t i;

	if (!cp_detour_nothing(arch, (uintptr_t)t->code, windows) ||
	    !cp_detour_slow(arch, &t->rings, t->code + SLOW))
		return false;
	for (i = 0; i < 2; i++, at += CP_DETOUR_CODE_MAX) {
		t->pc[i] = (uint8_t *)(uintptr_t)windows[i].pc;
		memcpy(t->pc[i], windows[i].code, windows[i].size);
		windows[i].records[0].site = (uint32_t)i;
		if (!cp_detour_make(arch, &windows[i], at, &t->rings, (uint8_t *)(uintptr_t)at,
				    NULL) ||
		    !cp_detour_jump(&anywhere, windows[i].pc, at, t->jumps[i]))
			return false;
	}
	return true;
}

/* The batch's calls. */
static uint64_t call(struct trial *t)
{
	void (*function)(void) = (void (*)(void))(uintptr_t)t->code;
	uint64_t start = cp_now();
	unsigned i;

	for (i = 0; i < CALLS; i++)
		function();
	return cp_now() - start;
}

/* What the calls wrote. False: not all is there. */
static bool read_batch(struct trial *t, unsigned batch)
{
	uint64_t entered = 0, first = 0, *within = t->within + batch * CALLS;
	struct cp_record record;
	unsigned n = 0;

	for (; n < 2 * CALLS && cp_records_next(&t->reader, 0, &record); n++) {
		if (!n)
			first = record.time;
		if (n % 2)
			*within++ = record.time - entered;
		entered = record.time;
	}
	cp_records_release(&t->reader);
	t->ticks[batch] = entered - first;
	return n == 2 * CALLS;
}

static bool run(struct trial *t)
{
	unsigned i;

	for (i = 0; i < BATCHES; i++)
		t->plain_ns[i] = call(t);
	for (i = 0; i < 2; i++)
		memcpy(t->pc[i], t->jumps[i], CP_DETOUR_JUMP);
	cp_records_create(t->memory, LOG);
	cp_records_open(&t->reader, t->memory, LOG);
	for (i = 0; i < BATCHES; i++) {
		t->detoured_ns[i] = call(t);
		if (!read_batch(t, i))
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median(uint64_t *of, size_t n)
{
	qsort(of, n, sizeof(*of), compare);
	return (double)of[n / 2];
}

static struct engine_price settle(struct trial *t)
{
	double plain = median(t->plain_ns, BATCHES), all = median(t->detoured_ns, BATCHES),
	       ticks = median(t->ticks, BATCHES);
	double within = median(t->within, BATCHES * CALLS), half = (all - plain) / CALLS / 2;

	if (half <= 0 || ticks <= 0)
		return (struct engine_price){ 0 };
	return (struct engine_price){ .within_ps = (uint32_t)(1000 * within * all / ticks),
				      .whole_ps = (uint32_t)(2000 * half),
				      .half = { CP_TAKEN_LEAST * half,
						(CP_TAKEN_MOST - CP_TAKEN_LEAST) * half } };
}

struct engine_price engine_price(void)
{
	struct trial *t = calloc(1, sizeof(*t));
	struct engine_price price = { 0 };

	if (t && cp_arch_ring_base_is_0() && map(t)) {
		if (make(t) && !mprotect(t->code, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC) &&
		    run(t))
			price = settle(t);
		munmap(t->memory, cp_detour_ring_size(LOG) + ROOM);
	}
	free(t);
	return price;
}
