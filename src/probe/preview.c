/* SPDX-License-Identifier: MIT */
#include "probe/preview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sourcepath.h"
#include "base/startedas.h"
#include "base/text.h"
#include "probe/libraries.h"

struct looking {
	struct cp_spec *spec;
	struct cp_preview *ret;
	bool is_static;
	cp_preview_fn fn; /* NULL: one is enough */
	void *ctx;
	bool enough;
};

/* A program without dynamic linking imports nothing: by what is in it. */
static void look_inside(struct looking *l, const struct cp_probe_functions *functions)
{
	static const char *const loading[] = { "dlopen", "dlmopen" };
	static const char *const starting[] = { "execve", "posix_spawn" };
	const struct cp_probe_function *f;
	bool named = false;
	size_t i, k;

	for (i = 0; i < functions->count; i++) {
		f = &functions->items[i];
		named |= !(f->flags & CP_PROBE_UNNAMED);
		for (k = 0; k < CP_ARRAY_SIZE(loading); k++) {
			l->ret->may_load |= !strcmp(f->linkage_name, loading[k]);
			l->ret->may_start |= !strcmp(f->linkage_name, starting[k]);
		}
	}
	if (!named)
		l->ret->may_load = l->ret->may_start = true;
}

static void look_at_functions(struct looking *l, const struct cp_probe_image *image)
{
	size_t i;

	for (i = 0; i < image->functions->count && !l->enough; i++) {
		struct cp_probe_function *f = &image->functions->items[i];

		if (cp_probe_match(l->spec, image, f) == CP_SPEC_NO)
			continue;
		l->ret->matched = true;
		l->enough = !l->fn || !l->fn(l->ctx, image->image, f);
	}
	if (!l->ret->matched)
		cp_near_try(&l->ret->near, l->spec, image);
	if (l->is_static)
		look_inside(l, image->functions);
}

/* A program by its names, of which a link has two. */
struct named {
	char *real, *started_as;
};

static void free_named(struct named *n)
{
	free(n->real);
	free(n->started_as);
}

/* An image as it is once the program runs. */
static struct cp_probe_image image_of(const char *path, bool program, struct named *n)
{
	struct cp_probe_image image = { .name = path, .program = program };
	int pid, end = 0;

	n->real = program ? realpath(path, NULL) : NULL;
	if (!n->real)
		return image;
	image.name = n->real;
	if (sscanf(path, "/proc/%d/exe%n", &pid, &end) == 1 && end && !path[end])
		n->started_as = cp_started_as_pid(pid, n->real);
	else if (strcmp(cp_basename(n->real), cp_basename(path)) != 0)
		n->started_as = strdup(path);
	image.started_as = n->started_as;
	return image;
}

static CP_ERROR look_at(struct looking *l, const char *path, bool program,
			const struct cp_image_options *options)
{
	struct named named CP_CLEANUP(free_named) = { 0 };
	struct cp_probe_functions functions = { 0 };
	struct cp_probe_image image = image_of(path, program, &named);
	struct cp_error *err;

	image.functions = &functions;
	/* The name of a library may be what was mistyped. */
	if (!cp_probe_wants_image(l->spec, &image)) {
		cp_near_try(&l->ret->near, l->spec, &image);
		return NULL;
	}
	err = cp_image_open_file(path, options, &image.image);
	if (err) {
		l->ret->may_load = true;
		cp_error_free(err);
		return NULL;
	}
	err = cp_probe_functions_read(image.image, &functions);
	if (!err)
		look_at_functions(l, &image);
	l->ret->images++;
	cp_probe_functions_free(&functions);
	cp_image_destroy(image.image);
	return err;
}

/* Looks for inlined functions when it is sure that nothing else matches, for all of
 * the debug information is read. */
static void look_at_inlined(const struct cp_libraries *libraries, const char *spec,
			    const struct cp_image_options *options, struct cp_inlined *ret)
{
	struct cp_probe_image image;
	struct cp_error *err;
	size_t i;

	for (i = 0; i < libraries->list.count; i++) {
		const char *path = libraries->list.items[i].path;
		struct named named CP_CLEANUP(free_named) = { 0 };

		image = image_of(path, !i, &named);
		if (i && cp_path_is_system_image(path))
			continue;
		err = cp_image_open_file(path, options, &image.image);
		if (!err) {
			cp_inlined_try(ret, spec, &image);
			cp_image_destroy(image.image);
		}
		cp_error_free(err);
	}
}

CP_ERROR cp_preview(const char *path, const char *spec, const struct cp_image_options *options,
		    struct cp_preview *ret)
{
	return cp_preview_each(path, spec, options, NULL, NULL, ret);
}

CP_ERROR cp_preview_each(const char *path, const char *spec, const struct cp_image_options *options,
			 cp_preview_fn fn, void *ctx, struct cp_preview *ret)
{
	struct cp_preview preview = { 0 };
	struct looking l = { .ret = &preview, .fn = fn, .ctx = ctx };
	struct cp_libraries libraries = { 0 };
	struct cp_error *err;
	size_t i;

	CP_TRY(cp_spec_parse(spec, &l.spec));
	err = cp_libraries_find(path, &libraries);
	preview.may_load = libraries.may_load || libraries.missing;
	preview.may_start = libraries.may_start;
	l.is_static = libraries.is_static;
	for (i = 0; !err && !l.enough && i < libraries.list.count; i++)
		err = look_at(&l, libraries.list.items[i].path, i == 0, options);
	if (!err && !preview.matched && !preview.may_load && !preview.may_start)
		look_at_inlined(&libraries, spec, options, &preview.near.inlined);
	cp_libraries_free(&libraries);
	cp_spec_destroy(l.spec);
	if (err || preview.matched)
		cp_near_free(&preview.near);
	if (err)
		return err;
	*ret = preview;
	return NULL;
}

void cp_preview_free(struct cp_preview *preview)
{
	cp_near_free(&preview->near);
}
