/* SPDX-License-Identifier: MIT
 *
 * Where debug information says that a variable is, as a place. Which memory
 * has to be fetched must be known before a stop, so the expression is
 * evaluated with registers that hold names instead of values: far apart, so
 * that the sum of one of them and an offset tells which one it was. What does
 * more to a register, such as adding another one, is computed when the registers
 * are known, as far as they are enough. A number of the program's may look like a
 * name, so all is done again with other names: what stays is a number.
 *
 *     fbreg -20, frame base call_frame_cfa     =>  sp + 8 - 20
 *     breg5 0, breg4 0, plus, stack_value      =>  later
 */
#include "inspect/locate.h"

#include "inspect/classify.h"
#include "inspect/made_types.h"

#include <string.h>

#define SHIFT CP_LOCATION_NAME_SHIFT
#define FRAME_POINTER_BASE 0x56 /* DW_OP_reg6 */
#define AGAIN_SHIFT 20
#define FAR (INT64_C(1) << 31)
#define MAX_DEPTH 16

/* The register that `value` is near to, and how far from it. */
static bool split(uint64_t value, uint8_t *number_ret, int64_t *offset_ret)
{
	uint64_t number = (value + (UINT64_C(1) << (SHIFT - 1))) >> SHIFT;
	int64_t offset = (int64_t)(value - (number << SHIFT));

	if (!number || number > CP_REG_MAX || offset >= FAR || offset <= -FAR)
		return false;
	*number_ret = (uint8_t)(number - 1);
	*offset_ret = offset;
	return true;
}

/* The name of a register: the second time another one. */
static uint64_t name_of(unsigned number, bool again)
{
	return ((uint64_t)number + 1) << SHIFT |
	       (again ? ((uint64_t)number + 1) << AGAIN_SHIFT : 0);
}

/* As split(), of a value that was `again` with the other names. */
static bool split_surely(uint64_t value, uint64_t again, struct cp_piece *p)
{
	return split(value, &p->number, &p->offset) &&
	       again == name_of(p->number, true) + (uint64_t)p->offset;
}

/* A DWARF register as a piece; false: it is not captured. */
static bool register_piece(const struct cp_arch *arch, uint64_t number, struct cp_piece *p)
{
	bool sysv = arch == &cp_arch_x86_64;
	uint64_t vector = sysv ? 17 : 64;

	if (number < arch->nregs) {
		p->where = CP_PIECE_REGISTER;
		p->number = (uint8_t)number;
		return true;
	}
	if (number >= vector && number < vector + CP_ARCH_VECTORS) {
		p->where = CP_PIECE_VECTOR;
		p->number = (uint8_t)(number - vector);
		return true;
	}
	if (sysv && (number == 33 || number == 34)) {
		p->where = CP_PIECE_X87;
		p->number = (uint8_t)(number - 33);
		return true;
	}
	return false;
}

/* `again`: with the other names. */
static bool to_piece(const struct cp_arch *arch, const struct cp_located *part,
		     const struct cp_located *again, uint64_t room, struct cp_piece *p)
{
	uint64_t most = part->kind == CP_LOCATED_BYTES ? part->value : room;

	if (part->size)
		most = part->size < room ? part->size : room;
	p->size = (uint32_t)(most < UINT16_MAX ? most : UINT16_MAX);
	p->skip = (uint16_t)part->skip;
	switch (part->kind) {
	case CP_LOCATED_REGISTER:
		return register_piece(arch, part->value, p);
	case CP_LOCATED_MEMORY:
		p->where = CP_PIECE_MEMORY;
		return split_surely(part->value, again->value, p);
	case CP_LOCATED_VALUE:
		p->where = CP_PIECE_SUM;
		if (part->value != again->value)
			return split_surely(part->value, again->value, p);
		p->number = UINT8_MAX; /* a number of its own */
		p->offset = (int64_t)part->value;
		return true;
	case CP_LOCATED_BYTES:
		p->where = CP_PIECE_CONSTANT;
		p->bytes = part->bytes;
		return part->bytes != NULL;
	case CP_LOCATED_IMPLIED:
		p->where = CP_PIECE_IMPLIED;
		p->bytes = part->bytes;
		return true;
	default:
		p->where = CP_PIECE_NOWHERE;
		return true;
	}
}

/* Puts off a location that takes more than the names of registers. */
static void put_off(const struct cp_location *at, const struct cp_location *base, bool frame,
		    int64_t cfa_offset, uint64_t size, struct cp_place *ret)
{
	*ret = (struct cp_place){ .how = CP_PLACE_DIRECT, .count = 1 };
	ret->pieces[0] = (struct cp_piece){
		.where = CP_PIECE_COMPUTED,
		.number = frame ? CP_COMPUTED_FRAME : 0,
		.size = (uint32_t)(size < UINT16_MAX ? size : UINT16_MAX),
		.offset = cfa_offset,
		.location = at,
		.base = base,
	};
}

void cp_locate_static(const struct cp_location *at, uint64_t size, struct cp_place *ret)
{
	put_off(at, NULL, false, 0, size, ret);
}

enum cp_location_status cp_locate_now(const struct cp_piece *piece,
				      const struct cp_capture *capture, struct cp_located *ret,
				      size_t *count_ret)
{
	const struct cp_arch *arch = cp_arch_host();
	bool at_exit = piece->number & CP_COMPUTED_AT_EXIT;
	struct cp_regs regs = capture->regs;
	struct cp_location_env env = {
		.arch = arch,
		.regs = &regs,
		.entry = capture->entry,
		.passed = capture->passed,
		.memory = at_exit ? NULL : capture->memory,
		.bias = capture->bias,
	};

	*count_ret = 0;
	if (regs.known >> arch->sp & 1)
		env.cfa = regs.r[arch->sp] + (uint64_t)piece->offset;
	if (at_exit)
		regs.known &= ~(arch->callee_saved & ~(UINT64_C(1) << arch->sp));
	if (piece->number & CP_COMPUTED_FRAME && env.cfa) {
		regs.r[arch->fp] = env.cfa - 16;
		regs.known |= UINT64_C(1) << arch->fp;
	}
	if (piece->base) {
		env.frame_base = piece->base->expr;
		env.frame_base_size = piece->base->size;
	}
	return cp_location_evaluate(&env, piece->location->expr, piece->location->size, ret,
				    count_ret);
}

bool cp_locate_is_fixed(const struct cp_piece *piece)
{
	const struct cp_capture nothing = { .fetched = NULL };
	struct cp_located parts[CP_LOCATED_MAX];
	size_t count;

	return piece->where == CP_PIECE_COMPUTED &&
	       cp_locate_now(piece, &nothing, parts, &count) == CP_LOCATION_OK && count == 1 &&
	       parts[0].kind == CP_LOCATED_VALUE;
}

bool cp_locate_is_callers(const struct cp_piece *piece)
{
	return piece->where == CP_PIECE_COMPUTED && piece->location->size &&
	       *piece->location->expr == CP_OP_PASSED;
}

/* True when what the function was entered with, which is gone for good, is all that it
 * takes. */
bool cp_locate_lacks_entry(const struct cp_piece *piece, const struct cp_capture *capture)
{
	const struct cp_regs all = { .known = UINT64_MAX };
	const struct cp_passed any = { .all = true };
	struct cp_capture whole = *capture;
	struct cp_located unused[CP_LOCATED_MAX];
	size_t count;

	whole.entry = &all;
	whole.passed = &any;
	return cp_locate_now(piece, &whole, unused, &count) == CP_LOCATION_OK;
}

/* Do members of a value at `base` have bytes from `at` up to `end`? Of types that
 * lead to themselves they may. */
static bool has_bytes(const struct cp_type *type, uint64_t base, uint64_t at, uint64_t end,
		      unsigned depth, unsigned *budget)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	if (!*budget)
		return true;
	--*budget;
	if (t && (base >= end || base + t->size <= at))
		return false;
	d = t && t->kind == CP_TYPE_STRUCT && depth < MAX_DEPTH ? cp_type_details(t) : NULL;
	if (!d)
		return true;
	for (i = 0; i < d->member_count; i++)
		if (d->members[i].flags & CP_MEMBER_BITS ||
		    has_bytes(d->members[i].type, base + d->members[i].offset, at, end, depth + 1,
			      budget))
			return true;
	for (i = 0; i < d->variant_count; i++)
		if (has_bytes(d->variants[i].member.type, base + d->variants[i].member.offset, at,
			      end, depth + 1, budget))
			return true;
	return d->discriminant && has_bytes(d->discriminant->type, base + d->discriminant->offset,
					    at, end, depth + 1, budget);
}

bool cp_type_has_bytes(const struct cp_type *type, uint64_t at, uint64_t end)
{
	unsigned budget = CP_CLASSIFY_BUDGET;

	return has_bytes(type, 0, at, end, 0, &budget);
}

/* Bytes between members may be anything: nothing keeps them, and any number will do. */
static void fill_padding(const struct cp_type *type, struct cp_piece *p)
{
	if (p->where != CP_PIECE_NOWHERE || p->size > sizeof(uint64_t) ||
	    cp_type_has_bytes(type, p->at, p->at + p->size))
		return;
	p->where = CP_PIECE_SUM;
	p->number = UINT8_MAX;
	p->offset = 0;
}

/* Where a frame that stands at `pc` is. */
struct standing {
	const struct cp_arch *arch;
	const struct cp_location *base;
	int64_t cfa_offset;
	bool below; /* the frame pointer is known to be below the return address */
};

/* More pieces than a place has, or such as are not of whole bytes. */
static bool are_many(const struct cp_located *parts, size_t count)
{
	size_t i;

	for (i = 0; i < count && !parts[i].size_bits && !parts[i].skip_bits; i++)
		;
	return i < count || count > CP_PIECES_MAX;
}

/* Evaluates with names for registers. */
static enum cp_location_status with_names(const struct standing *f, const struct cp_location *at,
					  bool again, struct cp_located parts[CP_LOCATED_MAX],
					  size_t *count_ret)
{
	struct cp_regs regs = { .known = UINT64_MAX };
	struct cp_location_env env = { .arch = f->arch, .regs = &regs, .named = true };
	unsigned i;

	for (i = 0; i < CP_REG_MAX; i++)
		regs.r[i] = name_of(i, again);
	env.cfa = regs.r[f->arch->sp] + (uint64_t)f->cfa_offset;
	if (f->below)
		regs.r[f->arch->fp] = env.cfa - 16;
	env.frame_base = f->base ? f->base->expr : NULL;
	env.frame_base_size = f->base ? f->base->size : 0;
	*count_ret = 0;
	return cp_location_evaluate(&env, at->expr, at->size, parts, count_ret);
}

void cp_locate(const struct cp_signature *s, const struct cp_variable *v, uint64_t pc,
	       int64_t cfa_offset, struct cp_place *ret)
{
	const struct cp_location *at = cp_location_at(&v->locations, pc);
	const struct cp_location *base = cp_location_at(&s->function.frame_base, pc);
	const struct cp_type *t = cp_type_strip(v->type);
	struct cp_located parts[CP_LOCATED_MAX], again[CP_LOCATED_MAX];
	/* Behind `pop %rbp` the frame is still where it was, below the caller's. */
	struct standing frame = {
		.arch = s->arch,
		.base = base,
		.cfa_offset = cfa_offset,
		.below = pc != s->function.low && base && base->size == 1 &&
			 s->arch == &cp_arch_x86_64 && base->expr[0] == FRAME_POINTER_BASE,
	};
	enum cp_location_status status;
	uint64_t done = 0;
	size_t count = 0, count_again = 0, i;

	*ret = (struct cp_place){ .how = CP_PLACE_GONE };
	if (!at || !at->size || !t)
		return;
	ret->how = CP_PLACE_UNSUPPORTED;
	status = with_names(&frame, at, false, parts, &count);
	if (status == CP_LOCATION_OK) {
		status = with_names(&frame, at, true, again, &count_again);
		if (status != CP_LOCATION_OK || count != count_again)
			status = CP_LOCATION_UNKNOWN; /* a jump, decided by a name */
	}
	if (status == CP_LOCATION_UNKNOWN || (status == CP_LOCATION_OK && are_many(parts, count)))
		put_off(at, base, frame.below, cfa_offset, t->size, ret);
	if (ret->how == CP_PLACE_DIRECT || status != CP_LOCATION_OK)
		return;
	for (i = 0; i < count && done < t->size; i++) {
		ret->pieces[i].at = (uint32_t)done;
		if (!to_piece(s->arch, &parts[i], &again[i], t->size - done, &ret->pieces[i])) {
			if (parts[i].kind == CP_LOCATED_VALUE)
				put_off(at, base, frame.below, cfa_offset, t->size, ret);
			return;
		}
		fill_padding(t, &ret->pieces[i]);
		done += ret->pieces[i].size;
		ret->count++;
	}
	/* The rest of a value whose pieces are not all of it is nowhere. */
	if (done < t->size && count && count < CP_PIECES_MAX && parts[count - 1].size) {
		ret->pieces[ret->count] = (struct cp_piece){
			.where = CP_PIECE_NOWHERE,
			.at = (uint32_t)done,
			.size = (uint32_t)(t->size - done < UINT16_MAX ? t->size - done
								       : UINT16_MAX),
		};
		fill_padding(t, &ret->pieces[ret->count++]);
	}
	ret->how = CP_PLACE_DIRECT;
}

struct cp_place cp_locate_in_frame(const struct cp_signature *s, const struct cp_variable *v,
				   const struct cp_value_frame *frame)
{
	struct cp_place place = { .how = CP_PLACE_DIRECT, .count = 1 };

	if (cp_type_is_empty(v->type))
		return (struct cp_place){ .how = CP_PLACE_EMPTY };
	if (!v->constant) {
		cp_locate(s, v, frame->pc.v, frame->cfa_offset, &place);
		return place;
	}
	place.pieces[0] = (struct cp_piece){ .where = CP_PIECE_CONSTANT,
					     .size = v->value_size,
					     .bytes = v->value };
	return place;
}
