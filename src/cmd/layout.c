/* SPDX-License-Identifier: MIT
 *
 * cprof layout: what an object of a type consists of, where, and what is left
 * between; of all types of a file, and what differs in another one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/layout_all.h"
#include "cmd/layout_diff.h"
#include "cmd/layout_show.h"
#include "cmd/objects.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "image/find.h"

struct layout_options {
	bool json, all, holes, diff;
	struct cp_symbols_options symbols;
};

#define AT(field) offsetof(struct layout_options, field)

static const struct cp_option output_options[] = {
	{ "all", 0, CP_OPTION_TRUE, AT(all),
	  .help = "a line for each type of FILE, or for those that GLOB matches" },
	{ "holes", 0, CP_OPTION_TRUE, AT(holes),
	  .help = "of these, those with holes or padding, who loses most first" },
	{ "diff", 0, CP_OPTION_TRUE, AT(diff),
	  .help = "types that are not the same in the files OLD and NEW, and what moved" },
	{ "json", 0, CP_OPTION_TRUE, AT(json),
	  .help = "one JSON object; an array where several types have the name" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", output_options, 0 },
						 { "Symbols", cp_symbols_options, AT(symbols) },
						 { 0 } };

static const struct layout_options defaults = { .symbols.debuginfod.ask = true };

/* ---- the command ---- */

static void show(const struct layout_options *o, struct cp_image *image,
		 const struct cp_found *found, struct cp_buf *out)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_json j = { .out = out, .pretty = true };
	bool many = found->types.count > 1;
	struct cp_layout l;
	size_t i;

	if (o->json && many)
		cp_json_begin(&j, NULL, '[');
	for (i = 0; i < found->types.count; i++) {
		cp_layout_of(image, &found->types.items[i], &l);
		if (o->json) {
			cp_layout_json(&j, NULL, &l);
		} else {
			cp_buf_str(out, i ? "\n" : "");
			cp_layout_text(&l, &look, out);
		}
		cp_layout_free(&l);
	}
	if (o->json && many)
		cp_json_end(&j, ']');
	if (o->json)
		cp_buf_u8(out, '\n');
}

static CP_ERROR none_found(const char *path, const char *name, const struct cp_found *found)
{
	struct cp_error *err = cp_error_new(CP_ERR_NOT_FOUND, 0, "%s has no type %s", path, name);

	if (found->near)
		cp_error_hint(err, "did you mean %s?", found->near);
	return err;
}

static CP_ERROR look_up(struct layout_options *o, const char *path, const char *name,
			struct cp_buf *out)
{
	struct cp_image_options options = cp_symbols_image(&o->symbols);
	struct cp_objects objects = { 0 };
	struct cp_found found = { 0 };
	struct cp_image *image;
	struct cp_error *err = cp_objects_file(path, &options, &objects);

	if (!err) {
		image = objects.list.items[0].image;
		err = cp_image_find_types(image, name, &found);
	}
	if (!err && !found.types.count)
		err = none_found(path, name, &found);
	if (!err)
		show(o, image, &found, out);
	cp_found_free(&found);
	cp_objects_free(&objects);
	return err;
}

/* All types of a file, or what differs between the types of two. */
static CP_ERROR look_at_all(struct layout_options *o, char **operands, struct cp_buf *out)
{
	struct cp_image_options options = cp_symbols_image(&o->symbols);
	struct cp_objects objects = { 0 }, others = { 0 };
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	const struct cp_layout_wish wish = { .glob = operands[1 + o->diff],
					     .holes = o->holes,
					     .json = o->json,
					     .look = { term.columns, term.color } };
	struct cp_error *err = cp_objects_file(operands[0], &options, &objects);

	if (!err && o->diff)
		err = cp_objects_file(operands[1], &options, &others);
	if (!err && o->diff)
		err = cp_layout_diff(objects.list.items[0].image, others.list.items[0].image, &wish,
				     out);
	else if (!err)
		err = cp_layout_all(objects.list.items[0].image, &wish, out);
	cp_objects_free(&others);
	cp_objects_free(&objects);
	return err;
}

static int run_layout(struct cp_args *args)
{
	struct layout_options *o = args->options;
	struct cp_buf out = { 0 };
	struct cp_error *err;

	if (o->diff && (o->all || o->holes))
		return cp_usage(args, "--diff is of two files, --all and --holes are of one");
	if (args->count > (o->diff ? 3 : 2))
		return cp_usage(args, "'%s' is one operand too many",
				args->operands[o->diff ? 3 : 2]);
	if (o->diff && args->count < 2)
		return cp_usage(args, "--diff needs two files: OLD and NEW");
	if (!o->all && !o->holes && !o->diff && args->count < 2)
		return cp_usage(args, "which type? --all shows them all");
	if (o->all || o->holes || o->diff)
		err = look_at_all(o, args->operands, &out);
	else
		err = look_up(o, args->operands[0], args->operands[1], &out);
	return cp_end_report(err, &out, o->json);
}

const struct cp_command cp_command_layout = {
	.name = "layout",
	.operands = "[options] FILE TYPE | --all|--holes FILE [GLOB] | --diff OLD NEW [GLOB]",
	.summary = "Size, offsets and holes of types",
	.details =
		"TYPE is a name as in the source: node, \"struct node\", ns::Widget, 'Box<int>'.\n"
		"What it is in may be left out. FILE is a program or a library with debug\n"
		"information.",
	.groups = groups,
	.options_size = sizeof(struct layout_options),
	.defaults = &defaults,
	.least = 1,
	.most = 3,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_FILES,
	.completes_next = CP_COMPLETES_TYPES,
	.run = run_layout,
};
