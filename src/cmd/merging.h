/* SPDX-License-Identifier: MIT
 *
 * Adding a recording to an earlier one, as many runs may do at the same time.
 */
#ifndef CP_CMD_MERGING_H
#define CP_CMD_MERGING_H

#include "base/error.h"

/* Makes `path` the merge of itself, if it is there, and the recording at
 * `recording`. It is replaced at once: readers see the one or the other. */
CP_ERROR cp_merge_into(const char *path, const char *recording);

/* A file without a name in the directory of `path`, for a recording that is
 * only to be merged; *fd_ret is the caller's. */
CP_ERROR cp_open_unnamed(const char *path, int *fd_ret);

#endif
