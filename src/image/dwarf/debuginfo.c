/* SPDX-License-Identifier: MIT */
#include "image/dwarf/debuginfo.h"

#include <stdlib.h>

#include "image/debugfile.h"
#include "image/dwarf/unit.h"

/* The debug information of the file itself, or of its debug file. */
static struct cp_debuginfo *open_debuginfo(struct cp_image *image)
{
	struct cp_debuginfo *all;
	struct cp_elf *elf;

	if (image->debuginfo_tried)
		return image->debuginfo;
	image->debuginfo_tried = true;
	all = calloc(1, sizeof(*all));
	if (!all)
		return NULL;
	all->image = image;
	all->main = cp_dwarf_create(all, image->elf, false);
	if (!all->main) {
		elf = cp_debug_file(image, true);
		all->main = elf ? cp_dwarf_create(all, elf, false) : NULL;
	}
	if (!all->main) {
		cp_debuginfo_destroy(all);
		return NULL;
	}
	image->debuginfo = all;
	return all;
}

void cp_debuginfo_destroy(struct cp_debuginfo *all)
{
	size_t i;

	if (!all)
		return;
	cp_dwarf_destroy(all->main);
	for (i = 0; i < all->others.count; i++)
		cp_dwarf_destroy(all->others.items[i]);
	cp_vec_free(&all->others);
	for (i = 0; i < all->strings.count; i++)
		free(all->strings.items[i]);
	cp_vec_free(&all->strings);
	cp_interner_free(&all->sources);
	cp_spans_free(&all->by_aranges);
	cp_spans_free(&all->by_roots);
	cp_arena_free(&all->types);
	cp_map_free(&all->definitions);
	cp_vec_free(&all->defined_in);
	free(all);
}

struct cp_debuginfo *cp_debuginfo_begin(struct cp_image *image, uint64_t steps)
{
	struct cp_debuginfo *all = open_debuginfo(image);

	if (!all || all->exhausted)
		return NULL;
	all->steps = steps;
	return all;
}
