/* SPDX-License-Identifier: MIT */
#include "modules/log/writing.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/types.h"
#include "modules/log/output.h"
#include "record/counters.h"
#include "record/enclosed.h"

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

static void keep_instruction(const cprof_instruction *insn, void *data)
{
	cp_record_code_instruction(data, insn->address, insn->bytes, insn->size);
	cp_record_code_refers(data, insn->refers, insn->data, insn->name, insn->offset);
}

static uint64_t code(void *ctx, uint64_t key, uint64_t address, uint64_t most,
		     struct cp_record_code_builder *builder)
{
	uint64_t left_out = 0;

	(void)ctx;
	if (key == CP_RECORD_NO_KEY || !key)
		return 0;
	cprof_assembly_each_instruction((cprof_assembly *)(uintptr_t)key, address, most,
					keep_instruction, builder, &left_out);
	return left_out;
}

/* ---- the beginning ---- */

static void read_boot_id(char *buf, size_t size)
{
	CP_FCLOSE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(buf, (int)size, f))
		*buf = 0;
	buf[strcspn(buf, "\n")] = 0;
}

/* CP_RECORD_HAS_* */
uint32_t cp_recorder_holds(const cprof_profiler *log)
{
	uint32_t holds = 0;
	size_t i;

	for (i = 0; i < log->part_count; i++)
		holds |= log->parts[i].on ? log->parts[i].holds : 0;
	return holds;
}

CP_ERROR cp_recorder_open_writer(cprof_profiler *log, uint64_t start_ns)
{
	cprof_session *s = cprof_session_current();
	const struct cp_record_resolver resolver = { resolve, log, code };
	char *const nothing[] = { NULL };
	char *const *command = cprof_session_command(s);
	struct utsname u;
	char boot_id[64];
	struct cp_recorder_part *part;
	struct cp_record_info info = {
		.holds = cp_recorder_holds(log),
		.cprof_version = CPROF_VERSION,
		.boot_id = boot_id,
		.command = command ? command : nothing,
		.attached = cprof_session_is_attached(s),
		.pid = cprof_session_target(s),
		.capture = cprof_session_capture(s),
		.capture_reason = cprof_session_capture_reason(s),
		.event = cprof_session_event(s),
		.event_period = cprof_session_event_period(s),
		.start_ns = start_ns,
		.start_real_ns = cp_clock_ns(CLOCK_REALTIME) - (cp_now() - start_ns),
		.resolution_ns = 1000,
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
	};

	CP_FOR_EACH_PART(log, part, describe)
	part->family->describe(log, &info);
	info.holds |= (log->keep_source ? CP_RECORD_HAS_SOURCE : 0) |
		      (log->keep_code ? CP_RECORD_HAS_CODE : 0);
	uname(&u);
	read_boot_id(boot_id, sizeof(boot_id));
	info.host = u.nodename;
	info.machine = u.machine;
	info.kernel = u.release;
	return cp_record_writer_create_tapped(cp_steal_fd(&log->fd), &info, &resolver, log->tap,
					      &log->writer);
}

void cp_recorder_begin(cprof_profiler *log, uint64_t start_ns)
{
	struct cp_error *err;

	if (log->opened)
		return;
	log->opened = true;
	log->begin_ns = start_ns;
	err = cp_recorder_open_late(log);
	if (!err)
		err = cp_recorder_open_writer(log, start_ns);
	if (err)
		cprof_profiler_fail(log->handle, "cannot record: %s", err->what);
	cp_error_free(err);
}

/* ---- the end ---- */

struct cp_record_totals cp_recorder_totals(const cprof_profiler *log)
{
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
	t.event_count = o.event_count;
	t.paused_ns = o.paused_ns;
	t.placing_ns = o.placing_ns;
	t.left_ns = o.left_ns;
	t.placing_cut = o.placing_cut;
	t.strayed = o.strayed;
	t.event_unsampled = o.event_unsampled;
	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].family->totals)
			log->parts[i].family->totals(log, &t);
	return t;
}

/* What adds up from the beginning of the session. */
static const size_t sums[] = {
#define SUM_(field) offsetof(struct cp_record_totals, field)
	SUM_(samples),
	SUM_(samples_lost),
	SUM_(cpu_ns),
	SUM_(unsampled_ns),
	SUM_(event_count),
	SUM_(paused_ns),
	SUM_(event_unsampled),
	SUM_(stops),
	SUM_(stopped_ns),
	SUM_(restarted),
	SUM_(strayed),
	SUM_(reads),
	SUM_(tracer_cpu_ns),
	SUM_(controller_cpu_ns),
	SUM_(calls),
	SUM_(call_stops),
	SUM_(call_records),
	SUM_(call_records_lost),
	SUM_(call_records_unread),
	SUM_(call_rejected_inside),
	SUM_(call_rejected_condition),
	SUM_(call_condition_unknown),
	SUM_(call_rejected_late),
	SUM_(call_unmatched),
	SUM_(annotations_lost),
	SUM_(waited_ns),
	SUM_(alloc_pauses),
	SUM_(alloc_paused_ns),
	SUM_(alloc_watched_ns),
	SUM_(alloc_passed),
	SUM_(finished),
	SUM_(cut_short),
	SUM_(perf_samples),
	SUM_(perf_lost),
	SUM_(perf_cut),
	SUM_(perf_throttled),
	SUM_(perf_left),
	SUM_(calls_left_out),
#undef SUM_
};

void cp_recorder_write_totals(cprof_profiler *log)
{
	int status = cprof_session_exit_status(cprof_session_current(), false);
	struct cp_record_totals t = cp_recorder_totals(log);
	const char *before = (const char *)&log->rotation.before;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(sums); i++) {
		uint64_t *sum = (uint64_t *)((char *)&t + sums[i]);
		uint64_t less = *(const uint64_t *)(before + sums[i]);

		*sum -= less < *sum ? less : *sum;
	}
	t.ended = status != -1;
	t.wait_status = status != -1 ? status : 0;
	cp_record_totals(log->writer, &t);
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

void cp_recorder_finish(cprof_profiler *log)
{
	struct cp_recorder_part *part;

	CP_FOR_EACH_PART(log, part, end)
	part->family->end(log);
	write_counters(log);
	cp_recorder_write_totals(log);
}
