/* SPDX-License-Identifier: MIT
 *
 * The kernel's rings of samples, one for each CPU, as one row in the order of time.
 */
#ifndef CP_TRACER_PERF_RING_H
#define CP_TRACER_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct perf_ring {
	int fd, cpu; /* fd: an event of ours that never happens, so that the ring is not the
			program's to end */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t at, head; /* positions: the next record, and where there are none yet */
};

struct perf_rings {
	CP_VEC(struct perf_ring) list;
	int poll_fd; /* readable: a ring is a third full */
	uint64_t size; /* bytes of each, a power of two */
	uint8_t *whole; /* a record that lies on a ring's end, in one piece */
};

/* A record; its pieces are valid until the next one is asked for. */
struct perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint64_t lost; /* PERF_RECORD_LOST: how many */
	/* PERF_RECORD_SAMPLE */
	pid_t pid, tid;
	uint64_t ts_ns;
	const uint64_t *regs; /* as cp_arch_perf_regs() has them; NULL: of no 64-bit program */
	const uint8_t *stack;
	uint64_t stack_size;
};

/* What those who write into the rings have to say, besides what they count. */
struct perf_event_attr perf_ring_attributes(void);
/* One for each CPU that is online; an errno, and *mapping_ret whether it was memory for
 * rings that could not be had. */
int perf_rings_open(struct perf_rings *ret, uint64_t size, bool *mapping_ret);
void perf_rings_close(struct perf_rings *rings);

/* Notes up to where there are records now. False: nothing is new. */
bool perf_rings_look(struct perf_rings *rings);
/* The next record up to there, and takes it out; false: none. */
bool perf_rings_next(struct perf_rings *rings, struct perf_record *ret);
/* Calls `see` for each record up to there, and takes none out. */
void perf_rings_each(struct perf_rings *rings,
		     void (*see)(const struct perf_record *record, void *data), void *data);

#endif
