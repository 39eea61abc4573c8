/* SPDX-License-Identifier: MIT
 *
 * cprof/trace_format.h - what annotations look like in a program's memory.
 * Who annotates includes cprof/trace.h; this much is for who reads.
 *
 *   ELF note "cprof" ──► root ──► ring of `capacity` events, 64 bytes each
 *   (its desc: int64, root - desc)
 *
 * Reading the ring from outside, without stopping anyone:
 *
 *  1. H0 = root.head. The first index to fetch is max(cursor, H0 - capacity).
 *  2. Copy the slots twice (C1, then C2), then read H1 = root.head.
 *  3. Index i is good if C1[i].sequence == C2[i].sequence == i + 1 and
 *     i + capacity >= H1 (no writer can have reserved the slot meanwhile); use
 *     the fields of C2. Otherwise, if i + capacity < H1, the event was
 *     overwritten: it is lost. Else its writer has not finished: stop there and
 *     come back; give up once the ring is half full.
 *  A program that stands still needs no second copy.
 *
 * Indices only ever grow. `first` is where this process's own events begin: a
 * forked child finds its parent's in the ring, too, and until `pid` is the
 * child's own, all of them are the parent's.
 */
#ifndef CPROF_TRACE_FORMAT_H
#define CPROF_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Layout of cprof_trace_root and cprof_trace_event. */
#define CPROF_TRACE_ABI_VERSION 1
/* "CPROFTR1", little endian: the first 8 bytes of a root. */
#define CPROF_TRACE_MAGIC UINT64_C(0x315254464f525043)
/* n_type of the ELF note ("PRCT"); n_name is "cprof", desc an int64, root - desc. */
#define CPROF_TRACE_NOTE_TYPE 0x54435250

#ifdef __cplusplus
#define CPROF_TRACE_NULL_ nullptr
extern "C" {
#else
#define CPROF_TRACE_NULL_ NULL
#endif

/* Type of an event. In brackets: the Chrome trace-event phase it exports as. */
typedef enum cprof_trace_event_type {
	CPROF_TRACE_EVENT_BEGIN = 0, /* start of a time interval [B] */
	CPROF_TRACE_EVENT_END = 1, /* end of a time interval [E] */
	CPROF_TRACE_EVENT_INSTANT = 2, /* instant event [i] */
	CPROF_TRACE_EVENT_START = 3, /* async event start [b] */
	CPROF_TRACE_EVENT_FINISH = 4, /* async event finish [e] */
	CPROF_TRACE_EVENT_FIBER_SWITCH = 5, /* a thread went from one fiber to another */
	CPROF_TRACE_EVENT_COUNTER = 6, /* sampled value [C] (extension) */
	CPROF_TRACE_EVENT_THREAD_NAME = 7, /* metadata [M] (extension) */
	CPROF_TRACE_EVENT_FIBER_NAME = 8, /* metadata [M] (extension) */
	/* In no ring; cprof tells its profilers: `value` events could not be read. */
	CPROF_TRACE_EVENT_LOST = 9
} cprof_trace_event_type;

/* One event: exactly 64 bytes, a slot never straddles a cache line. */
typedef struct cprof_trace_event {
	uint64_t sequence; /* its index + 1 once complete; anything else: incomplete */
	uint32_t type; /* cprof_trace_event_type (ph) */
	uint32_t thread_id; /* kernel tid of the recording thread, as it sees it (tid) */
	uint64_t timestamp; /* nanoseconds, CLOCK_MONOTONIC (ts) */
	union {
		struct { /* all but FIBER_SWITCH */
			/* matches BEGIN and END, START and FINISH, and is of one ring of
			 * the process; FIBER_NAME: the fiber; 0 in the others */
			uint64_t id;
			const char *category; /* cat; usually __FILE__; NULL in END, FINISH */
			const char *name; /* usually __func__; NULL in END, FINISH */
			const char *object; /* what is worked on, or NULL */
			int64_t value; /* COUNTER only */
		} span;
		struct { /* FIBER_SWITCH */
			uint32_t from_fiber; /* the fiber switched out */
			uint32_t to_fiber; /* the fiber switched in */
			/* [0]: 1, cprof noticed the switch, the program did not announce it */
			uint64_t reserved[4];
		} fiber;
	} u;
} cprof_trace_event;

/* Who turned recording on: bits of cprof_trace_root.enabled. */
#define CPROF_TRACE_ENABLED_BY_APP UINT32_C(1)
#define CPROF_TRACE_ENABLED_BY_CONTROLLER UINT32_C(2)

/* What the ELF note points at. Fixed layout; append only. */
typedef struct cprof_trace_root {
	uint64_t magic; /* CPROF_TRACE_MAGIC */
	uint32_t version; /* CPROF_TRACE_ABI_VERSION */
	uint32_t root_size; /* sizeof(cprof_trace_root) */
	uint32_t event_size; /* sizeof(cprof_trace_event) */
	uint32_t capacity; /* events in the ring, a power of two; 0 until first use */
	uint32_t enabled; /* CPROF_TRACE_ENABLED_* bits; 0: not recording */
	uint32_t clock_id; /* clock of `timestamp`: 1, CLOCK_MONOTONIC */
	cprof_trace_event *events; /* the ring, NULL until first use */
	uint64_t head; /* index of the next event = ever recorded */
	uint64_t next_id; /* last id handed out; no two rings of a process share one */
	uint64_t generation; /* +1 at each (re)initialisation of the ring */
	int32_t pid; /* of the process that recorded last, as it sees it */
	uint32_t reserved; /* of the implementation */
	uint64_t first; /* index of the first event of process `pid` and this ring */
} cprof_trace_root;

/* The ring in two parts, so that nothing is copied: [0] before the wraparound,
 * [1] after it. Either may be empty. */
typedef struct cprof_trace_buffer {
	uint64_t total_recorded; /* ever recorded; not all need be kept */
	uint64_t start[2]; /* index of the first event of each part */
	const cprof_trace_event *events[2];
	uint32_t count[2];
} cprof_trace_buffer;

#ifdef __cplusplus
}
#endif
#endif
