/* SPDX-License-Identifier: MIT */
#include "probe/match.h"

#include <string.h>

#include "base/sourcepath.h"
#include "base/text.h"

struct source {
	struct cp_image *image;
	uint64_t address;
};

/* The last frame is the function itself; what was inlined into its first
 * instruction comes before. */
static const char *source_of(void *ctx)
{
	const struct source *s = ctx;
	struct cp_inline_frame frames[8];
	size_t n = cp_image_frames(s->image, (struct cp_vaddr){ s->address }, frames, 8);

	return n && n <= 8 ? frames[n - 1].file : NULL;
}

bool cp_probe_wants_image(const struct cp_spec *spec, const struct cp_probe_image *image)
{
	return cp_spec_wants_image(spec, image->name, image->program) ||
	       (image->started_as && cp_spec_wants_image(spec, image->started_as, image->program));
}

enum cp_spec_match cp_probe_match(struct cp_spec *spec, const struct cp_probe_image *image,
				  struct cp_probe_function *function)
{
	const char *linkage;

	return cp_probe_match_name(spec, image, function, &linkage);
}

enum cp_spec_match cp_probe_match_name(struct cp_spec *spec, const struct cp_probe_image *image,
				       struct cp_probe_function *function, const char **linkage_ret)
{
	struct source source = { image->image, function->address };
	struct cp_spec_subject subject = {
		.name = function->linkage_name,
		.linkage_name = function->linkage_name,
		.image = image->name,
		.started_as = image->started_as,
		.program = image->program,
		.plt = function->kind == CP_PROBE_PLT,
		.source = source_of,
		.ctx = &source,
	};
	enum cp_spec_match best, other;
	struct cp_probe_alias *alias;
	size_t i, entry, highest;

	*linkage_ret = function->linkage_name;
	if (!cp_spec_wants_names(spec))
		return cp_spec_match(spec, &subject);
	subject.name = cp_probe_function_name(function);
	if (!subject.name)
		return CP_SPEC_NO;
	best = cp_spec_match_at(spec, &subject, &highest);
	for (i = 0; i < function->alias_count; i++) {
		alias = &image->functions->aliases.items[function->first_alias + i];
		subject.linkage_name = alias->linkage_name;
		subject.name = cp_probe_alias_name(alias);
		if (!subject.name)
			continue;
		other = cp_spec_match_at(spec, &subject, &entry);
		if (entry > highest || (entry == highest && other > best)) {
			best = other;
			*linkage_ret = alias->linkage_name;
		}
		highest = entry > highest ? entry : highest;
	}
	return best;
}

/* ---- names that are near ---- */

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
	if (distance <= CP_SPEC_NEAR)
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
	if (distance <= CP_SPEC_NEAR)
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
