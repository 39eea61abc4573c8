/* SPDX-License-Identifier: MIT
 *
 * What the compiler put into its callers, by debug information: there is no call
 * that could be seen.
 */
#ifndef CP_PROBE_INLINED_H
#define CP_PROBE_INLINED_H

#include <stdint.h>

#include "base/buf.h"
#include "probe/match.h"

/* ---- functions that are nowhere else ---- */

struct cp_inlined {
	char *name; /* of one that is meant; owned */
	size_t functions, places;
};
/* Functions that `spec` means and that have no code of their own, in the first image
 * that has such. Libraries of the system are passed over. */
void cp_inlined_try(struct cp_inlined *inlined, const char *spec,
		    const struct cp_probe_image *image);
/* "work is inlined everywhere (3 places): there is no call to trace"; false: there
 * is nothing to say. */
bool cp_inlined_text(const struct cp_inlined *inlined, struct cp_buf *out);
void cp_inlined_free(struct cp_inlined *inlined);

/* ---- functions that have code of their own as well ---- */

struct cp_inlined_index;
/* NULL without memory. Reads all of the debug information. */
struct cp_inlined_index *cp_inlined_index_create(struct cp_image *image);
/* In how many places the function whose code begins at `address` is inlined. */
size_t cp_inlined_places(const struct cp_inlined_index *index, uint64_t address);
void cp_inlined_index_destroy(struct cp_inlined_index *index);

#endif
