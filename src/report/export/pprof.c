/* SPDX-License-Identifier: MIT
 *
 * pprof's gzipped protobuf. Each message is built for itself and appended to
 * the output: the fields of a protobuf message may come in any order and in
 * pieces, so a profile of any size needs no more memory than its strings.
 */
#include "report/export/pprof.h"

#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "pprof.pb-c.h"
#include "record/record.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/unit.h"

#define CHUNK (64u << 10)
#define VALUES_MOST 4 /* of a sample */

/* Numbers of the fields of a Profile that are written one by one. */
enum {
	FIELD_SAMPLE = 2,
	FIELD_MAPPING = 3,
	FIELD_LOCATION = 4,
	FIELD_FUNCTION = 5,
	FIELD_STRING = 6
};

struct pprof {
	const struct cp_profile *p;
	struct cp_sink *sink;
	z_stream z;
	struct cp_buf raw; /* not compressed yet */
	struct cp_buf text;
	struct cp_interner strings;
	bool failed;
};

/* ---- output ---- */

static void compress_raw(struct pprof *w, int flush)
{
	unsigned char out[16384];
	int status;

	w->z.next_in = (unsigned char *)w->raw.bytes;
	w->z.avail_in = (unsigned)w->raw.size;
	do {
		w->z.next_out = out;
		w->z.avail_out = sizeof(out);
		status = deflate(&w->z, flush);
		w->failed |= status == Z_STREAM_ERROR;
		cp_buf_add(&w->sink->buf, out, sizeof(out) - w->z.avail_out);
	} while (!w->z.avail_out && !w->failed);
	cp_sink_spill(w->sink);
	cp_buf_clear(&w->raw);
}

static void field(struct pprof *w, unsigned number, const void *bytes, size_t size)
{
	cp_buf_uleb(&w->raw, number << 3 | 2 /* length-delimited */);
	cp_buf_uleb(&w->raw, size);
	cp_buf_add(&w->raw, bytes, size);
	if (w->raw.size >= CHUNK)
		compress_raw(w, Z_NO_FLUSH);
}

static void message(struct pprof *w, unsigned number, const ProtobufCMessage *m)
{
	size_t size = protobuf_c_message_get_packed_size(m);
	CP_FREE uint8_t *bytes = malloc(size + 1);

	if (!bytes) {
		w->failed = true;
		return;
	}
	protobuf_c_message_pack(m, bytes);
	field(w, number, bytes, size);
}

/* The number of a string, which must be UTF-8 in a protobuf. */
static int64_t string(struct pprof *w, const char *text)
{
	uint32_t n = 0;

	cp_buf_clear(&w->text);
	cp_add_name(&w->text, text ? text : "");
	w->failed |= w->text.failed || !cp_intern(&w->strings, w->text.bytes ? w->text.bytes : "",
						  w->text.size, &n, NULL);
	return n;
}

/* ---- tables ---- */

static bool is_program(const struct cp_record *r, const struct cp_record_image *image)
{
	const struct cp_record_process *first =
		cp_record_process_count(r) ? cp_record_get_process(r, 0) : NULL;

	return first && first->exe && image && image->path && !strcmp(first->exe, image->path);
}

static void write_mapping(struct pprof *w, size_t number, const struct cp_record_image *image)
{
	Cprof__Pprof__Mapping m = CPROF__PPROF__MAPPING__INIT;

	m.id = number + 1;
	/* Addresses are those in the file, so each image has all of them. */
	m.memory_limit = UINT64_MAX;
	m.filename = string(w, image ? image->path : "");
	m.build_id = string(w, image ? image->build_id : "");
	m.has_functions = m.has_filenames = m.has_line_numbers = true;
	m.has_inline_frames = true;
	message(w, FIELD_MAPPING, &m.base);
}

/* The format's first one is that of the program. */
static void write_mappings(struct pprof *w)
{
	const struct cp_record *r = w->p->record;
	size_t count = cp_record_image_count(r), first = 0, i;

	while (first < count && !is_program(r, cp_record_get_image(r, (uint32_t)first)))
		first++;
	if (first < count)
		write_mapping(w, first, cp_record_get_image(r, (uint32_t)first));
	for (i = 0; i < count; i++)
		if (i != first)
			write_mapping(w, i, cp_record_get_image(r, (uint32_t)i));
}

static void write_functions(struct pprof *w)
{
	size_t i;

	for (i = 0; i < w->p->functions.count; i++) {
		const struct cp_function *f = &w->p->functions.items[i];
		Cprof__Pprof__Function m = CPROF__PPROF__FUNCTION__INIT;

		m.id = i + 1;
		m.name = string(w, f->name);
		m.system_name = string(w, f->linkage ? f->linkage : f->name);
		m.filename = string(w, f->file);
		m.start_line = f->decl_line;
		message(w, FIELD_FUNCTION, &m.base);
	}
}

/* A location of the frames from `first` to `end`, with the number `id`. */
static void write_location(struct pprof *w, uint64_t id, const struct cp_record_location *loc,
			   uint32_t first, uint32_t end)
{
	size_t count = end - first, i;
	CP_FREE Cprof__Pprof__Line *lines = calloc(count + 1, sizeof(*lines));
	CP_FREE Cprof__Pprof__Line **list = calloc(count + 1, sizeof(*list));
	Cprof__Pprof__Location m = CPROF__PPROF__LOCATION__INIT;

	if (!lines || !list) {
		w->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		const struct cp_frame *f = &w->p->frames.items[first + i];

		cprof__pprof__line__init(&lines[i]);
		lines[i].function_id = f->function + 1;
		lines[i].line = f->line;
		list[i] = &lines[i];
	}
	m.id = id;
	m.mapping_id = loc && loc->image < cp_record_image_count(w->p->record) ? loc->image + 1 : 0;
	m.address = loc ? loc->address : 0;
	m.n_line = count;
	m.line = list;
	message(w, FIELD_LOCATION, &m.base);
}

static void write_locations(struct pprof *w)
{
	size_t count = cp_record_location_count(w->p->record), i;
	const uint32_t *first = w->p->location_frames;

	for (i = 0; i < count; i++)
		write_location(w, i + 1, cp_record_get_location(w->p->record, (uint32_t)i),
			       first[i], first[i + 1]);
	write_location(w, count + 1, NULL, w->p->no_stack, w->p->no_stack + 1);
	write_location(w, count + 2, NULL, w->p->cut, w->p->cut + 1);
}

/* ---- samples ---- */

struct labels {
	Cprof__Pprof__Label items[3];
	Cprof__Pprof__Label *list[3];
	size_t count;
};

static void add_label(struct pprof *w, struct labels *l, const char *key, const char *text,
		      int64_t number)
{
	Cprof__Pprof__Label *label = &l->items[l->count];

	cprof__pprof__label__init(label);
	label->key = string(w, key);
	label->str = text ? string(w, text) : 0;
	label->num = number;
	l->list[l->count++] = label;
}

static void thread_labels(struct pprof *w, struct labels *l, uint32_t thread)
{
	uint32_t process = cp_profile_process(w->p, thread);
	const struct cp_record_thread *t = NULL;

	if (thread < cp_record_thread_count(w->p->record))
		t = cp_record_get_thread(w->p->record, thread);
	if (t) {
		add_label(w, l, "thread", t->name, 0);
		add_label(w, l, "tid", NULL, t->tid);
	}
	if (process != CP_RECORD_NONE)
		add_label(w, l, "pid", NULL, cp_record_get_process(w->p->record, process)->pid);
}

/* Frames of one location follow each other in a walk; each location is named
 * once, innermost first. */
static size_t locations_of(const struct pprof *w, uint32_t stack, uint64_t *ids)
{
	uint64_t none = cp_record_location_count(w->p->record) + 1, cut = none + 1;
	const uint32_t *frames;
	size_t count, n = 0;

	frames = cp_profile_walk_marked(w->p, stack, &count);
	while (count-- > 0) {
		const struct cp_frame *f = &w->p->frames.items[frames[count]];

		if (f->location == CP_RECORD_NONE)
			ids[n++] = frames[count] == w->p->cut ? cut : none;
		else if (frames[count] == w->p->location_frames[f->location])
			ids[n++] = f->location + 1;
	}
	return n;
}

/* The values of a hit; of allocations all that Go's heap profiles have, in their order. */
static size_t values_of(const struct pprof *w, size_t number, int64_t *values)
{
	const struct cp_hit *hit = &w->p->hits.items[number];
	const struct cp_hit_heap *heap;

	if (!cp_profile_of_heap(w->p)) {
		values[0] = (int64_t)hit->cost.ticks;
		values[1] = (int64_t)hit->cost.weight;
		return 2;
	}
	heap = &w->p->heap.items[number];
	values[0] = (int64_t)heap->blocks;
	values[1] = (int64_t)heap->bytes;
	values[2] = (int64_t)heap->live_blocks;
	values[3] = (int64_t)heap->live_bytes;
	return w->p->live_unknown ? 2 : 4;
}

static void write_samples(struct pprof *w)
{
	CP_FREE uint64_t *ids = calloc(w->p->depth_max + 2, sizeof(*ids));
	size_t i;

	if (!ids) {
		w->failed = true;
		return;
	}
	for (i = 0; i < w->p->hits.count; i++) {
		const struct cp_hit *hit = &w->p->hits.items[i];
		int64_t values[VALUES_MOST];
		Cprof__Pprof__Sample m = CPROF__PPROF__SAMPLE__INIT;
		struct labels labels = { .count = 0 };

		thread_labels(w, &labels, hit->thread);
		m.n_location_id = locations_of(w, hit->stack, ids);
		m.location_id = ids;
		m.n_value = values_of(w, i, values);
		m.value = values;
		m.n_label = labels.count;
		m.label = labels.list;
		message(w, FIELD_SAMPLE, &m.base);
	}
}

/* ---- the rest ---- */

static void value_type(struct pprof *w, Cprof__Pprof__ValueType *to, const char *type,
		       const char *unit)
{
	cprof__pprof__value_type__init(to);
	to->type = string(w, type);
	to->unit = string(w, unit);
}

/* The types of a sample's values; returns how many. */
static size_t value_types(struct pprof *w, Cprof__Pprof__ValueType *types)
{
	static const struct {
		const char *type, *unit;
	} heap[VALUES_MOST] = { { "alloc_objects", "count" },
				{ "alloc_space", "bytes" },
				{ "inuse_objects", "count" },
				{ "inuse_space", "bytes" } };
	size_t count = w->p->live_unknown ? 2 : VALUES_MOST, i;

	if (!cp_profile_of_heap(w->p)) {
		value_type(w, &types[0], w->p->unit->ticks, "count");
		value_type(w, &types[1], w->p->unit->kind, w->p->unit->measure);
		return 2;
	}
	for (i = 0; i < count; i++)
		value_type(w, &types[i], heap[i].type, heap[i].unit);
	return count;
}

/* The functions that were called for memory: not what a reader wants to see on top. */
static int64_t allocators(struct pprof *w)
{
	CP_FREE bool *seen = calloc(w->p->functions.count + 1, sizeof(*seen));
	struct cp_buf names CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_hit *hit;

	w->failed |= !seen;
	cp_vec_for_each(&w->p->hits, hit) {
		size_t count;
		const uint32_t *frames = cp_profile_walk(w->p, hit->stack, &count);
		uint32_t leaf = w->p->frames.items[frames[count - 1]].function;
		const char *c;

		if (!seen || seen[leaf] || !hit->asked || leaf == hit->asked - 1)
			continue;
		seen[leaf] = true;
		if (names.size)
			cp_buf_u8(&names, '|');
		for (c = w->p->functions.items[leaf].name; *c; c++) {
			if (strchr("\\.+*?()|[]{}^$", *c))
				cp_buf_u8(&names, '\\');
			cp_buf_u8(&names, (uint8_t)*c);
		}
	}
	w->failed |= names.failed;
	return names.size ? string(w, names.bytes) : 0;
}

static void write_head(struct pprof *w, const char *title)
{
	const struct cp_record_info *info = cp_record_info(w->p->record);
	Cprof__Pprof__ValueType types[VALUES_MOST], period, *list[VALUES_MOST];
	Cprof__Pprof__Profile m = CPROF__PPROF__PROFILE__INIT;
	CP_FREE uint8_t *bytes = NULL;
	int64_t comment;
	size_t i;

	string(w, ""); /* number 0, by the format */
	m.n_sample_type = value_types(w, types);
	for (i = 0; i < m.n_sample_type; i++)
		list[i] = &types[i];
	comment = string(w, title);
	m.sample_type = list;
	m.time_nanos = (int64_t)info->start_real_ns;
	m.duration_nanos = (int64_t)cp_report_duration(w->p->record);
	if (cp_profile_of_heap(w->p)) {
		value_type(w, &period, "space", "bytes");
		m.period = (int64_t)cp_record_final(w->p->record)->alloc_every;
		m.period = m.period ? m.period : 1;
		m.drop_frames = allocators(w);
	} else {
		period = types[1];
		m.period = info->hz ? 1000000000 / info->hz : 0;
	}
	m.period_type = &period;
	m.n_comment = 1;
	m.comment = &comment;
	m.default_sample_type = string(w, w->p->unit->kind);
	bytes = malloc(protobuf_c_message_get_packed_size(&m.base) + 1);
	w->failed |= !bytes;
	if (bytes)
		cp_buf_add(&w->raw, bytes, protobuf_c_message_pack(&m.base, bytes));
}

static void write_strings(struct pprof *w)
{
	size_t i;

	for (i = 0; i < w->strings.count; i++)
		field(w, FIELD_STRING, w->strings.items[i].bytes, w->strings.items[i].size);
}

CP_ERROR cp_export_pprof(const struct cp_profile *p, const struct cp_export_options *o,
			 struct cp_sink *sink)
{
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };
	struct pprof w = { .p = p, .sink = sink };

	/* 16 more than the window's logarithm: with gzip's header. */
	if (deflateInit2(&w.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return cp_error_nomem();
	cp_export_title(p, o, &title);
	write_head(&w, title.bytes);
	write_mappings(&w);
	write_functions(&w);
	write_locations(&w);
	write_samples(&w);
	write_strings(&w);
	compress_raw(&w, Z_FINISH);
	deflateEnd(&w.z);
	w.failed |= w.raw.failed || w.strings.count > INT32_MAX;
	cp_buf_free(&w.raw);
	cp_buf_free(&w.text);
	cp_interner_free(&w.strings);
	return w.failed ? cp_error_nomem() : NULL;
}
