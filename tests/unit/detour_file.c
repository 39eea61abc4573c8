/* SPDX-License-Identifier: MIT */
#include "detour_file.h"

bool detour_file_is_gone(void *ctx, uint64_t pc)
{
	const struct detour_file *f = ctx;
	const struct cp_detour_frames *frames = &cp_detour_object_planner(f->object)->frames;

	return frames->gone(frames->ctx, pc);
}

struct cp_error *detour_file_open(const char *path, struct detour_file *f)
{
	struct cp_error *err = cp_image_open_file(path, NULL, &f->image);

	if (err)
		return err;
	f->reader = cp_probe_file_reader(f->image);
	f->decoder = cp_decoder_create(&cp_arch_x86_64);
	err = cp_probe_functions_read(f->image, &f->functions);
	if (!err)
		err = cp_detour_object_create(&cp_arch_x86_64, f->decoder, f->image, &f->functions,
					      &f->object);
	if (!err)
		f->text = cp_detour_object_planner(f->object)->text;
	return err;
}

void detour_file_close(struct detour_file *f)
{
	cp_detour_object_destroy(f->object);
	cp_decoder_destroy(f->decoder);
	cp_probe_functions_free(&f->functions);
	cp_image_destroy(f->image);
}
