/* SPDX-License-Identifier: MIT
 *
 * Names of functions where there is little room: those of C++ and Rust are longer
 * than any terminal is wide.
 *
 *     std::vector<int, std::allocator<int> >::push_back(int const&)
 *     std::vector::push_back
 */
#ifndef CP_REPORT_BRIEF_H
#define CP_REPORT_BRIEF_H

#include "base/buf.h"

/* Appends a name without parameters, template arguments and what it returns. */
void cp_brief_name(struct cp_buf *out, const char *name);

/* Appends a name as it is shown in a line that has so many columns for it; 0: in full. */
void cp_brief_add(struct cp_buf *out, const char *name, size_t columns);

/* Some names, as they are shown below each other: those that fit in so many columns in
 * full, others short. Different names are told apart. */
struct cp_brief {
	size_t columns;
	char **shown; /* owned, with the texts; NULL without memory */
	size_t count;
};
void cp_brief_init(struct cp_brief *b, const char *const *names, size_t count, size_t columns);
void cp_brief_deinit(struct cp_brief *b);

#endif
