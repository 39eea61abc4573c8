/* SPDX-License-Identifier: MIT
 *
 * The first page of coverage, and the page of a program without line tables.
 */
#ifndef CP_REPORT_PAGES_INDEX_H
#define CP_REPORT_PAGES_INDEX_H

#include "base/error.h"
#include "report/export/pages_pieces.h"
#include "report/look/sink.h"

CP_ERROR cp_pages_index(struct cp_pages *g, struct cp_sink *sink, const void *what);
CP_ERROR cp_pages_binary(struct cp_pages *g, struct cp_sink *sink, const void *what);

#endif
