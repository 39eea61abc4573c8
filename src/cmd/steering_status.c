/* SPDX-License-Identifier: MIT */
#include "cmd/steering_status.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/api/profiler.h"
#include "modules/modules.h"
#include "report/look/table.h"

struct status {
	cprof_session *session;
	uint64_t duration_ns;
	struct cp_log_state log; /* of the recorder; without one: nothing */
	uint64_t bytes; /* of the recording */
	cprof_sample_mode mode;
	uint32_t hz;
	uint64_t processes, threads; /* that live */
	cprof_overhead cost;
	cprof_call_statistics calls;
};

static bool count_thread(cprof_thread *t, void *data)
{
	(void)t;
	++*(uint64_t *)data;
	return true;
}

static void count_process(cprof_process *p, void *data)
{
	(void)p;
	++*(uint64_t *)data;
}

static void read_status(cprof_session *s, uint64_t begin_ns, struct status *ret)
{
	cprof_profiler *log = engine_profiler_named(s, "log");
	struct stat st;

	*ret = (struct status){ .session = s, .duration_ns = cp_now() - begin_ns };
	cp_module_log_state(log, &ret->log);
	if (ret->log.recording && !stat(ret->log.recording, &st))
		ret->bytes = (uint64_t)st.st_size;
	engine_sampling(s, &ret->mode, &ret->hz);
	cprof_session_each_process(s, count_process, &ret->processes);
	cprof_for_each_thread(count_thread, &ret->threads);
	cprof_refresh_overhead();
	cprof_get_overhead(&ret->cost);
	cprof_get_call_statistics(&ret->calls);
}

/* ---- JSON ---- */

static void add_recording(struct cp_json *j, const struct status *st)
{
	if (!st->log.records) {
		cp_json_null(j, "recording");
		return;
	}
	cp_json_begin(j, "recording", '{');
	if (st->log.recording)
		cp_json_str(j, "file", st->log.recording);
	else
		cp_json_null(j, "file");
	cp_json_u64(j, "size", st->bytes);
	cp_json_u64(j, "rotated", st->log.rotated);
	cp_json_end(j, '}');
}

static void add_samples(struct cp_json *j, const struct status *st)
{
	static const char *const clocks[] = { "none", "cpu", "wall" };

	cp_json_begin(j, "samples", '{');
	cp_json_str(j, "clock", clocks[st->mode]);
	cp_json_u64(j, "hz", st->mode ? st->hz : 0);
	cp_json_u64(j, "total", st->cost.samples);
	cp_json_u64(j, "lost", st->cost.lost);
	cp_json_end(j, '}');
}

static void add_json(const struct status *st, struct cp_buf *out)
{
	char *const *word = cprof_session_command(st->session);
	struct cp_json j = { .out = out };

	cp_json_begin(&j, NULL, '{');
	cp_json_u64(&j, "pid", (uint64_t)cprof_session_target(st->session));
	cp_json_u64(&j, "cprof", (uint64_t)getpid());
	cp_json_begin(&j, "command", '[');
	for (; word && *word; word++)
		cp_json_str(&j, NULL, *word);
	cp_json_end(&j, ']');
	cp_json_bool(&j, "attached", cprof_session_is_attached(st->session));
	cp_json_bool(&j, "paused", st->log.paused);
	cp_json_u64(&j, "duration_ns", st->duration_ns);
	cp_json_u64(&j, "processes", st->processes);
	cp_json_u64(&j, "threads", st->threads);
	add_recording(&j, st);
	add_samples(&j, st);
	cp_json_begin(&j, "calls", '{');
	cp_json_str(&j, "traced", st->log.traced ? st->log.traced : "");
	cp_json_u64(&j, "functions", st->calls.functions);
	cp_json_u64(&j, "events", st->log.calls);
	cp_json_end(&j, '}');
	cp_json_begin(&j, "overhead", '{');
	cp_json_u64(&j, "stops", st->cost.stops);
	cp_json_u64(&j, "stopped_ns", st->cost.stopped_ns);
	cp_json_u64(&j, "tracer_cpu_ns", st->cost.tracer_cpu_ns);
	cp_json_u64(&j, "controller_cpu_ns", st->cost.controller_cpu_ns);
	cp_json_end(&j, '}');
	cp_json_end(&j, '}');
}

/* ---- text ---- */

static void add_head(const struct status *st, struct cp_buf *out)
{
	char *const *word = cprof_session_command(st->session);
	size_t most = out->size + 100;

	for (; word && *word && out->size < most; word++)
		if (**word) /* programs that set their title leave empty ones */
			cp_buf_printf(out, "%s%s",
				      word == cprof_session_command(st->session) ? "" : " ", *word);
	while (out->size && out->bytes[out->size - 1] == ' ')
		out->bytes[--out->size] = 0;
	cp_buf_printf(out, "\n  process    %d, %s for ", (int)cprof_session_target(st->session),
		      cprof_session_is_attached(st->session) ? "attached to" : "run");
	cp_add_time(out, st->duration_ns);
	cp_buf_printf(out, " by cprof %d: ", (int)getpid());
	cp_add_plural(out, st->processes, "process", "processes");
	cp_buf_str(out, ", ");
	cp_add_plural(out, st->threads, "thread", "threads");
}

static void add_recorded(const struct status *st, struct cp_buf *out)
{
	cp_buf_str(out, "\n  recording  ");
	if (!st->log.records) {
		cp_buf_str(out, "none");
		return;
	}
	if (!st->log.recording) {
		cp_buf_str(out, "to no file");
		return;
	}
	cp_buf_printf(out, "%s, ", st->log.recording);
	cp_add_bytes(out, st->bytes);
	if (st->log.rotated) {
		cp_buf_str(out, ", after ");
		cp_add_plural(out, st->log.rotated, "that was ended", "that were ended");
	}
}

static void add_sampled(const struct status *st, struct cp_buf *out)
{
	cp_buf_str(out, "\n  samples    ");
	if (st->mode)
		cp_buf_printf(out, "at %u Hz of %s: ", st->hz,
			      st->mode == CPROF_SAMPLE_MODE_REAL ? "elapsed time" : "CPU time");
	else
		cp_buf_str(out, "none are taken: ");
	cp_add_count(out, st->cost.samples);
	cp_buf_str(out, " until now, ");
	cp_add_count(out, st->cost.lost);
	cp_buf_str(out, " lost");
}

static void add_calls(const struct status *st, struct cp_buf *out)
{
	if (!st->log.calls && (!st->log.traced || !*st->log.traced))
		return;
	cp_buf_str(out, "\n  calls      ");
	if (st->log.traced && *st->log.traced) {
		cp_buf_printf(out, "of %.*s%s, ", 60, st->log.traced,
			      strlen(st->log.traced) > 60 ? "..." : "");
		cp_add_plural(out, st->calls.functions, "function", "functions");
		cp_buf_str(out, ": ");
	}
	cp_add_plural(out, st->log.calls, "event", "events");
}

static void add_cost(const struct status *st, struct cp_buf *out)
{
	cp_buf_str(out, "\n  cost       ");
	cp_add_plural(out, st->cost.stops, "stop", "stops");
	cp_buf_str(out, ", ");
	cp_add_time(out, st->cost.stopped_ns);
	cp_buf_str(out, " in all; cprof itself ");
	cp_add_time(out, st->cost.tracer_cpu_ns + st->cost.controller_cpu_ns);
	cp_buf_str(out, " of CPU");
}

static void add_text(const struct status *st, struct cp_buf *out)
{
	add_head(st, out);
	if (st->log.paused)
		cp_buf_str(out, "\n  paused     no samples, no calls, until 'resume'");
	add_recorded(st, out);
	add_sampled(st, out);
	add_calls(st, out);
	add_cost(st, out);
}

void cp_steering_status(cprof_session *s, uint64_t begin_ns, bool json, struct cp_buf *out)
{
	struct status st;

	read_status(s, begin_ns, &st);
	if (json)
		add_json(&st, out);
	else
		add_text(&st, out);
}
