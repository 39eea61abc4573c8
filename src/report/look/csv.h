/* SPDX-License-Identifier: MIT
 *
 * Comma-separated values, as RFC 4180 has them but for lines that end with a newline
 * alone: a row of titles, text in quotation marks where it needs them, plain integers.
 */
#ifndef CP_REPORT_CSV_H
#define CP_REPORT_CSV_H

#include <stdint.h>

#include "base/buf.h"

/* Each begins a field of the row: a comma first, unless the row has none so far. */
void cp_csv_text(struct cp_buf *out, const char *raw); /* untrusted */
void cp_csv_u64(struct cp_buf *out, uint64_t value);
/* Ends the row. */
void cp_csv_end(struct cp_buf *out);

#endif
