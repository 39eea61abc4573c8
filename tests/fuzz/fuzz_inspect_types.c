/* SPDX-License-Identifier: MIT
 *
 * Functions and types of a file whose debug information may say anything, and
 * values made by them out of bytes that fit nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_image.h"
#include "image/callsite.h"
#include "image/find.h"
#include "image/templates.h"
#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t noise(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	(void)ctx;
	memset(buffer, (int)(addr * 37 >> 3), size);
	return addr & 64 ? size : size / 2;
}

static void values(const struct cp_signature *s, struct cp_value_arena *arena)
{
	struct cp_reader memory = { .read = noise };
	struct cp_hit_vector vector;
	struct cp_capture capture = { .memory = &memory, .vector = &vector };
	const cprof_value *list, *result;
	struct cp_buf out = { 0 };
	size_t count, i;

	memset(&vector, 0x5a, sizeof(vector));
	memset(&capture.regs, 0x11, sizeof(capture.regs));
	list = cp_signature_arguments(s, &capture, arena, &count);
	for (i = 0; list && i < count; i++) {
		cp_value_print(&out, &list[i], NULL);
		cp_value_json(&out, &list[i]);
	}
	result = cp_signature_result(s, &capture, &capture, arena);
	if (result)
		cp_value_print(&out, result, NULL);
	cp_buf_free(&out);
}

/* In the middle of a function: of it and of what is inlined there, with the calls
 * that return there. */
static void frames(struct cp_image *image, uint64_t at, struct cp_value_arena *arena)
{
	struct cp_reader memory = { .read = noise };
	const struct cp_regs entry = { .known = 0x5555 };
	struct cp_capture capture = { .memory = &memory, .entry = &entry };
	struct cp_value_frame frame = { .pc = { at }, .cfa_offset = 64 };
	struct cp_arena sites = { 0 };
	struct cp_signature *s;
	struct cp_call_site site;
	size_t level, count;

	memset(&capture.regs, 0x11, sizeof(capture.regs));
	for (level = 0; level < 3; level++) {
		if (cp_signature_read_frame(image, frame.pc, level, NULL, &s))
			abort();
		for (frame.locals = false;; frame.locals = true) {
			cp_frame_values(s, &capture, &frame, arena, &count);
			if (frame.locals)
				break;
		}
		cp_signature_destroy(s);
	}
	cp_image_call_site(image, frame.pc, &sites, &site);
	cp_image_never_comes_back(image, frame.pc);
	cp_arena_free(&sites);
}

/* Any type may be asked for by its name, with the names of others. */
static void types(struct cp_image *image)
{
	static const char *const names[] = { "struct node", "Box<int>", "string", "int", "" };
	struct cp_type_argument arguments[4];
	const struct cp_found_type *f;
	struct cp_found found;
	struct cp_error *err;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(names); i++) {
		err = cp_image_find_types(image, names[i], &found);
		cp_error_free(err);
		if (err)
			return;
		cp_vec_for_each(&found.types, f)
			cp_type_arguments(image, f->type, arguments, CP_ARRAY_SIZE(arguments));
		cp_found_free(&found);
	}
}

static void ask_all(struct cp_image *image)
{
	struct cp_value_arena *arena = cp_value_arena_create();
	const struct cp_symbol *symbols;
	struct cp_signature *s;
	struct cp_error *err;
	size_t count = 0, i;

	err = cp_image_symbols(image, &symbols, &count);
	cp_error_free(err);
	for (i = 0; arena && !err && i < count; i += count / 30 + 1) {
		err = cp_signature_read(image, symbols[i].start, symbols[i].name, true, i & 1,
					CP_SIGNATURE_ARGUMENTS | CP_SIGNATURE_RESULT |
						CP_SIGNATURE_LOCALS,
					NULL, &s);
		if (err) {
			cp_error_free(err);
			break;
		}
		cp_signature_at_exit(s, (struct cp_vaddr){ symbols[i].start.v + 8 });
		values(s, arena);
		cp_signature_destroy(s);
		frames(image, symbols[i].start.v + 16, arena);
		cp_value_arena_reset(arena);
	}
	types(image);
	cp_value_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_image *image = fuzz_image(data, size);

	if (image)
		ask_all(image);
	cp_image_destroy(image);
	return 0;
}
