/* SPDX-License-Identifier: MIT
 *
 * cprof stack: the stack of every thread, once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "cmd/collecting.h"
#include "cmd/commands.h"

struct stack_options {
	bool json, registers, stop, inlines, fp, runs;
	unsigned verbose;
	struct cp_stacks_options stacks;
};

#define AT(field) offsetof(struct stack_options, field)

static const struct cp_option output_options[] = {
	{ "registers", 0, CP_OPTION_TRUE, AT(registers),
	  .help = "the registers of every frame; those that are not known are marked" },
	{ "inlines", 0, CP_OPTION_TRUE, AT(inlines), .help = "show inlined calls (unless told)" },
	{ "no-inlines", 0, CP_OPTION_FALSE, AT(inlines), .help = "leave inlined calls out" },
	{ "runs", 0, CP_OPTION_TRUE, AT(runs),
	  .help = "one line for each run of frames in code without symbols" },
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
						 { "Symbols and stacks", cp_stacks_options,
						   AT(stacks) },
						 { 0 } };

static const struct stack_options defaults = {
	.inlines = true,
	.stacks = { .debuginfod = true },
};

struct stack_frame {
	uint64_t ip, cfa, offset; /* offset: into the function */
	char *function, *image, *file; /* owned; NULL: unknown */
	uint32_t line, run; /* run: frames that it stands for */
	bool inlined, signal, guessed, truncated;
	cprof_context context;
};

struct stack_thread {
	int tid;
	char state; /* 0: unknown */
	char *name; /* owned */
	bool captured;
	CP_VEC(struct stack_frame) frames;
};

struct collector {
	const struct stack_options *options;
	CP_VEC(struct stack_thread) threads;
};

/* ---- taking it ---- */

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static cprof_walk take_frame(const cprof_function *function, cprof_addr ip,
			     const cprof_frame_info *info, size_t size,
			     const cprof_context *context, void *data)
{
	struct stack_thread *t = data;
	const cprof_image *image = cprof_frame_info_image(info);
	struct stack_frame f = {
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
	return cp_vec_push(&t->frames, f) ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
}

static char state_of(const cprof_thread *thread)
{
	char state[2];

	return cp_file_stat_field(cprof_thread_tid(thread), 3, state, sizeof(state)) ? *state : 0;
}

static void take_thread(cprof_thread *thread, bool captured, void *data)
{
	struct collector *c = data;
	unsigned flags = (c->options->runs ? 0 : CPROF_SNAPSHOT_ALL_FRAMES) |
			 CPROF_SNAPSHOT_REGISTER_CONTEXT |
			 (c->options->inlines ? CPROF_SNAPSHOT_INLINES : 0);
	struct stack_thread t = {
		.tid = cprof_thread_tid(thread),
		.state = state_of(thread),
		.name = copy(cprof_thread_name(thread)),
		.captured = captured,
	};

	if (captured)
		cprof_do_stack_snapshot(NULL, take_frame, flags, &t, NULL, 0);
	if (!cp_vec_push(&c->threads, t))
		free(t.name);
}

static int by_tid(const void *a, const void *b)
{
	const struct stack_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void release(struct collector *c)
{
	struct stack_thread *t;
	struct stack_frame *f;

	cp_vec_for_each(&c->threads, t) {
		cp_vec_for_each(&t->frames, f) {
			free(f->function);
			free(f->image);
			free(f->file);
		}
		cp_vec_free(&t->frames);
		free(t->name);
	}
	cp_vec_free(&c->threads);
}

/* ---- showing it ---- */

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

static void add(struct cp_buf *out, const char *text)
{
	cp_escape(out, CP_ESCAPE_TERMINAL, text, strlen(text));
}

/* What a frame that is not the innermost has none of. */
static void show_other_registers(struct cp_buf *out, const struct stack_frame *f)
{
	const char *const *name;
	uint64_t value;
	unsigned i = 0;

	for (name = cp_arch_host()->other_names; *name; name++)
		if (cprof_context_get(&f->context, *name, &value, NULL))
			cp_buf_printf(out, "%s%8s %016llx", i++ % 4 ? "  " : "\n        ", *name,
				      (unsigned long long)value);
}

static void show_registers(struct cp_buf *out, const struct stack_frame *f)
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

static void show_frame(struct cp_buf *out, const struct stack_options *o, size_t n,
		       const struct stack_frame *f)
{
	cp_buf_printf(out, "  #%-3zu %016llx ", n, (unsigned long long)f->ip);
	if (f->signal && !f->function)
		cp_buf_str(out, "<signal handler called>");
	else
		add(out, f->function ? f->function : "??");
	if (f->offset && !f->inlined)
		cp_buf_printf(out, "+%#llx", (unsigned long long)f->offset);
	if (f->signal && f->function)
		cp_buf_str(out, " <signal handler called>");
	if (f->file) {
		cp_buf_str(out, " at ");
		add(out, f->file);
		cp_buf_printf(out, ":%u", f->line);
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
	if (o->registers && !f->inlined)
		show_registers(out, f);
	cp_buf_str(out, f->truncated ? "\n       ... the stack goes on, but cannot be followed\n"
				     : "\n");
}

/* Of a thread that sleeps and was not stopped nothing but pc and sp is known. */
static bool lacks_frame_pointer(const struct stack_options *o, const struct stack_thread *t)
{
	return o->fp && !o->stop && t->frames.count &&
	       !cprof_context_fp(&t->frames.items[0].context) &&
	       t->frames.items[t->frames.count - 1].truncated;
}

static void show_text(struct cp_buf *out, struct collector *c, pid_t pid)
{
	struct stack_thread *t;
	size_t i;

	cp_buf_printf(out, "process %d, %zu thread%s\n", (int)pid, c->threads.count,
		      c->threads.count == 1 ? "" : "s");
	cp_vec_for_each(&c->threads, t) {
		cp_buf_printf(out, "\nthread %d \"", t->tid);
		add(out, t->name ? t->name : "");
		cp_buf_printf(out, "\", %s\n", state_word(t->state));
		if (!t->captured)
			cp_buf_str(out, "  it could not be stopped in time\n");
		for (i = 0; i < t->frames.count; i++)
			show_frame(out, c->options, i, &t->frames.items[i]);
		if (lacks_frame_pointer(c->options, t))
			cp_buf_str(out, "       its frame pointer is not known while it sleeps: "
					"--stop interrupts it\n");
	}
}

static void json_registers(struct cp_json *j, const struct stack_frame *f)
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

static void json_frame(struct cp_json *j, const struct stack_options *o,
		       const struct stack_frame *f)
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
	cp_json_end(j, '}');
}

static void show_json(struct cp_buf *out, struct collector *c, pid_t pid)
{
	struct cp_json j = { .out = out, .pretty = true };
	struct stack_thread *t;
	struct stack_frame *f;

	cp_json_begin(&j, NULL, '{');
	cp_json_u64(&j, "pid", (uint64_t)pid);
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

static int show(struct collector *c, pid_t pid)
{
	struct cp_buf out = { 0 };

	if (c->threads.count)
		qsort(c->threads.items, c->threads.count, sizeof(*c->threads.items), by_tid);
	if (c->options->json)
		show_json(&out, c, pid);
	else
		show_text(&out, c, pid);
	fwrite(out.bytes, 1, out.size, stdout);
	cp_buf_free(&out);
	return cp_finish_output();
}

static int stack_of(cprof_session *s, pid_t pid, const struct stack_options *o)
{
	struct collector c = { .options = o };
	int status;

	if (cprof_session_attach(s, pid, 0) ||
	    cprof_session_snapshot(s, o->stop ? CPROF_SNAPSHOT_STOP_BLOCKED : 0, take_thread, &c)) {
		cp_collecting_complain(s);
		release(&c);
		return CP_EXIT_FAILURE;
	}
	status = show(&c, cprof_session_target(s));
	release(&c);
	return status;
}

static int run_stack(struct cp_args *args)
{
	struct stack_options *o = args->options;
	cprof_session *s;
	int status;
	pid_t pid;

	if (!cp_operand_pid(args, 0, &pid, &status))
		return status;
	if (o->fp)
		o->stacks.unwinder = CP_COLLECT_FP;
	s = cp_collecting_session(&o->stacks, o->verbose);
	if (!s)
		return CP_EXIT_FAILURE;
	status = stack_of(s, pid, o);
	cprof_session_destroy(s);
	return status;
}

const struct cp_command cp_command_stack = {
	.name = "stack",
	.operands = "[options] PID",
	.summary = "The stack of every thread, once",
	.groups = groups,
	.options_size = sizeof(struct stack_options),
	.defaults = &defaults,
	.least = 1,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_stack,
};
