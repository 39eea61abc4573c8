/* SPDX-License-Identifier: MIT
 *
 * The shared memory and the ring in it.
 *
 *      shared          ring                    the same ring again
 *     ├──────────────┼───────────────────────┼───────────────────────┤
 *                         tail ▲  ▲ head mod size
 */
#include "link/link.h"
#include "link/sites.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define COUNTERS_SIZE (sizeof(uint64_t) * CP_LINK_COUNTERS)

static size_t shared_size(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (sizeof(struct cp_link_shared) + page - 1) & ~(page - 1);
}

/* Takes memory only as far as it is written to. */
static void *map_sparse(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static struct cp_error *map_plan(struct cp_link *link)
{
	link->plan = map_sparse(CP_LINK_PLAN);
	if (link->plan)
		link->counters = map_sparse(COUNTERS_SIZE);
	if (!link->plan || !link->counters)
		return cp_error_new(CP_ERR_NOMEM, errno, "map room for breakpoint plans");
	return NULL;
}

/* Shared part and ring, the ring twice, in one range: memory without a name,
 * which fork() shares. (A memfd would do as well, but counts against a limit on
 * the size of files.) mremap() of 0 bytes maps the same pages again. */
static struct cp_error *map_shared(struct cp_link *link)
{
	size_t head = shared_size(), total = head + 2 * CP_LINK_RING;
	uint8_t *at, *again;

	at = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return cp_error_new(CP_ERR_NOMEM, errno, "map %zu bytes for the event ring", total);
	link->shared = (struct cp_link_shared *)at;
	link->ring = at + head;
	again = link->ring + CP_LINK_RING;
	if (mmap(at, head + CP_LINK_RING, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    mremap(link->ring, 0, CP_LINK_RING, MREMAP_MAYMOVE | MREMAP_FIXED, again) != again)
		return cp_error_new(CP_ERR_NOMEM, errno, "map the event ring");
	return map_plan(link);
}

/* The ring's memory that lies before the tracer: what it writes at most while the
 * controller gets to populate more. */
#define AHEAD (UINT64_C(1) << 20)
/* While it has written next to nothing, as it does to the end of most short programs. */
#define AHEAD_FIRST (UINT64_C(64) << 10)
#define NOTHING (UINT64_C(16) << 10)
#define AT_ONCE (UINT64_C(64) << 10)
_Static_assert(CP_LINK_RING % AT_ONCE == 0, "ring");

void cp_link_populate(struct cp_link *link)
{
	uint64_t head = atomic_load_explicit(&link->shared->head, memory_order_relaxed);
	uint64_t until = head + (head < NOTHING ? AHEAD_FIRST : AHEAD);

	while (link->populated < CP_LINK_RING && link->populated < until) {
		/* Once is enough, whatever it says: who writes gets the memory, too. */
		madvise(link->ring + link->populated, AT_ONCE, MADV_POPULATE_WRITE);
		link->populated += AT_ONCE;
	}
}

struct cp_error *cp_link_create(struct cp_link *ret)
{
	struct cp_link link = { .tracer_socket = -1, .controller_socket = -1, .kick = -1 };
	struct cp_error *err = map_shared(&link);
	int pair[2];

	if (!err) {
		link.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (link.kick < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			err = cp_error_new(CP_ERR_IO, errno, "connect controller and tracer");
	}
	if (err) {
		cp_link_deinit(&link);
		return err;
	}
	link.controller_socket = pair[0];
	link.tracer_socket = pair[1];
	*ret = link;
	return NULL;
}

void cp_link_deinit(struct cp_link *link)
{
	if (link->shared)
		munmap(link->shared, shared_size() + 2 * CP_LINK_RING);
	if (link->plan)
		munmap(link->plan, CP_LINK_PLAN);
	if (link->counters)
		munmap(link->counters, COUNTERS_SIZE);
	cp_close_fd(&link->kick);
	cp_close_fd(&link->tracer_socket);
	cp_close_fd(&link->controller_socket);
	*link = (struct cp_link){ .tracer_socket = -1, .controller_socket = -1, .kick = -1 };
}

unsigned cp_histogram_bucket(uint64_t ns)
{
	unsigned log;

	if (ns < 16)
		return (unsigned)ns;
	log = 63 - (unsigned)__builtin_clzll(ns);
	return (log - 3) * 16 + (unsigned)(ns >> (log - 4) & 15);
}

static uint64_t bucket_value(unsigned bucket)
{
	unsigned log;

	if (bucket < 16)
		return bucket;
	log = bucket / 16 + 3;
	return (UINT64_C(16) + bucket % 16) << (log - 4);
}

uint64_t cp_histogram_quantile(const _Atomic uint32_t *buckets, unsigned permille)
{
	uint64_t total = 0, seen = 0;
	unsigned i;

	for (i = 0; i < CP_HISTOGRAM; i++)
		total += buckets[i];
	for (i = 0; i < CP_HISTOGRAM && total; i++) {
		seen += buckets[i];
		if (seen * 1000 >= total * permille)
			return bucket_value(i);
	}
	return 0;
}

void *cp_ring_reserve(struct cp_link *link, size_t size, size_t keep)
{
	uint64_t head = atomic_load_explicit(&link->shared->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&link->shared->tail, memory_order_acquire);
	uint64_t used = head - tail;

	/* A tail that makes no sense comes from a controller gone mad. */
	if (used > CP_LINK_RING || cp_align8(size) + keep > CP_LINK_RING - used)
		return NULL;
	return link->ring + head % CP_LINK_RING;
}

void cp_ring_commit(struct cp_link *link, const struct cp_event *event)
{
	uint64_t head = atomic_load_explicit(&link->shared->head, memory_order_relaxed);

	atomic_store_explicit(&link->shared->head, head + event->size, memory_order_release);
}

void cp_ring_kick(struct cp_link *link, bool now)
{
	struct cp_link_shared *shared = link->shared;
	uint64_t one = 1;

	if (!now && (!atomic_load_explicit(&shared->asleep, memory_order_relaxed) ||
		     atomic_load_explicit(&shared->head, memory_order_relaxed) ==
			     atomic_load_explicit(&shared->tail, memory_order_relaxed)))
		return;
	atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
	if (write(link->kick, &one, sizeof(one)) < 0)
		return; /* full: it is awake anyway */
}

/* The event at `at`, of those up to `head`. */
static const struct cp_event *event_at(const struct cp_link *link, uint64_t at, uint64_t head,
				       bool *bad_ret)
{
	const struct cp_event *event;

	if (head == at)
		return NULL;
	event = (const struct cp_event *)(link->ring + at % CP_LINK_RING);
	if (event->size < sizeof(*event) || event->size % 8 || event->size > head - at ||
	    head - at > CP_LINK_RING) {
		*bad_ret = true;
		return NULL;
	}
	return event;
}

const struct cp_event *cp_ring_peek(struct cp_link *link, bool *bad_ret)
{
	uint64_t tail = atomic_load_explicit(&link->shared->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&link->shared->head, memory_order_acquire);

	return event_at(link, tail, head, bad_ret);
}

const struct cp_event *cp_ring_look(struct cp_link *link, uint64_t *at, bool *bad_ret)
{
	uint64_t head = atomic_load_explicit(&link->shared->head, memory_order_acquire);
	const struct cp_event *event = event_at(link, *at, head, bad_ret);

	*at += event ? event->size : 0;
	return event;
}

/* The tracer has set the place before it looks at the tail for the last time. */
static void wake(struct cp_link *link, uint64_t tail)
{
	const struct cp_request rq = { .type = CP_REQUEST_WAKE };
	uint64_t at = atomic_load(&link->shared->wake_at);

	if (!at || tail < at)
		return;
	atomic_store(&link->shared->wake_at, 0);
	/* Without that it looks a little later. */
	send(link->controller_socket, &rq, sizeof(rq), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void cp_ring_release(struct cp_link *link, const struct cp_event *event)
{
	uint64_t tail = atomic_load_explicit(&link->shared->tail, memory_order_relaxed);

	tail += event->size;
	atomic_store(&link->shared->tail, tail);
	wake(link, tail);
}

/* The piece of `size` bytes at `offset` behind the fixed part. */
static const uint8_t *piece(const struct cp_event_sample *s, size_t offset, size_t size)
{
	if (!size || sizeof(*s) + offset + size > s->e.size)
		return NULL;
	return (const uint8_t *)(s + 1) + offset;
}

const uint8_t *cp_event_regs(const struct cp_event_sample *s)
{
	return piece(s, 0, s->regs_size);
}

const uint8_t *cp_event_xstate(const struct cp_event_sample *s)
{
	return piece(s, cp_align8(s->regs_size), s->xstate_size);
}

const uint8_t *cp_event_stack(const struct cp_event_sample *s)
{
	return piece(s, cp_align8(s->regs_size) + cp_align8(s->xstate_size), s->stack_size);
}

const uint8_t *cp_event_below(const struct cp_event_sample *s)
{
	return piece(s,
		     cp_align8(s->regs_size) + cp_align8(s->xstate_size) + cp_align8(s->stack_size),
		     s->below_size);
}
