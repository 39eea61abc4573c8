/* SPDX-License-Identifier: MIT */
#include "report/profile/create.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/runtime.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "base/types.h"
#include "base/vec.h"
#include "record/calls.h"
#include "record/record.h"
#include "record/summed_samples.h"
#include "report/profile/callstacks.h"
#include "report/profile/choice.h"
#include "report/profile/heapstacks.h"
#include "report/profile/profile.h"
#include "report/profile/summed.h"
#include "report/profile/unit.h"

/* ---- names ---- */

static CP_ERROR add_image(struct cp_profile *p, const struct cp_record_image *in, uint32_t *ret)
{
	static const struct cp_record_image unknown = { .path = "[unknown]", .started_as = "" };
	const struct cp_record_image *it = in && in->path && *in->path ? in : &unknown;
	const char *name = cp_record_image_name(it);
	struct cp_profile_image image = { .path = it->path, .started_as = it->started_as };
	bool fresh;

	if (!cp_intern(&p->image_names, name, strlen(name), ret, &fresh))
		return cp_error_nomem();
	image.name = p->image_names.items[*ret].bytes;
	if (fresh && !cp_vec_push(&p->images, image))
		return cp_error_nomem();
	return NULL;
}

/* The name of a function that has none. */
static void name_unknown(struct cp_buf *out, const char *image,
			 const struct cp_record_location *loc)
{
	if (loc && loc->flags & CP_RECORD_LOC_SIGNAL)
		cp_buf_str(out, "<signal handler called>");
	else if (!image)
		cp_buf_str(out, "[unknown]");
	else if (image[0] == '[')
		cp_buf_str(out, image);
	else if (loc && loc->function_start)
		cp_buf_printf(out, "%s+0x%" PRIx64, image, loc->function_start);
	else
		cp_buf_printf(out, "[%s]", image);
}

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

/* The path of a source file as it is shown; NULL where there is none. */
static CP_ERROR add_file(struct cp_profile *p, const char *path, const char **ret)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	uint32_t n;

	*ret = NULL;
	if (!known(path))
		return NULL;
	cp_path_shorten(&text, path);
	if (text.failed || !cp_intern(&p->files, text.bytes ? text.bytes : "", text.size, &n, NULL))
		return cp_error_nomem();
	*ret = p->files.items[n].bytes;
	return NULL;
}

/* The size of a name without the mark of an unlikely part, which belongs to the function:
 * "f(int) [clone .cold]", "f.cold", "f.cold.1". */
static size_t without_cold(const char *name)
{
	size_t size = strlen(name), end = size, at;
	bool clone = size && name[size - 1] == ']';

	end -= clone;
	at = end;
	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at < end && at && name[at - 1] == '.')
		end = at - 1;
	if (end < 6 || memcmp(name + end - 5, ".cold", 5) != 0)
		return size;
	end -= 5;
	if (!clone)
		return end;
	return end > 8 && !memcmp(name + end - 8, " [clone ", 8) ? end - 8 : size;
}

/* Functions are told apart by image and name. */
static CP_ERROR add_function(struct cp_profile *p, uint32_t image, const char *name,
			     const struct cp_record_frame *from, uint32_t *ret)
{
	struct cp_buf key CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_function f = { .image = image };
	bool fresh;

	cp_buf_u32(&key, image);
	cp_buf_add(&key, name, without_cold(name));
	if (key.failed || !cp_intern(&p->function_names, key.bytes, key.size, ret, &fresh))
		return cp_error_nomem();
	if (fresh) {
		f.name = (const char *)p->function_names.items[*ret].bytes + 4;
		f.linkage = from ? known(from->linkage) : NULL;
		CP_TRY(add_file(p, from ? from->file : NULL, &f.file));
		f.decl_line = from ? from->decl_line : 0;
		f.runtime = cp_name_is_runtime(f.name);
		if (!cp_vec_push(&p->functions, f))
			return cp_error_nomem();
	}
	return NULL;
}

/* ---- frames of locations ---- */

static CP_ERROR add_frame(struct cp_profile *p, uint32_t location, uint32_t image,
			  const struct cp_record_location *loc, const struct cp_record_frame *from)
{
	struct cp_buf unknown CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_frame frame = { .location = location };
	const char *name = from ? known(from->function) : NULL;
	bool in_image = loc && loc->image != CP_RECORD_NONE;

	if (!name) {
		name_unknown(&unknown, in_image ? p->images.items[image].name : NULL, loc);
		if (unknown.failed)
			return cp_error_nomem();
		name = unknown.bytes;
	}
	CP_TRY(add_function(p, image, name, from, &frame.function));
	if (from) {
		frame.line = from->line;
		CP_TRY(add_file(p, from->file, &frame.file));
		frame.flags |= from->inlined ? CP_FRAME_INLINED : 0;
	}
	if (loc) {
		frame.flags |= loc->flags & CP_RECORD_LOC_GUESSED ? CP_FRAME_GUESSED : 0;
		frame.flags |= loc->flags & CP_RECORD_LOC_SIGNAL ? CP_FRAME_SIGNAL : 0;
		frame.flags |= loc->flags & CP_RECORD_LOC_KERNEL ? CP_FRAME_KERNEL : 0;
	}
	return cp_vec_push(&p->frames, frame) ? NULL : cp_error_nomem();
}

static CP_ERROR add_location(struct cp_profile *p, uint32_t n)
{
	const struct cp_record_location *loc = cp_record_get_location(p->record, n);
	const struct cp_record_image *in = NULL;
	uint32_t image, i;

	if (loc && loc->image < cp_record_image_count(p->record))
		in = cp_record_get_image(p->record, loc->image);
	CP_TRY(add_image(p, in, &image));
	p->location_frames[n] = (uint32_t)p->frames.count;
	if (!loc || !loc->frame_count)
		return add_frame(p, n, image, loc, NULL);
	for (i = 0; i < loc->frame_count; i++)
		CP_TRY(add_frame(p, n, image, loc, &loc->frames[i]));
	return NULL;
}

static CP_ERROR add_locations(struct cp_profile *p)
{
	size_t count = cp_record_location_count(p->record), n;
	struct cp_frame none = { .location = CP_RECORD_NONE }, cut = none;
	uint32_t image;

	free(p->location_frames);
	p->frames.count = 0;
	p->location_frames = calloc(count + 1, sizeof(*p->location_frames));
	if (!p->location_frames)
		return cp_error_nomem();
	for (n = 0; n < count; n++)
		CP_TRY(add_location(p, (uint32_t)n));
	p->location_frames[count] = p->no_stack = (uint32_t)p->frames.count;
	p->cut = p->no_stack + 1;
	CP_TRY(add_image(p, NULL, &image));
	CP_TRY(add_function(p, image, "[no stack]", NULL, &none.function));
	CP_TRY(add_function(p, image, CP_TRUNCATED_NAME, NULL, &cut.function));
	return cp_vec_push(&p->frames, none) && cp_vec_push(&p->frames, cut) ? NULL
									     : cp_error_nomem();
}

/* Makes room for the longest walk, so that walking can't fail. */
static CP_ERROR prepare_walk(struct cp_profile *p)
{
	size_t locations = cp_record_location_count(p->record), count, depth, i, n;
	const struct cp_call_node *node;
	const uint32_t *at;
	uint32_t flags;

	cp_vec_for_each(&p->call_nodes, node)
		p->depth_max = node->depth > p->depth_max ? node->depth : p->depth_max;

	for (n = 0; n < cp_record_stack_count(p->record); n++) {
		at = cp_record_get_stack(p->record, (uint32_t)n, &count, &flags);
		for (depth = 0, i = 0; at && i < count; i++) {
			if (at[i] < locations)
				depth += p->location_frames[at[i] + 1] - p->location_frames[at[i]];
		}
		if (depth > p->depth_max)
			p->depth_max = depth;
	}
	free(p->walk);
	p->walk = calloc(p->depth_max + 2, sizeof(*p->walk));
	return p->walk ? NULL : cp_error_nomem();
}

/* ---- adding up ---- */

struct adding {
	struct cp_profile *p;
	struct cp_map seen[3]; /* of who runs, who waits, who waits for a CPU */
	bool no_memory;
};

static bool add_samples(struct adding *a, const struct cp_record_sample_sum *s,
			const struct cp_record_sample *of)
{
	struct cp_profile *p = a->p;
	struct cp_hit hit = { .thread = s->thread,
			      .stack = s->stack,
			      .cost = { .weight = s->weight_ns, .ticks = s->count },
			      .waits = cp_sample_waits(of),
			      .ready = cp_sample_is_ready(of) };
	uint64_t key = (uint64_t)s->thread << 32 | s->stack, *at;
	struct cp_map *seen = &a->seen[hit.waits + hit.ready];

	cp_cost_add(&p->total, &hit.cost);
	if (hit.waits)
		cp_cost_add(&p->waiting, &hit.cost);
	if (hit.ready)
		cp_cost_add(&p->ready, &hit.cost);
	at = cp_map_get(seen, key);
	if (at)
		cp_cost_add(&p->hits.items[*at].cost, &hit.cost);
	else
		a->no_memory = !cp_map_put(seen, key, p->hits.count) || !cp_vec_push(&p->hits, hit);
	return !a->no_memory;
}

static bool add_sample(void *ctx, const struct cp_record_sample *s)
{
	const struct cp_record_sample_sum sum = cp_sample_sum_of(s);
	struct adding *a = ctx;

	return !cp_profile_accepts(a->p, s) || add_samples(a, &sum, s);
}

/* Where nobody asks for a part of the time, when they were taken does not matter. */
static bool add_sum(void *ctx, const struct cp_record_sample_sum *sum)
{
	struct adding *a = ctx;
	const struct cp_record_sample s = { .ts_ns = cp_record_info(a->p->record)->start_ns,
					    .thread = sum->thread,
					    .stack = sum->stack,
					    .flags = sum->flags };

	return !cp_profile_accepts(a->p, &s) || add_samples(a, sum, &s);
}

static CP_ERROR add_hits(struct cp_profile *p)
{
	bool part = p->filter.from_ns || p->filter.to_ns;
	struct adding a = { .p = p };
	struct cp_error *err = part ? cp_record_each_sample(p->record, add_sample, &a)
				    : cp_record_each_sample_sum(p->record, add_sum, &a);

	cp_map_free(&a.seen[0]);
	cp_map_free(&a.seen[1]);
	cp_map_free(&a.seen[2]);
	return err || !a.no_memory ? err : cp_error_nomem();
}

/* ---- whose it is ---- */

/* Is it a library in which threads wait, whatever they wait for? */
static bool is_c_library(const char *image)
{
	static const char *const names[] = { "libc.so",	 "libc-2.",   "libpthread",
					     "librt.so", "ld-linux",  "ld-2.",
					     "ld-musl",	 "libc.musl", "[vdso]" };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(names); i++)
		if (cp_starts_with(image, names[i]))
			return true;
	return false;
}

static bool is_rust_inlined(const struct cp_frame *f)
{
	return f->flags & CP_FRAME_INLINED && f->file && cp_path_is_rust_library(f->file);
}

size_t cp_profile_own_frame(const struct cp_profile *p, const uint32_t *frames, size_t count,
			    bool sleeps)
{
	size_t i = count;

	while (sleeps && i &&
	       is_c_library(p->images.items[cp_profile_function(p, frames[i - 1])->image].name))
		i--;
	while (!sleeps && i && is_rust_inlined(&p->frames.items[frames[i - 1]]))
		i--;
	return i ? i - 1 : count - 1;
}

#define WAITS_SHARE 10 /* a tenth: less of its time is not said */

/* A function is said to wait in that function of the C library in which it waits longest. */
static void note_wait(struct cp_profile *p, uint32_t function, uint32_t in, uint64_t ns)
{
	uint64_t key = (uint64_t)function << 32 | in, *sum, *most;
	struct cp_function *f = &p->functions.items[function];

	sum = cp_map_get(&p->wait_sums, key);
	if (sum)
		ns = *sum += ns;
	else if (!cp_map_put(&p->wait_sums, key, ns))
		return; /* a name less */
	most = f->waits_in ? cp_map_get(&p->wait_sums, (uint64_t)function << 32 | (f->waits_in - 1))
			   : NULL;
	if (!most || ns > *most)
		f->waits_in = in + 1;
}

/* Who runs waits a little, too: for a CPU, for us. */
static void forget_short_waits(struct cp_profile *p)
{
	size_t i;

	for (i = 0; i < p->functions.count; i++) {
		struct cp_function *f = &p->functions.items[i];
		uint64_t *ns = cp_map_get(&p->wait_sums, (uint64_t)i << 32 | (f->waits_in - 1));

		if (f->waits_in && ns && *ns < f->self.weight / WAITS_SHARE)
			f->waits_in = 0;
	}
}

static void add_self(struct cp_profile *p, const struct cp_hit *hit, const uint32_t *frames,
		     size_t count)
{
	bool sleeps = hit->waits && !hit->ready;
	size_t own = cp_profile_own_frame(p, frames, count, sleeps);
	uint32_t number = hit->asked ? hit->asked - 1 : p->frames.items[frames[own]].function;

	cp_cost_add(&p->functions.items[number].self, &hit->cost);
	if (sleeps && own + 1 < count)
		note_wait(p, number, p->frames.items[frames[own + 1]].function, hit->cost.weight);
}

/* `function_seen` and `image_seen` hold the number (from 1) of the last hit
 * that was added to each, so that recursion counts once. */
static void add_hit(struct cp_profile *p, size_t number, size_t *function_seen, size_t *image_seen)
{
	const struct cp_hit *hit = &p->hits.items[number];
	struct cp_function *f = NULL;
	const uint32_t *frames;
	bool guessed = false;
	size_t count, i;

	frames = cp_profile_walk(p, hit->stack, &count);
	for (i = 0; i < count; i++) {
		const struct cp_frame *frame = &p->frames.items[frames[i]];

		f = &p->functions.items[frame->function];
		guessed = guessed || frame->flags & CP_FRAME_GUESSED;
		if (function_seen[frame->function] != number + 1)
			cp_cost_add_total(&f->total, hit, p->by_calls, i + 1 == count);
		function_seen[frame->function] = number + 1;
		if (image_seen[f->image] != number + 1)
			cp_cost_add_total(&p->images.items[f->image].total, hit, p->by_calls,
					  i + 1 == count);
		image_seen[f->image] = number + 1;
	}
	if (hit->asked)
		f = &p->functions.items[hit->asked - 1];
	if (f) {
		add_self(p, hit, frames, count);
		cp_cost_add(&p->images.items[f->image].self, &hit->cost);
	}
	if (guessed)
		cp_cost_add(&p->guessed, &hit->cost);
	if (cp_profile_truncated(p, hit->stack))
		cp_cost_add(&p->truncated, &hit->cost);
}

static CP_ERROR add_costs(struct cp_profile *p)
{
	size_t *function_seen CP_FREE = calloc(p->functions.count + 1, sizeof(size_t));
	size_t *image_seen CP_FREE = calloc(p->images.count + 1, sizeof(size_t));
	size_t i;

	p->threads = calloc(cp_record_thread_count(p->record) + 1, sizeof(*p->threads));
	p->processes = calloc(cp_record_process_count(p->record) + 1, sizeof(*p->processes));
	if (!function_seen || !image_seen || !p->threads || !p->processes)
		return cp_error_nomem();
	for (i = 0; i < p->hits.count; i++) {
		const struct cp_hit *hit = &p->hits.items[i];
		uint32_t process = cp_profile_process(p, hit->thread);
		bool outermost;
		size_t depth;

		cp_profile_walk(p, hit->stack, &depth);
		outermost = depth == 1;
		if (hit->thread < cp_record_thread_count(p->record))
			cp_cost_add_total(&p->threads[hit->thread], hit, p->by_calls, outermost);
		if (process != CP_RECORD_NONE)
			cp_cost_add_total(&p->processes[process], hit, p->by_calls, outermost);
		add_hit(p, i, function_seen, image_seen);
	}
	forget_short_waits(p);
	return NULL;
}

static enum cp_profile_of choose(const struct cp_profile *p)
{
	const struct cp_record *r = p->record;

	if (p->filter.of != CP_OF_AUTO)
		return p->filter.of;
	return cp_record_heap_count(r) && !cp_record_sample_count(r) && !cp_record_holds_calls(r)
		       ? CP_OF_BYTES
		       : CP_OF_TIME;
}

/* Where there are single calls and sums of others, stacks are of the single ones. */
static CP_ERROR add_calls(struct cp_profile *p)
{
	bool single = cp_record_info(p->record)->holds & CP_RECORD_HAS_CALLS;

	if (single && cp_record_call_count(p->record))
		return cp_profile_add_calls(p);
	p->by_sums = p->by_calls = cp_record_sum_count(p->record) != 0;
	return NULL;
}

static CP_ERROR build(struct cp_profile *p)
{
	CP_TRY(add_locations(p));
	p->of = choose(p);
	CP_TRY(cp_choice_create(p, &p->choice));
	if (cp_profile_of_heap(p))
		CP_TRY(cp_profile_add_heap(p));
	else if ((p->choice || !cp_record_sample_count(p->record)) && !p->filter.no_costs)
		CP_TRY(add_calls(p));
	p->unit = cp_profile_unit(p);
	CP_TRY(prepare_walk(p));
	if (p->of == CP_OF_TIME)
		CP_TRY(add_hits(p));
	CP_TRY(add_costs(p));
	return p->by_sums ? cp_profile_add_sums(p) : NULL;
}

CP_ERROR cp_profile_create(const struct cp_record *record, const struct cp_profile_filter *filter,
			   struct cp_profile **ret)
{
	struct cp_profile *p = calloc(1, sizeof(*p));
	struct cp_error *err;

	if (!p)
		return cp_error_nomem();
	p->record = record;
	if (filter)
		p->filter = *filter;
	err = build(p);
	if (err)
		cp_profile_destroy(p);
	else
		*ret = p;
	return err;
}

CP_ERROR cp_profile_grow(struct cp_profile *p)
{
	CP_TRY(add_locations(p));
	return prepare_walk(p);
}

CP_ERROR cp_profile_create_growing(const struct cp_record *record, struct cp_profile **ret)
{
	struct cp_profile *p = calloc(1, sizeof(*p));
	struct cp_error *err;

	if (!p)
		return cp_error_nomem();
	p->record = record;
	p->filter.no_costs = true;
	p->unit = cp_profile_unit(p);
	err = cp_profile_grow(p);
	if (err)
		cp_profile_destroy(p);
	else
		*ret = p;
	return err;
}

void cp_profile_destroy(struct cp_profile *p)
{
	if (!p)
		return;
	if (p->beside)
		p->filter.beside->destroy(p->beside);
	cp_choice_destroy(p->choice);
	cp_vec_free(&p->images);
	cp_vec_free(&p->functions);
	cp_vec_free(&p->frames);
	cp_vec_free(&p->hits);
	cp_vec_free(&p->heap);
	cp_profile_forget_heap(p);
	cp_buf_free(&p->sampling);
	cp_vec_free(&p->call_nodes);
	free(p->location_frames);
	free(p->threads);
	free(p->processes);
	free(p->walk);
	cp_interner_free(&p->function_names);
	cp_interner_free(&p->image_names);
	cp_interner_free(&p->files);
	cp_map_free(&p->wait_sums);
	free(p);
}
