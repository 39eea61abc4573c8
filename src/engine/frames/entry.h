/* SPDX-License-Identifier: MIT
 *
 * Registers that a function was entered with. Private to src/engine.
 */
#ifndef CP_ENGINE_FRAMES_ENTRY_H
#define CP_ENGINE_FRAMES_ENTRY_H

#include <cprof/cprof.h>

struct cp_frame;
struct cp_reader;
struct cp_regs;

/* A frame of a walk and its callers, whose debug information tells with which registers
 * the frame's function was entered. */
struct engine_callers {
	cprof_session *session;
	cprof_process *process;
	const struct cp_frame *frames; /* frames[0] is what was entered */
	size_t count;
	const struct cp_reader *stack;
};

/* The registers that frames[0] was entered with, as far as they are known. */
void engine_entry_registers(const struct engine_callers *callers, struct cp_regs *ret);

#endif
