/* SPDX-License-Identifier: MIT */
#ifndef CP_MODULES_LOG_KNOWN_H
#define CP_MODULES_LOG_KNOWN_H

#include <cprof/cprof.h>

/* Has what a recording says was reached counted as known. Nothing is where it can't be
 * read, or has exact counts. */
void cp_known_read(cprof_profiler_handle handle, const char *path);

#endif
