/* SPDX-License-Identifier: MIT */
#include "report/tables/arrows.h"

/* The number of the instruction at an address; the count of all: there is none. */
static size_t find(const struct cp_listing *l, uint64_t address)
{
	size_t i = cp_vec_partition(&l->insns, it, it->address < address);

	return i < l->insns.count && l->insns.items[i].address == address ? i : l->insns.count;
}

static int by_target(const void *va, const void *vb)
{
	const struct cp_arrow *a = va, *b = vb;

	return (a->to > b->to) - (a->to < b->to);
}

static int by_length(const void *va, const void *vb)
{
	const struct cp_arrow *a = va, *b = vb;
	size_t x = a->last - a->first, y = b->last - b->first;

	return x != y ? (x > y) - (x < y) : by_target(va, vb);
}

static bool collect(struct cp_arrows *a)
{
	const struct cp_listing *l = a->listing;
	struct cp_arrow *of;
	size_t i, n = 0, to;

	for (i = 0; i < l->insns.count; i++) {
		to = l->insns.items[i].target ? find(l, l->insns.items[i].target) : l->insns.count;
		if (to == l->insns.count || to == i)
			continue;
		if (!cp_vec_push(&a->items, (struct cp_arrow){ .first = i < to ? i : to,
							       .last = i < to ? to : i,
							       .to = to }))
			return false;
	}
	cp_vec_sort(&a->items, by_target);
	for (i = 0; i < a->items.count; i++) {
		of = n ? &a->items.items[n - 1] : NULL;
		if (!of || of->to != a->items.items[i].to) {
			a->items.items[n++] = a->items.items[i];
			continue;
		}
		if (a->items.items[i].first < of->first)
			of->first = a->items.items[i].first;
		if (a->items.items[i].last > of->last)
			of->last = a->items.items[i].last;
	}
	a->items.count = n;
	cp_vec_sort(&a->items, by_length);
	return true;
}

static bool is_free(const struct cp_arrows *a, size_t count, const struct cp_arrow *arrow,
		    unsigned lane)
{
	const struct cp_arrow *other;
	size_t i;

	for (i = 0; i < count; i++) {
		other = &a->items.items[i];
		if (other->lane == lane && other->first <= arrow->last &&
		    other->last >= arrow->first)
			return false;
	}
	return true;
}

bool cp_arrows_init(struct cp_arrows *a, const struct cp_listing *l, unsigned lanes)
{
	unsigned lane;
	size_t i;

	*a = (struct cp_arrows){ .listing = l };
	if (!collect(a))
		return false;
	for (i = 0; i < a->items.count; i++) {
		for (lane = 1; lane <= lanes && !is_free(a, i, &a->items.items[i], lane); lane++)
			;
		a->items.items[i].lane = lane <= lanes ? lane : 0;
		if (lane <= lanes && lane > a->lanes)
			a->lanes = lane;
	}
	return true;
}

void cp_arrows_deinit(struct cp_arrows *a)
{
	cp_vec_free(&a->items);
}

/* ---- a row ---- */

static const struct cp_arrow *in_lane(const struct cp_arrows *a, unsigned lane, size_t insn)
{
	const struct cp_arrow *it;

	cp_vec_for_each(&a->items, it)
		if (it->lane == lane && it->first <= insn && insn <= it->last)
			return it;
	return NULL;
}

static bool touches(const struct cp_arrows *a, const struct cp_arrow *arrow, size_t insn)
{
	const struct cp_listing *l = a->listing;

	return arrow->to == insn ||
	       l->insns.items[insn].target == l->insns.items[arrow->to].address;
}

void cp_arrows_add(const struct cp_arrows *a, size_t insn, bool between, struct cp_buf *out)
{
	bool flat = false, leads = false; /* a line comes from the left; to the instruction */
	const struct cp_arrow *it;
	unsigned lane;

	for (lane = a->lanes; lane; lane--) {
		it = in_lane(a, lane, insn);
		if (between) {
			cp_buf_str(out, it && it->first < insn ? "│" : " ");
		} else if (it && touches(a, it, insn)) {
			cp_buf_str(out, insn == it->first  ? flat ? "┬" : "╭"
					: insn == it->last ? flat ? "┴" : "╰"
					: flat		   ? "┼"
							   : "├");
			flat = true;
			leads |= it->to == insn;
		} else {
			cp_buf_str(out, it ? flat ? "┼" : "│" : flat ? "─" : " ");
		}
	}
	cp_buf_str(out, leads ? "─►" : flat ? "──" : "  ");
}
