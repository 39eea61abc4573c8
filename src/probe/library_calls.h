/* SPDX-License-Identifier: MIT
 *
 * Calls of library functions without a stub: see library_calls.c.
 */
#ifndef CP_PROBE_LIBRARY_CALLS_H
#define CP_PROBE_LIBRARY_CALLS_H

#include "arch/insn.h"
#include "probe/functions.h"

/* Fills functions->calls, which takes the time of looking through
 * all of the code; once. Landing pads should be known by then. */
CP_ERROR cp_probe_find_library_calls(struct cp_decoder *decoder, struct cp_image *image,
				     struct cp_probe_functions *functions);
/* The first of those of the function `number`, or where it would be. */
size_t cp_probe_first_library_call(const struct cp_probe_functions *functions, size_t number);
/* Is there a place where the PLT function `number` is entered? */
bool cp_probe_is_entered(const struct cp_probe_functions *functions, size_t number);

#endif
