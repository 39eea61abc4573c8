/* SPDX-License-Identifier: MIT
 *
 * The names that were near a SPEC that matched none.
 */
#ifndef CP_PROBE_NEAR_H
#define CP_PROBE_NEAR_H

#include "base/buf.h"
#include "probe/inlined.h"
#include "probe/match.h"

/* The nearest names so far. Those of the system's libraries count only where the
 * program and its own libraries have none. */
#define CP_NEAR_MAX 5
struct cp_near {
	char *names[CP_NEAR_MAX]; /* owned; nearest first */
	unsigned distances[CP_NEAR_MAX];
	size_t count;
	struct cp_inlined inlined; /* what is known of them makes guesses needless */
};
/* Tries all names of an image, and the image's own, on what entries of `spec`
 * that matched nothing say. */
void cp_near_try(struct cp_near *near, const struct cp_spec *spec,
		 const struct cp_probe_image *image);
/* Tries one name alone. */
void cp_near_name(struct cp_near *near, const struct cp_spec *spec, const char *name);
/* "did you mean 'parse_line' or 'parse_word'?", or what cp_inlined_text() says;
 * false: there are none. */
bool cp_near_text(const struct cp_near *near, struct cp_buf *out);
void cp_near_free(struct cp_near *near);

#endif
