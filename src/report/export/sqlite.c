/* SPDX-License-Identifier: MIT
 *
 * A SQLite database, for those who want to ask their own questions; tables and
 * views are described in cprof-export(1). It is made in a temporary file,
 * since an export may go to a pipe.
 */
#include "report/export/sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "inspect/inspect.h"
#include "report/events/annotations.h"
#include "report/events/calls.h"
#include "report/export/sqlite_library.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/spans.h"
#include "report/profile/values.h"

static const char schema[] =
	"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN;"
	"CREATE TABLE recording(key TEXT PRIMARY KEY, value);"
	"CREATE TABLE processes(id INTEGER PRIMARY KEY, pid INTEGER, ns_pid INTEGER, ppid INTEGER,"
	" name TEXT, exe TEXT);"
	"CREATE TABLE threads(id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes,"
	" tid INTEGER, ns_tid INTEGER, name TEXT);"
	"CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT, linkage_name TEXT, image TEXT,"
	" path TEXT, file TEXT, line INTEGER);"
	"CREATE TABLE calls(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES calls,"
	" thread INTEGER REFERENCES threads, function INTEGER REFERENCES functions,"
	" depth INTEGER, start_ns INTEGER, duration_ns INTEGER, net_ns INTEGER, self_ns INTEGER,"
	" overhead_ns INTEGER, cpu_ns INTEGER, how TEXT, target INTEGER REFERENCES functions,"
	" recursion INTEGER, uncertain_ns INTEGER, inherited INTEGER);"
	/* added up, which takes more than sum(): net_ns may be a bound */
	"CREATE TABLE function_times(function INTEGER PRIMARY KEY REFERENCES functions,"
	" total_ns INTEGER, total_at_most INTEGER, self_ns INTEGER, self_at_most INTEGER);"
	"CREATE TABLE edge_times(caller INTEGER REFERENCES functions,"
	" callee INTEGER REFERENCES functions, calls INTEGER, ns INTEGER, at_most INTEGER);"
	"CREATE TABLE arguments(call INTEGER REFERENCES calls, role TEXT, position INTEGER,"
	" name TEXT, type TEXT, value, text TEXT, source TEXT, error TEXT);"
	"CREATE TABLE stacks(id INTEGER PRIMARY KEY, truncated INTEGER);"
	"CREATE TABLE frames(stack INTEGER REFERENCES stacks, position INTEGER,"
	" function INTEGER REFERENCES functions, file TEXT, line INTEGER, inlined INTEGER,"
	" guessed INTEGER, PRIMARY KEY(stack, position)) WITHOUT ROWID;"
	"CREATE TABLE samples(id INTEGER PRIMARY KEY, ts_ns INTEGER,"
	" thread INTEGER REFERENCES threads, stack INTEGER REFERENCES stacks, ticks INTEGER,"
	" weight_ns INTEGER, waiting INTEGER);"
	/* each block that was asked for; realloc() makes another one of it. freed_ns NULL: it
	 * was not freed, or in a pause, if there are any */
	"CREATE TABLE allocations(id INTEGER PRIMARY KEY, ts_ns INTEGER,"
	" thread INTEGER REFERENCES threads, function INTEGER REFERENCES functions,"
	" stack INTEGER REFERENCES stacks, address INTEGER, bytes INTEGER,"
	" moved_from INTEGER, freed_ns INTEGER, stands_for INTEGER, stands_for_bytes INTEGER);"
	/* what the program announced; a span without end was open at the end */
	"CREATE TABLE spans(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES spans,"
	" thread INTEGER REFERENCES threads, fiber INTEGER, track TEXT, start_ns INTEGER,"
	" duration_ns INTEGER, self_ns INTEGER, depth INTEGER, name TEXT, category TEXT,"
	" object TEXT, async INTEGER, end_thread INTEGER REFERENCES threads);"
	"CREATE TABLE instants(ts_ns INTEGER, thread INTEGER REFERENCES threads, fiber INTEGER,"
	" name TEXT, category TEXT, object TEXT);"
	"CREATE TABLE counters(ts_ns INTEGER, process INTEGER REFERENCES processes, name TEXT,"
	" category TEXT, value INTEGER);"
	"CREATE TABLE fiber_switches(ts_ns INTEGER, thread INTEGER REFERENCES threads,"
	" from_fiber INTEGER, to_fiber INTEGER);";

static const char views[] =
	"CREATE INDEX calls_function ON calls(function); CREATE INDEX calls_parent ON "
	"calls(parent);"
	"CREATE INDEX arguments_call ON arguments(call); CREATE INDEX samples_stack ON "
	"samples(stack);"
	/* who was called how often, and how long it took */
	"CREATE VIEW function_calls AS SELECT f.name, f.image, sum(NOT c.inherited) AS calls,"
	" t.total_ns, t.self_ns, min(c.net_ns) FILTER (WHERE NOT c.inherited) AS min_ns,"
	" max(avg(c.net_ns - c.uncertain_ns / 2) FILTER (WHERE NOT c.inherited), 0) AS mean_ns,"
	" max(c.net_ns) FILTER (WHERE NOT c.inherited) AS max_ns,"
	" sum(c.overhead_ns) AS overhead_ns, t.total_at_most, t.self_at_most"
	" FROM calls c JOIN functions f ON f.id = c.function"
	" JOIN function_times t ON t.function = f.id GROUP BY f.id ORDER BY t.self_ns DESC;"
	"CREATE VIEW callers AS SELECT p.name AS caller, f.name AS callee, e.calls, e.ns, e.at_most"
	" FROM edge_times e JOIN functions f ON f.id = e.callee"
	" LEFT JOIN functions p ON p.id = e.caller ORDER BY e.ns DESC;"
	/* a call in one line, with its arguments and result */
	"CREATE VIEW call_list AS SELECT c.id, c.parent, t.tid, t.name AS thread, c.start_ns,"
	" c.net_ns, c.depth, f.name AS function, f.image, c.how,"
	" (SELECT group_concat(text, ', ') FROM (SELECT text FROM arguments a WHERE a.call = c.id"
	" AND a.role = 'argument' ORDER BY a.position)) AS arguments,"
	" (SELECT text FROM arguments a WHERE a.call = c.id AND a.role = 'result') AS result"
	" FROM calls c JOIN functions f ON f.id = c.function JOIN threads t ON t.id = c.thread"
	" ORDER BY c.id;"
	/* samples: time in functions themselves, and with all that they call */
	"CREATE VIEW function_self AS SELECT f.name, f.image, sum(s.weight_ns) AS self_ns,"
	" sum(s.ticks) AS ticks FROM samples s JOIN frames r ON r.stack = s.stack AND r.position ="
	" (SELECT max(position) FROM frames WHERE stack = s.stack) JOIN functions f"
	" ON f.id = r.function GROUP BY f.id ORDER BY self_ns DESC;"
	"CREATE VIEW function_total AS SELECT f.name, f.image, sum(s.weight_ns) AS total_ns,"
	" sum(s.ticks) AS ticks FROM samples s JOIN (SELECT DISTINCT stack, function FROM frames) r"
	" ON r.stack = s.stack JOIN functions f ON f.id = r.function GROUP BY f.id"
	" ORDER BY total_ns DESC;"
	"CREATE VIEW allocation_sums AS SELECT f.name, f.image,"
	" sum(a.stands_for) AS blocks, sum(a.stands_for_bytes) AS bytes,"
	" sum(CASE WHEN a.freed_ns IS NULL THEN a.stands_for ELSE 0 END) AS live_blocks,"
	" sum(CASE WHEN a.freed_ns IS NULL THEN a.stands_for_bytes ELSE 0 END) AS live_bytes"
	" FROM allocations a JOIN functions f ON f.id = a.function GROUP BY f.id"
	" ORDER BY bytes DESC;"
	"CREATE VIEW span_sums AS SELECT name, category, async, count(*) AS count,"
	" sum(duration_ns) AS ns, sum(self_ns) AS self_ns, min(duration_ns) AS min_ns,"
	" avg(duration_ns) AS mean_ns, max(duration_ns) AS max_ns FROM spans"
	" GROUP BY name, category, async ORDER BY ns DESC;"
	"COMMIT;";

enum insert {
	INTO_RECORDING,
	INTO_PROCESSES,
	INTO_THREADS,
	INTO_FUNCTIONS,
	INTO_CALLS,
	INTO_FUNCTION_TIMES,
	INTO_EDGE_TIMES,
	INTO_ARGUMENTS,
	INTO_STACKS,
	INTO_FRAMES,
	INTO_SAMPLES,
	INTO_ALLOCATIONS,
	INTO_SPANS,
	INTO_INSTANTS,
	INTO_COUNTERS,
	INTO_SWITCHES,
	INSERTS
};

static const struct {
	const char *table;
	unsigned columns;
} inserts[INSERTS] = {
	[INTO_RECORDING] = { "recording", 2 },
	[INTO_PROCESSES] = { "processes", 6 },
	[INTO_THREADS] = { "threads", 5 },
	[INTO_FUNCTIONS] = { "functions", 7 },
	[INTO_CALLS] = { "calls", 16 },
	[INTO_ARGUMENTS] = { "arguments", 9 },
	[INTO_STACKS] = { "stacks", 2 },
	[INTO_FRAMES] = { "frames", 7 },
	[INTO_SAMPLES] = { "samples", 7 },
	[INTO_ALLOCATIONS] = { "allocations", 11 },
	[INTO_SPANS] = { "spans", 14 },
	[INTO_INSTANTS] = { "instants", 6 },
	[INTO_COUNTERS] = { "counters", 5 },
	[INTO_SWITCHES] = { "fiber_switches", 4 },
	[INTO_FUNCTION_TIMES] = { "function_times", 5 },
	[INTO_EDGE_TIMES] = { "edge_times", 5 },
};

struct writer {
	const struct cp_profile *p;
	struct cp_sqlite sqlite;
	sqlite3 *db;
	sqlite3_stmt *into[INSERTS];
	bool *stacks; /* written */
	bool failed;
};

static CP_ERROR failure(const struct writer *w)
{
	int code = w->sqlite.errcode(w->db);

	return code == SQLITE_NOMEM ? cp_error_nomem()
				    : cp_error_new(CP_ERR_IO, 0, "writing the database: %s",
						   w->sqlite.errmsg(w->db));
}

static CP_ERROR execute(struct writer *w, const char *sql)
{
	return w->sqlite.exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : failure(w);
}

/* ---- values of a row; columns from 1 ---- */

static void put_int(struct writer *w, enum insert into, int column, uint64_t value)
{
	w->sqlite.bind_int64(w->into[into], column, (sqlite3_int64)value);
}

static void put_text(struct writer *w, enum insert into, int column, const char *text)
{
	if (text)
		w->sqlite.bind_text(w->into[into], column, text, -1, SQLITE_TRANSIENT);
	else
		w->sqlite.bind_null(w->into[into], column);
}

static void put_row(struct writer *w, enum insert into)
{
	sqlite3_stmt *s = w->into[into];

	if (w->sqlite.step(s) != SQLITE_DONE)
		w->failed = true;
	w->sqlite.reset(s);
	w->sqlite.clear_bindings(s);
}

static void put_key(struct writer *w, const char *key, const char *value)
{
	put_text(w, INTO_RECORDING, 1, key);
	put_text(w, INTO_RECORDING, 2, value);
	put_row(w, INTO_RECORDING);
}

static void put_number(struct writer *w, const char *key, uint64_t value)
{
	put_text(w, INTO_RECORDING, 1, key);
	put_int(w, INTO_RECORDING, 2, value);
	put_row(w, INTO_RECORDING);
}

/* ---- what was recorded, and of whom ---- */

static void put_recording(struct writer *w, const char *title)
{
	const struct cp_record_info *info = cp_record_info(w->p->record);
	const struct cp_record_totals *t = cp_record_final(w->p->record);
	int status = cp_report_exit_status(w->p->record);

	put_key(w, "title", title);
	put_key(w, "cprof_version", info->cprof_version);
	put_key(w, "host", info->host);
	put_key(w, "machine", info->machine);
	put_key(w, "kernel", info->kernel);
	put_number(w, "pid", (uint64_t)info->pid);
	put_number(w, "start_real_ns", info->start_real_ns);
	put_number(w, "duration_ns", cp_report_duration(w->p->record));
	if (status >= 0)
		put_number(w, "exit_status", (uint64_t)status);
	put_number(w, "cpu_ns", t->cpu_ns);
	put_key(w, "capture", info->capture);
	put_number(w, "stops", t->stops);
	put_number(w, "stopped_ns", t->stopped_ns);
	put_number(w, "samples_lost", t->samples_lost);
	put_number(w, "calls_lost", t->calls_lost);
}

static void put_processes(struct writer *w)
{
	size_t count = cp_record_process_count(w->p->record), i;

	for (i = 0; i < count; i++) {
		const struct cp_record_process *q =
			cp_record_get_process(w->p->record, (uint32_t)i);

		put_int(w, INTO_PROCESSES, 1, i);
		put_int(w, INTO_PROCESSES, 2, (uint64_t)q->pid);
		put_int(w, INTO_PROCESSES, 3, (uint64_t)q->ns_pid);
		put_int(w, INTO_PROCESSES, 4, (uint64_t)q->ppid);
		put_text(w, INTO_PROCESSES, 5, q->name);
		put_text(w, INTO_PROCESSES, 6, q->exe);
		put_row(w, INTO_PROCESSES);
	}
	count = cp_record_thread_count(w->p->record);
	for (i = 0; i < count; i++) {
		const struct cp_record_thread *t = cp_record_get_thread(w->p->record, (uint32_t)i);

		put_int(w, INTO_THREADS, 1, i);
		put_int(w, INTO_THREADS, 2, t->process);
		put_int(w, INTO_THREADS, 3, (uint64_t)t->tid);
		put_int(w, INTO_THREADS, 4, (uint64_t)t->ns_tid);
		put_text(w, INTO_THREADS, 5, t->name);
		put_row(w, INTO_THREADS);
	}
}

static void put_functions(struct writer *w)
{
	size_t i;

	for (i = 0; i < w->p->functions.count; i++) {
		const struct cp_function *f = &w->p->functions.items[i];

		put_int(w, INTO_FUNCTIONS, 1, i);
		put_text(w, INTO_FUNCTIONS, 2, f->name);
		put_text(w, INTO_FUNCTIONS, 3, f->linkage);
		put_text(w, INTO_FUNCTIONS, 4, w->p->images.items[f->image].name);
		put_text(w, INTO_FUNCTIONS, 5, w->p->images.items[f->image].path);
		put_text(w, INTO_FUNCTIONS, 6, f->file);
		if (f->decl_line)
			put_int(w, INTO_FUNCTIONS, 7, f->decl_line);
		put_row(w, INTO_FUNCTIONS);
	}
}

/* ---- calls ---- */

/* Numbers and texts as such, all else as JSON. */
static void put_content(struct writer *w, const cprof_value *v)
{
	struct cp_buf json CP_CLEANUP(cp_buf_free) = { 0 };
	sqlite3_stmt *s = w->into[INTO_ARGUMENTS];

	switch (v->kind) {
	case CPROF_VALUE_INT:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_BOOL:
		put_int(w, INTO_ARGUMENTS, 6, v->u.u);
		return;
	case CPROF_VALUE_UINT:
		if (v->u.u <= INT64_MAX) {
			put_int(w, INTO_ARGUMENTS, 6, v->u.u);
			return;
		}
		break;
	case CPROF_VALUE_FLOAT:
		w->sqlite.bind_double(s, 6, v->u.f);
		return;
	case CPROF_VALUE_STRING:
		w->sqlite.bind_text(s, 6, v->u.text.bytes, (int)v->u.text.length, SQLITE_TRANSIENT);
		return;
	case CPROF_VALUE_RAW:
		w->sqlite.bind_blob(s, 6, v->u.text.bytes, (int)v->u.text.length, SQLITE_TRANSIENT);
		return;
	case CPROF_VALUE_ERROR:
	case CPROF_VALUE_VOID:
		return; /* NULL */
	default:
		break;
	}
	cp_value_json(&json, v);
	put_text(w, INTO_ARGUMENTS, 6, json.bytes);
}

static void put_value(struct writer *w, uint64_t call, const char *role, size_t position,
		      const cprof_value *v)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_value_print(&text, v, NULL);
	put_int(w, INTO_ARGUMENTS, 1, call);
	put_text(w, INTO_ARGUMENTS, 2, role);
	put_int(w, INTO_ARGUMENTS, 3, position);
	put_text(w, INTO_ARGUMENTS, 4, v->name);
	put_text(w, INTO_ARGUMENTS, 5, v->type);
	put_content(w, v);
	put_text(w, INTO_ARGUMENTS, 7, text.bytes);
	put_text(w, INTO_ARGUMENTS, 8, cp_value_source_name(v->source));
	if (v->kind == CPROF_VALUE_ERROR)
		put_text(w, INTO_ARGUMENTS, 9, cp_value_error_name(v->error));
	put_row(w, INTO_ARGUMENTS);
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct writer *w = ctx;
	size_t i;

	span->data = w; /* shown */
	for (i = 0; span->entered && i < call->value_count; i++)
		put_value(w, span->id, "argument", i, &call->values[i]);
	return w->failed ? failure(w) : NULL;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct writer *w = ctx;
	const struct cp_span *outer = cp_span_shown_outer(span);
	const struct cp_returned returned = cp_call_returned(call);
	uint32_t i;

	put_int(w, INTO_CALLS, 1, span->id);
	if (outer)
		put_int(w, INTO_CALLS, 2, outer->id);
	put_int(w, INTO_CALLS, 3, span->thread);
	put_int(w, INTO_CALLS, 4, span->function);
	put_int(w, INTO_CALLS, 5, span->depth);
	put_int(w, INTO_CALLS, 6, span->start_ns);
	put_int(w, INTO_CALLS, 7, span->duration_ns);
	put_int(w, INTO_CALLS, 8, span->net_ns);
	put_int(w, INTO_CALLS, 9, cp_span_self(span));
	put_int(w, INTO_CALLS, 10, span->overhead_ns);
	if (span->cpu_ns)
		put_int(w, INTO_CALLS, 11, span->cpu_ns);
	put_text(w, INTO_CALLS, 12, cp_span_end_name(span->end));
	if (span->target != CP_RECORD_NONE)
		put_int(w, INTO_CALLS, 13, span->target);
	put_int(w, INTO_CALLS, 14, span->again);
	put_int(w, INTO_CALLS, 15, span->uncertain_ns);
	put_int(w, INTO_CALLS, 16, span->inherited);
	put_row(w, INTO_CALLS);
	if (returned.result)
		put_value(w, span->id, "result", 0, returned.result);
	for (i = 0; i < returned.local_count; i++)
		put_value(w, span->id, "local", i, &returned.locals[i]);
	for (i = 0; i < returned.changed_count; i++)
		put_value(w, span->id, "changed", i, &returned.changed[i]);
	return w->failed ? failure(w) : NULL;
}

/* The sums by function and by caller, as `cprof report` has them. */
static CP_ERROR put_times(struct writer *w)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	const struct cp_call_edge *e;
	const struct cp_called *f;

	CP_TRY(cp_calls_build(w->p, &c));
	cp_vec_for_each(&c.functions, f) {
		put_int(w, INTO_FUNCTION_TIMES, 1, f->function);
		put_int(w, INTO_FUNCTION_TIMES, 2, f->total.ns);
		put_int(w, INTO_FUNCTION_TIMES, 3, f->total.at_most);
		put_int(w, INTO_FUNCTION_TIMES, 4, f->self.ns);
		put_int(w, INTO_FUNCTION_TIMES, 5, f->self.at_most);
		put_row(w, INTO_FUNCTION_TIMES);
	}
	cp_vec_for_each(&c.edges, e) {
		if (e->caller != CP_RECORD_NONE)
			put_int(w, INTO_EDGE_TIMES, 1, e->caller);
		put_int(w, INTO_EDGE_TIMES, 2, e->callee);
		put_int(w, INTO_EDGE_TIMES, 3, e->sum.calls);
		put_int(w, INTO_EDGE_TIMES, 4, e->time.ns);
		put_int(w, INTO_EDGE_TIMES, 5, e->time.at_most);
		put_row(w, INTO_EDGE_TIMES);
	}
	return NULL;
}

/* ---- samples ---- */

static void put_stack(struct writer *w, uint32_t stack)
{
	const uint32_t *frames;
	size_t count, i;

	if (w->stacks[stack])
		return;
	w->stacks[stack] = true;
	put_int(w, INTO_STACKS, 1, stack);
	put_int(w, INTO_STACKS, 2, cp_profile_truncated(w->p, stack));
	put_row(w, INTO_STACKS);
	frames = cp_profile_walk(w->p, stack, &count);
	for (i = 0; i < count; i++) {
		const struct cp_frame *f = &w->p->frames.items[frames[i]];

		put_int(w, INTO_FRAMES, 1, stack);
		put_int(w, INTO_FRAMES, 2, i);
		put_int(w, INTO_FRAMES, 3, f->function);
		put_text(w, INTO_FRAMES, 4, f->file);
		if (f->line)
			put_int(w, INTO_FRAMES, 5, f->line);
		put_int(w, INTO_FRAMES, 6, (f->flags & CP_FRAME_INLINED) != 0);
		put_int(w, INTO_FRAMES, 7, (f->flags & CP_FRAME_GUESSED) != 0);
		put_row(w, INTO_FRAMES);
	}
}

static CP_ERROR put_samples(struct writer *w)
{
	const struct cp_record_sample *samples = cp_record_samples(w->p->record), *s;
	size_t count = cp_record_sample_count(w->p->record), i;
	uint64_t start = cp_record_info(w->p->record)->start_ns;

	w->stacks = calloc(cp_record_stack_count(w->p->record) + 1, sizeof(*w->stacks));
	if (!w->stacks)
		return cp_error_nomem();
	for (i = 0; i < count && !w->failed; i++) {
		s = &samples[i];
		if (!cp_profile_accepts(w->p, s))
			continue;
		put_stack(w, s->stack);
		put_int(w, INTO_SAMPLES, 1, i);
		put_int(w, INTO_SAMPLES, 2, s->ts_ns > start ? s->ts_ns - start : 0);
		put_int(w, INTO_SAMPLES, 3, s->thread);
		put_int(w, INTO_SAMPLES, 4, s->stack);
		put_int(w, INTO_SAMPLES, 5, s->count);
		put_int(w, INTO_SAMPLES, 6, s->weight_ns);
		put_int(w, INTO_SAMPLES, 7,
			(s->flags & (CP_RECORD_SAMPLE_BLOCKED | CP_RECORD_SAMPLE_REPEAT)) != 0);
		put_row(w, INTO_SAMPLES);
	}
	return NULL;
}

/* ---- allocations ---- */

static void put_block(struct writer *w, const struct cp_heap_block *b)
{
	put_int(w, INTO_ALLOCATIONS, 1, b->number);
	put_int(w, INTO_ALLOCATIONS, 2, cp_profile_ns(w->p, b->ts_ns));
	put_int(w, INTO_ALLOCATIONS, 3, b->thread);
	put_int(w, INTO_ALLOCATIONS, 4, b->function);
	if (b->stack != CP_RECORD_NONE) {
		put_stack(w, b->stack);
		put_int(w, INTO_ALLOCATIONS, 5, b->stack);
	}
	put_int(w, INTO_ALLOCATIONS, 6, b->address);
	put_int(w, INTO_ALLOCATIONS, 7, b->size);
	if (b->previous)
		put_int(w, INTO_ALLOCATIONS, 8, b->previous);
	put_int(w, INTO_ALLOCATIONS, 10, b->weight.blocks);
	put_int(w, INTO_ALLOCATIONS, 11, b->weight.bytes);
}

static bool is_shown(const struct writer *w, const struct cp_heap_block *b)
{
	return cp_profile_ns(w->p, b->ts_ns) >= w->p->filter.from_ns;
}

static void block_gone(void *ctx, const struct cp_heap_block *b, uint64_t ts_ns)
{
	struct writer *w = ctx;

	if (!is_shown(w, b))
		return;
	put_block(w, b);
	put_int(w, INTO_ALLOCATIONS, 9, cp_profile_ns(w->p, ts_ns));
	put_row(w, INTO_ALLOCATIONS);
}

static CP_ERROR put_allocations(struct writer *w)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { .gone = block_gone, .gone_ctx = w };
	const struct cp_record_totals *t = cp_record_final(w->p->record);
	const struct cp_heap_block *b;

	if (!cp_record_heap_count(w->p->record))
		return NULL;
	CP_TRY(cp_heap_build(w->p, &h));
	cp_vec_for_each(&h.blocks, b) {
		if (b->process == CP_RECORD_NONE || !b->counts || !is_shown(w, b))
			continue;
		put_block(w, b);
		put_row(w, INTO_ALLOCATIONS);
	}
	put_number(w, "allocations_sampled_every", t->alloc_every);
	put_number(w, "allocation_pauses", t->alloc_pauses);
	put_number(w, "allocations_watched_ns", t->alloc_watched_ns);
	put_number(w, "allocations_paused_ns", t->alloc_paused_ns);
	return NULL;
}

/* ---- annotations ---- */

static void put_fiber(struct writer *w, enum insert into, int column, const struct cp_track *t)
{
	if (t->is_fiber)
		put_int(w, into, column, t->fiber);
}

static void put_span(struct writer *w, const struct cp_annotations *a, size_t number)
{
	const struct cp_noted_span *s = &a->spans.items[number];
	const struct cp_track *t = &a->tracks.items[s->track];
	struct cp_buf track CP_CLEANUP(cp_buf_free) = { 0 };

	cp_track_name(a, s->track, &track);
	put_int(w, INTO_SPANS, 1, number + 1);
	if (s->outer != CP_RECORD_NONE)
		put_int(w, INTO_SPANS, 2, (uint64_t)s->outer + 1);
	put_int(w, INTO_SPANS, 3, cp_record_get_annotation(w->p->record, s->begin).thread);
	put_fiber(w, INTO_SPANS, 4, t);
	put_text(w, INTO_SPANS, 5, track.bytes);
	put_int(w, INTO_SPANS, 6, s->start_ns);
	put_int(w, INTO_SPANS, 7, s->end_ns - s->start_ns);
	if (!s->async)
		put_int(w, INTO_SPANS, 8, cp_noted_self(s));
	put_int(w, INTO_SPANS, 9, s->depth);
	put_text(w, INTO_SPANS, 10, s->name);
	put_text(w, INTO_SPANS, 11, s->category);
	put_text(w, INTO_SPANS, 12, s->object);
	put_int(w, INTO_SPANS, 13, s->async);
	if (s->end != CP_RECORD_NONE)
		put_int(w, INTO_SPANS, 14, cp_record_get_annotation(w->p->record, s->end).thread);
	put_row(w, INTO_SPANS);
}

static void put_moment(struct writer *w, const struct cp_annotations *a, uint32_t number)
{
	struct cp_record_annotation it = cp_record_get_annotation(w->p->record, number);
	const struct cp_track *t = &a->tracks.items[a->tracks_of[number]];
	uint64_t ns = cp_annotation_ns(a, &it);

	if (!cp_annotation_shown(a, &it))
		return;
	if (it.kind == CP_RECORD_INSTANT) {
		put_int(w, INTO_INSTANTS, 1, ns);
		put_int(w, INTO_INSTANTS, 2, it.thread);
		put_fiber(w, INTO_INSTANTS, 3, t);
		put_text(w, INTO_INSTANTS, 4, it.name);
		put_text(w, INTO_INSTANTS, 5, it.category);
		put_text(w, INTO_INSTANTS, 6, it.object);
		put_row(w, INTO_INSTANTS);
	} else if (it.kind == CP_RECORD_COUNTER) {
		put_int(w, INTO_COUNTERS, 1, ns);
		put_int(w, INTO_COUNTERS, 2, t->process);
		put_text(w, INTO_COUNTERS, 3, it.name);
		put_text(w, INTO_COUNTERS, 4, it.category);
		put_int(w, INTO_COUNTERS, 5, (uint64_t)it.value);
		put_row(w, INTO_COUNTERS);
	} else if (it.kind == CP_RECORD_FIBER_SWITCH) {
		put_int(w, INTO_SWITCHES, 1, ns);
		put_int(w, INTO_SWITCHES, 2, it.thread);
		put_int(w, INTO_SWITCHES, 3, it.id >> 32);
		put_int(w, INTO_SWITCHES, 4, (uint32_t)it.id);
		put_row(w, INTO_SWITCHES);
	}
}

static CP_ERROR put_annotations(struct writer *w)
{
	struct cp_annotations a CP_CLEANUP(cp_annotations_deinit) = { 0 };
	size_t i;

	CP_TRY(cp_annotations_build(w->p, &a));
	for (i = 0; i < a.spans.count && !w->failed; i++)
		if (cp_noted_shown(&a, &a.spans.items[i]))
			put_span(w, &a, i);
	for (i = 0; i < a.count && !w->failed; i++)
		put_moment(w, &a, a.order[i]);
	return NULL;
}

/* ---- the database ---- */

static CP_ERROR prepare(struct writer *w)
{
	unsigned i, k;

	CP_TRY(execute(w, schema));
	for (i = 0; i < INSERTS; i++) {
		struct cp_buf sql CP_CLEANUP(cp_buf_free) = { 0 };

		cp_buf_printf(&sql, "INSERT INTO %s VALUES(?", inserts[i].table);
		for (k = 1; k < inserts[i].columns; k++)
			cp_buf_str(&sql, ",?");
		cp_buf_str(&sql, ")");
		if (sql.failed)
			return cp_error_nomem();
		if (w->sqlite.prepare_v2(w->db, sql.bytes, -1, &w->into[i], NULL) != SQLITE_OK)
			return failure(w);
	}
	return NULL;
}

static CP_ERROR fill(struct writer *w, const char *title)
{
	static const struct cp_span_visitor visitor = { .enter = enter, .leave = leave };

	CP_TRY(prepare(w));
	put_recording(w, title);
	put_processes(w);
	put_functions(w);
	CP_TRY(put_samples(w));
	CP_TRY(cp_spans_walk(w->p, &visitor, w));
	CP_TRY(put_allocations(w));
	CP_TRY(put_times(w));
	CP_TRY(put_annotations(w));
	if (w->failed)
		return failure(w);
	return execute(w, views);
}

static CP_ERROR make(const struct cp_profile *p, const char *title, const char *path)
{
	struct writer w = { .p = p };
	struct cp_error *err = cp_sqlite_load(&w.sqlite);
	unsigned i;

	if (err)
		return err;
	if (w.sqlite.open_v2(path, &w.db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		err = w.db ? failure(&w) : cp_error_nomem();
	if (!err)
		err = fill(&w, title);
	for (i = 0; i < INSERTS; i++)
		w.sqlite.finalize(w.into[i]);
	free(w.stacks);
	if (w.sqlite.close(w.db) != SQLITE_OK && !err)
		err = failure(&w);
	return err;
}

static CP_ERROR copy(int fd, struct cp_sink *sink)
{
	char bytes[65536];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return cp_error_new(CP_ERR_IO, errno, "reading the database");
	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		cp_buf_add(&sink->buf, bytes, (size_t)n);
		cp_sink_spill(sink);
	}
	return n < 0 ? cp_error_new(CP_ERR_IO, errno, "reading the database") : NULL;
}

CP_ERROR cp_export_sqlite(const struct cp_profile *p, const struct cp_export_options *o,
			  struct cp_sink *sink)
{
	const char *dir = getenv("TMPDIR");
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };
	char path[PATH_MAX];
	struct cp_error *err;
	int fd;

	snprintf(path, sizeof(path), "%s/cprof.XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return cp_error_hint(cp_error_new(CP_ERR_IO, errno, "making the temporary file %s",
						  path),
				     "TMPDIR names another directory");
	cp_export_title(p, o, &title);
	err = make(p, title.bytes, path);
	if (!err)
		err = copy(fd, sink);
	unlink(path);
	close(fd);
	return err;
}
