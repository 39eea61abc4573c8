/* SPDX-License-Identifier: MIT
 *
 * What was worked out of a file and would be again in the next run: kept in
 * $XDG_CACHE_HOME/cprof, else ~/.cache/cprof.
 *
 *     BUILD-ID.KIND │ magic │ format │ of │ maker │ size │ checksums │ bytes
 *
 * It spares time and decides nothing. The directory and what lies in it have to be the
 * user's own and nobody else's to write to, or there is no cache: root in another's
 * home has none. An entry counts if it is whole, of this build of cprof, and made `of`
 * just that; else it is removed. Whoever uses its bytes checks them as those of any file.
 * Entries are renamed to their place when they are complete, so any number of sessions
 * may read and write. All together have a bound, beyond which those go that were not
 * used for longest.
 */
#ifndef CP_BASE_CACHE_H
#define CP_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define CP_CACHE_ENTRY_MAX (UINT64_C(32) << 20)
#define CP_CACHE_ALL_MAX (UINT64_C(256) << 20)

struct cp_cache;

struct cp_cache_key {
	const char *build_id; /* of the file, in hex; "": nothing is kept */
	const char *kind; /* a word: what it is */
	uint32_t format; /* of its bytes */
	uint64_t of; /* a hash of all that it was made of */
};

/* NULL: there can be none here, which is no error. */
struct cp_cache *cp_cache_open(void);
void cp_cache_close(struct cp_cache *cache);
/* Appends what is kept to `out`; false: nothing is. */
bool cp_cache_get(const struct cp_cache *cache, const struct cp_cache_key *key, struct cp_buf *out);
/* Keeps it, if that can be. */
void cp_cache_put(const struct cp_cache *cache, const struct cp_cache_key *key, const void *bytes,
		  size_t size);

#endif
