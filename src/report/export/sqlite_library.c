/* SPDX-License-Identifier: MIT */
#include "report/export/sqlite_library.h"

#include "base/library.h"
#include "base/types.h"

#define LIBRARY "libsqlite3.so.0"
#define ROW(name) { "sqlite3_" #name, offsetof(struct cp_sqlite, name) },

CP_ERROR cp_sqlite_load(struct cp_sqlite *ret)
{
	static const struct cp_library_function functions[] = { CP_SQLITE_FUNCTIONS(ROW) };
	const char *why = cp_library_load(LIBRARY, functions, CP_ARRAY_SIZE(functions), ret);

	return why ? cp_error_new(CP_ERR_NOT_FOUND, 0, "loading SQLite: %s", why) : NULL;
}
