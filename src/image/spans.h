/* SPDX-License-Identifier: MIT
 *
 * Address ranges that overlap, made into ranges that don't. Symbols lie
 * inside one another, functions of debug information nest, code made at run
 * time reuses addresses; a lookup wants one answer and a binary search.
 *
 *     given      aaaaaaaaaaaaaaaaaa        priority 1
 *                    bbbbbb    ccccccccc   priority 2, 3
 *     flattened  aaaabbbbbbaaaaccccccccc
 */
#ifndef CP_IMAGE_SPANS_H
#define CP_IMAGE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_span {
	uint64_t start, end; /* end not included */
	uint64_t priority; /* the highest one wins */
	uint32_t value; /* whatever the caller wants back */
};

struct cp_spans {
	struct cp_span *items; /* owned; sorted, not overlapping */
	size_t count;
};

/* Flattens `given` (which is reordered); false without memory. Of equal
 * priorities any may win. */
bool cp_spans_build(struct cp_span *given, size_t count, struct cp_spans *ret);
/* The span that covers `at`, or NULL. */
const struct cp_span *cp_spans_find(const struct cp_spans *spans, uint64_t at);
void cp_spans_free(struct cp_spans *spans);

#endif
