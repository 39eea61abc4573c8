/* SPDX-License-Identifier: MIT
 *
 * A program that loads and unloads libraries again and again would grow by what is mapped for
 * each of them, and with each mapping all that looks at mappings takes longer. So what one had
 * is for the next: slots near by, and chunks of code, which are used like what is free.
 */
#include "engine/probes/given_back.h"

#include "detour/space.h"
#include "engine/target/state.h"

/* ---- of an image ---- */

static void forget_range(const cprof_process *p, uint64_t address, uint64_t size, uint64_t area)
{
	struct cp_request rq = {
		.type = CP_REQUEST_DISARM,
		.pid = p->pid,
		.flags = CP_DISARM_FORGET,
		.address = address,
		.size = size,
		.first = area,
	};
	struct cp_answer answer;

	cp_error_free(cp_link_call(&p->session->link, &rq, &answer, NULL));
}

static size_t place_of(const cprof_process *p, uint64_t address)
{
	return cp_vec_partition(&p->areas.chunks, at, *at < address);
}

static bool keep_chunk(cprof_process *p, uint64_t address)
{
	size_t i = place_of(p, address);

	return cp_vec_insert(&p->areas.chunks, i, address);
}

void engine_room_give_code_back(cprof_image *image)
{
	const uint64_t *at = image->chunks.items;
	size_t count = image->chunks.count, i, n;

	for (i = 0; i < count; i += n) {
		for (n = 1; i + n < count && at[i + n] == at[i] + n * CP_DETOUR_CHUNK;)
			n++;
		forget_range(image->process, at[i], n * CP_DETOUR_CHUNK, 0);
	}
	for (i = 0; i < count && keep_chunk(image->process, at[i]);)
		i++;
	image->chunks.count = 0;
}

void engine_room_give_back(cprof_image *image)
{
	struct engine_areas *areas = &image->process->areas;
	const struct engine_ready_area area = { image->area, image->area_size };

	engine_room_give_code_back(image);
	if (!area.address || !cp_vec_push(&areas->left, area))
		return;
	forget_range(image->process, image->start, 0, area.address);
	image->area = image->area_size = 0;
	cp_map_clear(&image->slots);
}

void engine_room_leave(cprof_image *image)
{
	image->chunks.count = 0;
}

/* ---- for the next one ---- */

bool engine_room_has_chunk(const cprof_process *p, uint64_t address)
{
	size_t i = place_of(p, address);

	return i < p->areas.chunks.count && p->areas.chunks.items[i] == address;
}

void engine_room_take_chunk(cprof_image *image, uint64_t address)
{
	cprof_process *p = image->process;

	if (engine_room_has_chunk(p, address))
		cp_vec_remove(&p->areas.chunks, place_of(p, address));
	cp_vec_push(&image->chunks, address); /* without memory it is nobody's any more */
}

void engine_room_inherit(cprof_process *p, const cprof_process *parent)
{
	const struct engine_ready_area *area;
	const uint64_t *at;

	cp_vec_for_each(&parent->areas.left, area)
		if (!cp_vec_push(&p->areas.left, *area))
			return;
	cp_vec_for_each(&parent->areas.chunks, at)
		if (!cp_vec_push(&p->areas.chunks, *at))
			return;
}
