/* SPDX-License-Identifier: MIT */
#include "record/call_block.h"

#include <string.h>

#include "record/call_form.h"
#include "record/format.h"

#define EVENT_MAX 64 /* bytes, of an odd one without values */
#define BYTES_MAX (CP_CALL_BLOCK_EVENTS * EVENT_MAX + ((size_t)1 << 20))

/* The open calls of a thread, by depth. */
struct cp_call_opens {
	CP_VEC(struct cp_call_open) frames;
	uint32_t depth; /* at which an enter is expected */
};

/* The block under way. */
struct coding {
	struct cp_call_coder *coder;
	uint32_t form; /* of the event under way, in the coder + 1; 0: no values */
	struct cp_call_opens *opens;
	uint64_t start_ns, units; /* of the last event, since the start */
	uint8_t *at;
};

/* The first byte of an event, and the rest of its time. Times that go back stand still. */
static inline uint64_t put_first(struct coding *c, unsigned code, uint64_t ts_ns)
{
	uint64_t units = ts_ns > c->start_ns ? (ts_ns - c->start_ns) >> CP_CALL_UNIT_SHIFT : 0;
	uint64_t step = units > c->units ? units - c->units : 0;

	c->units += step;
	if (step < CP_CALL_TIME_MORE) {
		*c->at++ = (uint8_t)(code | step << CP_CALL_CODE_BITS);
	} else {
		*c->at++ = (uint8_t)(code | CP_CALL_TIME_MORE << CP_CALL_CODE_BITS);
		c->at = cp_record_put_uleb(c->at, step - CP_CALL_TIME_MORE);
	}
	return c->start_ns + (c->units << CP_CALL_UNIT_SHIFT);
}

/* NULL: there is none at that depth that readers know. */
static inline struct cp_call_open *known(const struct coding *c, uint32_t depth)
{
	struct cp_call_open *frame;

	if (depth >= c->opens->frames.count)
		return NULL;
	frame = &c->opens->frames.items[depth];
	return frame->function && frame->block == c->coder->block ? frame : NULL;
}

static inline void use(struct coding *c, uint32_t function)
{
	struct cp_call_coder *coder = c->coder;

	if (coder->used.items[function] == coder->block)
		return;
	coder->used.items[function] = coder->block;
	coder->functions.items[coder->functions.count++] = function; /* there is room */
}

static inline struct cp_call_callees *callees_of(struct coding *c, const struct cp_call_open *by)
{
	struct cp_call_callees *callees = &c->coder->callees.items[by ? by->function : 0];

	if (callees->block != c->coder->block)
		*callees = (struct cp_call_callees){ .block = c->coder->block };
	return callees;
}

/* What forms values of the function's enters and leaves have by now; NULL: none can. */
static inline struct cp_call_callees *forms_of(struct coding *c, const struct cp_call_entry *e)
{
	struct cp_call_callees *own;

	if (e->kind > CP_RECORD_LEAVE)
		return NULL;
	own = &c->coder->callees.items[e->function + 1];
	if (own->block != c->coder->block)
		*own = (struct cp_call_callees){ .block = c->coder->block };
	return own;
}

/* Have values of the function's enters and leaves these forms by now? NULL: no values. */
static inline bool has_forms(const struct coding *c, uint32_t function, const cprof_value *enter,
			     const cprof_value *leave)
{
	const struct cp_call_callees *own = &c->coder->callees.items[function + 1];

	if (!c->coder->forms || own->block != c->coder->block)
		return !enter && !leave;
	return own->keys[0] == enter && own->keys[1] == leave;
}

static inline void opened(struct coding *c, const struct cp_call_entry *e, uint64_t ts_ns)
{
	c->opens->depth = e->depth + 1;
	if (e->depth < c->opens->frames.count)
		c->opens->frames.items[e->depth] = (struct cp_call_open){
			.ts_ns = ts_ns,
			.function = e->function + 1,
			.block = c->coder->block,
		};
}

/* Calls inside count in the call around, which may be of an earlier block. */
static inline void closed(struct coding *c, uint32_t depth, uint64_t inner)
{
	c->opens->depth = depth;
	if (depth < c->opens->frames.count)
		c->opens->frames.items[depth].function = 0;
	if (depth && depth - 1 < c->opens->frames.count)
		c->opens->frames.items[depth - 1].inner += inner + 1;
}

/* When it is entered, as readers will have it. */
static inline uint64_t put_callee(struct coding *c, const struct cp_call_entry *e)
{
	struct cp_call_open *by = e->depth ? known(c, e->depth - 1) : NULL;
	struct cp_call_callees *callees = callees_of(c, by);
	uint32_t function = e->function + 1;
	uint64_t ts_ns;
	unsigned rank = 0;

	while (rank < CP_CALL_RANKS && callees->last[rank] != function)
		rank++;
	ts_ns = put_first(c, CP_CALL_ENTER + rank, e->ts_ns);
	if (rank == CP_CALL_RANKS) {
		c->at = cp_record_put_uleb(c->at, e->function);
		use(c, e->function);
	}
	if (rank)
		cp_call_callee(callees, rank, function);
	return ts_ns;
}

static inline void put_enter(struct coding *c, const struct cp_call_entry *e)
{
	opened(c, e, put_callee(c, e));
}

/* Is it where the next call is expected, and is there nothing odd about it? */
static inline bool is_expected(const struct coding *c, const struct cp_call_entry *e)
{
	return e->depth == c->opens->depth && e->depth < c->opens->frames.count && !e->flags &&
	       e->target == CP_RECORD_NONE;
}

/* Values of the form that those of the function's enters, or leaves, have by now. */
static inline void put_known(struct coding *c, uint32_t function, bool leave,
			     const struct cp_call_values *values)
{
	uint32_t form = c->coder->callees.items[function + 1].forms[leave];

	c->at = cp_call_form_values(c->coder, form, values, c->at);
}

/* Both events of a call and nothing between them: it need not be opened. */
static inline void put_both(struct coding *c, const struct cp_call_entry *e, uint64_t end_ns)
{
	put_callee(c, e);
	if (e->value_count)
		put_known(c, e->function, false,
			  &(struct cp_call_values){ e->form, e->values, e->numbers,
						    e->value_count });
	put_first(c, CP_CALL_LEAVE, end_ns);
	closed(c, e->depth, 0);
}

/* The result's of a LEAF that has one, behind so many numbers. */
static inline struct cp_call_values result_of(const struct cp_call_entry *e, size_t before)
{
	return (struct cp_call_values){ e->result_form, NULL, e->numbers + before, 1 };
}

static size_t size_of(struct cp_call_coder *coder, const struct cp_call_values *v)
{
	uint32_t form = cp_call_form_of(coder, v);

	return form ? cp_call_form_size(coder, form, v) : 0;
}

/* Bytes that an entry's values take at most. */
static size_t size_of_all(struct coding *c, const struct cp_call_entry *e)
{
	struct cp_call_values v = cp_call_values_of(e);
	size_t size = size_of(c->coder, &v);

	if (e->result_form) {
		v = result_of(e, cp_call_words(e->form, e->value_count));
		size += size_of(c->coder, &v);
	}
	return size;
}

/* Likewise, of values that have the form that those of its function's enters, or leaves, have. */
static inline size_t size_of_known(struct coding *c, const struct cp_call_callees *own, bool leave,
				   const struct cp_call_values *values)
{
	if (own->sizes[leave] != SIZE_MAX)
		return own->sizes[leave];
	return cp_call_form_size(c->coder, own->forms[leave], values);
}

/* A LEAF whose values have no more than `room` bytes. False: it is not as plain as that, and
 * nothing was done. */
static inline bool put_leaf(struct coding *c, const struct cp_call_entry *e, size_t room)
{
	const struct cp_call_callees *own = &c->coder->callees.items[e->function + 1];
	struct cp_call_values values = cp_call_values_of(e), result;
	size_t size;

	if (!is_expected(c, e) ||
	    !has_forms(c, e->function, e->value_count ? e->form : NULL, e->result_form))
		return false;
	size = values.count ? size_of_known(c, own, false, &values) : 0;
	if (e->result_form) {
		result = result_of(e, values.count ? own->words : 0);
		size += size_of_known(c, own, true, &result);
	}
	if (size > room)
		return false;
	put_both(c, e, e->ts_ns + e->duration_ns);
	if (e->result_form)
		put_known(c, e->function, true, &result);
	return true;
}

/* Likewise, of two entries without values. */
static inline bool put_pair(struct coding *c, const struct cp_call_entry e[2])
{
	if (e[0].kind != CP_RECORD_ENTER || e[1].kind != CP_RECORD_LEAVE ||
	    e[0].function != e[1].function || e[0].depth != e[1].depth ||
	    e[0].value_count | e[1].value_count | e[1].flags || e[1].target != CP_RECORD_NONE ||
	    !is_expected(c, e) || !has_forms(c, e->function, NULL, NULL))
		return false;
	put_both(c, e, e[1].ts_ns);
	return true;
}

/* An event that is not as expected, or not of a kind that is. */
static void put_odd(struct coding *c, const struct cp_call_entry *e)
{
	bool enter = e->kind == CP_RECORD_ENTER;
	uint32_t expected = c->opens->depth - (!enter && c->opens->depth);
	struct cp_call_open *frame = enter ? NULL : known(c, e->depth), *old = NULL;
	bool by_signal = enter && CP_RECORD_CALL_INVOKER(e->flags) == CPROF_INVOKER_SIGNAL;
	uint64_t ts_ns = put_first(c, CP_CALL_ODD, e->ts_ns), duration = e->duration_ns, inner = 0;
	uint8_t *what = c->at++;
	struct cp_call_callees *own = forms_of(c, e);

	if (!enter && !frame && e->depth < c->opens->frames.count)
		old = &c->opens->frames.items[e->depth];
	if (old && old->function == e->function + 1) {
		duration = ts_ns - old->ts_ns;
		inner = old->inner;
	}
	if (frame && frame->function != e->function + 1)
		frame = NULL;
	*what = e->kind & CP_CALL_ODD_KIND;
	if (e->depth != expected) {
		*what |= CP_CALL_ODD_DEPTH;
		c->at = cp_record_put_uleb(c->at, cp_record_zigzag((uint64_t)e->depth - expected));
	}
	if (!frame) {
		*what |= CP_CALL_ODD_FUNCTION;
		c->at = cp_record_put_uleb(c->at, e->function);
		use(c, e->function);
	}
	if (e->flags) {
		*what |= CP_CALL_ODD_FLAGS;
		*c->at++ = e->flags;
	}
	if (e->target != CP_RECORD_NONE) {
		*what |= CP_CALL_ODD_TARGET;
		c->at = cp_record_put_uleb(c->at, by_signal ? e->target : (uint64_t)e->target + 1);
		if (!by_signal)
			use(c, e->target);
	}
	if (!enter && !frame) {
		*what |= CP_CALL_ODD_DURATION;
		c->at = cp_record_put_uleb(c->at, duration);
		c->at = cp_record_put_uleb(c->at, inner);
	}
	if (own && own->forms[!enter] != c->form) {
		*what |= CP_CALL_ODD_FORM;
		c->at = cp_call_form_put(c->coder, c->form, c->at);
		own->forms[!enter] = c->form;
		own->keys[!enter] = c->form ? e->form : NULL;
		own->sizes[!enter] = c->form ? cp_call_form_plain_size(c->coder, c->form) : 0;
		if (enter)
			own->words = c->form ? cp_call_words(e->form, e->value_count) : 0;
	}
	if (enter)
		opened(c, e, ts_ns);
	else
		closed(c, e->depth, frame ? frame->inner : inner);
}

static inline void put_event(struct coding *c, const struct cp_call_entry *e)
{
	const struct cp_call_callees *own = c->coder->forms ? forms_of(c, e) : NULL;
	struct cp_call_open *frame;

	if (own && own->forms[e->kind == CP_RECORD_LEAVE] != c->form) {
		put_odd(c, e);
		return;
	}
	if (e->kind == CP_RECORD_ENTER && !e->flags && e->target == CP_RECORD_NONE &&
	    e->depth == c->opens->depth) {
		put_enter(c, e);
		return;
	}
	frame = e->kind <= CP_RECORD_TAIL_CALL && !e->flags && e->depth + 1 == c->opens->depth
			? known(c, e->depth)
			: NULL;
	if (e->kind == CP_RECORD_ENTER || !frame || frame->function != e->function + 1) {
		put_odd(c, e);
		return;
	}
	put_first(c, e->kind == CP_RECORD_LEAVE ? CP_CALL_LEAVE : CP_CALL_TAIL, e->ts_ns);
	if (e->kind == CP_RECORD_TAIL_CALL) {
		c->at = cp_record_put_uleb(c->at, e->target == CP_RECORD_NONE
							  ? 0
							  : (uint64_t)e->target + 1);
		if (e->target != CP_RECORD_NONE)
			use(c, e->target);
	}
	closed(c, e->depth, frame->inner);
}

/* ---- */

static bool grow(void *items, size_t *count, size_t *capacity, size_t want, size_t size)
{
	void **at = items;

	if (*count >= want)
		return true;
	if (!cp_vec_grow(at, capacity, want, size))
		return false;
	memset((char *)*at + *count * size, 0, (want - *count) * size);
	*count = want;
	return true;
}

#define GROW(v, want) grow(&(v)->items, &(v)->count, &(v)->capacity, (want), sizeof(*(v)->items))

static struct cp_call_opens *opens_of(struct cp_call_coder *coder, uint32_t thread)
{
	struct cp_call_opens **opens;

	if (!GROW(&coder->threads, (size_t)thread + 1))
		return NULL;
	opens = &coder->threads.items[thread];
	if (!*opens)
		*opens = calloc(1, sizeof(**opens));
	return *opens;
}

/* Room for a call at that depth, and twice as deep. */
static bool deepen(struct cp_call_opens *opens, uint32_t depth)
{
	size_t want = depth < CP_CALL_BLOCK_DEPTH / 2 ? 2 * (size_t)depth + 1 : CP_CALL_BLOCK_DEPTH;

	return GROW(&opens->frames, want);
}

/* What it names is known: there are `functions` that a record may name. */
static inline bool is_told(const struct cp_call_entry *e, size_t functions)
{
	return e->function < functions &&
	       (e->target == CP_RECORD_NONE || e->target < functions ||
		(e->kind == CP_RECORD_ENTER &&
		 CP_RECORD_CALL_INVOKER(e->flags) == CPROF_INVOKER_SIGNAL));
}

/* Room for values of an entry, before `left` events that come behind. */
static inline size_t room_of(const struct coding *c, const uint8_t *end, size_t left)
{
	return (size_t)(end - c->at) - left * EVENT_MAX;
}

/* With its values, where there is room for them. False without memory. */
static bool put_one(struct coding *c, const struct cp_call_entry *e, bool room,
		    struct cp_call_block *block)
{
	const struct cp_call_values values = cp_call_values_of(e);

	if (e->depth >= c->opens->frames.count && c->opens->frames.count < CP_CALL_BLOCK_DEPTH &&
	    !deepen(c->opens, e->depth))
		return false;
	c->form = room && values.form ? cp_call_form_of(c->coder, &values) : 0;
	put_event(c, e);
	block->count++;
	if (!c->form)
		return true;
	block->valued = true;
	c->at = cp_call_form_values(c->coder, c->form, &values, c->at);
	return true;
}

/* Likewise, both events of a call that is no more than that. */
static bool put_opened(struct coding *c, const struct cp_call_entry *e, bool room,
		       struct cp_call_block *block)
{
	struct cp_call_entry both[2];

	cp_call_open_leaf(e, both);
	return put_one(c, &both[0], room, block) && put_one(c, &both[1], room, block);
}

/* Is there room for what an entry has of values? */
static inline bool fits(struct coding *c, const struct cp_call_entry *e, size_t room)
{
	return (!e->value_count && !e->result_form) || size_of_all(c, e) <= room;
}

/* Into the block, behind what is in it, as many as there is room for, up to the first that is
 * not told. */
static bool encode(struct cp_call_coder *coder, size_t functions,
		   const struct cp_call_entry *entries, size_t count, struct cp_call_block *block)
{
	struct coding c = { .coder = coder, .opens = opens_of(coder, block->thread) };
	const uint8_t *end = coder->bytes + BYTES_MAX;
	size_t i;

	if (!c.opens || !GROW(&coder->callees, functions + 1) || !GROW(&coder->used, functions) ||
	    !cp_vec_reserve(&coder->functions, functions))
		return false;
	c.start_ns = block->start_ns;
	c.units = coder->units;
	c.at = coder->bytes + block->size;
	for (i = 0; i < count && is_told(&entries[i], functions); i++) {
		const struct cp_call_entry *e = &entries[i];
		size_t left = room_of(&c, end, cp_call_events_most(count - i));
		bool room;

		if (e->kind == CP_CALL_LEAF && put_leaf(&c, e, left)) {
			block->count += 2;
			block->valued |= e->value_count || e->result_form;
			continue;
		}
		room = fits(&c, e, left);
		if (!room && i)
			break; /* else so much that no block could have it */
		if (e->kind == CP_CALL_LEAF) {
			if (!put_opened(&c, e, room, block))
				return false;
			continue;
		}
		if (i + 1 < count && put_pair(&c, e)) {
			block->count += 2;
			i++;
			continue;
		}
		if (!put_one(&c, e, room, block))
			return false;
	}
	coder->units = c.units;
	block->taken = i;
	block->size = (size_t)(c.at - coder->bytes);
	block->functions = coder->functions.items;
	block->function_count = coder->functions.count;
	return true;
}

bool cp_call_encode(struct cp_call_coder *coder, uint32_t thread, size_t functions,
		    const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		    size_t count, struct cp_call_block *ret)
{
	const struct cp_call_opens *opens = opens_of(coder, thread);

	if (!coder->bytes)
		coder->bytes = malloc(BYTES_MAX);
	if (!opens || !coder->bytes)
		return false;
	coder->block++;
	coder->functions.count = 0;
	coder->units = 0;
	*ret = (struct cp_call_block){ .thread = thread,
				       .depth = opens->depth,
				       .start_ns = count ? entries->ts_ns : 0,
				       .costs = *costs,
				       .bytes = coder->bytes };
	return encode(coder, functions, entries, count, ret);
}

bool cp_call_goes_on(const struct cp_call_block *block, uint32_t thread,
		     const struct cp_call_costs *costs, size_t count)
{
	return block->count && block->thread == thread &&
	       block->count + count <= CP_CALL_BLOCK_EVENTS &&
	       block->size <= (CP_CALL_BLOCK_EVENTS - count) * EVENT_MAX &&
	       !memcmp(&block->costs, costs, sizeof(*costs));
}

bool cp_call_encode_more(struct cp_call_coder *coder, size_t functions,
			 const struct cp_call_entry *entries, size_t count,
			 struct cp_call_block *block)
{
	return encode(coder, functions, entries, count, block);
}

void cp_call_coder_free(struct cp_call_coder *coder)
{
	struct cp_call_opens **opens;

	cp_vec_for_each(&coder->threads, opens) {
		if (*opens)
			cp_vec_free(&(*opens)->frames);
		free(*opens);
	}
	cp_vec_free(&coder->threads);
	cp_vec_free(&coder->callees);
	cp_vec_free(&coder->used);
	cp_vec_free(&coder->functions);
	cp_call_forms_free(coder->forms);
	coder->forms = NULL;
	free(coder->bytes);
	coder->bytes = NULL;
}
