/* SPDX-License-Identifier: MIT
 *
 * Names of functions that are one in the source: instances of a template,
 * clones that the compiler made.
 */
#ifndef CP_REPORT_COVERAGE_NAMES_H
#define CP_REPORT_COVERAGE_NAMES_H

#include <stdbool.h>

struct cp_buf;

/* Appends `name` without what the compiler put behind it (".constprop.0",
 * " [clone .cold]"). */
void cp_name_unclone(struct cp_buf *out, const char *name);
/* Appends what all instances have in common: the name without clones,
 * arguments of templates, parameters, and the type it returns. */
void cp_name_base(struct cp_buf *out, const char *name);
/* The kind of constructor or destructor that a symbol is, "C1" to "D4", by the base of
 * its name; without a symbol, of what is inlined, "C4" or "D4". "": none. */
void cp_name_structor(const char *base, const char *linkage, char ret[3]);
/* Code of the compiler's own, which leads to a function. */
bool cp_name_is_thunk(const char *name);
/* A piece of a function that does not begin where the function does. */
bool cp_name_is_piece(const char *name);

#endif
