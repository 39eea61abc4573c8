/* SPDX-License-Identifier: MIT
 *
 * What a recording says of the program as a whole.
 */
#ifndef CP_REPORT_RECORDED_H
#define CP_REPORT_RECORDED_H

#include <stdint.h>

#include "base/buf.h"
#include "record/record.h"

/* From start to end of what was recorded. */
uint64_t cp_report_duration(const struct cp_record *record);
/* CMD's status as a shell has it, or -1 when it did not end. */
int cp_report_exit_status(const struct cp_record *record);
/* The command line in one raw line; "" when there is none. */
void cp_report_command(const struct cp_record *record, struct cp_buf *out);

#endif
