/* SPDX-License-Identifier: MIT
 *
 * A SPEC over the functions of an image.
 */
#ifndef CP_PROBE_MATCH_H
#define CP_PROBE_MATCH_H

#include "probe/functions.h"
#include "probe/spec.h"

/* The image that functions are of, as a SPEC looks at it. */
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
/* False when nothing in an image could match. */
bool cp_probe_wants_image(struct cp_spec *spec, const struct cp_probe_image *image);
/* Matches as cp_probe_match() does; *linkage_ret: the name by which, set unless the
 * answer is no. */
enum cp_spec_match cp_probe_match_name(struct cp_spec *spec, const struct cp_probe_image *image,
				       struct cp_probe_function *function,
				       const char **linkage_ret);

#endif
