/* SPDX-License-Identifier: MIT
 *
 * Registers that a function was entered with: see entered.c.
 */
#ifndef CP_INSPECT_ENTERED_H
#define CP_INSPECT_ENTERED_H

#include "image/callsite.h"
#include "unwind/unwind.h"

/* An address in an object. */
struct cp_entered_place {
	void *object; /* the asker's; the same for the same object */
	struct cp_image *image;
	uint64_t bias;
	uint64_t address; /* link-time */
};

/* What only the asker can tell, and may keep. */
struct cp_entered_ops {
	/* False: no object with debug information is at run-time `pc`. */
	bool (*place)(void *ctx, uint64_t pc, struct cp_entered_place *ret);
	/* Entry (link-time) and linkage name (or NULL) of the function that a place is in. */
	bool (*function)(void *ctx, const struct cp_entered_place *at, uint64_t *entry_ret,
			 const char **linkage_name_ret);
	/* cp_image_call_site(); NULL: nothing is told. */
	const struct cp_call_site *(*call_site)(void *ctx, const struct cp_entered_place *at);
	/* cp_image_tail_call(), between functions of the place's object; NULL: nothing is told. */
	const struct cp_call_site *(*tail_call)(void *ctx, const struct cp_entered_place *at,
						uint64_t from, uint64_t to);
	/* cp_image_never_comes_back() */
	bool (*never_comes_back)(void *ctx, const struct cp_entered_place *at, uint64_t entry);
};

/* A frame of a walk and its callers, whose debug information tells with which registers
 * the frame's function was entered. */
struct cp_callers {
	const struct cp_entered_ops *ops;
	void *ctx;
	const struct cp_frame *frames; /* frames[0] is what was entered */
	size_t count;
	const struct cp_reader *stack;
};

/* What frames[0] was entered with. */
void cp_entered_find(const struct cp_callers *callers, struct cp_entered *ret);

#endif
