/* SPDX-License-Identifier: MIT
 *
 * cprof stack: the stack of every thread, once, of a process or a core file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/collecting.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/inspecting.h"
#include "cmd/reports.h"
#include "cmd/stack_core.h"
#include "cmd/stack_show.h"
#include "cmd/terminal.h"
#include "image/core.h"
#include "inspect/inspect.h"
#include "report/profile/values.h"

#define AT(field) offsetof(struct cp_stack_options, field)

static const struct cp_option output_options[] = {
	{ "registers", 0, CP_OPTION_TRUE, AT(registers),
	  .help = "the registers of every frame; those that are not known are marked" },
	{ "args", 'a', CP_OPTION_TRUE, AT(args),
	  .help = "the arguments of every frame, as they are now" },
	{ "locals", 'l', CP_OPTION_TRUE, AT(locals),
	  .help = "the local variables of every frame that are in scope" },
	{ "depth", 0, CP_OPTION_NUMBER, AT(depth), .value = "N", .min = 1, .max = 16,
	  .help = "follow structures and pointers N levels (3 unless told)" },
	{ "string", 0, CP_OPTION_NUMBER, AT(string), .value = "N", .min = 1, .max = 4096,
	  .help = "bytes of a string (200 unless told)" },
	{ "inlines", 0, CP_OPTION_TRUE, AT(inlines), .help = "show inlined calls (unless told)" },
	{ "no-inlines", 0, CP_OPTION_FALSE, AT(inlines), .help = "leave inlined calls out" },
	{ "runs", 0, CP_OPTION_TRUE, AT(runs),
	  .help = "one line for each run of frames in code without symbols" },
	{ "group", 0, CP_OPTION_TRUE, AT(group),
	  .help = "threads with the same stack once (unless told, or values are shown)" },
	{ "no-group", 0, CP_OPTION_FALSE, AT(group), .help = "each thread by itself" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "one JSON object" },
	{ "verbose", 'v', CP_OPTION_COUNT, AT(verbose), .help = "say what is being done" },
	{ 0 }
};

static const struct cp_option how_options[] = {
	{ "stop", 0, CP_OPTION_TRUE, AT(stop),
	  .help = "interrupt threads that sleep, too, to know all their registers; without it "
		  "they are read as they sleep" },
	{ "fp", 0, CP_OPTION_TRUE, AT(fp), .help = "the same as --unwinder=fp" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", output_options, 0 },
						 { "How it is taken", how_options, 0 },
						 { "Symbols and stacks", cp_held_stacks_options,
						   AT(stacks) },
						 { 0 } };

static const struct cp_stack_options defaults = {
	.inlines = true,
	.group = true,
	.stacks = { .debuginfod = true },
};

/* ---- taking it ---- */

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

struct taking {
	const struct cp_stack_options *options;
	struct cp_stack_thread *thread;
};

typedef size_t count_fn(cprof_call_context *context);
typedef const cprof_value *value_fn(cprof_call_context *context, size_t position);

void cp_stack_keep_value(struct cp_stack_values *values, const cprof_value *value)
{
	cprof_value *v = cp_value_copy(value);

	if (!v || !cp_vec_push(&values->list, v))
		free(v);
}

static void take_values(cprof_call_context *context, count_fn *count, value_fn *value,
			struct cp_stack_values *to)
{
	size_t i, n = count(context);

	for (i = 0; i < n; i++)
		cp_stack_keep_value(to, value(context, i));
}

static void take_all_values(const struct cp_stack_options *o, const cprof_frame_info *info,
			    struct cp_stack_frame *f)
{
	cprof_call_context *context =
		o->args || o->locals ? cprof_frame_info_call_context(info) : NULL;

	if (!context)
		return;
	f->has_values = cprof_call_context_argument_count(context) ||
			!cprof_profiler_call_context_error(context);
	if (o->args)
		take_values(context, cprof_call_context_argument_count, cprof_call_context_argument,
			    &f->args);
	if (o->locals)
		take_values(context, cprof_call_context_local_count, cprof_call_context_local,
			    &f->locals);
}

static cprof_walk take_frame(const cprof_function *function, cprof_addr ip,
			     const cprof_frame_info *info, size_t size,
			     const cprof_context *context, void *data)
{
	struct taking *taking = data;
	struct cp_stack_thread *t = taking->thread;
	const cprof_image *image = cprof_frame_info_image(info);
	struct cp_stack_frame f = {
		.ip = ip,
		.cfa = cprof_frame_info_cfa(info),
		.run = cprof_frame_info_run_length(info),
		.function = copy(cprof_frame_info_name(info)),
		.image = image ? copy(cprof_image_name(image)) : NULL,
		.inlined = cprof_frame_info_is_inlined(info),
		.signal = cprof_frame_info_is_signal(info),
		.guessed = cprof_frame_info_is_guessed(info),
		.truncated = cprof_frame_info_is_truncated(info),
	};

	(void)size;
	f.file = copy(cprof_frame_info_source(info, &f.line));
	if (function)
		f.offset = ip - cprof_function_address(function);
	if (context) {
		f.context = *context;
		f.context.xstate = NULL;
	}
	take_all_values(taking->options, info, &f);
	return cp_vec_push(&t->frames, f) ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
}

static char state_of(const cprof_thread *thread)
{
	char state[2];

	return cp_file_stat_field(cprof_thread_tid(thread), 3, state, sizeof(state)) ? *state : 0;
}

static void take_thread(cprof_thread *thread, bool captured, void *data)
{
	struct cp_stacks *c = data;
	unsigned flags = (c->options->runs ? 0 : CPROF_SNAPSHOT_ALL_FRAMES) |
			 CPROF_SNAPSHOT_REGISTER_CONTEXT |
			 (c->options->inlines ? CPROF_SNAPSHOT_INLINES : 0);
	struct cp_stack_thread t = {
		.tid = cprof_thread_tid(thread),
		.state = state_of(thread),
		.name = copy(cprof_thread_name(thread)),
		.captured = captured,
	};
	struct taking taking = { c->options, &t };

	if (captured)
		t.captured =
			cprof_do_stack_snapshot(cprof_current_thread(), take_frame, flags, &taking,
						NULL, 0) != CPROF_E_STACKSNAPSHOT_UNSAFE;
	if (!cp_vec_push(&c->threads, t))
		free(t.name);
}

static int by_tid(const void *a, const void *b)
{
	const struct cp_stack_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void release_values(struct cp_stack_values *values)
{
	cprof_value **v;

	cp_vec_for_each(&values->list, v)
		free(*v);
	cp_vec_free(&values->list);
}

static void release(struct cp_stacks *c)
{
	struct cp_stack_thread *t;
	struct cp_stack_frame *f;

	cp_vec_for_each(&c->threads, t) {
		cp_vec_for_each(&t->frames, f) {
			free(f->function);
			free(f->image);
			free(f->file);
			release_values(&f->args);
			release_values(&f->locals);
		}
		cp_vec_free(&t->frames);
		free(t->name);
	}
	cp_vec_free(&c->threads);
}

static int show(struct cp_stacks *c, pid_t pid)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_buf out = { 0 };

	if (!c->core)
		cp_vec_sort(&c->threads, by_tid);
	if (c->options->json)
		cp_stacks_json(c, pid, &out);
	else
		cp_stacks_text(c, pid, &look, &out);
	return cp_print_report(&out, c->options->json);
}

/* A thread that is held has the state that it had before. */
static void take_states(struct cp_stacks *from, struct cp_stacks *to)
{
	struct cp_stack_thread *t;

	cp_vec_sort(&from->threads, by_tid);
	cp_vec_for_each(&to->threads, t) {
		const struct cp_stack_thread *before =
			t->state != 't' || !from->threads.count
				? NULL
				: bsearch(t, from->threads.items, from->threads.count, sizeof(*t),
					  by_tid);

		if (before)
			t->state = before->state;
	}
}

/* Debug information is read while the program runs: once for nothing, so that
 * it stands still only for as long as it takes to copy values. */
static cprof_status take(cprof_session *s, struct cp_stacks *c)
{
	const struct cp_stack_options *o = c->options;
	unsigned flags = o->stop ? CPROF_SNAPSHOT_STOP_BLOCKED : 0;
	bool other = o->stacks.unwinder == CP_COLLECT_LIBUNWIND_PTRACE;
	struct cp_stacks rehearsal = { .options = o };
	cprof_status status;

	if (!o->args && !o->locals && !other)
		return cprof_session_snapshot(s, flags, take_thread, c);
	if (other)
		cprof_session_set_unwinder(s, CPROF_UNWINDER_OWN);
	status = cprof_session_snapshot(s, 0, take_thread, &rehearsal);
	if (other)
		cprof_session_set_unwinder(s, CPROF_UNWINDER_LIBUNWIND_PTRACE);
	if (!status)
		status = cprof_session_snapshot(
			s, flags | CPROF_SNAPSHOT_HOLD | CPROF_SNAPSHOT_FLOATING, take_thread, c);
	take_states(&rehearsal, c);
	release(&rehearsal);
	return status;
}

static int stack_of(cprof_session *s, pid_t pid, const struct cp_stack_options *o)
{
	struct cp_stacks c = { .options = o };
	int status;

	cprof_profiler_set_value_limits((uint32_t)o->depth, (uint32_t)o->string);
	cprof_profiler_enable_call_context_introspection();
	if (cprof_session_attach(s, pid, 0) || take(s, &c)) {
		cp_collecting_complain(s);
		release(&c);
		return CP_EXIT_FAILURE;
	}
	status = show(&c, cprof_session_target(s));
	release(&c);
	return status;
}

/* ---- a core ---- */

/* A number is a process's. */
static bool is_file(const char *operand)
{
	uint64_t number;

	return !cp_parse_u64(operand, INT32_MAX, &number) && !access(operand, F_OK);
}

static bool is_core(const char *path)
{
	struct cp_core *core = NULL;
	struct cp_error *err;
	bool is;

	if (!is_file(path))
		return false;
	err = cp_core_open(path, &core);
	is = err || core;
	cp_error_free(err);
	cp_core_destroy(core);
	return is;
}

static int stack_of_core(struct cp_args *args)
{
	const struct cp_stack_options *o = args->options;
	struct cp_debuginfod debuginfod = { .ask = o->stacks.debuginfod };
	const struct cp_image_options options = {
		.debug_dirs = (const char *const *)o->stacks.debug_dirs.items,
		.debuginfod = &debuginfod,
	};
	struct cp_stacks c = { .options = o };
	struct cp_inspected in;
	struct cp_error *err;
	int status;

	if (o->stop || o->fp || o->stacks.unwinder)
		return cp_usage(args,
				"--stop, --fp and --unwinder are of processes, and '%s' is a "
				"core file",
				args->operands[0]);
	err = cp_inspected_open(&in, args->operands[0], &options);
	if (!err)
		err = cp_stacks_of_core(&in, &c);
	if (err) {
		cp_complain(err);
		status = CP_EXIT_FAILURE;
	} else {
		status = show(&c, in.core->pid);
	}
	release(&c);
	cp_inspected_close(&in);
	return status;
}

static int run_stack(struct cp_args *args)
{
	struct cp_stack_options *o = args->options;
	cprof_session *s;
	int status;
	pid_t pid;

	if (is_core(args->operands[0]))
		return stack_of_core(args);
	if (is_file(args->operands[0]))
		return cp_usage(args, "'%s' is neither the number of a process nor a core file",
				args->operands[0]);
	if (!cp_operand_pid(args, 0, &pid, &status))
		return status;
	if (o->fp)
		o->stacks.unwinder = CP_COLLECT_FP;
	if (o->stacks.unwinder == CP_COLLECT_LIBUNWIND_PTRACE && !o->stop)
		return cp_usage(args, "libunwind-ptrace walks threads that stand still: say "
				      "--stop, too");
	s = cp_collecting_session(&o->stacks, o->verbose);
	if (!s)
		return CP_EXIT_FAILURE;
	status = stack_of(s, pid, o);
	cprof_session_destroy(s);
	return status;
}

const struct cp_command cp_command_stack = {
	.name = "stack",
	.operands = "[options] PID|CORE",
	.summary = "The stack of every thread, once",
	.groups = groups,
	.options_size = sizeof(struct cp_stack_options),
	.defaults = &defaults,
	.least = 1,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_stack,
};
