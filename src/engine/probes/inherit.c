/* SPDX-License-Identifier: MIT */
#include "engine/probes/inherit.h"

#include "engine/probes/detours.h"
#include "engine/probes/given_back.h"
#include "engine/probes/rings.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

void engine_arm_inherit(cprof_process *p, const cprof_process *parent)
{
	uint64_t address, slot;
	const cprof_image *from;
	cprof_image *image;
	size_t i, cursor;

	engine_rings_inherit(p, parent);
	engine_room_inherit(p, parent);
	for (i = 0; i < parent->images.count; i++) {
		from = parent->images.items[i];
		if (!from->armed)
			continue;
		image = engine_image_inherit(p, from);
		if (!image)
			return;
		image->armed = image->mapped = true;
		image->area = from->area;
		image->area_size = from->area_size;
		image->cover = from->cover;
		image->unmapped = from->unmapped;
		for (cursor = 0; cp_map_next(&from->slots, &cursor, &address, &slot);)
			cp_map_put(&image->slots, address, slot);
		engine_detours_copy(image, from);
		engine_each_family(p->session, f, inherited)
			f->inherited(image);
	}
	for (cursor = 0; cp_map_next(&parent->life.returns, &cursor, &address, &slot);)
		cp_map_put(&p->life.returns, address, slot);
}
