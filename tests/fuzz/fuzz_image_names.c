/* SPDX-License-Identifier: MIT
 *
 * Names that are looked for in debug information that may say anything: variables,
 * enumerators, types, for which only the units are looked at that mention them
 * (image/dwarf/mention.c), and what a walk over all units tells of.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_image.h"
#include "image/find.h"
#include "image/globals.h"

#define CHECKED 12 /* variables of a file */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_plain(const char *name)
{
	const char *c = name;

	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	return c > name && !*c;
}

static void look(struct cp_image *image, const struct cp_global_query *query)
{
	struct cp_globals found;

	if (cp_image_find_globals(image, query, &found))
		abort();
	cp_globals_free(&found);
}

static void find_again(struct cp_image *image)
{
	struct cp_global_query query = { 0 };
	struct cp_globals all;
	size_t i, checked = 0;

	if (cp_image_find_globals(image, &query, &all))
		abort();
	for (i = 0; i < all.list.count && checked < CHECKED; i++) {
		query.name = cp_name_last_part(all.list.items[i].name);
		if (!is_plain(query.name))
			continue;
		checked++;
		look(image, &query);
	}
	cp_globals_free(&all);
}

static void look_for(struct cp_image *image, const char *name)
{
	const struct cp_global_query query = { .name = name },
				     in_file = { .name = name, .file = "seed_names.cpp" };
	struct cp_error *err;
	struct cp_found found;

	look(image, &query);
	look(image, &in_file);
	err = cp_image_find_enumerators(image, name, &found);
	if (!err)
		cp_found_free(&found);
	cp_error_free(err);
	err = cp_image_find_types(image, name, &found);
	if (!err)
		cp_found_free(&found);
	cp_error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {
		"counter", "ns::Color::RED", "step(int)::calls", "f::x", "::", "a"
	};
	struct cp_image *image = fuzz_image(data, size);
	size_t i;

	if (!image)
		return 0;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		look_for(image, names[i]);
	find_again(image);
	cp_image_destroy(image);
	return 0;
}
