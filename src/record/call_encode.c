/* SPDX-License-Identifier: MIT
 *
 * Calls are many and alike, so only what differs is written. Names and types
 * of values are rows of a table (shapes). Which shapes an event's values have,
 * and how they are nested, is its layout: a list of nodes, all of one level
 * before those of the next, so that the items of a value stand in a row:
 *
 *    move({x=3, y=4}, NORTH)     roots 2: p{2} d | x y
 *
 * Layouts are numbered anew in each chunk, where they are first used; an event
 * is then its layout's number and one number for each node that has content.
 * Those of one node stand together, as they resemble each other. Texts are
 * numbered likewise. What an event can be expected to be (its depth, the
 * function that is left) is not written: see call_state.h.
 *
 *    part, first, count | columns | texts | layouts | numbers of each layout
 */
#include "record/call_encode.h"

#include <string.h>

#include "record/encode.h"

bool cp_record_has_items(unsigned kind)
{
	return kind == CPROF_VALUE_COMPLEX || kind == CPROF_VALUE_POINTER ||
	       kind == CPROF_VALUE_STRUCT || kind == CPROF_VALUE_UNION || kind == CPROF_VALUE_ARRAY;
}

bool cp_record_is_text(unsigned kind)
{
	return kind == CPROF_VALUE_LONG_DOUBLE || kind == CPROF_VALUE_STRING ||
	       kind == CPROF_VALUE_RAW;
}

unsigned cp_record_value_numbers(unsigned kind)
{
	switch (kind) {
	case CPROF_VALUE_INT:
	case CPROF_VALUE_UINT:
	case CPROF_VALUE_BOOL:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_FLOAT:
	case CPROF_VALUE_ENUM:
	case CPROF_VALUE_POINTER:
		return 1;
	case CPROF_VALUE_INT128:
	case CPROF_VALUE_UINT128:
		return 2;
	default:
		return cp_record_is_text(kind);
	}
}

static void forget(struct cp_record_calls *c)
{
	size_t i;

	for (i = 0; i < CP_CALL_COLUMNS; i++)
		c->columns[i].count = 0;
	for (i = 0; i < c->layouts.count; i++)
		cp_vec_free(&c->layouts.items[i].data);
	c->layouts.count = c->nodes.count = c->count = 0;
	c->wide = false;
	c->last_layout = 0;
	memset(c->heap_layouts, 0, sizeof(c->heap_layouts));
	cp_interner_free(&c->layout_keys);
	cp_interner_free(&c->texts);
	cp_record_call_state_free(&c->state);
}

void cp_record_calls_free(struct cp_record_encoder *e)
{
	struct cp_record_calls *c = &e->calls;
	size_t i;

	forget(c);
	for (i = 0; i < CP_CALL_COLUMNS; i++)
		cp_vec_free(&c->columns[i]);
	cp_vec_free(&c->layouts);
	cp_vec_free(&c->nodes);
	cp_vec_free(&c->key);
	cp_vec_free(&c->numbers);
	cp_vec_free(&c->queue);
	cp_vec_free(&c->depths);
}

/* ---- values ---- */

static bool put_text_number(struct cp_record_encoder *e, const char *bytes, size_t size)
{
	struct cp_record_calls *c = &e->calls;
	uint32_t number;
	bool fresh;

	if (size > c->text_left)
		size = c->text_left; /* a symbol, no text of the program */
	c->text_left -= size;
	if (!cp_intern(&c->texts, bytes, size, &number, &fresh))
		return false;
	e->pending += fresh ? size + CP_RECORD_NUMBER_MAX : 0;
	return cp_vec_push(&c->numbers, number);
}

/* Short for short fractions: their low bytes are 0. */
static uint64_t float_number(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return __builtin_bswap64(bits);
}

static bool put_numbers(struct cp_record_encoder *e, const cprof_value *v, unsigned kind,
			unsigned flags)
{
	struct cp_record_calls *c = &e->calls;
	bool ok = true;

	if (cp_record_is_text(kind))
		ok = put_text_number(e, v->u.text.bytes, v->u.text.length);
	else if (kind == CPROF_VALUE_FLOAT)
		ok = cp_vec_push(&c->numbers, float_number(v->u.f));
	else if (cp_record_value_numbers(kind))
		ok = cp_vec_push(&c->numbers, v->u.wide[0]);
	if (cp_record_value_numbers(kind) == 2)
		ok = ok && cp_vec_push(&c->numbers, v->u.wide[1]);
	if (flags & CP_NODE_HAS_ADDRESS)
		ok = ok && cp_vec_push(&c->numbers, v->address);
	if (flags & CP_NODE_HAS_SYMBOL)
		ok = ok && put_text_number(e, v->symbol, strlen(v->symbol));
	return ok;
}

static uint64_t shape(struct cp_record_encoder *e, const cprof_value *v, unsigned kind,
		      unsigned error)
{
	uint64_t values[] = {
		[CP_SHAPE_KIND] = kind,
		[CP_SHAPE_FLAGS] =
			(v->source & 15u) | (error & 15u) << 4 | (uint64_t)v->guessed << 8,
		[CP_SHAPE_SIZE] = v->size,
		[CP_SHAPE_NAME] = v->name && *v->name ? cp_record_encode_string(e, v->name) : 0,
		[CP_SHAPE_TYPE] = v->type && *v->type ? cp_record_encode_string(e, v->type) : 0,
	};

	return cp_record_encode_shape(e, values);
}

static bool put_node(struct cp_record_encoder *e, const cprof_value *v, unsigned depth)
{
	struct cp_record_calls *c = &e->calls;
	unsigned kind = v->kind <= CPROF_VALUE_VOID ? v->kind : CPROF_VALUE_ERROR;
	unsigned error = v->error, flags = v->cut ? CP_NODE_CUT : 0;
	uint32_t count = cp_record_has_items(kind) && v->items ? v->count : 0, i;
	uint64_t row;

	if (v->kind > CPROF_VALUE_VOID)
		error = CPROF_VALUE_UNAVAILABLE;
	if (count &&
	    (depth >= CP_RECORD_VALUE_DEPTH || count > CP_RECORD_VALUES_MAX - c->queue.count)) {
		count = 0;
		kind = CPROF_VALUE_ERROR;
		error = CPROF_VALUE_TOO_DEEP;
	}
	if (cp_record_is_text(kind) && v->u.text.length > c->text_left) {
		kind = CPROF_VALUE_ERROR;
		error = CPROF_VALUE_TOO_DEEP;
	}
	if (v->entry)
		flags |= CP_NODE_ENTRY;
	if (v->address)
		flags |= CP_NODE_HAS_ADDRESS;
	if (v->symbol && kind != CPROF_VALUE_ERROR)
		flags |= CP_NODE_HAS_SYMBOL;
	row = shape(e, v, kind, error);
	for (i = 0; i < count; i++) {
		if (!cp_vec_push(&c->queue, &v->items[i]) ||
		    !cp_vec_push(&c->depths, (uint8_t)(depth + 1)))
			return false;
	}
	return row && cp_vec_push(&c->key, row - 1) && cp_vec_push(&c->key, count) &&
	       cp_vec_push(&c->key, flags) && cp_vec_push(&c->key, v->repeats) &&
	       put_numbers(e, v, kind, flags);
}

/* The call's values into c->key and c->numbers. Rows may be written on the
 * way, and with them the chunk so far; it is the next one's layout then. */
static bool put_values(struct cp_record_encoder *e, const struct cp_record_call *call)
{
	struct cp_record_calls *c = &e->calls;
	uint32_t count = call->value_count, roles = call->result_count & 1, i;
	size_t chunk;

	if (count > CP_RECORD_VALUES_MAX)
		count = CP_RECORD_VALUES_MAX;
	else if (call->changed_count <= count - (count ? roles : 0))
		roles |= call->changed_count << 1;
	do {
		chunk = c->count;
		c->text_left = CP_RECORD_VALUES_TEXT;
		c->key.count = c->numbers.count = c->queue.count = c->depths.count = 0;
		if (!cp_vec_push(&c->key, count) || !cp_vec_push(&c->key, roles))
			return false;
		for (i = 0; i < count; i++) {
			if (!cp_vec_push(&c->queue, &call->values[i]) ||
			    !cp_vec_push(&c->depths, 0))
				return false;
		}
		for (i = 0; i < c->queue.count; i++) {
			if (!put_node(e, c->queue.items[i], c->depths.items[i]))
				return false;
		}
	} while (chunk && !c->count); /* texts got numbers of a chunk that is gone */
	return true;
}

static bool new_layout(struct cp_record_calls *c)
{
	struct cp_record_layout layout = {
		.first_node = c->nodes.count,
		.nodes = c->key.count / CP_NODE_WIDTH,
		.roots = (uint32_t)c->key.items[0],
		.roles = (uint32_t)c->key.items[1],
		.width = (uint32_t)c->numbers.count,
	};
	size_t size = layout.nodes * CP_NODE_WIDTH;

	if (!cp_vec_reserve(&c->nodes, c->nodes.count + size) || !cp_vec_push(&c->layouts, layout))
		return false;
	memcpy(c->nodes.items + c->nodes.count, c->key.items + 2, size * sizeof(*c->nodes.items));
	c->nodes.count += size;
	return true;
}

/* The layout + 1 of what was put as c->key and c->numbers; 0 without memory. */
static uint64_t put_layout(struct cp_record_encoder *e)
{
	struct cp_record_calls *c = &e->calls;
	struct cp_record_layout *layout;
	uint32_t number;
	bool fresh;

	if (!cp_intern(&c->layout_keys, c->key.items, c->key.count * sizeof(*c->key.items), &number,
		       &fresh) ||
	    (fresh && !new_layout(c)))
		return 0;
	layout = &c->layouts.items[number];
	if (!cp_vec_reserve(&layout->data, layout->data.count + c->numbers.count))
		return 0;
	if (c->numbers.count)
		memcpy(layout->data.items + layout->data.count, c->numbers.items,
		       c->numbers.count * sizeof(*c->numbers.items));
	layout->data.count += c->numbers.count;
	e->pending += ((fresh ? c->key.count : 0) + c->numbers.count) * CP_RECORD_NUMBER_MAX;
	return (uint64_t)number + 1;
}

/* ---- events ---- */

static uint64_t extra(const struct cp_record_call *call)
{
	uint64_t uncertain;

	if (cp_record_kind_has_stack(call->kind))
		return call->stack == CP_RECORD_NONE ? 0 : (uint64_t)call->stack + 1;
	switch (call->kind) {
	case CP_RECORD_LEAVE:
	case CP_RECORD_UNWIND:
		return call->uncertain_ns;
	case CP_RECORD_TAIL_CALL:
		uncertain = call->uncertain_ns < UINT32_MAX ? call->uncertain_ns : UINT32_MAX;
		return (call->target == CP_RECORD_NONE ? 0 : (uint64_t)call->target + 1) |
		       uncertain << 32;
	case CP_RECORD_DISARMED:
		return call->count;
	case CP_RECORD_INHERITED:
		return call->entered_by == CP_RECORD_NONE ? 0 : (uint64_t)call->entered_by + 1;
	case CP_RECORD_CATCH:
		return call->count == CP_RECORD_NONE ? 0 : (uint64_t)call->count + 1;
	default:
		return 0;
	}
}

/* The invoker of an ENTER. */
static uint64_t invoker(const struct cp_record_call *call)
{
	if (CP_RECORD_CALL_INVOKER(call->flags) == CPROF_INVOKER_SIGNAL)
		return call->count;
	return call->target == CP_RECORD_NONE ? 0 : (uint64_t)call->target + 1;
}

static bool put_event(struct cp_record_calls *c, const struct cp_record_call *call, uint64_t layout)
{
	const struct cp_record_call_frame *left =
		cp_record_call_left(&c->state, call->thread, call->depth, call->kind);
	uint32_t depth = cp_record_call_depth(&c->state, call->thread, call->kind);
	bool begins = call->kind == CP_RECORD_ENTER || call->kind == CP_RECORD_INHERITED;
	const uint64_t row[CP_CALL_COLUMNS] = {
		[CP_CALL_TS] = call->ts_ns,
		[CP_CALL_HOW] = cp_record_call_how(call->kind, call->flags),
		[CP_CALL_THREAD] = call->thread,
		[CP_CALL_DEPTH] = cp_record_zigzag((uint64_t)call->depth - depth),
		[CP_CALL_FUNCTION] =
			left && left->function == call->function ? 0 : (uint64_t)call->function + 1,
		[CP_CALL_LAYOUT] = layout,
		[CP_CALL_EXTRA] = extra(call),
		[CP_CALL_DURATION] = cp_record_zigzag(call->duration_ns -
						      (left ? call->ts_ns - left->ts_ns : 0)),
		[CP_CALL_OVERHEAD] =
			call->kind == CP_RECORD_ENTER ? invoker(call) : call->overhead_ns,
		[CP_CALL_CPU] = begins ? call->on_stack : call->cpu_ns,
	};
	size_t i;

	for (i = 0; i < CP_CALL_COLUMNS; i++) {
		if (!cp_vec_push(&c->columns[i], row[i]))
			return false;
	}
	c->count++;
	c->wide |= call->kind >= CP_CALL_KINDS_NARROW;
	return cp_record_call_step(&c->state, call);
}

void cp_record_encode_call(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_call *call)
{
	struct cp_record_calls *c = &e->calls;
	uint64_t layout = 0;

	if (part != c->part && c->count)
		cp_record_encode_flush(e);
	if (cp_record_sink_failed(e->sink))
		return;
	cp_record_encode_use(e, CP_RECORD_THREADS, call->thread);
	cp_record_encode_use(e, CP_RECORD_LOCATIONS, call->function);
	if ((call->kind == CP_RECORD_TAIL_CALL || call->kind == CP_RECORD_ENTER) &&
	    call->target != CP_RECORD_NONE)
		cp_record_encode_use(e, CP_RECORD_LOCATIONS, call->target);
	if (call->kind == CP_RECORD_INHERITED && call->entered_by != CP_RECORD_NONE)
		cp_record_encode_use(e, CP_RECORD_THREADS, call->entered_by);
	if (cp_record_kind_has_stack(call->kind) && call->stack != CP_RECORD_NONE)
		cp_record_encode_use(e, CP_RECORD_STACKS, call->stack);
	if (call->value_count) {
		if (!cp_record_encode_ok(e, put_values(e, call)))
			return;
		layout = put_layout(e);
		if (!cp_record_encode_ok(e, layout != 0))
			return;
	}
	c->part = part;
	c->last_layout = layout;
	cp_record_encode_ok(e, put_event(c, call, layout));
	e->pending += CP_CALL_COLUMNS * CP_RECORD_NUMBER_MAX;
	cp_record_encode_check(e);
}

/* ---- the section ---- */

static void put_texts(struct cp_buf *out, const struct cp_interner *texts, uint64_t *column)
{
	size_t i;

	cp_buf_uleb(out, texts->count);
	for (i = 0; i < texts->count; i++)
		column[i] = texts->items[i].size;
	cp_record_put_column(out, column, texts->count);
	for (i = 0; i < texts->count; i++)
		cp_buf_add(out, texts->items[i].bytes, texts->items[i].size + 1);
}

static void put_layouts(struct cp_buf *out, const struct cp_record_calls *c, uint64_t *column)
{
	size_t n = c->layouts.count, nodes = c->nodes.count / CP_NODE_WIDTH, i, k;

	cp_buf_uleb(out, n);
	for (i = 0; i < n; i++)
		column[i] = c->layouts.items[i].nodes;
	cp_record_put_column(out, column, n);
	for (i = 0; i < n; i++)
		column[i] = c->layouts.items[i].roots;
	cp_record_put_column(out, column, n);
	for (i = 0; i < n; i++)
		column[i] = c->layouts.items[i].roles;
	cp_record_put_column(out, column, n);
	cp_buf_uleb(out, nodes);
	for (k = 0; k < CP_NODE_WIDTH; k++) {
		for (i = 0; i < nodes; i++)
			column[i] = c->nodes.items[i * CP_NODE_WIDTH + k];
		cp_record_put_column(out, column, nodes);
	}
}

static void put_data(struct cp_buf *out, const struct cp_record_layout *layout, uint64_t *column)
{
	struct cp_buf body = { 0 };
	size_t n, i, k;

	n = layout->width ? layout->data.count / layout->width : 0;
	for (k = 0; k < layout->width; k++) {
		for (i = 0; i < n; i++)
			column[i] = layout->data.items[i * layout->width + k];
		cp_record_put_column(&body, column, n);
	}
	cp_buf_uleb(out, body.size);
	cp_buf_add(out, body.bytes, body.size);
	out->failed |= body.failed;
	cp_buf_free(&body);
}

void cp_record_put_calls(struct cp_record_encoder *e)
{
	struct cp_record_calls *c = &e->calls;
	size_t most = c->count, i;
	uint64_t *column;

	if (!c->count)
		return;
	most = c->texts.count > most ? c->texts.count : most;
	most = c->nodes.count > most ? c->nodes.count : most;
	column = calloc(most + 1, sizeof(*column));
	if (cp_record_encode_ok(e, column)) {
		cp_buf_clear(&e->body);
		cp_buf_uleb(&e->body, c->part);
		cp_buf_uleb(&e->body, e->sink->calls);
		cp_buf_uleb(&e->body, c->count);
		for (i = 0; i < CP_CALL_COLUMNS; i++)
			cp_record_put_column(&e->body, c->columns[i].items, c->count);
		put_texts(&e->body, &c->texts, column);
		put_layouts(&e->body, c, column);
		for (i = 0; i < c->layouts.count; i++)
			put_data(&e->body, &c->layouts.items[i], column);
		cp_record_put_field(&e->payload, c->wide ? CP_RECORD_CALLS_WIDE : CP_RECORD_CALLS,
				    e->body.bytes, e->body.size);
		e->payload.failed |= e->body.failed;
		e->sample_bytes += e->body.size;
		e->sink->calls += c->count;
	}
	free(column);
	forget(c);
}
