/* SPDX-License-Identifier: MIT
 *
 * cprof inspect: what a program holds, by name, while it runs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/inspecting.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "inspect/evaluate.h"
#include "inspect/inspect.h"
#include "inspect/shape_file.h"
#include "inspect/shape_ops.h"
#include "transcript/look.h"

#define BYTES_MAX (UINT32_C(1) << 20) /* of one value */
#define SHAPES_MAX (1u << 20) /* of a file of declarations */

struct inspect_options {
	uint64_t depth, limit, string, watch_ns;
	const char *thread;
	struct cp_texts globals, shapes;
	bool json;
	struct cp_symbols_options symbols;
};

#define AT(field) offsetof(struct inspect_options, field)

static const struct cp_option output_options[] = {
	{ "depth", 0, CP_OPTION_NUMBER, AT(depth), .value = "N", .min = 1, .max = 16,
	  .help = "follow structures and pointers N levels (3 unless told)" },
	{ "limit", 0, CP_OPTION_NUMBER, AT(limit), .value = "N", .min = 1, .max = 100000,
	  .help = "elements of an array or a container (64 unless told)" },
	{ "string", 0, CP_OPTION_NUMBER, AT(string), .value = "N", .min = 1, .max = 1 << 20,
	  .help = "bytes of a string (200 unless told)" },
	{ "shapes", 0, CP_OPTION_TEXTS, AT(shapes), .value = "FILE",
	  .completes = CP_COMPLETES_FILES,
	  .help = "declarations of what types of yours hold things in, as cprof-inspect(1) has "
		  "it" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "a JSON array, one object for each EXPR" },
	{ 0 }
};

static const struct cp_option what_options[] = {
	{ "globals", 0, CP_OPTION_TEXTS, AT(globals), .value = "GLOB", .absent = "*",
	  .help = "static variables whose names, with all they are in, match GLOB; all unless "
		  "told; of the program, and of libraries where the program has none" },
	{ "thread", 0, CP_OPTION_TEXT, AT(thread), .value = "TID|NAME|all",
	  .help = "whose thread-local variables are meant (the first thread's unless told)" },
	{ 0 }
};

static const struct cp_option how_options[] = {
	{ "watch", 0, CP_OPTION_DURATION, AT(watch_ns), .value = "TIME",
	  .help = "look again each TIME, and show what changed, until the process ends" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is looked at", what_options, 0 },
						 { "How it is looked at", how_options, 0 },
						 { "What is shown", output_options, 0 },
						 { "Symbols", cp_symbols_options, AT(symbols) },
						 { 0 } };

static const struct inspect_options defaults = {
	.depth = 3,
	.limit = 64,
	.string = 200,
	.symbols.debuginfod.ask = true,
};

struct inspecting {
	const struct inspect_options *o;
	struct cp_inspected in;
	struct cp_value_limits limits;
	struct cp_look look;
	struct cp_json json;
	struct cp_buf *out;
	CP_VEC(pid_t) threads; /* that are looked at: one, or all */
};

/* ---- showing ---- */

static void show_notes(struct inspecting *i)
{
	char **note;

	cp_vec_for_each(&i->in.notes, note) {
		cp_buf_str(i->out, "    ");
		cp_paint(i->out, &i->look, CP_PAINT_DIM, *note);
		cp_buf_u8(i->out, '\n');
	}
}

static void show_text(struct inspecting *i, const char *expression, const cprof_value *v)
{
	const struct cp_value_style style = { .escape_terminal = true, .addresses = true };

	cp_paint(i->out, &i->look, CP_PAINT_NAME, expression);
	cp_buf_str(i->out, " = ");
	cp_value_print_lines(i->out, v, &style, i->look.columns ? i->look.columns : 80,
			     cp_text_columns(expression) + 3);
	cp_buf_u8(i->out, '\n');
	show_notes(i);
}

static void show_json(struct inspecting *i, const char *expression, const struct cp_thing *thing,
		      const cprof_value *v)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_json *j = &i->json;
	char **note;

	cp_value_print(&text, v, NULL);
	cp_buf_u8(&text, 0);
	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "expression", expression);
	if (i->threads.count > 1)
		cp_json_u64(j, "tid", (uint64_t)i->in.tid);
	cp_json_str(j, "type", v->type);
	if (thing->in_memory && !thing->bits && !thing->error)
		cp_json_hex(j, "address", thing->address);
	else
		cp_json_null(j, "address");
	cp_buf_str(j->out, ",\"value\":");
	cp_value_json_addresses(j->out, v);
	if (v->kind == CPROF_VALUE_POINTER && v->count) {
		cp_buf_str(j->out, ",\"target\":");
		cp_value_json_addresses(j->out, v->items);
	}
	cp_json_str(j, "text", text.failed ? "" : (char *)text.bytes);
	cp_json_str(j, "source", cp_value_source_name(v->source));
	if (v->kind == CPROF_VALUE_ERROR)
		cp_json_str(j, "error", cp_value_error_name(v->error));
	if (v->cut)
		cp_json_bool(j, "cut", true);
	if (i->in.notes.count) {
		cp_json_begin(j, "notes", '[');
		cp_vec_for_each(&i->in.notes, note)
			cp_json_str(j, NULL, *note);
		cp_json_end(j, ']');
	}
	cp_json_end(j, '}');
}

static void show(struct inspecting *i, const char *expression, const struct cp_thing *thing,
		 const cprof_value *v)
{
	if (i->o->json)
		show_json(i, expression, thing, v);
	else
		show_text(i, expression, v);
}

static void forget_notes(struct inspecting *i)
{
	char **note;

	cp_vec_for_each(&i->in.notes, note)
		free(*note);
	i->in.notes.count = 0;
}

/* Says which expression an error is of. */
static CP_ERROR about(const char *expression, struct cp_error *err)
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

static CP_ERROR inspect_one(struct inspecting *i, const char *text)
{
	struct cp_condition *expression = NULL;
	const cprof_value *v;
	struct cp_thing thing;
	struct cp_error *err;

	CP_TRY(cp_expression_parse(text, &expression));
	err = cp_expression_evaluate(expression, &i->in.env, &thing);
	if (err) {
		cp_condition_destroy(expression);
		return about(text, err);
	}
	if (!thing.error && !thing.type) {
		cp_condition_destroy(expression);
		return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						  "%s: no debug information tells its type", text),
				     "cast it: (int)%s, or *(struct node *)&%s", text, text);
	}
	v = cp_thing_value(&i->in.env, &thing);
	if (v)
		show(i, text, &thing, v);
	forget_notes(i);
	cp_value_arena_reset(i->in.env.values);
	cp_arena_reset(&i->in.arena);
	cp_condition_destroy(expression);
	return v ? NULL : cp_error_nomem();
}

/* ---- threads ---- */

static void name_of_thread(pid_t pid, pid_t tid, char name[64])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file || !fgets(name, 64, file))
		*name = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

static void show_thread(struct inspecting *i, pid_t tid)
{
	struct cp_buf line = { 0 };
	char name[64];

	cp_buf_printf(&line, "thread %d", (int)tid);
	if (!i->in.core) {
		name_of_thread(i->in.pid, tid, name);
		cp_buf_str(&line, " \"");
		cp_escape(&line, CP_ESCAPE_TERMINAL, name, strlen(name));
		cp_buf_str(&line, "\"");
	}
	cp_buf_u8(&line, 0);
	cp_paint(i->out, &i->look, CP_PAINT_TITLE, line.failed ? "?" : (char *)line.bytes);
	cp_buf_u8(i->out, '\n');
	cp_buf_free(&line);
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static CP_ERROR choose_of_core(struct inspecting *i, const char *wanted)
{
	const pid_t *tid;
	char number[16];

	cp_vec_for_each(&i->in.core->threads, tid) {
		snprintf(number, sizeof(number), "%d", (int)*tid);
		if ((!strcmp(wanted, "all") || !strcmp(wanted, number)) &&
		    !cp_vec_push(&i->threads, *tid))
			return cp_error_nomem();
	}
	return i->threads.count
		       ? NULL
		       : cp_error_new(CP_ERR_NOT_FOUND, 0, "the core has no thread %s", wanted);
}

/* The threads that --thread means. */
static CP_ERROR choose_threads(struct inspecting *i)
{
	const char *wanted = i->o->thread;
	bool all = wanted && !strcmp(wanted, "all");
	char path[64], name[64];
	struct dirent *entry;
	DIR *tasks;
	pid_t tid;

	if (!wanted)
		return cp_vec_push(&i->threads, i->in.tid) ? NULL : cp_error_nomem();
	if (i->in.core)
		return choose_of_core(i, wanted);
	if (!i->in.pid)
		return cp_error_new(CP_ERR_USAGE, 0, "a file has no threads");
	snprintf(path, sizeof(path), "/proc/%d/task", (int)i->in.pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		tid = (pid_t)atoi(entry->d_name);
		if (tid > 0)
			name_of_thread(i->in.pid, tid, name);
		if (tid > 0 && (all || !strcmp(wanted, entry->d_name) || !strcmp(wanted, name)) &&
		    !cp_vec_push(&i->threads, tid))
			break;
	}
	if (tasks)
		closedir(tasks);
	cp_vec_sort(&i->threads, by_number);
	return i->threads.count ? NULL
				: cp_error_new(CP_ERR_NOT_FOUND, 0, "process %d has no thread %s",
					       (int)i->in.pid, wanted);
}

/* ---- all variables ---- */

static CP_ERROR show_globals_of(struct inspecting *i, struct cp_object *object, const char *glob,
				size_t *count)
{
	struct cp_globals found = { 0 };
	const struct cp_global *g;
	const cprof_value *v;
	struct cp_thing thing;

	CP_TRY(cp_image_find_globals(object->image, &(struct cp_global_query){ .glob = glob },
				     &found));
	cp_vec_for_each(&found.list, g) {
		thing = cp_inspected_global(&i->in, object, g);
		v = thing.type || thing.error ? cp_thing_value(&i->in.env, &thing) : NULL;
		if (v)
			show(i, g->name, &thing, v);
		cp_value_arena_reset(i->in.env.values);
		cp_arena_reset(&i->in.arena);
	}
	*count += found.list.count;
	cp_globals_free(&found);
	return NULL;
}

static CP_ERROR show_globals(struct inspecting *i, const char *glob)
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

/* ---- declarations ---- */

static CP_ERROR read_shapes(struct cp_shapes *shapes, const char *path)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	CP_TRY(cp_file_read(AT_FDCWD, path, SHAPES_MAX, &text));
	cp_buf_u8(&text, 0);
	return text.failed ? cp_error_nomem()
			   : cp_shapes_parse(shapes, path, (const char *)text.bytes);
}

/* Reads those that are named, then the user's own, if there are any. */
static CP_ERROR read_all_shapes(struct inspecting *i, struct cp_shapes *shapes)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	CP_FREE char *path = NULL;
	size_t n;
	int got;

	for (n = 0; n < i->o->shapes.count; n++)
		CP_TRY(read_shapes(shapes, i->o->shapes.items[n]));
	if (config && *config)
		got = asprintf(&path, "%s/cprof/shapes", config);
	else
		got = asprintf(&path, "%s/.config/cprof/shapes", home ? home : "");
	if (got < 0) {
		path = NULL;
		return cp_error_nomem();
	}
	return access(path, R_OK) ? NULL : read_shapes(shapes, path);
}

/* ---- watching ---- */

#define STAMP 13 /* columns of "12:34:56.789 " */

static void print_stamp(struct inspecting *i, struct cp_buf *to, const struct timespec *now)
{
	struct cp_buf text = { 0 };
	struct tm at;

	localtime_r(&now->tv_sec, &at);
	cp_buf_printf(&text, "%02d:%02d:%02d.%03ld", at.tm_hour, at.tm_min, at.tm_sec,
		      now->tv_nsec / 1000000);
	cp_buf_u8(&text, 0);
	if (!text.failed)
		cp_paint(to, &i->look, CP_PAINT_DIM, (const char *)text.bytes);
	cp_buf_u8(to, ' ');
	cp_buf_free(&text);
}

/* Shows what an expression is now, if that is not `last`, which becomes it. */
static CP_ERROR watch_one(struct inspecting *i, const char *expression, struct cp_buf *last)
{
	struct cp_buf now = { 0 }, line CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf *out = i->out;
	struct cp_error *err;
	struct timespec at;

	i->out = &now;
	i->json = (struct cp_json){ .out = &now };
	err = inspect_one(i, expression);
	i->out = out;
	if (err || now.failed ||
	    (now.size == last->size && now.size && !memcmp(now.bytes, last->bytes, now.size))) {
		cp_buf_free(&now);
		return err;
	}
	cp_buf_free(last);
	*last = now;
	clock_gettime(CLOCK_REALTIME, &at);
	if (i->o->json) {
		cp_buf_printf(&line, "{\"time_ns\":%llu,",
			      (unsigned long long)at.tv_sec * 1000000000u +
				      (unsigned long long)at.tv_nsec);
		cp_buf_add(&line, now.bytes + 1, now.size - 1);
		cp_buf_u8(&line, '\n');
	} else {
		print_stamp(i, &line, &at);
		if (i->threads.count > 1)
			cp_buf_printf(&line, "%d ", (int)i->in.tid);
		cp_buf_add(&line, now.bytes, now.size);
	}
	fwrite(line.bytes, 1, line.size, stdout);
	return fflush(stdout) ? cp_error_new(CP_ERR_IO, errno, "standard output") : NULL;
}

/* Has the process ended before `ns` are over? */
static bool ends_within(int pidfd, uint64_t ns)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	const struct timespec time = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return ppoll(&end, 1, &time, NULL) > 0;
}

/* Errors of the expressions count the first time; what comes later may go again. */
static int watch(struct inspecting *i, const struct cp_args *args)
{
	size_t count = i->threads.count * (size_t)(args->count - 1), n, e;
	struct cp_buf *last = calloc(count, sizeof(*last));
	int pidfd = (int)syscall(SYS_pidfd_open, i->in.pid, 0), status = CP_EXIT_OK;
	struct cp_error *err = NULL;
	bool first = true;

	i->look.columns = i->look.columns > STAMP + 40 ? i->look.columns - STAMP : i->look.columns;
	if (!last || pidfd < 0)
		err = last ? cp_error_new(CP_ERR_GONE, errno, "process %d", (int)i->in.pid)
			   : cp_error_nomem();
	do {
		for (n = 0; !err && n < count; n++) {
			e = n % (size_t)(args->count - 1);
			i->in.tid = i->threads.items[n / (size_t)(args->count - 1)];
			err = watch_one(i, args->operands[e + 1], &last[n]);
			if (err && err->code != CP_ERR_IO) {
				status = first ? cp_reports_fail(err) : status;
				if (!first)
					cp_error_free(err);
				err = NULL;
			}
		}
		first = false;
	} while (!err && !ends_within(pidfd, i->o->watch_ns));
	for (n = 0; last && n < count; n++)
		cp_buf_free(&last[n]);
	free(last);
	cp_close_fd(&pidfd);
	return err ? cp_reports_fail(err) : status;
}

/* ---- the command ---- */

/* Those that make no sense are complained of, and the others shown. */
static int inspect_each(struct inspecting *i, const struct cp_args *args)
{
	int status = CP_EXIT_OK, n;
	struct cp_error *err;
	size_t g;

	for (n = 1; n < args->count; n++) {
		err = inspect_one(i, args->operands[n]);
		if (err)
			status = cp_reports_fail(err);
	}
	for (g = 0; g < i->o->globals.count; g++) {
		err = show_globals(i, i->o->globals.items[g]);
		if (err)
			status = cp_reports_fail(err);
	}
	return status;
}

static int inspect_all(struct inspecting *i, const struct cp_args *args)
{
	int status = CP_EXIT_OK, one;
	pid_t *tid;

	if (i->o->json)
		cp_json_begin(&i->json, NULL, '[');
	cp_vec_for_each(&i->threads, tid) {
		i->in.tid = *tid;
		if (i->threads.count > 1 && !i->o->json)
			show_thread(i, *tid);
		one = inspect_each(i, args);
		status = status ? status : one;
	}
	if (i->o->json) {
		cp_json_end(&i->json, ']');
		cp_buf_u8(i->out, '\n');
	}
	return status;
}

static int run_inspect(struct cp_args *args)
{
	struct inspect_options *o = args->options;
	struct cp_image_options options = cp_symbols_image(&o->symbols);
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_buf out = { 0 };
	struct inspecting i = { .o = o,
				.in = { .memory_fd = -1 },
				.look = { term.columns, term.color },
				.json = { .out = &out, .pretty = true },
				.out = &out,
				.limits = { .depth = (uint32_t)o->depth,
					    .pointers = 1,
					    .string = (uint32_t)o->string,
					    .elements = (uint32_t)o->limit,
					    .value = BYTES_MAX,
					    .total = BYTES_MAX } };
	struct cp_error *err;
	struct cp_shapes shapes = { .ops = &cp_shape_ops };
	int status, printed;

	if (args->count < 2 && !o->globals.count)
		return cp_usage(args, "what is to be inspected? An expression, or --globals");
	if (o->watch_ns && (o->globals.count || args->count < 2))
		return cp_usage(args, "--watch is of expressions, not of --globals");
	err = read_all_shapes(&i, &shapes);
	if (!err)
		err = cp_inspected_open(&i.in, args->operands[0], &options);
	i.in.env.limits = &i.limits;
	i.in.env.shapes = &shapes;
	shapes.find_type = i.in.env.type;
	shapes.ctx = &i.in;
	if (!err && o->watch_ns && !i.in.pid)
		err = cp_error_new(CP_ERR_USAGE, 0, "--watch: a file does not change");
	if (!err)
		err = choose_threads(&i);
	status = err ? cp_reports_fail(err) : o->watch_ns ? watch(&i, args) : inspect_all(&i, args);
	cp_inspected_close(&i.in);
	cp_shapes_free(&shapes);
	cp_vec_free(&i.threads);
	if (err || o->watch_ns || (status && !o->json && !out.size)) {
		cp_buf_free(&out);
		return status;
	}
	printed = cp_end_report(NULL, &out, o->json);
	return status ? status : printed;
}

const struct cp_command cp_command_inspect = {
	.name = "inspect",
	.operands = "[options] PID|FILE [EXPR...]",
	.summary = "What a program holds, by name, while it runs",
	.details = "EXPR is as in C: stat_numcommands, server.clients->head->value, *p, &x, v[0],\n"
		   "table[2..5], p@10, (struct node *)0x55d0..., {struct node}0x55d0..., x + 1,\n"
		   "'file.c'::counter, ns::Foo::count, 'main()::calls', sizeof(struct node).\n"
		   "The process is not stopped. With FILE, values are those it begins with,\n"
		   "or those in a core file.",
	.groups = groups,
	.options_size = sizeof(struct inspect_options),
	.defaults = &defaults,
	.least = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_inspect,
};
