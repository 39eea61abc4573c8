/* SPDX-License-Identifier: MIT
 *
 * cprof/tally.h - counts, sums and distributions by key.
 *
 *     cprof_tally *t = cprof_tally_create(sizeof(function), CPROF_TALLY_SPREAD);
 *     cprof_tally_add(t, &function, 1, duration_ns);                  a thousand times
 *     ...
 *     cprof_tally_sort(t, CPROF_TALLY_BY_SUM);
 *     for (i = 0; i < cprof_tally_count(t); i++)
 *             row = cprof_tally_row_at(t, i);                         row->key, ->count, ->sum
 *
 * Such an object is used by one thread at a time, whichever that is.
 */
#ifndef CPROF_TALLY_H
#define CPROF_TALLY_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cprof_tally cprof_tally;

typedef struct cprof_tally_row {
	const void *key; /* 8-aligned; a NUL follows */
	size_t key_size;
	uint64_t count, sum;
	uint64_t least, most; /* of what was added, each by itself */
} cprof_tally_row;

#define CPROF_TALLY_SPREAD 1u /* also how values are distributed: cprof_tally_quantile() */

/* `key_size`: bytes of a key, all of which count, so a structure without padding; 0: keys
 * are strings. NULL: no memory. */
CPROF_API cprof_tally *cprof_tally_create(size_t key_size, unsigned flags);
CPROF_API void cprof_tally_free(cprof_tally *tally); /* NULL is fine */

/* Adds `count` values of a key, which are `sum` together (for `least`, `most` and the
 * distribution: that many of sum / count); 0: only makes its row. False: no memory. */
CPROF_API bool cprof_tally_add(cprof_tally *tally, const void *key, uint64_t count, uint64_t sum);
CPROF_API void cprof_tally_clear(cprof_tally *tally);

/* Rows, in the order in which their keys came first or they were sorted since; good until
 * something is added. NULL: there is none. */
CPROF_API size_t cprof_tally_count(const cprof_tally *tally);
CPROF_API const cprof_tally_row *cprof_tally_row_at(const cprof_tally *tally, size_t number);
CPROF_API const cprof_tally_row *cprof_tally_find(const cprof_tally *tally, const void *key);

typedef enum cprof_tally_order {
	CPROF_TALLY_BY_COUNT, /* the greatest first; what is equal stays in its order */
	CPROF_TALLY_BY_SUM,
	CPROF_TALLY_BY_MOST
} cprof_tally_order;
CPROF_API void cprof_tally_sort(cprof_tally *tally, cprof_tally_order order);

/* The value below which a part (0 to 1) of the row's values are, to 3 %; 0 without
 * CPROF_TALLY_SPREAD. */
CPROF_API uint64_t cprof_tally_quantile(const cprof_tally *tally, const cprof_tally_row *row,
					double part);

#ifdef __cplusplus
}
#endif
#endif
