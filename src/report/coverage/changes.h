/* SPDX-License-Identifier: MIT
 *
 * Which lines changed since a git revision: what git itself says, in the
 * working tree as it lies there.
 */
#ifndef CP_REPORT_CHANGES_H
#define CP_REPORT_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cp_changes;

/* The changes of the repository that `dir` is in, since its history and that of `revision`
 * parted. Errors: no git, no repository, no such revision. */
CP_ERROR cp_changes_create(const char *dir, const char *revision, struct cp_changes **ret);
void cp_changes_destroy(struct cp_changes *c);

/* Ors `mark` into those of the `count` lines of the file at `path` (absolute)
 * that changed; true: all, it is new. */
bool cp_changes_mark(struct cp_changes *c, const char *path, uint8_t mark, uint8_t *marks,
		     size_t count);

#endif
