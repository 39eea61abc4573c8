/* SPDX-License-Identifier: MIT
 *
 * The code of a whole function, for what neither debug information nor a convention tells.
 */
#include "inspect/sets.h"

#include <stdlib.h>
#include <string.h>

#include "arch/results.h"
#include "inspect/classify_rust.h"

#define WHOLE_MAX (UINT64_C(1) << 16) /* bytes of a function that are looked at */

unsigned cp_signature_sets(const struct cp_signature *s, bool arithmetic)
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
		sets = cp_arch_sets_results(s->arch, code, size, entry.v, arithmetic);
	free(code);
	return sets;
}

bool cp_signature_lost_result(const struct cp_signature *s, const char *linkage_name)
{
	const struct cp_place *p = &s->result.place;

	if (!linkage_name || (!strstr(linkage_name, ".isra.") && !strstr(linkage_name, ".part.")))
		return false;
	if ((p->how != CP_PLACE_DIRECT && p->how != CP_PLACE_INDIRECT) || !p->count)
		return false;
	return p->pieces[0].where == CP_PIECE_X87 || !cp_rust_is_set(p, cp_signature_sets(s, true));
}
