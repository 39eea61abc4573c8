/* SPDX-License-Identifier: MIT
 *
 * What a signature says, once it is made.
 */
#include "inspect/signature.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/classify.h"

#define OP_FBREG 0x91 /* DW_OP_* */
#define OP_CALL_FRAME_CFA 0x9c

const struct cp_value_limits cp_value_limits_default = {
	.depth = 3, .pointers = 1, .string = 200, .elements = 64, .value = 4096, .total = 65536
};

struct cp_value_limits cp_value_limits_of(uint32_t depth, uint32_t string)
{
	struct cp_value_limits limits = cp_value_limits_default;

	if (depth) {
		limits.depth = depth;
		limits.pointers = cp_value_limits_pointers(depth);
	}
	if (string)
		limits.string = string;
	return limits;
}

static void set_limits(struct cp_value_limits *to, const struct cp_value_limits *from)
{
	*to = from ? *from : cp_value_limits_default;
	if (to->value > UINT16_MAX)
		to->value = UINT16_MAX; /* a fetch says in 16 bits where a pointer is */
	if (to->string > UINT16_MAX)
		to->string = UINT16_MAX;
	if (to->depth > CP_VALUE_DEPTH / 2)
		to->depth = CP_VALUE_DEPTH / 2;
}

struct cp_signature *cp_signature_new(struct cp_image *image, const struct cp_value_limits *limits)
{
	struct cp_signature *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	set_limits(&s->limits, limits);
	s->image = image;
	s->arch = cp_image_machine(image) == EM_AARCH64 ? &cp_arch_aarch64 : &cp_arch_x86_64;
	return s;
}

void cp_signature_destroy(struct cp_signature *signature)
{
	size_t i;

	if (!signature)
		return;
	cp_vec_free(&signature->entry.list);
	cp_vec_free(&signature->exit.list);
	for (i = 0; i < signature->exits.count; i++)
		cp_vec_free(&signature->exits.items[i]->fetches.list);
	cp_vec_free(&signature->exits);
	cp_arena_free(&signature->arena);
	free(signature);
}

struct cp_capture_list cp_signature_at_entry(const struct cp_signature *s)
{
	return (struct cp_capture_list){ s->entry_flags, s->entry.list.items, s->entry.list.count,
					 s->entry.beyond };
}

bool cp_signature_result_is_kept(const struct cp_signature *s)
{
	return (s->want & CP_SIGNATURE_RESULT) && s->has_result && s->convention &&
	       s->convention->result_at_entry && s->result.place.how == CP_PLACE_INDIRECT;
}

bool cp_signature_has_this(const struct cp_signature *s)
{
	return s->described && s->parameter_count && s->function.parameters[0].artificial &&
	       !strcmp(s->parameters[0].name, "this");
}

uint64_t cp_parameter_size(const struct cp_parameter *p)
{
	const struct cp_type *t = cp_type_strip(p->type);

	if (p->bits)
		return (p->bits->bit_offset + (uint64_t)p->bits->bit_size + 7) / 8;
	return t ? t->size : 8;
}

size_t cp_signature_named_count(const struct cp_signature *s)
{
	return s->described ? s->parameter_count : 0;
}

const char *cp_signature_name(const struct cp_signature *s, size_t position)
{
	return position < cp_signature_named_count(s) ? s->parameters[position].name : NULL;
}

const struct cp_type *cp_signature_type(const struct cp_signature *s, int position)
{
	if (position < 0)
		return s->described ? s->function.result : NULL;
	return (size_t)position < cp_signature_named_count(s) ? s->parameters[position].type : NULL;
}

bool cp_signature_is_described(const struct cp_signature *s)
{
	return s->described;
}

bool cp_signature_is_vague(const struct cp_signature *s)
{
	size_t i;

	for (i = 0; i < s->parameter_count; i++)
		if (cp_type_is_transparent(s->parameters[i].type))
			return true;
	return false;
}

bool cp_signature_is_variadic(const struct cp_signature *s)
{
	return s->described && s->function.flags & CP_FUNCTION_VARIADIC;
}

const struct cp_parameter *cp_signature_parameter(const struct cp_signature *s, int position)
{
	if (position < 0)
		return s->has_result ? &s->result : NULL;
	return (size_t)position < s->parameter_count ? &s->parameters[position] : NULL;
}

bool cp_signature_is_indirect(const struct cp_signature *s, int position)
{
	const struct cp_parameter *p = cp_signature_parameter(s, position);

	return p && p->place.how == CP_PLACE_INDIRECT;
}

void cp_signature_set_constant(struct cp_parameter *p, const struct cp_variable *v)
{
	p->source = CPROF_SOURCE_CONST;
	p->place = (struct cp_place){ .how = CP_PLACE_DIRECT, .count = 1 };
	p->place.pieces[0] = (struct cp_piece){ .where = CP_PIECE_CONSTANT,
						.size = v->value_size,
						.bytes = v->value };
}

/* True when it is there before the first instruction: in the caller's memory, or
 * in what a register leads to. The function's own frame is not made by then. */
static bool is_callers(const struct cp_signature *s, const struct cp_piece *p)
{
	if (p->where == CP_PIECE_COMPUTED)
		return false;
	if ((p->where != CP_PIECE_MEMORY && p->where != CP_PIECE_SUM) || cp_piece_is_number(p))
		return true;
	if (p->number == s->arch->sp)
		return p->where == CP_PIECE_MEMORY && p->offset >= s->arch->ret_size;
	return p->number != s->arch->fp;
}

/* A variable that is said to be in registers, or nowhere, is so at the first
 * instruction, too; memory may not have been written yet. */
bool cp_signature_needs_no_frame(const struct cp_signature *s, const struct cp_variable *v,
				 const struct cp_place *said)
{
	const struct cp_location *at = cp_location_at(&v->locations, s->function.low);
	const struct cp_location *base = cp_location_at(&s->function.frame_base, s->function.low);
	unsigned i;

	/* clang counts from a register that the frame's making sets. */
	if (at && at->size && at->expr[0] == OP_FBREG &&
	    (!base || !base->size || base->expr[0] != OP_CALL_FRAME_CFA))
		return false;
	for (i = 0; i < said->count; i++)
		if (!is_callers(s, &said->pieces[i]))
			return false;
	return said->how == CP_PLACE_DIRECT || said->how == CP_PLACE_GONE;
}

static bool is_pushed(const struct cp_signature *s, const struct cp_piece *p)
{
	return p->where == CP_PIECE_MEMORY && p->number == s->arch->sp &&
	       p->offset >= s->arch->ret_size;
}

uint32_t cp_signature_pushed(const struct cp_signature *s)
{
	const struct cp_parameter *p;
	uint64_t end = 0, of_piece;
	size_t i;

	for (p = s->parameters; p < s->parameters + s->parameter_count; p++) {
		if (p->guessed ||
		    (p->place.how != CP_PLACE_DIRECT && p->place.how != CP_PLACE_INDIRECT))
			continue;
		for (i = 0; i < p->place.count; i++) {
			if (!is_pushed(s, &p->place.pieces[i]))
				continue;
			of_piece = (uint64_t)p->place.pieces[i].offset +
				   ((p->place.pieces[i].size + 7u) & ~7u);
			end = end > of_piece ? end : of_piece;
		}
	}
	return end < UINT32_MAX ? (uint32_t)end : 0;
}
