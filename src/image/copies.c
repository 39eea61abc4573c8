/* SPDX-License-Identifier: MIT */
#include "image/copies.h"

#include "image/got.h"
#include "image/internal.h"
#include "image/jit.h"

/* The library may have several names for it, of which the program knows one. */
struct copy {
	struct cp_image *library;
	struct cp_vaddr at, found;
};

static bool is_other_copy(void *ctx, const struct cp_relocation *r)
{
	struct copy *c = ctx;
	struct cp_vaddr theirs;

	if (!r->copied || !cp_image_variable(c->library, r->name, &theirs) || c->at.v < theirs.v ||
	    c->at.v - theirs.v >= r->copied)
		return true;
	c->found.v = r->at + (c->at.v - theirs.v);
	return false;
}

bool cp_image_copy(struct cp_image *program, struct cp_image *library, struct cp_vaddr at,
		   struct cp_vaddr *ret)
{
	struct copy c = { .library = library, .at = at };
	struct cp_elf *elf = program->elf;
	size_t i = 1;

	while (i < elf->section_count &&
	       cp_elf_each_relocation(elf, &elf->sections[i], is_other_copy, &c))
		i++;
	*ret = c.found;
	return c.found.v != 0;
}
