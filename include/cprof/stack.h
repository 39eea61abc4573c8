/* SPDX-License-Identifier: MIT
 *
 * cprof/stack.h - register contexts and stack snapshots.
 */
#ifndef CPROF_STACK_H
#define CPROF_STACK_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_arch {
	CPROF_ARCH_X86_64 = 62,
	CPROF_ARCH_AARCH64 = 183
} cprof_arch; /* e_machine */

/* Parts of a cprof_context that were captured. */
#define CPROF_CONTEXT_CONTROL UINT32_C(1) /* instruction, stack, frame pointer, flags */
#define CPROF_CONTEXT_INTEGER UINT32_C(2) /* all other general registers */
#define CPROF_CONTEXT_SEGMENTS UINT32_C(4) /* cs ss ds es fs gs, fs_base gs_base */
#define CPROF_CONTEXT_FLOATING UINT32_C(8) /* x87/SSE, or V registers: in `xstate`, too */
#define CPROF_CONTEXT_XSTATE UINT32_C(16) /* all vector state: the XSAVE area */

/* CPU state of one frame ("CONTEXT"). In the leaf frame of a stopped thread
 * every captured register is exact. Elsewhere trust only the bits set in
 * `valid`: what the unwind information recovered. */
typedef struct cprof_context {
	uint32_t size; /* sizeof(cprof_context) of the cprof that filled it in */
	uint32_t arch; /* cprof_arch */
	uint32_t parts; /* CPROF_CONTEXT_* */
	uint32_t reserved;
	uint64_t valid; /* bit n: general register with DWARF number n is known */
	union {
		struct {
			uint64_t rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp; /* DWARF 0-7 */
			uint64_t r8, r9, r10, r11, r12, r13, r14, r15; /* 8-15 */
			uint64_t rip; /* 16 */
			uint64_t rflags, orig_rax;
			uint64_t cs, ss, ds, es, fs, gs, fs_base, gs_base;
		} x86_64;
		struct {
			uint64_t x[31]; /* DWARF 0-30; x29 frame pointer, x30 link */
			uint64_t sp; /* 31 */
			uint64_t pc;
			uint64_t pstate, tpidr;
		} aarch64;
		uint64_t raw[40];
	} u;
	uint32_t xstate_size; /* bytes at `xstate` */
	uint32_t reserved2;
	const uint8_t *xstate; /* NULL unless captured [cb] */
} cprof_context;

/* Instruction pointer, stack pointer, frame pointer; 0 when not known. */
CPROF_API cprof_addr cprof_context_ip(const cprof_context *context);
CPROF_API cprof_addr cprof_context_sp(const cprof_context *context);
CPROF_API cprof_addr cprof_context_fp(const cprof_context *context);

/* A register by name ("rbx", "eflags", "fs_base", "xmm0", "st0", "x19"); false if there is none of
 * that name or it is not known. *size: in, bytes at `value`; out, bytes of the
 * register. NULL: 8 bytes, for general registers. */
CPROF_API bool cprof_context_get(const cprof_context *context, const char *name, void *value,
				 size_t *size);

/* The registers of a thread: of the event's thread as they were then, of another one as
 * they are now (it is stopped for that, and let go). context->parts tells which of
 * `parts` could be had; a thread that sleeps is not disturbed, and only its instruction
 * and stack pointer are valid. INVALID_TGT_THREAD, UNSAFE. context->xstate: only of the
 * event's thread. [cb] */
CPROF_API cprof_status cprof_thread_context(cprof_thread *thread, unsigned parts,
					    cprof_context *context);

typedef enum cprof_snapshot_flags {
	CPROF_SNAPSHOT_DEFAULT = 0, /* no register context */
	CPROF_SNAPSHOT_REGISTER_CONTEXT = 1, /* a register context for each frame */
	CPROF_SNAPSHOT_FRAME_POINTERS = 2, /* follow frame pointers only: can be wrong
						(CLR: COR_PRF_SNAPSHOT_X86_OPTIMIZED) */
	CPROF_SNAPSHOT_FLOATING = 4, /* also vector state of the leaf frame, where the
						capture has it (enable_vector_state) */
	CPROF_SNAPSHOT_INLINES = 8, /* report inlined calls as frames of their own */
	CPROF_SNAPSHOT_ALL_FRAMES = 16, /* report each frame of an unknown run; code without a
					   symbol is then named by its address */
	CPROF_SNAPSHOT_ADDRESSES = 32 /* look no function up: `function` is NULL for every
						frame, each is reported. For recorders, which name
						addresses later (cprof_assembly_symbolize) */
} cprof_snapshot_flags;

typedef enum cprof_walk {
	CPROF_WALK_CONTINUE = 0, /* S_OK */
	CPROF_WALK_ABORT = 1 /* S_FALSE */
} cprof_walk;

/* One call per known frame, leaf first, and one per run of unknown frames
 * (`function` NULL: code without a symbol). For a run, `context` is the state
 * of its most recently pushed frame. `ip` is the frame's instruction address
 * (a return address above the leaf); `context` is NULL unless asked for.
 * CLR: StackSnapshotCallback. `frame` and `context` are [cb]. */
typedef cprof_walk (*cprof_stack_snapshot_fn)(const cprof_function *function, cprof_addr ip,
					      const cprof_frame_info *frame, size_t context_size,
					      const cprof_context *context, void *client_data);

/* Walks the stack of `thread`. The thread of the event (cprof_current_thread()), a
 * sample or a call: as it was captured then (a call event: with
 * CPROF_CALL_INSTRUMENTATION_STACK or _HOLD, else UNSUPPORTED_CALL_SEQUENCE). Another
 * one: as it is now; it is stopped if it runs, read where it sleeps, and goes on before
 * `cb` is called. `seed`, if not NULL, replaces the registers as the start of the walk
 * and must point into known code (else UNMANAGED_CTX): e.g. for a fiber that is
 * switched out. The stack there is read now. Returns OK, ABORTED (the callback said
 * so), INVALID_TGT_THREAD (NULL: there is none of that number; or it has exited),
 * UNMANAGED_CTX, UNSAFE (it could not be stopped in a second), FAIL (not one frame),
 * UNEXPECTED (the seed's stack can't be read), INVALID_ARGUMENT (no `cb`, a seed of
 * another size or machine). A walk that did not reach the root is OK: ask
 * cprof_frame_info_is_truncated() of its last frame. A walk within `cb` is allowed.
 * CLR: DoStackSnapshot. */
CPROF_API cprof_status cprof_do_stack_snapshot(cprof_thread *thread, cprof_stack_snapshot_fn cb,
					       unsigned flags, void *client_data,
					       const cprof_context *seed, size_t seed_size);

/* A key of the stack of the event being delivered, a call's or a family's: where it is the
 * same, cprof_do_stack_snapshot() with CPROF_SNAPSHOT_ADDRESSES and without a seed tells the
 * same, so that what was made of it need not be made again; that takes a fraction of the time.
 * Another one may stand for the same stack, too. 0: none is to be had (samples, stacks with
 * code of no file, no stack). [cb] */
CPROF_API uint64_t cprof_current_stack_key(void);

/* What is known of a frame. Of one whose callback is over nothing is: 0, NULL, false,
 * "". */
CPROF_API cprof_addr cprof_frame_info_cfa(const cprof_frame_info *frame); /* 0: unknown */
CPROF_API const cprof_image *cprof_frame_info_image(const cprof_frame_info *frame); /* NULL: none */
/* Link-time address in the image of the instruction the frame is at: for
 * return addresses stepped back into the call. Without an image: run-time. */
CPROF_API uint64_t cprof_frame_info_address(const cprof_frame_info *frame);
CPROF_API bool cprof_frame_info_is_inlined(const cprof_frame_info *frame);
CPROF_API bool cprof_frame_info_is_signal(const cprof_frame_info *frame); /* signal trampoline */
CPROF_API bool cprof_frame_info_is_guessed(
	const cprof_frame_info *frame); /* not from unwind info */
CPROF_API bool cprof_frame_info_is_truncated(
	const cprof_frame_info *frame); /* last one, not the root */
/* Demangled name, also of an inlined function; NULL: unknown. Only with
 * ADDRESSES not given. [cb] */
CPROF_API const char *cprof_frame_info_name(const cprof_frame_info *frame);
/* Source file, NULL when unknown. [cb] */
CPROF_API const char *cprof_frame_info_source(const cprof_frame_info *frame, uint32_t *line);
/* How the frame's caller was found: "cfi", "signal", "code", "call", "fp", "scan", "root". */
CPROF_API const char *cprof_frame_info_unwinder(const cprof_frame_info *frame);
/* Frames in the run of unknown ones; 1 for a known frame. */
CPROF_API uint32_t cprof_frame_info_run_length(const cprof_frame_info *frame);

#ifdef __cplusplus
}
#endif
#endif
