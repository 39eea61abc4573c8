/* SPDX-License-Identifier: MIT
 *
 * Names of what C, C++ and Rust have between a program and its memory and locks: nobody
 * is told by them who takes those.
 */
#ifndef CP_BASE_RUNTIME_H
#define CP_BASE_RUNTIME_H

#include <stdbool.h>

/* True for the demangled name of a function of a language's runtime. */
bool cp_name_is_runtime(const char *name);
/* True for the file name of the C library, its dynamic linker, and libraries that stand in for
 * them, or are a language's runtime. */
bool cp_file_is_runtime(const char *name);
/* True when `text` begins with any of a list that ends with NULL. */
bool cp_starts_with_any(const char *text, const char *const *prefixes);

#endif
