/* SPDX-License-Identifier: MIT */
#include "detour_file.h"

#include "unwind/pads.h"
#include "unwind/table.h"

bool detour_file_is_gone(void *ctx, uint64_t pc)
{
	struct detour_file *f = ctx;
	struct cp_table_memory memory = { &f->reader, 0 };
	const struct cp_rule *rule =
		f->table ? cp_table_find(f->table, &memory, (struct cp_vaddr){ pc }, NULL) : NULL;

	return rule && rule->cfa_reg == cp_arch_x86_64.sp && rule->cfa_offset == 8;
}

static void read_pads(struct detour_file *f)
{
	struct cp_unwind_section eh_frame = { 0 };
	const uint8_t *bytes;
	struct cp_vaddr at;
	size_t size;

	if (!cp_image_section(f->image, ".eh_frame", &bytes, &size, &at))
		return;
	eh_frame.bytes = bytes;
	eh_frame.size = size;
	eh_frame.addr = at;
	cp_error_free(cp_unwind_pads(&cp_arch_x86_64, &eh_frame, &f->reader, &f->functions.pads,
				     &f->functions.pad_count));
}

struct cp_error *detour_file_open(const char *path, struct detour_file *f)
{
	struct cp_vaddr first = { 0 };
	struct cp_error *err = cp_image_open_file(path, NULL, &f->image);

	if (err)
		return err;
	f->reader = cp_probe_file_reader(f->image);
	f->decoder = cp_decoder_create(&cp_arch_x86_64);
	cp_image_vaddr_of_offset(f->image, 0, &first);
	f->table = cp_table_create(&cp_arch_x86_64, &f->reader, first.v);
	err = cp_probe_functions_read(f->image, &f->functions);
	if (err)
		return err;
	read_pads(f);
	return cp_detour_text_create(&cp_arch_x86_64, f->decoder, &f->reader, f->image,
				     &f->functions, &f->text);
}

void detour_file_close(struct detour_file *f)
{
	cp_detour_text_destroy(f->text);
	cp_table_destroy(f->table);
	cp_decoder_destroy(f->decoder);
	cp_probe_functions_free(&f->functions);
	cp_image_destroy(f->image);
}
