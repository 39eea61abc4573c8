/* SPDX-License-Identifier: MIT */
#include "detour/text.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/detour.h"
#include "base/cleanup.h"
#include "base/cursor.h"

#define MAX_TEXT (UINT64_C(1) << 31) /* bytes of code */
#define PIECE 65536 /* bytes of code that are read at once */
#define INSN_MAX 15
#define SMALL 0x10000 /* below, numbers are hardly addresses */

void cp_detour_text_lead(struct cp_detour_text *text, uint64_t address)
{
	cp_detour_set(text, &text->leads, address);
}

void cp_detour_text_words(struct cp_detour_text *text, const void *bytes, size_t size,
			  uint64_t bias)
{
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, (const uint8_t *)bytes + i, sizeof(word));
		cp_detour_text_lead(text, word - bias);
	}
}

/* ---- code ---- */

static void look_at(struct cp_detour_text *t, const struct cp_insn *insn, const uint8_t *code)
{
	uint64_t said;

	cp_detour_set(t, &t->starts, insn->pc);
	if (insn->target)
		cp_detour_text_lead(t, insn->target);
	if (insn->landing_pad)
		cp_detour_text_lead(t, insn->pc);
	if (insn->flow == CP_FLOW_CALL || insn->flow == CP_FLOW_CALL_INDIRECT ||
	    insn->flow == CP_FLOW_SYSCALL)
		cp_detour_text_lead(t, insn->pc + insn->size);
	if (insn->flow == CP_FLOW_CALL || insn->flow == CP_FLOW_CALL_INDIRECT)
		cp_detour_set(t, &t->returns, insn->pc + insn->size);
	if (insn->target)
		return;
	said = cp_detour_said(t->arch, code, insn->size, insn->pc);
	if (said >= SMALL || said >= t->start)
		cp_detour_text_lead(t, said);
}

/* As probe/code.c does it: one instruction after another, bad bytes passed over. */
static void look_through(struct cp_detour_text *t, uint8_t *piece, uint64_t start, uint64_t end)
{
	uint64_t at = start;
	struct cp_insn insn;
	size_t size, i;

	while (at < end) {
		size = end - at < PIECE ? (size_t)(end - at) : PIECE;
		size = t->memory->read(t->memory->ctx, at, piece, size);
		if (!size)
			return;
		for (i = 0; i < size && (size - i >= INSN_MAX || at + size == end || !i);) {
			cp_detour_set(t, &t->code, at + i);
			if (!cp_decode(t->decoder, piece + i, size - i, at + i, &insn)) {
				i++;
				continue;
			}
			look_at(t, &insn, piece + i);
			while (insn.size-- && i < size)
				cp_detour_set(t, &t->code, at + i++);
		}
		at += i;
	}
}

static CP_ERROR look_through_functions(struct cp_detour_text *t,
				       const struct cp_probe_functions *functions)
{
	CP_FREE uint8_t *piece = malloc(PIECE);
	size_t i, k;

	if (!piece)
		return cp_error_nomem();
	for (i = 0; i < functions->count; i++) {
		const struct cp_probe_function *f = &functions->items[i];

		for (k = 0; k < f->range_count && !(f->flags & CP_PROBE_SLOT); k++)
			look_through(t, piece, f->ranges[k].start, f->ranges[k].end);
		if (!(f->flags & CP_PROBE_SLOT))
			cp_detour_text_lead(t, f->address);
	}
	for (i = 0; i < functions->parts.count; i++)
		look_through(t, piece, functions->parts.items[i].range.start,
			     functions->parts.items[i].range.end);
	for (i = 0; i < functions->pad_count; i++)
		cp_detour_text_lead(t, functions->pads[i]);
	return NULL;
}

/* ---- data ---- */

static void look_at_relocations(struct cp_detour_text *t, struct cp_image *image, const char *name)
{
	const uint8_t *bytes;
	struct cp_vaddr at;
	Elf64_Rela rela;
	size_t size, i;

	if (!cp_image_section(image, name, &bytes, &size, &at))
		return;
	for (i = 0; i + sizeof(rela) <= size; i += sizeof(rela)) {
		memcpy(&rela, bytes + i, sizeof(rela));
		cp_detour_text_lead(t, (uint64_t)rela.r_addend);
	}
}

/* Where the file has addresses in place: of a program that is linked to a fixed
 * address, or whose relocations are packed. */
static void look_at_data(struct cp_detour_text *t, struct cp_image *image)
{
	static const char *const names[] = { ".rodata",	    ".data",	      ".data.rel.ro",
					     ".init_array", ".fini_array",    ".got",
					     ".got.plt",    ".preinit_array", ".tdata" };
	const uint8_t *bytes;
	struct cp_vaddr at;
	size_t size, i;

	for (i = 0; i < CP_ARRAY_SIZE(names); i++) {
		if (cp_image_section(image, names[i], &bytes, &size, &at))
			cp_detour_text_words(t, bytes, size, 0);
	}
	look_at_relocations(t, image, ".rela.dyn");
	look_at_relocations(t, image, ".rela.plt");
}

static CP_ERROR look_at_symbols(struct cp_detour_text *t, struct cp_image *image)
{
	const struct cp_symbol *symbols;
	struct cp_error *err;
	size_t count, i;

	err = cp_image_symbols(image, &symbols, &count);
	for (i = 0; !err && i < count; i++)
		cp_detour_text_lead(t, symbols[i].start.v);
	return err;
}

/* ---- all of it ---- */

static void find_extent(struct cp_detour_text *t, const struct cp_probe_functions *functions)
{
	size_t i, k;

	t->start = UINT64_MAX;
	for (i = 0; i < functions->count; i++) {
		const struct cp_probe_function *f = &functions->items[i];

		for (k = 0; k < f->range_count && !(f->flags & CP_PROBE_SLOT); k++) {
			if (f->ranges[k].start < t->start)
				t->start = f->ranges[k].start;
			if (f->ranges[k].end > t->end)
				t->end = f->ranges[k].end;
		}
	}
	if (t->start > t->end || t->end - t->start > MAX_TEXT)
		t->start = t->end = 0;
}

static bool make_bits(struct cp_detour_bits *bits, uint64_t size)
{
	bits->words = calloc((size_t)(size / 64 + 1), sizeof(*bits->words));
	return bits->words;
}

/* Nothing may stand in a restartable sequence, or lead out of it. */
static void keep_sequences(struct cp_detour_text *t, const struct cp_probe_functions *functions)
{
	const struct cp_probe_range *s;
	uint64_t at;

	cp_vec_for_each(&functions->sequences, s)
		for (at = s->start; at < s->end; at++)
			cp_detour_set(t, &t->taken, at);
}

/* With no bit set, but for bytes that no window may have. */
static CP_ERROR begin(const struct cp_arch *arch, struct cp_decoder *decoder,
		      const struct cp_reader *memory, const struct cp_probe_functions *functions,
		      struct cp_detour_text **ret)
{
	struct cp_detour_text *t = calloc(1, sizeof(*t));
	uint64_t size;

	if (!t)
		return cp_error_nomem();
	t->arch = arch;
	t->decoder = decoder;
	t->memory = memory;
	find_extent(t, functions);
	size = t->end - t->start;
	if (!make_bits(&t->code, size) || !make_bits(&t->starts, size) ||
	    !make_bits(&t->leads, size) || !make_bits(&t->taken, size) ||
	    !make_bits(&t->lent, size) || !make_bits(&t->returns, size)) {
		cp_detour_text_destroy(t);
		return cp_error_nomem();
	}
	keep_sequences(t, functions);
	*ret = t;
	return NULL;
}

CP_ERROR cp_detour_text_create(const struct cp_arch *arch, struct cp_decoder *decoder,
			       const struct cp_reader *memory, struct cp_image *image,
			       const struct cp_probe_functions *functions,
			       struct cp_detour_text **ret)
{
	struct cp_detour_text *t;
	struct cp_error *err;

	CP_TRY(begin(arch, decoder, memory, functions, &t));
	err = look_through_functions(t, functions);
	if (!err)
		err = look_at_symbols(t, image);
	if (err) {
		cp_detour_text_destroy(t);
		return err;
	}
	look_at_data(t, image);
	*ret = t;
	return NULL;
}

/* ---- as bytes ---- */

static size_t bits_size(const struct cp_detour_text *t)
{
	return (size_t)((t->end - t->start) / 64 + 1) * sizeof(uint64_t);
}

void cp_detour_text_save(const struct cp_detour_text *t, struct cp_buf *out)
{
	const struct cp_detour_bits *const all[] = { &t->code, &t->starts, &t->leads, &t->returns };
	size_t i;

	cp_buf_u64(out, t->start);
	cp_buf_u64(out, t->end);
	for (i = 0; i < CP_ARRAY_SIZE(all); i++)
		cp_buf_add(out, all[i]->words, bits_size(t));
}

CP_ERROR cp_detour_text_load(const struct cp_arch *arch, struct cp_decoder *decoder,
			     const struct cp_reader *memory,
			     const struct cp_probe_functions *functions, const void *bytes,
			     size_t size, struct cp_detour_text **ret)
{
	struct cp_cursor c = cp_cursor(bytes, size);
	struct cp_detour_text *t;
	size_t i;

	CP_TRY(begin(arch, decoder, memory, functions, &t));
	struct cp_detour_bits *const all[] = { &t->code, &t->starts, &t->leads, &t->returns };

	if (cp_cursor_u64(&c) != t->start || cp_cursor_u64(&c) != t->end ||
	    cp_cursor_left(&c) != CP_ARRAY_SIZE(all) * bits_size(t)) {
		cp_detour_text_destroy(t);
		return cp_error_new(CP_ERR_FORMAT, 0, "this is of other functions");
	}
	for (i = 0; i < CP_ARRAY_SIZE(all); i++)
		memcpy(all[i]->words, cp_cursor_bytes(&c, bits_size(t)), bits_size(t));
	*ret = t;
	return NULL;
}

void cp_detour_text_destroy(struct cp_detour_text *text)
{
	if (!text)
		return;
	free(text->code.words);
	free(text->starts.words);
	free(text->leads.words);
	free(text->taken.words);
	free(text->lent.words);
	free(text->returns.words);
	free(text);
}
