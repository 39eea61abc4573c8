/* SPDX-License-Identifier: MIT */
#include "report/profile/spots.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Listings in which a location is: a chain. */
struct link {
	uint32_t listing;
	uint32_t place; /* of the listing's */
	uint32_t next; /* link + 1; 0: the last */
};

struct building {
	struct cp_spots *s;
	const struct cp_profile *p;
	CP_VEC(struct link) links;
	uint32_t *first; /* by location: link + 1 */
	CP_VEC(uint32_t) codes; /* of the stack being looked at */
};

static uint64_t key_of(uint32_t listing, uint32_t row, bool insn)
{
	return (uint64_t)listing << 33 | (uint64_t)row << 1 | insn;
}

uint32_t cp_spots_of(const struct cp_spots *s, uint32_t listing, uint32_t row, bool insn)
{
	const uint64_t *number = cp_map_get(&s->numbers, key_of(listing, row, insn));

	return number ? (uint32_t)*number - 1 : CP_RECORD_NONE;
}

/* Without twins, of which one may be the stack's own. */
static CP_ERROR add_code(struct building *b, uint32_t listing, uint32_t row, bool insn, bool own)
{
	struct cp_spots *s = b->s;
	uint32_t spot = cp_spots_of(s, listing, row, insn);
	size_t i;

	if (spot == CP_RECORD_NONE) {
		spot = (uint32_t)s->spots.count;
		if (!cp_vec_push(&s->spots, ((struct cp_spot){ listing, row, insn })) ||
		    !cp_map_put(&s->numbers, key_of(listing, row, insn), spot + 1))
			return cp_error_nomem();
	}
	for (i = 0; i < b->codes.count; i++) {
		if (b->codes.items[i] >> 1 != spot)
			continue;
		b->codes.items[i] |= own;
		return NULL;
	}
	return cp_vec_push(&b->codes, spot << 1 | own) ? NULL : cp_error_nomem();
}

static CP_ERROR add_place(struct building *b, uint32_t listing, uint32_t number, bool leaf)
{
	const struct cp_listing *l = b->s->listings.items[listing];
	const struct cp_listing_place *place = &l->places.items[number];
	uint32_t i, insn;

	for (i = 0; i < place->count; i++)
		CP_TRY(add_code(b, listing, l->place_lines.items[place->first + i], false,
				leaf && !i));
	insn = place->own ? cp_listing_insn_at(l, place->address) : 0;
	return insn ? add_code(b, listing, insn - 1, true, leaf) : NULL;
}

static CP_ERROR look_at(struct building *b, uint32_t stack)
{
	struct cp_spots *s = b->s;
	const uint32_t *locations;
	uint32_t flags, link, set;
	size_t count, i, k;
	bool fresh;

	b->codes.count = 0;
	locations = cp_record_get_stack(b->p->record, stack, &count, &flags);
	for (i = 0; i < count; i++) {
		if (locations[i] >= cp_record_location_count(b->p->record))
			continue;
		for (link = b->first[locations[i]]; link; link = b->links.items[link - 1].next)
			CP_TRY(add_place(b, b->links.items[link - 1].listing,
					 b->links.items[link - 1].place, !i));
	}
	if (!b->codes.count)
		return NULL;
	if (!cp_intern(&s->set_keys, b->codes.items, b->codes.count * sizeof(*b->codes.items), &set,
		       &fresh))
		return cp_error_nomem();
	s->by_stack[stack] = set + 1;
	for (k = 0; fresh && k < b->codes.count; k++)
		if (!cp_vec_push(&s->codes, b->codes.items[k]))
			return cp_error_nomem();
	return !fresh || cp_vec_push(&s->sets, s->codes.count) ? NULL : cp_error_nomem();
}

static CP_ERROR chain(struct building *b)
{
	uint32_t n, k;

	for (n = 0; n < b->s->listings.count; n++) {
		const struct cp_listing *l = b->s->listings.items[n];

		for (k = 0; k < l->places.count; k++) {
			uint32_t *first = &b->first[l->places.items[k].location];
			struct link link = { n, k, *first };

			if (!cp_vec_push(&b->links, link))
				return cp_error_nomem();
			*first = (uint32_t)b->links.count;
		}
	}
	return NULL;
}

static CP_ERROR build(struct building *b)
{
	const struct cp_hit *hit;

	CP_TRY(chain(b));
	if (!cp_vec_push(&b->s->sets, 0))
		return cp_error_nomem();
	cp_vec_for_each(&b->p->hits, hit)
		if (hit->stack < cp_record_stack_count(b->p->record) && !b->s->by_stack[hit->stack])
			CP_TRY(look_at(b, hit->stack));
	return NULL;
}

CP_ERROR cp_spots_build(struct cp_spots *s, const struct cp_profile *p)
{
	struct building b = { .s = s, .p = p };
	struct cp_error *err;

	b.first = calloc(cp_record_location_count(p->record) + 1, sizeof(*b.first));
	s->by_stack = calloc(cp_record_stack_count(p->record) + 1, sizeof(*s->by_stack));
	err = b.first && s->by_stack ? build(&b) : cp_error_nomem();
	free(b.first);
	cp_vec_free(&b.links);
	cp_vec_free(&b.codes);
	return err;
}

void cp_spots_clear(struct cp_spots *s)
{
	cp_vec_free(&s->spots);
	cp_vec_free(&s->codes);
	cp_vec_free(&s->sets);
	free(s->by_stack);
	s->by_stack = NULL;
	cp_interner_free(&s->set_keys);
	s->set_keys = (struct cp_interner){ 0 };
	cp_map_free(&s->numbers);
	s->numbers = (struct cp_map){ 0 };
}

void cp_spots_deinit(struct cp_spots *s)
{
	size_t i;

	cp_spots_clear(s);
	for (i = 0; i < s->listings.count; i++)
		cp_listing_destroy(s->listings.items[i]);
	cp_vec_free(&s->listings);
}
