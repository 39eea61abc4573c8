/* SPDX-License-Identifier: MIT
 *
 * Speedscope's own JSON: a "sampled" profile for each thread, its samples in
 * the order of time, their weights in nanoseconds. A stack that follows itself
 * is one sample with the sum of weights.
 */
#include "report/export/speedscope.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/export/samples.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"

struct speedscope {
	const struct cp_profile *p;
	struct cp_sink *sink;
	struct cp_json j;
	const uint32_t *order; /* samples by thread, then time */
	size_t count;
};

/* The format has no word for a number of things. */
static const char *measure(const struct cp_unit *unit)
{
	return strcmp(unit->measure, "count") != 0 ? unit->measure : "none";
}

static void write_frames(struct speedscope *s)
{
	const struct cp_function *f;

	cp_json_begin(&s->j, "shared", '{');
	cp_json_begin(&s->j, "frames", '[');
	cp_vec_for_each(&s->p->functions, f) {
		cp_json_begin(&s->j, NULL, '{');
		cp_json_str(&s->j, "name", f->name);
		if (f->file)
			cp_json_str(&s->j, "file", f->file);
		else
			cp_json_str(&s->j, "file", cp_profile_image_name(s->p, f));
		if (f->decl_line)
			cp_json_u64(&s->j, "line", f->decl_line);
		cp_json_end(&s->j, '}');
		cp_sink_spill(s->sink);
	}
	cp_json_end(&s->j, ']');
	cp_json_end(&s->j, '}');
}

static void write_stack(struct speedscope *s, uint32_t stack)
{
	const uint32_t *frames;
	size_t count, i;

	cp_json_begin(&s->j, NULL, '[');
	frames = cp_profile_walk_marked(s->p, stack, &count);
	for (i = 0; i < count; i++)
		cp_json_u64(&s->j, NULL, s->p->frames.items[frames[i]].function);
	cp_json_end(&s->j, ']');
	cp_sink_spill(s->sink);
}

/* From `i` to the first sample that has another thread or stack; the weights
 * of those between in *ns_ret. */
static size_t same_stack(const struct speedscope *s, size_t i, size_t end, uint64_t *ns_ret)
{
	const struct cp_record_sample *samples = cp_record_samples(s->p->record);
	uint32_t stack = samples[s->order[i]].stack;

	for (*ns_ret = 0; i < end && samples[s->order[i]].stack == stack; i++)
		*ns_ret += samples[s->order[i]].weight_ns;
	return i;
}

static void write_thread(struct speedscope *s, size_t from, size_t end)
{
	const struct cp_record_sample *samples = cp_record_samples(s->p->record);
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	uint64_t ns, total = 0;
	size_t i;

	for (i = from; i < end; i++)
		total += samples[s->order[i]].weight_ns;
	cp_thread_name(s->p, samples[s->order[from]].thread, &name);
	cp_json_begin(&s->j, NULL, '{');
	cp_json_str(&s->j, "type", "sampled");
	cp_json_str(&s->j, "name", name.bytes);
	cp_json_str(&s->j, "unit", measure(s->p->unit));
	cp_json_u64(&s->j, "startValue", 0);
	cp_json_u64(&s->j, "endValue", total);
	cp_json_begin(&s->j, "samples", '[');
	for (i = from; i < end; i = same_stack(s, i, end, &ns))
		write_stack(s, samples[s->order[i]].stack);
	cp_json_end(&s->j, ']');
	cp_json_begin(&s->j, "weights", '[');
	for (i = from; i < end;) {
		i = same_stack(s, i, end, &ns);
		cp_json_u64(&s->j, NULL, ns);
		cp_sink_spill(s->sink);
	}
	cp_json_end(&s->j, ']');
	cp_json_end(&s->j, '}');
}

static void write_hits(struct speedscope *s);

static void write_all(struct speedscope *s, const char *title)
{
	const struct cp_record_sample *samples = cp_record_samples(s->p->record);
	size_t i, end;

	cp_json_begin(&s->j, NULL, '{');
	cp_json_str(&s->j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	cp_json_str(&s->j, "name", title);
	cp_json_str(&s->j, "exporter", "cprof");
	cp_json_u64(&s->j, "activeProfileIndex", 0);
	write_frames(s);
	cp_json_begin(&s->j, "profiles", '[');
	for (i = 0; i < s->count; i = end) {
		uint32_t thread = samples[s->order[i]].thread;

		for (end = i; end < s->count && samples[s->order[end]].thread == thread;)
			end++;
		write_thread(s, i, end);
	}
	write_hits(s);
	cp_json_end(&s->j, ']');
	cp_json_end(&s->j, '}');
	cp_buf_u8(&s->sink->buf, '\n');
}

/* ---- what has no order: calls, allocations ---- */

/* The stacks of each thread, with what was spent in them. */
static void write_hits_of(struct speedscope *s, uint32_t thread)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_hit *hit;

	cp_thread_name(s->p, thread, &name);
	cp_json_begin(&s->j, NULL, '{');
	cp_json_str(&s->j, "type", "sampled");
	cp_json_str(&s->j, "name", name.bytes);
	cp_json_str(&s->j, "unit", measure(s->p->unit));
	cp_json_u64(&s->j, "startValue", 0);
	cp_json_u64(&s->j, "endValue", s->p->threads[thread].weight);
	cp_json_begin(&s->j, "samples", '[');
	cp_vec_for_each(&s->p->hits, hit)
		if (hit->thread == thread && hit->cost.weight)
			write_stack(s, hit->stack);
	cp_json_end(&s->j, ']');
	cp_json_begin(&s->j, "weights", '[');
	cp_vec_for_each(&s->p->hits, hit)
		if (hit->thread == thread && hit->cost.weight)
			cp_json_u64(&s->j, NULL, hit->cost.weight);
	cp_json_end(&s->j, ']');
	cp_json_end(&s->j, '}');
	cp_sink_spill(s->sink);
}

static void write_hits(struct speedscope *s)
{
	size_t count = cp_profile_of_samples(s->p) ? 0 : cp_record_thread_count(s->p->record), i;

	for (i = 0; i < count; i++)
		if (s->p->threads[i].ticks)
			write_hits_of(s, (uint32_t)i);
}

CP_ERROR cp_export_speedscope(const struct cp_profile *p, const struct cp_export_options *o,
			      struct cp_sink *sink)
{
	struct speedscope s = { .p = p, .sink = sink, .j = { .out = &sink->buf } };
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };
	CP_FREE uint32_t *order = NULL;

	if (cp_profile_of_samples(p))
		CP_TRY(cp_export_by_thread(p, &order, &s.count));
	s.order = order;
	cp_export_title(p, o, &title);
	write_all(&s, title.bytes);
	return NULL;
}
