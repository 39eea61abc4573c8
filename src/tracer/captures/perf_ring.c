/* SPDX-License-Identifier: MIT
 *
 * The kernel's rings of samples, one for each CPU, as one row in the order of time.
 *
 * A thread that moved has samples in several, and they weigh by what came before, so
 * the earliest of all comes first. A sample, as perf_ring_attributes() asks for it:
 *
 *   header │ pid, tid │ time │ abi │ registers │ size │ stack ... │ bytes that are there
 */
#include "tracer/captures/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/cleanup.h"

#define RECORD_MAX 65536u
#define PAGE 4096u

/* Offsets in a sample. */
#define IDS_AT 8u
#define TIME_AT 16u
#define ABI_AT 24u
#define REGS_AT 32u

struct perf_event_attr perf_ring_attributes(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = cp_arch_perf_regs(),
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.disabled = 1,
	};
}

/* ---- opening ---- */

/* An event of our own that never happens: it owns the ring, which threads that come and
 * go write into. */
static int open_owner(int cpu, uint64_t size)
{
	struct perf_event_attr attr = perf_ring_attributes();

	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_regs_user = 0;
	attr.exclude_kernel = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)(size / 3);
	return (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* An errno; ENODEV: that CPU is not online. */
static int open_ring(struct perf_rings *rings, int cpu, bool *mapping_ret)
{
	struct epoll_event wants = { .events = EPOLLIN };
	struct perf_ring ring = { .fd = open_owner(cpu, rings->size), .cpu = cpu };
	void *map;
	int err;

	if (ring.fd < 0)
		return errno;
	map = mmap(NULL, PAGE + rings->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (map == MAP_FAILED) {
		err = errno;
		close(ring.fd);
		*mapping_ret = true;
		return err;
	}
	ring.page = map;
	ring.data = (const uint8_t *)map + PAGE;
	if (cp_vec_push(&rings->list, ring) &&
	    !epoll_ctl(rings->poll_fd, EPOLL_CTL_ADD, ring.fd, &wants))
		return 0;
	return ENOMEM;
}

int perf_rings_open(struct perf_rings *ret, uint64_t size, bool *mapping_ret)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int cpu, err = 0;

	*ret = (struct perf_rings){ .size = size,
				    .poll_fd = epoll_create1(EPOLL_CLOEXEC),
				    .whole = malloc(RECORD_MAX) };
	*mapping_ret = false;
	if (ret->poll_fd < 0 || !ret->whole)
		err = ENOMEM;
	for (cpu = 0; cpu < cpus && !err; cpu++) {
		err = open_ring(ret, cpu, mapping_ret);
		if (err == ENODEV)
			err = 0;
	}
	if (!err && !ret->list.count)
		err = ENODEV;
	if (err)
		perf_rings_close(ret);
	return err;
}

void perf_rings_close(struct perf_rings *rings)
{
	struct perf_ring *ring;

	cp_vec_for_each(&rings->list, ring) {
		munmap(ring->page, PAGE + rings->size);
		close(ring->fd);
	}
	cp_vec_free(&rings->list);
	cp_close_fd(&rings->poll_fd);
	rings->poll_fd = -1;
	free(rings->whole);
	rings->whole = NULL;
}

/* ---- reading ---- */

static uint64_t word(const struct perf_rings *rings, const struct perf_ring *ring, uint64_t at)
{
	uint64_t value;

	memcpy(&value, ring->data + (at & (rings->size - 1)), sizeof(value));
	return value;
}

/* The record at `at` in one piece; NULL: it makes no sense. */
static const uint8_t *piece(const struct perf_rings *rings, const struct perf_ring *ring,
			    uint64_t at, uint32_t size)
{
	uint64_t from = at & (rings->size - 1), first = rings->size - from;

	if (first >= size)
		return ring->data + from;
	memcpy(rings->whole, ring->data + from, first);
	memcpy(rings->whole + first, ring->data, size - first);
	return rings->whole;
}

static void decode_sample(const uint8_t *bytes, uint32_t size, struct perf_record *ret)
{
	unsigned count = (unsigned)__builtin_popcountll(cp_arch_perf_regs());
	uint64_t stack_at = REGS_AT + 8 * (uint64_t)count, abi, copied, there = 0;
	uint32_t ids[2];

	if (size < REGS_AT)
		return;
	memcpy(ids, bytes + IDS_AT, sizeof(ids));
	ret->pid = (pid_t)ids[0];
	ret->tid = (pid_t)ids[1];
	memcpy(&ret->ts_ns, bytes + TIME_AT, sizeof(ret->ts_ns));
	memcpy(&abi, bytes + ABI_AT, sizeof(abi));
	if (abi != PERF_SAMPLE_REGS_ABI_64 || size < stack_at + 8)
		return;
	ret->regs = (const uint64_t *)(const void *)(bytes + REGS_AT);
	ret->stack = bytes + stack_at + 8;
	memcpy(&copied, bytes + stack_at, sizeof(copied));
	if (!copied || copied > size - stack_at - 8 || size - stack_at - 8 - copied < 8)
		return;
	memcpy(&there, ret->stack + copied, sizeof(there));
	ret->stack_size = there < copied ? there : copied;
}

/* The record at `at`; returns its bytes, 0: there is none, or it makes no sense. */
static uint32_t decode(const struct perf_rings *rings, const struct perf_ring *ring, uint64_t at,
		       struct perf_record *ret)
{
	struct perf_event_header header;
	uint64_t first = word(rings, ring, at);
	const uint8_t *bytes;

	memcpy(&header, &first, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > ring->head - at)
		return 0;
	*ret = (struct perf_record){ .type = header.type };
	bytes = piece(rings, ring, at, header.size);
	if (header.type == PERF_RECORD_SAMPLE)
		decode_sample(bytes, header.size, ret);
	else if (header.type == PERF_RECORD_LOST && header.size >= 24)
		memcpy(&ret->lost, bytes + 16, sizeof(ret->lost));
	return header.size;
}

/* When the next record of a ring was made; what is no sample comes at once. */
static uint64_t time_of_next(const struct perf_rings *rings, const struct perf_ring *ring)
{
	struct perf_event_header header;
	uint64_t first = word(rings, ring, ring->at);

	memcpy(&header, &first, sizeof(header));
	return header.type == PERF_RECORD_SAMPLE ? word(rings, ring, ring->at + TIME_AT) : 0;
}

bool perf_rings_look(struct perf_rings *rings)
{
	struct perf_ring *ring;
	bool any = false;

	cp_vec_for_each(&rings->list, ring) {
		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		any |= ring->head != ring->at;
	}
	return any;
}

static void take(struct perf_ring *ring, uint64_t to)
{
	ring->at = to;
	__atomic_store_n(&ring->page->data_tail, to, __ATOMIC_RELEASE);
}

bool perf_rings_next(struct perf_rings *rings, struct perf_record *ret)
{
	struct perf_ring *ring, *earliest = NULL;
	uint64_t least = 0, when;
	uint32_t size;

	/* What was returned last may be taken out now. */
	cp_vec_for_each(&rings->list, ring)
		if (ring->page->data_tail != ring->at)
			take(ring, ring->at);
	cp_vec_for_each(&rings->list, ring) {
		if (ring->at == ring->head)
			continue;
		when = time_of_next(rings, ring);
		if (earliest && when >= least)
			continue;
		earliest = ring;
		least = when;
	}
	if (!earliest)
		return false;
	size = decode(rings, earliest, earliest->at, ret);
	earliest->at = size ? earliest->at + size : earliest->head;
	return true;
}

void perf_rings_each(struct perf_rings *rings,
		     void (*see)(const struct perf_record *record, void *data), void *data)
{
	struct perf_record record;
	struct perf_ring *ring;
	uint32_t size;
	uint64_t at;

	cp_vec_for_each(&rings->list, ring)
		for (at = ring->at; at != ring->head; at += size) {
			size = decode(rings, ring, at, &record);
			if (!size)
				break;
			see(&record, data);
		}
}
