/* SPDX-License-Identifier: MIT
 *
 * The heap, block by block, as far as the events were followed.
 */
#ifndef CP_REPORT_HEAP_H
#define CP_REPORT_HEAP_H

#include "base/map.h"
#include "base/vec.h"
#include "record/calls.h"
#include "report/profile/alike.h"
#include "report/profile/heapshots.h"
#include "report/profile/profile.h"

/* The values of an event of the heap, as the walk through calls tells it (spans.h). */
uint64_t cp_heap_size(const struct cp_record_call *call); /* 0: FREED */
uint64_t cp_heap_address(const struct cp_record_call *call);
uint64_t cp_heap_previous(const struct cp_record_call *call); /* MOVED; else 0 */
/* "alloc", "resize", "move" or "free". */
const char *cp_heap_event(const struct cp_record_call *call);

/* Does the profile's filter want to see it? */
bool cp_heap_shown(const struct cp_profile *p, uint32_t thread, uint32_t function,
		   const struct cp_record_call *call);

/* "+ 16 bytes at 0x...", "- 0x...". */
void cp_heap_text(const struct cp_record_call *call, struct cp_buf *out);

/* ---- blocks ---- */

/* How far estimates from a sample may be off: variances. */
struct cp_heap_doubt {
	double blocks, bytes;
};

/* The sums of a function, or of a stack. */
struct cp_heap_site {
	uint32_t function; /* that asked for it */
	uint32_t stack; /* CP_RECORD_NONE: of the function */
	uint32_t thread; /* CP_RECORD_NONE: of all threads */
	/* realloc() allocates anew, too, and replaces: allocated = freed + replaced + left */
	struct cp_heap_amount allocated, freed, replaced, left;
	struct cp_heap_amount live[2]; /* at the heapshots that are asked for */
	uint64_t moved, resized; /* of what was allocated: by realloc(); where it was before */
	struct cp_heap_doubt allocated_doubt, left_doubt; /* of a sample */
};

struct cp_heap_sites {
	struct cp_heap_site *items;
	size_t count, capacity;
};

struct cp_heap_block {
	uint64_t number; /* from 1, in the order of time */
	uint64_t size, ts_ns;
	struct cp_heap_amount weight; /* what it stands for: itself, or by a sample more */
	uint64_t address, previous; /* that it had before it was moved; 0 */
	uint32_t site, of_stack; /* numbers */
	uint32_t process; /* CP_RECORD_NONE: it is free */
	uint32_t thread, function, stack; /* that asked for it */
	bool counts; /* the profile's filter wants to see who allocated it */
};

/* What is known of a process. */
struct cp_heap_process {
	uint64_t in_use; /* bytes that it has now */
	uint64_t exec_ns; /* when its program is replaced next, if that was found */
	uint64_t copy_ns; /* up to when it is a copy of one that was watched, if that was found */
	bool exec_known, copy_known;
};

/* Whose a block was that was allocated lately. */
struct cp_heap_lately {
	uint32_t function; /* + 1; 0: nothing stands here */
	uint32_t stack, thread;
	uint32_t site, of_stack; /* numbers */
};

struct cp_heap {
	const struct cp_profile *p;
	bool by_thread; /* stacks are told apart by it */
	/* Told of each block that counts when it is no more; may be NULL. */
	void (*gone)(void *ctx, const struct cp_heap_block *b, uint64_t ts_ns);
	void *gone_ctx;
	uint64_t wanted[2]; /* numbers of heapshots for `live` of sites; 0: none */
	struct cp_heapshots shots;
	size_t shots_reached;
	struct cp_heap_sites sites, stacks;
	CP_VEC(struct cp_heap_block) blocks;
	CP_VEC(uint32_t) spare; /* numbers of blocks that are free */
	struct cp_interner keys;
	struct cp_alike alike; /* unless they are told apart by thread */
	struct cp_map by_function; /* -> number of a site */
	struct cp_heap_lately *lately; /* owned; NULL: none yet */
	struct cp_map live; /* process and address -> number of a block */
	struct cp_heap_amount allocated, freed, left, most;
	uint64_t last_number;
	CP_VEC(struct cp_heap_process) processes; /* by number */
	uint64_t held; /* by an allocator, of the kernel's memory, at most */
	uint64_t moved, resized;
	/* Freed or moved: allocated before anybody watched; by another process, whose copy
	 * this one began as. */
	uint64_t unknown, inherited;
	bool sampled; /* watching paused: what is left is not known */
	uint64_t every; /* it is a sample, one block about every so many bytes; 0: all of them */
	uint64_t chosen; /* blocks of the sample */
	struct cp_heap_doubt allocated_doubt, left_doubt;
	bool cut;
	uint64_t cut_ns; /* since then some are not told */
};

/* All events of the profile; the sites sorted, what is left first. `h` is the
 * caller's, zero but for by_thread, wanted and gone, to be deinitialized in any case. */
CP_ERROR cp_heap_build(const struct cp_profile *p, struct cp_heap *h);
/* All events likewise, and h->by_thread is set, for sums that the profile keeps (p->allocations):
 * sites and stacks in the order in which they came, and not what they were made of. */
CP_ERROR cp_heap_build_sums(const struct cp_profile *p, struct cp_heap *h);
/* Sorts sites, or stacks, of `h` or such as they are, as cp_heap_build() does. */
void cp_heap_sort(const struct cp_heap *h, struct cp_heap_site *sites, size_t count);
/* For qsort() of sites. */
int cp_heap_by_allocated(const void *a, const void *b);
void cp_heap_deinit(struct cp_heap *h);

/* "sampled, one block about every 512 KiB: estimates from 80 blocks, of the bytes give or
 * take 1.2 %, of the blocks 3.4 %"; nothing if it is no sample. */
void cp_heap_add_sampling(const struct cp_heap *h, struct cp_buf *out);
/* The standard error of a sample's `value`, of which `variance` is known, in % of it. */
double cp_heap_error(double variance, uint64_t value);
/* Of a sample that has none: so many bytes there were at most, in 19 of 20 cases. */
uint64_t cp_heap_unseen(const struct cp_heap *h);
/* "in pieces of the time, 12.3 % of it; between them it ran at full speed, and what it allocated
 * is not known" */
void cp_heap_add_watched(const struct cp_record *r, struct cp_buf *out);

/* For who walks the events himself (spans.h): h->p set, all else 0. */
CP_ERROR cp_heap_follow(struct cp_heap *h, uint32_t thread, uint32_t function,
			const struct cp_record_call *call);
/* Bytes that a process has allocated and not freed by now. */
uint64_t cp_heap_in_use(const struct cp_heap *h, uint32_t process);

#endif
