/* SPDX-License-Identifier: MIT */
#include "engine/probes/base.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "detour/base.h"
#include "engine/probes/objects.h"
#include "engine/probes/sites.h"

#define SEGMENT_MOST (UINT64_C(64) << 20)

/* The segment of a file without sections, where what is no code may look like it. */
static bool segment_uses(struct cp_decoder *decoder, const struct cp_image *image,
			 const struct engine_text *text)
{
	struct cp_vaddr start = { text->start - text->image->bias };
	size_t size =
		text->end - text->start < SEGMENT_MOST ? text->end - text->start : SEGMENT_MOST;
	CP_FREE uint8_t *code = malloc(size);

	return code &&
	       cp_detour_base_used(decoder, code, cp_image_read(image, start, code, size), false);
}

static bool is_used(const cprof_process *p, const struct engine_text *text)
{
	const cprof_image *image = text->image;
	struct engine_plans *plans = engine_plans_of(image->assembly);
	struct cp_decoder *decoder = p->session->calls->decoder;
	bool has;

	if (!plans || plans->base_read)
		return plans && plans->base_used;
	plans->base_read = true;
	plans->base_used = cp_detour_base_used_by(decoder, image->assembly->image, &has);
	if (!has)
		plans->base_used = segment_uses(decoder, image->assembly->image, text);
	if (plans->base_used)
		cp_info("%s uses gs: no detours where it is mapped", image->assembly->path);
	return plans->base_used;
}

bool engine_base_used(const cprof_process *p)
{
	const struct engine_text *text;
	bool used = false;

	cp_vec_for_each(&p->texts, text)
		used |= is_used(p, text);
	return used;
}
