/* SPDX-License-Identifier: MIT */
#include "probe/near.h"

#include <stdlib.h>
#include <string.h>

#include "base/sourcepath.h"
#include "base/text.h"
#include "probe/distance.h"

#define FOREIGN 100u /* farther than any name of the program's own */

static void forget(struct cp_near *near, size_t i)
{
	free(near->names[i]);
	for (near->count--; i < near->count; i++) {
		near->names[i] = near->names[i + 1];
		near->distances[i] = near->distances[i + 1];
	}
}

static void remember(struct cp_near *near, unsigned distance, const char *name)
{
	size_t i, at;
	char *copy;

	for (i = 0; i < near->count && strcmp(near->names[i], name) != 0; i++)
		;
	if (i < near->count && near->distances[i] <= distance)
		return;
	if (i < near->count)
		forget(near, i);
	for (at = 0; at < near->count && near->distances[at] <= distance; at++)
		;
	copy = at < CP_NEAR_MAX ? strdup(name) : NULL;
	if (!copy)
		return;
	if (near->count == CP_NEAR_MAX)
		free(near->names[--near->count]);
	for (i = near->count++; i > at; i--) {
		near->names[i] = near->names[i - 1];
		near->distances[i] = near->distances[i - 1];
	}
	near->names[at] = copy;
	near->distances[at] = distance;
}

/* A function's name, or what would have matched it. */
static void try_name(struct cp_near *near, const struct cp_spec *spec, const char *name,
		     unsigned farther)
{
	const char *scoped;
	unsigned distance;

	scoped = cp_spec_scoped(spec, name);
	if (scoped)
		remember(near, farther + 1, scoped);
	distance = cp_spec_near(spec, name, false);
	if (distance <= CP_NEAR)
		remember(near, farther + distance, name);
}

void cp_near_name(struct cp_near *near, const struct cp_spec *spec, const char *name)
{
	try_name(near, spec, name, 0);
}

void cp_near_try(struct cp_near *near, const struct cp_spec *spec,
		 const struct cp_probe_image *image)
{
	bool foreign = !image->program && cp_path_is_system_image(image->name);
	unsigned skip = CP_PROBE_UNNAMED | (foreign ? CP_PROBE_LOCAL : 0), distance;
	struct cp_probe_function *f;
	size_t i;

	distance = cp_spec_near(spec, cp_basename(image->name), true);
	if (distance <= CP_NEAR)
		remember(near, distance, cp_basename(image->name));
	for (i = 0; i < image->functions->count; i++) {
		const char *name;

		f = &image->functions->items[i];
		name = f->kind != CP_PROBE_PLT && !(f->flags & skip) ? cp_probe_function_name(f)
								     : NULL;
		if (name)
			try_name(near, spec, name, foreign ? FOREIGN : 0);
	}
}

bool cp_near_text(const struct cp_near *near, struct cp_buf *out)
{
	size_t i, count;

	if (cp_inlined_text(&near->inlined, out))
		return true;
	if (!near->count)
		return false;
	for (count = 1; count < near->count; count++)
		if (near->distances[0] < FOREIGN && near->distances[count] >= FOREIGN)
			break;
	cp_buf_str(out, "did you mean ");
	for (i = 0; i < count; i++) {
		if (i)
			cp_buf_str(out, i + 1 < count ? ", " : " or ");
		cp_buf_u8(out, '\'');
		cp_escape(out, CP_ESCAPE_TERMINAL, near->names[i], strlen(near->names[i]));
		cp_buf_u8(out, '\'');
	}
	cp_buf_u8(out, '?');
	return true;
}

void cp_near_free(struct cp_near *near)
{
	while (near->count)
		free(near->names[--near->count]);
	cp_inlined_free(&near->inlined);
}
