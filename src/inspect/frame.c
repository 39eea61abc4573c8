/* SPDX-License-Identifier: MIT
 *
 * Variables in the middle of a function: of a caller, whose frame stands, with
 * the registers that the walk recovered. Here debug information is right, other
 * than at an entry, so there is only one rule: what it says.
 */
#include "inspect/internal.h"

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

static struct cp_place place_of(const struct cp_signature *s, const struct cp_variable *v,
				const struct cp_value_frame *frame)
{
	struct cp_place place = { .how = CP_PLACE_DIRECT, .count = 1 };

	if (!v->constant) {
		cp_locate(s, v, frame->pc.v, frame->cfa_offset, &place);
		return place;
	}
	place.pieces[0] = (struct cp_piece){ .where = CP_PIECE_CONSTANT,
					     .size = v->value_size,
					     .bytes = v->value };
	return place;
}

/* What is in scope, in the arena; the types' details are read. */
static struct cp_parameter *in_scope(const struct cp_signature *s,
				     const struct cp_value_frame *frame,
				     struct cp_value_arena *arena, size_t *count_ret)
{
	const struct cp_function_info *f = &s->function;
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
		p->name = all[i].name;
		p->type = all[i].type;
		p->source = all[i].constant ? CPROF_SOURCE_CONST : CPROF_SOURCE_DWARF;
		p->place = place_of(s, &all[i], frame);
		if (!cp_plan_parameter(s, s->image, p, &unused, &flags))
			break;
		++*count_ret;
	}
	cp_vec_free(&unused.list);
	return found;
}

const cprof_value *cp_frame_values(const struct cp_signature *s, const struct cp_capture *capture,
				   const struct cp_value_frame *frame, struct cp_value_arena *arena,
				   size_t *count_ret)
{
	struct cp_value_request request = { s, capture, arena };
	size_t count, i;
	struct cp_parameter *p = in_scope(s, frame, arena, &count);
	cprof_value *values = cp_arena_array(&arena->memory, count + 1, sizeof(*values));

	*count_ret = 0;
	if (!values || !p)
		return NULL;
	for (i = 0; i < count; i++)
		cp_value_of_parameter(&request, &p[i], &values[i]);
	*count_ret = count;
	return values;
}

bool cp_frame_bytes(const struct cp_signature *s, const struct cp_capture *capture,
		    const struct cp_value_frame *frame, size_t position,
		    struct cp_value_arena *arena, struct cp_value_bytes *ret)
{
	struct cp_value_request request = { s, capture, arena };
	size_t count;
	struct cp_parameter *p = in_scope(s, frame, arena, &count);
	uint8_t error;

	if (!p || position >= count)
		return false;
	ret->at = cp_parameter_bytes(&request, &p[position], &ret->size, &ret->address, &error);
	return ret->at != NULL;
}
