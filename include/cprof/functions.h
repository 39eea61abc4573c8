/* SPDX-License-Identifier: MIT
 *
 * cprof/functions.h - finding functions, and what is known of each.
 *
 * A function is one address of an image in a process, or what a perf map
 * (/tmp/perf-PID.map) says of code made at run time; it lives as long as the session.
 * Looking for a function by name reads the image's symbols at first use; asking for its
 * source, arguments or flags reads debug information.
 */
#ifndef CPROF_FUNCTIONS_H
#define CPROF_FUNCTIONS_H

#include <cprof/process.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The function that covers `ip` in the process of the event being delivered,
 * or in the target's; NULL: unknown code. CLR: GetFunctionFromIP. */
CPROF_API const cprof_function *cprof_function_from_ip(cprof_addr ip);
/* The function with that name, as in the symbol table or demangled, with or without
 * parameters; of several the first by address. `image` NULL: looks in all that are
 * mapped in that process. NULL: there is none. */
CPROF_API const cprof_function *cprof_function_from_name(const cprof_image *image,
							 const char *name);
/* Calls `cb` for each function of the image, by address; false from `cb` ends that. */
CPROF_API void cprof_image_for_each_function(const cprof_image *image,
					     bool (*cb)(const cprof_function *function, void *data),
					     void *data);

/* Where the function is declared: NULL and 0 when that is not known. */
CPROF_API const char *cprof_function_source(const cprof_function *function, uint32_t *line);
/* How many arguments it has by debug information, as cprof_call_context_argument() counts
 * them: with `this`; 0 also without debug information. */
CPROF_API uint32_t cprof_function_argument_count(const cprof_function *function);
/* The name of an argument, "" if it has none; NULL: there is no such argument. */
CPROF_API const char *cprof_function_argument_name(const cprof_function *function,
						   uint32_t position);

#define CPROF_FUNCTION_HAS_DEBUG_INFO 1u
#define CPROF_FUNCTION_HAS_THIS 2u
#define CPROF_FUNCTION_VARIADIC 4u
#define CPROF_FUNCTION_NORETURN 8u /* no exit was found in its code */
#define CPROF_FUNCTION_PLT 16u /* linkage stub */
#define CPROF_FUNCTION_THUNK 32u /* adjusts `this`, or resolves an IFUNC */
#define CPROF_FUNCTION_JIT 64u /* made at run time */
#define CPROF_FUNCTION_UNPATCHABLE 128u /* no breakpoint can stand at its entry */
CPROF_API unsigned cprof_function_flags(const cprof_function *function);

#ifdef __cplusplus
}
#endif
#endif
