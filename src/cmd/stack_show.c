/* SPDX-License-Identifier: MIT
 *
 * Stacks as a person reads them, and as JSON.
 */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/stack_show.h"
#include "image/core.h"
#include "inspect/inspect.h"
#include "report/profile/values.h"

#define INDENT "           "
#define LEAST_COLUMNS 20u
/* Levels of a value that a line has room for, unless --depth says something. */
#define ARGUMENT_DEPTH 1
#define LOCAL_DEPTH 2

static const char *state_word(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting for the disk";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
		return "ended";
	default:
		return "unknown";
	}
}

struct show {
	const struct cp_stack_options *o;
	const struct cp_look *look;
};

static void add(struct cp_buf *out, const char *text)
{
	cp_escape(out, CP_ESCAPE_TERMINAL, text, strlen(text));
}

/* Registers that only the innermost frame has. */
static void show_other_registers(struct cp_buf *out, const struct cp_stack_frame *f)
{
	const char *const *name;
	uint64_t value;
	unsigned i = 0;

	for (name = cp_arch_host()->other_names; *name; name++)
		if (cprof_context_get(&f->context, *name, &value, NULL))
			cp_buf_printf(out, "%s%8s %016llx", i++ % 4 ? "  " : "\n        ", *name,
				      (unsigned long long)value);
}

static void show_registers(struct cp_buf *out, const struct cp_stack_frame *f)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t value;
	unsigned i;

	for (i = 0; i < arch->nregs; i++) {
		cp_buf_printf(out, "%s%4s ", i % 4 ? "  " : "\n        ", arch->reg_names[i]);
		if (cprof_context_get(&f->context, arch->reg_names[i], &value, NULL))
			cp_buf_printf(out, "%016llx", (unsigned long long)value);
		else
			cp_buf_printf(out, "%-16s", "?");
	}
	show_other_registers(out, f);
}

/* ---- values ---- */

static void show_value(struct cp_buf *out, const struct show *s, const cprof_value *v,
		       unsigned depth)
{
	struct cp_value_style style = { .depth = s->o->depth ? 0 : depth };

	add(out, *v->name ? v->name : "_");
	cp_buf_str(out, "=");
	cp_value_print(out, v, &style);
}

static void show_args(struct cp_buf *out, const struct show *s, const struct cp_stack_frame *f)
{
	size_t i;

	cp_buf_str(out, " (");
	for (i = 0; i < f->args.list.count; i++) {
		cp_buf_str(out, i ? ", " : "");
		show_value(out, s, f->args.list.items[i], ARGUMENT_DEPTH);
	}
	cp_buf_u8(out, ')');
}

/* A line of its own, cut to the width of a terminal. */
static void show_line(struct cp_buf *out, const struct show *s, struct cp_buf *line)
{
	cp_buf_u8(line, 0);
	cp_buf_str(out, "\n" INDENT);
	if (line->failed)
		cp_buf_str(out, "?");
	else if (s->look->columns > sizeof(INDENT) + LEAST_COLUMNS)
		cp_text_fit(out, (char *)line->bytes, s->look->columns - sizeof(INDENT));
	else
		cp_buf_str(out, (char *)line->bytes);
	line->size = 0;
}

/* Arguments in lines of their own, where the frame's is too short for them. */
static void show_args_below(struct cp_buf *out, const struct show *s,
			    const struct cp_stack_frame *f)
{
	struct cp_buf line = { 0 };
	size_t i;

	for (i = 0; i < f->args.list.count; i++) {
		cp_buf_str(&line, i ? " " : "(");
		show_value(&line, s, f->args.list.items[i], ARGUMENT_DEPTH);
		cp_buf_str(&line, i + 1 < f->args.list.count ? "," : ")");
		show_line(out, s, &line);
	}
	cp_buf_free(&line);
}

static void show_locals(struct cp_buf *out, const struct show *s, const struct cp_stack_frame *f)
{
	struct cp_buf line = { 0 };
	size_t i;

	for (i = 0; i < f->locals.list.count; i++) {
		show_value(&line, s, f->locals.list.items[i], LOCAL_DEPTH);
		show_line(out, s, &line);
	}
	cp_buf_free(&line);
}

/* ---- frames ---- */

static void show_name(struct cp_buf *out, const struct show *s, const struct cp_stack_frame *f,
		      bool args)
{
	struct cp_buf name = { 0 };
	const char *raw = f->function ? f->function : "??";
	size_t size = s->o->args && f->has_values ? cp_short_name(raw) : strlen(raw);

	if (f->signal && !f->function) {
		cp_buf_str(out, "<signal handler called>");
		return;
	}
	cp_escape(&name, CP_ESCAPE_TERMINAL, raw, size);
	cp_buf_u8(&name, 0);
	cp_paint(out, s->look, f->function ? CP_PAINT_NAME : CP_PAINT_DIM, (char *)name.bytes);
	cp_buf_free(&name);
	if (f->offset && !f->inlined)
		cp_buf_printf(out, "+%#llx", (unsigned long long)f->offset);
	if (args)
		show_args(out, s, f);
	if (f->signal)
		cp_buf_str(out, " <signal handler called>");
}

static void show_head(struct cp_buf *out, const struct show *s, size_t n,
		      const struct cp_stack_frame *f, bool args)
{
	char number[64];

	snprintf(number, sizeof(number), "  #%-3zu %016llx ", n, (unsigned long long)f->ip);
	cp_paint(out, s->look, CP_PAINT_DIM, number);
	show_name(out, s, f, args);
}

static void show_place(struct cp_buf *out, const struct cp_stack_frame *f)
{
	struct cp_buf file = { 0 };

	if (f->file) {
		cp_path_shorten(&file, f->file);
		cp_buf_str(out, " at ");
		add(out, file.bytes && !file.failed ? file.bytes : f->file);
		cp_buf_printf(out, ":%u", f->line);
		cp_buf_free(&file);
	}
	if (f->inlined)
		cp_buf_str(out, " (inlined)");
	else if (f->image) {
		cp_buf_str(out, " in ");
		add(out, f->image);
	}
	if (f->run > 1)
		cp_buf_printf(out, " (%u frames)", f->run);
	if (f->guessed)
		cp_buf_str(out, " (guessed)");
}

/* As wide as a terminal would show it. */
static size_t width_of(const struct show *s, size_t n, const struct cp_stack_frame *f, bool args)
{
	const struct cp_look plain = { 0 };
	const struct show flat = { s->o, &plain };
	struct cp_buf line = { 0 };
	size_t width;

	show_head(&line, &flat, n, f, args);
	show_place(&line, f);
	cp_buf_u8(&line, 0);
	width = line.failed ? 0 : cp_text_columns((char *)line.bytes);
	cp_buf_free(&line);
	return width;
}

/* On a line of its own where there is no room for both. */
static void show_head_and_place(struct cp_buf *out, const struct show *s, size_t n,
				const struct cp_stack_frame *f, bool args)
{
	struct cp_buf place = { 0 };

	show_head(out, s, n, f, args);
	if (!s->look->columns || width_of(s, n, f, args) <= s->look->columns) {
		show_place(out, f);
		return;
	}
	show_place(&place, f);
	if (place.size)
		show_line(out, s, &place);
	cp_buf_free(&place);
}

static bool fits(const struct show *s, size_t n, const struct cp_stack_frame *f)
{
	return !s->look->columns || !f->args.list.count ||
	       width_of(s, n, f, true) <= s->look->columns;
}

static void show_frame(struct cp_buf *out, const struct show *s, size_t n,
		       const struct cp_stack_frame *f)
{
	bool args = s->o->args && f->has_values, beside = args && fits(s, n, f);

	show_head_and_place(out, s, n, f, beside);
	if (args && !beside)
		show_args_below(out, s, f);
	if (s->o->registers && !f->inlined)
		show_registers(out, f);
	show_locals(out, s, f);
	cp_buf_str(out, f->truncated ? "\n       ... the stack goes on, but cannot be followed\n"
				     : "\n");
}

/* Was a frame pointer wanted that is not known? A thread that sleeps and was not stopped
 * has no registers but pc and sp. */
static bool lacks_frame_pointer(const struct cp_stack_options *o, const struct cp_stack_thread *t)
{
	return o->fp && !o->stop && t->frames.count &&
	       !cprof_context_fp(&t->frames.items[0].context) &&
	       t->frames.items[t->frames.count - 1].truncated;
}

/* ---- threads ---- */

/* Calls that are inlined into each other have one pc. */
static bool same_frame(const struct cp_stack_frame *a, const struct cp_stack_frame *b)
{
	return a->ip == b->ip && a->inlined == b->inlined && a->run == b->run &&
	       a->guessed == b->guessed && a->truncated == b->truncated && a->line == b->line &&
	       !strcmp(a->function ?: "", b->function ?: "");
}

static bool same_stack(const struct cp_stack_thread *a, const struct cp_stack_thread *b)
{
	size_t i;

	if (a->state != b->state || !a->captured || !b->captured ||
	    a->frames.count != b->frames.count || strcmp(a->name ?: "", b->name ?: "") != 0)
		return false;
	for (i = 0; i < a->frames.count; i++)
		if (!same_frame(&a->frames.items[i], &b->frames.items[i]))
			return false;
	return true;
}

#define IDS_SHOWN 20

/* The ids of the threads that stand where `first` does, which are not shown again;
 * how many. */
static size_t take_others(struct cp_stacks *c, struct cp_stack_thread *first, struct cp_buf *ids)
{
	const struct cp_stack_options *o = c->options;
	/* Whom the signal came to stands alone. */
	bool group = o->group && !o->registers && !o->args && !o->locals &&
		     (!c->core || !c->core->signal || first > c->threads.items);
	struct cp_stack_thread *end = c->threads.items + c->threads.count, *t;
	size_t count = 1;

	cp_buf_printf(ids, ": %d", first->tid);
	for (t = first + 1; group && t < end; t++) {
		if (t->shown || !same_stack(first, t))
			continue;
		t->shown = true;
		if (count++ < IDS_SHOWN)
			cp_buf_printf(ids, " %d", t->tid);
	}
	if (count > IDS_SHOWN)
		cp_buf_printf(ids, " and %zu more", count - IDS_SHOWN);
	return count;
}

/* `thread 17 "name", sleeping`, or `3 threads "name", sleeping: 17 18 24`. */
static void show_who(const struct show *s, struct cp_stacks *c, struct cp_stack_thread *t,
		     struct cp_buf *out)
{
	struct cp_buf who = { 0 }, ids = { 0 };
	size_t count = take_others(c, t, &ids);

	if (count > 1)
		cp_buf_printf(&who, "%zu threads", count);
	else
		cp_buf_printf(&who, "thread %d", t->tid);
	if (!c->core) {
		cp_buf_str(&who, " \"");
		add(&who, t->name ? t->name : "");
		cp_buf_printf(&who, "\", %s", state_word(t->state));
	}
	if (count > 1)
		cp_buf_add(&who, ids.bytes, ids.size);
	cp_buf_u8(out, '\n');
	cp_add_wrapped(out, s->look, 0, 2, who.bytes && !who.failed ? who.bytes : "");
	cp_buf_free(&who);
	cp_buf_free(&ids);
}

/* ---- frames over and over ---- */

#define PERIOD_MAX 16
#define LEAST_TIMES 4 /* of them, to be told once */

static bool same_run(const struct cp_stack_thread *t, size_t a, size_t b, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!same_frame(&t->frames.items[a + i], &t->frames.items[b + i]))
			return false;
	return true;
}

/* How often the `period` frames from `n` on come in a row. */
static size_t times_of(const struct cp_stack_thread *t, size_t n, size_t period)
{
	size_t times = 1;

	/* The last one is shown: that the stack goes on is said there. */
	while (n + (times + 1) * period < t->frames.count &&
	       same_run(t, n, n + times * period, period))
		times++;
	return times;
}

/* Recursion: what is shown from `n` on stands for that many times as many frames. */
static size_t repeats(const struct cp_stack_thread *t, size_t n, size_t *period_ret)
{
	size_t times;

	for (*period_ret = 1; *period_ret <= PERIOD_MAX; ++*period_ret) {
		times = times_of(t, n, *period_ret);
		if (times >= LEAST_TIMES)
			return times;
	}
	*period_ret = 1;
	return 1;
}

/* Answers how many frames that were. */
static size_t show_frames(const struct show *s, const struct cp_stack_thread *t, size_t n,
			  struct cp_buf *out)
{
	const struct cp_stack_options *o = s->o;
	size_t period = 1, times = 1, i;

	if (!o->registers && !o->args && !o->locals)
		times = repeats(t, n, &period);
	for (i = 0; i < period; i++)
		show_frame(out, s, n + i, &t->frames.items[n + i]);
	if (times > 1) {
		cp_buf_printf(out, "       ... the same %zu times more, up to #%zu\n", times - 1,
			      n + times * period - 1);
	}
	return times * period;
}

static void show_thread(const struct show *s, struct cp_stacks *c, struct cp_stack_thread *t,
			struct cp_buf *out)
{
	size_t i;

	show_who(s, c, t, out);
	if (!t->captured)
		cp_buf_str(out, "  it could not be stopped in time\n");
	for (i = 0; i < t->frames.count;)
		i += show_frames(s, t, i, out);
	if (lacks_frame_pointer(c->options, t))
		cp_buf_str(out, "       its frame pointer is not known while it sleeps: "
				"--stop interrupts it\n");
}

/* The first thread is the one that it came to. */
static void show_end(struct cp_buf *out, const struct cp_core *core)
{
	if (!core->signal)
		return;
	cp_buf_printf(out, "signal %d (%s)", core->signal, strsignal(core->signal));
	if (core->has_address)
		cp_buf_printf(out, " at address %#llx", (unsigned long long)core->address);
	cp_buf_printf(out, " in thread %d\n", (int)core->threads.items[0].tid);
}

void cp_stacks_text(struct cp_stacks *c, pid_t pid, const struct cp_look *look, struct cp_buf *out)
{
	const struct show s = { c->options, look };
	struct cp_stack_thread *t;

	cp_buf_printf(out, "%sprocess %d", c->core ? "core file of " : "", (int)pid);
	if (c->core && *c->core->command) {
		cp_buf_str(out, " \"");
		add(out, c->core->command);
		cp_buf_str(out, "\"");
	}
	cp_buf_printf(out, ", %zu thread%s\n", c->threads.count, c->threads.count == 1 ? "" : "s");
	if (c->core)
		show_end(out, c->core);
	cp_vec_for_each(&c->threads, t)
		if (!t->shown)
			show_thread(&s, c, t, out);
}

static void json_registers(struct cp_json *j, const struct cp_stack_frame *f)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t value;
	unsigned i;

	cp_json_begin(j, "registers", '{');
	for (i = 0; i < arch->nregs; i++) {
		if (cprof_context_get(&f->context, arch->reg_names[i], &value, NULL))
			cp_json_hex(j, arch->reg_names[i], value);
		else
			cp_json_null(j, arch->reg_names[i]);
	}
	for (i = 0; arch->other_names[i]; i++)
		if (cprof_context_get(&f->context, arch->other_names[i], &value, NULL))
			cp_json_hex(j, arch->other_names[i], value);
	cp_json_end(j, '}');
}

static void json_values(struct cp_json *j, const char *key, bool asked,
			const struct cp_stack_frame *f, const struct cp_stack_values *values)
{
	size_t i;

	if (!asked)
		return;
	if (!f->has_values) {
		cp_json_null(j, key);
		return;
	}
	cp_json_begin(j, key, '[');
	for (i = 0; i < values->list.count; i++)
		cp_value_member(j, NULL, values->list.items[i]);
	cp_json_end(j, ']');
}

static void json_frame(struct cp_json *j, const struct cp_stack_options *o,
		       const struct cp_stack_frame *f)
{
	cp_json_begin(j, NULL, '{');
	cp_json_hex(j, "ip", f->ip);
	cp_json_str(j, "function", f->function);
	cp_json_str(j, "image", f->image);
	cp_json_hex(j, "offset", f->offset);
	cp_json_str(j, "file", f->file);
	cp_json_u64(j, "line", f->line);
	cp_json_hex(j, "cfa", f->cfa);
	cp_json_bool(j, "inlined", f->inlined);
	cp_json_bool(j, "signal", f->signal);
	cp_json_bool(j, "guessed", f->guessed);
	cp_json_bool(j, "truncated", f->truncated);
	cp_json_u64(j, "run", f->run);
	if (o->registers)
		json_registers(j, f);
	json_values(j, "args", o->args, f, &f->args);
	json_values(j, "locals", o->locals, f, &f->locals);
	cp_json_end(j, '}');
}

static void json_core(struct cp_json *j, const struct cp_core *core)
{
	cp_json_begin(j, "core", '{');
	cp_json_str(j, "command", *core->command ? core->command : NULL);
	if (core->signal)
		cp_json_u64(j, "signal", (uint64_t)core->signal);
	else
		cp_json_null(j, "signal");
	if (core->has_address)
		cp_json_hex(j, "address", core->address);
	else
		cp_json_null(j, "address");
	cp_json_end(j, '}');
}

void cp_stacks_json(const struct cp_stacks *c, pid_t pid, struct cp_buf *out)
{
	struct cp_json j = { .out = out, .pretty = true };
	struct cp_stack_thread *t;
	struct cp_stack_frame *f;

	cp_json_begin(&j, NULL, '{');
	cp_json_u64(&j, "pid", (uint64_t)pid);
	if (c->core)
		json_core(&j, c->core);
	cp_json_begin(&j, "threads", '[');
	cp_vec_for_each(&c->threads, t) {
		char state[2] = { t->state ? t->state : '?', 0 };

		cp_json_begin(&j, NULL, '{');
		cp_json_u64(&j, "tid", (uint64_t)t->tid);
		cp_json_str(&j, "name", t->name);
		cp_json_str(&j, "state", state);
		cp_json_bool(&j, "captured", t->captured);
		cp_json_begin(&j, "frames", '[');
		cp_vec_for_each(&t->frames, f)
			json_frame(&j, c->options, f);
		cp_json_end(&j, ']');
		cp_json_end(&j, '}');
	}
	cp_json_end(&j, ']');
	cp_json_end(&j, '}');
	cp_buf_u8(out, '\n');
}
