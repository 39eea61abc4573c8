/* SPDX-License-Identifier: MIT */
#include "modules/log/summary.h"

#include "base/clock.h"
#include "modules/log/numbers.h"

/* A recording of thousands of functions is small enough to keep for a day: it is written
 * once a second, and when that comes to more than so much, as often as that allows. */
#define BYTES_FREE ((uint64_t)1 << 20)
#define BYTES_A_SECOND 2500 /* 9 MB an hour, before they are packed */

static void fail(cprof_profiler *log, struct cp_error *err)
{
	if (err && !log->failed) {
		log->failed = true;
		cprof_profiler_fail(log->handle, "the recording is cut short: %s", err->what);
		cprof_session_stop(cprof_session_current());
	}
	cp_error_free(err);
}

void cp_recorder_summary_add(cprof_profiler *log, struct cp_recorder_summary *s,
			     const struct cp_record_call *call)
{
	uint32_t process = cp_recorder_process(log, cprof_thread_process(cprof_current_thread()));

	fail(log, cp_sums_event(&s->sums, process, call));
}

void cp_recorder_summary_add_block(cprof_profiler *log, struct cp_recorder_summary *s,
				   cprof_thread *t, const struct cp_call_costs *costs,
				   const struct cp_call_entry *entries, size_t count)
{
	const uint64_t *number = cp_recorder_thread(log, t);

	if (number)
		fail(log, cp_sums_block(&s->sums, cp_recorder_process(log, cprof_thread_process(t)),
					(uint32_t)*number, costs, entries, count));
}

void cp_recorder_summary_forget(cprof_profiler *log, struct cp_recorder_summary *s, cprof_thread *t)
{
	const uint64_t *number = cp_map_get(&log->threads, (uintptr_t)t);

	if (number)
		cp_sums_forget(&s->sums, (uint32_t)*number);
}

static void write_sums(cprof_profiler *log, struct cp_recorder_summary *s)
{
	fail(log, cp_sums_write(&s->sums, cp_now(), log->writer, &s->last));
	s->bytes += s->last;
}

void cp_recorder_summary_beat(cprof_profiler *log, struct cp_recorder_summary *s)
{
	uint64_t now = cp_now();

	if (!s->first_ns)
		s->first_ns = now;
	if (s->bytes + s->last <=
	    BYTES_FREE + (now - s->first_ns) / CP_NS_PER_MS * BYTES_A_SECOND / 1000)
		write_sums(log, s);
}

void cp_recorder_summary_end(cprof_profiler *log, struct cp_recorder_summary *s)
{
	cprof_overhead o;

	/* Leaving takes as long as many calls do, and is none of theirs. */
	cprof_get_overhead(&o);
	fail(log, cp_sums_end(&s->sums, o.left_ns ? o.left_ns : cp_now()));
	write_sums(log, s);
}

void cp_recorder_summary_deinit(struct cp_recorder_summary *s)
{
	cp_sums_deinit(&s->sums);
}
