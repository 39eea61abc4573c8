/* SPDX-License-Identifier: MIT */
#include "record/batch.h"

#include <string.h>

static bool reserve(struct cp_record_batch *to, const struct cp_record_batch *from)
{
	return cp_vec_reserve(&to->processes, to->processes.count + from->processes.count) &&
	       cp_vec_reserve(&to->threads, to->threads.count + from->threads.count) &&
	       cp_vec_reserve(&to->images, to->images.count + from->images.count) &&
	       cp_vec_reserve(&to->locations, to->locations.count + from->locations.count) &&
	       cp_vec_reserve(&to->nodes, to->nodes.count + from->nodes.count) &&
	       cp_vec_reserve(&to->stacks, to->stacks.count + from->stacks.count) &&
	       cp_vec_reserve(&to->samples, to->samples.count + from->samples.count);
}

#define MOVE(field) \
	do { \
		if (from->field.count) \
			memcpy(to->field.items + to->field.count, from->field.items, \
			       from->field.count * sizeof(*from->field.items)); \
		to->field.count += from->field.count; \
		from->field.count = 0; \
	} while (0)

bool cp_record_batch_append(struct cp_record_batch *to, struct cp_record_batch *from)
{
	if (!reserve(to, from))
		return false;
	MOVE(processes);
	MOVE(threads);
	MOVE(images);
	MOVE(locations);
	MOVE(nodes);
	MOVE(stacks);
	MOVE(samples);
	if (from->has_totals) {
		to->has_totals = true;
		to->totals = from->totals;
		from->has_totals = false;
	}
	return true;
}

static void free_const(const char *text)
{
	free((void *)(uintptr_t)text);
}

void cp_record_batch_free(struct cp_record_batch *batch)
{
	size_t i;

	if (!batch)
		return;
	for (i = 0; i < batch->processes.count; i++) {
		free_const(batch->processes.items[i].v.name);
		free_const(batch->processes.items[i].v.exe);
	}
	for (i = 0; i < batch->threads.count; i++)
		free_const(batch->threads.items[i].v.name);
	for (i = 0; i < batch->images.count; i++) {
		free_const(batch->images.items[i].v.path);
		free_const(batch->images.items[i].v.build_id);
		free_const(batch->images.items[i].v.debug_path);
	}
	cp_vec_free(&batch->processes);
	cp_vec_free(&batch->threads);
	cp_vec_free(&batch->images);
	cp_vec_free(&batch->locations);
	cp_vec_free(&batch->nodes);
	cp_vec_free(&batch->stacks);
	cp_vec_free(&batch->samples);
	free(batch);
}
