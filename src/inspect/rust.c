/* SPDX-License-Identifier: MIT
 *
 * Where functions of Rust have what they take and give. No convention tells where
 * arguments are: a parameter that is a pattern is passed, and not in debug
 * information; so that, and code, has to (stored.c). Results are where
 * classify_rust.c says, if the compiler left the function as it is written.
 */
#include "inspect/rust.h"

#include <stdlib.h>

#include "arch/results.h"
#include "inspect/classify_rust.h"
#include "inspect/stored.h"

#define WHOLE_MAX (UINT64_C(1) << 16) /* bytes of a function that are looked at */

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

static unsigned sets_of(const struct cp_signature *s)
{
	struct cp_vaddr entry = { s->function.low };
	struct cp_symbol symbol;
	uint8_t *code;
	unsigned sets = 0;
	size_t size;

	if (!cp_image_symbol(s->image, entry, &symbol) || symbol.start.v != entry.v ||
	    symbol.size > WHOLE_MAX)
		return 0;
	code = malloc(symbol.size + 1);
	size = code ? cp_image_read_constant(s->image, entry, code, symbol.size) : 0;
	if (size && size == symbol.size)
		sets = cp_arch_sets_results(s->arch, code, size, entry.v);
	free(code);
	return sets;
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
		sets = sets_of(s);
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
