/* SPDX-License-Identifier: MIT
 *
 * Several recordings into one.
 */
#ifndef CP_RECORD_MERGE_H
#define CP_RECORD_MERGE_H

#include "record/record.h"

/* All of `inputs` into one, in the file that `open` gives: it is asked once the
 * inputs are known to go together, so that a refusal touches no file; the
 * descriptor is closed. Commutative, associative and
 * idempotent, to the byte: a recording that is in several inputs counts once
 * (the fullest copy). Times become those of the real clock, so that machines
 * have a common one. Refused: recordings whose clocks count different things
 * (CPU and wall). */
typedef CP_ERROR cp_record_open_fn(void *arg, int *fd_ret);
CP_ERROR cp_record_merge_to(struct cp_record *const *inputs, size_t count, cp_record_open_fn *open,
			    void *arg);

/* Merges into a file that is open, which is closed whatever happens. */
CP_ERROR cp_record_merge(struct cp_record *const *inputs, size_t count, int fd);

#endif
