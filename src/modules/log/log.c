/* SPDX-License-Identifier: MIT
 *
 * `log`, the recorder: a profiler like any other, on cprof's API alone, with
 * the writer of src/record behind it.
 *
 *   log:sample=HZ        samples of CPU time (99 unless told)
 *   log:sample-real=HZ   samples of elapsed time
 *   log:output=FILE      the recording ("cprof.data"), as output.c has it
 *   log:file=FILE        the same, of that very name, whatever is in it
 *   log:trace=SPEC       calls (calls.c), and samples only where asked for
 *   log:coverage         what was reached (coverage.c), likewise
 *   log:exceptions       exceptions thrown and caught (exceptions.c), likewise
 *   log:locks            waits for locks (locks.c), likewise
 *   log:annotations      what the program announces (annotations.c), likewise
 *
 * and what Mono's profiler of that name takes (mono.c, output.c).
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
#include "base/text.h"
#include "modules/log/recorder.h"
#include "modules/modules.h"
#include "modules/settings.h"
#include "record/counters.h"

static cprof_profiler the_log;

/* ---- dictionary ---- */

static uint32_t add_process(cprof_profiler *log, cprof_process *p)
{
	const struct cp_record_process r = {
		.pid = cprof_process_pid(p),
		.ns_pid = cprof_process_ns_pid(p),
		.ppid = cprof_process_parent(p),
		.name = cprof_process_name(p),
		.exe = cprof_process_exe(p),
		.started_as = cprof_process_started_as(p),
		.start_ns = cprof_process_start(p),
	};

	return cp_record_process(log->writer, &r);
}

uint32_t log_process(cprof_profiler *log, cprof_process *p)
{
	uint64_t *known = cp_map_get(&log->processes, (uintptr_t)p);
	uint32_t n;

	if (known)
		return (uint32_t)*known;
	n = add_process(log, p);
	cp_map_put(&log->processes, (uintptr_t)p, n);
	return n;
}

static uint32_t add_thread(cprof_profiler *log, cprof_thread *t)
{
	const struct cp_record_thread r = {
		.process = log_process(log, cprof_thread_process(t)),
		.tid = cprof_thread_tid(t),
		.ns_tid = cprof_thread_ns_tid(t),
		.name = cprof_thread_name(t),
		.start_ns = cprof_thread_start(t),
	};

	return cp_record_thread(log->writer, &r);
}

/* Number of the thread, and the stack of its last sample (CP_RECORD_NONE). */
uint64_t *log_thread(cprof_profiler *log, cprof_thread *t)
{
	uint64_t *known = cp_map_get(&log->threads, (uintptr_t)t);
	uint64_t entry;

	if (known)
		return known;
	entry = add_thread(log, t) | (uint64_t)CP_RECORD_NONE << 32;
	if (!cp_map_put(&log->threads, (uintptr_t)t, entry))
		return NULL;
	return cp_map_get(&log->threads, (uintptr_t)t);
}

/* ---- samples ---- */

uint32_t log_assembly(cprof_profiler *log, const cprof_assembly *assembly)
{
	const struct cp_record_image r = {
		.path = cprof_assembly_path(assembly),
		.build_id = cprof_assembly_build_id(assembly),
		.debug_path = "",
	};

	return cp_record_image(log->writer, (uintptr_t)assembly, &r);
}

uint32_t log_image(cprof_profiler *log, const cprof_image *image)
{
	return image ? log_assembly(log, cprof_image_assembly(image)) : CP_RECORD_NONE;
}

static void seek_taker(cprof_profiler *log, const cprof_frame_info *frame, cprof_addr ip,
		       uint32_t location)
{
	const cprof_image *image = cprof_frame_info_image(frame);
	bool leaf = !log->locations.count;

	if (leaf)
		log->innermost = image;
	log->taker_sought = log_is_runtime(log, image, cprof_function_from_ip(leaf ? ip : ip - 1),
					   cprof_frame_info_address(frame), location);
	if (!log->taker_sought || (log->taker == CP_RECORD_NONE && image != log->innermost))
		log->taker = location;
}

static cprof_walk add_frame(const cprof_function *function, cprof_addr ip,
			    const cprof_frame_info *frame, size_t size,
			    const cprof_context *context, void *data)
{
	cprof_profiler *log = data;
	uint32_t flags = 0, location;

	(void)function;
	(void)size;
	(void)context;
	if (cprof_frame_info_is_signal(frame))
		flags |= CP_RECORD_LOC_SIGNAL;
	if (cprof_frame_info_is_guessed(frame))
		flags |= CP_RECORD_LOC_GUESSED;
	if (cprof_frame_info_is_truncated(frame))
		log->stack_flags |= CP_RECORD_STACK_TRUNCATED;
	location = cp_record_location(log->writer, log_image(log, cprof_frame_info_image(frame)),
				      cprof_frame_info_address(frame), flags);
	if (log->taker_sought)
		seek_taker(log, frame, ip, location);
	if (log->locations.count >= (log->max_frames ? log->max_frames : MAX_STACK)) {
		log->stack_flags |= CP_RECORD_STACK_TRUNCATED;
		return log->taker_sought ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
	}
	return cp_vec_push(&log->locations, location) ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
}

/* What the event being delivered stands on, into log->locations. */
static void walk_stack(cprof_profiler *log)
{
	cprof_status status;

	log->locations.count = 0;
	log->stack_flags = 0;
	status = cprof_do_stack_snapshot(cprof_current_thread(), add_frame,
					 CPROF_SNAPSHOT_ALL_FRAMES | CPROF_SNAPSHOT_ADDRESSES, log,
					 NULL, 0);
	if (status != CPROF_OK)
		log->stack_flags |= CP_RECORD_STACK_TRUNCATED;
}

static uint32_t record_stack(cprof_profiler *log, cprof_addr ip)
{
	if (!log->locations.count &&
	    !cp_vec_push(&log->locations, cp_record_location(log->writer, CP_RECORD_NONE, ip, 0)))
		return CP_RECORD_NONE;
	return cp_record_stack(log->writer, log->locations.items, log->locations.count,
			       log->stack_flags);
}

uint32_t log_stack(cprof_profiler *log, cprof_addr ip)
{
	walk_stack(log);
	return record_stack(log, ip);
}

uint32_t log_taker(cprof_profiler *log, uint32_t *stack_ret)
{
	log->taker = CP_RECORD_NONE;
	log->taker_sought = true;
	walk_stack(log);
	log->taker_sought = false;
	if (stack_ret)
		*stack_ret = record_stack(log, 0);
	if (log->taker == CP_RECORD_NONE && log->locations.count)
		log->taker = log->locations.items[log->locations.count - 1];
	return log->taker != CP_RECORD_NONE ? log->taker
					    : cp_record_location(log->writer, CP_RECORD_NONE, 0, 0);
}

static void fail_if_broken(cprof_profiler *log)
{
	const struct cp_error *err = cp_record_error(log->writer);

	if (!err || log->failed)
		return;
	log->failed = true;
	cprof_profiler_fail(log->handle, "the recording is cut short: %s", err->what);
	cprof_session_stop(cprof_session_current());
}

static void on_sample(cprof_profiler *log, cprof_addr ip, const cprof_context *context)
{
	struct cp_record_sample r = { 0 };
	cprof_sample sample;
	uint64_t *entry;

	(void)context;
	if (!log->writer || !cprof_current_sample(&sample))
		return;
	if (log->max_samples && log->samples >= log->max_samples)
		return;
	if (++log->samples == log->max_samples)
		cprof_profiler_set_sample_mode(log->handle, CPROF_SAMPLE_MODE_NONE, log->hz);
	entry = log_thread(log, cprof_current_thread());
	if (!entry)
		return;
	r.thread = (uint32_t)*entry;
	r.stack = (uint32_t)(*entry >> 32);
	if (!(sample.flags & CPROF_SAMPLE_REPEAT) || r.stack == CP_RECORD_NONE)
		r.stack = log_stack(log, ip);
	*entry = r.thread | (uint64_t)r.stack << 32;
	r.ts_ns = sample.timestamp_ns;
	r.count = sample.count;
	r.weight_ns = sample.weight_ns;
	if (sample.flags & CPROF_SAMPLE_BLOCKED)
		r.flags |= CP_RECORD_SAMPLE_BLOCKED;
	if (sample.flags & CPROF_SAMPLE_REPEAT)
		r.flags |= CP_RECORD_SAMPLE_REPEAT | CP_RECORD_SAMPLE_BLOCKED;
	cp_record_sample(log->writer, &r);
}

static void on_thread_name(cprof_profiler *log, uintptr_t tid, const char *name)
{
	cprof_thread *t = cprof_thread_from_tid((int32_t)tid);

	(void)name;
	if (log->writer && t && cp_map_get(&log->threads, (uintptr_t)t))
		add_thread(log, t);
}

/* ---- start and end ---- */

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

static void read_boot_id(char *buf, size_t size)
{
	CP_FCLOSE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(buf, (int)size, f))
		*buf = 0;
	buf[strcspn(buf, "\n")] = 0;
}

static struct cp_error *open_writer(cprof_profiler *log, uint64_t start_ns)
{
	cprof_session *s = cprof_session_current();
	const struct cp_record_resolver resolver = { resolve, log };
	char *const nothing[] = { NULL };
	char *const *command = cprof_session_command(s);
	struct utsname u;
	char boot_id[64];
	struct cp_record_info info = {
		.holds = (log->sampling ? CP_RECORD_HAS_SAMPLES : 0) | log_calls_hold(log) |
			 log_coverage_hold(log) | log_annotations_hold(log) |
			 log_exceptions_hold(log) | log_locks_hold(log) | log_heap_hold(log),
		.cprof_version = CPROF_VERSION,
		.boot_id = boot_id,
		.command = command ? command : nothing,
		.attached = cprof_session_is_attached(s),
		.pid = cprof_session_target(s),
		.hz = log->sampling ? log->hz : 0,
		.start_ns = start_ns,
		.start_real_ns = cp_clock_ns(CLOCK_REALTIME) - (cp_now() - start_ns),
		.resolution_ns = 1000,
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
	};

	if (log->sampling)
		info.clock = log->mode == CPROF_SAMPLE_MODE_REAL ? CP_RECORD_CLOCK_WALL
								 : CP_RECORD_CLOCK_CPU;
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
	err = log_output_late(log);
	if (!err)
		err = open_writer(log, start_ns);
	if (err)
		cprof_profiler_fail(log->handle, "cannot record: %s", err->what);
	cp_error_free(err);
}

/* The first of all events opens the recording. A process that runs another
 * program now: the last name and file count. */
static void on_domain_loaded(cprof_profiler *log, cprof_process *p)
{
	if (log->writer && cp_map_get(&log->processes, (uintptr_t)p))
		add_process(log, p);
	open_recording(log, cprof_process_start(p));
	log_life_process(log, p);
}

static void write_totals(cprof_profiler *log)
{
	int status = cprof_session_exit_status(cprof_session_current(), false);
	struct cp_record_totals t = { .end_ns = cp_now() };
	cprof_overhead o;

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
	log_calls_totals(log, &t);
	log_heap_totals(&t);
	t.annotations_lost = log->annotations_lost;
	t.ended = status != -1;
	t.wait_status = status != -1 ? status : 0;
	cp_record_totals(log->writer, &t);
}

static void on_heartbeat(cprof_profiler *log)
{
	if (!log->writer)
		return;
	log_coverage_beat(log);
	log_lives_beat(log);
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

/* Of all profilers. */
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
	struct cp_error *err = NULL;

	if (!cprof_session_exec_errno(cprof_session_current()))
		open_recording(log, cp_now()); /* it ended before anything happened */
	if (!log->writer)
		return;
	log_coverage_write(log);
	log_locks_end(log);
	log_lives_end(log);
	write_counters(log);
	write_totals(log);
	cp_record_writer_destroy(cp_steal(log->writer), &err);
	if (err && !log->failed)
		cprof_profiler_fail(log->handle, "the recording is cut short: %s", err->what);
	cp_error_free(err);
	log_output_end(log);
}

static void cleanup(cprof_profiler *log)
{
	cp_record_writer_destroy(log->writer, NULL);
	cp_close_fd(&log->fd);
	cp_output_wait(&log->pipe);
	free(log->path);
	cp_vec_free(&log->waits);
	cp_map_free(&log->processes);
	cp_map_free(&log->threads);
	cp_map_free(&log->own_inlined);
	cp_vec_free(&log->locations);
	free(log->output);
	log_calls_free(log);
	log_coverage_free(log);
	log_lives_free(log);
	*log = (cprof_profiler){ .fd = -1 };
}

/* ---- options ---- */

static bool take_option(cprof_profiler *log, const char *key, const char *value)
{
	bool known, good = log_mono_option(log, key, value, &known);
	uint64_t hz;

	if (known)
		return good;
	if (!strcmp(key, "report") && !value)
		return true; /* the command prints it */
	if (log_calls_option(log, key, value) || log_coverage_option(log, key, value) ||
	    log_annotations_option(log, key, value) || log_exceptions_option(log, key, value) ||
	    log_locks_option(log, key, value) || log_heap_option(log, key, value))
		return true;
	if ((!strcmp(key, "output") || !strcmp(key, "file")) && value && *value) {
		free(log->output);
		log->output = strdup(value);
		log->plain = *key == 'f';
		return log->output != NULL;
	}
	if (strcmp(key, "sample") != 0 && strcmp(key, "sample-real") != 0)
		return false;
	if (value) {
		if (!cp_parse_u64(value, CPROF_SAMPLE_MAX_FREQUENCY, &hz) || !hz)
			return false;
		log->hz = (uint32_t)hz;
	}
	log->sample_asked = true;
	log->mode = key[6] ? CPROF_SAMPLE_MODE_REAL : CPROF_SAMPLE_MODE_PROCESS;
	return true;
}

static bool parse_options(cprof_profiler *log, const char *args)
{
	char *key, *value;
	bool good = true;

	while (good && cprof_profiler_desc_next(&args, NULL, &key, &value, NULL)) {
		if (!strcmp(key, "help")) {
			cprof_profiler_set_help(log->handle, log_usage);
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

const char *cp_module_log_recording(void)
{
	return the_log.path;
}

void cp_module_log_init(const char *desc)
{
	cprof_profiler *log = &the_log;
	struct cp_error *err;

	*log = (cprof_profiler){ .fd = -1, .mode = CPROF_SAMPLE_MODE_PROCESS, .hz = 99 };
	log->handle = cprof_profiler_create(log);
	log->output = strdup("cprof.data");
	if (!log->handle || !log->output) {
		free(log->output);
		log->output = NULL;
		return;
	}
	cprof_profiler_set_cleanup_callback(log->handle, cleanup);
	if (!parse_options(log, cprof_profiler_desc_args(desc)))
		return;
	err = log_output_early(log);
	if (err) {
		cprof_profiler_fail(log->handle, "%s%s%s", err->what, err->hint ? "\n" : "",
				    err->hint ? err->hint : "");
		cp_error_free(err);
		return;
	}
	cprof_profiler_set_runtime_shutdown_end_callback(log->handle, on_shutdown);
	cprof_profiler_set_sample_hit_callback(log->handle, on_sample);
	cprof_profiler_set_domain_loaded_callback(log->handle, on_domain_loaded);
	cprof_profiler_set_thread_name_callback(log->handle, on_thread_name);
	cprof_profiler_set_heartbeat_callback(log->handle, on_heartbeat);
	log_calls_start(log);
	log_exceptions_start(log);
	log_locks_start(log);
	log_heap_start(log);
	log_coverage_start(log);
	log_annotations_start(log);
	log_lives_start(log);
	log->sampling = (!log->trace && !log->coverage && !log->annotations && !log->exceptions &&
			 !log->locks && !log->allocations && !log->no_defaults) ||
			log->sample_asked;
	if (log->sampling)
		settings_sample(log->handle, log->sample_asked, &log->mode, &log->hz);
}
