/* SPDX-License-Identifier: MIT
 *
 * Instructions that write a record into the ring. rax, rcx, rdx are free for it.
 */
#ifndef CP_ARCH_X86_64_DETOUR_RING_H
#define CP_ARCH_X86_64_DETOUR_RING_H

#include "arch/x86_64/detour_move.h"

#define CP_X86_RED_ZONE 128
/* What a detour has pushed where it writes a record: the red zone, rax, flags, rcx, rdx. */
#define CP_X86_RECORD_PUSHED (CP_X86_RED_ZONE + 4 * 8)

/* The number of a stack pointer's slot in the table of accepted calls; it is in rax,
 * the number goes to rcx. */
void cp_x86_put_hash(struct cp_x86_emit *e);
/* That table, by gs; in the ring at `zero` also without. */
uint32_t cp_x86_table_at(const struct cp_detour_rings *rings);
/* The time stamp counter into rax. */
void cp_x86_put_time(struct cp_x86_emit *e);
/* rax becomes what a record's first word holds, but for the tag. */
void cp_x86_put_stamp(struct cp_x86_emit *e);
/* `units` are reserved, and what the copy of the stack takes if there is one: position in
 * rcx, then turn in rcx and index in rdx, then the tag in ax. The time stamp is in rax,
 * shifted. */
void cp_x86_put_reserve(struct cp_x86_emit *e, const struct cp_detour_rings *rings, unsigned units);
/* Of an offset in the record, what is added to gs:rdx. */
uint32_t cp_x86_buffer_at(const struct cp_detour_rings *rings, size_t offset);
/* 32 bits at an offset in the record; site and size are such. */
void cp_x86_put_half(struct cp_x86_emit *e, const struct cp_detour_rings *rings, size_t offset,
		     uint32_t value);
void cp_x86_put_what(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint32_t what);
/* Of a long record with `units` and perhaps a copy of the stack; rcx is free. */
void cp_x86_put_long(struct cp_x86_emit *e, const struct cp_detour_rings *rings, unsigned units);
/* Of `units` reserved, what is not in use (place.used) is given back, if nothing else was
 * reserved since; the record's head, or what is behind it, says how many. rcx is free. */
void cp_x86_give_back(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint32_t site,
		      unsigned units, bool is_long);
void cp_x86_put_commit(struct cp_x86_emit *e, const struct cp_detour_rings *rings);

#endif
