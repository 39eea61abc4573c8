/* SPDX-License-Identifier: MIT */
#include "engine/families/heap_names.h"

#include <string.h>

#include "base/text.h"
#include "base/types.h"
#include "engine/probes/roles.h"

static const struct engine_role_name functions[] = {
	{ "malloc", MALLOC },
	{ "valloc", MALLOC },
	{ "pvalloc", MALLOC },
	{ "calloc", CALLOC },
	{ "memalign", ALIGNED },
	{ "aligned_alloc", ALIGNED },
	{ "posix_memalign", POSIX },
	{ "realloc", REALLOC },
	{ "reallocarray", REALLOCARRAY },
	{ "free", FREE },
	{ "cfree", FREE },
	/* jemalloc's own: (size, flags), (address, size, flags), ... */
	{ "mallocx", MALLOC },
	{ "rallocx", REALLOC },
	{ "dallocx", FREE },
	{ "sdallocx", FREE },
	/* A global allocator of a Rust program's; without one, what is called is malloc. */
	{ "__rg_alloc", MALLOC },
	{ "__rg_alloc_zeroed", MALLOC },
	{ "__rg_realloc", RUST_REALLOC },
	{ "__rg_dealloc", FREE },
};

static uint8_t c_role(const char *name, size_t length)
{
	static const char *const prefixes[] = { "je_", "mi_", "tc_" };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(prefixes); i++) {
		if (length > 3 && !strncmp(name, prefixes[i], 3)) {
			name += 3;
			length -= 3;
			break;
		}
	}
	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
}

/* `_RNvCs1a2b_7___rustc10___rg_alloc`: the last piece of a name of Rust's. */
static uint8_t rust_role(const char *name, size_t length)
{
	const char *at = memmem(name, length, "___rg_", 6);

	return at ? c_role(at + 1, length - (size_t)(at + 1 - name)) : 0;
}

/* operator new and delete, whose first argument is the size, or the address; not the
 * forms that are given a place. */
static uint8_t operator_role(const char *name)
{
	static const char *const news[] = { "", "RKSt9nothrow_t", "St11align_val_t",
					    "St11align_val_tRKSt9nothrow_t", NULL };
	static const char *const deletes[] = { "",
					       "m",
					       "RKSt9nothrow_t",
					       "St11align_val_t",
					       "mSt11align_val_t",
					       "St11align_val_tRKSt9nothrow_t",
					       NULL };

	if (cp_starts_with(name, "_Znwm") || cp_starts_with(name, "_Znam"))
		return cp_is_any(name + 5, news) ? MALLOC : 0;
	if (cp_starts_with(name, "_ZdlPv") || cp_starts_with(name, "_ZdaPv"))
		return cp_is_any(name + 6, deletes) ? FREE : 0;
	return 0;
}

/* Do operators of the image only call malloc and free, which are watched anyway? */
static bool only_calls_malloc(const char *image)
{
	return cp_starts_with(image, "libstdc++.") || cp_starts_with(image, "libc++.") ||
	       cp_starts_with(image, "libc++abi.");
}

uint8_t engine_heap_role_of(const char *image, const char *name, size_t length, bool local)
{
	uint8_t role = local ? 0 : c_role(name, length);

	if (!role && *name == '_')
		role = rust_role(name, length);
	if (!role && *name == '_' && !only_calls_malloc(image))
		role = operator_role(name);
	return role;
}
