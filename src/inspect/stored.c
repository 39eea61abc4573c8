/* SPDX-License-Identifier: MIT
 *
 * Where arguments are that no convention tells: where debug information has them
 * before the first instruction, in optimised code; what is stored at first where
 * debug information has them later, in other code.
 */
#include "inspect/stored.h"

#include <stdlib.h>

#include "arch/spills.h"
#include "inspect/locate.h"

#define CODE_MAX 2048 /* bytes of a function that are looked at for what it stores */
#define STORED_MAX 256 /* bytes of an argument; none is passed in so many registers */
#define OP_DEREF 0x06 /* DW_OP_* */
#define OP_BREG0 0x70
#define OP_BREG31 0x8f
#define OP_CALL_FRAME_CFA 0x9c
#define OP_STACK_VALUE 0x9f

/* The place in the frame, from the stack pointer of the entry, that debug information
 * means by `said`. False: it means something else. */
static bool frame_place(const struct cp_signature *s, const struct cp_spills *spills,
			const struct cp_place *said, int64_t *ret)
{
	const struct cp_location *base = cp_location_at(&s->function.frame_base, s->function.low);
	const struct cp_piece *p = &said->pieces[0];

	if (said->how != CP_PLACE_DIRECT || said->count != 1 || p->where != CP_PIECE_MEMORY ||
	    !base || !base->size)
		return false;
	*ret = p->offset;
	if (p->number == s->arch->fp)
		*ret += spills->fp;
	else if (p->number != s->arch->sp)
		return false;
	else if (base->expr[0] != OP_CALL_FRAME_CFA)
		*ret += spills->sp;
	return p->number != s->arch->fp || spills->fp;
}

static struct cp_piece piece_of(uint16_t byte, uint32_t at)
{
	struct cp_piece p = { .at = at, .size = 1 };
	unsigned n = byte - 1u;

	if (byte >= CP_SPILL_STACK) {
		p.where = CP_PIECE_MEMORY;
		p.number = cp_arch_x86_64.sp;
		p.offset = byte - CP_SPILL_STACK;
		return p;
	}
	p.where = n < 256 ? CP_PIECE_REGISTER : CP_PIECE_VECTOR;
	p.number = (uint8_t)(n % 256 / 16);
	p.skip = (uint16_t)(n % 16);
	return p;
}

/* The pieces of what was passed that are stored at `frame` in the frame. False: they
 * are not all of the value. */
static bool stored(const struct cp_spills *spills, int64_t frame, const struct cp_type *type,
		   struct cp_place *ret)
{
	uint64_t size = cp_type_strip(type)->size, i;
	struct cp_piece *p = NULL;
	uint16_t byte, last = 0;

	*ret = (struct cp_place){ .how = CP_PLACE_DIRECT };
	if (size > STORED_MAX)
		return false;
	for (i = 0; i < size; i++, last = byte) {
		byte = cp_spills_byte(spills, frame + (int64_t)i);
		if (!byte && cp_type_has_bytes(type, i, i + 1))
			return false;
		if (!byte)
			continue;
		if (p && last && byte == last + 1 && (byte > CP_SPILL_STACK || (byte - 1) % 16)) {
			p->size++;
			continue;
		}
		if (ret->count == CP_PIECES_MAX)
			return false;
		p = &ret->pieces[ret->count++];
		*p = piece_of(byte, (uint32_t)i);
	}
	return ret->count != 0;
}

/* The first location that debug information has, which need not be that of the
 * entry. */
static const struct cp_location *first_of(const struct cp_locations *list)
{
	const struct cp_location *first = list->count ? &list->items[0] : NULL;
	uint32_t i;

	for (i = 1; i < list->count; i++)
		if (list->items[i].low < first->low)
			first = &list->items[i];
	return first && first->size ? first : NULL;
}

/* Places a parameter by what is stored where debug information has it, or its
 * address, first. */
static bool place_stored(struct cp_signature *s, const struct cp_spills *spills,
			 const struct cp_variable *v, struct cp_place *ret)
{
	const struct cp_location *first = first_of(&v->locations);
	struct cp_location at;
	struct cp_variable there = *v;
	struct cp_type pointer = { .kind = CP_TYPE_POINTER, .size = 8 };
	bool indirect;
	struct cp_place said;
	int64_t frame;

	if (!spills || !first)
		return false;
	at = *first;
	at.low = 0;
	at.high = UINT64_MAX;
	indirect = at.expr[at.size - 1] == OP_DEREF;
	at.size -= indirect;
	there.locations = (struct cp_locations){ .items = &at, .count = 1 };
	cp_locate(s, &there, s->function.low, s->arch->ret_size, &said);
	if (!frame_place(s, spills, &said, &frame))
		return false;
	if (frame >= s->arch->ret_size && !indirect) {
		*ret = said; /* where the caller put it */
		ret->pieces[0].number = s->arch->sp;
		ret->pieces[0].offset = frame;
		return true;
	}
	if (!stored(spills, frame, indirect ? &pointer : v->type, ret))
		return false;
	if (indirect && ret->count == 1)
		ret->how = CP_PLACE_INDIRECT;
	return !indirect || ret->count == 1;
}

/* A number that is made of a register of the entry. */
static bool is_made_of_register(const struct cp_signature *s, const struct cp_variable *v,
				const struct cp_place *said)
{
	const struct cp_location *at = cp_location_at(&v->locations, s->function.low);
	unsigned op = at && at->size ? at->expr[0] : 0;

	return said->how == CP_PLACE_DIRECT && said->count == 1 &&
	       said->pieces[0].where == CP_PIECE_COMPUTED && op >= OP_BREG0 && op <= OP_BREG31 &&
	       op - OP_BREG0 != s->arch->sp && op - OP_BREG0 != s->arch->fp &&
	       at->expr[at->size - 1] == OP_STACK_VALUE;
}

static void place_parameter(struct cp_signature *s, const struct cp_spills *spills, size_t i)
{
	const struct cp_variable *v = &s->function.parameters[i];
	struct cp_parameter *p = &s->parameters[i];
	struct cp_place said;

	if (v->constant) {
		cp_signature_set_constant(p, v);
		return;
	}
	if (p->place.how == CP_PLACE_EMPTY)
		return;
	p->source = CPROF_SOURCE_DWARF;
	cp_locate(s, v, s->function.low, s->arch->ret_size, &said);
	if (said.how != CP_PLACE_GONE &&
	    (cp_signature_needs_no_frame(s, v, &said) || is_made_of_register(s, v, &said)))
		p->place = said;
	else if (!place_stored(s, spills, v, &p->place))
		p->place.how = v->locations.count ? CP_PLACE_UNSUPPORTED : CP_PLACE_GONE;
}

struct cp_error *cp_signature_place_by_code(struct cp_signature *s, bool rest)
{
	uint8_t *code = cp_arena_alloc(&s->arena, CODE_MAX);
	struct cp_spills *spills;
	size_t i;

	if (!code)
		return cp_error_nomem();
	i = cp_image_read_constant(s->image, (struct cp_vaddr){ s->function.low }, code, CODE_MAX);
	spills = cp_arch_find_spills(s->arch, code, i, s->function.low);
	for (i = 0; i < s->parameter_count; i++)
		if (!rest || s->parameters[i].place.how == CP_PLACE_UNSUPPORTED)
			place_parameter(s, spills, i);
	free(spills);
	return NULL;
}
