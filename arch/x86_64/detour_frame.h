/* SPDX-License-Identifier: MIT
 *
 * What a detour saves below the program's stack pointer, and what it finds there.
 */
#ifndef CP_ARCH_X86_64_DETOUR_FRAME_H
#define CP_ARCH_X86_64_DETOUR_FRAME_H

#include "arch/x86_64/detour_move.h"

/* DWARF's numbers. */
enum {
	CP_X86_RAX,
	CP_X86_RDX,
	CP_X86_RCX,
	CP_X86_RSI = 4,
	CP_X86_RDI,
	CP_X86_RSP = 7,
	CP_X86_PC = 16,
};
/* x86's number of one. */
uint8_t cp_x86_number(unsigned dwarf);

/* An instruction of one byte; *saved is where in the frame the register is. */
void cp_x86_push(struct cp_x86_emit *e, const char *insn, uint16_t *saved);
void cp_x86_pop(struct cp_x86_emit *e, const char *insn, uint16_t *saved);
/* rax, rcx, and flags, below the red zone. */
void cp_x86_save(struct cp_x86_emit *e);
void cp_x86_restore(struct cp_x86_emit *e);

/* While a record is made: rax is free between these. */
void cp_x86_keep_stamp(struct cp_x86_emit *e);
void cp_x86_take_stamp(struct cp_x86_emit *e);
/* What was pushed last is dropped. */
void cp_x86_drop(struct cp_x86_emit *e, uint16_t *saved);

/* op disp32(%rsp), which is `below` bytes below the program's sp (above: negative) */
void cp_x86_put_frame(struct cp_x86_emit *e, const void *bytes, size_t size, int32_t below);
#define FRAME(e, bytes, below) cp_x86_put_frame(e, bytes, sizeof(bytes) - 1, below)

/* A value that is no vector, as the program has it, into rax or rcx. */
enum { CP_X86_TO_RAX, CP_X86_TO_RCX };
void cp_x86_load_value(struct cp_x86_emit *e, const struct cp_detour_value *v, uint8_t to);
void cp_x86_load_register(struct cp_x86_emit *e, uint8_t reg, uint8_t to);

#endif
