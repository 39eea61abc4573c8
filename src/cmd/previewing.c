/* SPDX-License-Identifier: MIT
 *
 * What can be known to be in vain before the program starts: functions that are
 * nowhere, arguments that none of them has.
 */
#include "cmd/previewing.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "cmd/collecting.h"
#include "cmd/complain.h"
#include "inspect/chosen.h"
#include "inspect/condition_way.h"
#include "inspect/inspect.h"
#include "inspect/outer_names.h"
#include "probe/preview.h"

#define MOST_FUNCTIONS 500 /* whose arguments are read */
#define MOST_NAMES 12 /* of those, that are shown */

struct arguments {
	const struct cp_condition *condition;
	struct cp_interner names, others; /* others: that mean something, and are no arguments */
	struct cp_outer_names outside; /* of the file that is looked at, */
	uint64_t identity; /* which that tells from others */
	struct cp_image *image;
	const struct cp_signature *signature; /* that is looked at */
	const char *function; /* its linkage name; borrowed */
	size_t functions;
	bool unknown; /* some have others, or ones without names */
	bool fits; /* the condition may hold for calls of one of them */
	struct cp_error *why; /* owned; why not for the first that it means nothing for */
};

static bool has(void *ctx, const char *name)
{
	const struct arguments *a = ctx;
	uint32_t id;

	return cp_interned(&a->names, name, strlen(name), &id) ||
	       cp_interned(&a->others, name, strlen(name), &id);
}

/* What is outside of all functions of the file, as struct cp_condition_names has it. */
static bool is_outside(void *ctx, const char *name, const char *file, const struct cp_type **ret)
{
	struct arguments *a = ctx;
	const struct cp_outer_name *outer =
		cp_outer_name_within(&a->outside, a->image, a->function, name, file);

	*ret = outer ? cp_outer_type(outer) : NULL;
	return outer != NULL;
}

/* Of each name in the condition: can it be one that is no argument's? */
static bool note_other(void *ctx, const char *name)
{
	struct arguments *a = ctx;
	const struct cp_type *type;
	uint32_t id;

	if (cp_condition_is_member(a->signature, name) || is_outside(a, name, NULL, &type))
		a->unknown |= !cp_intern(&a->others, name, strlen(name), &id, NULL);
	return true;
}

static void add_names(struct arguments *a, const struct cp_signature *s)
{
	const char *name;
	uint32_t id;
	size_t i;

	if (cp_signature_has_this(s))
		a->unknown |= !cp_intern(&a->names, "this", 4, &id, NULL);
	for (i = 0; (name = cp_signature_name(s, i)); i++)
		if (*name)
			a->unknown |= !cp_intern(&a->names, name, strlen(name), &id, NULL);
}

static void try_condition(struct arguments *a, const struct cp_signature *s)
{
	const struct cp_condition_names outside = { is_outside, a };
	enum cp_condition_way way;
	struct cp_error *err = cp_condition_way(a->condition, s, &outside, &way);

	if (err) {
		a->signature = s;
		cp_condition_missing(a->condition, note_other, a);
	}
	a->fits |= !err;
	if (a->why)
		cp_error_free(err);
	else
		a->why = err;
}

/* A cp_preview_fn. */
static bool read_arguments(void *ctx, struct cp_image *image, const struct cp_probe_function *f)
{
	struct arguments *a = ctx;
	struct cp_signature *s = NULL;
	struct cp_error *err;

	if (a->image != image || a->identity != cp_image_identity(image)) {
		cp_outer_names_free(&a->outside);
		a->image = image;
		a->identity = cp_image_identity(image);
	}
	a->function = f->linkage_name;
	err = cp_signature_read(image, (struct cp_vaddr){ f->address }, f->linkage_name, false,
				false, CP_SIGNATURE_ARGUMENTS, NULL, &s);
	if (err || !cp_signature_is_described(s) || f->kind != CP_PROBE_FUNCTION ||
	    ++a->functions > MOST_FUNCTIONS)
		a->unknown = true;
	else
		add_names(a, s);
	cp_error_free(err);
	if (!a->unknown)
		try_condition(a, s);
	cp_signature_destroy(s);
	return !a->unknown && !a->fits;
}

/* "arguments there are: 'line', 'length'" */
static void list_names(const struct arguments *a, struct cp_error *err)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	for (i = 0; i < a->names.count && i < MOST_NAMES; i++) {
		cp_buf_str(&text, i ? ", '" : "'");
		cp_escape(&text, CP_ESCAPE_TERMINAL, a->names.items[i].bytes,
			  strlen(a->names.items[i].bytes));
		cp_buf_u8(&text, '\'');
	}
	if (text.failed || !text.bytes)
		cp_error_hint(err, "they have no arguments");
	else
		cp_error_hint(err, "the arguments there are: %s%s", text.bytes,
			      a->names.count > MOST_NAMES ? ", ..." : "");
}

static struct cp_error *nothing_matched(const struct cp_preview *preview, const char *list)
{
	struct cp_buf near CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err = cp_error_new(CP_ERR_USAGE, 0, "no function matches '%s'", list);

	if (cp_near_text(&preview->near, &near))
		cp_error_hint(err, "%s", near.bytes);
	else if (strstr(list, "plt:"))
		cp_error_hint(err, "it imports no such function; what is static has its own");
	return err;
}

/* The name in the condition that no function has; NULL: they have all. */
static const char *missing_in(struct arguments *a)
{
	static const char none[] = "there is no argument ";
	const char *name = cp_condition_missing(a->condition, has, a);

	/* It may stand beside what is an enumerator, and could be one for all that is known. */
	if (!name && a->why && cp_starts_with(a->why->what, none))
		name = a->why->what + strlen(none);
	return name;
}

/* Checks --when, of functions that `list` matches. */
static CP_ERROR check_names(const char *path, const char *list, const char *when,
			    const struct cp_image_options *options)
{
	struct cp_condition *condition = NULL;
	struct arguments a = { 0 };
	struct cp_preview preview;
	struct cp_error *err;
	const char *name;

	CP_TRY(cp_condition_parse(when, &condition));
	a.condition = condition;
	err = cp_preview_each(path, list, options, read_arguments, &a, &preview);
	name = err || a.unknown || a.fits ? NULL : missing_in(&a);
	if (!err) {
		/* Libraries and programs may come, with functions that have other arguments. */
		if (name && !preview.may_load && !preview.may_start) {
			err = cp_error_new(CP_ERR_USAGE, 0,
					   "no function that matches '%s' has an argument '%s'",
					   list, name);
			list_names(&a, err);
		} else if (a.why && !a.fits && !a.unknown && !preview.may_load &&
			   !preview.may_start) {
			err = cp_error_new(CP_ERR_USAGE, 0,
					   "--when: it means nothing for %s that matches '%s': %s",
					   a.functions > 1 ? "any function" : "the function", list,
					   a.why->what);
		}
		cp_preview_free(&preview);
	}
	cp_error_free(a.why);
	cp_interner_free(&a.names);
	cp_interner_free(&a.others);
	cp_outer_names_free(&a.outside);
	cp_condition_destroy(condition);
	return err;
}

struct choosing {
	const struct cp_chosen *chosen;
	size_t index;
	bool unknown, fits;
	struct cp_error *why; /* owned; why not in the first function */
};

/* A cp_preview_fn: does the value mean anything in that function? */
static bool try_chosen(void *ctx, struct cp_image *image, const struct cp_probe_function *f)
{
	struct choosing *c = ctx;
	struct cp_signature *s = NULL;
	struct cp_error *err =
		cp_signature_read(image, (struct cp_vaddr){ f->address }, f->linkage_name, false,
				  false, CP_SIGNATURE_ARGUMENTS, NULL, &s);

	c->unknown |= err || !cp_signature_is_described(s) || f->kind != CP_PROBE_FUNCTION;
	cp_error_free(err);
	err = c->unknown ? NULL : cp_chosen_means(c->chosen, c->index, s);
	c->fits |= !err;
	if (c->why)
		cp_error_free(err);
	else
		c->why = err;
	cp_signature_destroy(s);
	return !c->unknown && !c->fits;
}

/* Checks --args, each of which has to mean something in a function that `list` matches. */
static CP_ERROR check_chosen(const char *path, const char *list, const char *args,
			     const struct cp_image_options *options)
{
	struct cp_chosen *chosen = NULL;
	struct cp_preview preview;
	struct cp_error *err;
	size_t i, count;

	CP_TRY(cp_chosen_parse(args, &chosen));
	err = NULL;
	count = cp_chosen_count(chosen);
	for (i = 0; !err && i < count; i++) {
		struct choosing c = { .chosen = chosen, .index = i };

		err = cp_preview_each(path, list, options, try_chosen, &c, &preview);
		if (!err && c.why && !c.fits && !preview.may_load && !preview.may_start)
			err = cp_error_new(CP_ERR_USAGE, 0,
					   "--args: '%s' means nothing in what matches '%s': %s",
					   cp_chosen_text(chosen, i), list, c.why->what);
		cp_error_free(c.why);
		cp_preview_free(&preview);
	}
	cp_chosen_destroy(chosen);
	return err;
}

/* Refuses a SPEC that matches nothing, where nothing comes that it could match. */
static CP_ERROR check_spec(const char *path, const char *list,
			   const struct cp_image_options *options, bool *matched_ret)
{
	struct cp_error *err = NULL;
	struct cp_preview preview;

	CP_TRY(cp_preview(path, list, options, &preview));
	*matched_ret = preview.matched;
	if (!preview.matched && !preview.may_load && !preview.may_start)
		err = nothing_matched(&preview, list);
	cp_preview_free(&preview);
	return err;
}

int cp_collecting_preview(const struct cp_args *args, const struct cp_collect_options *o,
			  const char *path)
{
	const struct cp_image_options options = { o->stacks.debug_dirs.items, NULL };
	CP_FREE char *list = cp_collecting_specs(&o->calls.trace);
	struct cp_error *err;
	bool matched, any;
	size_t i;

	if (!list)
		return CP_EXIT_OK;
	err = check_spec(path, list, &options, &matched);
	for (i = 0; !err && i < CP_COLLECT_KEPT; i++)
		if (cp_collecting_kept(&o->calls.kept, i))
			err = check_spec(path, cp_collecting_kept(&o->calls.kept, i), &options,
					 &any);
	if (!err && matched && o->calls.when)
		err = check_names(path, list, o->calls.when, &options);
	if (!err && matched && o->calls.args && *o->calls.args)
		err = check_chosen(path, list, o->calls.args, &options);
	return err ? cp_usage_error(args, err) : CP_EXIT_OK;
}
