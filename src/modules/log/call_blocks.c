/* SPDX-License-Identifier: MIT */
#include "modules/log/call_blocks.h"

#include <string.h>

#include "modules/costs.h"
#include "modules/invoked.h"
#include "modules/log/numbers.h"

#define VALUE_PS 4000u /* that a word of a record with values takes at most */

static uint32_t function_of(cprof_profiler *log, struct cp_recorder_call_blocks *b,
			    const cprof_function *f)
{
	size_t at = ((uintptr_t)f >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54;

	if (b->near[at].function != f) {
		b->near[at].location = cp_recorder_function(log, f);
		b->near[at].function = f;
	}
	return b->near[at].location;
}

/* As of calls that come one by one (add_invoker()). */
static void add_caller(cprof_profiler *log, struct cp_recorder_call_blocks *b,
		       const cprof_call_event *e, struct cp_call_entry *to)
{
	if (b->last.function != e->function || b->last.from != e->from) {
		b->last.function = e->function;
		b->last.from = e->from;
		b->last.is_callback = invoked_as_callback(e->function, e->from);
	}
	if (!b->last.is_callback)
		return;
	to->flags = CPROF_INVOKER_CODE << 2;
	to->target = cp_record_location(log->writer, cp_recorder_image(log, e->from),
					e->caller - 1 - cprof_image_base(e->from), 0);
}

/* Those that are kept. */
static void set_values(const struct cp_recorder_call_blocks *b, const cprof_call_event *e,
		       struct cp_call_entry *ret)
{
	ret->numbers = e->numbers;
	if (e->kind == CPROF_CALL_LEAF && b->result)
		ret->result_form = e->result_form;
	if (!e->value_count)
		return;
	if (e->kind == CPROF_CALL_LEAVE ? b->result : b->arguments) {
		ret->values = e->values;
		ret->form = e->form;
		ret->value_count = (uint16_t)e->value_count;
	} else if (ret->result_form) {
		ret->numbers += cp_call_words(e->form, e->value_count);
	}
}

/* Where it stays: a copy would read in one what was written in pieces a moment before. */
static void set_entry(cprof_profiler *log, struct cp_recorder_call_blocks *b,
		      const cprof_call_event *e, struct cp_call_entry *ret)
{
	ret->ts_ns = e->timestamp_ns;
	ret->duration_ns = 0;
	ret->function = function_of(log, b, e->function);
	ret->depth = e->depth;
	ret->target = CP_RECORD_NONE;
	ret->flags = 0;
	ret->value_count = 0;
	ret->result_form = NULL;
	if (e->value_count || e->result_form)
		set_values(b, e, ret);
	if (e->kind == CPROF_CALL_ENTER || e->kind == CPROF_CALL_LEAF) {
		ret->ts_ns = e->enter_ns;
		ret->kind = e->kind == CPROF_CALL_LEAF ? CP_CALL_LEAF : CP_RECORD_ENTER;
		ret->duration_ns = e->timestamp_ns - e->enter_ns;
		if (e->from && !b->is_summary)
			add_caller(log, b, e, ret);
		return;
	}
	ret->kind = e->kind == CPROF_CALL_LEAVE ? CP_RECORD_LEAVE : CP_RECORD_TAIL_CALL;
	ret->duration_ns = e->timestamp_ns - e->enter_ns;
	if (e->target)
		ret->target = function_of(log, b, e->target);
}

static bool any_text(const cprof_value *form, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (form[i].kind == CPROF_VALUE_STRING)
			return true;
	return false;
}

/* Words that a record has of values that are numbers; *alike: of all that have that form. */
static uint32_t words_of(struct cp_recorder_call_blocks *b, const cprof_value *form, uint32_t count,
			 const uint64_t *numbers, bool *alike)
{
	size_t at = ((uintptr_t)form >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 58;
	uint32_t words = count, i;

	if (b->forms[at].form != form) {
		b->forms[at].form = form;
		b->forms[at].texts = any_text(form, count);
	}
	if (!b->forms[at].texts)
		return words;
	*alike = false;
	for (i = 0; i < count; numbers += cprof_value_words(&form[i]), i++)
		if (form[i].kind == CPROF_VALUE_STRING)
			words += 1 + (uint32_t)numbers[2] / 8;
	return words;
}

static void note_most(uint32_t words, uint32_t *most)
{
	if (words > *most)
		*most = words;
}

/* Words that a record has of the event's values, if these are the most so far: of an enter, and
 * of what ends. Has each event with values of such forms as many? */
static bool count_words(struct cp_recorder_call_blocks *b, const cprof_call_event *e,
			uint32_t most[2])
{
	uint32_t words = e->value_count, i;
	bool alike = e->numbers != NULL;

	if (e->numbers && words)
		words = words_of(b, e->form, e->value_count, e->numbers, &alike);
	for (i = 0; !e->numbers && i < e->value_count; i++)
		if (e->values[i].kind == CPROF_VALUE_STRING)
			words += 1 + e->values[i].u.text.length / 8;
	note_most(words, &most[e->kind != CPROF_CALL_ENTER && e->kind != CPROF_CALL_LEAF]);
	if (e->result_form)
		note_most(words_of(b, e->result_form, 1,
				   e->numbers + cp_call_words(e->form, e->value_count), &alike),
			  &most[1]);
	return alike;
}

/* Are its values as many words as those of another event? */
static inline bool counts_like(const cprof_call_event *e, const cprof_call_event *other)
{
	return other && e->form == other->form && e->result_form == other->result_form &&
	       e->kind == other->kind && e->numbers && e->value_count == other->value_count;
}

/* Costs of calls with values of so many words at most: an enter's lie within the call. */
static struct cp_call_costs with_values(struct cp_call_costs costs, const uint32_t words[2])
{
	costs.own_doubt_ps += VALUE_PS * words[0];
	costs.inner_doubt_ps += VALUE_PS * (words[0] + words[1]);
	return costs;
}

bool cp_recorder_call_blocks_take(cprof_profiler *log, struct cp_recorder_call_blocks *b,
				  const cprof_call_event *events, size_t count)
{
	const cprof_call_event *counted = NULL; /* it has as many words as all of its forms */
	uint32_t most[2] = { 0 };
	struct cp_call_entry *to;
	size_t i;

	b->entries.count = b->events = 0;
	if (!b->bare.inner_ps)
		b->bare = cp_module_detour_costs();
	if (!cp_vec_reserve(&b->entries, count))
		return false;
	for (i = 0, to = b->entries.items; i < count; i++) {
		if ((events[i].value_count || events[i].result_form) &&
		    !counts_like(&events[i], counted))
			counted = count_words(b, &events[i], most) ? &events[i] : NULL;
		if (b->most && events[i].depth >= b->most)
			continue;
		b->events += 1 + (events[i].kind == CPROF_CALL_LEAF);
		set_entry(log, b, &events[i], to++);
	}
	b->entries.count = (size_t)(to - b->entries.items);
	b->costs = with_values(b->bare, most);
	return true;
}

void cp_recorder_call_blocks_forget(struct cp_recorder_call_blocks *b)
{
	memset(b->near, 0, sizeof(b->near));
	memset(&b->last, 0, sizeof(b->last));
	memset(b->forms, 0, sizeof(b->forms));
}
