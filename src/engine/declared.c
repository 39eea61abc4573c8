/* SPDX-License-Identifier: MIT
 *
 * Where the file is that types what has no debug information of its own
 * (inspect/declared.h): beside the program, as in the build, or where it is
 * installed.
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "engine/calls.h"

#define FILE_NAME "declared.debug"

/* False: the program's own directory can't be told. */
static bool beside_program(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size);
	char *slash;

	if (n < 0 || (size_t)n >= size)
		return false;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + sizeof(FILE_NAME) > size)
		return false;
	memcpy(slash + 1, FILE_NAME, sizeof(FILE_NAME));
	return !access(path, R_OK);
}

const struct cp_declared *engine_declared(cprof_session *s)
{
	struct engine_calls *c = engine_calls_get(s);
	char path[PATH_MAX] = "";
	struct cp_error *err;

	if (!c || c->declared_tried)
		return c ? c->declared : NULL;
	c->declared_tried = true;
	err = cp_declared_open(beside_program(path, sizeof(path)) ? path
								  : CP_DECLARED_DIR "/" FILE_NAME,
			       &c->declared);
	if (err)
		engine_warn(s,
			    "arguments and results of libraries without debug information have "
			    "no types: %s",
			    err->what);
	cp_error_free(err);
	return c->declared;
}

bool engine_declared_signature(cprof_session *s, const char *symbol, unsigned want,
			       struct cp_signature **ret)
{
	const struct cp_declared *declared = engine_declared(s);
	struct cp_signature *signature = NULL;
	struct cp_error *err;

	err = declared
		      ? cp_declared_signature(declared, symbol, want, &s->calls->limits, &signature)
		      : NULL;
	cp_error_free(err);
	if (!signature)
		return false;
	*ret = signature;
	return true;
}
