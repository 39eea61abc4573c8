/* SPDX-License-Identifier: MIT */
#include "unwind/lsda.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/cursor.h"

#define HEADER_MAX 64
#define TABLE_MAX (1u << 20) /* bytes of call sites; of actions behind them ACTIONS_MAX */
#define ACTIONS_MAX 4096

#define OMIT 0xff
#define FORMAT 0x0f

struct header {
	uint64_t landing_base; /* of landing pads */
	uint64_t types; /* where they end; 0: there are none */
	uint8_t type_encoding, site_encoding;
	uint64_t sites, site_size; /* address and bytes of the table */
};

/* A number in one of the formats that are used in such tables. */
static uint64_t number(struct cp_cursor *c, uint8_t encoding)
{
	switch (encoding & FORMAT) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return cp_cursor_u64(c);
	case 0x01:
		return cp_cursor_uleb(c);
	case 0x09:
		return (uint64_t)cp_cursor_sleb(c);
	case 0x02:
	case 0x0a:
		return cp_cursor_u16(c);
	case 0x03:
	case 0x0b:
		return cp_cursor_u32(c);
	default:
		c->bad = true;
		return 0;
	}
}

static unsigned type_size(uint8_t encoding)
{
	switch (encoding & FORMAT) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return 8;
	case 0x02:
	case 0x0a:
		return 2;
	case 0x03:
	case 0x0b:
		return 4;
	default:
		return 0;
	}
}

static bool read_header(const struct cp_reader *memory, uint64_t lsda, uint64_t start,
			struct header *ret)
{
	uint8_t bytes[HEADER_MAX], encoding;
	size_t size = memory->read(memory->ctx, lsda, bytes, sizeof(bytes));
	struct cp_cursor c = cp_cursor(bytes, size);
	uint64_t offset;

	*ret = (struct header){ .landing_base = start };
	encoding = cp_cursor_u8(&c);
	if (encoding == 0)
		ret->landing_base = cp_cursor_u64(&c);
	else if (encoding != OMIT)
		return false; /* nobody writes that */
	ret->type_encoding = cp_cursor_u8(&c);
	if (ret->type_encoding != OMIT) {
		offset = cp_cursor_uleb(&c);
		ret->types = lsda + (uint64_t)(c.at - bytes) + offset;
	}
	ret->site_encoding = cp_cursor_u8(&c);
	ret->site_size = cp_cursor_uleb(&c);
	ret->sites = lsda + (uint64_t)(c.at - bytes);
	return !c.bad && ret->site_size && ret->site_size <= TABLE_MAX;
}

/* A row of the call-site table: calls of [from, from + size), and what is done for
 * them. */
struct row {
	uint64_t from, size;
	uint64_t pad; /* 0: none */
	uint64_t action; /* + 1; 0: none */
};

static bool next_row(const struct header *h, struct cp_cursor *c, uint64_t start, struct row *ret)
{
	uint64_t pad;

	if (!cp_cursor_left(c) || c->bad)
		return false;
	ret->from = start + number(c, h->site_encoding);
	ret->size = number(c, h->site_encoding);
	pad = number(c, h->site_encoding);
	ret->pad = pad ? h->landing_base + pad : 0;
	ret->action = cp_cursor_uleb(c);
	return !c->bad;
}

/* The row of the call site that holds `pc`. */
static bool find_row(const struct header *h, struct cp_cursor c, uint64_t pc, uint64_t start,
		     struct row *ret)
{
	while (next_row(h, &c, start, ret) && pc >= ret->from)
		if (pc - ret->from < ret->size)
			return true;
	return false;
}

static void read_actions(const uint8_t *actions, size_t size, uint64_t first,
			 struct cp_lsda_site *ret)
{
	uint64_t at = first - 1;

	while (at < size && ret->count < CP_LSDA_ACTIONS) {
		struct cp_cursor c = cp_cursor(actions + at, size - at);
		int64_t filter = cp_cursor_sleb(&c), next;
		uint64_t from = (uint64_t)(c.at - actions);

		next = cp_cursor_sleb(&c);
		if (c.bad)
			return;
		ret->filters[ret->count++] = filter;
		if (!next)
			return;
		at = from + (uint64_t)next;
	}
}

/* A catch clause without a type. */
static bool is_catch_all(const struct cp_reader *memory, const struct header *h, int64_t filter)
{
	unsigned size = type_size(h->type_encoding), i;
	uint8_t type[8];

	if (!h->types || !size || filter <= 0 || filter > UINT32_MAX ||
	    memory->read(memory->ctx, h->types - (uint64_t)filter * size, type, size) != size)
		return false;
	for (i = 0; i < size; i++)
		if (type[i])
			return false;
	return true;
}

bool cp_lsda_find(const struct cp_reader *memory, uint64_t lsda, uint64_t start,
		  uint64_t return_address, struct cp_lsda_site *ret)
{
	CP_FREE uint8_t *table = NULL;
	struct header h;
	struct row row;
	size_t size;

	*ret = (struct cp_lsda_site){ 0 };
	if (!read_header(memory, lsda, start, &h))
		return false;
	table = malloc(h.site_size + ACTIONS_MAX);
	size = table ? memory->read(memory->ctx, h.sites, table, h.site_size + ACTIONS_MAX) : 0;
	if (size < h.site_size ||
	    !find_row(&h, cp_cursor(table, h.site_size), return_address - 1, start, &row))
		return false;
	ret->landing_pad = row.pad;
	if (row.action)
		read_actions(table + h.site_size, size - h.site_size, row.action, ret);
	ret->catches_all = ret->count && is_catch_all(memory, &h, ret->filters[0]);
	return true;
}

bool cp_lsda_pads(const struct cp_reader *memory, uint64_t lsda, uint64_t start, uint64_t *budget,
		  bool (*each)(void *ctx, const struct cp_lsda_landing *landing), void *ctx)
{
	CP_FREE uint8_t *table = NULL;
	struct cp_cursor c;
	struct header h;
	struct row row;
	bool ok = true;

	if (!read_header(memory, lsda, start, &h) || h.site_size > *budget)
		return true;
	*budget -= h.site_size;
	table = malloc(h.site_size);
	if (!table)
		return false;
	c = cp_cursor(table, memory->read(memory->ctx, h.sites, table, h.site_size));
	while (ok && next_row(&h, &c, start, &row))
		ok = !row.pad ||
		     each(ctx, &(struct cp_lsda_landing){ row.from, row.size, row.pad });
	return ok;
}
