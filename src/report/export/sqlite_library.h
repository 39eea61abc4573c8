/* SPDX-License-Identifier: MIT
 *
 * SQLite, loaded for who writes a database: its 1,600 names would be looked up at each start
 * of cprof.
 */
#ifndef CP_REPORT_EXPORT_SQLITE_LIBRARY_H
#define CP_REPORT_EXPORT_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "base/error.h"

/* The library's functions that are called, by their names without "sqlite3_". */
/* clang-format off */
#define CP_SQLITE_FUNCTIONS(f) \
	f(bind_blob) f(bind_double) f(bind_int64) f(bind_null) f(bind_text) f(clear_bindings) \
	f(close) f(errcode) f(errmsg) f(exec) f(finalize) f(open_v2) f(prepare_v2) f(reset) f(step)
/* clang-format on */

#define CP_SQLITE_POINTER(name) __typeof__(sqlite3_##name) *name;
struct cp_sqlite {
	CP_SQLITE_FUNCTIONS(CP_SQLITE_POINTER)
};
#undef CP_SQLITE_POINTER

/* It stays loaded. */
CP_ERROR cp_sqlite_load(struct cp_sqlite *ret);

#endif
