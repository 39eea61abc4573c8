/* SPDX-License-Identifier: MIT
 *
 * Where an export goes: built in a buffer, written to a file as it grows.
 */
#ifndef CP_REPORT_SINK_H
#define CP_REPORT_SINK_H

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"

struct cp_sink {
	struct cp_buf buf; /* write into this */
	FILE *file; /* borrowed */
	int (*put)(void *ctx, const char *bytes, size_t size); /* or this; an errno, or 0 */
	void *ctx; /* of `put` */
	bool ascii; /* text for who can read no more */
	int errnum; /* of the first write that failed */
};

/* Writes out what the buffer holds if that is much. */
void cp_sink_spill(struct cp_sink *sink);
/* Writes out what it holds; the errno of the first write that failed, or 0. */
int cp_sink_flush(struct cp_sink *sink);
/* Writes out the rest and frees the buffer; the first error of all. */
CP_ERROR cp_sink_finish(struct cp_sink *sink);

#endif
