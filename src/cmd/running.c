/* SPDX-License-Identifier: MIT */
#include "cmd/running.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/collecting.h"
#include "cmd/complain.h"
#include "cmd/guard.h"
#include "cmd/preparing.h"
#include "cmd/previewing.h"
#include "cmd/signals.h"
#include "cmd/steering.h"
#include "cmd/toggling.h"
#include "cmd/unmaking.h"
#include "engine/api/profiler.h"
#include "engine/api/services.h"
#include "modules/modules.h"
#include "report/profile/left.h"
#include "report/look/table.h"

/* 0, or ENOEXEC for what only claims to be a program: execvp() would hand it
 * to a shell, which would make of it what it can. */
static int check_program(const char *file)
{
	char head[EI_NIDENT + 2] = "";
	FILE *f = fopen(file, "re");
	size_t n = f ? fread(head, 1, sizeof(head), f) : 0;

	if (f)
		fclose(f);
	if (n < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	return n == sizeof(head) && head[EI_CLASS] >= ELFCLASS32 && head[EI_CLASS] <= ELFCLASS64 &&
			       head[EI_NIDENT] >= ET_EXEC && head[EI_NIDENT] <= ET_DYN
		       ? 0
		       : ENOEXEC;
}

/* The errno that executing `name` would fail with, as far as can be told beforehand (so
 * that nothing is lost by a slip of the pen); 0: nothing. `file` gets what
 * will be executed. */
static int find_command(const char *name, char *file, size_t size)
{
	const char *path = getenv("PATH"), *end;
	int found = ENOENT;

	if (!name)
		return ENOENT;
	if (strchr(name, '/')) {
		snprintf(file, size, "%s", name);
		return access(name, X_OK) ? errno : check_program(name);
	}
	for (path = path ? path : "/bin:/usr/bin";; path = end + 1) {
		end = strchrnul(path, ':');
		snprintf(file, size, "%.*s/%s", end > path ? (int)(end - path) : 1,
			 end > path ? path : ".", name);
		if (!access(file, X_OK))
			return check_program(file);
		if (errno == EACCES)
			found = EACCES;
		if (!*end)
			break;
	}
	return found;
}

/* The interpreter that a script's first line names; false: the file is no script. */
static bool read_interpreter(const char *file, char *name, size_t size)
{
	char line[4096] = "";
	FILE *f = fopen(file, "re");
	bool script = f && fgets(line, sizeof(line), f) && !strncmp(line, "#!", 2);
	const char *start = line + 2;

	if (f)
		fclose(f);
	start += script ? strspn(start, " \t") : 0;
	if (script)
		snprintf(name, size, "%.*s", (int)strcspn(start, " \t\r\n"), start);
	return script;
}

static int exec_failed(const char *command, int errnum)
{
	char file[4096] = "", name[4096], text[9216];

	if (errnum == ENOENT && !find_command(command, file, sizeof(file)) &&
	    read_interpreter(file, name, sizeof(name)))
		snprintf(text, sizeof(text),
			 "cannot run '%.4096s': there is no '%s', which its first line names",
			 command, name);
	else
		snprintf(text, sizeof(text), "cannot run '%.4096s': %s", command, strerror(errnum));
	cp_complain_text(text);
	return errnum == ENOENT ? CP_EXIT_NOT_FOUND : CP_EXIT_NOT_EXECUTABLE;
}

/* The engine looks at the program that runs; one that has ended by then has
 * been nothing but a name. */
static bool is_foreign(const char *file)
{
	unsigned char ident[EI_NIDENT] = "";
	FILE *f = fopen(file, "re");
	bool foreign = f && fread(ident, 1, sizeof(ident), f) == sizeof(ident) &&
		       !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] != ELFCLASS64;

	if (f)
		fclose(f);
	return foreign;
}

static void add_left(cprof_process *p, void *data)
{
	struct cp_lefts *left = data;
	struct cp_left one = { cprof_process_pid(p), strdup(cprof_process_name(p)) };

	if (!one.name || !cp_vec_push(left, one))
		free(one.name);
}

/* CMD has ended, others of its have not. Said at once: a cprof that waits without a
 * word looks as if it hung. */
static void say_who_is_left(cprof_session *s, void *data)
{
	const struct cp_collect_options *o = data;
	const char *command = *cprof_session_command(s);
	struct cp_lefts left = { 0 };
	struct cp_buf text = { 0 };

	cp_signals_stop_instead(s);
	cprof_session_each_process(s, add_left, &left);
	cp_buf_str(&text, "cprof: '");
	cp_escape(&text, CP_ESCAPE_TERMINAL, command, strlen(command));
	cp_buf_str(&text, "' has ended; waiting for ");
	cp_add_plural(&text, left.count, "process that lives on: ", "processes that live on: ");
	cp_lefts_add_names(&text, &left);
	if (o->wait_ns != UINT64_MAX)
		cp_buf_printf(&text, " (%g s at most; Ctrl-C ends it, --wait=none does without)",
			      (double)o->wait_ns / CP_NS_PER_S);
	else
		cp_buf_str(&text, " (Ctrl-C ends it)");
	fprintf(stderr, "%s\n", text.bytes ? text.bytes : "");
	cp_buf_free(&text);
	cp_lefts_free(&left);
}

static cprof_status launch(cprof_session *s, char **command, const struct cp_collect_options *o,
			   const struct cp_watching *w)
{
	cprof_status status;

	if (w && w->launching)
		w->launching(w->data);
	if (cp_signals_children_ignored())
		engine_ignore_children(s);
	status = cprof_session_launch(s, command[0], command, NULL, cp_collecting_flags(o));
	if (w && w->launched)
		w->launched(w->data);
	return status;
}

/* The session ended, or is to, before anything of CMD was executed: nothing stays of it. */
static int never_started(cprof_session *s, int signal, const struct cp_unmaking *older)
{
	const char *recording = cp_module_log_recording(engine_profiler_named(s, "log"));

	if (!engine_has_started(s) && cprof_session_pid(s))
		kill(cprof_session_pid(s), SIGKILL); /* it waits to become CMD */
	cp_unmaking_do(older, recording);
	return cp_signals_say(signal);
}

static int run_session(cprof_session *s, char **command, const struct cp_collect_options *o,
		       const struct cp_watching *w, const struct cp_unmaking *older, bool *ran_ret,
		       bool *cut_ret)
{
	struct cp_steering *steering;
	cprof_status launched;
	int status;

	cp_preparing_show(s, o);
	if (o->wait_ns)
		cprof_session_set_wait(s, o->wait_ns, say_who_is_left, (void *)(uintptr_t)o);
	launched = launch(s, command, o, w);
	if (cp_signals_came())
		return never_started(s, cp_signals_came(), older);
	if (launched) {
		cp_collecting_complain(s);
		return CP_EXIT_OWN_FAILURE;
	}
	cp_signals_pass_on(cprof_session_pid(s));
	steering = cp_steering_begin(s);
	if (w)
		w->begins(s, w->data);
	cprof_session_run(s, o->duration_ns);
	cp_signals_forget();
	if (w)
		w->ends(w->data);
	if (cprof_session_exec_errno(s)) {
		cp_steering_end(steering, false);
		return exec_failed(command[0], cprof_session_exec_errno(s));
	}
	status = cprof_session_exit_status(s, false); /* of who goes on: -1 */
	if (!*cprof_session_error(s) && WIFSIGNALED(status) && !engine_was_loaded(s)) {
		cp_steering_end(steering, false);
		return never_started(s, WTERMSIG(status), older);
	}
	if (!*cprof_session_error(s) && is_foreign(command[0]))
		fprintf(stderr,
			"cprof: '%s' is a 32-bit program: cprof profiles 64-bit ones only\n",
			command[0]);
	*cut_ret = !cp_collecting_end(o, s);
	cp_steering_end(steering, !*cut_ret);
	status = cprof_session_exit_status(s, true);
	*ran_ret = true;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* From now on there is something to undo. */
static bool record(cprof_session *s, const struct cp_collect_options *o)
{
	cp_signals_keep();
	return cp_collecting_record(s, o);
}

int cp_running(struct cp_args *args, const struct cp_collect_options *o,
	       const struct cp_watching *watching, bool *ran_ret, bool *cut_ret)
{
	struct cp_unmaking older;
	cprof_session *s;
	char file[4096];
	int status;

	*ran_ret = *cut_ret = false;
	if (o->output && !strcmp(o->output, "-"))
		return cp_usage(args, "standard output belongs to CMD: name a file for --output");
	if (o->live.file && !strcmp(o->live.file, "-"))
		return cp_usage(args, "standard output belongs to CMD: name a file for --live");
	cp_signals_prepare("'", args->count ? args->operands[0] : "", "' was started", 0);
	status = cp_collecting_check(args, o);
	if (status || cp_collecting_helps(o, CP_EXIT_OWN_FAILURE, &status))
		return status;
	status = find_command(args->operands[0], file, sizeof(file));
	if (status)
		return exec_failed(args->operands[0], status);
	status = cp_collecting_preview(args, o, file);
	if (status)
		return status;
	s = cp_collecting_session(&o->stacks, o->verbose);
	if (!s)
		return CP_EXIT_OWN_FAILURE;
	status = CP_EXIT_OWN_FAILURE;
	cp_guard_begin(s, CP_EXIT_OWN_FAILURE);
	cp_unmaking_begin(&older, o->output);
	cprof_session_set_plugin_dirs(s, o->plugin_dirs.items);
	cprof_session_set_detours(s, !o->calls.traps);
	cprof_session_set_on_full(s, (cprof_on_full)o->calls.on_full);
	if (cp_toggling_begin(s, o->signal) && cp_collecting_load(s, o) &&
	    cp_collecting_capture(s, o) && (!watching || watching->prepare(s, watching->data)) &&
	    record(s, o))
		status = run_session(s, args->operands, o, watching, &older, ran_ret, cut_ret);
	cp_guard_end(s);
	return status;
}
