/* SPDX-License-Identifier: MIT
 *
 * Which functions of an object are traced without a stop, by detours, and why others
 * are not.
 */
#ifndef CP_CMD_FAST_H
#define CP_CMD_FAST_H

#include "detour/object.h"

enum cp_slow {
	CP_FAST,
	/* CP_DETOUR_WHY_... lie here */
	CP_SLOW_UNTRACED = CP_DETOUR_WHYS,
	CP_SLOW_LIBRARY,
	CP_SLOW_CHOSEN,
	CP_SLOW_ARCH,
	CP_SLOW_BASE,
	CP_SLOWS,
};
const char *cp_slow_word(unsigned slow); /* for a column; "yes" of CP_FAST */
const char *cp_slow_text(unsigned slow); /* "" of CP_FAST */

struct cp_fast {
	const struct cp_arch *arch;
	struct cp_decoder *decoder; /* borrowed, as are: */
	struct cp_image *image;
	struct cp_probe_functions *functions;
	struct cp_detour_object *object; /* NULL before it is needed: reading it takes time */
	struct cp_detour_plan plan;
	bool base_used; /* of gs, by the object's code: known with `object` */
};
void cp_fast_deinit(struct cp_fast *fast);

/* Of a function with these sites: CP_FAST, or why not. Functions that were asked for
 * before keep their bytes, as they do while they are traced together. */
CP_ERROR cp_fast_ask(struct cp_fast *fast, const struct cp_probe_function *function,
		     const struct cp_probe_plan *sites, unsigned *ret);

#endif
