/* SPDX-License-Identifier: MIT
 *
 * Records that are read by the million, where they were written: in the header, for who does
 * it forty million times a second.
 *
 * Who reads works on a copy of the reader's state, which nothing else changes meanwhile, and
 * says in the end up to where it came:
 *
 *     at = *records; position = at.position
 *     cp_records_peek(&at, position, ...) ─► the record there; position = its end; ...
 *     cp_records_pass(records, &at, position)
 */
#ifndef CP_LINK_RECORDS_PLAIN_H
#define CP_LINK_RECORDS_PLAIN_H

#include "link/records.h"

/* A record of a site without a copy of the stack, and of no more than a kilobyte. */
struct cp_record_plain {
	uint64_t time, sp; /* as in cp_record */
	const uint64_t *values; /* in the ring: until cp_records_release() */
	uint64_t end; /* the position behind it */
	uint32_t site;
	uint32_t words; /* of `values` */
};

enum cp_record_peeked {
	CP_PEEKED_NOTHING, /* there is none yet */
	CP_PEEKED_PLAIN,
	CP_PEEKED_CANCEL, /* what was before is not so */
	CP_PEEKED_OTHER, /* one that cp_records_next() gives */
};

#define CP_RECORDS_AHEAD 1024 /* bytes that are fetched from the caches of who wrote them */
#define CP_RECORDS_SITE_MASK ((1u << CP_DETOUR_SITE_BITS) - 1)

static inline struct cp_detour_head *cp_records_head(const struct cp_records *r, uint64_t position)
{
	uint64_t index = position & ((UINT64_C(1) << r->log) - 1);

	return (void *)((uint8_t *)r->ring + CP_DETOUR_BUFFER + index);
}

static inline uint16_t cp_records_tag(const struct cp_records *r, uint64_t position)
{
	return (uint16_t)(position >> r->log);
}

/* Has room been reserved there? What is not in use of it may be given back before the record
 * is there, so `seen` is good up to the first that is not (cp_records_written()). */
static inline bool cp_records_reserved(struct cp_records *r, uint64_t position)
{
	if (position < r->seen)
		return true;
	r->seen = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE);
	return position < r->seen;
}

/* The head of the record at a position where room was reserved; NULL: it is not there. */
static inline const struct cp_detour_head *cp_records_written(struct cp_records *r,
							      uint64_t position,
							      uint64_t *stamp_ret)
{
	const struct cp_detour_head *head = cp_records_head(r, position);

	*stamp_ret = __atomic_load_n(&head->stamp, __ATOMIC_ACQUIRE);
	if ((uint16_t)*stamp_ret == cp_records_tag(r, position))
		return head;
	r->seen = 0;
	return NULL;
}

/* 48 bits of the counter, to which `now` is nearest. */
static inline uint64_t cp_records_time(uint64_t stamp, uint64_t now)
{
	int64_t ahead = (int64_t)((stamp >> 16 << 16) - (now << 16)) >> 16;

	return now + (uint64_t)ahead;
}

/* Do units behind the first look like a record of the next turn? */
static inline bool cp_records_look_new(const struct cp_detour_head *head, uint32_t units,
				       uint16_t tag)
{
	const uint16_t next = (uint16_t)(tag + 1);
	uint32_t i;

	for (i = 1; i < units; i++)
		if ((uint16_t)head[i].stamp == next)
			return true;
	return false;
}

/* What is at `position` of the copy's, to which it came from record to record; a plain one in
 * *ret. One that a CANCEL follows is none. `now` is a time stamp of about now. Inline, so that
 * it stays in registers. */
__attribute__((always_inline)) static inline enum cp_record_peeked cp_records_peek(
	struct cp_records *copy, uint64_t position, uint64_t now, struct cp_record_plain *ret)
{
	const struct cp_detour_head *head;
	uint32_t site, units;
	uint64_t stamp;

	if (!cp_records_reserved(copy, position))
		return CP_PEEKED_NOTHING;
	head = cp_records_written(copy, position, &stamp);
	if (!head)
		return CP_PEEKED_NOTHING;
	site = head->what & CP_RECORDS_SITE_MASK;
	units = head->what >> CP_DETOUR_SITE_BITS;
	if (site >= CP_DETOUR_SITES || !units)
		return site == CP_DETOUR_CANCEL ? CP_PEEKED_CANCEL : CP_PEEKED_OTHER;
	if (position + CP_RECORDS_AHEAD < copy->seen)
		__builtin_prefetch(cp_records_head(copy, position + CP_RECORDS_AHEAD));
	ret->time = cp_records_time(stamp, now);
	ret->sp = (uint64_t)head->sp << 3;
	ret->values = (const uint64_t *)(head + 1);
	ret->words = 2 * (units - 1);
	ret->site = site;
	ret->end = position + units * CP_DETOUR_UNIT;
	if (copy->clean == position && !cp_records_look_new(head, units, (uint16_t)stamp))
		copy->clean = ret->end;
	return CP_PEEKED_PLAIN;
}

/* A copy to peek with. */
static inline struct cp_records cp_records_copy(const struct cp_records *records)
{
	struct cp_records copy = *records;

	copy.clean = copy.position;
	return copy;
}

/* What is before `end` counts as read. */
static inline void cp_records_pass(struct cp_records *records, const struct cp_records *copy,
				   uint64_t end)
{
	records->seen = copy->seen;
	records->clean = records->released == records->position ? copy->clean : 0;
	records->position = end;
}

#endif
