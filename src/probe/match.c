/* SPDX-License-Identifier: MIT */
#include "probe/match.h"

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

bool cp_probe_wants_image(struct cp_spec *spec, const struct cp_probe_image *image)
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
