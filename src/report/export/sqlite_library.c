/* SPDX-License-Identifier: MIT */
#include "report/export/sqlite_library.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/types.h"

#define LIBRARY "libsqlite3.so.0"
#define ROW(name) { "sqlite3_" #name, offsetof(struct cp_sqlite, name) },

static const struct {
	const char *name;
	size_t at;
} functions[] = { CP_SQLITE_FUNCTIONS(ROW) };

CP_ERROR cp_sqlite_load(struct cp_sqlite *ret)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *function;
	size_t i;

	for (i = 0; handle && i < CP_ARRAY_SIZE(functions); i++) {
		function = dlsym(handle, functions[i].name);
		if (!function)
			break;
		*(void **)((char *)ret + functions[i].at) = function;
	}
	if (i < CP_ARRAY_SIZE(functions))
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "loading SQLite: %s", dlerror());
	return NULL;
}
