/* SPDX-License-Identifier: MIT */
#include "cmd/inspect_asked.h"

#include "cmd/pointing.h"

void cp_inspect_each(struct cp_inspect *i)
{
	struct cp_error *err;
	size_t g;
	int n;

	for (n = 1; n < i->args->count; n++) {
		err = cp_inspect_one(i, i->args->operands[n]);
		if (!err)
			continue;
		cp_inspect_lacks(i, i->args->operands[n], err);
		cp_inspect_fail(i, err);
	}
	for (g = 0; g < i->o->globals.count; g++) {
		err = cp_inspect_globals(i, i->o->globals.items[g]);
		if (err)
			cp_inspect_fail(i, err);
	}
	for (g = 0; g < i->o->pointed.count; g++) {
		err = cp_inspect_pointing(i, i->o->pointed.items[g]);
		if (err)
			cp_inspect_fail(i, cp_inspect_about(i->o->pointed.items[g], err));
	}
}
