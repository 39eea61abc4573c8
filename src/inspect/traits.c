/* SPDX-License-Identifier: MIT
 *
 * `&dyn Trait`, `Box<dyn Trait>`: two words, the second of which leads to a vtable. What that
 * was made for, debug information says of the vtable itself.
 */
#include "inspect/traits.h"

#include <string.h>

#include "inspect/rust.h"
#include "inspect/shapes.h"

bool cp_trait_behind(const struct cp_expression_env *env, const struct cp_thing *thing,
		     struct cp_thing *ret)
{
	const struct cp_shapes *shapes = env->shapes;
	const struct cp_type *t = thing->type ? cp_type_complete(cp_type_image(thing->type),
								 cp_type_strip(thing->type))
					      : NULL,
			     *to;
	struct cp_thing whole = *thing;
	struct cp_rust_trait words;
	const uint8_t *bytes;
	const char *name;
	uint64_t vtable;

	if (!t || thing->bits || !shapes || !shapes->type_of_vtable || !cp_rust_is_trait(t, &words))
		return false;
	bytes = cp_thing_bytes(env, &whole);
	if (!bytes)
		return false;
	memcpy(&vtable, bytes + words.vtable, sizeof(vtable));
	to = shapes->type_of_vtable(shapes->ctx, vtable, &name);
	if (!to)
		return false;
	*ret = (struct cp_thing){ .type = cp_type_pointer_to(env->arena, to),
				  .bytes = bytes + words.pointer,
				  .size = sizeof(vtable),
				  .source = thing->source };
	if (thing->in_memory) {
		ret->in_memory = true;
		ret->address = thing->address + words.pointer;
	}
	return ret->type != NULL;
}
