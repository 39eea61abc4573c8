/* SPDX-License-Identifier: MIT */
#include "detour/table.h"

#include "arch/detour.h"

#define ENTRIES 65536 /* of a table, at most */
#define INSN_MAX 15

/* The instruction that ends at `offset`, and its own offset. */
static const struct cp_insn *before(const struct cp_code *code, size_t offset, size_t *ret)
{
	const struct cp_insn *insn;
	size_t k;

	for (k = 1; k <= INSN_MAX && k <= offset; k++) {
		if (!code->starts.items[offset - k])
			continue;
		insn = &code->insns.items[code->starts.items[offset - k] - 1];
		*ret = offset - k;
		return insn->size == k ? insn : NULL;
	}
	return NULL;
}

static bool goes_by_distance(const struct cp_detour_text *text, const struct cp_code *code,
			     uint64_t jump)
{
	size_t offset, add_at, load_at;
	const struct cp_insn *add, *load;

	if (!cp_code_offset(code, jump, &offset) || !code->starts.items[offset])
		return false;
	add = before(code, offset, &add_at);
	load = add ? before(code, add_at, &load_at) : NULL;
	if (!load || add->pc + add->size != jump || load->pc + load->size != add->pc ||
	    cp_detour_bit(text, &text->leads, jump) || cp_detour_bit(text, &text->leads, add->pc))
		return false;
	offset += code->insns.items[code->starts.items[offset] - 1].size;
	return cp_detour_by_distance(text->arch, code->bytes.items + load_at, offset - load_at);
}

/* What may be a table: its cases are leads. False: it may lead to another function. */
static bool take_table(struct cp_detour_text *text, const struct cp_probe_functions *functions,
		       const struct cp_code *code, uint64_t table, size_t *count)
{
	const struct cp_probe_function *f;
	uint64_t target;
	int32_t distance;
	size_t i, offset;

	for (i = 0; i < ENTRIES; i++) {
		if (text->memory->read(text->memory->ctx, table + 4 * i, &distance,
				       sizeof(distance)) != sizeof(distance))
			return true;
		target = table + (uint64_t)(int64_t)distance;
		if (!cp_code_offset(code, target, &offset))
			break;
		cp_detour_text_lead(text, target);
		++*count;
	}
	f = i ? cp_probe_functions_find(functions, target) : NULL;
	return !f || f->address != target;
}

bool cp_detour_is_switch(struct cp_detour_text *text, const struct cp_probe_functions *functions,
			 const struct cp_code *code, uint64_t jump)
{
	const struct cp_insn *insn;
	size_t count = 0, offset;
	uint64_t said;

	if (!functions || !goes_by_distance(text, code, jump))
		return false;
	cp_vec_for_each(&code->insns, insn) {
		if (insn->target || !cp_code_offset(code, insn->pc, &offset))
			continue;
		said = cp_detour_said(text->arch, code->bytes.items + offset, insn->size, insn->pc);
		if (said && !cp_detour_bit(text, &text->code, said) &&
		    !take_table(text, functions, code, said, &count))
			return false;
	}
	return count != 0;
}

#define NEAR 16 /* instructions between a load and its jump */

bool cp_detour_by_address(struct cp_detour_text *text, const struct cp_code *code, uint64_t jump)
{
	struct cp_moves moves;
	const struct cp_insn *insn;
	uint64_t at = jump;
	size_t offset, i;
	uint8_t reg;

	if (!cp_code_offset(code, jump, &offset))
		return false;
	cp_decode_moves(text->decoder, code->bytes.items + offset, code->bytes.count - offset, jump,
			&moves);
	reg = moves.from;
	for (i = 0; i < NEAR && reg < 16 && !cp_detour_bit(text, &text->leads, at); i++) {
		insn = cp_code_offset(code, at, &offset) ? before(code, offset, &offset) : NULL;
		if (!insn || insn->pc + insn->size != at ||
		    (insn->flow != CP_FLOW_ON && insn->flow != CP_FLOW_BRANCH))
			return false;
		at = insn->pc;
		cp_decode_moves(text->decoder, code->bytes.items + offset, insn->size, at, &moves);
		if (moves.to == reg && moves.from == CP_MOVES_NONE)
			return true;
		if (moves.written >> reg & 1)
			return false;
	}
	return false;
}
