/* SPDX-License-Identifier: MIT */
#include "detour/object.h"

#include <stdlib.h>

#include "unwind/pads.h"
#include "unwind/table.h"

struct cp_detour_object {
	const struct cp_arch *arch;
	struct cp_reader file;
	struct cp_table *table; /* NULL: no call frame information */
	struct cp_detour_planner planner;
};

/* The return address is where sp points to. */
static bool is_gone(void *ctx, uint64_t pc)
{
	const struct cp_detour_object *o = ctx;
	const struct cp_table_memory memory = { &o->file, 0 };
	const struct cp_rule *rule =
		o->table ? cp_table_find(o->table, &memory, (struct cp_vaddr){ pc }, NULL) : NULL;

	return rule && rule->cfa_reg == o->arch->sp && rule->cfa_offset == o->arch->ret_size;
}

static void read_pads(const struct cp_detour_object *o, struct cp_image *image,
		      struct cp_probe_functions *functions)
{
	struct cp_unwind_section frames = { 0 };

	if (!functions->pads &&
	    cp_image_section(image, ".eh_frame", &frames.bytes, &frames.size, &frames.addr))
		cp_error_free(cp_unwind_pads(o->arch, &frames, &o->file, &functions->pads,
					     &functions->pad_count));
}

CP_ERROR cp_detour_object_create(const struct cp_arch *arch, struct cp_decoder *decoder,
				 struct cp_image *image, struct cp_probe_functions *functions,
				 struct cp_detour_object **ret)
{
	struct cp_detour_object *o = calloc(1, sizeof(*o));
	struct cp_vaddr first = { 0 };
	struct cp_error *err;

	if (!o)
		return cp_error_nomem();
	o->arch = arch;
	o->file = cp_probe_file_reader(image);
	read_pads(o, image, functions);
	if (cp_image_vaddr_of_offset(image, 0, &first))
		o->table = cp_table_create(arch, &o->file, first.v);
	o->planner.functions = functions;
	o->planner.frames = (struct cp_detour_frames){ is_gone, o };
	err = cp_detour_text_create(arch, decoder, &o->file, image, functions, &o->planner.text);
	if (err) {
		cp_detour_object_destroy(o);
		return err;
	}
	*ret = o;
	return NULL;
}

void cp_detour_object_destroy(struct cp_detour_object *object)
{
	if (!object)
		return;
	cp_detour_planner_deinit(&object->planner);
	cp_detour_text_destroy(object->planner.text);
	cp_table_destroy(object->table);
	free(object);
}

struct cp_detour_planner *cp_detour_object_planner(struct cp_detour_object *object)
{
	return &object->planner;
}
