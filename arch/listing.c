/* SPDX-License-Identifier: MIT
 *
 * Text is capstone's, sizes and where jumps lead our own decoder's; where they do not
 * agree on the size, there is no text that could be believed.
 */
#include "arch/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/capstone.h"

static void add_bytes(struct cp_listed *l, const uint8_t *code)
{
	size_t at, i;

	at = (size_t)snprintf(l->text, sizeof(l->text), ".byte");
	for (i = 0; i < l->size && at < sizeof(l->text); i++)
		at += (size_t)snprintf(l->text + at, sizeof(l->text) - at, "%s0x%02x",
				       i ? "," : " ", code[i]);
}

static uint64_t memory_of(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	unsigned i;

	for (i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM && x->operands[i].mem.base == X86_REG_RIP)
			return insn->address + insn->size + (uint64_t)x->operands[i].mem.disp;
	return 0;
}

static bool add_text(struct cp_decoder *decoder, enum cp_syntax syntax, const uint8_t *code,
		     uint64_t pc, struct cp_listed *l)
{
	csh handle = 0;
	cs_insn *insn = cp_decoder_capstone(decoder, &handle);
	size_t size = l->size;
	uint64_t at = pc;

	if (!insn)
		return false;
	cs_option(handle, CS_OPT_SYNTAX,
		  syntax == CP_SYNTAX_INTEL ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	if (!cs_disasm_iter(handle, &code, &size, &at, insn) || insn->size != l->size)
		return false;
	l->memory = memory_of(insn);
	if (l->target || !insn->op_str[0])
		snprintf(l->text, sizeof(l->text), "%s", insn->mnemonic);
	else
		snprintf(l->text, sizeof(l->text), "%-6s %s", insn->mnemonic, insn->op_str);
	return true;
}

void cp_arch_list(struct cp_decoder *decoder, enum cp_syntax syntax, const uint8_t *code,
		  size_t size, uint64_t pc, struct cp_listed *ret)
{
	struct cp_insn insn;

	*ret = (struct cp_listed){ .size = 1, .flow = CP_FLOW_ON };
	if (cp_decode(decoder, code, size, pc, &insn)) {
		ret->size = insn.size;
		ret->flow = insn.flow;
		ret->target = insn.target;
		if (add_text(decoder, syntax, code, pc, ret))
			return;
		ret->target = ret->memory = 0;
	}
	add_bytes(ret, code);
}
