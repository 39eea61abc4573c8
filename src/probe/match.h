/* SPDX-License-Identifier: MIT
 *
 * A SPEC over the functions of an image, and the names that were near when it
 * matched none.
 */
#ifndef CP_PROBE_MATCH_H
#define CP_PROBE_MATCH_H

#include "base/buf.h"
#include "probe/inlined.h"
#include "probe/plan.h"
#include "probe/spec.h"

/* Whose functions they are. */
struct cp_probe_image {
	struct cp_image *image; /* asked for source files, when an entry needs them */
	const char *name; /* file name or path */
	const char *started_as; /* of a program, another one; or NULL */
	bool program; /* it is the executable */
	struct cp_probe_functions *functions;
};

/* Does `spec` mean the function, under any of its names? Names are demangled
 * only where an entry looks at them. */
enum cp_spec_match cp_probe_match(struct cp_spec *spec, const struct cp_probe_image *image,
				  struct cp_probe_function *function);
/* False when nothing in it could match. */
bool cp_probe_wants_image(const struct cp_spec *spec, const struct cp_probe_image *image);
/* As cp_probe_match(); *linkage_ret: the name by which, set unless the answer is no. */
enum cp_spec_match cp_probe_match_name(struct cp_spec *spec, const struct cp_probe_image *image,
				       struct cp_probe_function *function,
				       const char **linkage_ret);

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
/* One name alone. */
void cp_near_name(struct cp_near *near, const struct cp_spec *spec, const char *name);
/* "did you mean 'parse_line' or 'parse_word'?", or what cp_inlined_text() says;
 * false: there are none. */
bool cp_near_text(const struct cp_near *near, struct cp_buf *out);
void cp_near_free(struct cp_near *near);

#endif
