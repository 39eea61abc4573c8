/* SPDX-License-Identifier: MIT
 *
 * Registers as debuggers have them: the program counter is a function's address, the
 * stack and frame pointers are addresses, the others numbers; a vector is whatever
 * numbers it may be of.
 */
#include "inspect/registers.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"

#define VECTOR 16 /* bytes */

/* ---- types ---- */

static const struct cp_type of_code = { .kind = CP_TYPE_FUNCTION, .text = "void (void)" };
static const struct cp_type code_pointer = {
	.kind = CP_TYPE_POINTER, .size = 8, .target = &of_code, .text = "void (*)(void)"
};
static const struct cp_type pointer = { .kind = CP_TYPE_POINTER, .size = 8, .text = "void *" };

struct lane {
	const char *member, *element;
};

static const struct lane lanes[] = {
	{ "v4_float", "float" },
	{ "v2_double", "double" },
	{ "v16_int8", "int8_t" },
	{ "v8_int16", "int16_t" },
	{ "v4_int32", "int32_t" },
	{ "v2_int64", "int64_t" },
	{ "uint128", "unsigned __int128" },
};

/* A union of all that 16 bytes may be. */
static const struct cp_type *vector_type(struct cp_arena *arena)
{
	struct cp_type_member *members =
		cp_arena_array(arena, CP_ARRAY_SIZE(lanes), sizeof(*members));
	struct cp_type_details *details = cp_arena_alloc(arena, sizeof(*details));
	struct cp_type *t = cp_arena_alloc(arena, sizeof(*t));
	size_t i;

	if (!members || !details || !t)
		return NULL;
	for (i = 0; i < CP_ARRAY_SIZE(lanes); i++) {
		const struct cp_type *of = cp_type_of_c(lanes[i].element);

		members[i] = (struct cp_type_member){ .name = lanes[i].member, .type = of };
		if (of->size < VECTOR)
			members[i].type = cp_type_array_of(arena, of, VECTOR / of->size);
		if (!members[i].type)
			return NULL;
	}
	*details = (struct cp_type_details){ .members = members,
					     .member_count = CP_ARRAY_SIZE(lanes) };
	*t = (struct cp_type){ .kind = CP_TYPE_UNION, .size = VECTOR, .text = "vector" };
	atomic_store_explicit(&t->details, details, memory_order_release);
	return t;
}

/* ---- values ---- */

static void set(struct cp_thing *thing, struct cp_arena *arena, const struct cp_type *type,
		const void *bytes, size_t size)
{
	*thing = (struct cp_thing){ .type = type, .source = CPROF_SOURCE_ABI };
	thing->size = type ? type->size : 0;
	thing->bytes = bytes ? cp_arena_alloc(arena, thing->size + 1) : NULL;
	if (thing->bytes)
		memcpy((uint8_t *)(uintptr_t)thing->bytes, bytes,
		       size < thing->size ? size : thing->size);
	else
		thing->error = CPROF_VALUE_UNAVAILABLE;
}

/* The number of the general register; -1: none. */
static int number_of(const struct cp_arch *arch, const char *name)
{
	unsigned i;

	if (!strcmp(name, "pc"))
		return arch->pc;
	if (!strcmp(name, "sp"))
		return arch->sp;
	if (!strcmp(name, "fp"))
		return arch->fp;
	for (i = 0; i < arch->nregs; i++)
		if (!strcmp(name, arch->reg_names[i]))
			return (int)i;
	return -1;
}

static bool general(const struct cp_register_values *values, const char *name,
		    struct cp_arena *arena, struct cp_thing *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	int n = number_of(arch, name);
	const struct cp_type *type = n == arch->pc		      ? &code_pointer
				     : n == arch->sp || n == arch->fp ? &pointer
								      : cp_type_of_c("long");

	if (n < 0)
		return false;
	set(ret, arena, type, values->regs->known >> n & 1 ? &values->regs->r[n] : NULL, 8);
	return true;
}

static bool other(const struct cp_register_values *values, const char *name, struct cp_arena *arena,
		  struct cp_thing *ret)
{
	const char *const *names = cp_arch_host()->other_names;
	size_t i;

	for (i = 0; names[i]; i++) {
		if (strcmp(names[i], name))
			continue;
		set(ret, arena, cp_type_of_c(strstr(name, "base") ? "unsigned long" : "long"),
		    values->others ? &values->others[i] : NULL, 8);
		return true;
	}
	return false;
}

bool cp_register_thing(const struct cp_register_values *values, const char *name,
		       struct cp_arena *arena, struct cp_thing *ret)
{
	size_t offset, size;
	bool there;

	if (general(values, name, arena, ret) || other(values, name, arena, ret))
		return true;
	if (!cp_arch_vector_register(name, &offset, &size))
		return false;
	there = values->vectors && offset + size <= values->vectors_size;
	set(ret, arena, size == VECTOR ? vector_type(arena) : cp_type_of_c("long double"),
	    there ? values->vectors + offset : NULL, size);
	return true;
}
