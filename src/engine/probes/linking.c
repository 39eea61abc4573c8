/* SPDX-License-Identifier: MIT */
#include "engine/probes/linking.h"

#include <string.h>

#include "base/text.h"
#include "engine/probes/sites.h"
#include "engine/target/images.h"
#include "engine/target/linker.h"
#include "engine/target/state.h"

bool engine_is_linking(cprof_process *p)
{
	bool hook = false;
	size_t i;

	if (p->life.linking_look == p->look)
		return p->life.linking;
	for (i = 0; i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];

		/* A static program has the function, too, and never calls it. */
		hook |= image->mapped && image->assembly->plans &&
			image->assembly->plans->hook_address && !engine_is_program(image);
	}
	if (!hook) /* its plan may not be made yet */
		return false;
	p->life.linking_look = p->look;
	p->life.linking = !engine_linker_done(p);
	return p->life.linking;
}

bool engine_is_c_library(const cprof_image *image)
{
	return !strncmp(cp_basename(image->assembly->path), "libc", 4);
}

bool engine_waits_for_c_library(cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && engine_is_c_library(p->images.items[i]))
			return false;
	return engine_is_linking(p);
}
