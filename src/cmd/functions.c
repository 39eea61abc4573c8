/* SPDX-License-Identifier: MIT
 *
 * cprof functions: what can be traced, and why not where not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/fast.h"
#include "cmd/objects.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "probe/library_calls.h"
#include "probe/near.h"
#include "probe/plan.h"
#include "report/look/table.h"

struct functions_options {
	bool json, partly;
	struct cp_symbols_options symbols;
};

#define AT(field) offsetof(struct functions_options, field)

static const struct cp_option output_options[] = {
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "one JSON array" },
	{ "partly", 0, CP_OPTION_TRUE, AT(partly),
	  .help = "only functions that can't be traced at their entry and every exit" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", output_options, 0 },
						 { "Symbols", cp_symbols_options, AT(symbols) },
						 { 0 } };

static const struct functions_options defaults = { .symbols.debuginfod.ask = true };

/* One line of the answer. */
struct row {
	const struct cp_object *object;
	struct cp_probe_functions *functions;
	struct cp_probe_function *function;
	enum cp_probe_why why;
	const char *why_text; /* static */
	unsigned slow; /* enum cp_slow */
	unsigned returns, tail_calls, indirect;
	size_t inlined; /* places */
};

struct answer {
	struct functions_options *options;
	struct cp_spec *spec;
	struct cp_objects objects;
	struct cp_probe_functions *functions; /* of each object; owned */
	CP_VEC(struct row) rows;
	size_t counts[CP_PROBE_WITHHELD + 1], slow[CP_SLOWS];
	size_t matched, inlined, inlined_places; /* functions; of those, and where */
	struct cp_near near;
};

/* ---- planning ---- */

static const struct cp_arch *arch_of(const struct cp_image *image)
{
	static const struct cp_arch *const known[] = { &cp_arch_x86_64, &cp_arch_aarch64 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(known); i++) {
		if (known[i]->e_machine == cp_image_machine(image))
			return known[i];
	}
	return NULL;
}

static bool add_row(struct answer *a, const struct row *base, const struct cp_probe_plan *plan,
		    const struct cp_inlined_index *inlined)
{
	const struct cp_probe_site *s;
	struct row row = *base;

	a->slow[row.slow]++;
	row.why = plan->why;
	row.why_text = plan->why_text;
	row.inlined = inlined ? cp_inlined_places(inlined, row.function->address) : 0;
	a->inlined += row.inlined > 0;
	a->inlined_places += row.inlined;
	cp_vec_for_each(&plan->sites, s) {
		row.returns += s->kind == CP_PROBE_SITE_RETURN;
		row.tail_calls +=
			s->kind == CP_PROBE_SITE_TAIL || s->kind == CP_PROBE_SITE_TAIL_CONDITIONAL;
		row.indirect += s->kind == CP_PROBE_SITE_INDIRECT;
	}
	a->counts[plan->why]++;
	if (a->options->partly && (row.why == CP_PROBE_FULL || row.why == CP_PROBE_NO_EXIT))
		return true;
	return cp_vec_push(&a->rows, row);
}

static struct cp_probe_image probe_image(const struct answer *a, size_t number)
{
	const struct cp_object *o = &a->objects.list.items[number];

	return (struct cp_probe_image){ o->image, o->path, o->started_as, o->program,
					&a->functions[number] };
}

static CP_ERROR plan_matching(struct answer *a, size_t number, struct cp_decoder *decoder)
{
	const struct cp_object *o = &a->objects.list.items[number];
	struct cp_probe_functions *all = &a->functions[number];
	const struct cp_probe_image image = probe_image(a, number);
	struct cp_reader memory = cp_probe_file_reader(o->image);
	struct cp_inlined_index *inlined = NULL;
	struct cp_probe_plan plan = { 0 };
	struct cp_fast fast = {
		.arch = arch_of(o->image), .decoder = decoder, .image = o->image, .functions = all
	};
	struct cp_error *err = NULL;
	struct row row = { .object = o, .functions = all };
	size_t i;

	for (i = 0; !err && i < all->count; i++) {
		row.function = &all->items[i];
		if (cp_probe_match(a->spec, &image, row.function) == CP_SPEC_NO)
			continue;
		if (row.function->kind == CP_PROBE_PLT)
			err = cp_probe_find_library_calls(decoder, o->image, all);
		if (err || !cp_probe_is_entered(all, i))
			continue;
		a->matched++;
		if (!inlined)
			inlined = cp_inlined_index_create(o->image);
		err = inlined ? NULL : cp_error_nomem();
		err = err ? err
			  : cp_probe_plan_function(decoder, &memory, all, row.function, &plan);
		err = err ? err : cp_fast_ask(&fast, row.function, &plan, &row.slow);
		if (!err && !add_row(a, &row, &plan, inlined))
			err = cp_error_nomem();
	}
	if (!a->matched)
		cp_near_try(&a->near, a->spec, &image);
	cp_fast_deinit(&fast);
	cp_probe_plan_free(&plan);
	cp_inlined_index_destroy(inlined);
	return err;
}

static CP_ERROR plan_object(struct answer *a, size_t number)
{
	const struct cp_object *o = &a->objects.list.items[number];
	const struct cp_arch *arch = arch_of(o->image);
	struct cp_decoder *decoder;
	struct cp_error *err;

	if (!arch || !cp_image_is_64bit(o->image))
		return cp_error_new(CP_ERR_UNSUPPORTED, 0,
				    "%s is not for x86-64: its code can't be read", o->path);
	CP_TRY(cp_probe_functions_read(o->image, &a->functions[number]));
	decoder = cp_decoder_create(arch);
	if (!decoder)
		return cp_error_nomem();
	err = plan_matching(a, number, decoder);
	cp_decoder_destroy(decoder);
	return err;
}

static bool wanted(void *ctx, const char *path, const char *started_as, bool program)
{
	const struct cp_probe_image image = { .name = path,
					      .started_as = started_as,
					      .program = program };
	const struct answer *a = ctx;

	return cp_probe_wants_image(a->spec, &image);
}

static CP_ERROR open_objects(struct answer *a, const char *operand)
{
	struct cp_image_options options = cp_symbols_image(&a->options->symbols);
	uint64_t pid;

	if (cp_parse_u64(operand, INT32_MAX, &pid) && pid)
		return cp_objects_process((pid_t)pid, &options, wanted, a, &a->objects);
	return cp_objects_file(operand, &options, &a->objects);
}

static CP_ERROR nothing_matched(struct answer *a, const char *operand, const char *spec)
{
	struct cp_buf hint CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err =
		cp_error_new(CP_ERR_NOT_FOUND, 0, "no function of %s matches '%s'", operand, spec);
	size_t i;

	for (i = 0; i < a->objects.list.count; i++) {
		const struct cp_probe_image image = probe_image(a, i);

		cp_inlined_try(&a->near.inlined, spec, &image);
	}
	if (cp_near_text(&a->near, &hint) && !hint.failed)
		cp_error_hint(err, "%s", hint.bytes);
	return err;
}

static CP_ERROR make_answer(struct answer *a, const char *operand, const char *spec)
{
	size_t i;

	CP_TRY(cp_spec_parse(spec, &a->spec));
	CP_TRY(open_objects(a, operand));
	a->functions = calloc(a->objects.list.count + 1, sizeof(*a->functions));
	if (!a->functions)
		return cp_error_nomem();
	for (i = 0; i < a->objects.list.count; i++)
		CP_TRY(plan_object(a, i));
	return a->matched ? NULL : nothing_matched(a, operand, spec);
}

static void free_answer(struct answer *a)
{
	size_t i;

	for (i = 0; a->functions && i < a->objects.list.count; i++)
		cp_probe_functions_free(&a->functions[i]);
	free(a->functions);
	cp_objects_free(&a->objects);
	cp_spec_destroy(a->spec);
	cp_near_free(&a->near);
	cp_vec_free(&a->rows);
}

/* ---- JSON ---- */

static const char *name_of_object(const struct cp_object *o)
{
	return cp_basename(o->started_as ? o->started_as : o->path);
}

static const char *name_of(const struct row *r)
{
	const char *name = cp_probe_function_name(r->function);

	return name ? name : r->function->linkage_name;
}

static bool has_entry(const struct row *r)
{
	return r->why == CP_PROBE_FULL || r->why == CP_PROBE_BY_RETURN ||
	       r->why == CP_PROBE_NO_EXIT;
}

static void add_place(struct cp_json *j, const struct row *r)
{
	struct cp_inline_frame frames[16];
	size_t n = cp_image_frames(r->object->image, (struct cp_vaddr){ r->function->address },
				   frames, CP_ARRAY_SIZE(frames));
	const struct cp_inline_frame *f = n && n <= CP_ARRAY_SIZE(frames) ? &frames[n - 1] : NULL;

	if (!f || !f->file) {
		cp_json_null(j, "file");
		cp_json_null(j, "line");
		return;
	}
	cp_json_str(j, "file", f->file);
	cp_json_u64(j, "line", f->decl_line ? f->decl_line : f->line);
}

/* What stands in the way of tracing it in full, and of doing so without stops. */
static void add_why(struct cp_json *j, const struct row *r)
{
	bool same = r->slow == CP_DETOUR_WHY_SITES || r->slow == CP_SLOW_UNTRACED;
	struct cp_buf why CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_str(&why, r->why_text);
	if (r->slow && !(same && why.size))
		cp_buf_printf(&why, "%s%s", why.size ? "; " : "", cp_slow_text(r->slow));
	cp_json_str(j, "why", why.bytes ? why.bytes : "");
}

static void add_object(struct cp_json *j, const struct row *r)
{
	static const char *const kinds[] = { "function", "plt", "ifunc" };
	const struct cp_probe_function *f = r->function;
	size_t i;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "function", name_of(r));
	cp_json_str(j, "linkage_name", f->linkage_name);
	cp_json_begin(j, "aliases", '[');
	for (i = 0; i < f->alias_count; i++)
		cp_json_str(j, NULL, r->functions->aliases.items[f->first_alias + i].linkage_name);
	cp_json_end(j, ']');
	cp_json_str(j, "kind", kinds[f->kind]);
	cp_json_str(j, "image", name_of_object(r->object));
	cp_json_hex(j, "address", f->address + r->object->bias);
	cp_json_u64(j, "size", f->size);
	add_place(j, r);
	cp_json_bool(j, "entry", has_entry(r));
	cp_json_u64(j, "returns", r->returns);
	cp_json_u64(j, "tail_calls", r->tail_calls);
	cp_json_u64(j, "indirect", r->indirect);
	cp_json_u64(j, "inlined", r->inlined);
	cp_json_bool(j, "full", r->why == CP_PROBE_FULL || r->why == CP_PROBE_NO_EXIT);
	cp_json_bool(j, "fast", r->slow == CP_FAST);
	add_why(j, r);
	cp_json_end(j, '}');
}

static void write_json(const struct answer *a, struct cp_buf *out)
{
	struct cp_json j = { .out = out };
	const struct row *r;

	cp_json_begin(&j, NULL, '[');
	cp_vec_for_each(&a->rows, r) {
		cp_buf_u8(out, '\n');
		add_object(&j, r);
	}
	cp_json_end(&j, ']');
	cp_buf_u8(out, '\n');
}

/* ---- the table ---- */

/* The word before the reason. */
static const char *word_for(enum cp_probe_why why)
{
	switch (why) {
	case CP_PROBE_BY_RETURN:
		return "by return address: ";
	case CP_PROBE_NO_EXIT:
		return "entry only: ";
	case CP_PROBE_REFUSED:
	case CP_PROBE_NO_CODE:
		return "refused: ";
	case CP_PROBE_WITHHELD:
		return "withheld: ";
	case CP_PROBE_FULL:
		break;
	}
	return "";
}

static void add_number(struct cp_table *t, uint64_t number)
{
	cp_table_cell(t, number ? CP_PAINT_PLAIN : CP_PAINT_DIM, "%" PRIu64, number);
}

/* Names of clones and stubs say so. */
static void add_name(struct cp_table *t, const struct row *r)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	const char *linkage = r->function->linkage_name, *dot = strrchr(linkage, '.');

	cp_buf_str(&name, name_of(r));
	if ((r->function->flags & CP_PROBE_CLONE) && dot) {
		while (dot > linkage && dot[1] >= '0' && dot[1] <= '9')
			dot = memrchr(linkage, '.', (size_t)(dot - linkage));
		cp_buf_printf(&name, " [%s]", dot ? dot : "clone");
	}
	if (r->function->kind == CP_PROBE_IFUNC)
		cp_buf_str(&name, " [ifunc]");
	cp_table_function(t, has_entry(r) ? CP_PAINT_NAME : CP_PAINT_WARNING,
			  name.bytes ? name.bytes : "");
}

static void add_row_cells(struct cp_table *t, const struct row *r, bool inlined, bool images,
			  bool reasons)
{
	bool bad = !has_entry(r);

	cp_table_cell(t, CP_PAINT_DIM, "%" PRIx64, r->function->address + r->object->bias);
	add_number(t, r->function->size);
	cp_table_cell(t, bad ? CP_PAINT_WARNING : CP_PAINT_COOL, "%s", bad ? "no" : "yes");
	cp_table_cell(t, r->slow ? CP_PAINT_WARM : CP_PAINT_COOL, "%s", cp_slow_word(r->slow));
	if (r->why == CP_PROBE_FULL || r->why == CP_PROBE_NO_EXIT) {
		add_number(t, r->returns);
		add_number(t, r->tail_calls);
		add_number(t, r->indirect);
	} else {
		cp_table_cell(t, CP_PAINT_DIM, "-");
		cp_table_cell(t, CP_PAINT_DIM, "-");
		cp_table_cell(t, CP_PAINT_DIM, "-");
	}
	if (inlined)
		add_number(t, r->inlined);
	if (images)
		cp_table_name(t, CP_PAINT_PLAIN, name_of_object(r->object));
	add_name(t, r);
	if (reasons)
		cp_table_cell(t, r->why == CP_PROBE_NO_EXIT ? CP_PAINT_DIM : CP_PAINT_WARM, "%s%s",
			      word_for(r->why), r->why_text);
}

static void write_table(const struct answer *a, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_column columns[11] = {
		{ "address", .right = true },
		{ "size", .right = true },
		{ "entry", .right = true },
		{ "fast", .right = true },
		{ "returns", .right = true, .spare = true },
		{ "tail calls", .right = true, .spare = true },
		{ "indirect", .right = true, .spare = true },
	};
	size_t count = 7, with_images = 0, i;
	bool reasons = false, inlined = false;
	struct cp_table table;
	const struct row *r;

	for (i = 0; i < a->objects.list.count; i++)
		with_images += a->functions[i].count > 0;
	cp_vec_for_each(&a->rows, r) {
		reasons |= r->why != CP_PROBE_FULL;
		inlined |= r->inlined > 0;
	}
	if (inlined)
		columns[count++] = (struct cp_column){ "inlined", .right = true };
	if (with_images > 1)
		columns[count++] = (struct cp_column){ "image", .give = 12 };
	columns[count++] = (struct cp_column){ "function", .give = reasons ? 24 : 0 };
	if (reasons)
		columns[count++] = (struct cp_column){ "why not all of it" };
	cp_table_init(&table, columns, count);
	cp_vec_for_each(&a->rows, r)
		add_row_cells(&table, r, inlined, with_images > 1, reasons);
	cp_table_print(&table, look, out);
	cp_table_deinit(&table);
}

static void add_count(struct cp_buf *out, size_t count, const char *what, bool always)
{
	if (!count && !always)
		return;
	cp_buf_str(out, ", ");
	cp_add_count(out, count);
	cp_buf_printf(out, " %s", what);
}

/* How many are fast, and why the others are not. */
static void write_fast(const struct answer *a, struct cp_buf *out)
{
	bool all = a->slow[CP_FAST] == a->matched;
	unsigned i;

	cp_add_count(out, a->slow[CP_FAST]);
	cp_buf_printf(out, " of them fast (%.1f %%): seen by detours, without a stop%s\n",
		      100.0 * (double)a->slow[CP_FAST] / (double)a->matched,
		      all ? "" : "; the others:");
	for (i = CP_FAST + 1; i < CP_SLOWS; i++) {
		if (!a->slow[i])
			continue;
		cp_buf_printf(out, "%8zu  %-7s  %s\n", a->slow[i], cp_slow_word(i),
			      cp_slow_text(i));
	}
}

static void write_summary(const struct answer *a, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (a->rows.count)
		cp_buf_u8(out, '\n');
	cp_add_plural(&text, a->matched, "function", "functions");
	cp_buf_str(&text, ": ");
	cp_add_count(&text, a->counts[CP_PROBE_FULL]);
	cp_buf_str(&text, " fully traceable");
	add_count(&text, a->counts[CP_PROBE_NO_EXIT], "that never return", false);
	add_count(&text, a->counts[CP_PROBE_BY_RETURN], "by return address", true);
	add_count(&text, a->counts[CP_PROBE_WITHHELD], "withheld", false);
	add_count(&text, a->counts[CP_PROBE_REFUSED] + a->counts[CP_PROBE_NO_CODE], "refused",
		  true);
	cp_add_wrapped(out, look, 0, 2, text.bytes ? text.bytes : "");
	write_fast(a, out);
	if (!a->inlined)
		return;
	cp_add_count(out, a->inlined);
	cp_buf_printf(out, a->inlined > 1 ? " of them are inlined, too, in "
					  : " of them is inlined, too, in ");
	cp_add_plural(out, a->inlined_places, "place", "places");
	cp_buf_str(out, ": such calls are not seen\n");
}

/* ---- the command ---- */

static int run_functions(struct cp_args *args)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct answer a = { .options = args->options };
	bool json = a.options->json;
	struct cp_buf out = { 0 };
	struct cp_error *err;

	err = make_answer(&a, args->operands[0], args->count > 1 ? args->operands[1] : "program");
	if (!err && json) {
		write_json(&a, &out);
	} else if (!err) {
		if (a.rows.count)
			write_table(&a, &look, &out);
		write_summary(&a, &look, &out);
	}
	free_answer(&a);
	return cp_end_report(err, &out, json);
}

const struct cp_command cp_command_functions = {
	.name = "functions",
	.operands = "[options] FILE|PID [SPEC]",
	.summary = "What can be traced, and why not where not",
	.details =
		"SPEC is a list with commas between; the last entry that matches wins, - before\n"
		"an entry excludes: NAME, a glob, NAME@IMAGE, /REGEX/, all, program, lib:GLOB,\n"
		"src:GLOB, class:GLOB, ns:GLOB, plt:GLOB. Without it: program.",
	.groups = groups,
	.options_size = sizeof(struct functions_options),
	.defaults = &defaults,
	.least = 1,
	.most = 2,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_FILES,
	.completes_next = CP_COMPLETES_FUNCTIONS,
	.run = run_functions,
};
