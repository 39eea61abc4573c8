/* SPDX-License-Identifier: MIT
 *
 * Code made at run time that is registered for debuggers (image/jit.h). Each
 * registered file is an assembly of its own, with an image of its own, so what
 * is made anew at an address of before has names of its own.
 *
 *     memory of no file:   ......[ made ][ made ]......[made]....
 *     engine_find_text()   "[jit]"  image   image "[jit]" image
 *
 * The list is read when a frame stands in memory of no file where no registered code is
 * known: at once the first times, later so often that it costs two per cent of the
 * time. Code that is known there is compared with what the list has. Files that were
 * taken from the list stay known for samples from before.
 */
#include "engine/families/jit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/families/loaded.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "image/jit.h"
#include "image/perfmap.h"
#include "image/spans.h"

#define LISTS_MAX 16
#define OBJECTS_MAX (4 * CP_JIT_ENTRIES_MAX) /* all there ever were in a process */
#define BYTES_MAX (UINT64_C(256) << 20) /* of all their files */
#define COMPARED_MAX (UINT64_C(16) << 20) /* bytes in one look */
#define CHECKED_MAX 65536 /* bytes for one frame */
#define LOOK_NS (20 * CP_NS_PER_MS)
#define LOOKS_FREE 16
#define NEWS_MAX (UINT32_C(1) << 20)
#define TOLD_MAX 65536 /* functions of one file */
#define GONE_NS (2 * CP_NS_PER_S) /* no sample comes so late */

struct object {
	struct cp_jit_entry entry;
	uint64_t hash;
	cprof_image *image; /* NULL: it was refused */
	uint64_t gone_ns; /* 0: it is registered */
	uint64_t seen_ns; /* when it was last known to be registered */
	uint32_t look; /* jit.looks when it was last found */
};

struct made_text {
	struct engine_text text;
	uint32_t object;
};

/* News that profilers are to be told. */
enum news_kind { MADE, GONE, CHUNK_CREATED, CHUNK_DESTROYED };

struct news {
	enum news_kind kind;
	uint32_t object;
	struct cp_jit_range chunk;
};

struct jit {
	CP_VEC(uint64_t) lists; /* addresses of descriptors */
	CP_VEC(struct object) objects; /* oldest first */
	struct cp_map by_entry; /* address of an entry -> its object that is there */
	CP_VEC(struct made_text) texts;
	struct cp_spans spans; /* of `texts` */
	bool changed; /* `objects` changed since texts and spans were made */
	uint64_t next_ns; /* no look before */
	unsigned looks_free;
	uint32_t looks;
	uint64_t bytes;
	CP_VEC(struct news) news; /* in order */
	CP_VEC(struct cp_jit_range) chunks; /* sorted */
	bool telling;
	size_t map_told; /* lines of the perf map */
};

static bool is_asked(const cprof_session *s)
{
	return s->life.jit_asked || engine_has(s, jit_begin) || engine_has(s, jit_failed) ||
	       engine_has(s, jit_done) || engine_has(s, jit_code_buffer) ||
	       engine_has(s, jit_chunk_created) || engine_has(s, jit_chunk_destroyed) ||
	       engine_has(s, method_free);
}

/* What is known of the process's registered code; NULL: nothing. */
static struct jit *jit_of(const cprof_process *p)
{
	return p->own[ENGINE_FAMILY_JIT];
}

static bool is_wanted(const cprof_process *p)
{
	return engine_family_wanted(p->session, ENGINE_FAMILY_JIT);
}

static void note(const cprof_process *p, struct jit *j, struct news news)
{
	if (is_wanted(p) && j->news.count < NEWS_MAX && !cp_vec_push(&j->news, news))
		cp_debug("jit: no memory for what is to be told");
}

/* ---- where the lists are ---- */

static bool has_list(cprof_assembly *a)
{
	if (!a->jit_asked && a->image && a->path[0] == '/')
		a->has_jit = cp_image_variable(a->image, "__jit_debug_descriptor", &a->jit_list);
	a->jit_asked = true;
	return a->has_jit;
}

static void find_lists(cprof_process *p, struct jit *j)
{
	const struct engine_text *text;
	const cprof_image *before = NULL;

	j->lists.count = 0;
	cp_vec_for_each(&p->texts, text) {
		const cprof_assembly *a = text->image->assembly;

		if (text->image == before || !has_list(text->image->assembly))
			continue;
		before = text->image;
		if (j->lists.count >= LISTS_MAX ||
		    !cp_vec_push(&j->lists, a->jit_list.v + before->bias))
			return;
	}
}

/* ---- what comes, what goes ---- */

static cprof_image *image_of(cprof_process *p, struct cp_image *file)
{
	cprof_session *s = p->session;
	cprof_assembly *a = engine_assembly_create(s, "[jit]");
	cprof_image *image = calloc(1, sizeof(*image));
	struct cp_jit_range ranges[CP_CODE_MAX];

	if (!a || !image || !cp_vec_reserve(&s->jits, s->jits.count + 1) ||
	    !cp_vec_push(&p->images, image)) {
		engine_assembly_free(a);
		free(image);
		return NULL;
	}
	cp_vec_push(&s->jits, a);
	a->image = file;
	a->made = true;
	cp_jit_ranges(file, ranges);
	*image = (cprof_image){
		.process = p, .assembly = a, .start = ranges[0].start, .end = ranges[0].end
	};
	return image;
}

static void refuse(cprof_session *s, struct cp_error *err)
{
	cp_debug("jit: %s", err ? err->what : "too much of it");
	cp_error_free(err);
	s->life.jit_refused++;
}

static void add(cprof_process *p, struct jit *j, const struct cp_jit_entry *entry)
{
	struct object o = { .entry = *entry, .look = j->looks, .seen_ns = cp_now() };
	struct cp_image *file = NULL;
	struct cp_error *err = NULL;

	if (j->objects.count >= OBJECTS_MAX ||
	    !cp_map_put(&j->by_entry, entry->at, j->objects.count))
		return;
	if (entry->size <= BYTES_MAX - j->bytes)
		err = cp_jit_open(&p->memory, entry, cp_arch_host()->e_machine, &file, &o.hash);
	if (entry->size <= CP_JIT_SYMFILE_MAX && entry->size <= BYTES_MAX - j->bytes)
		j->bytes += entry->size;
	if (file)
		o.image = image_of(p, file);
	else
		refuse(p->session, err);
	if (file && !o.image)
		cp_image_destroy(file);
	j->changed = true;
	if (cp_vec_push(&j->objects, o))
		note(p, j, (struct news){ MADE, (uint32_t)j->objects.count - 1, { 0, 0 } });
	else
		cp_map_remove(&j->by_entry, entry->at);
}

static void drop(const cprof_process *p, struct jit *j, struct object *o, uint64_t gone_ns)
{
	note(p, j, (struct news){ GONE, (uint32_t)(o - j->objects.items), { 0, 0 } });
	cp_map_remove(&j->by_entry, o->entry.at);
	o->gone_ns = gone_ns;
	j->changed = true;
}

static struct object *object_at(struct jit *j, uint64_t entry)
{
	const uint64_t *n = cp_map_get(&j->by_entry, entry);

	return n ? &j->objects.items[*n] : NULL;
}

/* Is an entry still that of the file `o`? Its memory may be used again. */
static bool is_same(cprof_process *p, const struct object *o, const struct cp_jit_entry *entry,
		    uint64_t *compared)
{
	if (o->entry.symfile != entry->symfile || o->entry.size != entry->size)
		return false;
	if (!o->image || entry->size > COMPARED_MAX - *compared)
		return true;
	*compared += entry->size;
	return cp_jit_hash(&p->memory, entry) == o->hash;
}

static void look_at_list(cprof_process *p, struct jit *j, uint64_t at, uint64_t *compared)
{
	struct cp_jit_descriptor descriptor;
	struct cp_jit_list list;
	const struct cp_jit_entry *e;

	if (!cp_jit_read_descriptor(&p->memory, at, &descriptor))
		return;
	cp_jit_read_list(&p->memory, descriptor.first, &list);
	/* Whoever registers code puts it first in the list: this goes from the oldest
	 * entry to the newest. */
	for (e = list.entries.items + list.entries.count; e-- > list.entries.items;) {
		struct object *o = object_at(j, e->at);

		if (o && !is_same(p, o, e, compared)) {
			drop(p, j, o, cp_now());
			o = NULL;
		}
		if (!o) {
			add(p, j, e);
			continue;
		}
		o->look = j->looks;
		o->seen_ns = cp_now();
	}
	cp_vec_free(&list.entries);
}

static void look(cprof_process *p, struct jit *j)
{
	uint64_t began = cp_now(), compared = 0, took, key, number;
	size_t i, cursor = 0;

	j->looks++;
	if (!engine_open_memory(p))
		return;
	find_lists(p, j);
	for (i = 0; i < j->lists.count; i++)
		look_at_list(p, j, j->lists.items[i], &compared);
	while (cp_map_next(&j->by_entry, &cursor, &key, &number))
		if (j->objects.items[number].look != j->looks)
			drop(p, j, &j->objects.items[number], cp_now());
	took = cp_now() - began;
	j->next_ns = began + took + (50 * took > LOOK_NS ? 50 * took : LOOK_NS);
}

static struct jit *made_in(cprof_process *p)
{
	if (!jit_of(p))
		p->own[ENGINE_FAMILY_JIT] = calloc(1, sizeof(struct jit));
	return jit_of(p);
}

/* ---- lookup ---- */

static bool add_texts(struct jit *j, uint32_t number)
{
	const struct object *o = &j->objects.items[number];
	struct cp_jit_range ranges[CP_CODE_MAX];
	size_t count = cp_jit_ranges(o->image->assembly->image, ranges), i;

	for (i = 0; i < count; i++)
		if (!cp_vec_push(&j->texts,
				 (struct made_text){ { ranges[i].start, ranges[i].end, o->image },
						     number }))
			return false;
	return true;
}

/* Makes texts and spans anew; files that are registered hide those that were. */
static void index_texts(struct jit *j)
{
	uint64_t now = cp_now();
	struct cp_span *spans;
	uint32_t i;

	j->changed = false;
	j->texts.count = 0;
	cp_spans_free(&j->spans);
	for (i = 0; i < j->objects.count; i++) {
		const struct object *o = &j->objects.items[i];

		if (o->image && (!o->gone_ns || now - o->gone_ns < GONE_NS) && !add_texts(j, i))
			break;
	}
	spans = calloc(j->texts.count + 1, sizeof(*spans));
	for (i = 0; spans && i < j->texts.count; i++) {
		const struct made_text *t = &j->texts.items[i];
		uint64_t there = !j->objects.items[t->object].gone_ns;

		spans[i] =
			(struct cp_span){ t->text.start, t->text.end, there << 32 | t->object, i };
	}
	if (spans)
		cp_spans_build(spans, j->texts.count, &j->spans);
	free(spans);
}

static const struct made_text *find(struct jit *j, uint64_t pc)
{
	const struct cp_span *span;

	if (j->changed)
		index_texts(j);
	span = cp_spans_find(&j->spans, pc);
	return span ? &j->texts.items[span->value] : NULL;
}

static const struct engine_text *text_at(const cprof_process *p, uint64_t pc)
{
	const struct made_text *t = jit_of(p) ? find(jit_of(p), pc) : NULL;
	uint64_t gone = t ? jit_of(p)->objects.items[t->object].gone_ns : 0;

	if (!t)
		return NULL;
	return !gone || p->session->current.capture.ts_ns <= gone ? &t->text : NULL;
}

/* ---- a frame ---- */

/* Is the file still registered in whose code a frame stands? */
static bool is_there(cprof_process *p, struct object *o)
{
	struct cp_jit_entry e;
	uint64_t compared = COMPARED_MAX - CHECKED_MAX;

	if (!cp_jit_read_entry(&p->memory, o->entry.at, &e) || !is_same(p, o, &e, &compared))
		return false;
	o->seen_ns = cp_now();
	return true;
}

static void meet(cprof_process *p, uint64_t pc)
{
	const struct engine_text *text = engine_find_text(p, pc);
	const struct made_text *made;
	struct jit *j;
	struct object *o = NULL;

	if (!text || (text->image->assembly->image && !text->image->assembly->made))
		return;
	j = made_in(p);
	if (!j)
		return;
	made = find(j, pc);
	if (made)
		o = &j->objects.items[made->object];
	if (o && !o->gone_ns && is_there(p, o))
		return;
	if (cp_now() >= j->next_ns || (!o && j->looks_free++ < LOOKS_FREE))
		look(p, j);
	else if (o && !o->gone_ns) /* it is not known whose code is there now */
		drop(p, j, o, o->seen_ns);
}

/* ---- events ---- */

static void tell_function(cprof_session *s, const cprof_function *f, uint64_t start, uint64_t size)
{
	engine_raise(s, jit_begin, f);
	engine_raise(s, jit_code_buffer, start, size, CPROF_CODE_BUFFER_METHOD, f);
	engine_raise(s, jit_done, f, start, size);
}

/* Tells each function of registered code once, by the name that a person would give it. */
static void tell_made(cprof_session *s, const cprof_image *image)
{
	const struct cp_symbol *symbols;
	size_t count = 0, told = 0, i;

	if (!image) {
		engine_raise(s, jit_begin, NULL);
		engine_raise(s, jit_failed, NULL);
		return;
	}
	cp_error_free(cp_image_symbols(image->assembly->image, &symbols, &count));
	for (i = 0; i < count && told < TOLD_MAX; i++) {
		const struct cp_symbol *symbol = &symbols[i];
		const cprof_function *f;

		if (symbol->kind != CP_SYMBOL_FUNCTION ||
		    (i && symbols[i - 1].start.v == symbol->start.v))
			continue;
		f = engine_function_at(s, image, symbol->start.v);
		if (!f || f->start != symbol->start.v)
			continue;
		tell_function(s, f, f->start, f->size);
		told++;
	}
	if (!told)
		tell_function(s, NULL, image->start, image->end - image->start);
}

static void tell(cprof_process *p, const struct jit *j, const struct news *news)
{
	cprof_session *s = p->session;
	const cprof_image *image = NULL;

	if (news->kind == MADE || news->kind == GONE)
		image = j->objects.items[news->object].image;
	switch (news->kind) {
	case MADE:
		tell_made(s, image);
		break;
	case GONE:
		if (image)
			engine_free_methods(s, image);
		break;
	case CHUNK_CREATED:
		engine_raise(s, jit_chunk_created, news->chunk.start,
			     news->chunk.end - news->chunk.start);
		break;
	case CHUNK_DESTROYED:
		engine_raise(s, jit_chunk_destroyed, news->chunk.start);
		break;
	}
}

static void tell_news(cprof_process *p)
{
	struct jit *j = jit_of(p);
	cprof_process *before = p->session->current.process;
	size_t i;

	if (!j || j->telling || !j->news.count || !p->loaded)
		return;
	j->telling = true;
	p->session->current.process = p;
	/* A callback that walks a stack may add news. */
	for (i = 0; i < j->news.count; i++) {
		const struct news news = j->news.items[i];

		tell(p, j, &news);
	}
	j->news.count = 0;
	p->session->current.process = before;
	j->telling = false;
}

/* The perf map's next line as a function, or NULL. */
static const cprof_function *next_of_map(cprof_process *p, struct jit *j)
{
	const cprof_image *image = engine_image_add(p, p->jit, 0, 0, 0);
	const cprof_function *f = NULL;
	uint64_t start, size;
	const char *name;

	/* Other threads ask for names, and read the file, too. */
	pthread_mutex_lock(&p->jit->lock);
	if (image && cp_perf_map_entry(p->jit->jit, j->map_told, &name, &start, &size))
		f = engine_function_of_map(p->session, image, name, start, size);
	pthread_mutex_unlock(&p->jit->lock);
	return f;
}

static void tell_map(cprof_process *p, struct jit *j)
{
	cprof_process *before = p->session->current.process;
	const cprof_function *f;
	size_t told = 0;

	if (!p->jit || !p->jit->jit)
		return;
	pthread_mutex_lock(&p->jit->lock);
	cp_perf_map_refresh(p->jit->jit);
	pthread_mutex_unlock(&p->jit->lock);
	p->session->current.process = p;
	for (; told < TOLD_MAX && (f = next_of_map(p, j)); told++, j->map_told++)
		tell_function(p->session, f, f->start, f->size);
	p->session->current.process = before;
}

/* The program called the debuggers' function: looks at the one entry that it is about. */
static void look_at_entry(cprof_process *p, struct jit *j,
			  const struct cp_jit_descriptor *descriptor)
{
	struct object *o = object_at(j, descriptor->relevant);
	uint64_t compared = 0;
	struct cp_jit_entry e;

	if (descriptor->action == CP_JIT_UNREGISTER) {
		if (o)
			drop(p, j, o, cp_now());
		return;
	}
	if (!cp_jit_read_entry(&p->memory, descriptor->relevant, &e))
		return;
	if (o && !is_same(p, o, &e, &compared)) {
		drop(p, j, o, cp_now());
		o = NULL;
	}
	if (!o)
		add(p, j, &e);
}

/* The program registered code for debuggers, or took it back. */
static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	cprof_process *p = s->current.process;
	uint64_t pc = hit->event->pc;
	struct jit *j = made_in(p);
	struct cp_jit_descriptor descriptor;
	const struct engine_text *text;

	if (!j || !engine_open_memory(p))
		return;
	engine_maps_look(p); /* first where memory is mapped, then what is in it */
	text = engine_find_text(p, pc);
	if (j->looks && text && has_list(text->image->assembly) &&
	    cp_jit_read_descriptor(&p->memory,
				   text->image->assembly->jit_list.v + text->image->bias,
				   &descriptor) &&
	    (descriptor.action == CP_JIT_REGISTER || descriptor.action == CP_JIT_UNREGISTER))
		look_at_entry(p, j, &descriptor);
	else
		look(p, j);
	tell_news(p);
}

/* Once a second where events are wanted: the first look, when attaching, tells of all
 * code there is. */
static void look_again(cprof_process *p)
{
	struct jit *j = made_in(p);

	engine_refresh_maps(p, cp_now(), false);
	if (!j)
		return;
	if (cp_now() >= j->next_ns)
		look(p, j);
	tell_news(p);
	tell_map(p, j);
}

/* Is `chunk` among the sorted `chunks`? */
static bool has_chunk(const struct cp_jit_range *chunks, size_t count, struct cp_jit_range chunk)
{
	const struct {
		const struct cp_jit_range *items;
		size_t count;
	} all = { chunks, count };
	size_t n = cp_vec_partition(&all, c, c->start < chunk.start);

	return n < count && chunks[n].start == chunk.start && chunks[n].end == chunk.end;
}

/* Takes cprof's own code, which lies in such memory, too, out of the chunk. */
static void without_areas(const cprof_process *p, struct cp_jit_range *chunk)
{
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		uint64_t area = p->images.items[i]->area;
		uint64_t end = area + p->images.items[i]->area_size;

		if (area <= chunk->start && chunk->start < end)
			chunk->start = end;
		else if (area > chunk->start && area < chunk->end)
			chunk->end = area;
	}
}

static void compare_chunks(cprof_process *p)
{
	struct jit *j = is_wanted(p) ? made_in(p) : NULL;
	CP_VEC(struct cp_jit_range) now = { 0 };
	const struct engine_text *text;
	size_t i;

	if (!j)
		return;
	cp_vec_for_each(&p->texts, text) {
		struct cp_jit_range chunk = { text->start, text->end };

		if (text->image->assembly != p->jit || chunk.start >> 63) /* [vsyscall] */
			continue;
		without_areas(p, &chunk);
		if (chunk.start < chunk.end && !cp_vec_push(&now, chunk))
			break;
	}
	for (i = 0; i < j->chunks.count; i++)
		if (!has_chunk(now.items, now.count, j->chunks.items[i]))
			note(p, j, (struct news){ CHUNK_DESTROYED, 0, j->chunks.items[i] });
	for (i = 0; i < now.count; i++)
		if (!has_chunk(j->chunks.items, j->chunks.count, now.items[i]))
			note(p, j, (struct news){ CHUNK_CREATED, 0, now.items[i] });
	cp_vec_free(&j->chunks);
	j->chunks.items = now.items;
	j->chunks.count = now.count;
	j->chunks.capacity = now.capacity;
}

/* ---- the end ---- */

static void forget(cprof_process *p)
{
	struct jit *j = jit_of(p);

	if (!j)
		return;
	p->own[ENGINE_FAMILY_JIT] = NULL;
	cp_vec_free(&j->lists);
	cp_vec_free(&j->news);
	cp_vec_free(&j->chunks);
	cp_vec_free(&j->objects);
	cp_map_free(&j->by_entry);
	cp_vec_free(&j->texts);
	cp_spans_free(&j->spans);
	free(j);
}

static void explain(cprof_session *s)
{
	if (s->life.jit_refused)
		engine_warn(s,
			    "%" PRIu64 " symbol file%s that the program registered for its "
			    "run-time code make%s no sense: names of it are missing",
			    s->life.jit_refused, s->life.jit_refused == 1 ? "" : "s",
			    s->life.jit_refused == 1 ? "s" : "");
}

static const struct engine_watch watches[] = {
	{ "__jit_debug_register_code", 0, CP_SITE_ENTRY | CP_SITE_HOLD, 0 },
};

const struct engine_family engine_jit_family = {
	.name = "jit",
	.breakpoints = true,
	.asked = is_asked,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.anywhere = true,
	.hit = on_hit,
	.told = compare_chunks,
	.met = meet,
	.text_at = text_at,
	.forget = forget,
	.delivered = tell_news,
	.look = look_again,
	.explain = explain,
};
