/* SPDX-License-Identifier: MIT
 *
 * Code in the program that makes a system call for the rest of a transfer, or of
 * a time limit, and goes on behind the first call as if that had done it all.
 *
 *     entry ─► system call ─► done + what the rest came to ─► arguments as they
 *              for the rest   (a transfer's failure: 0)       were ─► ret
 *
 * Where the call comes to -EINTR and no signal was delivered, another thread took the
 * one that ended it: the thread sends itself one that the program ignores, so that its
 * tracer hears of it and has the call made again. Where there is none, nothing comes.
 *
 * It needs no stack and no register but those that a system call changes anyway.
 * Code and record of a slot never move, and the code never changes, so that it
 * can be left alone for ever.
 */
#ifndef CP_ARCH_FINISH_H
#define CP_ARCH_FINISH_H

#include "arch/arch.h"

#define CP_FINISH_CODE 160 /* bytes of a slot's code, at most */

/* The record that a slot's code reads, near it in the program's memory. */
struct cp_finish_record {
	uint64_t busy; /* cleared by the code when it needs nothing of this any more */
	uint64_t done; /* before the rest */
	uint64_t mask; /* of a result that is not above 0: 0, it counts as nothing; ~0, as it is */
	uint64_t ret; /* address behind the first call */
	int64_t nr; /* of the call */
	uint64_t tell; /* the signal that tells of -EINTR; 0: nobody is told */
	/* Not read by the code. */
	int64_t early; /* the result of a thread that is taken out before the call */
	uint64_t deadline_ns; /* of a call with a time limit, or 0 */
	uint64_t sp;
	uint64_t args[6]; /* of the first call; put back */
};

/* The code, to be entered at its beginning, where its system call is. It lies at
 * `at`, its record at `record`. Bytes written to `to` (CP_FINISH_CODE of room);
 * 0: there is no such code for the ISA, or the record is too far away. */
size_t cp_finish_code(const struct cp_arch *arch, uint64_t at, uint64_t record, uint8_t *to);

/* A thread is `offset` bytes into the code, `regs` are its registers. */
/* Has it just made its call? The result is in *result_ret. */
bool cp_finish_called(const struct cp_arch *arch, unsigned offset, const struct cp_regs *regs,
		      int64_t *result_ret);
/* Has it just told of -EINTR? */
bool cp_finish_told(const struct cp_arch *arch, unsigned offset);
/* Registers as if it had gone through the rest of the code, without the call if
 * that was not yet made. */
void cp_finish_leave(const struct cp_arch *arch, unsigned offset,
		     const struct cp_finish_record *record, struct cp_regs *regs);

#endif
