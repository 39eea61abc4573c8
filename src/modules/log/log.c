/* SPDX-License-Identifier: MIT
 *
 * `log`, the recorder: a profiler like any other, on cprof's API alone, with
 * the writer of src/record behind it.
 *
 *   log:output=FILE      the recording ("cprof.data"), as output.c has it
 *   log:file=FILE        the same, of that very name, whatever is in it
 *   log:stack            a stack with each event
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
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "modules/log/commands.h"
#include "modules/log/families.h"
#include "modules/log/mono.h"
#include "modules/log/numbers.h"
#include "modules/log/output.h"
#include "modules/modules.h"
#include "record/counters.h"

/* For each part that is on, and whose family has `what`. */
#define FOR_EACH_PART(log, part, what) \
	for ((part) = (log)->parts; (part) < (log)->parts + (log)->part_count; (part)++) \
		if ((part)->on && (part)->family->what)

static void fail_if_broken(cprof_profiler *log)
{
	const struct cp_error *err = cp_record_error(log->writer);

	if (!err || log->failed)
		return;
	log->failed = true;
	cprof_profiler_fail(log->handle, "the recording is cut short: %s", err->what);
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
	FOR_EACH_PART(log, part, thread_exited)
	part->family->thread_exited(log, t);
}

/* ---- names ---- */

static void name_frame(const cprof_symbol *symbol, void *data)
{
	const struct cp_record_frame frame = {
		.function = symbol->name,
		.linkage = symbol->linkage_name,
		.file = symbol->file,
		.line = symbol->line,
		.decl_line = symbol->decl_line,
		.inlined = symbol->inlined,
	};

	cp_record_name_frame(data, &frame);
	cp_record_name_start(data, symbol->start);
}

static void resolve(void *ctx, uint64_t key, uint64_t address, struct cp_record_names *names)
{
	(void)ctx;
	if (key != CP_RECORD_NO_KEY)
		cprof_assembly_symbolize((cprof_assembly *)(uintptr_t)key, address, name_frame,
					 names);
}

/* ---- start and end ---- */

static void read_boot_id(char *buf, size_t size)
{
	CP_FCLOSE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(buf, (int)size, f))
		*buf = 0;
	buf[strcspn(buf, "\n")] = 0;
}

/* CP_RECORD_HAS_* */
static uint32_t what_it_holds(const cprof_profiler *log)
{
	uint32_t holds = 0;
	size_t i;

	for (i = 0; i < log->part_count; i++)
		holds |= log->parts[i].on ? log->parts[i].holds : 0;
	return holds;
}

static struct cp_error *open_writer(cprof_profiler *log, uint64_t start_ns)
{
	cprof_session *s = cprof_session_current();
	const struct cp_record_resolver resolver = { resolve, log };
	char *const nothing[] = { NULL };
	char *const *command = cprof_session_command(s);
	struct utsname u;
	char boot_id[64];
	struct cp_recorder_part *part;
	struct cp_record_info info = {
		.holds = what_it_holds(log),
		.cprof_version = CPROF_VERSION,
		.boot_id = boot_id,
		.command = command ? command : nothing,
		.attached = cprof_session_is_attached(s),
		.pid = cprof_session_target(s),
		.capture = cprof_session_capture(s),
		.capture_reason = cprof_session_capture_reason(s),
		.start_ns = start_ns,
		.start_real_ns = cp_clock_ns(CLOCK_REALTIME) - (cp_now() - start_ns),
		.resolution_ns = 1000,
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
	};

	FOR_EACH_PART(log, part, describe)
	part->family->describe(log, &info);
	uname(&u);
	read_boot_id(boot_id, sizeof(boot_id));
	info.host = u.nodename;
	info.machine = u.machine;
	info.kernel = u.release;
	return cp_record_writer_create(cp_steal_fd(&log->fd), &info, &resolver, &log->writer);
}

static void open_recording(cprof_profiler *log, uint64_t start_ns)
{
	struct cp_error *err;

	if (log->opened)
		return;
	log->opened = true;
	err = cp_recorder_open_late(log);
	if (!err)
		err = open_writer(log, start_ns);
	if (err)
		cprof_profiler_fail(log->handle, "cannot record: %s", err->what);
	cp_error_free(err);
}

/* The first of all events opens the recording. */
static void on_domain_loaded(cprof_profiler *log, cprof_process *p)
{
	struct cp_recorder_part *part;

	cp_recorder_process_again(log, p);
	open_recording(log, cprof_process_start(p));
	FOR_EACH_PART(log, part, process_loaded)
	part->family->process_loaded(log, p);
}

static void write_totals(cprof_profiler *log)
{
	int status = cprof_session_exit_status(cprof_session_current(), false);
	struct cp_record_totals t = { .end_ns = cp_now() };
	cprof_overhead o;
	size_t i;

	cprof_get_overhead(&o);
	t.samples = o.samples;
	t.samples_lost = o.lost;
	t.cpu_ns = o.cpu_ns;
	t.unsampled_ns = o.unsampled_ns;
	t.stops = o.stops;
	t.stopped_ns = o.stopped_ns;
	t.hold_median_ns = o.hold_median_ns;
	t.hold_p99_ns = o.hold_p99_ns;
	t.restarted = o.restarted;
	t.reads = o.reads;
	t.threads = o.threads;
	t.processes = o.processes;
	t.tracer_cpu_ns = o.tracer_cpu_ns;
	t.controller_cpu_ns = o.controller_cpu_ns;
	t.waited_ns = o.waited_ns;
	t.finished = o.finished;
	t.cut_short = o.cut_short;
	t.perf_samples = o.perf_samples;
	t.perf_lost = o.perf_lost;
	t.perf_cut = o.perf_cut;
	t.perf_throttled = o.perf_throttled;
	t.perf_left = o.perf_left;
	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].family->totals)
			log->parts[i].family->totals(log, &t);
	t.ended = status != -1;
	t.wait_status = status != -1 ? status : 0;
	cp_record_totals(log->writer, &t);
}

static void on_heartbeat(cprof_profiler *log)
{
	struct cp_recorder_part *part;

	if (!log->writer)
		return;
	FOR_EACH_PART(log, part, beat)
	part->family->beat(log);
	write_totals(log);
	cp_record_flush(log->writer);
	fail_if_broken(log);
}

struct counters {
	CP_VEC(struct cp_record_counter) list;
};

static void take_counter(const char *module, const char *name, uint64_t value, void *data)
{
	struct counters *c = data;
	struct cp_record_counter it = { strdup(module), strdup(name), value };

	if (it.module && it.name && cp_vec_push(&c->list, it))
		return;
	free((void *)(uintptr_t)it.module);
	free((void *)(uintptr_t)it.name);
}

/* Counters of all profilers. */
static void write_counters(cprof_profiler *log)
{
	struct counters c = { 0 };
	size_t i;

	cprof_profiler_each_counter(take_counter, &c);
	cp_record_counters(log->writer, c.list.items, c.list.count);
	for (i = 0; i < c.list.count; i++) {
		free((void *)(uintptr_t)c.list.items[i].module);
		free((void *)(uintptr_t)c.list.items[i].name);
	}
	cp_vec_free(&c.list);
}

static void on_shutdown(cprof_profiler *log)
{
	struct cp_recorder_part *part;
	struct cp_error *err = NULL;

	if (!cprof_session_exec_errno(cprof_session_current()))
		open_recording(log, cp_now()); /* it ended before anything happened */
	if (!log->writer)
		return;
	FOR_EACH_PART(log, part, end)
	part->family->end(log);
	write_counters(log);
	write_totals(log);
	cp_record_writer_destroy(cp_steal(log->writer), &err);
	if (err && !log->failed)
		cprof_profiler_fail(log->handle, "the recording is cut short: %s", err->what);
	cp_error_free(err);
	cp_recorder_close(log);
}

static void cleanup(cprof_profiler *log)
{
	cp_record_writer_destroy(log->writer, NULL);
	cp_close_fd(&log->fd);
	cp_output_wait(&log->pipe);
	cp_recorder_parts_deinit(log);
	cp_buf_free(&log->help);
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
	if (!strcmp(key, "stack") && !value) {
		log->stacks = true;
		return true;
	}
	if ((!strcmp(key, "output") || !strcmp(key, "file")) && value && *value) {
		free(log->output);
		log->output = strdup(value);
		log->plain = *key == 'f';
		return log->output != NULL;
	}
	return take_family_option(log, key, value);
}

static const char help_begin[] =
	"log: the recorder; --profile=log[:OPTION[,OPTION...]]\n"
	"  output=FILE        the recording; cprof.data unless told. +FILE: FILE.PID; #N: a\n"
	"                     descriptor; |COMMAND: its standard input; -: standard output. In\n"
	"                     names %p is the process's id, %t date and time, %% a %\n"
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

void cp_module_log_state(const cprof_profiler *log, struct cp_log_state *ret)
{
	*ret = (struct cp_log_state){ .records = log != NULL };
	if (!log)
		return;
	ret->recording = log->path;
	ret->paused = log->paused;
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
	any = what_it_holds(log);
	for (i = 0; i < log->part_count; i++)
		log->parts[i].on |= log->parts[i].family->by_default && !any && !log->no_defaults;
	FOR_EACH_PART(log, part, start)
	part->family->start(log);
}

/* NULL without memory, or when it is too late for a profiler. */
static cprof_profiler *create(void)
{
	cprof_profiler *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->fd = -1;
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
	cprof_profiler_set_runtime_shutdown_end_callback(log->handle, on_shutdown);
	cprof_profiler_set_domain_loaded_callback(log->handle, on_domain_loaded);
	cprof_profiler_set_thread_name_callback(log->handle, on_thread_name);
	cprof_profiler_set_thread_exited_callback(log->handle, on_thread_exited);
	cprof_profiler_set_heartbeat_callback(log->handle, on_heartbeat);
	cprof_profiler_set_command_callback(log->handle, cp_recorder_command);
	start_parts(log);
}
