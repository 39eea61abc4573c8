/* SPDX-License-Identifier: MIT
 *
 * Everything cprof knows about an instruction set goes through this header;
 * no other room has an `#if` on one.
 *
 * To add an ISA: a folder arch/<isa>/ with a `const struct cp_arch` (pure
 * data and pure functions, compiled and unit-tested on every host), and a
 * file <isa>_host.c, compiled only there, with the functions under "host".
 */
#ifndef CP_ARCH_H
#define CP_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_REG_MAX 33

#define CP_USES_GOES 1u /* calls or jumps to what is kept there */
#define CP_USES_LOADS 2u /* into a register */

/* General registers by DWARF number, with the instruction pointer at
 * cp_arch.pc. Bit n of `known` tells that r[n] holds what the register held;
 * without it r[n] means nothing. */
struct cp_regs {
	uint64_t known;
	uint64_t r[CP_REG_MAX];
};

struct cp_arch {
	const char *name; /* "x86_64" */
	uint16_t e_machine; /* EM_* */
	uint8_t nregs; /* used entries of cp_regs.r */
	uint8_t pc, sp, fp; /* their numbers */
	uint8_t ret_size; /* bytes a call pushes: 8, or 0 with a link register */
	uint8_t lr; /* where a call leaves the return address if ret_size is 0 */
	uint8_t args[6]; /* where the first arguments of a call are */
	uint8_t result; /* where it leaves an integer or a pointer */
	uint16_t ucontext_sp; /* where a ucontext_t keeps sp */
	/* How far from its place an instruction's relative operand may lead, with some to
	 * spare; and the end of the addresses that programs may have. */
	uint64_t reach, user_end;
	uint64_t code_mask; /* bits of a code address that count: no authentication code */
	/* The places of registers in the kernel's signal frame: bytes above sp
	 * when the signal return trampoline runs. */
	const int16_t *sigframe;
	uint64_t callee_saved; /* registers a call preserves by the ABI, sp and pc too */
	uint32_t red_zone; /* live bytes below sp */
	const char *const *reg_names; /* nregs of them */
	/* The rest of the kernel's register set, in the order of cprof_context's
	 * words behind the registers (cprof/stack.h); ends with NULL. */
	const char *const *other_names;
	/* A frame in libgcc's struct _Unwind_Context: what it keeps, and where; size 0: not
	 * known. The first members are pointers to where registers are kept. */
	struct cp_arch_unwind_context {
		uint16_t size;
		uint16_t exception, selector; /* pointers to what a landing pad is given */
		uint16_t sp, pc; /* of the frame, at the call */
		uint16_t lsda, function;
	} unwind_context;

	/* True when the bytes before a return address (the last of `size`
	 * bytes at `code` is the one before it) end in a call instruction.
	 * A direct call's target, given the return address, goes to
	 * *target_ret, 0 for an indirect one. */
	bool (*call_before)(const uint8_t *code, size_t size, uint64_t ret_addr,
			    uint64_t *target_ret);
	/* True when the code at `pc` is a stub that jumps to an address kept
	 * in memory, as a PLT has them; *slot_ret is where it is kept. */
	bool (*jump_slot)(const uint8_t *code, size_t size, uint64_t pc, uint64_t *slot_ret);
	/* Finds what in the code at `pc` may be about memory at a fixed address from
	 * `low` up to `end`: CP_USES_*. A glance, which takes other bytes for
	 * instructions, too. NULL: not known. */
	unsigned (*uses_slots)(const uint8_t *code, size_t size, uint64_t pc, uint64_t low,
			       uint64_t end);
	/* True when somewhere in the code at `pc` there is a direct jump to
	 * `target`: a function that ends by calling another. */
	bool (*jumps_to)(const uint8_t *code, size_t size, uint64_t pc, uint64_t target);
	/* The address of main(), where the code at `pc`, with which a program begins,
	 * hands it to the C library as the first argument of a call; 0: it doesn't.
	 * NULL: not known how it would. */
	uint64_t (*start_main)(const uint8_t *code, size_t size, uint64_t pc);
	/* True when the code at pc is the kernel's signal return trampoline. */
	bool (*is_sigreturn)(const uint8_t *code, size_t size);
	/* True when a function with that code does no more before it makes system
	 * call munmap than to load its number: the arguments are its own. */
	bool (*is_munmap)(const uint8_t *code, size_t size);
};

extern const struct cp_arch cp_arch_x86_64;
extern const struct cp_arch cp_arch_aarch64;

/* ---- decoding (decode.c); with a decoder of arch/decoder.h, or NULL: nothing is known
 * ---- */

struct cp_decoder;

/* How many bytes below its return address a function's stack pointer is, at
 * least, when it runs at `pc`: what the code from `start` on, up to the first
 * jump or call, takes off it. 0 also when that is not understood. */
uint64_t cp_arch_frame_depth(struct cp_decoder *decoder, const uint8_t *code, size_t size,
			     uint64_t start, uint64_t pc);

/* The registers of arguments, and what became of them where a function that sets up its
 * frame got to: some hold what they held, of some that was stored in memory, of the
 * others nothing can be told. */
struct cp_arch_arguments {
	uint64_t kept, stored; /* general registers, by DWARF number */
	uint32_t vectors_kept, vectors_stored;
};
/* The code from `start`, a function's entry, to `pc`, without jumps. */
struct cp_arch_arguments cp_arch_follow_arguments(struct cp_decoder *decoder, const uint8_t *code,
						  size_t size, uint64_t start, uint64_t pc);

/* ---- host: the ISA this cprof runs on ---- */

/* The ISA of this build. */
const struct cp_arch *cp_arch_host(void);

/* Is the base 0 by which the calling thread's detours find its ring (arch/detour.h)? Another
 * profiler's may have set it, or who uses it for something else. */
bool cp_arch_ring_base_is_0(void);

/* Bytes of the kernel's NT_PRSTATUS register set. */
size_t cp_arch_prstatus_size(void);
/* All of it into DWARF order, everything known. */
void cp_arch_regs_from_prstatus(const void *prstatus, struct cp_regs *ret);
/* The registers that perf_event_open() is asked for with a sample (sample_regs_user),
 * and those values, in the order of their bits, as a register set; what is not among
 * them is 0, and no system call is being returned from. */
uint64_t cp_arch_perf_regs(void);
void cp_arch_prstatus_from_perf(const uint64_t *values, void *prstatus);
/* The values of other_names; false when they are more than `room`. */
bool cp_arch_other_regs(const void *prstatus, uint64_t *ret, size_t room);
/* Note type (NT_*) of the vector and floating-point register set. */
int cp_arch_vector_note(void);
/* The place of a register in that set, by name; false: it has none of that name. */
bool cp_arch_vector_register(const char *name, size_t *offset_ret, size_t *size_ret);
/* Thread pointer (fs_base, tpidr) of a register set; 0 when not part of it. */
uint64_t cp_arch_thread_pointer(const void *prstatus);

/* What a thread that stopped was doing, as far as restarts go. */
struct cp_syscall_state {
	int64_t nr; /* system call it is returning from, or -1 */
	int64_t result; /* its result register */
	uint64_t pc, sp;
};
void cp_arch_syscall_state(const void *prstatus, struct cp_syscall_state *ret);
/* Rewrites the set so that the thread issues system call `nr` again, as if
 * it had never returned; and back: result and pc as after the call. */
void cp_arch_syscall_rewind(void *prstatus, int64_t nr);
void cp_arch_syscall_unrewind(void *prstatus, int64_t result);
/* The call is over: the next stop does not say any more that the thread returns
 * from it. */
void cp_arch_syscall_over(void *prstatus);
/* The arguments of the call that it makes, or is returning from. */
void cp_arch_syscall_args(const void *prstatus, uint64_t ret[6]);

/* Back: the set with the general registers of `regs`; the rest stays. */
void cp_arch_regs_to_prstatus(const struct cp_regs *regs, void *prstatus);
void cp_arch_set_pc(void *prstatus, uint64_t pc);
/* Where PTRACE_POKEUSER writes the pc alone; -1: nowhere. */
long cp_arch_pc_in_user(void);
/* Condition flags. */
uint64_t cp_arch_flags(const void *prstatus);
void cp_arch_set_flags(void *prstatus, uint64_t flags);
/* What a thread finds its ring of records by (arch/detour.h): the base of gs. */
uint64_t cp_arch_ring_base(const void *prstatus);
void cp_arch_set_ring_base(void *prstatus, uint64_t base);
/* The counter that records are stamped with. */
uint64_t cp_arch_time_stamp(void);
/* Does what the instruction that reads it would have done, of a thread for which that is
 * forbidden (PR_SET_TSC, strict seccomp). False: `code`, of 2 bytes, is another one. */
bool cp_arch_serve_time_stamp(void *prstatus, const uint8_t *code);

/* The instruction that makes a system call, and a register set that makes
 * system call `nr` when it runs at such an instruction at `pc`. */
const uint8_t *cp_arch_syscall_code(size_t *size_ret);
void cp_arch_syscall_make(void *prstatus, uint64_t pc, int64_t nr, const uint64_t args[6]);

/* A signal frame as the kernel makes it: a thread that returns (`ret`) with sp
 * at the frame, into the signal return code at `restorer`, goes on with these
 * registers and this signal mask, and starts the system call again that it was
 * interrupted in. `xstate` is what NT_X86_XSTATE (cp_arch_vector_note()) gives.
 * The frame ends below `top`; *sp_ret is its address. Its bytes go to `frame`,
 * `room` of them; returns how many, 0 when there is too little room. */
size_t cp_arch_signal_frame(const void *prstatus, const void *xstate, size_t xstate_size,
			    uint64_t mask, uint64_t restorer, uint64_t top, uint8_t *frame,
			    size_t room, uint64_t *sp_ret);
void cp_arch_set_sp(void *prstatus, uint64_t sp);
/* The bytes of a system call with a return behind it, and of the C libraries'
 * signal return code (n from 0; NULL: no more). */
const uint8_t *cp_arch_syscall_return_code(size_t *size_ret);
const uint8_t *cp_arch_sigreturn_code(unsigned n, size_t *size_ret);

/* Note type of the register set that floating-point values are passed in,
 * room for it, and those values out of `size` bytes of it: low halves of the
 * vector registers, and those of an older unit, if there is one (10 bytes each). */
#define CP_ARCH_FP_MAX 1024
#define CP_ARCH_VECTORS 16
int cp_arch_fp_note(void);
void cp_arch_fp_values(const void *fp, size_t size, uint8_t vector[CP_ARCH_VECTORS][16],
		       uint8_t x87[2][16]);

#endif
