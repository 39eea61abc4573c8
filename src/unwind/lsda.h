/* SPDX-License-Identifier: MIT
 *
 * Exception handlers of a frame: what the personality routine of C++, Rust and
 * others reads in the language-specific data area (the C++ ABI for Itanium
 * describes it, "exception handling tables").
 *
 *     header │ call sites │ actions │ ... types
 *                 └──────────► │ filter, next │ ...
 *                                   └──────────────► type, counted backwards
 */
#ifndef CP_UNWIND_LSDA_H
#define CP_UNWIND_LSDA_H

#include "base/types.h"

#define CP_LSDA_ACTIONS 64

/* The landing pad and the actions of a call. */
struct cp_lsda_site {
	uint64_t landing_pad; /* 0: nothing */
	/* Filters in the order in which they are tried: above 0 a catch clause, below
	 * an exception specification, 0 cleanup. None: cleanup alone. */
	int64_t filters[CP_LSDA_ACTIONS];
	uint32_t count;
	bool catches_all; /* the first filter is a catch clause for anything */
};

/* Looks up the call that returns to `return_address` in the function that begins
 * at `start`, whose data area is at `lsda`. Reads untrusted memory. False: there
 * is no such call, or the data make no sense. */
bool cp_lsda_find(const struct cp_reader *memory, uint64_t lsda, uint64_t start,
		  uint64_t return_address, struct cp_lsda_site *ret);

/* Where exceptions come to that leave calls in [from, from + size). */
struct cp_lsda_landing {
	uint64_t from, size;
	uint64_t pad;
};

/* Tells every landing pad in it, in the order of the calls; one may come twice.
 * The bytes of the table are taken off *budget; what is larger is not read. False:
 * `each` said so, or there is no memory. */
bool cp_lsda_pads(const struct cp_reader *memory, uint64_t lsda, uint64_t start, uint64_t *budget,
		  bool (*each)(void *ctx, const struct cp_lsda_landing *landing), void *ctx);

#endif
