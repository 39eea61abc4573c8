/* SPDX-License-Identifier: MIT */
#include "inspect/declared.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct cp_declared {
	struct cp_image *image;
	const struct cp_symbol *symbols; /* the image's */
	struct cp_map by_name; /* hash of a name -> number of the symbol */
};

/* The length of a symbol before its version, or what a stub has. */
static size_t name_size(const char *symbol)
{
	return strcspn(symbol, "@");
}

CP_ERROR cp_declared_open(const char *path, struct cp_declared **ret)
{
	struct cp_declared *d = calloc(1, sizeof(*d));
	struct cp_error *err;
	size_t count = 0, i;
	bool ok = true;

	if (!d)
		return cp_error_nomem();
	err = cp_image_open_file(path, NULL, &d->image);
	if (!err)
		err = cp_image_symbols(d->image, &d->symbols, &count);
	for (i = 0; !err && ok && i < count; i++)
		ok = cp_map_put(&d->by_name,
				cp_hash_bytes(d->symbols[i].name, strlen(d->symbols[i].name)), i);
	if (!ok)
		err = cp_error_nomem();
	if (err) {
		cp_declared_destroy(d);
		return err;
	}
	*ret = d;
	return NULL;
}

void cp_declared_destroy(struct cp_declared *declared)
{
	if (!declared)
		return;
	cp_map_free(&declared->by_name);
	cp_image_destroy(declared->image);
	free(declared);
}

struct cp_image *cp_declared_image(const struct cp_declared *declared)
{
	return declared->image;
}

bool cp_declared_find(const struct cp_declared *declared, const char *symbol, struct cp_vaddr *ret)
{
	size_t size = name_size(symbol);
	const uint64_t *at = cp_map_get(&declared->by_name, cp_hash_bytes(symbol, size));
	const struct cp_symbol *found = at ? &declared->symbols[*at] : NULL;

	if (!found || strlen(found->name) != size || memcmp(found->name, symbol, size) != 0)
		return false;
	*ret = found->start;
	return true;
}

CP_ERROR cp_declared_signature(const struct cp_declared *declared, const char *symbol,
			       unsigned want, const struct cp_value_limits *limits,
			       struct cp_signature **ret)
{
	struct cp_vaddr at;

	*ret = NULL;
	if (!cp_declared_find(declared, symbol, &at))
		return NULL;
	return cp_signature_read_declared(declared->image, at, want, limits, ret);
}
