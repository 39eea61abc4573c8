/* SPDX-License-Identifier: MIT
 *
 * Calls are many, so a loaded recording keeps the chunks that hold them as
 * they came, packed, and unpacks one at a time when somebody walks through
 * them. When one is loaded of which something is missing they are walked through
 * once, to count what can't be had: events whose thread or function was lost with
 * a chunk, and values whose names were.
 *
 * A section's numbers are at most its bytes, so nothing is allocated beyond a
 * fixed multiple of what was unpacked. Values take no bytes where there is
 * nothing to tell of them, so there is a budget for them besides.
 */
#include "record/call_decode.h"

#include <string.h>

#include "record/call_count.h"
#include "record/call_encode.h"
#include "record/kept.h"

struct text {
	const char *bytes;
	size_t size;
};

struct node {
	cprof_value value; /* what is the same in all of its values */
	unsigned flags;
	uint32_t column; /* of its first number, in the layout's */
};

struct layout {
	size_t first_node, nodes, uses, next; /* next: use */
	uint32_t roots, roles, width; /* roles: as encoded */
	size_t data; /* place of its numbers, those of one column together */
	size_t first_value; /* of its nodes, with what is the same in all uses */
	bool missing; /* the shape of one of its nodes is */
};

struct numbers {
	uint64_t *items;
	size_t count, capacity;
};

/* What becomes of values. */
enum values {
	TOLD,
	COUNTED, /* those that could not be told are, and whether they make sense is seen */
	PASSED_OVER
};

/* A walk through a recording's calls. */
struct walk {
	const struct cp_record *r;
	enum values told;
	struct cp_buf raw; /* a chunk, unpacked */
	size_t chunk; /* + 1; 0: none yet */
	/* the section */
	struct numbers columns, data;
	CP_VEC(struct text) texts;
	CP_VEC(struct layout) layouts;
	CP_VEC(struct node) nodes;
	size_t count;
	uint64_t budget; /* of nodes */
	struct cp_record_call_state state;
	/* the event */
	CP_VEC(cprof_value) values; /* of all layouts */
	uint64_t dropped; /* events or values */
	bool no_memory;
};

static bool keep(struct walk *w, bool ok)
{
	if (!ok)
		w->no_memory = true;
	return ok;
}

static void walk_free(struct walk *w)
{
	cp_buf_free(&w->raw);
	cp_vec_free(&w->columns);
	cp_vec_free(&w->data);
	cp_vec_free(&w->texts);
	cp_vec_free(&w->layouts);
	cp_vec_free(&w->nodes);
	cp_vec_free(&w->values);
	cp_record_call_state_free(&w->state);
}

/* ---- a section ---- */

/* `columns` columns of `count` numbers behind those in `to`. */
static bool get_columns(struct walk *w, struct cp_cursor *c, struct numbers *to, uint64_t count,
			size_t columns)
{
	size_t k;

	if (c->bad || (columns && count > cp_cursor_left(c) / columns))
		return false;
	if (!keep(w, cp_vec_reserve(to, to->count + (size_t)count * columns + 1)))
		return false;
	for (k = 0; k < columns; k++, to->count += (size_t)count)
		cp_record_get_column(c, to->items + to->count, (size_t)count);
	return !c->bad;
}

static bool get_texts(struct walk *w, struct cp_cursor *c)
{
	uint64_t count = cp_cursor_uleb(c), i;
	const char *bytes;

	w->data.count = 0;
	if (!get_columns(w, c, &w->data, count, 1) ||
	    !keep(w, cp_vec_reserve(&w->texts, (size_t)count + 1)))
		return false;
	for (i = 0; i < count; i++) {
		uint64_t size = w->data.items[i];

		bytes = size < cp_cursor_left(c) ? cp_cursor_bytes(c, (size_t)size + 1) : NULL;
		if (!bytes || bytes[size])
			return false;
		w->texts.items[w->texts.count++] = (struct text){ bytes, (size_t)size };
	}
	return true;
}

/* A value as a row of the shapes has it; false when the row is missing, or of a
 * later version. */
static bool get_shape(const struct walk *w, uint64_t number, cprof_value *value)
{
	uint64_t place = cp_record_place(&w->r->call_rows[CP_RECORD_SHAPES], number);

	if (place == CP_RECORD_MISSING)
		return false;
	*value = w->r->shapes.items[place];
	return value->kind <= CPROF_VALUE_VOID;
}

static bool bad_roles(uint64_t roles, uint64_t roots)
{
	return (roles & 1) + (roles >> 1) > roots;
}

/* The nodes of a layout, from four columns of `total`; false when they are
 * none. Each is an item of one before it, or a root. */
static bool get_nodes(struct walk *w, struct layout *layout, size_t first, size_t total)
{
	size_t end = layout->roots, i;
	uint32_t depth = 0, level_end = layout->roots;

	if (layout->nodes > CP_RECORD_VALUES_MAX || layout->roots > layout->nodes ||
	    bad_roles(layout->roles, layout->roots) || layout->nodes > total - first)
		return false;
	layout->first_node = w->nodes.count;
	for (i = 0; i < layout->nodes; i++) {
		const uint64_t *column = w->data.items + first + i;
		struct node node = { .flags = (unsigned)column[CP_NODE_FLAGS * total],
				     .column = layout->width };
		uint64_t items = column[CP_NODE_COUNT * total];

		if (i == level_end) {
			level_end = (uint32_t)end;
			depth++;
		}
		if (i >= end || items > layout->nodes - end || depth > CP_RECORD_VALUE_DEPTH)
			return false;
		end += (size_t)items;
		if (!get_shape(w, column[CP_NODE_SHAPE * total], &node.value))
			layout->missing = true;
		if (items && !layout->missing && !cp_record_has_items(node.value.kind))
			return false;
		node.value.count = (uint32_t)items;
		node.value.cut = node.flags & CP_NODE_CUT;
		node.value.entry = node.flags & CP_NODE_ENTRY;
		node.value.repeats = (uint32_t)column[CP_NODE_REPEATS * total];
		layout->width += cp_record_value_numbers(node.value.kind) +
				 !!(node.flags & CP_NODE_HAS_ADDRESS) +
				 !!(node.flags & CP_NODE_HAS_SYMBOL);
		if (!keep(w, cp_vec_push(&w->nodes, node)))
			return false;
	}
	return end == layout->nodes;
}

static bool get_layouts(struct walk *w, struct cp_cursor *c)
{
	uint64_t count = cp_cursor_uleb(c), total, i;
	size_t first = 0, at;

	w->data.count = 0;
	if (!get_columns(w, c, &w->data, count, 3) ||
	    !keep(w, cp_vec_reserve(&w->layouts, (size_t)count + 1)))
		return false;
	for (i = 0; i < count; i++) {
		uint64_t nodes = w->data.items[i], roots = w->data.items[count + i];
		uint64_t roles = w->data.items[2 * count + i];

		if (nodes > CP_RECORD_VALUES_MAX || roots > nodes || bad_roles(roles, roots))
			return false;
		w->layouts.items[w->layouts.count++] = (struct layout){ .nodes = (size_t)nodes,
									.roots = (uint32_t)roots,
									.roles = (uint32_t)roles };
	}
	total = cp_cursor_uleb(c);
	w->data.count = 0;
	if (!get_columns(w, c, &w->data, total, CP_NODE_WIDTH))
		return false;
	for (at = 0; at < w->layouts.count; at++) {
		if (!get_nodes(w, &w->layouts.items[at], first, (size_t)total))
			return false;
		first += w->layouts.items[at].nodes;
	}
	return true;
}

/* Goes behind columns; false when they make no sense. */
static bool pass_columns(struct cp_cursor *c, uint64_t count, size_t columns)
{
	if (c->bad || (columns && count > cp_cursor_left(c) / columns))
		return false;
	while (columns--)
		cp_record_pass_column(c, (size_t)count);
	return !c->bad;
}

static bool get_numbers(struct walk *w, struct layout *layout, struct cp_cursor *c)
{
	layout->data = w->data.count;
	if (layout->missing)
		return true;
	return w->told == TOLD ? get_columns(w, c, &w->data, layout->uses, layout->width)
			       : pass_columns(c, layout->uses, layout->width);
}

/* How often each layout is used, and the numbers of those uses. */
static bool get_data(struct walk *w, struct cp_cursor *c)
{
	const uint64_t *uses = w->columns.items + CP_CALL_LAYOUT * w->count;
	size_t i;

	for (i = 0; i < w->count; i++) {
		if (uses[i] > w->layouts.count)
			return false;
		if (uses[i])
			w->layouts.items[uses[i] - 1].uses++;
	}
	w->data.count = 0;
	for (i = 0; i < w->layouts.count; i++) {
		struct layout *layout = &w->layouts.items[i];
		uint64_t size = cp_cursor_uleb(c);
		struct cp_cursor body;

		if (c->bad || size > cp_cursor_left(c))
			return false;
		body = cp_cursor(cp_cursor_bytes(c, (size_t)size), (size_t)size);
		if (!get_numbers(w, layout, &body))
			return false;
	}
	return !c->bad;
}

/* What is the same in all uses of a layout; there is room. */
static void put_values(struct walk *w, struct layout *layout)
{
	cprof_value *values = w->values.items + w->values.count;
	size_t items = layout->roots, i;

	layout->first_value = w->values.count;
	for (i = 0; i < layout->nodes; i++) {
		values[i] = w->nodes.items[layout->first_node + i].value;
		values[i].items = values[i].count ? values + items : NULL;
		items += values[i].count;
	}
	w->values.count += layout->nodes;
}

static bool prepare_values(struct walk *w)
{
	struct layout *layout;

	w->values.count = 0;
	if (w->told != TOLD)
		return true;
	if (!keep(w, cp_vec_reserve(&w->values, w->nodes.count + 1)))
		return false;
	cp_vec_for_each(&w->layouts, layout)
		if (!layout->missing)
			put_values(w, layout);
	return true;
}

static bool get_section(struct walk *w, const struct cp_record_call_section *section)
{
	struct cp_cursor c = cp_cursor(w->raw.bytes + section->offset, section->size);

	w->columns.count = w->texts.count = w->layouts.count = w->nodes.count = 0;
	w->count = section->count;
	w->budget = cp_record_call_budget(section->size);
	cp_record_call_state_free(&w->state);
	if (!get_columns(w, &c, &w->columns, w->count, CP_CALL_COLUMNS))
		return false;
	return w->told == PASSED_OVER ||
	       (get_texts(w, &c) && get_layouts(w, &c) && get_data(w, &c) && prepare_values(w));
}

/* ---- an event ---- */

static bool text_of(const struct walk *w, uint64_t number, struct text *ret)
{
	if (number >= w->texts.count)
		return false;
	*ret = w->texts.items[number];
	return true;
}

static void no_value(cprof_value *v)
{
	v->kind = CPROF_VALUE_ERROR;
	v->error = CPROF_VALUE_UNAVAILABLE;
}

/* Fills in a value of a node whose numbers are `step` apart. What it has of the use before is
 * written over. */
static void fill_value(const struct walk *w, const struct node *node, const uint64_t *numbers,
		       size_t step, cprof_value *v)
{
	unsigned count = cp_record_value_numbers(node->value.kind);
	struct text text;
	uint64_t bits;

	if (cp_record_is_text(node->value.kind)) {
		*v = node->value; /* it may have become no value */
		if (text_of(w, *numbers, &text)) {
			v->u.text.bytes = text.bytes;
			v->u.text.length = (uint32_t)text.size;
		} else {
			no_value(v);
		}
	} else if (node->value.kind == CPROF_VALUE_FLOAT) {
		bits = __builtin_bswap64(*numbers);
		memcpy(&v->u.f, &bits, sizeof(bits));
	} else if (count) {
		v->u.wide[0] = *numbers;
		v->u.wide[1] = count > 1 ? numbers[step] : 0;
	}
	numbers += count * step;
	if (node->flags & CP_NODE_HAS_ADDRESS) {
		v->address = *numbers;
		numbers += step;
	}
	if (node->flags & CP_NODE_HAS_SYMBOL)
		v->symbol = text_of(w, *numbers, &text) ? text.bytes : node->value.symbol;
}

/* The values of one use of a layout. */
static bool get_values(struct walk *w, struct layout *layout, struct cp_record_call *call)
{
	size_t use = layout->next++, i;
	cprof_value *values;

	if (layout->missing || layout->nodes > w->budget) {
		w->dropped++;
		return true;
	}
	w->budget -= layout->nodes;
	if (w->told == COUNTED)
		return true;
	values = w->values.items + layout->first_value;
	for (i = 0; i < layout->nodes; i++) {
		const struct node *node = &w->nodes.items[layout->first_node + i];

		fill_value(w, node,
			   w->data.items + layout->data + node->column * layout->uses + use,
			   layout->uses, &values[i]);
	}
	call->values = values;
	call->value_count = layout->roots;
	call->result_count = layout->roles & 1;
	call->changed_count = layout->roles >> 1;
	return true;
}

static uint32_t reference(uint64_t column)
{
	return column && column <= CP_RECORD_NONE ? (uint32_t)(column - 1) : CP_RECORD_NONE;
}

/* The column of overheads has an ENTER's invoker. */
static void get_invoker(struct cp_record_call *call)
{
	uint64_t by = call->overhead_ns;

	call->overhead_ns = 0;
	if (CP_RECORD_CALL_INVOKER(call->flags) == CPROF_INVOKER_SIGNAL)
		call->count = (uint32_t)by;
	else
		call->target = reference(by);
}

static void get_extra(struct cp_record_call *call, uint64_t extra)
{
	call->target = call->stack = call->entered_by = CP_RECORD_NONE;
	if (call->kind == CP_RECORD_ENTER)
		get_invoker(call);
	if (cp_record_kind_has_stack(call->kind))
		call->stack = reference(extra);
	else if (call->kind == CP_RECORD_TAIL_CALL)
		call->target = reference((uint32_t)extra);
	else if (call->kind == CP_RECORD_DISARMED)
		call->count = (uint32_t)extra;
	else if (call->kind == CP_RECORD_CATCH)
		call->count = reference(extra);
	else if (call->kind == CP_RECORD_INHERITED)
		call->entered_by = reference(extra);
	if (call->kind == CP_RECORD_LEAVE || call->kind == CP_RECORD_UNWIND)
		call->uncertain_ns = extra;
	else if (call->kind == CP_RECORD_TAIL_CALL)
		call->uncertain_ns = extra >> 32;
}

/* Event `i`, with numbers of the file; false without memory. */
static bool get_event(struct walk *w, size_t i, struct cp_record_call *call)
{
	const uint64_t *column = w->columns.items + i, n = w->count;
	uint64_t function = column[CP_CALL_FUNCTION * n];
	uint64_t kind = cp_record_call_kind(column[CP_CALL_HOW * n]);
	const struct cp_record_call_frame *left;

	*call = (struct cp_record_call){
		.ts_ns = column[CP_CALL_TS * n],
		.kind = kind < CP_RECORD_CALL_KINDS ? (uint8_t)kind : CP_RECORD_CALL_KINDS,
		.flags = (uint8_t)(column[CP_CALL_HOW * n] >> CP_CALL_KIND_BITS),
		.thread = column[CP_CALL_THREAD * n] < CP_RECORD_NONE
				  ? (uint32_t)column[CP_CALL_THREAD * n]
				  : CP_RECORD_NONE,
		.overhead_ns = column[CP_CALL_OVERHEAD * n],
		.cpu_ns = column[CP_CALL_CPU * n],
	};
	if (kind == CP_RECORD_ENTER || kind == CP_RECORD_INHERITED) {
		call->on_stack = call->cpu_ns < CP_RECORD_NONE ? (uint32_t)call->cpu_ns : 0;
		call->cpu_ns = 0;
	}
	call->depth = cp_record_call_depth(&w->state, call->thread, call->kind);
	call->depth += (uint32_t)cp_record_unzigzag(column[CP_CALL_DEPTH * n]);
	left = cp_record_call_left(&w->state, call->thread, call->depth, call->kind);
	call->function = !function && left ? left->function : reference(function);
	call->duration_ns = cp_record_unzigzag(column[CP_CALL_DURATION * n]) +
			    (left ? call->ts_ns - left->ts_ns : 0);
	get_extra(call, column[CP_CALL_EXTRA * n]);
	return keep(w, cp_record_call_step(&w->state, call));
}

enum step { NEXT, STOP, BROKEN };

/* Event `i` of the section that was got; NEXT and no kind: it can't be told. */
static enum step tell(struct walk *w, size_t i, struct cp_record_call *call)
{
	uint64_t layout =
		w->told == PASSED_OVER ? 0 : w->columns.items[CP_CALL_LAYOUT * w->count + i];

	if (!get_event(w, i, call) ||
	    (layout && !get_values(w, &w->layouts.items[layout - 1], call)))
		return BROKEN;
	if (!cp_record_call_resolve(w->r, call)) {
		w->dropped++;
		call->kind = CP_RECORD_CALL_KINDS;
	}
	return NEXT;
}

static enum step walk_section(struct walk *w, const struct cp_record_call_section *section,
			      cp_record_call_fn each, void *ctx)
{
	struct cp_record_call call;
	size_t i;

	if (!get_section(w, section))
		return BROKEN;
	for (i = 0; i < w->count; i++) {
		if (tell(w, i, &call) == BROKEN)
			return BROKEN;
		if (call.kind < CP_RECORD_CALL_KINDS && !each(ctx, &call))
			return STOP;
	}
	return NEXT;
}

/* ---- all of them ---- */

static bool load_chunk(struct walk *w, size_t n)
{
	bool no_memory = false;

	if (w->chunk == n + 1)
		return true;
	w->chunk = 0;
	if (!cp_record_unpack_kept(w->r, n, &w->raw, &no_memory))
		return keep(w, !no_memory) && false;
	w->chunk = n + 1;
	return true;
}

struct cp_call_sections {
	struct walk walk;
	uint32_t part;
	size_t section, event; /* the next */
	struct cp_record_call call;
};

struct cp_call_sections *cp_call_sections_open(const struct cp_record *r, uint32_t part,
					       bool values)
{
	struct cp_call_sections *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->walk.r = r;
	s->walk.told = values ? TOLD : PASSED_OVER;
	s->part = part;
	return s;
}

/* Goes to the next section; false: there is none, or no memory. Broken ones were left out
 * when the recording was loaded. */
static bool next_section(struct cp_call_sections *s)
{
	const struct cp_record_call_section *section;

	for (;;) {
		if (s->section == s->walk.r->call_sections.count || s->walk.no_memory)
			return false;
		section = &s->walk.r->call_sections.items[s->section++];
		s->event = 0;
		if ((s->part == CP_RECORD_NONE || section->part == s->part) &&
		    load_chunk(&s->walk, section->chunk) && get_section(&s->walk, section))
			return true;
	}
}

bool cp_call_sections_next(struct cp_call_sections *s, const struct cp_record_call **ret,
			   bool *no_memory_ret)
{
	*no_memory_ret = false;
	for (;;) {
		if (s->event == s->walk.count && !next_section(s))
			break;
		if (s->event == s->walk.count)
			continue;
		if (tell(&s->walk, s->event++, &s->call) == BROKEN) {
			s->event = s->walk.count;
			continue;
		}
		if (s->call.kind < CP_RECORD_CALL_KINDS) {
			*ret = &s->call;
			return true;
		}
	}
	*no_memory_ret = s->walk.no_memory;
	return false;
}

const struct cp_buf *cp_call_sections_raw(const struct cp_call_sections *s, size_t chunk)
{
	return s->walk.chunk == chunk + 1 ? &s->walk.raw : NULL;
}

void cp_call_sections_close(struct cp_call_sections *s)
{
	if (s)
		walk_free(&s->walk);
	free(s);
}

/* ---- loading ---- */

bool cp_record_decode_calls(struct cp_record_decoder *d, struct cp_cursor *c)
{
	struct cp_record *r = d->record;
	uint64_t part = cp_cursor_uleb(c), first = cp_cursor_uleb(c), count = cp_cursor_uleb(c);
	struct cp_record_call_section section = {
		.chunk = r->call_chunks.count, /* which comes when all of it is read */
		.part = (uint32_t)part,
		.count = (size_t)count,
		.offset = (size_t)(c->at - d->payload),
		.size = cp_cursor_left(c),
	};

	if (c->bad || part >= CP_RECORD_PARTS_MAX || count > section.size / CP_CALL_COLUMNS)
		return false;
	if (first > d->next_call)
		r->own.lost += first - d->next_call;
	d->next_call = first + count;
	if (!d->only_calls)
		cp_record_count_section(d, *c, &section);
	if (!cp_vec_push(&r->call_sections, section)) {
		d->no_memory = true;
		return false;
	}
	return true;
}

/* Is the last of such sections in the chunk that is being read? */
#define IS_IN_LAST(r, sections) \
	((r)->sections.count && \
	 (r)->sections.items[(r)->sections.count - 1].chunk == (r)->call_chunks.count)

bool cp_record_keep_calls(struct cp_record_decoder *d, const struct cp_record_chunk *chunk,
			  const uint8_t *payload, uint64_t offset)
{
	struct cp_record *r = d->record;

	if (!IS_IN_LAST(r, call_sections) && !IS_IN_LAST(r, call_blocks) &&
	    !IS_IN_LAST(r, sample_sections))
		return true; /* has none */
	d->no_memory |= !cp_record_keep_chunk(r, chunk, payload, offset);
	return !d->no_memory;
}

/* Those that are not there so far. */
static bool build_shapes(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	const struct cp_record_rows *rows = &d->rows[CP_RECORD_SHAPES];
	size_t width = cp_record_schemas[CP_RECORD_SHAPES].width, i;

	if (!cp_vec_reserve(&r->shapes, rows->count + 1))
		return false;
	for (i = r->shapes.count; i < rows->count; i++) {
		const uint64_t *v = rows->values.items + i * width;
		uint64_t flags = v[CP_SHAPE_FLAGS], name = v[CP_SHAPE_NAME];
		cprof_value value = {
			.kind = (uint8_t)v[CP_SHAPE_KIND],
			.source = flags & 15,
			.error = flags >> 4 & 15,
			.guessed = flags >> 8 & 1,
			.size = (uint8_t)v[CP_SHAPE_SIZE],
			.name = name ? d->strings.items[name - 1] : "",
			.type = v[CP_SHAPE_TYPE] ? d->strings.items[v[CP_SHAPE_TYPE] - 1] : "",
		};

		if (v[CP_SHAPE_KIND] > CPROF_VALUE_VOID)
			value.kind = UINT8_MAX;
		r->shapes.items[r->shapes.count++] = value;
	}
	return true;
}

struct tally {
	uint64_t count, by_family[CP_RECORD_CALL_FAMILIES], end_ns;
	enum cp_record_call_family disarmed; /* what functions that are disarmed count as */
};

/* Without calls, what else there is. */
static enum cp_record_call_family family_of_disarmed(uint32_t holds)
{
	static const uint32_t of[] = { [CP_RECORD_OF_CALLS] = CP_RECORD_HAS_CALLS,
				       [CP_RECORD_OF_EXCEPTIONS] = CP_RECORD_HAS_EXCEPTIONS,
				       [CP_RECORD_OF_LOCKS] = CP_RECORD_HAS_LOCKS,
				       [CP_RECORD_OF_HEAP] = CP_RECORD_HAS_ALLOCATIONS };
	size_t i;

	if (holds & CP_RECORD_HAS_CALL_SUMS)
		return CP_RECORD_OF_CALLS;

	for (i = 0; i < CP_ARRAY_SIZE(of); i++)
		if (holds & of[i])
			return (enum cp_record_call_family)i;
	return CP_RECORD_OF_MAPS;
}

static bool count_call(void *ctx, const struct cp_record_call *call)
{
	struct tally *tally = ctx;

	tally->count++;
	tally->by_family[call->kind == CP_RECORD_DISARMED ? tally->disarmed
							  : cp_record_kind_family(call->kind)]++;
	if (call->ts_ns > tally->end_ns)
		tally->end_ns = call->ts_ns;
	return true;
}

/* Walks through all sections; those that make no sense go. */
static bool count_calls(struct cp_record *r)
{
	struct tally tally = { .end_ns = r->calls_end_ns,
			       .disarmed = family_of_disarmed(r->info.holds) };
	struct walk w = { .r = r, .told = COUNTED };
	size_t i, kept = 0;

	for (i = 0; i < r->call_sections.count && !w.no_memory; i++) {
		struct cp_record_call_section *section = &r->call_sections.items[i];
		uint64_t dropped = w.dropped;
		struct tally before = tally;

		if (load_chunk(&w, section->chunk) &&
		    walk_section(&w, section, count_call, &tally) != BROKEN) {
			section->kept = (size_t)(tally.count - before.count);
			r->call_sections.items[kept++] = *section;
			continue;
		}
		tally = before;
		w.dropped = dropped;
		r->own.bad_chunks++;
		r->own.lost += section->count;
	}
	r->call_sections.count = kept;
	r->own.dropped += w.dropped;
	memcpy(r->call_counts, tally.by_family, sizeof(r->call_counts));
	r->calls_end_ns = tally.end_ns;
	walk_free(&w);
	return !w.no_memory;
}

/* Those whose numbers calls have. */
static const uint8_t tables[] = { CP_RECORD_THREADS, CP_RECORD_LOCATIONS, CP_RECORD_STACKS,
				  CP_RECORD_SHAPES };

bool cp_record_build_calls_so_far(struct cp_record_decoder *d)
{
	size_t i;

	/* No chunk is missing, so each row has its number's place. */
	for (i = 0; i < CP_ARRAY_SIZE(tables); i++)
		d->record->call_rows[tables[i]].direct = d->rows[tables[i]].direct;
	return build_shapes(d);
}

bool cp_record_build_calls(struct cp_record_decoder *d, bool whole)
{
	struct cp_record *r = d->record;
	size_t i;

	if (!r->call_sections.count && !r->call_blocks.count && !r->sample_sections.count)
		return true;
	if (!build_shapes(d))
		return false;
	for (i = 0; i < CP_ARRAY_SIZE(tables); i++) { /* what tells places from numbers */
		struct cp_record_rows *from = &d->rows[tables[i]], *to = &r->call_rows[tables[i]];

		to->direct = from->direct;
		to->places = from->places;
		from->places = (struct cp_map){ 0 };
		from->direct = 0;
	}
	return (whole && cp_record_believe_sections(r, family_of_disarmed(r->info.holds))) ||
	       count_calls(r);
}

void cp_record_free_calls(struct cp_record *r)
{
	size_t t;

	cp_record_free_kept(r);
	cp_vec_free(&r->call_sections);
	cp_vec_free(&r->call_blocks);
	cp_vec_free(&r->shapes);
	for (t = 0; t < CP_RECORD_TABLE_END; t++)
		cp_map_free(&r->call_rows[t].places);
}
