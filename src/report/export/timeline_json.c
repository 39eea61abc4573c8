/* SPDX-License-Identifier: MIT
 *
 * Numbers by the thousand are flat arrays, whose fields are differences where these are small:
 *
 *     nodes    parent's distance before it, label * 4 + flags
 *     cells    of each thread: its number, how many, then bucket since the one before, node,
 *              weight, ticks; instead of a node of durations label * 1024 + duration,
 *              of rows a set of them (rows_json.c)
 */
#include "report/export/timeline_json.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/look/brief.h"
#include "report/look/table.h"
#include "report/profile/unit.h"

static const char *const series_names[] = {
	[CP_SERIES_RUNNING] = "running",
	[CP_SERIES_WAITING] = "waiting",
	[CP_SERIES_CALLS] = "calls",
	[CP_SERIES_ALLOCATED] = "allocated",
	[CP_SERIES_FREED] = "freed",
	[CP_SERIES_LOCKS] = "locks",
	[CP_SERIES_THROWN] = "thrown",
	[CP_SERIES_SPANS] = "spans",
	[CP_SERIES_DURATIONS] = "durations",
	[CP_SERIES_ROWS_RUNNING] = "rows_running",
	[CP_SERIES_ROWS_WAITING] = "rows_waiting",
};

struct writer {
	const struct cp_timeline *t;
	const struct cp_flame *f;
	struct cp_sink *sink;
	struct cp_json j;
};

/* A name as reports have it: what steers a display is visible. */
static void put_name(struct writer *w, const char *key, const struct cp_buf *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_name(&text, raw->bytes ? raw->bytes : "");
	cp_json_str(&w->j, key, text.bytes ? text.bytes : "");
}

/* [name, image or -1, file, line, color, brief name or "", kind] */
static void write_label(struct writer *w, const struct cp_label *label)
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf class CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_function *fn =
		label->kind == CP_LABEL_FUNCTION ? &w->t->p->functions.items[label->ref] : NULL;

	cp_label_text(w->t, label, &raw);
	cp_json_begin(&w->j, NULL, '[');
	put_name(w, NULL, &raw);
	cp_json_i64(&w->j, NULL, fn ? (int64_t)fn->image : -1);
	cp_json_str(&w->j, NULL, fn && fn->file ? fn->file : "");
	cp_json_u64(&w->j, NULL, fn ? fn->decl_line : 0);
	cp_flame_label_class(w->f, fn ? label->ref : UINT32_MAX, &class);
	cp_json_str(&w->j, NULL, class.bytes ? class.bytes : "");
	if (fn)
		cp_brief_name(&brief, fn->name);
	put_name(w, NULL, &brief);
	cp_json_u64(&w->j, NULL, label->kind);
	cp_json_end(&w->j, ']');
	cp_sink_spill(w->sink);
}

static void write_nodes(struct writer *w)
{
	size_t i;

	cp_json_begin(&w->j, "nodes", '[');
	for (i = 0; i < w->t->nodes.count; i++) {
		const struct cp_timeline_node *n = &w->t->nodes.items[i];

		cp_json_u64(&w->j, NULL, i - n->parent);
		cp_json_u64(&w->j, NULL, n->label * UINT64_C(4) + n->flags);
		cp_sink_spill(w->sink);
	}
	cp_json_end(&w->j, ']');
}

static void write_cells(struct writer *w, const struct cp_timeline_series *s)
{
	const struct cp_timeline_cell *c = s->cells.items, *end = c + s->cells.count, *next;
	uint32_t bucket;

	cp_json_begin(&w->j, "cells", '[');
	while (s->cells.count && c < end) {
		for (next = c; next < end && next->thread == c->thread; next++)
			;
		cp_json_u64(&w->j, NULL, c->thread);
		cp_json_u64(&w->j, NULL, (uint64_t)(next - c));
		for (bucket = 0; c < next; bucket = c->bucket, c++) {
			cp_json_u64(&w->j, NULL, c->bucket - bucket);
			cp_json_u64(&w->j, NULL, c->node);
			cp_json_i64(&w->j, NULL, c->weight);
			cp_json_i64(&w->j, NULL, c->ticks);
			cp_sink_spill(w->sink);
		}
	}
	cp_json_end(&w->j, ']');
}

static void write_series(struct writer *w)
{
	uint64_t node, label;
	size_t i, cursor;

	cp_json_begin(&w->j, "series", '{');
	for (i = 0; i < CP_SERIES_ALL; i++) {
		const struct cp_timeline_series *s = &w->t->series[i];

		if (!s->cells.count)
			continue;
		cp_json_begin(&w->j, series_names[i], '{');
		cp_json_begin(&w->j, "own", '[');
		for (cursor = 0; cp_map_next(&s->own, &cursor, &node, &label);) {
			cp_json_u64(&w->j, NULL, node);
			cp_json_u64(&w->j, NULL, label - 1);
			cp_sink_spill(w->sink);
		}
		cp_json_end(&w->j, ']');
		write_cells(w, s);
		cp_json_end(&w->j, '}');
	}
	cp_json_end(&w->j, '}');
}

/* [name, process] */
static void write_threads(struct writer *w)
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_record *r = w->t->p->record;
	size_t i;

	cp_json_begin(&w->j, "threads", '[');
	for (i = 0; i < cp_record_thread_count(r); i++) {
		uint32_t process = cp_profile_process(w->t->p, (uint32_t)i);

		cp_buf_clear(&raw);
		cp_thread_name(w->t->p, (uint32_t)i, &raw);
		cp_json_begin(&w->j, NULL, '[');
		put_name(w, NULL, &raw);
		cp_json_i64(&w->j, NULL, process == CP_RECORD_NONE ? -1 : (int64_t)process);
		cp_json_end(&w->j, ']');
		cp_sink_spill(w->sink);
	}
	cp_json_end(&w->j, ']');
	cp_json_begin(&w->j, "processes", '[');
	for (i = 0; i < cp_record_process_count(r); i++) {
		cp_buf_clear(&raw);
		cp_process_name(w->t->p, (uint32_t)i, &raw);
		put_name(w, NULL, &raw);
		cp_sink_spill(w->sink);
	}
	cp_json_end(&w->j, ']');
}

/* The weight that the graph has unless another one is chosen: a key of sums.js. */
static const char *usual_weight(const struct cp_profile *p)
{
	switch (p->of) {
	case CP_OF_BYTES:
		return "bytes";
	case CP_OF_COUNT:
		return "allocs";
	case CP_OF_LIVE:
		return "live";
	case CP_OF_TIME:
	case CP_OF_AUTO:
		break;
	}
	return p->by_calls ? "calltime" : "time";
}

static const char *clock_name(const struct cp_record *r)
{
	const struct cp_record_info *info = cp_record_info(r);

	return info->clock == CP_RECORD_CLOCK_EVENT  ? "event"
	       : info->clock == CP_RECORD_CLOCK_WALL ? "wall"
						     : "cpu";
}

CP_ERROR cp_timeline_json(const struct cp_timeline *t, const struct cp_flame *f,
			  struct cp_sink *sink)
{
	struct writer w = { .t = t, .f = f, .sink = sink, .j = { .out = &sink->buf } };
	const struct cp_label *label;

	cp_json_begin(&w.j, NULL, '{');
	cp_json_u64(&w.j, "from", t->from_ns);
	cp_json_u64(&w.j, "bucket", t->bucket_ns);
	cp_json_u64(&w.j, "buckets", t->buckets);
	cp_json_str(&w.j, "clock", clock_name(t->p->record));
	if (cp_record_info(t->p->record)->clock == CP_RECORD_CLOCK_EVENT)
		cp_json_str(&w.j, "event", cp_sample_unit(cp_record_info(t->p->record))->of);
	cp_json_str(&w.j, "usual", usual_weight(t->p));
	cp_json_bool(&w.j, "live_unknown", t->live_unknown);
	write_threads(&w);
	cp_json_begin(&w.j, "labels", '[');
	cp_vec_for_each(&t->labels, label)
		write_label(&w, label);
	cp_json_end(&w.j, ']');
	write_nodes(&w);
	write_series(&w);
	cp_json_end(&w.j, '}');
	return sink->buf.failed ? cp_error_nomem() : NULL;
}
