/* SPDX-License-Identifier: MIT */
#include "cmd/inspect_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/inspect_classes.h"
#include "cmd/reports.h"
#include "inspect/evaluate.h"

#define LOOKS 6 /* until two in a row agree */

/* ---- showing ---- */

static void show_note(struct cp_inspect *i, const char *note)
{
	cp_buf_str(i->out, "    ");
	cp_paint(i->out, &i->look, CP_PAINT_DIM, note);
	cp_buf_u8(i->out, '\n');
}

static void show_notes(struct cp_inspect *i)
{
	char **note;

	cp_vec_for_each(&i->in.notes, note)
		show_note(i, *note);
	if (i->torn)
		show_note(i, "torn: it changed while it was read");
}

static void show_text(struct cp_inspect *i, const char *expression, const cprof_value *v)
{
	const struct cp_value_style style = { .escape_terminal = true, .addresses = true };

	cp_paint(i->out, &i->look, CP_PAINT_NAME, expression);
	cp_buf_str(i->out, " = ");
	cp_value_print_lines(i->out, v, &style, i->look.columns ? i->look.columns : 80,
			     cp_text_columns(expression) + 3);
	cp_buf_u8(i->out, '\n');
	show_notes(i);
}

static void add_value(struct cp_json *j, const char *key, const cprof_value *v)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_value_json_addresses(&text, v);
	if (text.failed)
		cp_json_null(j, key);
	else
		cp_json_raw(j, key, text.bytes, text.size);
}

/* Which parts of a value, or of what its pointer leads to, are null or not whole. */
static void add_lacks(struct cp_json *j, const cprof_value *v)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_value_json_addresses_lacks(&text, v);
	if (text.size && !text.failed)
		cp_json_raw(j, "lacks", text.bytes, text.size);
}

static void begin_object(struct cp_inspect *i, const char *expression)
{
	struct cp_json *j = &i->json;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "expression", expression);
	if (i->threads.list.count > 1 || i->frames.chosen)
		cp_json_u64(j, "tid", (uint64_t)i->in.tid);
	if (i->frames.chosen) {
		cp_json_u64(j, "frame", i->frames.chosen->number);
		cp_json_str(j, "function", i->frames.chosen->function);
	}
}

void cp_inspect_lacks(struct cp_inspect *i, const char *expression, const struct cp_error *err)
{
	struct cp_json *j = &i->json;

	if (!i->o->json || i->rehearsing)
		return;
	begin_object(i, expression);
	cp_json_null(j, "type");
	cp_json_null(j, "address");
	cp_json_null(j, "value");
	cp_json_str(j, "error", cp_value_error_name(CPROF_VALUE_UNAVAILABLE));
	cp_json_str(j, "why", err->what);
	cp_json_end(j, '}');
}

static void show_json(struct cp_inspect *i, const char *expression, const struct cp_thing *thing,
		      const cprof_value *v)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_json *j = &i->json;
	char **note;

	cp_value_print(&text, v, NULL);
	cp_buf_u8(&text, 0);
	begin_object(i, expression);
	cp_json_str(j, "type", v->type);
	if (thing->in_memory && !thing->bits && !thing->error)
		cp_json_hex(j, "address", thing->address);
	else
		cp_json_null(j, "address");
	add_value(j, "value", v);
	if (v->kind == CPROF_VALUE_POINTER && v->count)
		add_value(j, "target", v->items);
	cp_json_str(j, "text", text.failed ? "" : (char *)text.bytes);
	cp_json_str(j, "source", cp_value_source_name(v->source));
	if (v->kind == CPROF_VALUE_ERROR)
		cp_json_str(j, "error", cp_value_error_name(v->error));
	if (v->cut)
		cp_json_bool(j, "cut", true);
	add_lacks(j, v);
	if (i->torn)
		cp_json_bool(j, "torn", true);
	if (i->in.library)
		cp_json_str(j, "image", i->in.library);
	if (i->in.library && i->in.library_file)
		cp_json_str(j, "file", i->in.library_file);
	if (i->in.notes.count) {
		cp_json_begin(j, "notes", '[');
		cp_vec_for_each(&i->in.notes, note)
			cp_json_str(j, NULL, *note);
		cp_json_end(j, ']');
	}
	cp_json_end(j, '}');
}

/* Of who sleeps, the kernel tells few registers. */
static void note_registers(struct cp_inspect *i, const cprof_value *v)
{
	char *note;

	if (v->kind != CPROF_VALUE_ERROR || v->error != CPROF_VALUE_UNAVAILABLE ||
	    !i->frames.chosen || !i->frames.leaf.slept)
		return;
	note = strdup("the thread sleeps: --stop may tell");
	if (note && !cp_vec_push(&i->in.notes, note))
		free(note);
}

void cp_inspect_show(struct cp_inspect *i, const char *expression, const struct cp_thing *thing,
		     const cprof_value *v)
{
	note_registers(i, v);
	cp_inspect_note_classes(i, expression, thing, v);
	if (i->o->json)
		show_json(i, expression, thing, v);
	else
		show_text(i, expression, v);
}

void cp_inspect_forget_notes(struct cp_inspect *i)
{
	char **note;

	cp_vec_for_each(&i->in.notes, note)
		free(*note);
	i->in.notes.count = 0;
	i->in.library = i->in.library_file = NULL;
}

void cp_inspect_forget(struct cp_inspect *i)
{
	cp_inspect_forget_notes(i);
	cp_value_arena_reset(i->in.env.values);
	cp_arena_reset(&i->in.arena);
}

CP_ERROR cp_inspect_about(const char *expression, struct cp_error *err)
{
	struct cp_error *told;

	if (cp_starts_with(err->what, "expression "))
		return err;
	told = cp_error_new(err->code, 0, "%s: %s", expression, err->what);
	if (err->hint)
		cp_error_hint(told, "%s", err->hint);
	cp_error_free(err);
	return told;
}

CP_ERROR cp_inspect_look(struct cp_inspect *i, cp_inspect_look_fn look, const void *what,
			 struct cp_thing *ret, const cprof_value **value_ret)
{
	struct cp_error *err;
	unsigned n;

	i->torn = false;
	for (n = 0; n < LOOKS; n++) {
		if (n)
			cp_inspect_forget(i);
		i->in.reading = i->in.pid ? &i->looks[n % 2] : NULL;
		cp_reads_clear(&i->looks[n % 2]);
		err = look(i, what, ret, value_ret);
		i->in.reading = NULL;
		if (err || !i->in.pid || !*value_ret || cp_reads_is_word(&i->looks[n % 2]) ||
		    (n && cp_reads_agree(&i->looks[(n + 1) % 2], &i->looks[n % 2])))
			return err;
	}
	i->torn = true;
	return NULL;
}

static CP_ERROR look_at_expression(struct cp_inspect *i, const void *what, struct cp_thing *ret,
				   const cprof_value **value_ret)
{
	CP_TRY(cp_expression_evaluate(what, &i->in.env, ret));
	*value_ret = ret->type || ret->error ? cp_thing_value(&i->in.env, ret) : NULL;
	return NULL;
}

CP_ERROR cp_inspect_one(struct cp_inspect *i, const char *text)
{
	struct cp_condition *expression = NULL;
	const cprof_value *v = NULL;
	struct cp_thing thing;
	struct cp_error *err;

	CP_TRY(cp_expression_parse(text, &expression));
	err = cp_inspect_look(i, look_at_expression, expression, &thing, &v);
	cp_condition_destroy(expression);
	if (err)
		return cp_inspect_about(text, err);
	if (v)
		cp_inspect_show(i, text, &thing, v);
	cp_inspect_forget(i);
	if (v)
		return NULL;
	if (thing.error || thing.type)
		return cp_error_nomem();
	return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
					  "%s: no debug information tells its type", text),
			     "cast it: (int)%s, *(double *)&%s, or, where another file tells of "
			     "the type, *(struct node *)&%s; debug information that is "
			     "elsewhere: --debug-dir=DIR",
			     text, text, text);
}

/* ---- threads ---- */

static void show_thread(struct cp_inspect *i, pid_t tid)
{
	struct cp_buf line = { 0 };
	char name[64];

	cp_buf_printf(&line, "thread %d", (int)tid);
	cp_threads_name(&i->in, tid, name);
	if (*name) {
		cp_buf_str(&line, " \"");
		cp_escape(&line, CP_ESCAPE_TERMINAL, name, strlen(name));
		cp_buf_str(&line, "\"");
	}
	cp_buf_u8(&line, 0);
	cp_paint(i->out, &i->look, CP_PAINT_TITLE, line.failed ? "?" : (char *)line.bytes);
	cp_buf_u8(i->out, '\n');
	cp_buf_free(&line);
}

static void show_frame(struct cp_inspect *i)
{
	const struct cp_inspected_frame *f = i->frames.chosen;
	struct cp_buf line = { 0 }, file = { 0 };

	cp_buf_printf(&line, "#%zu ", f->number);
	if (f->function)
		cp_escape(&line, CP_ESCAPE_TERMINAL, f->function, strlen(f->function));
	else
		cp_buf_str(&line, "??");
	if (f->file) {
		cp_path_shorten(&file, f->file);
		cp_buf_str(&line, " at ");
		cp_escape(&line, CP_ESCAPE_TERMINAL, (char *)file.bytes, file.size);
		cp_buf_printf(&line, ":%u", f->line);
	}
	cp_buf_str(&line, f->inlined ? " (inlined)" : "");
	cp_buf_u8(&line, 0);
	cp_paint(i->out, &i->look, CP_PAINT_TITLE, line.failed ? "?" : (char *)line.bytes);
	cp_buf_u8(i->out, '\n');
	cp_buf_free(&line);
	cp_buf_free(&file);
}

void cp_inspect_head(struct cp_inspect *i)
{
	if (i->o->json)
		return;
	if (i->threads.list.count > 1)
		show_thread(i, i->in.tid);
	if (i->frames.chosen)
		show_frame(i);
}

/* ---- all variables ---- */

struct global_of {
	const struct cp_object *object;
	const struct cp_global *global;
};

static CP_ERROR look_at_global(struct cp_inspect *i, const void *what, struct cp_thing *ret,
			       const cprof_value **value_ret)
{
	const struct global_of *g = what;

	*ret = cp_inspected_global(&i->in, g->object, g->global);
	*value_ret = ret->type || ret->error ? cp_thing_value(&i->in.env, ret) : NULL;
	return NULL;
}

static CP_ERROR show_globals_of(struct cp_inspect *i, struct cp_object *object, const char *glob,
				size_t *count)
{
	struct cp_globals found = { 0 };
	const struct cp_global *g;
	const cprof_value *v;
	struct cp_thing thing;

	CP_TRY(cp_image_find_globals(object->image, &(struct cp_global_query){ .glob = glob },
				     &found));
	cp_vec_for_each(&found.list, g) {
		cp_error_free(cp_inspect_look(i, look_at_global, &(struct global_of){ object, g },
					      &thing, &v));
		if (v)
			cp_inspect_show(i, g->name, &thing, v);
		cp_inspect_forget(i);
	}
	*count += found.list.count;
	cp_globals_free(&found);
	return NULL;
}

CP_ERROR cp_inspect_globals(struct cp_inspect *i, const char *glob)
{
	struct cp_object *o;
	size_t count = 0;

	cp_vec_for_each(&i->in.objects.list, o) {
		CP_TRY(show_globals_of(i, o, glob, &count));
		if (count)
			return NULL;
	}
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "no static variable's name matches %s", glob);
}

/* ---- what is asked for ---- */

void cp_inspect_fail(struct cp_inspect *i, struct cp_error *err)
{
	if (i->rehearsing)
		cp_error_free(err);
	else if (!i->gathering || !cp_vec_push(&i->errors, err))
		i->status = cp_reports_fail(err);
}

void cp_inspect_drop_errors(struct cp_inspect *i, size_t count)
{
	while (i->errors.count > count)
		cp_error_free(i->errors.items[--i->errors.count]);
}

void cp_inspect_tell_errors(struct cp_inspect *i)
{
	struct cp_error **err;

	cp_vec_for_each(&i->errors, err)
		i->status = cp_reports_fail(*err);
	cp_vec_free(&i->errors);
}
