/* SPDX-License-Identifier: MIT */
#include "engine/probes/making.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "engine/probes/areas.h"
#include "engine/probes/given_back.h"
#include "engine/target/state.h"

/* Below mappings but our own, where the kernel puts new ones. */
#define MARGIN (UINT64_C(256) << 20)
#define LAST_MARGIN (UINT64_C(16) << 20) /* of what is wanted for want of any other place */
#define FAR (UINT64_C(4) << 30) /* farther than any reach */
#define STEP (UINT64_C(64) << 20)
#define SMALL_MARGIN (UINT64_C(64) << 10) /* of low addresses, where it puts none unasked */

/* Below, in a program that is linked low, is a place for one window in a thousand, whose
 * displacement is given; above, for one in four (arch/x86_64/detour_jump.c). */
#define NEAR UINT64_C(0x60000000)

/* What goes to the tracer at once. All of a library with a hundred thousand functions would be
 * more than there is room for. */
#define MUCH (UINT64_C(4) << 20)

/* As far above the heap as there is reach comes first: it grows up to what is there. */
static bool add_above_heap(struct cp_detour_space *space, uint64_t start, uint64_t end)
{
	uint64_t far = end - start > FAR ? start + FAR : end, at = far;
	bool ok = true;

	if (start < NEAR && end > NEAR)
		start = NEAR;
	while (ok && at > start) {
		uint64_t from = at - start > STEP ? at - STEP : start;

		ok = cp_detour_space_add(space, from, at);
		at = from;
	}
	return ok && (far == end || cp_detour_space_add(space, far, end));
}

/* What the margin leaves out. */
static bool add_last(struct cp_detour_space *space, const struct engine_gap *gap, uint64_t from)
{
	uint64_t end = gap->until > LAST_MARGIN ? gap->until - LAST_MARGIN : 0;

	from = from > gap->start ? from : gap->start;
	end = end < gap->end ? end : gap->end;
	return end <= from || cp_detour_space_add_last(space, from, end);
}

static bool add_gap(void *ctx, const struct engine_gap *gap)
{
	struct engine_making *m = ctx;
	struct cp_detour_space *space = m->space;
	uint64_t margin = gap->end <= UINT64_C(1) << 32 ? SMALL_MARGIN : MARGIN;
	uint64_t end = gap->until > margin ? gap->until - margin : 0;

	end = end < gap->end ? end : gap->end;
	if (end > gap->start && !(gap->above_heap ? add_above_heap(space, gap->start, end)
						  : cp_detour_space_add(space, gap->start, end)))
		return false;
	return m->careful || add_last(space, gap, end);
}

void engine_making_piece(struct engine_making *m, uint64_t at, const uint8_t *code, uint32_t size)
{
	const struct cp_code_piece piece = { at, size, (uint32_t)m->bytes.count };

	m->failed |= !cp_vec_push(&m->pieces, piece) ||
		     !cp_vec_reserve(&m->bytes, m->bytes.count + size);
	if (m->failed)
		return;
	memcpy(m->bytes.items + m->bytes.count, code, size);
	m->bytes.count += size;
}

/* What stands in the file where `write` is about to: text is read from there, since in
 * memory there may be breakpoints. */
static bool fill_window(const struct engine_making *m, const struct cp_detour_write *write,
			struct cp_window *ret)
{
	struct cp_reader file = cp_probe_file_reader(m->image->assembly->image);

	ret->size = write->size;
	memcpy(ret->jump, write->code, write->size);
	return file.read(file.ctx, write->at - m->image->bias, ret->original, write->size) ==
	       write->size;
}

/* The jump of a window, all of its first instruction where only the displacement is
 * changed. */
static bool whole_window(const struct engine_making *m, const struct cp_detour_window *w,
			 const struct cp_detour_placed *placed, struct cp_window *ret)
{
	size_t offset = placed->window.at - (w->address + m->image->bias);

	if (w->how != CP_DETOUR_BY_CHANGE)
		return fill_window(m, &placed->window, ret);
	ret->size = w->size;
	memcpy(ret->original, w->code, w->size);
	memcpy(ret->jump, w->code, w->size);
	memcpy(ret->jump + offset, placed->window.code, placed->window.size);
	return true;
}

/* Bytes of the instruction at `offset` of the window. */
static uint8_t insn_size(const struct cp_detour_window *w, unsigned offset)
{
	unsigned end = offset + 1;

	while (end < w->size && !(w->begins >> end & 1))
		end++;
	return (uint8_t)(end - offset);
}

static void add_landings(struct engine_making *m, const struct cp_detour_window *w,
			 const struct cp_detour *d, const uint64_t enter[CP_DETOUR_WINDOW])
{
	unsigned offset;

	for (offset = 1; offset < w->size; offset++) {
		struct engine_detour_site site = {
			.address = d->pc + offset,
			.flags = CP_SITE_LANDING,
			.traced = m->traced,
			.size = insn_size(w, offset),
		};

		if (!(w->begins >> offset & 1))
			continue;
		site.to = enter[offset];
		if (site.to)
			m->failed |= !cp_vec_push(&m->sites->items, site);
	}
}

/* Is it a conditional jump whose displacement is changed? */
static bool is_branch(const struct cp_detour_window *w)
{
	return w->how == CP_DETOUR_BY_CHANGE && w->size == CP_DETOUR_BRANCH;
}

static void add_detour(struct engine_making *m, const struct cp_detour *d,
		       const struct cp_detour_placed *placed)
{
	const struct cp_code_detour detour = { placed->at, placed->size,
					       (uint32_t)m->sources.count };
	size_t size = cp_code_source_size(d);

	m->failed |= !cp_vec_push(&m->detours, detour) ||
		     !cp_vec_reserve(&m->sources, m->sources.count + size);
	if (m->failed)
		return;
	memcpy(m->sources.items + m->sources.count, d, size);
	m->sources.count += size;
}

/* What the tracer is told of the code. */
static void add_code(struct engine_making *m, const struct cp_detour *d,
		     const struct cp_detour_placed *placed)
{
	struct cp_code_counting counting = {
		.at = placed->at,
		.pc = d->pc,
		.bytes = placed->size,
		.size = d->size,
		.count_count = d->count_count,
	};

	if (!d->count_count) {
		add_detour(m, d, placed);
		return;
	}
	memcpy(counting.code, d->code, sizeof(counting.code));
	memcpy(counting.counts, d->counts, sizeof(counting.counts));
	m->failed |= !cp_vec_push(&m->countings, counting);
}

static void add_stub(struct engine_making *m, const struct cp_detour_write *stub)
{
	if (stub->size)
		engine_making_piece(m, stub->at, stub->code, stub->size);
}

void engine_making_window(struct engine_making *m, const struct cp_detour_window *w,
			  const struct cp_detour *d, const struct cp_detour_placed *placed)
{
	struct engine_detour_site site = { .address = d->pc,
					   .flags = CP_SITE_WINDOW,
					   .traced = m->traced,
					   .size = insn_size(w, 0),
					   .branches = is_branch(w) },
				  hop = { .address = placed->hop.at,
					  .flags = CP_SITE_HOP,
					  .traced = m->traced,
					  .size = placed->hop.size };
	size_t i;

	site.to = hop.to = placed->enter[0];
	m->failed |= !site.to || !whole_window(m, w, placed, &site.window);
	add_code(m, d, placed);
	engine_making_piece(m, placed->at, placed->code, placed->size);
	add_stub(m, &placed->stub);
	for (i = 0; i < CP_DETOUR_LENT; i++)
		add_stub(m, &placed->lent[i]);
	if (placed->hop.size)
		m->failed |= !fill_window(m, &placed->hop, &hop.window) ||
			     !cp_vec_push(&m->sites->items, hop);
	m->failed |= !cp_vec_push(&m->sites->items, site);
	add_landings(m, w, d, placed->enter);
}

static uint8_t *put(uint8_t *at, const void *from, size_t size)
{
	if (size)
		memcpy(at, from, size);
	return at + size;
}

/* Bytes of it all on its way to the tracer, but for the head and the chunks. */
static uint64_t size_of_all(const struct engine_making *m)
{
	return m->detours.count * sizeof(*m->detours.items) + m->sources.count +
	       m->countings.count * sizeof(*m->countings.items) +
	       m->pieces.count * sizeof(*m->pieces.items) + m->bytes.count;
}

static void forget(struct engine_making *m)
{
	m->detours.count = m->sources.count = m->countings.count = 0;
	m->pieces.count = m->bytes.count = 0;
}

/* Those that are not mapped yet; *ret is good until the next call. */
static uint32_t new_chunks(struct engine_making *m, const uint64_t **ret)
{
	const uint64_t *all;
	size_t count = cp_detour_space_chunks(m->space, &all), i;

	m->fresh.count = 0;
	for (i = m->sent; i < count; i++)
		if (!engine_room_has_chunk(m->image->process, all[i]))
			m->failed |= !cp_vec_push(&m->fresh, all[i]);
	*ret = m->fresh.items;
	return (uint32_t)m->fresh.count;
}

/* All so far are the image's. */
static void keep_chunks(struct engine_making *m)
{
	const uint64_t *all;
	size_t count = cp_detour_space_chunks(m->space, &all);

	while (m->sent < count)
		engine_room_take_chunk(m->image, all[m->sent++]);
}

int engine_making_send(struct engine_making *m)
{
	cprof_process *p = m->image->process;
	struct cp_request rq = { .type = CP_REQUEST_CODE, .pid = p->pid };
	struct cp_code_batch head = {
		.rings = m->rings,
		.chunk_size = CP_DETOUR_CHUNK,
		.detour_count = (uint32_t)m->detours.count,
		.counting_count = (uint32_t)m->countings.count,
		.piece_count = (uint32_t)m->pieces.count,
		.source_size = m->sources.count,
	};
	uint8_t *at = p->session->link.plan;
	struct cp_answer answer;
	const uint64_t *chunks;
	struct cp_error *err;

	head.chunk_count = new_chunks(m, &chunks);
	head.size = sizeof(head) + head.chunk_count * sizeof(*chunks) + size_of_all(m);
	if (m->failed || head.size > CP_LINK_PLAN)
		return ENOMEM;
	at = put(at, &head, sizeof(head));
	at = put(at, chunks, head.chunk_count * sizeof(*chunks));
	at = put(at, m->detours.items, m->detours.count * sizeof(*m->detours.items));
	at = put(at, m->sources.items, m->sources.count);
	at = put(at, m->countings.items, m->countings.count * sizeof(*m->countings.items));
	at = put(at, m->pieces.items, m->pieces.count * sizeof(*m->pieces.items));
	put(at, m->bytes.items, m->bytes.count);
	rq.size = head.size;
	p->session->link.shared->beat_ns = cp_now(); /* it may be long until the next one */
	err = cp_link_call(&p->session->link, &rq, &answer, NULL);
	if (err) {
		cp_error_free(err);
		return ESRCH;
	}
	if (!answer.errnum)
		keep_chunks(m);
	forget(m);
	return answer.errnum;
}

int engine_making_send_much(struct engine_making *m)
{
	return size_of_all(m) < MUCH ? 0 : engine_making_send(m);
}

/* Before what is free. */
static bool add_given_back(struct engine_making *m)
{
	const uint64_t *at;

	cp_vec_for_each(&m->image->process->areas.chunks, at)
		if (!cp_detour_space_add(m->space, *at, *at + CP_DETOUR_CHUNK))
			return false;
	return true;
}

bool engine_making_begin(struct engine_making *m)
{
	m->space = cp_detour_space_create();
	return m->space && add_given_back(m) && engine_area_gaps(m->image->process, add_gap, m);
}

void engine_making_free(struct engine_making *m)
{
	cp_detour_space_destroy(m->space);
	cp_vec_free(&m->fresh);
	cp_vec_free(&m->detours);
	cp_vec_free(&m->sources);
	cp_vec_free(&m->countings);
	cp_vec_free(&m->pieces);
	cp_vec_free(&m->bytes);
}
