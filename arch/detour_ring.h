/* SPDX-License-Identifier: MIT
 *
 * The ring of a thread, in memory that it shares with the reader: what the code of
 * detours (arch/detour.h) writes, and what it is told there.
 *
 *     head ─ buffer ─ slack ─ table of accepted calls ─ table of other stacks
 */
#ifndef CP_ARCH_DETOUR_RING_H
#define CP_ARCH_DETOUR_RING_H

#include <stdint.h>

#define CP_DETOUR_BUFFER 4096 /* where in a ring the records begin */
#define CP_DETOUR_SLACK 24576 /* behind the buffer: the last record goes on there */
#define CP_DETOUR_RESERVE 65536 /* room behind the limit: who was let in reserves there */
#define CP_DETOUR_SLOTS 4096 /* of the table of accepted calls, behind the slack */
#define CP_DETOUR_LOG_MIN 17 /* the buffer has 2^log bytes */
#define CP_DETOUR_LOG_MAX 26

#define CP_DETOUR_KNOWN 8
#define CP_DETOUR_PAGES 64

/* The head of a ring; the buffer's 2^log bytes follow at CP_DETOUR_BUFFER. Positions
 * count bytes since the beginning and go on at every turn; they begin at `begin`, so that the
 * first turn's number, the tag, is not 0. Each cprof's begin at another one: a thread that a
 * signal took out of the code of a killed cprof's, and that has another ring when it comes back
 * there, ends the record that it was at in a ring that knows nothing of it. */
struct cp_detour_ring {
	/* Written by the program's thread. */
	uint64_t head; /* where the next record goes */
	uint64_t lost; /* records that found no room */
	uint64_t lost_head; /* `head` behind the last LOST record */
	/* Of samples of blocks (CP_DETOUR_SAMPLES): bytes up to the next one, the way that it
	 * takes from there, and whether the one that was accepted last was chosen. */
	int64_t left;
	uint32_t way, chosen;
	uint64_t unused[3];
	/* Written by the reader. */
	uint64_t limit; /* at or behind it nothing is reserved; 0: closed */
	uint64_t wait_until; /* time stamp counter up to which who finds no room waits */
	/* Not 0: who would wait stops instead (cp_detour_slow_stop()), to be given a ring
	 * of its own. For the ring at `zero`. */
	uint64_t asks;
	/* Ticks for which who is given a ring waits for room there, before the reader has
	 * heard of it; 0: it does not. For the ring at `zero`. */
	uint64_t first_wait;
	uint64_t read_until; /* time stamp counter up to which pointers are followed */
	/* A page that is not known may be asked for by a system call. */
	uint64_t may_probe;
	uint64_t page_life; /* ticks for which it is known then; 0: for this once */
	uint64_t stack_low, stack_end; /* the thread's own stack; 0: not known */
	/* Who is on another one, of which the table of stacks does not say that it is known,
	 * stops before it records (cp_detour_slow_foreign()), as long as pointers are
	 * followed; 0 and UINT64_MAX: it never does. */
	uint64_t own_low, own_end;
	uint64_t self; /* address of this ring in the program; 0: no copies of the stack */
	/* enum cp_detour_others: with UNTRIED and KNOWN, who stops on another stack may record
	 * there a moment later. */
	uint64_t others;
	/* Written by the program's thread: up to where it may copy of the one that it is on. */
	uint64_t other_end;
	struct cp_detour_range {
		uint64_t start, end;
	} known[CP_DETOUR_KNOWN]; /* always readable; up to the first that is 0 */
	/* Written by the program's thread. */
	struct {
		uint64_t page, until;
	} pages[CP_DETOUR_PAGES];
	/* Written by who made it. */
	uint64_t begin; /* the first position: of a multiple of 2^log bytes, not 0 */
};

enum cp_detour_others {
	CP_DETOUR_OTHERS_UNTRIED, /* nobody has tried to put one into the table of other stacks */
	CP_DETOUR_OTHERS_KNOWN, /* the table is not all zeros */
	CP_DETOUR_OTHERS_NONE, /* it can't be done */
};

/* A record; values follow. The first word is written last, and is valid when its
 * low 16 bits are those of the turn that its position is in. */
struct cp_detour_head {
	uint64_t stamp; /* time stamp counter << 16 | tag */
	uint32_t what; /* site | units of 16 bytes << CP_DETOUR_SITE_BITS */
	uint32_t sp; /* stack pointer >> 3, low bits; of LOST: `lost`, low bits */
};
#define CP_DETOUR_UNIT 16
#define CP_DETOUR_SHORT 63 /* units of a record that says so in its head, at most; */
#define CP_DETOUR_RECORD_MAX CP_DETOUR_SLACK /* bytes of others, that say 0 there */
#define CP_DETOUR_SITE_BITS 26
#define CP_DETOUR_SITES 0x3fffff0u /* sites are below */
#define CP_DETOUR_AGAIN 0x3fffffcu /* what a stop told, and no record, will come again */
#define CP_DETOUR_LOST 0x3fffffdu /* here records were dropped */
#define CP_DETOUR_CANCEL 0x3fffffeu /* the record before is not so: it will come again */
#define CP_DETOUR_VOID 0x3ffffffu /* nothing: the thread was taken out before it was filled */

/* Behind the head of a long record. The copy of the stack is at its end, from a multiple
 * of 16 bytes on. */
struct cp_detour_long {
	uint32_t units;
	uint32_t stack; /* bytes of it */
};

static inline uint32_t cp_detour_what(uint32_t site, unsigned units)
{
	return site | (uint32_t)units << CP_DETOUR_SITE_BITS;
}

static inline uint64_t cp_detour_table_offset(unsigned log)
{
	return CP_DETOUR_BUFFER + (UINT64_C(1) << log) + CP_DETOUR_SLACK;
}

#define CP_DETOUR_HASH 0x9e3779b1u /* 2^32 / golden ratio */
/* The number of the slot of a call with this stack pointer there. */
static inline uint32_t cp_detour_slot(uint64_t sp)
{
	return (uint32_t)sp * CP_DETOUR_HASH / (UINT32_MAX / CP_DETOUR_SLOTS + 1);
}

/* Who is called from where nobody is known to call from stops (detour.h). In the ring at
 * `zero`, whose buffer holds no records to speak of, is a byte for each hash of a return
 * address, or of that plus where it is: the mark of the one that is known, CP_DETOUR_ANY
 * where there are several; 0: none. */
#define CP_DETOUR_ANY 0xff
static inline uint64_t cp_detour_callers_offset(unsigned log)
{
	return CP_DETOUR_BUFFER + (UINT64_C(1) << (log - 1));
}

/* Its bytes are that many: each page of them has to be made, in each process. */
#define CP_DETOUR_CALLER_BITS 16
static inline unsigned cp_detour_caller_shift(unsigned log)
{
	return log - 1 < CP_DETOUR_CALLER_BITS ? 33 - log : 32 - CP_DETOUR_CALLER_BITS;
}

static inline uint32_t cp_detour_caller(uint64_t return_address, uint64_t sp, unsigned log)
{
	return (uint32_t)(return_address + sp) * CP_DETOUR_HASH >> cp_detour_caller_shift(log);
}

/* Bits of the hash that don't say where it is; never 0. */
#define CP_DETOUR_MARK_SHIFT 5
static inline uint8_t cp_detour_caller_mark(uint64_t return_address, uint64_t sp)
{
	return (uint8_t)((uint32_t)(return_address + sp) * CP_DETOUR_HASH >> CP_DETOUR_MARK_SHIFT |
			 1);
}

/* A sample of blocks, one about every so many bytes: there as well are, for each hash of an
 * address, how many blocks were chosen there and are live, up to
 * CP_DETOUR_MANY or a few more; and ways from one byte that chooses to the next. Who frees
 * counts down at once, for the address is used again before anybody reads of it; the reader,
 * who knows what was chosen, counts up again where it was none. */
#define CP_DETOUR_MANY 0xf0
#define CP_DETOUR_CHOSEN_BITS 17 /* its bytes are that many, at most: pages have to be made */
#define CP_DETOUR_WAYS 1024
static inline uint64_t cp_detour_chosen_offset(unsigned log)
{
	return CP_DETOUR_BUFFER + (UINT64_C(1) << (log - 2));
}

static inline unsigned cp_detour_chosen_shift(unsigned log)
{
	return log - 3 < CP_DETOUR_CHOSEN_BITS ? 35 - log : 32 - CP_DETOUR_CHOSEN_BITS;
}

static inline uint32_t cp_detour_chosen(uint64_t address, unsigned log)
{
	return (uint32_t)(address >> 4) * CP_DETOUR_HASH >> cp_detour_chosen_shift(log);
}

static inline uint64_t cp_detour_ways_offset(unsigned log)
{
	return cp_detour_chosen_offset(log) + (UINT64_C(1) << (log - 3));
}

/* Parts of stacks that are not the thread's own, where it records as on its own. Written by
 * the reader: one for each CP_DETOUR_PART bytes of memory, and for what is CP_DETOUR_STACKS
 * times as far away. */
#define CP_DETOUR_STACKS 4096
#define CP_DETOUR_PART_LOG 10
#define CP_DETOUR_PART (1u << CP_DETOUR_PART_LOG)
#define CP_DETOUR_PART_BITS 48
struct cp_detour_part {
	uint64_t
		at; /* where it begins; above CP_DETOUR_PART_BITS: how many bytes it has; 0: none */
	uint64_t end; /* what is from there to here can be copied */
};
static inline uint64_t cp_detour_stacks_offset(unsigned log)
{
	return cp_detour_table_offset(log) + CP_DETOUR_SLOTS * sizeof(uint64_t);
}

static inline uint32_t cp_detour_stack_slot(uint64_t sp)
{
	return (uint32_t)(sp >> CP_DETOUR_PART_LOG) % CP_DETOUR_STACKS;
}

/* Bytes of a ring, whole pages. */
static inline uint64_t cp_detour_ring_size(unsigned log)
{
	return cp_detour_stacks_offset(log) + CP_DETOUR_STACKS * sizeof(struct cp_detour_part);
}

#endif
