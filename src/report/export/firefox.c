/* SPDX-License-Identifier: MIT
 *
 * The Firefox Profiler's processed profile, version 48: tables in columns, of each thread
 * its own, whose indices lead from one to the next.
 *
 *     sample ─► stack ─► frame ─► function ─► resource ─► library
 *                 └► stack around it            (all names: indices of strings)
 *
 * Weights are milliseconds of time, or bytes. Samples of calls and allocations have no
 * order: they follow each other, each as long as it weighs.
 */
#include "report/export/firefox.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/export/samples.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"

#define VERSION 48 /* of the processed format, and of what Firefox itself writes: */
#define GECKO_VERSION 30
#define LIBRARY 1 /* kind of resource */
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

/* Numbers of the profile, in the order in which a thread first needs them. */
struct column {
	struct cp_map at; /* number -> index */
	CP_VEC(uint32_t) items;
};

struct stack_node {
	uint32_t frame; /* index */
	uint32_t prefix; /* index + 1; 0: none is around it */
};

struct sample {
	uint32_t stack; /* index */
	double time, weight;
};

struct thread {
	struct column frames, functions, images;
	struct cp_map stacks; /* prefix, frame -> index */
	CP_VEC(struct stack_node) nodes;
	CP_VEC(struct sample) samples;
};

struct firefox {
	const struct cp_profile *p;
	struct cp_sink *sink;
	struct cp_json j;
	struct column libraries; /* images */
};

static void free_column(struct column *c)
{
	cp_map_free(&c->at);
	cp_vec_free(&c->items);
}

static void free_thread(struct thread *t)
{
	free_column(&t->frames);
	free_column(&t->functions);
	free_column(&t->images);
	cp_map_free(&t->stacks);
	cp_vec_free(&t->nodes);
	cp_vec_free(&t->samples);
}

/* False without memory. */
static bool index_of(struct column *c, uint32_t number, uint32_t *ret)
{
	const uint64_t *at = cp_map_get(&c->at, number);

	*ret = at ? (uint32_t)*at : (uint32_t)c->items.count;
	return at || (cp_map_put(&c->at, number, c->items.count) && cp_vec_push(&c->items, number));
}

/* ---- what a thread needs ---- */

static bool add_frame(struct firefox *x, struct thread *t, uint32_t frame, uint32_t *ret)
{
	const struct cp_frame *f = &x->p->frames.items[frame];
	uint32_t image = x->p->functions.items[f->function].image, unused;

	return index_of(&t->frames, frame, ret) && index_of(&t->functions, f->function, &unused) &&
	       index_of(&t->images, image, &unused) && index_of(&x->libraries, image, &unused);
}

static bool add_stack(struct firefox *x, struct thread *t, uint32_t stack, uint32_t *ret)
{
	uint32_t node = 0, frame; /* node: index + 1 */
	const uint64_t *known;
	size_t count, i;
	const uint32_t *frames = cp_profile_walk_marked(x->p, stack, &count);

	for (i = 0; i < count; i++) {
		if (!add_frame(x, t, frames[i], &frame))
			return false;
		known = cp_map_get(&t->stacks, (uint64_t)node << 32 | frame);
		if (known) {
			node = (uint32_t)*known + 1;
			continue;
		}
		if (!cp_map_put(&t->stacks, (uint64_t)node << 32 | frame, t->nodes.count) ||
		    !cp_vec_push(&t->nodes, ((struct stack_node){ frame, node })))
			return false;
		node = (uint32_t)t->nodes.count;
	}
	*ret = node - 1;
	return true;
}

static bool add_sample(struct firefox *x, struct thread *t, uint32_t stack, double time,
		       double weight)
{
	struct sample s = { .time = time, .weight = weight };

	return add_stack(x, t, stack, &s.stack) && cp_vec_push(&t->samples, s);
}

/* ---- columns ---- */

static void begin_table(struct firefox *x, const char *name, size_t length)
{
	cp_json_begin(&x->j, name, '{');
	cp_json_u64(&x->j, "length", length);
}

#define COLUMN(x, name, count, put) \
	do { \
		cp_json_begin(&(x)->j, name, '['); \
		for (size_t i = 0; i < (count); i++) { \
			put; \
			cp_sink_spill((x)->sink); \
		} \
		cp_json_end(&(x)->j, ']'); \
	} while (0)

static void write_nothing(struct firefox *x, const char *name)
{
	cp_json_begin(&x->j, name, '[');
	cp_json_end(&x->j, ']');
}

static void put_index(struct firefox *x, const struct column *c, uint32_t number)
{
	const uint64_t *at = cp_map_get(&c->at, number);

	cp_json_u64(&x->j, NULL, at ? *at : 0);
}

static const struct cp_frame *frame_at(const struct firefox *x, const struct thread *t, size_t i)
{
	return &x->p->frames.items[t->frames.items.items[i]];
}

static const struct cp_function *function_at(const struct firefox *x, const struct thread *t,
					     size_t i)
{
	return &x->p->functions.items[t->functions.items.items[i]];
}

static unsigned category_of(const struct cp_frame *f)
{
	return f->flags & CP_FRAME_KERNEL ? CATEGORY_KERNEL : CATEGORY_USER;
}

/* Where in its library; -1: not known. */
static void put_address(struct firefox *x, const struct cp_frame *f)
{
	const struct cp_record_location *l =
		f->location == CP_RECORD_NONE ? NULL
					      : cp_record_get_location(x->p->record, f->location);

	if (l && l->image != CP_RECORD_NONE)
		cp_json_u64(&x->j, NULL, l->address);
	else
		cp_json_i64(&x->j, NULL, -1);
}

/* How many inlined calls of its location are around it. */
static uint32_t inline_depth(const struct firefox *x, uint32_t frame)
{
	uint32_t location = x->p->frames.items[frame].location;

	if (location == CP_RECORD_NONE)
		return 0;
	return x->p->location_frames[location + 1] - 1 - frame;
}

static void put_line(struct firefox *x, uint32_t line)
{
	if (line)
		cp_json_u64(&x->j, NULL, line);
	else
		cp_json_null(&x->j, NULL);
}

static void write_frames(struct firefox *x, const struct thread *t)
{
	const size_t n = t->frames.items.count;

	begin_table(x, "frameTable", n);
	COLUMN(x, "address", n, put_address(x, frame_at(x, t, i)));
	COLUMN(x, "inlineDepth", n,
	       cp_json_u64(&x->j, NULL, inline_depth(x, t->frames.items.items[i])));
	COLUMN(x, "category", n, cp_json_u64(&x->j, NULL, category_of(frame_at(x, t, i))));
	COLUMN(x, "subcategory", n, cp_json_u64(&x->j, NULL, 0));
	COLUMN(x, "func", n, put_index(x, &t->functions, frame_at(x, t, i)->function));
	COLUMN(x, "nativeSymbol", n, cp_json_null(&x->j, NULL));
	COLUMN(x, "innerWindowID", n, cp_json_u64(&x->j, NULL, 0));
	COLUMN(x, "implementation", n, cp_json_null(&x->j, NULL));
	COLUMN(x, "line", n, put_line(x, frame_at(x, t, i)->line));
	COLUMN(x, "column", n, cp_json_null(&x->j, NULL));
	cp_json_end(&x->j, '}');
}

static void write_stacks(struct firefox *x, const struct thread *t)
{
	const size_t n = t->nodes.count;

	begin_table(x, "stackTable", n);
	COLUMN(x, "frame", n, cp_json_u64(&x->j, NULL, t->nodes.items[i].frame));
	COLUMN(x, "category", n,
	       cp_json_u64(&x->j, NULL, category_of(frame_at(x, t, t->nodes.items[i].frame))));
	COLUMN(x, "subcategory", n, cp_json_u64(&x->j, NULL, 0));
	COLUMN(x, "prefix", n,
	       t->nodes.items[i].prefix ? cp_json_u64(&x->j, NULL, t->nodes.items[i].prefix - 1)
					: cp_json_null(&x->j, NULL));
	cp_json_end(&x->j, '}');
}

/* Strings: the names of functions, their files ("" where that is not known), libraries. */
static void write_functions(struct firefox *x, const struct thread *t)
{
	const size_t n = t->functions.items.count;

	begin_table(x, "funcTable", n);
	COLUMN(x, "name", n, cp_json_u64(&x->j, NULL, i));
	COLUMN(x, "isJS", n, cp_json_bool(&x->j, NULL, false));
	COLUMN(x, "relevantForJS", n, cp_json_bool(&x->j, NULL, false));
	COLUMN(x, "resource", n, put_index(x, &t->images, function_at(x, t, i)->image));
	COLUMN(x, "fileName", n,
	       function_at(x, t, i)->file ? cp_json_u64(&x->j, NULL, n + i)
					  : cp_json_null(&x->j, NULL));
	COLUMN(x, "lineNumber", n, put_line(x, function_at(x, t, i)->decl_line));
	COLUMN(x, "columnNumber", n, cp_json_null(&x->j, NULL));
	cp_json_end(&x->j, '}');
}

static void write_resources(struct firefox *x, const struct thread *t)
{
	const size_t n = t->images.items.count, before = 2 * t->functions.items.count;

	begin_table(x, "resourceTable", n);
	COLUMN(x, "lib", n, put_index(x, &x->libraries, t->images.items.items[i]));
	COLUMN(x, "name", n, cp_json_u64(&x->j, NULL, before + i));
	COLUMN(x, "host", n, cp_json_null(&x->j, NULL));
	COLUMN(x, "type", n, cp_json_u64(&x->j, NULL, LIBRARY));
	cp_json_end(&x->j, '}');
}

static const struct cp_profile_image *image_at(const struct firefox *x, const struct column *c,
					       size_t i)
{
	return &x->p->images.items[c->items.items[i]];
}

static void write_strings(struct firefox *x, const struct thread *t)
{
	size_t n = t->functions.items.count, i;

	cp_json_begin(&x->j, "stringArray", '[');
	for (i = 0; i < n; i++)
		cp_json_str(&x->j, NULL, function_at(x, t, i)->name);
	for (i = 0; i < n; i++)
		cp_json_str(&x->j, NULL,
			    function_at(x, t, i)->file ? function_at(x, t, i)->file : "");
	for (i = 0; i < t->images.items.count; i++)
		cp_json_str(&x->j, NULL, image_at(x, &t->images, i)->name);
	cp_json_end(&x->j, ']');
}

static void write_samples(struct firefox *x, const struct thread *t)
{
	const size_t n = t->samples.count;

	begin_table(x, "samples", n);
	COLUMN(x, "stack", n, cp_json_u64(&x->j, NULL, t->samples.items[i].stack));
	COLUMN(x, "time", n, cp_json_f64(&x->j, NULL, t->samples.items[i].time));
	COLUMN(x, "weight", n, cp_json_f64(&x->j, NULL, t->samples.items[i].weight));
	cp_json_str(&x->j, "weightType",
		    !strcmp(x->p->unit->measure, "nanoseconds") ? "tracing-ms"
		    : !strcmp(x->p->unit->measure, "bytes")	? "bytes"
								: "samples");
	cp_json_end(&x->j, '}');
}

/* Tables that have nothing. */
static void write_empty(struct firefox *x)
{
	static const char *const symbols[] = { "address", "functionSize", "libIndex", "name" };
	static const char *const markers[] = { "data",	  "name",  "startTime",
					       "endTime", "phase", "category" };

	begin_table(x, "nativeSymbols", 0);
	for (size_t c = 0; c < CP_ARRAY_SIZE(symbols); c++)
		write_nothing(x, symbols[c]);
	cp_json_end(&x->j, '}');
	begin_table(x, "markers", 0);
	for (size_t c = 0; c < CP_ARRAY_SIZE(markers); c++)
		write_nothing(x, markers[c]);
	cp_json_end(&x->j, '}');
	write_nothing(x, "pausedRanges");
}

/* ---- threads ---- */

static double ms_of(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double since_start(const struct firefox *x, uint64_t ns)
{
	uint64_t start = cp_record_info(x->p->record)->start_ns;

	return ns > start ? ms_of(ns - start) : 0;
}

static void put_text(struct firefox *x, const char *key, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	cp_json_str(&x->j, key, text);
}

static void write_thread(struct firefox *x, uint32_t number, const struct thread *t)
{
	const struct cp_record_thread *of = cp_record_get_thread(x->p->record, number);
	const struct cp_record_process *process = cp_record_get_process(x->p->record, of->process);

	cp_json_begin(&x->j, NULL, '{');
	cp_json_str(&x->j, "processType", "default");
	cp_json_str(&x->j, "processName", process->name);
	cp_json_f64(&x->j, "processStartupTime", since_start(x, process->start_ns));
	cp_json_null(&x->j, "processShutdownTime");
	cp_json_f64(&x->j, "registerTime", since_start(x, of->start_ns));
	cp_json_null(&x->j, "unregisterTime");
	cp_json_str(&x->j, "name", of->name);
	cp_json_bool(&x->j, "isMainThread", of->tid == process->pid);
	put_text(x, "pid", process->pid);
	cp_json_i64(&x->j, "tid", of->tid);
	write_samples(x, t);
	write_stacks(x, t);
	write_frames(x, t);
	write_functions(x, t);
	write_resources(x, t);
	write_strings(x, t);
	write_empty(x);
	cp_json_end(&x->j, '}');
	cp_sink_spill(x->sink);
}

/* Samples of time in their order. */
static bool take_samples(struct firefox *x, struct thread *t, const uint32_t *order, size_t count)
{
	const struct cp_record_sample *samples = cp_record_samples(x->p->record);
	bool time = !strcmp(x->p->unit->measure, "nanoseconds");
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cp_record_sample *s = &samples[order[i]];

		if (!add_sample(x, t, s->stack, ms_of(s->ts_ns),
				time ? ms_of(s->weight_ns) : (double)s->weight_ns))
			return false;
	}
	return true;
}

/* The stacks of a thread, with what was spent in them. */
static bool take_hits(struct firefox *x, struct thread *t, uint32_t thread)
{
	bool time = !strcmp(x->p->unit->measure, "nanoseconds");
	const struct cp_hit *hit;
	double at = 0, weight;

	cp_vec_for_each(&x->p->hits, hit) {
		if (hit->thread != thread || !hit->cost.weight)
			continue;
		weight = time ? ms_of(hit->cost.weight) : (double)hit->cost.weight;
		if (!add_sample(x, t, hit->stack, at, weight))
			return false;
		at += time ? weight : 1;
	}
	return true;
}

static CP_ERROR write_threads(struct firefox *x)
{
	const struct cp_record_sample *samples = cp_record_samples(x->p->record);
	size_t count = 0, at = 0, end, n = cp_record_thread_count(x->p->record), i;
	CP_FREE uint32_t *order = NULL;
	bool ok = true;

	if (cp_profile_of_samples(x->p))
		CP_TRY(cp_export_by_thread(x->p, &order, &count));
	cp_json_begin(&x->j, "threads", '[');
	for (i = 0; i < n && ok; i++) {
		struct thread t = { 0 };

		for (end = at; end < count && samples[order[end]].thread == i; end++)
			;
		ok = cp_profile_of_samples(x->p) ? take_samples(x, &t, order + at, end - at)
						 : take_hits(x, &t, (uint32_t)i);
		if (ok && t.samples.count)
			write_thread(x, (uint32_t)i, &t);
		free_thread(&t);
		at = end;
	}
	cp_json_end(&x->j, ']');
	return ok ? NULL : cp_error_nomem();
}

/* ---- what is of all ---- */

/* As a debug identifier: the first 16 bytes of the build id as a GUID, and an age. */
static void put_debug_id(struct firefox *x, const char *build_id)
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char id[34] = "000000000000000000000000000000000";
	size_t i, size = strlen(build_id);

	for (i = 0; i < sizeof(order); i++) {
		if (2u * order[i] + 2 > size)
			continue;
		id[2 * i] = build_id[2u * order[i]];
		id[2 * i + 1] = build_id[2u * order[i] + 1];
	}
	for (i = 0; i < sizeof(id) - 1; i++)
		id[i] -= id[i] >= 'a' ? 'a' - 'A' : 0;
	cp_json_str(&x->j, "breakpadId", id);
}

static const char *build_id_of(const struct firefox *x, const struct cp_profile_image *image)
{
	size_t i;

	for (i = 0; i < cp_record_image_count(x->p->record); i++) {
		const struct cp_record_image *of = cp_record_get_image(x->p->record, (uint32_t)i);

		if (!strcmp(of->path, image->path))
			return of->build_id;
	}
	return "";
}

static void write_libraries(struct firefox *x)
{
	size_t i;

	cp_json_begin(&x->j, "libs", '[');
	for (i = 0; i < x->libraries.items.count; i++) {
		const struct cp_profile_image *image = image_at(x, &x->libraries, i);
		const char *path = image->path ? image->path : image->name;
		const char *build_id = image->path ? build_id_of(x, image) : "";

		cp_json_begin(&x->j, NULL, '{');
		cp_json_str(&x->j, "name", image->name);
		cp_json_str(&x->j, "path", path);
		cp_json_str(&x->j, "debugName", image->name);
		cp_json_str(&x->j, "debugPath", path);
		put_debug_id(x, build_id);
		if (*build_id)
			cp_json_str(&x->j, "codeId", build_id);
		else
			cp_json_null(&x->j, "codeId");
		cp_json_str(&x->j, "arch", cp_record_info(x->p->record)->machine);
		cp_json_end(&x->j, '}');
	}
	cp_json_end(&x->j, ']');
}

static void write_categories(struct firefox *x)
{
	static const char *const rows[][2] = {
		[CATEGORY_OTHER] = { "Other", "grey" },
		[CATEGORY_USER] = { "User", "yellow" },
		[CATEGORY_KERNEL] = { "Kernel", "orange" },
	};
	size_t i;

	cp_json_begin(&x->j, "categories", '[');
	for (i = 0; i < CP_ARRAY_SIZE(rows); i++) {
		cp_json_begin(&x->j, NULL, '{');
		cp_json_str(&x->j, "name", rows[i][0]);
		cp_json_str(&x->j, "color", rows[i][1]);
		cp_json_begin(&x->j, "subcategories", '[');
		cp_json_str(&x->j, NULL, "Other");
		cp_json_end(&x->j, ']');
		cp_json_end(&x->j, '}');
	}
	cp_json_end(&x->j, ']');
}

static void write_meta(struct firefox *x, const char *title)
{
	const struct cp_record_info *info = cp_record_info(x->p->record);

	cp_json_begin(&x->j, "meta", '{');
	cp_json_u64(&x->j, "version", GECKO_VERSION);
	cp_json_u64(&x->j, "preprocessedProfileVersion", VERSION);
	cp_json_str(&x->j, "product", title);
	cp_json_str(&x->j, "importedFrom", "cprof");
	cp_json_f64(&x->j, "interval", info->hz ? 1000.0 / info->hz : 1);
	cp_json_u64(&x->j, "startTime", info->start_real_ns / 1000000);
	cp_json_u64(&x->j, "processType", 0);
	cp_json_u64(&x->j, "stackwalk", 1);
	cp_json_bool(&x->j, "debug", false);
	cp_json_bool(&x->j, "symbolicated", true);
	cp_json_bool(&x->j, "doesNotUseFrameImplementation", true);
	cp_json_bool(&x->j, "usesOnlyOneStackType", true);
	cp_json_bool(&x->j, "sourceCodeIsNotOnSearchfox", true);
	cp_json_str(&x->j, "oscpu", info->kernel);
	cp_json_u64(&x->j, "logicalCPUs", info->cpus);
	write_categories(x);
	write_nothing(x, "markerSchema");
	cp_json_begin(&x->j, "extensions", '{');
	cp_json_u64(&x->j, "length", 0);
	write_nothing(x, "baseURL");
	write_nothing(x, "id");
	write_nothing(x, "name");
	cp_json_end(&x->j, '}');
	cp_json_end(&x->j, '}');
}

CP_ERROR cp_export_firefox(const struct cp_profile *p, const struct cp_export_options *o,
			   struct cp_sink *sink)
{
	struct firefox x = { .p = p, .sink = sink, .j = { .out = &sink->buf } };
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err;

	cp_export_title(p, o, &title);
	cp_json_begin(&x.j, NULL, '{');
	write_meta(&x, title.bytes);
	err = write_threads(&x);
	write_libraries(&x);
	cp_json_end(&x.j, '}');
	cp_buf_u8(&sink->buf, '\n');
	free_column(&x.libraries);
	return err;
}
