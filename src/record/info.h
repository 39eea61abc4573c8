/* SPDX-License-Identifier: MIT
 *
 * INFO chunks: what a recording is of, and its id.
 */
#ifndef CP_RECORD_INFO_H
#define CP_RECORD_INFO_H

#include "record/arena.h"
#include "record/format.h"

/* The info as the fields of an INFO chunk, with the recording's id. */
void cp_record_put_info(struct cp_buf *out, const struct cp_record_info *info, const uint8_t *id);
/* Out of memory or bytes that make no sense: see c->bad. Unknown fields are
 * skipped. Strings are never NULL; `id_ret` is untouched without an id. */
bool cp_record_get_info(struct cp_cursor *c, struct cp_record_arena *arena,
			struct cp_record_info *ret, uint8_t *id_ret);

/* The info of a recording of which it is lost. */
struct cp_record_info cp_record_no_info(void);

#endif
