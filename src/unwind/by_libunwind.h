/* SPDX-License-Identifier: MIT
 *
 * libunwind as a second opinion; only for captures of this machine's own ISA.
 */
#ifndef CP_UNWIND_BY_LIBUNWIND_H
#define CP_UNWIND_BY_LIBUNWIND_H

#include "unwind/apply.h"

void cp_libunwind_walk(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
		       size_t *count_ret, enum cp_unwind_end *end_ret);
/* Nothing is walked unless the thread is held. */
void cp_libunwind_ptrace_walk(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
			      size_t *count_ret, enum cp_unwind_end *end_ret);

#endif
