/* SPDX-License-Identifier: MIT
 *
 * From rows to what the getters answer. Everything is checked here, once, so
 * that a getter only indexes.
 *
 * Stacks and inlined frames are stored as tries and answered as arrays, leaf
 * first. An array for a node holds those of all its ancestors as its ends:
 *
 *    main -> f -> f -> g         [ g f f main ]
 *                                    ^ f f main
 *                                      ^ f main
 *
 * so arrays are only made for nodes that are nobody's ancestor among those
 * asked for, and recursion costs its depth once, not its square.
 */
#include "record/reader.h"

#include <string.h>

#include "base/text.h"
#include "record/annotation_decode.h"
#include "record/block_count.h"
#include "record/call_decode.h"
#include "record/call_walk.h"
#include "record/coverage_build.h"
#include "record/coverage_decode.h"
#include "record/info.h"
#include "record/sample_decode.h"

#define NO_PLACE SIZE_MAX
/* Arrays made of a trie may be this much larger than the trie, or this large. */
#define EXPAND_RATIO ((size_t)64)
#define EXPAND_FREE ((size_t)16 << 20)

struct paths {
	CP_VEC(uint32_t) items; /* rows, leaf first */
	size_t *place; /* of each row in items; NO_PLACE: not wanted or too much */
	uint32_t *depth; /* of each row */
};

static void paths_free(struct paths *p)
{
	cp_vec_free(&p->items);
	free(p->place);
	free(p->depth);
}

static bool paths_init(struct paths *p, const struct cp_record_rows *rows, unsigned width)
{
	size_t i;
	uint64_t parent;

	p->place = malloc((rows->count + 1) * sizeof(*p->place));
	p->depth = malloc((rows->count + 1) * sizeof(*p->depth));
	if (!p->place || !p->depth)
		return false;
	for (i = 0; i < rows->count; i++) {
		parent = rows->values.items[i * width]; /* + 1; always an earlier row */
		p->place[i] = NO_PLACE;
		p->depth[i] = parent ? p->depth[parent - 1] + 1 : 1;
	}
	return true;
}

/* Makes the arrays for rows marked in `wanted`; the parent is column 0. False
 * without memory. */
static bool expand(struct paths *p, const struct cp_record_rows *rows, unsigned width,
		   const bool *wanted, size_t depth_max)
{
	size_t most = rows->count * EXPAND_RATIO, i;
	uint64_t at;

	if (most < EXPAND_FREE)
		most = EXPAND_FREE;
	for (i = rows->count; i--;) {
		if (!wanted[i] || p->place[i] != NO_PLACE || p->depth[i] > depth_max ||
		    p->depth[i] > most - p->items.count)
			continue;
		for (at = i + 1; at; at = rows->values.items[(at - 1) * width]) {
			if (p->place[at - 1] == NO_PLACE)
				p->place[at - 1] = p->items.count;
			if (!cp_vec_push(&p->items, (uint32_t)(at - 1)))
				return false;
		}
	}
	return true;
}

/* Marks the rows that column `column` of `from` refers to. */
static bool *wanted(const struct cp_record_rows *from, unsigned width, unsigned column,
		    const struct cp_record_rows *to)
{
	bool *marks = calloc(to->count + 1, sizeof(*marks));
	uint64_t ref;
	size_t i;

	for (i = 0; marks && i < from->count; i++) {
		ref = from->values.items[i * width + column];
		if (ref)
			marks[ref - 1] = true;
	}
	return marks;
}

static const uint64_t *row(const struct cp_record_decoder *d, unsigned table, size_t place)
{
	return d->rows[table].values.items + place * cp_record_schemas[table].width;
}

static const char *string(const struct cp_record_decoder *d, uint64_t ref, const char *none)
{
	return ref ? d->strings.items[ref - 1] : none;
}

static bool build_processes(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	size_t n = d->rows[CP_RECORD_PROCESSES].count, i;
	const uint64_t *v;

	if (!cp_vec_reserve(&r->processes, n + 1))
		return false;
	for (i = 0; i < n; i++) {
		v = row(d, CP_RECORD_PROCESSES, i);
		r->processes.items[r->processes.count++] = (struct cp_record_process){
			.pid = (int32_t)(uint32_t)v[CP_PROCESS_PID],
			.ns_pid = (int32_t)(uint32_t)v[CP_PROCESS_NS_PID],
			.ppid = (int32_t)(uint32_t)v[CP_PROCESS_PPID],
			.name = string(d, v[CP_PROCESS_NAME], ""),
			.exe = string(d, v[CP_PROCESS_EXE], ""),
			.started_as = string(d, v[CP_PROCESS_STARTED_AS], ""),
			.start_ns = v[CP_PROCESS_START],
		};
	}
	return true;
}

static bool build_threads(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	size_t n = d->rows[CP_RECORD_THREADS].count, i;
	const uint64_t *v;

	if (!cp_vec_reserve(&r->threads, n + 1))
		return false;
	for (i = 0; i < n; i++) {
		v = row(d, CP_RECORD_THREADS, i);
		r->threads.items[r->threads.count++] = (struct cp_record_thread){
			.process = (uint32_t)(v[CP_THREAD_PROCESS] - 1),
			.tid = (int32_t)(uint32_t)v[CP_THREAD_TID],
			.ns_tid = (int32_t)(uint32_t)v[CP_THREAD_NS_TID],
			.name = string(d, v[CP_THREAD_NAME], ""),
			.start_ns = v[CP_THREAD_START],
		};
	}
	return true;
}

/* One program may be started by many names, as busybox is: then it has its own. */
static const char *started_as(const struct cp_record *r, const char *path)
{
	const struct cp_record_process *p;
	const char *name = "";

	cp_vec_for_each(&r->processes, p) {
		if (!*p->started_as || strcmp(p->exe, path) != 0)
			continue;
		if (*name && strcmp(cp_basename(name), cp_basename(p->started_as)) != 0)
			return "";
		name = p->started_as;
	}
	return name;
}

const char *cp_record_image_name(const struct cp_record_image *image)
{
	if (*image->path == '[')
		return image->path;
	return cp_basename(*image->started_as ? image->started_as : image->path);
}

static bool build_images(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	size_t n = d->rows[CP_RECORD_IMAGES].count, i;
	const uint64_t *v;

	if (!cp_vec_reserve(&r->images, n + 1))
		return false;
	for (i = 0; i < n; i++) {
		v = row(d, CP_RECORD_IMAGES, i);
		r->images.items[r->images.count++] = (struct cp_record_image){
			.path = string(d, v[CP_IMAGE_PATH], ""),
			.build_id = string(d, v[CP_IMAGE_BUILD_ID], ""),
			.debug_path = string(d, v[CP_IMAGE_DEBUG_PATH], ""),
			.started_as = started_as(r, string(d, v[CP_IMAGE_PATH], "")),
		};
	}
	return true;
}

static struct cp_record_frame frame(const struct cp_record_decoder *d, uint32_t place)
{
	const uint64_t *v = row(d, CP_RECORD_FRAMES, place);
	const uint64_t *f = row(d, CP_RECORD_FUNCTIONS, v[CP_FRAME_FUNCTION] - 1);

	return (struct cp_record_frame){
		.function = string(d, f[CP_FUNCTION_NAME], NULL),
		.linkage = string(d, f[CP_FUNCTION_LINKAGE], NULL),
		.file = string(d, f[CP_FUNCTION_FILE], NULL),
		.line = (uint32_t)v[CP_FRAME_LINE],
		.decl_line = (uint32_t)f[CP_FUNCTION_DECL],
		.inlined = v[CP_FRAME_INLINED] != 0,
	};
}

/* Locations whose frames are too many keep their address, without names. */
static bool fill_locations(struct cp_record_decoder *d, const struct paths *p)
{
	struct cp_record *r = d->record;
	size_t n = d->rows[CP_RECORD_LOCATIONS].count, i;

	if (!cp_vec_reserve(&r->locations, n + 1) ||
	    !cp_vec_reserve(&r->frames, p->items.count + 1))
		return false;
	for (i = 0; i < p->items.count; i++)
		r->frames.items[r->frames.count++] = frame(d, p->items.items[i]);
	for (i = 0; i < n; i++) {
		const uint64_t *v = row(d, CP_RECORD_LOCATIONS, i);
		uint64_t ref = v[CP_LOCATION_FRAME], start = v[CP_LOCATION_START];
		struct cp_record_location l = {
			.image = v[CP_LOCATION_IMAGE] ? (uint32_t)(v[CP_LOCATION_IMAGE] - 1)
						      : CP_RECORD_NONE,
			.address = v[CP_LOCATION_ADDRESS],
			.flags = (uint32_t)v[CP_LOCATION_FLAGS],
			.function_start = start ? v[CP_LOCATION_ADDRESS] - (start - 1) : 0,
		};

		if (ref && p->place[ref - 1] != NO_PLACE) {
			l.frames = r->frames.items + p->place[ref - 1];
			l.frame_count = p->depth[ref - 1];
		} else if (ref) {
			r->own.bad_chunks++;
		}
		r->locations.items[r->locations.count++] = l;
	}
	return true;
}

static bool build_locations(struct cp_record_decoder *d)
{
	const struct cp_record_rows *rows = &d->rows[CP_RECORD_FRAMES];
	unsigned width = cp_record_schemas[CP_RECORD_FRAMES].width;
	bool *marks = wanted(&d->rows[CP_RECORD_LOCATIONS],
			     cp_record_schemas[CP_RECORD_LOCATIONS].width, CP_LOCATION_FRAME, rows);
	struct paths p = { 0 };
	bool ok = marks && paths_init(&p, rows, width) &&
		  expand(&p, rows, width, marks, CP_RECORD_FRAMES_MAX) && fill_locations(d, &p);

	free(marks);
	paths_free(&p);
	return ok;
}

static bool fill_stacks(struct cp_record_decoder *d, const struct paths *p)
{
	struct cp_record *r = d->record;
	size_t i;

	r->stack_count = d->rows[CP_RECORD_STACKS].count;
	r->stacks = calloc(r->stack_count + 1, sizeof(*r->stacks));
	if (!r->stacks || !cp_vec_reserve(&r->stack_items, p->items.count + 1))
		return false;
	for (i = 0; i < p->items.count; i++)
		r->stack_items.items[r->stack_items.count++] =
			(uint32_t)(row(d, CP_RECORD_NODES, p->items.items[i])[CP_NODE_LOCATION] -
				   1);
	for (i = 0; i < r->stack_count; i++) {
		const uint64_t *v = row(d, CP_RECORD_STACKS, i);
		uint64_t ref = v[CP_STACK_NODE];

		r->stacks[i].flags = (uint32_t)v[CP_STACK_FLAGS];
		if (!ref)
			continue;
		r->stacks[i].missing = p->place[ref - 1] == NO_PLACE;
		if (!r->stacks[i].missing) {
			r->stacks[i].first = p->place[ref - 1];
			r->stacks[i].count = p->depth[ref - 1];
		}
	}
	return true;
}

static bool build_stacks(struct cp_record_decoder *d)
{
	const struct cp_record_rows *rows = &d->rows[CP_RECORD_NODES];
	unsigned width = cp_record_schemas[CP_RECORD_NODES].width;
	bool *marks = wanted(&d->rows[CP_RECORD_STACKS], cp_record_schemas[CP_RECORD_STACKS].width,
			     CP_STACK_NODE, rows);
	struct paths p = { 0 };
	bool ok = marks && paths_init(&p, rows, width) &&
		  expand(&p, rows, width, marks, CP_RECORD_DEPTH_MAX) && fill_stacks(d, &p);

	free(marks);
	paths_free(&p);
	return ok;
}

/* Killed before the first totals were written: say what can be known. */
static void guess_totals(struct cp_record *r)
{
	r->totals.samples = r->sample_count;
	r->totals.threads = r->threads.count;
	r->totals.processes = r->processes.count;
	r->totals.calls = r->call_counts[CP_RECORD_OF_CALLS] + cp_record_summed_count(r);
	r->totals.annotations = r->annotations.count;
	r->totals.end_ns = r->info.start_ns;
	if (r->calls_end_ns > r->totals.end_ns)
		r->totals.end_ns = r->calls_end_ns;
	if (r->samples_end_ns > r->totals.end_ns)
		r->totals.end_ns = r->samples_end_ns;
}

bool cp_record_build_parts(struct cp_record *r)
{
	struct cp_record_part self = { .info = &r->info, .totals = &r->totals, .damage = &r->own };
	size_t i;

	r->damage = r->own;
	if (!r->merged) {
		cp_record_id_text(r->id, self.id);
		return cp_vec_push(&r->parts, self);
	}
	for (i = 0; i < r->parts.count; i++) {
		const struct cp_record_damage *d = r->parts.items[i].damage;

		if (!d) {
			r->damage.bad_chunks++;
			continue;
		}
		r->damage.no_end |= d->no_end;
		r->damage.bad_chunks += d->bad_chunks;
		r->damage.missing_bytes += d->missing_bytes;
		r->damage.dropped += d->dropped;
		r->damage.lost += d->lost;
	}
	return true;
}

bool cp_record_build_tables(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;

	r->processes.count = r->threads.count = r->images.count = 0;
	r->locations.count = r->frames.count = r->stack_items.count = 0;
	free(r->stacks);
	r->stacks = NULL;
	return build_processes(d) && build_threads(d) && build_images(d) && build_locations(d) &&
	       build_stacks(d);
}

/* It has its end, and nothing before that is missing: whoever wrote it had the numbers that its
 * events refer to. */
static bool is_whole(const struct cp_record_decoder *d)
{
	const struct cp_record_damage *own = &d->record->own;

	return d->has_totals && !own->no_end && !own->bad_chunks && !own->missing_bytes &&
	       !own->dropped && !own->lost;
}

CP_ERROR cp_record_build(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	bool whole;

	if (!cp_record_build_tables(d))
		return cp_error_nomem();
	cp_record_build_samples(d);
	cp_record_build_annotations(d);
	cp_record_build_sums(r);
	whole = is_whole(d);
	if (!cp_record_build_calls(d, whole) || !cp_record_count_blocks(r, whole && is_whole(d)) ||
	    !cp_record_count_samples(r) || !cp_record_build_coverage(d))
		return cp_error_nomem();
	cp_record_keep_strings(d);
	if (!d->has_totals)
		guess_totals(r);
	return cp_record_build_parts(r) ? NULL : cp_error_nomem();
}

void cp_record_destroy(struct cp_record *r)
{
	if (!r)
		return;
	cp_vec_free(&r->processes);
	cp_vec_free(&r->threads);
	cp_vec_free(&r->images);
	cp_vec_free(&r->locations);
	cp_vec_free(&r->frames);
	free(r->stacks);
	cp_vec_free(&r->stack_items);
	cp_vec_free(&r->samples);
	cp_vec_free(&r->sample_sections);
	cp_sample_sums_free(&r->sample_sums);
	cp_vec_free(&r->blocks);
	cp_vec_free(&r->parts);
	cp_record_free_calls(r);
	cp_record_free_coverage(r);
	cp_record_free_annotations(r);
	cp_record_free_sums(r);
	cp_vec_free(&r->counters);
	cp_vec_free(&r->sources);
	cp_vec_free(&r->codes);
	cp_vec_free(&r->lives);
	cp_vec_free(&r->life_parts);
	cp_map_free(&r->life_places);
	cp_record_arena_free(&r->arena);
	free(r);
}

const struct cp_record_info *cp_record_info(const struct cp_record *r)
{
	return &r->info;
}

const struct cp_record_totals *cp_record_final(const struct cp_record *r)
{
	return &r->totals;
}

const struct cp_record_damage *cp_record_damage(const struct cp_record *r)
{
	return &r->damage;
}

#define GETTERS(name, list) \
	size_t cp_record_##name##_count(const struct cp_record *r) \
	{ \
		return r->list.count; \
	} \
	const struct cp_record_##name *cp_record_get_##name(const struct cp_record *r, uint32_t n) \
	{ \
		return n < r->list.count ? &r->list.items[n] : NULL; \
	}
GETTERS(process, processes)
GETTERS(thread, threads)
GETTERS(image, images)
GETTERS(location, locations)
GETTERS(part, parts)
GETTERS(life, lives)
GETTERS(source, sources)
GETTERS(code, codes)

size_t cp_record_stack_count(const struct cp_record *r)
{
	return r->stack_count;
}

const uint32_t *cp_record_get_stack(const struct cp_record *r, uint32_t n, size_t *count_ret,
				    uint32_t *flags_ret)
{
	static const struct cp_record_stack_place none;
	const struct cp_record_stack_place *stack = n < r->stack_count ? &r->stacks[n] : &none;

	*count_ret = stack->count;
	if (flags_ret)
		*flags_ret = stack->flags;
	return r->stack_items.items + stack->first;
}
