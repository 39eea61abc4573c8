/* SPDX-License-Identifier: MIT
 *
 * Instructions: where they go, and how one is executed somewhere else. Pure:
 * compiled and tested on every host.
 *
 * A breakpoint replaces the first byte of an instruction for as long as it is
 * armed. A thread that trapped goes on through its slot: a few bytes of code
 * near by that do what the instruction does and then jump behind it.
 *
 *      site:  int3 ─ ─ ─ trap ─ ─ ─►  slot:  sub $0x18,%rsp
 *      next:  mov …        ◄─────────────────jmp next
 *
 * A slot is complete by itself, so a thread finds its way without us: when
 * cprof is killed, a handler in the program sends threads to the slots.
 */
#ifndef CP_ARCH_INSN_H
#define CP_ARCH_INSN_H

#include "arch/decoder.h"
#include "base/types.h"

enum cp_flow {
	CP_FLOW_ON, /* to the next instruction */
	CP_FLOW_RETURN,
	CP_FLOW_JUMP, /* direct: to `target` */
	CP_FLOW_BRANCH, /* conditional: `target` or the next one */
	CP_FLOW_JUMP_INDIRECT,
	CP_FLOW_CALL, /* direct */
	CP_FLOW_CALL_INDIRECT,
	CP_FLOW_SYSCALL,
	CP_FLOW_END, /* ud2, hlt, int3: nothing follows */
};

struct cp_insn {
	uint64_t pc;
	uint64_t target; /* of JUMP, BRANCH, CALL; else 0 */
	uint8_t size;
	uint8_t flow; /* enum cp_flow */
	bool landing_pad; /* endbr64, bti: where indirect jumps land; does nothing */
	bool nop; /* padding between functions */
	bool compares; /* and exchanges, atomically: takes a lock that is free */
};

/* The instruction at the start of `code` (`size` bytes are there), which is
 * at `pc`. False: none, or one that is cut off. */
bool cp_decode(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
	       struct cp_insn *ret);

/* A bounded jump table behind an indirect jump, as compilers make them for
 * switch: `cmp $n,%reg; ja default; ...; jmp *table(,%reg,8)` or its relative
 * form. Looks at the instructions from `start` up to the jump at `pc`. True
 * when all it can jump to was found: up to `max` addresses go to `targets`,
 * *count_ret is how many there are (more than `max`: unknown, false).
 * `memory` reads the table, at link-time addresses. */
bool cp_jump_table(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t start,
		   uint64_t pc, const struct cp_reader *memory, uint64_t *targets, size_t max,
		   size_t *count_ret);

/* The effect of an instruction on addresses of functions that are kept in memory at
 * a fixed place, a slot, as far as calls through it are to be found. General
 * registers by DWARF number. */
#define CP_MOVES_NONE 0xff
struct cp_moves {
	uint16_t written; /* registers that don't keep what they hold; by a call, what it need
			     not preserve */
	uint8_t to; /* NONE: a call or a jump, or nothing of the kind */
	uint8_t from; /* `to` gets what is in that register, or the way leads there */
	uint64_t slot; /* the same of what is kept at an address; 0: not so */
};
/* The instruction at the start of `code`. Where nothing is known all is written. */
void cp_decode_moves(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
		     struct cp_moves *ret);

/* ---- displaced stepping ---- */

#define CP_SLOT_SIZE 48 /* bytes of a slot, whatever the instruction */
#define CP_TRAP_MAX 4

enum cp_step_how {
	CP_STEP_REFUSED, /* no breakpoint can stand here */
	CP_STEP_FREE, /* what follows the trap's bytes does nothing: just go on (endbr64) */
	CP_STEP_SLOT, /* go on in the slot */
};

/* An instruction with a breakpoint on it, as far as it is known: enough to send a
 * thread on, to tell where it will go, and to say where it really is while it
 * is in the slot. Plain data: the controller makes it, the tracer uses it. */
struct cp_step {
	uint8_t how; /* enum cp_step_how */
	uint8_t flow; /* enum cp_flow */
	uint8_t size; /* of the instruction */
	uint8_t slot_size; /* bytes used of the slot */
	uint8_t done; /* offset in the slot from which on the instruction has been executed:
			 a thread there is really at `resume`. 0: when it has left the slot */
	uint8_t condition; /* BRANCH: the ISA's condition code */
	uint8_t base, index; /* JUMP_INDIRECT, CALL_INDIRECT: DWARF registers, 0xff none;
				base 16 (pc) means the next instruction's address */
	uint8_t scale; /* of index */
	bool indirect_memory; /* the target is in memory at base + index * scale + disp; else it
				 is in register `base` */
	uint8_t trap_size; /* bytes of the breakpoint instruction: 1 on x86-64 */
	uint8_t sigcall; /* not 0: the slot is of a call about signals, see below */
	int32_t disp;
	uint64_t resume; /* address of the next instruction */
	uint64_t target; /* JUMP, BRANCH, CALL */
};

/* Prepares a breakpoint on the instruction at `pc` with its slot at `slot`:
 * fills `slot_code` (CP_SLOT_SIZE bytes) and *ret. False, with ret->how
 * REFUSED: the instruction can't be executed from there (too far away for its
 * operands, or one that depends on its place). */
bool cp_step_prepare(struct cp_decoder *decoder, const uint8_t *code, size_t size, uint64_t pc,
		     uint64_t slot, uint8_t *slot_code, struct cp_step *ret);

/* Offset in the slot of another breakpoint instruction, behind which the thread
 * goes on at the slot's beginning: a detour that costs nothing but the stop.
 * 0: the slot has no room for it. */
unsigned cp_step_detour(const struct cp_step *step);
/* The offset of the detour in a slot as it is in memory (CP_SLOT_SIZE bytes); 0 also
 * when the breakpoint is not there any more. */
unsigned cp_slot_detour(const struct cp_arch *arch, const uint8_t *slot_code);
/* An instruction that does nothing, as long as the breakpoint instruction. */
const uint8_t *cp_nop_code(const struct cp_arch *arch, size_t *size_ret);

/* Breakpoints, one after the other, over `size` bytes. */
void cp_trap_fill(const struct cp_arch *arch, uint8_t *code, size_t size);
/* The breakpoint instruction (CP_TRAP_MAX bytes at most). */
const uint8_t *cp_trap_code(const struct cp_arch *arch, size_t *size_ret);

/* The address to which the instruction of `step` will go, by the registers of the thread
 * that is about to execute it (`regs` in DWARF order, `flags` its condition
 * flags). `read` reads its memory. 0: can't be told. */
uint64_t cp_step_destination(const struct cp_step *step, const struct cp_regs *regs, uint64_t flags,
			     const struct cp_reader *read);

/* Where a thread at `pc` inside the slot at `slot` really is, or rather shall
 * be said to be: `site` before the instruction was executed, behind it
 * afterwards. A slot that needs several instructions to do one (a call) may
 * have to be finished by hand: then *regs is changed so, memory written
 * through `write` (returns false: could not), and the answer is where it
 * leads. */
uint64_t cp_step_unslot(const struct cp_step *step, uint64_t site, uint64_t slot, uint64_t pc,
			struct cp_regs *regs,
			bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size),
			void *ctx);

/* ---- the handler in the program (x86-64: arch/x86_64/handler.c) ---- */

/* Slots of a process live in areas, each one mapping: this header, then the
 * table of its sites sorted by address, then (first area of a process) the
 * handler's code, then slots. Found again by its magic after we were killed. */
#define CP_AREA_MAGIC UINT64_C(0x31746f6c73707263) /* "crpslot1" */
#define CP_AREA_HEAD 4096u /* bytes before the table: */
#define CP_AREA_HANDLER 256u /* where the handler's code is */
#define CP_AREA_SIGCALL 2048u /* that of calls about signals; in each area */
struct cp_area_header {
	uint64_t magic;
	uint64_t size; /* of the mapping */
	uint64_t next; /* address of the next area, 0 none; written last */
	uint64_t count; /* entries in the table */
	uint64_t table; /* its address */
	uint64_t slots; /* address of slot 0 */
	uint64_t handler; /* address of the handler, 0: not in this area */
	uint64_t old_handler, old_flags, old_restorer,
		old_mask; /* the program's own, for chaining */
	uint64_t left_ns; /* when it was left for good, CLOCK_MONOTONIC; 0: in use */
	uint64_t installed; /* 1: the kernel has the handler of this area, and needs it */
	uint64_t empty; /* 1: nobody was in it any more when it was left */
	uint64_t over_ns; /* when another one had taken all of it out, after a kill; 0: not yet */
};
struct cp_area_entry {
	uint64_t site;
	uint32_t slot; /* number of its slot in the area, and CP_AREA_*: see below */
	uint8_t original[CP_TRAP_MAX]; /* bytes under the breakpoint */
};

/* Position-independent code of a SIGTRAP handler (SA_SIGINFO): when the trap
 * is one of ours (si_code SI_KERNEL or TRAP_BRKPT and the address before pc is in the
 * table of an area) it sets pc to the slot; a pc inside an area is left alone;
 * everything else goes to the program's own handler, or ends the program as
 * the signal would have. To be installed with SA_SIGINFO, SA_NODEFER (signal
 * handlers that run on top of it may trap), SA_RESTORER, SA_ONSTACK (the frame is
 * moved for a handler of the program's without), the old SA_RESTART, and a mask
 * without SIGTRAP. `*area_offset_ret` is the offset in the blob of
 * a 64-bit word to be set to the address of the first area. NULL: none. */
const uint8_t *cp_trap_handler(const struct cp_arch *arch, size_t *size_ret,
			       size_t *entry_offset_ret, size_t *restorer_offset_ret,
			       size_t *area_offset_ret);

/* ---- calls about signals (x86-64: arch/x86_64/sigcall.c) ---- */

/* A breakpoint that is hit where SIGTRAP is blocked makes the kernel take its
 * handler away, and without a tracer that is the end of the program. So while
 * there are breakpoints SIGTRAP is blocked in no thread: another signal that
 * nobody sends is blocked in its place. The kernel keeps that for each thread,
 * hands it on to new ones and keeps it in signal frames, whatever becomes of us.
 * Where a C library asks the kernel to block signals, or sets what is blocked in
 * a handler, code of ours is in between. */
#define CP_SIGTRAP_STAND_IN (UINT64_C(1) << 15) /* SIGSTKFLT */
/* Where the kernel writes the mask that a handler interrupted (x86-64), behind the address that
 * the handler returns to, which the frame begins with. */
#define CP_SIGNAL_FRAME_MASK 304

#define CP_SIGCALL_BETWEEN 8 /* bytes, at most, between a site and its system call */
#define CP_SIGCALL_SIZE 16 /* of code that is to be looked at */
#define CP_AREA_JUMP (UINT32_C(1) << 31) /* there may be a jump at this site */
/* For detours: a jump may be there, and what was there before is in the last bytes of the
 * slot (link/sites.h); or nothing of ours is there that has to be taken out. */
#define CP_AREA_WINDOW (UINT32_C(1) << 30)
#define CP_AREA_LANDING (UINT32_C(1) << 29)
#define CP_AREA_STILL (UINT32_C(1) << 28) /* of a window: only while nobody runs */
#define CP_AREA_SLOT (CP_AREA_STILL - 1)
#define CP_SIGCALL_JUMP 5 /* bytes of the jump; as many as the instruction there has */
struct cp_sigcall {
	bool sets_action; /* rt_sigaction, else rt_sigprocmask */
	uint8_t between, size; /* bytes, of all of it */
};
/* The offset at which such a call may be, or `size`. */
size_t cp_sigcall_find(const uint8_t *code, size_t size);
/* Does the code begin with the loading of such a call's number, and the call behind it? */
bool cp_sigcall_at(const uint8_t *code, size_t size, struct cp_sigcall *ret);
/* Prepares the slot of such a call, as cp_step_prepare() does. The slot is in `area`. */
bool cp_sigcall_prepare(const struct cp_sigcall *call, const uint8_t *code, uint64_t pc,
			uint64_t slot, uint64_t area, uint8_t *slot_code, struct cp_step *ret);
/* The jump that takes the place of the instruction; false: it is too far. */
bool cp_sigcall_jump(uint64_t site, uint64_t slot, uint8_t jump[CP_SIGCALL_JUMP]);
/* The code that slots of such calls call, to be placed at CP_AREA_SIGCALL, with the
 * address of the first area written at *area_ret. NULL: none for this ISA. */
const uint8_t *cp_sigcall_code(const struct cp_arch *arch, size_t *size_ret, size_t *area_ret);
/* A mask of the kernel's as the program has it. */
uint64_t cp_sigmask_seen(uint64_t mask);
/* A thread at offset `at` of that code: what is left to do is done, and registers
 * are as they were before the slot. The address in the slot to which it would have
 * returned; 0: not known. *done_ret: the call was made. */
uint64_t cp_sigcall_return(uint64_t at, struct cp_regs *regs, const struct cp_reader *memory,
			   bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size),
			   bool *done_ret);

#endif
