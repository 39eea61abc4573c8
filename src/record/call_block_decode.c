/* SPDX-License-Identifier: MIT */
#include "record/call_block_decode.h"

#include "record/decoder.h"
#include "record/reader.h"

/* ---- a block ---- */

static bool get_header(struct cp_cursor *c, struct cp_call_block *ret)
{
	uint64_t thread = cp_cursor_uleb(c), count = cp_cursor_uleb(c), depth = cp_cursor_uleb(c);

	ret->start_ns = cp_cursor_uleb(c);
	ret->costs.own_ps = (uint32_t)cp_cursor_uleb(c);
	ret->costs.inner_ps = (uint32_t)cp_cursor_uleb(c);
	ret->costs.own_doubt_ps = (uint32_t)cp_cursor_uleb(c);
	ret->costs.inner_doubt_ps = (uint32_t)cp_cursor_uleb(c);
	/* An event takes a byte at least. */
	if (c->bad || thread >= CP_RECORD_NONE || depth >= CP_RECORD_NONE ||
	    count > cp_cursor_left(c) || count > CP_CALL_BLOCK_EVENTS)
		return false;
	ret->thread = (uint32_t)thread;
	ret->count = (uint32_t)count;
	ret->depth = (uint32_t)depth;
	return true;
}

bool cp_call_block_open(struct cp_call_block_reader *r, const void *bytes, size_t size)
{
	r->c = cp_cursor(bytes, size);
	r->left = 0;
	if (!get_header(&r->c, &r->block))
		return false;
	r->left = r->block.count;
	r->depth = r->block.depth;
	r->units = 0;
	r->number++;
	r->has_values = false;
	r->blank = NULL;
	cp_call_form_begin(&r->forms);
	return true;
}

/* NULL: none is known at that depth. */
static inline struct cp_call_open *known(struct cp_call_block_reader *r, uint32_t depth)
{
	struct cp_call_open *frame = depth < r->frames.count ? &r->frames.items[depth] : NULL;

	return frame && frame->function && frame->block == r->number ? frame : NULL;
}

/* `callees`: place + 1 of its own; 0: not looked up. False without memory. */
static inline bool opened(struct cp_call_block_reader *r, const struct cp_record_call *call,
			  uint32_t callees)
{
	r->depth = call->depth + 1;
	if (call->depth >= CP_CALL_BLOCK_DEPTH)
		return true;
	while (r->frames.count <= call->depth)
		if (!cp_vec_push(&r->frames, (struct cp_call_open){ 0 }))
			return false;
	r->frames.items[call->depth] = (struct cp_call_open){ .ts_ns = call->ts_ns,
							      .function = call->function + 1,
							      .callees = callees,
							      .block = r->number };
	return true;
}

static inline void settle(const struct cp_call_costs *costs, uint64_t inner, uint64_t duration_ns,
			  uint64_t *overhead_ret, uint64_t *uncertain_ret)
{
	uint64_t certain = (costs->own_ps + inner * costs->inner_ps) / 1000,
		 more = (costs->own_doubt_ps + inner * costs->inner_doubt_ps) / 1000, rest;

	if (certain >= duration_ns) {
		*overhead_ret = duration_ns;
		*uncertain_ret = more > 0;
		return;
	}
	rest = duration_ns - certain;
	more = more < rest ? more : rest;
	if (more / 2 <= (rest - more / 2) / 10) {
		certain += more / 2;
		more = 0;
	}
	*overhead_ret = certain;
	*uncertain_ret = more;
}

void cp_call_settle(const struct cp_call_costs *costs, uint64_t inner, uint64_t duration_ns,
		    uint64_t *overhead_ret, uint64_t *uncertain_ret)
{
	settle(costs, inner, duration_ns, overhead_ret, uncertain_ret);
}

static inline void closed(struct cp_call_block_reader *r, struct cp_record_call *call,
			  uint64_t inner)
{
	const struct cp_call_costs *costs = &r->block.costs;

	r->depth = call->depth;
	if (call->depth < r->frames.count)
		r->frames.items[call->depth].function = 0;
	if (call->depth && known(r, call->depth - 1))
		r->frames.items[call->depth - 1].inner += inner + 1;
	settle(costs, inner, call->duration_ns, &call->overhead_ns, &call->uncertain_ns);
}

/* The place of a function's callees, + 1; 0 without memory. */
static uint32_t find_place(struct cp_call_block_reader *r, uint32_t function)
{
	const uint64_t *place = cp_map_get(&r->places, function);

	if (place)
		return (uint32_t)*place;
	if (r->callees.count >= CP_RECORD_NONE ||
	    !cp_vec_push(&r->callees, (struct cp_call_known){ 0 }) ||
	    !cp_map_put(&r->places, function, r->callees.count))
		return 0;
	return (uint32_t)r->callees.count;
}

static inline uint32_t place_of(struct cp_call_block_reader *r, uint32_t function)
{
	struct cp_call_near *near = &r->near[function % CP_CALL_NEAR];

	if (near->place && near->function == function)
		return near->place;
	*near = (struct cp_call_near){ function, find_place(r, function) };
	return near->place;
}

/* What is known at a place, of this block. */
static inline struct cp_call_known *at_place(struct cp_call_block_reader *r, uint32_t place)
{
	struct cp_call_known *known = &r->callees.items[place - 1];

	if (known->callees.block != r->number)
		*known = (struct cp_call_known){ .callees.block = r->number };
	return known;
}

/* The callees of who is about to call, NULL without memory. Most functions are entered as
 * one of the last callees of another, which knows their place. */
static inline struct cp_call_known *callees_of(struct cp_call_block_reader *r)
{
	struct cp_call_open *by = r->depth ? known(r, r->depth - 1) : NULL;
	uint32_t place = by ? by->callees : 0;

	if (!place)
		place = place_of(r, by ? by->function : 0);
	if (!place)
		return NULL;
	if (by)
		by->callees = place;
	return at_place(r, place);
}

/* Moves the callee to the front, whose own are at `place`. */
static inline void to_front(struct cp_call_known *k, unsigned rank, uint32_t function,
			    uint32_t place)
{
	uint32_t *last = k->callees.last, *places = k->places;
	unsigned i;

	/* Without a jump: nobody can foresee ranks. */
	for (i = CP_CALL_RANKS - 1; i; i--) {
		last[i] = i <= rank ? last[i - 1] : last[i];
		places[i] = i <= rank ? places[i - 1] : places[i];
	}
	last[0] = function;
	places[0] = place;
}

static inline __attribute__((always_inline)) enum cp_call_read get_enter(
	struct cp_call_block_reader *r, unsigned rank, struct cp_record_call *call)
{
	uint64_t function = rank < CP_CALL_RANKS ? 0 : cp_cursor_uleb(&r->c) + 1;
	struct cp_call_known *callees;
	uint32_t place = 0;

	if (r->depth >= CP_RECORD_NONE - 1 || function >= CP_RECORD_NONE)
		return CP_CALL_READ_BROKEN;
	if (function)
		place = place_of(r, (uint32_t)function);
	callees = callees_of(r); /* last: it moves */
	if (!callees || (function && !place))
		return CP_CALL_READ_NOMEM;
	if (rank < CP_CALL_RANKS) {
		function = callees->callees.last[rank];
		place = callees->places[rank];
	}
	if (!function)
		return CP_CALL_READ_BROKEN;
	to_front(callees, rank, (uint32_t)function, place);
	call->kind = CP_RECORD_ENTER;
	call->depth = r->depth;
	call->function = (uint32_t)function - 1;
	return opened(r, call, place) ? CP_CALL_READ : CP_CALL_READ_NOMEM;
}

/* The call that is expected ends. */
static inline enum cp_call_read get_end(struct cp_call_block_reader *r, unsigned kind,
					struct cp_record_call *call)
{
	struct cp_call_open *frame = r->depth ? known(r, r->depth - 1) : NULL;

	if (!frame)
		return CP_CALL_READ_BROKEN;
	call->kind = (uint8_t)kind;
	call->depth = r->depth - 1;
	call->function = frame->function - 1;
	call->duration_ns = call->ts_ns - frame->ts_ns;
	closed(r, call, frame->inner);
	return CP_CALL_READ;
}

static uint32_t reference(uint64_t number)
{
	return number && number <= CP_RECORD_NONE ? (uint32_t)(number - 1) : CP_RECORD_NONE;
}

/* The form that values of the event's function have where it is entered, or left. */
static uint32_t *form_of(struct cp_call_block_reader *r, const struct cp_record_call *call)
{
	uint32_t place = 0;

	if (call->kind <= CP_RECORD_LEAVE)
		place = place_of(r, call->function + 1);
	return place ? &at_place(r, place)->callees.forms[call->kind == CP_RECORD_LEAVE] : NULL;
}

static bool get_form(struct cp_call_block_reader *r, const struct cp_record_call *call)
{
	uint32_t form, *to;

	if (!cp_call_form_get(&r->forms, &r->c, &form))
		return false;
	to = form_of(r, call);
	if (to)
		*to = form;
	r->has_values = true;
	return to;
}

static enum cp_call_read get_values(struct cp_call_block_reader *r, struct cp_record_call *call)
{
	const uint32_t *form = form_of(r, call);

	if (!form || !*form)
		return CP_CALL_READ;
	if (r->bare && cp_call_form_pass(&r->forms, &r->c, *form))
		return CP_CALL_READ;
	if (r->bare || !cp_call_form_read(&r->forms, &r->c, *form, call))
		return r->forms.no_memory ? CP_CALL_READ_NOMEM : CP_CALL_READ_BROKEN;
	call->result_count = call->kind == CP_RECORD_LEAVE;
	return CP_CALL_READ;
}

static enum cp_call_read get_odd(struct cp_call_block_reader *r, struct cp_record_call *call)
{
	uint8_t what = cp_cursor_u8(&r->c);
	bool enter = (what & CP_CALL_ODD_KIND) == CP_RECORD_ENTER;
	uint64_t depth = r->depth - (!enter && r->depth), inner = 0, function = CP_RECORD_NONE;
	struct cp_call_open *frame;

	call->kind = what & CP_CALL_ODD_KIND;
	if (what & CP_CALL_ODD_DEPTH)
		depth += cp_record_unzigzag(cp_cursor_uleb(&r->c));
	frame = enter || depth >= CP_RECORD_NONE ? NULL : known(r, (uint32_t)depth);
	if (what & CP_CALL_ODD_FUNCTION)
		function = cp_cursor_uleb(&r->c);
	else if (frame)
		function = frame->function - 1;
	if (what & CP_CALL_ODD_FLAGS)
		call->flags = cp_cursor_u8(&r->c);
	if (what & CP_CALL_ODD_TARGET) {
		call->target = reference(cp_cursor_uleb(&r->c));
		if (enter && CP_RECORD_CALL_INVOKER(call->flags) == CPROF_INVOKER_SIGNAL) {
			call->count = call->target + 1;
			call->target = CP_RECORD_NONE;
		}
	}
	if (what & CP_CALL_ODD_DURATION) {
		call->duration_ns = cp_cursor_uleb(&r->c);
		inner = cp_cursor_uleb(&r->c);
	} else if (frame) {
		call->duration_ns = call->ts_ns - frame->ts_ns;
		inner = frame->inner;
	}
	if (r->c.bad || function >= CP_RECORD_NONE - 1 || depth >= CP_RECORD_NONE - 1)
		return CP_CALL_READ_BROKEN;
	call->function = (uint32_t)function;
	call->depth = (uint32_t)depth;
	if (what & CP_CALL_ODD_FORM && !get_form(r, call))
		return r->forms.no_memory ? CP_CALL_READ_NOMEM : CP_CALL_READ_BROKEN;
	if (enter)
		return opened(r, call, 0) ? CP_CALL_READ : CP_CALL_READ_NOMEM;
	closed(r, call, inner);
	return CP_CALL_READ;
}

/* What comes first of an event; a time that takes more bytes than it may is bad. */
static inline unsigned get_first(struct cp_call_block_reader *r)
{
	uint8_t first = cp_cursor_u8(&r->c);
	uint64_t step = first >> CP_CALL_CODE_BITS;

	if (step == CP_CALL_TIME_MORE)
		step += cp_cursor_uleb(&r->c);
	r->units += step;
	return first & ((1u << CP_CALL_CODE_BITS) - 1);
}

static inline uint64_t time_at(const struct cp_call_block_reader *r, uint64_t units)
{
	return r->block.start_ns + (units << CP_CALL_UNIT_SHIFT);
}

/* An event that says no more than most do; its fields are what those before have left, but
 * for those that each event has. */
static inline void begin_call(struct cp_call_block_reader *r, struct cp_record_call *call)
{
	if (r->blank != call) {
		*call = (struct cp_record_call){ .target = CP_RECORD_NONE,
						 .stack = CP_RECORD_NONE,
						 .entered_by = CP_RECORD_NONE };
		r->blank = call;
	}
	call->thread = r->block.thread;
	call->target = CP_RECORD_NONE;
	call->duration_ns = call->overhead_ns = call->uncertain_ns = 0;
}

static inline enum cp_call_read next(struct cp_call_block_reader *r, struct cp_record_call *call)
{
	enum cp_call_read got;
	unsigned code;

	if (!r->left)
		return CP_CALL_READ_END;
	r->left--;
	code = get_first(r);
	begin_call(r, call);
	call->ts_ns = time_at(r, r->units);
	if (code == CP_CALL_ODD)
		got = get_odd(r, call);
	else if (code == CP_CALL_LEAVE || code == CP_CALL_TAIL)
		got = get_end(r, code == CP_CALL_LEAVE ? CP_RECORD_LEAVE : CP_RECORD_TAIL_CALL,
			      call);
	else
		got = get_enter(r, code - CP_CALL_ENTER, call);
	if (code == CP_CALL_TAIL)
		call->target = reference(cp_cursor_uleb(&r->c));
	if (got == CP_CALL_READ && r->has_values)
		got = get_values(r, call);
	if (code == CP_CALL_ODD || (r->has_values && !r->bare))
		r->blank = NULL;
	return got == CP_CALL_READ && r->c.bad ? CP_CALL_READ_BROKEN : got;
}

enum cp_call_read cp_call_block_next(struct cp_call_block_reader *r, struct cp_record_call *call)
{
	return next(r, call);
}

/* ---- two events at once ---- */

/* The most that both take: two bytes, two times, the number of a function. */
#define LEAF_MAX 32

/* Like cp_cursor_uleb(), where there are bytes enough; false: it is longer than most. */
static inline bool get_short(const uint8_t **at, uint64_t *ret)
{
	unsigned shift;

	*ret = 0;
	for (shift = 0; shift < 56; shift += 7) {
		uint8_t byte = *(*at)++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static inline bool get_step(const uint8_t **at, uint64_t *ret)
{
	uint64_t step = *(*at)++ >> CP_CALL_CODE_BITS, more;

	if (step == CP_CALL_TIME_MORE) {
		if (!get_short(at, &more))
			return false;
		step += more;
	}
	*ret = step;
	return true;
}

struct leaf {
	unsigned rank; /* CP_CALL_RANKS: `function` is read */
	uint64_t function; /* + 1 */
	uint64_t start, end; /* units */
	const uint8_t *behind;
};

static inline bool find_leaf(const struct cp_call_block_reader *r, struct leaf *ret)
{
	const uint8_t *at = r->c.at, code_mask = (1u << CP_CALL_CODE_BITS) - 1;
	uint64_t step;

	if (cp_cursor_left(&r->c) < LEAF_MAX || (*at & code_mask) - CP_CALL_ENTER > CP_CALL_RANKS ||
	    r->c.bad || r->left < 2 || r->has_values)
		return false;
	ret->rank = (*at & code_mask) - CP_CALL_ENTER;
	ret->function = 0;
	if (!get_step(&at, &step))
		return false;
	ret->start = r->units + step;
	if (ret->rank == CP_CALL_RANKS && !get_short(&at, &ret->function))
		return false;
	if ((*at & code_mask) != CP_CALL_LEAVE || !get_step(&at, &step))
		return false;
	ret->end = ret->start + step;
	ret->behind = at;
	return true;
}

/* The function that is called, + 1, as known callees have it from then on; 0: it makes no
 * sense, or there is no memory. */
static inline uint32_t get_callee(struct cp_call_block_reader *r, const struct leaf *leaf)
{
	struct cp_call_known *callees;
	uint32_t place = 0, function = 0;

	if (leaf->rank == CP_CALL_RANKS) {
		if (leaf->function >= CP_RECORD_NONE - 1)
			return 0;
		function = (uint32_t)leaf->function + 1;
		place = place_of(r, function);
		if (!place)
			return 0;
	}
	callees = callees_of(r); /* last: it moves */
	if (!callees)
		return 0;
	if (leaf->rank < CP_CALL_RANKS) {
		function = callees->callees.last[leaf->rank];
		place = callees->places[leaf->rank];
	}
	if (function && leaf->rank)
		to_front(callees, leaf->rank, function, place);
	return function;
}

/* False: the next two events are no such call, and nothing was read. */
static inline bool next_leaf(struct cp_call_block_reader *r, struct cp_record_call *call,
			     struct cp_record_leaf *ret)
{
	struct leaf leaf;
	uint32_t function;

	if (r->depth >= CP_CALL_BLOCK_DEPTH || !find_leaf(r, &leaf))
		return false;
	function = get_callee(r, &leaf);
	if (!function)
		return false;
	r->c.at = leaf.behind;
	r->left -= 2;
	r->units = leaf.end;
	if (r->depth < r->frames.count)
		r->frames.items[r->depth].function = 0;
	if (r->depth && known(r, r->depth - 1))
		r->frames.items[r->depth - 1].inner++;
	begin_call(r, call);
	call->kind = CP_RECORD_ENTER;
	call->ts_ns = time_at(r, leaf.start);
	call->depth = r->depth;
	call->function = function - 1;
	ret->end_ns = time_at(r, leaf.end);
	ret->duration_ns = ret->end_ns - call->ts_ns;
	settle(&r->block.costs, 0, ret->duration_ns, &ret->overhead_ns, &ret->uncertain_ns);
	return true;
}

/* Does the call that was entered at `depth` end with the next event? */
static inline bool ends_next(const struct cp_call_block_reader *r, uint32_t depth)
{
	return r->left && cp_cursor_left(&r->c) && depth < CP_CALL_BLOCK_DEPTH &&
	       (*r->c.at & ((1u << CP_CALL_CODE_BITS) - 1)) == CP_CALL_LEAVE;
}

/* Two events with values, which are passed over. An end that makes no sense is found again
 * behind its enter. */
static enum cp_call_read next_valued_leaf(struct cp_call_block_reader *r,
					  struct cp_record_call *call, struct cp_record_leaf *ret)
{
	struct cp_record_call end;
	unsigned code = CP_CALL_ODD;
	enum cp_call_read got;

	if (cp_cursor_left(&r->c))
		code = *r->c.at & ((1u << CP_CALL_CODE_BITS) - 1);
	got = next(r, call);
	if (got != CP_CALL_READ || call->kind != CP_RECORD_ENTER || code == CP_CALL_ODD ||
	    !ends_next(r, call->depth))
		return got;
	r->left--;
	get_first(r);
	end.ts_ns = time_at(r, r->units);
	got = get_end(r, CP_RECORD_LEAVE, &end);
	if (got == CP_CALL_READ)
		got = get_values(r, &end);
	if (got != CP_CALL_READ || r->c.bad) {
		r->c.bad = true;
		r->left++;
		return got == CP_CALL_READ_NOMEM ? got : CP_CALL_READ;
	}
	*ret = (struct cp_record_leaf){ .end_ns = end.ts_ns,
					.duration_ns = end.duration_ns,
					.overhead_ns = end.overhead_ns,
					.uncertain_ns = end.uncertain_ns };
	return CP_CALL_READ_LEAF;
}

enum cp_call_read cp_call_block_next_leaf(struct cp_call_block_reader *r,
					  struct cp_record_call *call, struct cp_record_leaf *leaf)
{
	if (r->has_values && r->bare)
		return next_valued_leaf(r, call, leaf);
	return next_leaf(r, call, leaf) ? CP_CALL_READ_LEAF : next(r, call);
}

void cp_call_block_reader_free(struct cp_call_block_reader *r)
{
	cp_vec_free(&r->frames);
	cp_map_free(&r->places);
	cp_vec_free(&r->callees);
	cp_call_form_reader_free(&r->forms);
}

/* ---- a section ---- */

bool cp_record_decode_blocks(struct cp_record_decoder *d, struct cp_cursor *c)
{
	struct cp_record *r = d->record;
	uint64_t part = cp_cursor_uleb(c), first = cp_cursor_uleb(c), count = cp_cursor_uleb(c);
	struct cp_call_block block;
	struct cp_cursor body;
	uint64_t size, seen = 0;

	/* Those of a part stand together. */
	if (c->bad || part >= CP_RECORD_PARTS_MAX ||
	    (r->call_blocks.count && r->call_blocks.items[r->call_blocks.count - 1].part > part))
		return false;
	if (first > d->next_call)
		r->own.lost += first - d->next_call;
	d->next_call = first + count;
	while (cp_cursor_left(c)) {
		struct cp_record_call_block_at at = { .chunk = r->call_chunks.count,
						      .part = (uint32_t)part };

		size = cp_cursor_uleb(c);
		if (c->bad || size > cp_cursor_left(c))
			return false;
		at.offset = (size_t)(c->at - d->payload);
		at.size = (size_t)size;
		body = cp_cursor(cp_cursor_bytes(c, at.size), at.size);
		if (!get_header(&body, &block))
			return false;
		at.thread = block.thread;
		at.count = block.count;
		seen += block.count;
		if (!cp_record_decode_ok(d, cp_vec_push(&r->call_blocks, at)))
			return false;
	}
	return seen == count;
}
