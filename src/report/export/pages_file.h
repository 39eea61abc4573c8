/* SPDX-License-Identifier: MIT
 *
 * The page of a source file.
 */
#ifndef CP_REPORT_PAGES_FILE_H
#define CP_REPORT_PAGES_FILE_H

#include "base/error.h"
#include "report/export/pages_pieces.h"
#include "report/look/sink.h"

CP_ERROR cp_pages_file(struct cp_pages *g, struct cp_sink *sink, const void *what);

#endif
