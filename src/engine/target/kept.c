/* SPDX-License-Identifier: MIT */
#include "engine/target/kept.h"

#include <stdlib.h>

#include "base/cache.h"
#include "base/log.h"
#include "base/map.h"
#include "engine/target/state.h"

struct engine_kept {
	struct cp_cache *cache; /* owned; NULL: there is none here */
	bool opened;
};

void cprof_session_set_cache(cprof_session *s, bool cache)
{
	if (!s || cache == (s->kept != NULL))
		return;
	if (cache)
		s->kept = calloc(1, sizeof(*s->kept));
	else
		engine_kept_free(s);
}

void engine_kept_free(cprof_session *s)
{
	if (s->kept)
		cp_cache_close(s->kept->cache);
	free(s->kept);
	s->kept = NULL;
}

/* A build-id says which file it is, and may lie: so it has to be the very one. */
static bool find(cprof_session *s, const cprof_assembly *a, const struct engine_kept_key *key,
		 struct cp_cache_key *ret)
{
	uint64_t file = s->kept && a->image ? cp_image_identity(a->image) : 0;

	if (!file)
		return false;
	if (!s->kept->opened)
		s->kept->cache = cp_cache_open();
	s->kept->opened = true;
	*ret = (struct cp_cache_key){
		.build_id = cp_image_build_id(a->image),
		.kind = key->kind,
		.format = key->format,
		.of = cp_hash_u64(file ^ cp_hash_u64(key->of)),
	};
	return s->kept->cache;
}

bool engine_kept_get(cprof_session *s, const cprof_assembly *a, const struct engine_kept_key *key,
		     struct cp_buf *out)
{
	struct cp_cache_key entry;
	bool found = find(s, a, key, &entry) && cp_cache_get(s->kept->cache, &entry, out);

	if (found)
		cp_debug("%s: %s of a run before, %zu bytes", a->path, key->kind, out->size);
	return found;
}

void engine_kept_put(cprof_session *s, const cprof_assembly *a, const struct engine_kept_key *key,
		     struct cp_buf *bytes)
{
	struct cp_cache_key entry;

	if (!bytes->failed && find(s, a, key, &entry))
		cp_cache_put(s->kept->cache, &entry, bytes->bytes, bytes->size);
	cp_buf_free(bytes);
}
