/* SPDX-License-Identifier: MIT
 *
 * The code of detours in a space: what it is made from, so that a thread in it is led
 * to where it would be in the program.
 */
#ifndef CP_TRACER_DETOURS_H
#define CP_TRACER_DETOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/detour.h"

struct code_batch;
struct cp_code_batch;
struct space;
struct thread;

/* What one request brought; shared by processes that were forked. Its detours, and countings
 * behind those, of as many as `head` says, are copied. NULL: they make no sense, or without
 * memory. */
struct code_batch *detours_create(const struct cp_code_batch *head, const void *detours);
void detours_release(struct code_batch *batch);
/* Is all of that memory in chunks of the space? */
bool detours_in_chunks(const struct space *space, uint64_t at, uint64_t size);
/* All that the batch says is in chunks of the space. */
bool detours_fit(const struct space *space, const struct code_batch *batch);
/* The space has it from now on; false: without memory. */
bool detours_keep(struct space *space, struct code_batch *batch);
/* A forked space's; false: without memory. */
bool detours_share(struct space *to, const struct space *from);
void detours_forget(struct space *space);
/* The code of the program that they are for was unmapped. */
void detours_forget_range(struct space *space, uint64_t start, uint64_t size);

/* A thread with these registers and flags is in a detour, or in a jump that leads to one:
 * they become those that it has in the program. False: it is in none. */
struct detours_left {
	const struct cp_detour
		*detour; /* that it was in; NULL: in a jump, a slot, or one that counts */
	struct cp_detour_left slow, record;
};
bool detours_leave(const struct space *space, struct cp_regs *regs, uint64_t *flags,
		   struct detours_left *ret);
/* The same of a copy of registers. */
bool detours_hide(const struct space *space, void *prstatus);
/* The same of a stopped thread, and what its ring has of the record in the making is made
 * good. */
bool detours_lead_out(struct thread *t);
/* Unless it may not be where that leads. */
bool detours_lead_out_unless(struct thread *t, bool (*bad)(const void *ctx, uint64_t pc),
			     const void *ctx);
/* The record that the detour makes before the instruction at `pc` of the program; NULL:
 * none. */
const struct cp_detour_record *detours_record_at(const struct detours_left *left, uint64_t pc);
void detours_settle(const struct thread *t, const struct detours_left *left);
/* Is there a detour that records, or what those share, at an address of code? */
bool detours_record_there(const struct space *space, uint64_t pc);
/* A thread that followed a pointer for a record had a fault: where it goes on; 0: it was
 * not that. */
uint64_t detours_behind_fault(const struct space *space, uint64_t pc);
/* Ends the copy of a stack at which the thread had a fault, in its registers; false: it
 * makes none. */
bool detours_end_copy(const struct thread *t, void *prstatus);

#endif
