/* SPDX-License-Identifier: MIT
 *
 * Code registered for debuggers as a hostile program would register it: the
 * input is memory at 0x10000, the descriptor first.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_memory.h"
#include "image/jit.h"

#define OPENED_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct cp_image *image)
{
	struct cp_jit_range ranges[CP_CODE_MAX];
	size_t count = cp_jit_ranges(image, ranges), i;
	struct cp_inline_frame frames[4];
	struct cp_symbol symbol;
	struct cp_vaddr at;

	if (!count)
		abort();
	for (i = 0; i < count; i++) {
		at.v = ranges[i].start;
		if (ranges[i].start >= ranges[i].end)
			abort();
		if (cp_image_symbol(image, at, &symbol) && symbol.start.v > at.v)
			abort();
		cp_image_frames(image, at, frames, 4);
	}
	cp_image_variable(image, "__jit_debug_descriptor", &at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_memory memory = { data, size };
	const struct cp_reader reader = { fuzz_memory_read, &memory };
	struct cp_jit_descriptor descriptor;
	struct cp_jit_list list;
	uint64_t hash;
	size_t i;

	if (!cp_jit_read_descriptor(&reader, FUZZ_BASE, &descriptor))
		return 0;
	cp_jit_read_list(&reader, descriptor.first, &list);
	if (list.entries.count > CP_JIT_ENTRIES_MAX)
		abort();
	for (i = 0; i < list.entries.count && i < OPENED_MAX; i++) {
		const struct cp_jit_entry *e = &list.entries.items[i];
		struct cp_image *image = NULL;

		cp_error_free(cp_jit_open(&reader, e, EM_X86_64, &image, &hash));
		if (!image)
			continue;
		if (cp_jit_hash(&reader, e) != hash)
			abort();
		ask(image);
		cp_image_destroy(image);
	}
	cp_vec_free(&list.entries);
	return 0;
}
