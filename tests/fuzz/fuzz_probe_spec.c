/* SPDX-License-Identifier: MIT
 *
 * A SPEC on the first line, names to compare with it on the others.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/near.h"
#include "probe/distance.h"
#include "probe/names.h"
#include "probe/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(const char *name)
{
	struct cp_name_parts p;

	cp_name_split(name, &p);
	if (p.size != strlen(name) || p.start > p.params || p.scope > p.params ||
	    p.plain > p.params || p.plain < p.start || p.params > p.end || p.end > p.size)
		abort();
}

static void compare(struct cp_spec *spec, const char *name)
{
	struct cp_spec_subject subject = { .name = name, .linkage_name = name, .image = name };
	enum cp_spec_match first, again;

	check_parts(name);
	first = cp_spec_match(spec, &subject);
	again = cp_spec_match(spec, &subject);
	if (first != again)
		abort();
	subject.plt = true;
	cp_spec_match(spec, &subject);
	cp_spec_wants_image(spec, name, false);
	if (cp_name_distance(name, name) > CP_NEAR && *name)
		abort();
	cp_spec_near(spec, name, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *line, *rest;
	struct cp_spec *spec = NULL;
	struct cp_error *err;
	unsigned names;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	rest = text;
	line = strsep(&rest, "\n");
	err = cp_spec_parse(line, &spec);
	cp_error_free(err);
	for (names = 0; !err && rest && names < 64; names++)
		compare(spec, strsep(&rest, "\n"));
	cp_spec_destroy(spec);
	free(text);
	return 0;
}
