/* SPDX-License-Identifier: MIT
 *
 * An ELF file with whatever debug information it has: everything that
 * src/image answers about it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_image.h"
#include "image/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink; /* that strings are read to their end */

static void text(const char *s)
{
	for (; s && *s; s++)
		sink += (unsigned char)*s;
}

static void ask(struct cp_image *image, uint64_t at)
{
	struct cp_inline_frame frames[8];
	struct cp_vaddr vaddr = { at };
	struct cp_symbol s;
	size_t n, i;

	if (cp_image_symbol(image, vaddr, &s))
		text(s.name);
	n = cp_image_frames(image, vaddr, frames, 8);
	for (i = 0; i < n && i < 8; i++) {
		text(frames[i].function);
		text(frames[i].file);
	}
	cp_image_vaddr_of_offset(image, at, &vaddr);
}

static void ask_lines(struct cp_image *image)
{
	struct cp_source_functions functions = { 0 };
	struct cp_line_table table = { 0 };
	uint64_t last = 0;
	size_t i;

	if (cp_image_lines(image, &table))
		return;
	for (i = 0; i < table.rows.count; i++) {
		if (table.rows.items[i].address < last)
			abort();
		last = table.rows.items[i].address;
		text(table.files.items[table.rows.items[i].file]);
	}
	cp_line_table_free(&table);
	if (cp_image_source_functions(image, &functions))
		return;
	for (i = 0; i < functions.items.count; i++) {
		text(functions.items.items[i].name);
		text(functions.items.items[i].file);
	}
	cp_source_functions_free(&functions);
}

static void ask_all(struct cp_image *image)
{
	static const char *const names[] = { ".eh_frame", ".debug_frame", ".debug_info", "" };
	const struct cp_symbol *symbols;
	struct cp_vaddr vaddr, roots[4];
	const uint8_t *bytes;
	size_t count = 0, i, n, step;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (cp_image_section(image, names[i], &bytes, &n, &vaddr) && n)
			sink += bytes[0] + bytes[n - 1];
	}
	cp_image_trace_roots(image, roots, sizeof(roots) / sizeof(roots[0]));
	text(cp_image_build_id(image));
	text(cp_image_debug_path(image));
	if (cp_image_symbols(image, &symbols, &count))
		return;
	step = count / 40 + 1;
	for (i = 0; i < count; i += step) {
		text(symbols[i].name);
		ask(image, symbols[i].start.v);
		ask(image, symbols[i].start.v + symbols[i].size / 2);
	}
	ask(image, 0x1139);
	ask(image, 0);
	ask(image, UINT64_MAX);
	ask_lines(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_image *image = fuzz_image(data, size);

	if (image)
		ask_all(image);
	cp_image_destroy(image);
	return 0;
}
