/* SPDX-License-Identifier: MIT
 *
 * A function's instructions, for who keeps them.
 */
#include <cprof/cprof.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/decoder.h"
#include "arch/listing.h"
#include "base/cleanup.h"
#include "engine/target/state.h"
#include "image/image.h"

static const struct cp_arch *arch_of(const struct cp_image *image)
{
	return cp_image_machine(image) == cp_arch_x86_64.e_machine ? &cp_arch_x86_64 : NULL;
}

/* Demangled, to be freed; NULL: not known. */
static char *name_at(struct cp_image *image, uint64_t at, bool data, uint64_t *offset_ret)
{
	struct cp_symbol symbol;
	char *name = data ? cp_image_variable_at(image, (struct cp_vaddr){ at }, offset_ret) : NULL;

	if (name || !cp_image_symbol(image, (struct cp_vaddr){ at }, &symbol))
		return name;
	*offset_ret = at - symbol.start.v;
	return cp_demangle(symbol.name);
}

static void tell(struct cp_image *image, uint64_t address, const uint8_t *bytes,
		 const struct cp_listed *listed, cprof_instruction_fn cb, void *data)
{
	cprof_instruction insn = { .address = address,
				   .bytes = bytes,
				   .size = listed->size,
				   .refers = listed->target ? listed->target : listed->memory,
				   .data = !listed->target };
	CP_FREE char *name =
		insn.refers ? name_at(image, insn.refers, insn.data, &insn.offset) : NULL;

	insn.name = name;
	cb(&insn, data);
}

uint64_t cprof_assembly_each_instruction(cprof_assembly *a, uint64_t address, uint64_t most,
					 cprof_instruction_fn cb, void *data,
					 uint64_t *left_out_ret)
{
	struct cp_decoder *decoder;
	struct cp_symbol symbol;
	struct cp_listed listed;
	size_t there, at;

	if (!a->image || !arch_of(a->image) ||
	    !cp_image_symbol(a->image, (struct cp_vaddr){ address }, &symbol) || !symbol.size)
		return 0;
	if (symbol.size > most) {
		if (left_out_ret)
			*left_out_ret = symbol.size;
		return 0;
	}
	CP_FREE uint8_t *code = malloc(symbol.size);

	decoder = code ? cp_decoder_create(arch_of(a->image)) : NULL;
	if (!decoder)
		return 0;
	there = cp_image_read(a->image, symbol.start, code, symbol.size);
	for (at = 0; at < there; at += listed.size) {
		cp_arch_list(decoder, CP_SYNTAX_ATT, code + at, there - at, symbol.start.v + at,
			     &listed);
		tell(a->image, symbol.start.v + at, code + at, &listed, cb, data);
	}
	cp_decoder_destroy(decoder);
	return there ? symbol.start.v : 0;
}
