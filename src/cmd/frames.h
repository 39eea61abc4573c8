/* SPDX-License-Identifier: MIT
 *
 * The frames of a thread that is inspected, and what names mean in them.
 */
#ifndef CP_CMD_FRAMES_H
#define CP_CMD_FRAMES_H

#include "cmd/leaves.h"
#include "image/callsite.h"
#include "inspect/outer_names.h"
#include "inspect/scope.h"

struct cp_frame;
struct cp_inspected;
struct cp_object;
struct cp_unwind_space;

/* A frame as `cprof stack` counts them: inlined calls are frames of their own. */
struct cp_inspected_frame {
	size_t number, walked; /* walked: which of the stack it is in */
	struct cp_object *object; /* NULL: in none that is known */
	uint64_t address; /* link-time, within the call */
	uint32_t level; /* of the inlined calls there */
	bool inlined;
	char *function; /* owned; NULL: not known */
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct cp_frames {
	struct cp_inspected *in; /* borrowed */
	struct cp_unwind_space *space;
	struct cp_frame *walked; /* owned */
	size_t count, max;
	bool truncated; /* who called the last one is not known */
	struct cp_leaf leaf;
	CP_VEC(struct cp_inspected_frame) list;
	/* Kept for frames that are met again. */
	CP_VEC(struct cp_frame_signature {
		const struct cp_object *object;
		uint64_t address;
		uint32_t level;
		struct cp_signature *signature; /* owned, or NULL */
	})
	signatures;
	struct cp_arena sites;
	CP_VEC(struct cp_frame_names {
		const struct cp_object *object;
		struct cp_outer_names names; /* around its functions */
	})
	around;
	const struct cp_inspected_frame *chosen; /* names are looked up in it; NULL: in none */
	struct cp_scope scope; /* of that one */
	struct cp_entered entered;
	struct cp_hit_vector vector;
};

/* Makes ready to walk the threads of what is inspected, as it is mapped now. */
CP_ERROR cp_frames_open(struct cp_frames *frames, struct cp_inspected *in);
void cp_frames_close(struct cp_frames *frames);
/* The frames of a thread; none is chosen. */
CP_ERROR cp_frames_walk(struct cp_frames *frames, const struct cp_leaf *leaf);
/* Chooses the one that `wanted` says, a number or the innermost of a function. */
CP_ERROR cp_frames_choose(struct cp_frames *frames, const char *wanted);
/* Chooses one of the list. */
void cp_frames_enter(struct cp_frames *frames, const struct cp_inspected_frame *frame);
/* The bytes of the stack that a frame has, from *low_ret up to *high_ret. False: not known. */
bool cp_frames_extent(const struct cp_frames *frames, const struct cp_inspected_frame *frame,
		      uint64_t *low_ret, uint64_t *high_ret);
/* Where a name of the chosen frame is, or a static of its function. */
struct cp_thing cp_frames_thing(struct cp_frames *frames, const struct cp_scope_name *name);
/* What `name` is in the chosen frame: a variable, a register with '$' before its name, a
 * member of what `this` points to. False: nothing. Others of the name are noted. */
bool cp_frames_find(struct cp_frames *frames, const char *name, struct cp_thing *ret);

#endif
