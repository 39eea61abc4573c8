/* SPDX-License-Identifier: MIT
 *
 * The type that an object really has, by its vtable (Itanium C++ ABI, 2.5.2): its symbol
 * names the class, and the number two words before where it is pointed to leads from a base
 * to the whole object.
 *
 *     object ─► vptr ─►  offset to top │ type_info │ functions...
 *                        -16             -8          0
 */
#include "inspect/dynamic.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define DEPTH 16
#define FAR (INT64_C(1) << 30) /* no object is larger */

/* Where a class has its pointer to a vtable; false: nowhere. */
static bool find_vptr(const struct cp_type *type, uint64_t at, unsigned depth, uint64_t *ret)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	t = t ? cp_type_complete(cp_type_image(t), t) : NULL;
	d = t && depth < DEPTH ? cp_type_details(t) : NULL;
	for (i = 0; d && i < d->member_count; i++) {
		if (!(d->members[i].flags & CP_MEMBER_ARTIFICIAL) ||
		    strncmp(d->members[i].name, "_vptr", strlen("_vptr")) != 0)
			continue;
		*ret = at + d->members[i].offset;
		return true;
	}
	/* One that shares its vptr with a virtual base has none of its own to be seen. */
	for (i = 0; d && i < d->member_count; i++)
		if (d->members[i].flags & CP_MEMBER_VIRTUAL) {
			*ret = at;
			return true;
		}
	for (i = 0; d && i < d->member_count; i++)
		if ((d->members[i].flags & (CP_MEMBER_BASE | CP_MEMBER_VIRTUAL)) ==
			    CP_MEMBER_BASE &&
		    find_vptr(d->members[i].type, at + d->members[i].offset, depth + 1, ret))
			return true;
	return false;
}

/* The class that a vtable's symbol names; while an object is made, the one that it is so
 * far. NULL: it is no vtable's. The name is cut for that. */
static const char *class_of(char *symbol)
{
	static const char whole[] = "vtable for ", part[] = "construction vtable for ";
	char *in;

	if (!strncmp(symbol, whole, sizeof(whole) - 1))
		return symbol + sizeof(whole) - 1;
	if (strncmp(symbol, part, sizeof(part) - 1) != 0)
		return NULL;
	in = strstr(symbol, "-in-");
	if (in)
		*in = '\0';
	return symbol + sizeof(part) - 1;
}

/* Is it the class's name, with all that it is in or without? */
static bool is_name_of(const char *name, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	size_t size = t->name ? strlen(t->name) : 0, all = strlen(name);

	return size && all >= size && !strcmp(name + all - size, t->name) &&
	       (all == size || name[all - size - 1] == ':');
}

char *cp_dynamic_class(const struct cp_dynamic_env *env, const struct cp_type *type,
		       uint64_t address)
{
	CP_FREE char *symbol = NULL;
	uint64_t at, vtable, offset;
	const char *name;

	if (!find_vptr(type, 0, 0, &at) ||
	    !cp_read_exact(env->memory, address + at, &vtable, sizeof(vtable)))
		return NULL;
	symbol = env->variable_at(env->ctx, vtable, &offset);
	name = symbol ? class_of(symbol) : NULL;
	return name && !is_name_of(name, type) ? strdup(name) : NULL;
}

enum cp_dynamic cp_dynamic_type(const struct cp_dynamic_env *env, const struct cp_type *type,
				uint64_t address, const struct cp_type **type_ret,
				uint64_t *address_ret)
{
	uint64_t at, vtable, offset;
	const struct cp_type *found;
	CP_FREE char *symbol = NULL;
	const char *name;
	int64_t to_top;

	if (!find_vptr(type, 0, 0, &at))
		return CP_DYNAMIC_PLAIN;
	if (!cp_read_exact(env->memory, address + at, &vtable, sizeof(vtable)))
		return CP_DYNAMIC_UNREADABLE;
	symbol = env->variable_at(env->ctx, vtable, &offset);
	name = symbol ? class_of(symbol) : NULL;
	if (!name || !cp_read_exact(env->memory, vtable - 16, &to_top, sizeof(to_top)) ||
	    to_top > 0 || to_top < -FAR)
		return CP_DYNAMIC_ASTRAY;
	found = env->type(env->ctx, name);
	if (!found)
		return CP_DYNAMIC_ASTRAY;
	*type_ret = found;
	*address_ret = address + at + (uint64_t)to_top;
	return CP_DYNAMIC_FOUND;
}
