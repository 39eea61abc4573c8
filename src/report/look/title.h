/* SPDX-License-Identifier: MIT
 *
 * What stands above and below the table of a section.
 */
#ifndef CP_REPORT_TITLE_H
#define CP_REPORT_TITLE_H

#include <stddef.h>

#include "base/buf.h"
#include "report/look/table.h"

/* A blank line, the title, and what is to be said of the table; `note` may be NULL. */
void cp_report_title(struct cp_buf *out, const struct cp_look *look, const char *title,
		     const char *note);
/* "and N more", where not all of a table was shown. */
void cp_report_more(struct cp_buf *out, const struct cp_look *look, size_t shown, size_t count);

#endif
