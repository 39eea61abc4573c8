/* SPDX-License-Identifier: MIT
 *
 * The values that a capture has of a signature: arguments, the result, locals.
 */
#include <stdlib.h>

#include "arch/decoder.h"
#include "inspect/exits.h"
#include "inspect/value.h"
#include "inspect/variadic.h"

const cprof_value *cp_signature_arguments(const struct cp_signature *s,
					  const struct cp_capture *capture,
					  struct cp_value_arena *arena, size_t *count_ret)
{
	struct cp_value_request request = { s, capture, arena, NULL };
	size_t more = cp_signature_is_variadic(s) ? CP_VARIADIC_MAX : 0, i;
	cprof_value *values =
		cp_arena_array(&arena->memory, s->parameter_count + more, sizeof(*values));

	*count_ret = 0;
	if (!values)
		return NULL;
	for (i = 0; i < s->parameter_count; i++)
		cp_value_of_parameter(&request, &s->parameters[i], &values[i]);
	*count_ret = s->parameter_count;
	if (more)
		*count_ret += cp_variadic_values(&request, values + s->parameter_count);
	return values;
}

/* Is the address still in the register of results? */
static bool is_confirmed(const struct cp_signature *s, const struct cp_capture *end,
			 const struct cp_capture *entry)
{
	const struct cp_regs *a = &end->regs, *b = &entry->regs;
	unsigned number = s->result.place.pieces[0].number;

	return a->known & 1 && b->known >> number & 1 && a->r[0] == b->r[number];
}

const cprof_value *cp_signature_shown(const struct cp_signature *s,
				      const struct cp_capture *capture,
				      struct cp_value_arena *arena, size_t *count_ret)
{
	struct cp_value_request request = { s, capture, arena, NULL };
	cprof_value *values;
	size_t i;

	if (!s->chosen)
		return cp_signature_arguments(s, capture, arena, count_ret);
	values = cp_arena_array(&arena->memory, s->shown_count, sizeof(*values));
	for (i = 0; values && i < s->shown_count; i++)
		cp_value_of_parameter(&request, &s->shown[i], &values[i]);
	*count_ret = values ? s->shown_count : 0;
	return values;
}

const cprof_value *cp_signature_result(const struct cp_signature *s, const struct cp_capture *entry,
				       const struct cp_capture *capture,
				       struct cp_value_arena *arena)
{
	struct cp_value_request request = { s, capture, arena, NULL };
	struct cp_capture now = *capture;
	cprof_value *value;

	if (!s->has_result)
		return NULL;
	if (cp_signature_result_is_kept(s)) {
		/* The register is not preserved. */
		now.regs = entry ? entry->regs : (struct cp_regs){ 0 };
		if (s->result.place.confirmed && !is_confirmed(s, capture, &now))
			now.regs.known = 0;
		request.capture = &now;
	}
	value = cp_arena_alloc(&arena->memory, sizeof(*value));
	if (value)
		cp_value_of_parameter(&request, &s->result, value);
	return value;
}

const cprof_value *cp_signature_locals(const struct cp_signature *s,
				       const struct cp_capture *capture, struct cp_vaddr site,
				       struct cp_value_arena *arena, size_t *count_ret)
{
	struct cp_value_request request = { s, capture, arena, NULL };
	const struct cp_exit *e = cp_exit_at(s, site.v);
	cprof_value *values;
	size_t i;

	*count_ret = 0;
	if (!e)
		return NULL;
	values = cp_arena_array(&arena->memory, e->local_count, sizeof(*values));
	for (i = 0; values && i < e->local_count; i++)
		cp_value_of_parameter(&request, &e->locals[i], &values[i]);
	*count_ret = values ? e->local_count : 0;
	return values;
}

static bool bytes_of(const struct cp_signature *s, const struct cp_capture *capture,
		     const struct cp_parameter *p, struct cp_value_arena *arena,
		     struct cp_value_bytes *ret)
{
	struct cp_value_request request = { s, capture, arena, NULL };
	uint8_t error;

	ret->at = cp_parameter_bytes(&request, p, &ret->size, &ret->address, &error);
	return ret->at != NULL;
}

bool cp_signature_bytes(const struct cp_signature *s, const struct cp_capture *capture,
			int position, struct cp_value_arena *arena, struct cp_value_bytes *ret)
{
	const struct cp_parameter *p = cp_signature_parameter(s, position);

	return p && bytes_of(s, capture, p, arena, ret);
}

bool cp_signature_local_bytes(const struct cp_signature *s, const struct cp_capture *capture,
			      struct cp_vaddr site, size_t position, struct cp_value_arena *arena,
			      struct cp_value_bytes *ret)
{
	const struct cp_exit *e = cp_exit_at(s, site.v);

	return e && position < e->local_count &&
	       bytes_of(s, capture, &e->locals[position], arena, ret);
}

struct cp_value_arena *cp_value_arena_create(void)
{
	return calloc(1, sizeof(struct cp_value_arena));
}

void cp_value_arena_reset(struct cp_value_arena *arena)
{
	cp_arena_reset(&arena->memory);
}

void cp_value_arena_destroy(struct cp_value_arena *arena)
{
	if (!arena)
		return;
	cp_arena_free(&arena->memory);
	cp_decoder_destroy(arena->decoder);
	free(arena);
}
