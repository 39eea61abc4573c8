/* SPDX-License-Identifier: MIT */
#include "engine/families/heap_state.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "engine/probes/sites.h"
#include "engine/target/images.h"
#include "image/image.h"

#define CALL_MAX 8 /* bytes before a return address that are looked at */
#define NONE ENGINE_HEAP_NONE

const struct engine_heap_arguments engine_heap_arguments[ROLES] = {
	[MALLOC] = { 0, NONE, NONE, NONE },	[CALLOC] = { 0, 1, NONE, NONE },
	[ALIGNED] = { 1, NONE, NONE, NONE },	[POSIX] = { 2, NONE, NONE, 0 },
	[REALLOC] = { 1, NONE, 0, NONE },	[REALLOCARRAY] = { 1, 2, 0, NONE },
	[RUST_REALLOC] = { 3, NONE, 0, NONE },	[FREE] = { NONE, NONE, 0, NONE },
	[GOES_ON] = { NONE, NONE, NONE, NONE },
};

struct engine_heap_blocks *engine_heap_blocks(struct engine_heap *h, const cprof_process *p)
{
	struct engine_heap_blocks *it;

	cp_vec_for_each(&h->blocks, it)
		if (it->process == p)
			return it;
	it = cp_vec_push(&h->blocks, ((struct engine_heap_blocks){ .process = p }))
		     ? &h->blocks.items[h->blocks.count - 1]
		     : NULL;
	if (it)
		it->from_ns = p->session->calls->now_ns;
	return it;
}

void engine_heap_blocks_free(struct engine_heap_blocks *blocks)
{
	cp_map_free(&blocks->at);
	cp_vec_free(&blocks->sites);
	free(blocks->callers);
}

bool engine_heap_set_free(struct engine_heap_blocks *blocks, uint64_t address, uint64_t until_ns)
{
	uint64_t *ts_ns = blocks ? cp_map_get(&blocks->at, address) : NULL;

	if (ts_ns && *ts_ns == ENGINE_HEAP_IS_FREE)
		return false;
	if (ts_ns && *ts_ns <= until_ns)
		*ts_ns = ENGINE_HEAP_IS_FREE;
	else if (blocks && !ts_ns)
		cp_map_put(&blocks->at, address, ENGINE_HEAP_IS_FREE);
	return true;
}

bool engine_heap_is_internal(cprof_process *p, const cprof_image *image, uint64_t pc,
			     uint64_t caller)
{
	const struct engine_text *text = engine_find_text(p, caller - 1);
	uint64_t at, target;
	uint8_t code[CALL_MAX];
	size_t size;

	if (!image || !text || text->image != image || engine_is_program(image))
		return false;
	at = caller - image->bias;
	struct cp_reader file = cp_probe_file_reader(image->assembly->image);
	size = file.read(file.ctx, at - sizeof(code), code, sizeof(code));
	return size == sizeof(code) && cp_arch_host()->call_before(code, size, at, &target) &&
	       target == pc - image->bias;
}

struct cp_call *engine_heap_ended(const struct engine_heap *h, int32_t tid)
{
	const uint64_t *call = cp_map_get(&h->ended, (uint64_t)tid);

	return call ? (struct cp_call *)(uintptr_t)*call : NULL;
}
