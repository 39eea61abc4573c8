/* SPDX-License-Identifier: MIT
 *
 * What such an event's values are called, and of which types, depends on its kind alone: so
 * their layout is worked out for the first of a chunk, by the way that all values go, and the
 * others are numbers behind its numbers.
 */
#include "record/heap_encode.h"

#include "record/encode.h"

static cprof_value pointer(const char *name, uint64_t address)
{
	return (cprof_value){ .kind = CPROF_VALUE_POINTER,
			      .size = sizeof(address),
			      .name = name,
			      .type = "void *",
			      .u.u = address };
}

struct cp_record_call cp_record_heap_call(const struct cp_record_heap *h,
					  cprof_value values[CP_RECORD_HEAP_VALUES])
{
	struct cp_record_call ret = {
		.kind = h->kind,
		.ts_ns = h->ts_ns,
		.thread = h->thread,
		.function = h->function,
		.depth = h->depth,
		.target = CP_RECORD_NONE,
		.stack = h->stack,
		.duration_ns = h->duration_ns,
		.values = values,
	};

	if (h->kind != CP_RECORD_FREED)
		values[ret.value_count++] = (cprof_value){ .kind = CPROF_VALUE_UINT,
							   .size = sizeof(h->size),
							   .name = "size",
							   .type = "size_t",
							   .u.u = h->size };
	values[ret.value_count++] = pointer("address", h->address);
	if (h->kind == CP_RECORD_MOVED)
		values[ret.value_count++] = pointer("previous", h->previous);
	return ret;
}

static inline void use(struct cp_record_encoder *e, unsigned table, uint64_t number)
{
	if (e->tables[table].written.items[number] != e->epoch)
		cp_record_encode_use(e, table, number);
}

static bool put_row(struct cp_record_calls *c, const struct cp_record_heap *h, uint64_t layout)
{
	uint32_t depth = cp_record_call_depth(&c->state, h->thread, h->kind);
	const uint64_t row[CP_CALL_COLUMNS] = {
		[CP_CALL_TS] = h->ts_ns,
		[CP_CALL_HOW] = cp_record_call_how(h->kind, 0),
		[CP_CALL_THREAD] = h->thread,
		[CP_CALL_DEPTH] = cp_record_zigzag((uint64_t)h->depth - depth),
		[CP_CALL_FUNCTION] = (uint64_t)h->function + 1,
		[CP_CALL_LAYOUT] = layout,
		[CP_CALL_EXTRA] = h->stack == CP_RECORD_NONE ? 0 : (uint64_t)h->stack + 1,
		[CP_CALL_DURATION] = cp_record_zigzag(h->duration_ns),
	};
	size_t i;

	for (i = 0; i < CP_CALL_COLUMNS; i++)
		if (!cp_vec_push(&c->columns[i], row[i]))
			return false;
	c->count++;
	c->wide = true;
	return true;
}

/* In the order of its values. */
static bool put_numbers(struct cp_record_layout *layout, const struct cp_record_heap *h)
{
	if (!cp_vec_reserve(&layout->data, layout->data.count + CP_RECORD_HEAP_VALUES))
		return false;
	if (h->kind != CP_RECORD_FREED)
		layout->data.items[layout->data.count++] = h->size;
	layout->data.items[layout->data.count++] = h->address;
	if (h->kind == CP_RECORD_MOVED)
		layout->data.items[layout->data.count++] = h->previous;
	return true;
}

/* The first of its kind in a chunk. */
static void encode_first(struct cp_record_encoder *e, uint32_t part, const struct cp_record_heap *h)
{
	cprof_value values[CP_RECORD_HEAP_VALUES];
	const struct cp_record_call call = cp_record_heap_call(h, values);

	cp_record_encode_call(e, part, &call);
	e->calls.heap_layouts[h->kind - CP_RECORD_ALLOCATED] = e->calls.last_layout;
}

void cp_record_encode_heap(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_heap *h)
{
	struct cp_record_calls *c = &e->calls;
	uint64_t layout;

	if (cp_record_sink_failed(e->sink))
		return;
	use(e, CP_RECORD_THREADS, h->thread);
	use(e, CP_RECORD_LOCATIONS, h->function);
	if (h->stack != CP_RECORD_NONE)
		use(e, CP_RECORD_STACKS, h->stack);
	layout = part == c->part ? c->heap_layouts[h->kind - CP_RECORD_ALLOCATED] : 0;
	if (!layout) {
		encode_first(e, part, h);
		return;
	}
	cp_record_encode_ok(e,
			    put_numbers(&c->layouts.items[layout - 1], h) && put_row(c, h, layout));
	e->pending += (CP_CALL_COLUMNS + CP_RECORD_HEAP_VALUES) * CP_RECORD_NUMBER_MAX;
	cp_record_encode_check(e);
}
