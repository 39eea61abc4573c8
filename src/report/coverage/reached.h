/* SPDX-License-Identifier: MIT
 *
 * Whether a line of source was reached, for who shows other things of it.
 */
#ifndef CP_REPORT_REACHED_H
#define CP_REPORT_REACHED_H

#include "report/coverage/coverage.h"

/* The coverage of a line of the file at `path`; NULL: none is known (`c` may be NULL). */
const struct cp_covered_line *cp_reached_line(const struct cp_coverage *c, const char *path,
					      uint32_t line);
/* Appends how often, where that was counted, else "yes" or "no"; "?": it can't be told. */
void cp_reached_add(struct cp_buf *out, const struct cp_coverage *c,
		    const struct cp_covered_line *line);

#endif
