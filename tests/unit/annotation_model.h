/* SPDX-License-Identifier: MIT
 *
 * A made-up program's annotations, for tests of recordings.
 */
#ifndef CP_TEST_ANNOTATION_MODEL_H
#define CP_TEST_ANNOTATION_MODEL_H

#include "base/buf.h"
#include "record/annotations.h"

#define ANNOTATION_MODEL_CHUNK 100 /* events between two flushes */

/* Records `count` events into `fd` (taken over), and says in `text` (may be
 * NULL) what they are, a line each. */
void annotation_model_write(int fd, uint64_t seed, size_t count, struct cp_buf *text);
/* The same lines of a recording. */
void annotation_text(const struct cp_record *r, struct cp_buf *out);

#endif
