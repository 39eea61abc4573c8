/* SPDX-License-Identifier: MIT
 *
 * What was worked out of an ELF object and is kept in files for later runs
 * (base/cache.h), where the session may do that. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_KEPT_H
#define CP_ENGINE_TARGET_KEPT_H

#include <cprof/cprof.h>

#include "base/buf.h"

struct engine_kept;

struct engine_kept_key {
	const char *kind; /* a word */
	uint32_t format;
	uint64_t of; /* a hash of what it was made of, besides the files themselves */
};

/* Appends it to `out`; false: it has to be made. */
bool engine_kept_get(cprof_session *s, const cprof_assembly *a, const struct engine_kept_key *key,
		     struct cp_buf *out);
/* `bytes` are taken, whatever becomes of them. */
void engine_kept_put(cprof_session *s, const cprof_assembly *a, const struct engine_kept_key *key,
		     struct cp_buf *bytes);
void engine_kept_free(cprof_session *s);

#endif
