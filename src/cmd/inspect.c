/* SPDX-License-Identifier: MIT
 *
 * cprof inspect: what a program holds, by name, while it runs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/inspect_asked.h"
#include "cmd/inspect_frames.h"
#include "cmd/inspect_watch.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "inspect/shape_file.h"
#include "inspect/shape_ops.h"

#define BYTES_MAX (UINT32_C(1) << 20) /* of one value */
#define SHAPES_MAX (1u << 20) /* of a file of declarations */

#define AT(field) offsetof(struct cp_inspect_options, field)

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
	{ "who-points-at", 0, CP_OPTION_TEXTS, AT(pointed), .value = "ADDR|EXPR",
	  .help = "the words of the program's memory that hold the address, or one inside of "
		  "what is there, and which variables and frames they are in" },
	{ "thread", 0, CP_OPTION_TEXT, AT(thread), .value = "TID|NAME|all",
	  .help = "whose frames and thread-local variables are meant (the first thread's unless "
		  "told)" },
	{ "frame", 0, CP_OPTION_TEXT, AT(frame), .value = "N|FUNCTION",
	  .help = "a frame as cprof stack numbers them, or the innermost of FUNCTION: its "
		  "arguments, locals and registers ($rip) have names, all of which are shown "
		  "without an EXPR" },
	{ 0 }
};

static const struct cp_option how_options[] = {
	{ "stop", 0, CP_OPTION_TRUE, AT(stop),
	  .help = "hold all threads while they are read, so that everything is of one moment and "
		  "all registers are known; without it nobody who sleeps is disturbed, and what "
		  "changed while it was read is marked torn" },
	{ "watch", 0, CP_OPTION_DURATION, AT(watch_ns), .value = "TIME",
	  .help = "look again each TIME, and show what changed, until the process ends" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is looked at", what_options, 0 },
						 { "How it is looked at", how_options, 0 },
						 { "What is shown", output_options, 0 },
						 { "Symbols", cp_symbols_options, AT(symbols) },
						 { 0 } };

static const struct cp_inspect_options defaults = {
	.depth = 3,
	.limit = 64,
	.string = 200,
	.symbols.debuginfod.ask = true,
};

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
static CP_ERROR read_all_shapes(struct cp_inspect *i, struct cp_shapes *shapes)
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

/* ---- the command ---- */

static int inspect_all(struct cp_inspect *i)
{
	const pid_t *tid;

	if (i->o->json)
		cp_json_begin(&i->json, NULL, '[');
	if (i->o->frame || i->o->stop)
		cp_inspect_frames(i);
	else
		cp_vec_for_each(&i->threads.list, tid) {
			i->in.tid = *tid;
			cp_inspect_head(i);
			cp_inspect_each(i);
		}
	if (i->o->json) {
		cp_json_end(&i->json, ']');
		cp_buf_u8(i->out, '\n');
	}
	return i->status;
}

/* A function is looked for in all, a frame by its number in the first. */
static const char *threads_meant(const struct cp_inspect_options *o)
{
	if (o->thread || !o->frame || strspn(o->frame, "0123456789") == strlen(o->frame))
		return o->thread;
	return "all";
}

static int run_inspect(struct cp_args *args)
{
	struct cp_inspect_options *o = args->options;
	struct cp_image_options options = cp_symbols_image(&o->symbols);
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_buf out = { 0 };
	struct cp_inspect i = { .o = o,
				.args = args,
				.in = { .memory_fd = -1 },
				.look = { term.columns, term.color },
				.json = { .out = &out, .pretty = true },
				.out = &out,
				.limits = { .depth = (uint32_t)o->depth,
					    .pointers =
						    cp_value_limits_pointers((uint32_t)o->depth),
					    .string = (uint32_t)o->string,
					    .elements = (uint32_t)o->limit,
					    .value = BYTES_MAX,
					    .total = BYTES_MAX } };
	struct cp_error *err;
	struct cp_shapes shapes = { .ops = &cp_shape_ops };
	int status, printed;

	if (args->count < 2 && !o->globals.count && !o->frame && !o->pointed.count)
		return cp_usage(args, "what is to be inspected? An expression, --globals, "
				      "--frame or --who-points-at");
	if (o->watch_ns && (o->globals.count || o->pointed.count || args->count < 2))
		return cp_usage(args, "--watch is of expressions, not of --globals, "
				      "--who-points-at or a whole --frame");
	err = read_all_shapes(&i, &shapes);
	if (!err)
		err = cp_inspected_open(&i.in, args->operands[0], &options);
	i.in.env.limits = &i.limits;
	cp_inspected_use_shapes(&i.in, &shapes);
	if (!err && o->watch_ns && !i.in.pid)
		err = cp_error_new(CP_ERR_USAGE, 0, "--watch: a file does not change");
	if (!err && o->frame && !i.in.pid && !i.in.core)
		err = cp_error_new(CP_ERR_USAGE, 0, "--frame: a file has no threads");
	if (!err && o->stop && !i.in.pid)
		err = cp_error_new(CP_ERR_USAGE, 0, "--stop: a file does not run");
	if (!err && o->pointed.count && !i.in.pid && !i.in.core)
		err = cp_error_new(CP_ERR_USAGE, 0, "--who-points-at: a file has no memory");
	if (!err)
		err = cp_threads_choose(&i.in, threads_meant(o), &i.threads);
	status = err ? cp_reports_fail(err) : o->watch_ns ? cp_inspect_watch(&i) : inspect_all(&i);
	cp_inspected_close(&i.in);
	cp_shapes_free(&shapes);
	cp_vec_free(&i.threads.list);
	cp_reads_free(&i.looks[0]);
	cp_reads_free(&i.looks[1]);
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
	.options_size = sizeof(struct cp_inspect_options),
	.defaults = &defaults,
	.least = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_inspect,
};
