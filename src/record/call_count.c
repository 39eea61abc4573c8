/* SPDX-License-Identifier: MIT */
#include "record/call_count.h"

#include "record/call_decode.h"
#include "record/call_encode.h"

/* ---- a section ---- */

static bool pass(struct cp_cursor *c, size_t count, unsigned columns)
{
	while (columns-- && !c->bad)
		cp_record_pass_column(c, count);
	return !c->bad;
}

static bool count_kinds(const uint64_t *how, struct cp_record_call_section *section)
{
	uint32_t kinds[CP_RECORD_CALL_KINDS + 1] = { 0 };
	size_t i;

	for (i = 0; i < section->count; i++) {
		uint64_t kind = cp_record_call_kind(how[i]);

		kinds[kind < CP_RECORD_CALL_KINDS ? kind : CP_RECORD_CALL_KINDS]++;
	}
	section->disarmed = kinds[CP_RECORD_DISARMED];
	kinds[CP_RECORD_DISARMED] = 0;
	for (i = 0; i < CP_RECORD_CALL_KINDS; i++)
		section->by_family[cp_record_kind_family((unsigned)i)] += kinds[i];
	return !kinds[CP_RECORD_CALL_KINDS]; /* of a later version */
}

static bool pass_texts(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t count = cp_cursor_uleb(c), i;

	if (!cp_record_decode_columns(d, c, count, 1))
		return false;
	for (i = 0; i < count; i++)
		if (d->column.items[i] >= cp_cursor_left(c) ||
		    !cp_cursor_bytes(c, (size_t)d->column.items[i] + 1))
			return false;
	return true;
}

/* The nodes of all values that `used` are of, by event the number of a layout, + 1. */
static bool count_nodes(struct cp_record_decoder *d, struct cp_cursor *c, const uint64_t *used,
			size_t events, uint64_t *nodes_ret)
{
	uint64_t layouts = cp_cursor_uleb(c), nodes = 0;
	size_t i;

	if (!cp_record_decode_columns(d, c, layouts, 1))
		return false;
	for (i = 0; i < layouts; i++)
		if (d->column.items[i] > CP_RECORD_VALUES_MAX)
			return false;
	for (i = 0; i < events; i++) {
		if (used[i] > layouts)
			return false;
		nodes += used[i] ? d->column.items[used[i] - 1] : 0;
	}
	*nodes_ret = nodes;
	return true;
}

static bool is_plain(struct cp_record_decoder *d, struct cp_cursor *c,
		     struct cp_record_call_section *section)
{
	CP_VEC(uint64_t) used = { 0 };
	size_t count = section->count;
	uint64_t nodes = UINT64_MAX;
	bool ok;

	if (!pass(c, count, CP_CALL_HOW) || !cp_record_decode_columns(d, c, count, 1) ||
	    !count_kinds(d->column.items, section) ||
	    !pass(c, count, CP_CALL_LAYOUT - CP_CALL_HOW - 1) || !cp_vec_reserve(&used, count + 1))
		return false;
	cp_record_get_column(c, used.items, count);
	ok = pass(c, count, CP_CALL_COLUMNS - CP_CALL_LAYOUT - 1) && pass_texts(d, c) &&
	     count_nodes(d, c, used.items, count, &nodes);
	cp_vec_free(&used);
	return ok && nodes <= cp_record_call_budget(section->size);
}

void cp_record_count_section(struct cp_record_decoder *d, struct cp_cursor c,
			     struct cp_record_call_section *section)
{
	section->plain = is_plain(d, &c, section);
}

/* ---- all of them ---- */

static bool can_be_believed(const struct cp_record *r)
{
	const struct cp_record_call_section *section;
	const cprof_value *shape;

	cp_vec_for_each(&r->call_sections, section)
		if (!section->plain)
			return false;
	cp_vec_for_each(&r->shapes, shape)
		if (shape->kind > CPROF_VALUE_VOID)
			return false; /* of a later version: such values are missing */
	return true;
}

bool cp_record_believe_sections(struct cp_record *r, enum cp_record_call_family disarmed)
{
	struct cp_record_call_section *section;
	size_t i;

	if (!can_be_believed(r))
		return false;
	cp_vec_for_each(&r->call_sections, section) {
		section->kept = section->count;
		r->call_counts[disarmed] += section->disarmed;
		for (i = 0; i < CP_RECORD_CALL_FAMILIES; i++)
			r->call_counts[i] += section->by_family[i];
	}
	return true;
}
