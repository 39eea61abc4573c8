/* SPDX-License-Identifier: MIT
 *
 * cprof top: what a program does, while it does it.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/attaching.h"
#include "cmd/cmd.h"
#include "cmd/collecting.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/keeping.h"
#include "cmd/running.h"
#include "cmd/showing.h"
#include "cmd/terminal.h"
#include "modules/live/collect.h"
#include "view/plain.h"
#include "view/screen.h"

struct top {
	const struct cp_collect_options *options;
	cprof_session *session; /* while it runs */
	struct cp_live sums;
	struct cp_view view;
	struct cp_keeping keeping;
	struct cp_showing *_Atomic showing; /* NULL: lines are printed */
	bool drawn; /* there is, or was, a screen */
};

/* ---- lines ---- */

static void print_lines(struct top *t)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_view_plain(&t->view, cp_terminal_of(STDOUT_FILENO).columns, &text);
	/* A reader who has seen enough has gone. */
	if (!cp_terminal_print(stdout, &text) || fflush(stdout))
		cprof_session_stop(t->session);
}

static void on_tick(void *data)
{
	struct top *t = data;
	struct cp_showing *showing = t->showing;

	if (showing)
		cp_showing_tick(showing);
	else if (!t->drawn)
		print_lines(t);
}

/* ---- the session ---- */

static struct cp_live_wants wants_of(struct top *t, const char *specs)
{
	const struct cp_collect_options *o = t->options;
	struct cp_live_wants wants = {
		.hz = cp_collecting_rate(o),
		.trace = specs,
		.max_rate = o->calls.max_rate,
		.when = specs ? o->calls.when : NULL,
		.allocations = o->calls.allocs != 0,
		.every = o->calls.allocs == CP_BYTES_ALL ? 0 : o->calls.allocs,
		.tick = on_tick,
		.data = t,
	};

	if (wants.hz)
		wants.mode = o->clock == CP_COLLECT_WALL ? CPROF_SAMPLE_MODE_REAL
							 : CPROF_SAMPLE_MODE_PROCESS;
	return wants;
}

static bool prepare(cprof_session *s, void *data)
{
	struct top *t = data;
	CP_FREE char *specs = cp_collecting_specs(&t->options->calls.trace);
	struct cp_live_wants wants = wants_of(t, specs);

	t->session = s;
	t->view.wall = wants.mode == CPROF_SAMPLE_MODE_REAL;
	t->view.kinds[CP_LIVE_TIME] = wants.mode != CPROF_SAMPLE_MODE_NONE;
	t->view.kinds[CP_LIVE_CALLS] = specs != NULL;
	t->view.kinds[CP_LIVE_BYTES] = wants.allocations;
	if (cp_module_live_start(&t->sums, &wants) && !cprof_session_profiler_failed(s))
		return true;
	cp_collecting_complain(s);
	return false;
}

static bool is_drawable(void)
{
	return cp_terminal_is_drawable(STDOUT_FILENO) && cp_screen_can(STDOUT_FILENO);
}

static void launching(void *data)
{
	struct top *t = data;

	t->drawn = is_drawable() && cp_keeping_begin(&t->keeping);
	cp_keeping_hide_input(&t->keeping);
}

static void launched(void *data)
{
	struct top *t = data;

	cp_keeping_show_input(&t->keeping);
	t->view.launched = true;
}

static void begins(cprof_session *s, void *data)
{
	char *const *command = cprof_session_command(s);
	struct top *t = data;

	t->view.program = command && *command ? cp_basename(*command) : "";
	t->view.pid = cprof_session_target(s);
	if (!t->view.launched)
		t->drawn = is_drawable() && cp_keeping_begin(&t->keeping);
	if (!t->drawn)
		return;
	t->showing = cp_showing_begin(&t->view, &t->keeping, s);
	if (!t->showing) { /* lines, then */
		t->drawn = false;
		cp_keeping_release(&t->keeping);
	}
}

static void ends(void *data)
{
	struct top *t = data;

	if (!t->drawn)
		return;
	cp_showing_end(atomic_exchange(&t->showing, NULL));
	cp_keeping_release(&t->keeping);
	if (!t->options->quiet && !t->options->output)
		print_lines(t);
}

static int watch(struct cp_args *args)
{
	struct top t = { .options = args->options, .keeping = { -1, .saved = { -1, -1, -1 } } };
	const struct cp_watching watching = { .prepare = prepare,
					      .launching = launching,
					      .launched = launched,
					      .begins = begins,
					      .ends = ends,
					      .data = &t };
	bool ran, cut;
	int status;

	cp_live_init(&t.sums, cp_now());
	t.view.sums = &t.sums;
	if (args->dashed)
		status = cp_running(args, args->options, &watching, &ran, &cut);
	else
		status = cp_attaching(args, args->options, &watching);
	cp_keeping_end(&t.keeping);
	cp_view_deinit(&t.view);
	cp_live_deinit(&t.sums);
	return status;
}

/* An option for what is only recorded, and shown by reports; NULL: none. */
static const char *only_recorded(const struct cp_collect_options *o)
{
	const struct cp_calls_options *c = &o->calls;

	return c->exceptions	      ? "exceptions"
	       : c->locks	      ? "locks"
	       : c->maps	      ? "maps"
	       : c->args	      ? "args"
	       : c->result	      ? "result"
	       : c->locals	      ? "locals"
	       : c->changes	      ? "changes"
	       : c->elements	      ? "elements"
	       : c->stack	      ? "stack"
	       : c->cpu_time	      ? "cpu-time"
	       : c->summary	      ? "summary"
	       : o->coverage.coverage ? "coverage"
	       : o->annotations	      ? "annotations"
				      : NULL;
}

static int run_top(struct cp_args *args)
{
	const struct cp_collect_options *o = args->options;
	uint64_t pid;

	if (o->output && !strcmp(o->output, "-"))
		return cp_usage(args, "standard output has the view: name a file for --output");
	if (!o->output && only_recorded(o))
		return cp_usage(args,
				"what --%s tells is only in a recording: name one with --output",
				only_recorded(o));
	if (!args->dashed && args->count > 1)
		return cp_usage(args, "what is '%s' for? The usage is: cprof top %s",
				args->operands[1], args->command->operands);
	if (!args->dashed && !cp_parse_u64(args->operands[0], INT32_MAX, &pid))
		return cp_usage(args,
				"'%s' is not the number of a process; a program is started by: "
				"cprof top -- %s",
				args->operands[0], args->operands[0]);
	return watch(args);
}

const struct cp_command cp_command_top = {
	.name = "top",
	.operands = "[options] PID | -- CMD [ARG...]",
	.summary = "Watch what a program does: its hottest functions and threads",
	.details =
		"q, Ctrl-C, SIGTERM, SIGHUP or the end of --duration end it, and the process runs\n"
		"on. On a terminal it fills the screen, and h tells the keys; elsewhere, or with\n"
		"TERM=dumb, lines are printed once a second.",
	.groups = cp_top_groups,
	.options_size = sizeof(struct cp_collect_options),
	.defaults = &cp_top_defaults,
	.least = 1,
	.usage_status = CP_EXIT_USAGE,
	.dashed_usage_status = CP_EXIT_OWN_FAILURE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_top,
};
