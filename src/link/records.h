/* SPDX-License-Identifier: MIT
 *
 * Reading what detours write (arch/detour.h): one ring of one thread.
 *
 *     position               head        limit
 *        ▼                     ▼           ▼
 *     ───┬─────────┬─────┬─────┬───────────┬─────────┬───
 *        │ record  │ ...  being written    │ reserve │
 *     ───┴─────────┴─────┴─────┴───────────┴─────────┴───
 *
 * A record is there when its first word has the tag of its position's turn; `head`
 * says only what was reserved. What was read is made unlike any record, then the
 * limit rises. The reader may die at any point: what it has not raised stays full.
 */
#ifndef CP_LINK_RECORDS_H
#define CP_LINK_RECORDS_H

#include "arch/detour.h"

struct cp_records {
	struct cp_detour_ring *ring; /* mapped here; borrowed */
	unsigned log;
	uint64_t position; /* of the next record */
	uint64_t released; /* up to here records are forgotten, and the limit is for it */
	uint64_t lost; /* records that were given as lost */
	/* What `head` was: the program writes that line of the caches with each record, so it
	 * is read when all before it are. 0: not known. */
	uint64_t seen;
	uint64_t clean; /* from `released` up to here, nothing has to be forgotten; 0: not known */
	bool in_pieces; /* what is lost between pieces that are seen is no harm: few large ones */
};

enum cp_record_kind {
	CP_RECORD_SITE,
	/* Here records are missing: `lost` are known of by now. What is lost later in the
	 * same place counts in the next one, and in cp_records_lost(). */
	CP_RECORD_LOST,
	/* The last SITE record that was given, or what a stop told since, did not happen. */
	CP_RECORD_CANCEL,
};

#define CP_RECORD_SP_BITS 35
#define CP_RECORD_SP(sp) ((sp) & ((UINT64_C(1) << CP_RECORD_SP_BITS) - 8))

struct cp_record {
	uint8_t kind; /* enum cp_record_kind */
	uint32_t site;
	uint64_t time; /* time stamp counter */
	uint64_t sp; /* stack pointer, its bits 3 to 34: CP_RECORD_SP() */
	uint64_t lost;
	const uint64_t *values; /* in the ring: until cp_records_release() */
	unsigned value_words;
	uint32_t stack_size; /* bytes that it has a copy of, */
	const uint8_t *stack; /* of which the lowest was at the stack pointer; in the ring */
};

/* A ring in new, zeroed memory of cp_detour_ring_size(log) bytes, closed. */
void cp_records_create(void *memory, unsigned log);
/* The same; records of other turns than those from `turn` (not 0) on are none of it. */
void cp_records_create_at(void *memory, unsigned log, uint16_t turn);
/* Begins to read where the ring is, and opens it. It is closed: new, or left by a reader
 * who closed it or died long enough ago for it to be full. */
void cp_records_open(struct cp_records *records, void *memory, unsigned log);
/* Begins to read a new ring at its beginning: another process has created and opened it,
 * and records may be there already. */
void cp_records_follow(struct cp_records *records, void *memory, unsigned log);
/* Nothing more is reserved, and nobody waits. What is there can still be read. */
void cp_records_close(struct cp_records *records);
/* Who finds no room waits until then (stamp counter), again and again called by who
 * reads and wants no loss; 0: records are dropped. */
void cp_records_wait(struct cp_records *records, uint64_t until);

/* In a closed ring: until then (stamp counter), who comes to it stops, to be given one of
 * its own (cp_detour_slow_stop()); again and again. 0: no more. In that one it waits for
 * room for `first_wait` ticks, as long as nobody said otherwise (cp_records_wait()). */
void cp_records_ask(void *memory, uint64_t until, uint64_t first_wait);

/* What the code of detours may read where pointers lead to; it is laid down in the ring
 * before it is opened, or while no thread is in such code. */
struct cp_records_memory {
	/* rt_sigprocmask may be called: no filter of system calls minds it. */
	bool may_probe;
	/* Ticks of the stamp counter for which a page counts as readable that was found to be
	 * so. Not 0, faults become possible that the tracer has to serve. */
	uint64_t page_life;
	/* The thread's own stack, what it keeps mapped while it runs; 0: not known. A mapping
	 * may go on with what is somebody else's: of glibc's and musl's threads but the first
	 * the base of fs is a safe end. */
	uint64_t stack_low, stack_end;
	uint64_t self; /* address of the ring in the program; 0: the stack is not copied */
	struct cp_detour_range known[CP_DETOUR_KNOWN]; /* never unmapped; the rest is 0 */
};
void cp_records_set_memory(struct cp_records *records, const struct cp_records_memory *memory);

/* On [low, end) of another stack than its own, the ring's thread records as on its own from now
 * on; of large ones, of what is nearest to `low`, and as long as nothing is known of what lies
 * a multiple of CP_DETOUR_STACKS * CP_DETOUR_PART bytes away. Copies of it go up to `top`. */
void cp_records_know_stack(struct cp_records *records, uint64_t low, uint64_t end, uint64_t top);
/* No longer. */
void cp_records_forget_stack(struct cp_records *records, uint64_t low, uint64_t end);
void cp_records_forget_stacks(struct cp_records *records);
/* Nor is there one so far, or will be soon: who stops on one need not wait for it. */
void cp_records_know_none(struct cp_records *records);
/* Pointers are followed until then (stamp counter), again and again called while faults
 * are served (cp_detour_fault()); 0: no more. */
void cp_records_read(struct cp_records *records, uint64_t until);

/* The next record, if there is one; `now` is a time stamp of about now. A record that
 * is followed by its CANCEL is passed over, as are VOID ones. */
bool cp_records_next(struct cp_records *records, uint64_t now, struct cp_record *ret);
/* Room for what was read. */
void cp_records_release(struct cp_records *records);
/* Records that found no room so far. */
uint64_t cp_records_lost(const struct cp_records *records);
/* Those of them that no LOST record told of yet. */
uint64_t cp_records_untold(const struct cp_records *records);

#endif
