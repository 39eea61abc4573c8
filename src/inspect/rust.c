/* SPDX-License-Identifier: MIT
 *
 * Where functions of Rust have what they take and give. No convention tells where
 * arguments are: a parameter that is a pattern is passed, and not in debug
 * information; so that, and code, has to (stored.c). Results are where
 * classify_rust.c says, if the compiler left the function as it is written.
 */
#include "inspect/rust.h"

#include "inspect/classify_rust.h"
#include "inspect/sets.h"
#include "inspect/stored.h"

static bool takes_first(const struct cp_signature *s)
{
	const struct cp_piece *piece;
	unsigned k;
	size_t i;

	for (i = 0; i < s->parameter_count; i++) {
		for (k = 0; k < s->parameters[i].place.count; k++) {
			piece = &s->parameters[i].place.pieces[k];
			if ((piece->where == CP_PIECE_REGISTER || piece->where == CP_PIECE_MEMORY ||
			     piece->where == CP_PIECE_SUM) &&
			    piece->number == CP_RUST_RESULT)
				return true;
		}
	}
	return false;
}

static void place_result(struct cp_signature *s)
{
	struct cp_place *p = &s->result.place;
	bool unmarked = s->function.flags & CP_FUNCTION_UNMARKED;
	unsigned sets = 0;

	if (!s->has_result || !(s->want & CP_SIGNATURE_RESULT))
		return;
	*p = cp_rust_result(s->function.result, takes_first(s), 0);
	/* All of the code is read, which takes its time, only where it matters. */
	if (p->how == CP_PLACE_UNSUPPORTED || (p->how == CP_PLACE_DIRECT && unmarked)) {
		sets = cp_signature_sets(s, false);
		*p = cp_rust_result(s->function.result, takes_first(s), sets);
	}
	if (p->how != CP_PLACE_DIRECT)
		return;
	/* A result that nobody uses is not returned any more, whatever its type. */
	if (s->function.flags & CP_FUNCTION_NOCALL || (unmarked && !cp_rust_is_set(p, sets)))
		p->how = CP_PLACE_UNSUPPORTED;
}

struct cp_error *cp_rust_place(struct cp_signature *s)
{
	struct cp_error *err = cp_signature_place_by_code(s, false);

	if (!err)
		place_result(s);
	return err;
}
