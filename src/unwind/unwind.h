/* SPDX-License-Identifier: MIT
 *
 * Captures into frames. A capture is what the tracer copied of a thread: its
 * registers (or only pc and sp of a blocked one) and a piece of its stack.
 * The walk needs the process's code and unwind data beside it, through a
 * space: the mappings of one address space, with call frame information
 * compiled lazily into sorted rows, one table an ELF object.
 */
#ifndef CP_UNWIND_H
#define CP_UNWIND_H

#include <sys/types.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/types.h"

/* The means by which a frame's caller was found. */
enum cp_unwind_by {
	CP_UNWIND_BY_NOTHING, /* the outermost frame: no caller */
	CP_UNWIND_BY_CFI,
	CP_UNWIND_BY_SIGFRAME, /* the kernel's signal frame, behind a trampoline without CFI */
	CP_UNWIND_BY_CODE, /* no CFI: what the code does on its way to its return */
	CP_UNWIND_BY_CALL, /* leaf without CFI that was just called: return address at sp */
	CP_UNWIND_BY_FP, /* validated frame pointer: guessed */
	CP_UNWIND_BY_SCAN, /* validated return address found on the stack: guessed */
};

/* Why a walk ended. */
enum cp_unwind_end {
	CP_UNWIND_END_ROOT, /* CFI says there is no caller, or thread start reached */
	CP_UNWIND_END_MAX, /* `max` frames */
	CP_UNWIND_END_CUT, /* the stack copy ended before the stack did */
	CP_UNWIND_END_NO_INFO, /* no rule for this pc, and no guess held */
	CP_UNWIND_END_BAD, /* memory, registers or CFI that make no sense */
	CP_UNWIND_END_UNMAPPED, /* the caller's pc is in no executable mapping (that frame is
				 * left out): the mapping list is old, or the stack broken */
};

#define CP_FRAME_SIGNAL 1u /* the kernel's signal trampoline: the frame above it was interrupted */
#define CP_FRAME_GUESSED 2u /* found by FP or SCAN, or above (outside of) one that was */
#define CP_FRAME_EXACT_PC \
	4u /* pc is of an instruction about to run (leaf, or
				interrupted by a signal), not a return address */

struct cp_frame {
	struct cp_addr pc;
	struct cp_addr cfa; /* canonical frame address; 0 when unknown */
	enum cp_unwind_by by; /* how this frame's caller was found */
	unsigned flags; /* CP_FRAME_* */
	struct cp_regs regs; /* at pc; only `known` ones are claimed */
};

struct cp_unwind_capture {
	struct cp_regs regs; /* leaf: all known, or only pc and sp of a blocked thread */
	uint64_t stack_base; /* address of stack[0] */
	const uint8_t *stack; /* borrowed */
	size_t stack_size;
	/* The copy of the stack below a signal handler's; borrowed, size 0: none. */
	uint64_t below_base;
	const uint8_t *below;
	size_t below_size;
	/* The thread stands still during the walk: what the copy lacks (the
	 * rest of the stack, another stack) is read from the process. */
	bool held;
	pid_t pid; /* the process, for CP_UNWINDER_LIBUNWIND_PTRACE */
};

struct cp_unwind_space;

/* A mapping, as /proc/PID/maps has it: also those that are not executable,
 * because an object's headers and unwind data lie in them. Strings are copied. */
struct cp_unwind_mapping {
	uint64_t start, end, file_offset;
	uint64_t device, inode; /* 0, 0: anonymous */
	uint64_t mtime_ns, size; /* of the file, where known: identity for the cache */
	const char *path; /* for messages; "[vdso]" */
	bool executable;
};

/* Tables are kept in a cache shared by all spaces of a session, by (device,
 * inode, mtime, size) of the file; a NULL cache is allowed. A cache and all
 * its spaces belong to one thread at a time. */
struct cp_unwind_cache;
struct cp_unwind_cache *cp_unwind_cache_create(void);
void cp_unwind_cache_destroy(struct cp_unwind_cache *cache);

/* `memory` reads the process; it and `cache` are borrowed until destroy. */
CP_ERROR cp_unwind_space_create(const struct cp_arch *arch, const struct cp_reader *memory,
				struct cp_unwind_cache *cache, struct cp_unwind_space **ret);
void cp_unwind_space_destroy(struct cp_unwind_space *space);

/* A section with call frame information out of a file. */
struct cp_unwind_section {
	const uint8_t *bytes; /* uncompressed; copied by the receiver at once */
	size_t size;
	struct cp_vaddr addr; /* sh_addr; 0 for .debug_frame */
	bool debug_frame; /* .debug_frame's format, not .eh_frame's */
};

/* The door for files. The unwinder reads what is mapped; an object whose
 * CFI is only in .debug_frame (perhaps of a separate debug file), or which
 * has no .eh_frame_hdr to find .eh_frame by, needs somebody who can read
 * section headers. `find` is asked at most once for each object, when a pc in
 * it had no CFI in memory; it writes up to `max` sections to `ret` and
 * returns how many. `object` is the mapping of file offset 0. */
struct cp_unwind_files {
	size_t (*find)(void *ctx, const struct cp_unwind_mapping *object,
		       struct cp_unwind_section *ret, size_t max);
	void *ctx; /* borrowed as long as the space has it */
};
/* NULL takes it away again. The struct is copied. */
void cp_unwind_space_set_files(struct cp_unwind_space *space, const struct cp_unwind_files *files);

/* Replaces the mappings: the whole list, sorted by start. Tables of objects
 * that are still there at the same place are kept. */
CP_ERROR cp_unwind_space_set_mappings(struct cp_unwind_space *space,
				      const struct cp_unwind_mapping *mappings, size_t count);

enum cp_unwinder {
	CP_UNWINDER_OWN,
	CP_UNWINDER_LIBUNWIND, /* libunwind over the same capture */
	CP_UNWINDER_FP, /* frame pointers only */
	/* libunwind-ptrace over the same capture: it finds and reads the ELF
	 * files by itself, and the memory of a thread that is held. */
	CP_UNWINDER_LIBUNWIND_PTRACE,
};

/* Walks from the leaf; at most `max` frames into `frames`. *count_ret frames
 * (0 only when regs.pc is unknown), *end_ret why it ended. */
void cp_unwind_walk(struct cp_unwind_space *space, enum cp_unwinder by,
		    const struct cp_unwind_capture *capture, struct cp_frame *frames, size_t max,
		    size_t *count_ret, enum cp_unwind_end *end_ret);

/* True when a walk came from a signal handler's stack to one that the capture
 * does not have. *link_ret: the address where the kernel keeps that one's stack
 * pointer. */
bool cp_unwind_left_copy(const struct cp_arch *arch, const struct cp_unwind_capture *capture,
			 const struct cp_frame *frames, size_t count, uint64_t *link_ret);

/* True when `pc` lies in an executable mapping of the space. */
bool cp_unwind_space_covers(const struct cp_unwind_space *space, uint64_t pc);

#endif
