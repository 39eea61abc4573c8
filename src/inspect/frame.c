/* SPDX-License-Identifier: MIT
 *
 * Variables in the middle of a function: of a caller, whose frame stands, with
 * the registers that the walk recovered. Here debug information is right, other
 * than at an entry, so there is one rule: what it says. The exception is who was
 * interrupted while an unoptimised function sets up its frame: its arguments have
 * a place in memory by then, says debug information, and are still in registers.
 */
#include "inspect/frame.h"

#include <string.h>

#include "arch/decoder.h"
#include "inspect/locate.h"
#include "inspect/made_types.h"
#include "inspect/plan.h"
#include "inspect/value.h"

#define PROLOGUE_MAX 4096 /* bytes */
#define FRAME_OFFSET 0x91 /* DW_OP_fbreg */
#define DIMENSIONS_MAX 8
#define COUNT_MAX (UINT64_C(1) << 40)

CP_ERROR cp_signature_read_frame(struct cp_image *image, struct cp_vaddr at, size_t level,
				 const struct cp_value_limits *limits, struct cp_signature **ret)
{
	struct cp_signature *s = cp_signature_new(image, limits);

	if (!s)
		return cp_error_nomem();
	s->described = cp_image_frame_function(image, at, level, &s->arena, &s->function);
	*ret = s;
	return NULL;
}

/* ---- arrays whose size the frame tells ---- */

/* What a frame's values are made of. */
struct looking {
	const struct cp_value_request *request;
	const struct cp_value_frame *frame;
};

static const struct cp_type number_type = { .kind = CP_TYPE_UINT, .size = 8, .text = "" };

static const struct cp_locations *bound_locations(const struct cp_function_info *f,
						  const struct cp_type_bound *bound)
{
	uint32_t i;

	for (i = 0; !bound->locations.count && i < f->local_count; i++)
		if (f->locals[i].die == bound->variable)
			return &f->locals[i].locations;
	return &bound->locations;
}

static bool count_of(const struct looking *l, const struct cp_type_bound *bound, uint64_t *ret)
{
	const struct cp_signature *s = l->request->signature;
	struct cp_variable v = { .name = "",
				 .type = &number_type,
				 .locations = *bound_locations(&s->function, bound) };
	struct cp_parameter p = { .name = "", .type = &number_type };
	uint64_t address, number = 0;
	const uint8_t *bytes;
	uint8_t error;
	size_t size;

	p.place = cp_locate_in_frame(s, &v, l->frame);
	bytes = cp_parameter_bytes(l->request, &p, &size, &address, &error);
	if (!bytes || size != sizeof(number))
		return false;
	memcpy(&number, bytes, sizeof(number));
	number += (uint64_t)bound->add;
	*ret = number < COUNT_MAX ? number : 0;
	return true;
}

/* The type with all that the frame knows of its size; `type` itself where that is nothing. */
static const struct cp_type *counted(const struct looking *l, const struct cp_type *type,
				     unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type), *target, *made = NULL;
	struct cp_arena *arena = &l->request->arena->memory;
	uint64_t count;

	if (!t || depth > DIMENSIONS_MAX || !t->target ||
	    (t->kind != CP_TYPE_ARRAY && t->kind != CP_TYPE_POINTER))
		return type;
	target = cp_type_strip(t->target)->kind == CP_TYPE_ARRAY ? counted(l, t->target, depth + 1)
								 : t->target;
	count = t->count;
	if (t->kind == CP_TYPE_ARRAY && t->bound && count_of(l, t->bound, &count))
		made = cp_type_array_of(arena, target, count);
	else if (target != t->target)
		made = t->kind == CP_TYPE_POINTER ? cp_type_pointer_to(arena, target)
						  : cp_type_array_of(arena, target, count);
	return made ? made : type;
}

/* The variables in scope, in the arena; the types' details are read. */
static struct cp_parameter *in_scope(const struct looking *l, size_t *count_ret)
{
	const struct cp_signature *s = l->request->signature;
	const struct cp_value_frame *frame = l->frame;
	struct cp_value_arena *arena = l->request->arena;
	const struct cp_function_info *f = &s->function;
	struct cp_variable v;
	const struct cp_variable *all = frame->locals ? f->locals : f->parameters;
	uint32_t total = frame->locals ? f->local_count : f->parameter_count, i;
	struct cp_parameter *found = cp_arena_array(&arena->memory, total + 1u, sizeof(*found));
	struct cp_fetches unused = { 0 };
	unsigned flags = 0;

	*count_ret = 0;
	for (i = 0; found && s->described && i < total; i++) {
		struct cp_parameter *p = &found[*count_ret];

		if (frame->locals && !cp_variable_in_scope(&all[i], frame->pc.v))
			continue;
		v = all[i];
		v.type = counted(l, v.type, 0);
		p->name = v.name;
		p->type = v.type;
		p->source = v.constant ? CPROF_SOURCE_CONST : CPROF_SOURCE_DWARF;
		p->place = cp_locate_in_frame(s, &v, frame);
		if (!cp_plan_parameter(s, s->image, p, &unused, &flags))
			break;
		++*count_ret;
	}
	cp_vec_free(&unused.list);
	return found;
}

/* Compiled without optimisation: each parameter is in one place, in memory. */
static bool is_unoptimised(const struct cp_signature *s)
{
	const struct cp_function_info *f = &s->function;
	const struct cp_location *at;
	uint32_t i;

	for (i = 0; i < f->parameter_count; i++) {
		at = f->parameters[i].locations.items;
		if (f->parameters[i].locations.count != 1 || at->low || at->high != UINT64_MAX ||
		    !at->size || at->expr[0] != FRAME_OFFSET)
			return false;
	}
	return f->parameter_count != 0;
}

static bool is_in_prologue(const struct cp_signature *s, const struct cp_value_frame *frame)
{
	uint64_t entry = s->function.low;

	return s->described && s->parameter_count == s->function.parameter_count &&
	       frame->pc.v >= entry && frame->pc.v - entry < PROLOGUE_MAX && is_unoptimised(s) &&
	       frame->pc.v < cp_image_prologue_end(s->image, (struct cp_vaddr){ entry });
}

/* ---- while a frame is set up ---- */

struct prologue {
	struct cp_capture entry; /* as it was there, but for registers that are lost */
	struct cp_arch_arguments registers;
	const struct cp_parameter *parameters; /* where debug information has them */
	size_t count;
};

static bool begin_prologue(const struct cp_signature *s, const struct cp_capture *capture,
			   const struct cp_value_frame *frame, struct cp_value_arena *arena,
			   struct prologue *ret)
{
	const struct cp_value_request request = { s, capture, arena, NULL, frame };
	struct cp_vaddr entry = { s->function.low };
	uint8_t code[PROLOGUE_MAX];
	size_t size;

	if (frame->locals || !is_in_prologue(s, frame))
		return false;
	size = cp_image_read_constant(s->image, entry, code, frame->pc.v - entry.v);
	ret->entry = *capture;
	/* The stack pointer was below the return address. */
	ret->entry.regs.r[s->arch->sp] += (uint64_t)(frame->cfa_offset - s->arch->ret_size);
	if (!arena->decoder)
		arena->decoder = cp_decoder_create(s->arch);
	ret->registers = cp_arch_follow_arguments(arena->decoder, code, size, entry.v, frame->pc.v);
	ret->parameters = in_scope(&(struct looking){ &request, frame }, &ret->count);
	return ret->parameters && ret->count == s->parameter_count;
}

enum whereabouts { PASSED, STORED, LOST };

/* Whereabouts of an argument: as it was passed, where debug information says,
 * nowhere. */
static enum whereabouts whereabouts_of(const struct prologue *p, const struct cp_place *place)
{
	bool kept = true, stored = true;
	unsigned i;

	for (i = 0; i < place->count; i++) {
		const struct cp_piece *piece = &place->pieces[i];

		if (piece->where == CP_PIECE_REGISTER) {
			kept &= p->registers.kept >> piece->number & 1;
			stored &= p->registers.stored >> piece->number & 1;
		} else if (piece->where == CP_PIECE_VECTOR) {
			kept &= p->registers.vectors_kept >> piece->number & 1;
			stored &= p->registers.vectors_stored >> piece->number & 1;
		} else {
			stored = false;
		}
	}
	return kept ? PASSED : stored ? STORED : LOST;
}

/* The request and the parameter that make argument `position`; false: neither. */
static bool argument_at(const struct prologue *p, const struct cp_signature *s, size_t position,
			const struct cp_capture *now, struct cp_value_request *request,
			const struct cp_parameter **ret)
{
	enum whereabouts where = whereabouts_of(p, &s->parameters[position].place);

	request->capture = where == STORED ? now : &p->entry;
	*ret = where == STORED ? &p->parameters[position] : &s->parameters[position];
	return where != LOST;
}

static const cprof_value *prologue_values(const struct prologue *p, const struct cp_signature *s,
					  const struct cp_capture *capture,
					  struct cp_value_arena *arena, size_t *count_ret)
{
	struct cp_value_request request = { s, capture, arena, NULL };
	cprof_value *values = cp_arena_array(&arena->memory, p->count, sizeof(*values));
	const struct cp_parameter *parameter;
	size_t i;

	*count_ret = values ? p->count : 0;
	for (i = 0; values && i < p->count; i++) {
		if (argument_at(p, s, i, capture, &request, &parameter)) {
			cp_value_of_parameter(&request, parameter, &values[i]);
			continue;
		}
		values[i] = (cprof_value){ .name = parameter->name,
					   .type = parameter->type ? parameter->type->text : "",
					   .error = CPROF_VALUE_UNAVAILABLE };
	}
	return values;
}

/* ---- values ---- */

const cprof_value *cp_frame_values(const struct cp_signature *s, const struct cp_capture *capture,
				   const struct cp_value_frame *frame, struct cp_value_arena *arena,
				   size_t *count_ret)
{
	struct cp_value_request request = { s, capture, arena, NULL, frame };
	struct prologue prologue;
	struct cp_parameter *p;
	cprof_value *values;
	size_t count, i;

	if (begin_prologue(s, capture, frame, arena, &prologue))
		return prologue_values(&prologue, s, capture, arena, count_ret);
	p = in_scope(&(struct looking){ &request, frame }, &count);
	values = cp_arena_array(&arena->memory, count + 1, sizeof(*values));
	*count_ret = 0;
	if (!values || !p)
		return NULL;
	for (i = 0; i < count; i++)
		cp_value_of_parameter(&request, &p[i], &values[i]);
	*count_ret = count;
	return values;
}

const struct cp_parameter *cp_frame_parameter(struct cp_value_request *request,
					      const struct cp_value_frame *frame, size_t position)
{
	const struct cp_signature *s = request->signature;
	const struct cp_capture *capture = request->capture;
	struct prologue *prologue = cp_arena_alloc(&request->arena->memory, sizeof(*prologue));
	const struct cp_parameter *p;
	size_t count;

	if (!prologue)
		return NULL;
	if (begin_prologue(s, capture, frame, request->arena, prologue))
		return position < prologue->count &&
				       argument_at(prologue, s, position, capture, request, &p)
			       ? p
			       : NULL;
	p = in_scope(&(struct looking){ request, frame }, &count);
	return p && position < count ? p + position : NULL;
}

bool cp_frame_bytes(const struct cp_signature *s, const struct cp_capture *capture,
		    const struct cp_value_frame *frame, size_t position,
		    struct cp_value_arena *arena, struct cp_value_bytes *ret)
{
	struct cp_value_request request = { s, capture, arena, NULL, frame };
	const struct cp_parameter *p = cp_frame_parameter(&request, frame, position);
	uint8_t error;

	if (!p)
		return false;
	ret->at = cp_parameter_bytes(&request, p, &ret->size, &ret->address, &error);
	return ret->at != NULL;
}
