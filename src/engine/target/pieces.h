/* SPDX-License-Identifier: MIT
 *
 * Small parts of what is known of images, processes and threads (state.h). Private to
 * src/engine.
 */
#ifndef CP_ENGINE_TARGET_PIECES_H
#define CP_ENGINE_TARGET_PIECES_H

#include <cprof/types.h>

#include "base/map.h"
#include "unwind/unwind.h"

/* A piece of an image, at link-time addresses, which a function's detours need, or a window
 * that counts. */
#define ENGINE_COUNTED 0xfffffffeu /* of no function, but of coverage (families/counting.c) */
struct engine_jump {
	uint64_t start, end;
	uint32_t traced;
	uint32_t window; /* of COUNTED: its number in the object */
};

/* An executable piece of an image. */
struct engine_text {
	uint64_t start, end;
	cprof_image *image;
};

/* A frame of a thread's last walk, kept to be told again while the thread sleeps on. */
struct engine_kept_frame {
	uint64_t pc, cfa;
	uint32_t flags;
	uint32_t by;
};

/* Of which capture a session's frames are: several who look at an event walk it. */
struct engine_walked {
	const cprof_thread *thread;
	uint64_t ts_ns, pc, sp;
	const uint8_t *stack;
	bool held;
	size_t count; /* 0: of none that comes again */
	enum cp_unwind_end end;
	bool met; /* engine_code_met() was called for them */
};

/* Stacks of a process that were walked as long as its texts were these
 * (frames/stack_keys.c). */
struct engine_stacks {
	struct cp_interner walked;
	uint32_t made; /* when the texts were made for the so many-th time */
	uint64_t keys; /* before that of the first */
	struct cp_unwind_paths *paths; /* owned, or NULL: their walks, with their keys */
};

#endif
