/* SPDX-License-Identifier: MIT
 *
 * Which recordings a merge is made of: each once, by its id. Private to src/record.
 */
#ifndef CP_RECORD_SHARDS_H
#define CP_RECORD_SHARDS_H

#include "base/vec.h"
#include "record/record.h"

/* A part to be written, and where it is. */
struct cp_shard {
	const struct cp_record_part *part;
	const struct cp_record *record;
	size_t input; /* place of the record among the inputs */
	uint32_t number; /* of the part in the record */
	uint64_t samples; /* calls and annotations, too */
};

struct cp_shards {
	CP_VEC(struct cp_shard) list; /* in order of their ids */
	CP_VEC(const struct cp_record_part *) parts; /* of them */
};

/* All parts of the inputs, of copies the fullest. */
CP_ERROR cp_shards_choose(struct cp_record *const *inputs, size_t count, struct cp_shards *ret);
void cp_shards_deinit(struct cp_shards *s);
/* Damage of part `n`. That of a merged file is not known by part: its first one that is
 * used carries it on. */
struct cp_record_damage cp_shards_damage(const struct cp_shards *s, size_t n);

#endif
