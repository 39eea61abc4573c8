/* SPDX-License-Identifier: MIT
 *
 * `log`, the recorder: a profiler like any other, on cprof's API alone, with
 * the writer of src/record behind it.
 *
 *   log:output=FILE      the recording ("cprof.data"), as output.c has it
 *   log:file=FILE        the same, of that very name, whatever is in it
 *   log:stack            a stack with each event
 *   log:follow           the command shows calls as they come (cp_module_log_follow()); no
 *                        file unless one is named
 *
 * What it records are families of events (families.h), which have options of their
 * own; it samples where no other one is asked for. mono.c has the options that only
 * Mono's profiler of that name explains.
 *
 * Addresses are recorded as they come; the writer's own thread names them
 * before a chunk is written, so that reading debug information never holds up
 * the events.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "modules/log/commands.h"
#include "modules/log/families.h"
#include "modules/log/mono.h"
#include "modules/log/numbers.h"
#include "modules/log/output.h"
#include "modules/log/port.h"
#include "modules/log/rotate.h"
#include "modules/log/writing.h"
#include "modules/modules.h"

static const char *cut_short(const cprof_profiler *log)
{
	return log->output ? "the recording is cut short" : "the session ended early";
}

static void fail_if_broken(cprof_profiler *log)
{
	const struct cp_error *err = cp_record_error(log->writer);

	if (!err || log->failed)
		return;
	log->failed = true;
	cprof_profiler_fail(log->handle, "%s: %s", cut_short(log), err->what);
	cprof_session_stop(cprof_session_current());
}

static void on_thread_name(cprof_profiler *log, uintptr_t tid, const char *name)
{
	cprof_thread *t = cprof_thread_from_tid((int32_t)tid);

	(void)name;
	if (t)
		cp_recorder_thread_again(log, t);
}

static void on_thread_exited(cprof_profiler *log, uintptr_t tid)
{
	cprof_thread *t = cprof_thread_from_tid((int32_t)tid);
	struct cp_recorder_part *part;

	if (!t)
		return;
	CP_FOR_EACH_PART(log, part, thread_exited)
	part->family->thread_exited(log, t);
}

/* ---- somebody follows ---- */

#define FOLLOWED_NS 25000000 /* between two looks at what is new */

static void on_short_beat(cprof_session *s, int fd, void *data)
{
	cprof_profiler *log = data;
	uint64_t times;

	(void)s;
	if (read(fd, &times, sizeof(times)) < 0 || !log->writer)
		return;
	cp_record_flush(log->writer);
	fail_if_broken(log);
}

void cp_module_log_follow(cprof_profiler *log, const struct cp_record_tap *tap)
{
	const struct itimerspec each = { { 0, FOLLOWED_NS }, { 0, FOLLOWED_NS } };

	log->tap = tap;
	log->beat_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (log->beat_fd >= 0 && !timerfd_settime(log->beat_fd, 0, &each, NULL))
		cprof_session_watch(cprof_session_current(), log->beat_fd, on_short_beat, log);
}

static void end_short_beats(cprof_profiler *log)
{
	cprof_session *s = cprof_session_current();

	if (log->beat_fd >= 0 && s)
		cprof_session_watch(s, log->beat_fd, NULL, NULL);
	cp_close_fd(&log->beat_fd);
}

/* ---- start and end ---- */

/* The first of all events opens the recording. */
static void on_domain_loaded(cprof_profiler *log, cprof_process *p)
{
	struct cp_recorder_part *part;

	cp_recorder_process_again(log, p);
	cp_recorder_begin(log, cprof_process_start(p));
	CP_FOR_EACH_PART(log, part, process_loaded)
	part->family->process_loaded(log, p);
}

static void on_heartbeat(cprof_profiler *log)
{
	struct cp_recorder_part *part;

	if (!log->writer)
		return;
	CP_FOR_EACH_PART(log, part, beat)
	part->family->beat(log);
	cp_recorder_write_totals(log);
	cp_record_flush(log->writer);
	fail_if_broken(log);
	cp_recorder_rotate_beat(log);
}

static void on_shutdown(cprof_profiler *log)
{
	struct cp_error *err = NULL;

	end_short_beats(log);
	cp_recorder_port_close(log);
	if (!cprof_session_exec_errno(cprof_session_current()))
		cp_recorder_begin(log, cp_now()); /* it ended before anything happened */
	if (!log->writer)
		return;
	cp_recorder_rotate_wait(log);
	cp_recorder_finish(log);
	cp_record_writer_destroy(cp_steal(log->writer), &err);
	if (err && !log->failed)
		cprof_profiler_fail(log->handle, "%s: %s", cut_short(log), err->what);
	cp_error_free(err);
	cp_recorder_close(log);
}

static void cleanup(cprof_profiler *log)
{
	cp_recorder_rotate_wait(log);
	cp_record_writer_destroy(log->writer, NULL);
	cp_close_fd(&log->fd);
	end_short_beats(log);
	cp_recorder_port_close(log);
	cp_output_wait(&log->pipe);
	cp_recorder_parts_deinit(log);
	cp_buf_free(&log->help);
	cp_held_deinit(&log->held);
	cp_map_free(&log->processes);
	cp_map_free(&log->threads);
	cp_map_free(&log->functions);
	cp_map_free(&log->runtimes);
	cp_vec_free(&log->locations);
	free(log->path);
	free(log->output);
	free(log);
}

/* ---- options ---- */

static bool take_family_option(cprof_profiler *log, const char *key, const char *value)
{
	struct cp_recorder_part *part;
	size_t i;

	for (i = 0; i < log->part_count; i++) {
		part = &log->parts[i];
		if (!value && part->family->option && !strcmp(key, part->family->option)) {
			part->on = true;
			return true;
		}
		if (part->family->take && part->family->take(log, key, value))
			return true;
	}
	return false;
}

static bool take_option(cprof_profiler *log, const char *key, const char *value)
{
	bool known, good = cp_recorder_mono_option(log, key, value, &known);

	if (known)
		return good;
	if (!strcmp(key, "report") && !value)
		return true; /* the command prints it */
	if (!strcmp(key, "follow") && !value) {
		free(log->output);
		log->output = NULL;
		log->followed = true;
		return true;
	}
	if (!strcmp(key, "stack") && !value) {
		log->stacks = true;
		return true;
	}
	if (!strcmp(key, "keep-source") && !value)
		return log->keep_source = true;
	if (!strcmp(key, "keep-code") && !value)
		return log->keep_code = true;
	if ((!strcmp(key, "output") || !strcmp(key, "file")) && value && *value) {
		free(log->output);
		log->output = strdup(value);
		log->plain = *key == 'f';
		return log->output != NULL;
	}
	if (!strcmp(key, "rotate"))
		return value && cp_recorder_rotate_take(log, value);
	return take_family_option(log, key, value);
}

static const char help_begin[] =
	"log: the recorder; --profile=log[:OPTION[,OPTION...]]\n"
	"  output=FILE        the recording; cprof.data unless told. +FILE: FILE.PID; #N: a\n"
	"                     descriptor; |COMMAND: its standard input; -: standard output. In\n"
	"                     names %p is the process's id, %t date and time, %% a %\n"
	"  rotate=TIME[:N]    FILE is complete each TIME, and becomes FILE.1, FILE.2, ...; of "
	"these\n"
	"                     the last N stay\n"
	"  keep-source        the recording holds the source files that it leads to,\n"
	"  keep-code          and the code of the functions that were seen\n"
	"  report             prints the report at the end\n";
static const char help_defaults[] =
	"  maxframes=N        innermost frames of a stack; 0: all\n"
	"  nodefaults         no samples unless they are asked for behind it\n";

/* Without memory nothing is told. */
static void tell_help(cprof_profiler *log)
{
	size_t i;

	cp_buf_str(&log->help, help_begin);
	for (i = 0; i < log->part_count; i++) {
		cp_buf_str(&log->help,
			   log->parts[i].family->help ? log->parts[i].family->help : "");
		if (log->parts[i].family->by_default)
			cp_buf_str(&log->help, help_defaults);
	}
	cp_buf_str(&log->help, cp_recorder_mono_help);
	if (log->help.bytes)
		cprof_profiler_set_help(log->handle, log->help.bytes);
}

static bool parse_options(cprof_profiler *log, const char *args)
{
	char *key, *value;
	bool good = true;

	while (good && cprof_profiler_desc_next(&args, NULL, &key, &value, NULL)) {
		if (!strcmp(key, "help")) {
			tell_help(log);
			free(key);
			return false;
		}
		good = take_option(log, key, value);
		if (!good && !cprof_session_profiler_failed(cprof_session_current()))
			cprof_profiler_fail(log->handle,
					    "log: '%s%s%s' is no option, or its value makes no "
					    "sense: see --profile=log:help",
					    key, value ? "=" : "", value ? value : "");
		free(key);
	}
	return good;
}

/* ---- init ---- */

const char *cp_module_log_recording(const cprof_profiler *log)
{
	return log ? log->path : NULL;
}

void cp_module_log_state(cprof_profiler *log, struct cp_log_state *ret)
{
	*ret = (struct cp_log_state){ .records = log != NULL };
	if (!log)
		return;
	ret->recording = log->path;
	ret->paused = log->paused;
	ret->closing = cp_recorder_rotate_runs(log);
	ret->rotated = log->rotation.count;
	ret->failure = log->rotation.failure;
	ret->calls = cp_recorder_calls_count(log);
	ret->traced = cp_recorder_calls_traced(log);
}

/* All options are known. */
static void start_parts(cprof_profiler *log)
{
	struct cp_recorder_part *part;
	bool any;
	size_t i;

	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].family->decide)
			log->parts[i].family->decide(log);
	any = cp_recorder_holds(log);
	for (i = 0; i < log->part_count; i++)
		log->parts[i].on |= log->parts[i].family->by_default && !any && !log->no_defaults;
	CP_FOR_EACH_PART(log, part, start)
	part->family->start(log);
}

/* NULL without memory, or when it is too late for a profiler. */
static cprof_profiler *create(void)
{
	cprof_profiler *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->fd = log->beat_fd = -1;
	log->output = strdup("cprof.data");
	if (cp_recorder_parts_init(log, cp_recorder_families) && log->output)
		log->handle = cprof_profiler_create(log);
	if (log->handle)
		return log;
	cleanup(log);
	return NULL;
}

void cp_module_log_init(const char *desc)
{
	cprof_profiler *log = create();
	struct cp_error *err;

	if (!log)
		return;
	cprof_profiler_set_cleanup_callback(log->handle, cleanup);
	if (!parse_options(log, cprof_profiler_desc_args(desc)))
		return;
	err = cp_recorder_open_early(log);
	if (err) {
		cprof_profiler_fail(log->handle, "%s%s%s", err->what, err->hint ? "\n" : "",
				    err->hint ? err->hint : "");
		cp_error_free(err);
		return;
	}
	if (log->rotation.every_ns && !cp_recorder_may_rotate(log, NULL))
		return;
	cprof_profiler_set_runtime_shutdown_end_callback(log->handle, on_shutdown);
	cprof_profiler_set_domain_loaded_callback(log->handle, on_domain_loaded);
	cprof_profiler_set_thread_name_callback(log->handle, on_thread_name);
	cprof_profiler_set_thread_exited_callback(log->handle, on_thread_exited);
	cprof_profiler_set_heartbeat_callback(log->handle, on_heartbeat);
	cprof_profiler_set_command_callback(log->handle, cp_recorder_command);
	start_parts(log);
}
