/* SPDX-License-Identifier: MIT
 *
 * Types of library functions: by the library's debug information, or as the system's
 * headers declare them (inspect/declared.h). The file of declarations is beside cprof,
 * as in the build, where it is installed, or, of an installation that was moved, as far
 * from cprof as it would be there.
 */
#include "engine/probes/declared.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/state.h"

#define FILE_NAME "declared.debug"

/* The path of the file, from the directory that cprof is in. False: it is not there. */
static bool from_program(const char *file, char *path, size_t size)
{
	size_t length = strlen(file) + 1;
	ssize_t n = readlink("/proc/self/exe", path, size);
	char *slash;

	if (n < 0 || (size_t)n >= size)
		return false;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + length > size)
		return false;
	memcpy(slash + 1, file, length);
	return !access(path, R_OK);
}

static const char *find_file(char *path, size_t size)
{
	static const char installed[] = CP_DECLARED_DIR "/" FILE_NAME;

	if (from_program(FILE_NAME, path, size))
		return path;
	if (access(installed, R_OK) && from_program(CP_DECLARED_FROM_BIN "/" FILE_NAME, path, size))
		return path;
	return installed;
}

const struct cp_declared *engine_declared(cprof_session *s)
{
	struct engine_calls *c = engine_calls_get(s);
	char path[PATH_MAX] = "";
	struct cp_error *err;

	if (!c || c->declared_tried)
		return c ? c->declared : NULL;
	c->declared_tried = true;
	err = cp_declared_open(find_file(path, sizeof(path)), &c->declared);
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
	const struct cp_value_limits limits = engine_value_limits(s);
	const struct cp_declared *declared = engine_declared(s);
	struct cp_signature *signature = NULL;
	struct cp_error *err;

	err = declared ? cp_declared_signature(declared, symbol, want, &limits, &signature) : NULL;
	cp_error_free(err);
	if (!signature)
		return false;
	*ret = signature;
	return true;
}

/* ---- what a stub leads to ---- */

static uint64_t hash(const char *name)
{
	return cp_hash_bytes(name, strcspn(name, "@"));
}

/* Reads the object's exported functions, by hash of their names. */
static void read_exports(const cprof_assembly *a, struct engine_plans *plans)
{
	const struct cp_symbol *symbols;
	size_t count = 0, i;

	plans->exports_read = true;
	cp_error_free(cp_image_symbols(a->image, &symbols, &count));
	for (i = 0; i < count; i++)
		if ((symbols[i].kind == CP_SYMBOL_FUNCTION || symbols[i].kind == CP_SYMBOL_IFUNC) &&
		    !symbols[i].local)
			cp_map_put(&plans->exports, hash(symbols[i].name), i);
}

/* The function that object exports under a name; false: none. */
static bool find_export(cprof_assembly *a, const char *name, struct cp_symbol *ret)
{
	struct engine_plans *plans = engine_plans_of(a);
	const struct cp_symbol *symbols;
	const uint64_t *number;
	size_t count = 0, size = strcspn(name, "@");

	if (!plans)
		return false;
	if (!plans->exports_read)
		read_exports(a, plans);
	number = cp_map_get(&plans->exports, hash(name));
	if (!number)
		return false;
	cp_error_free(cp_image_symbols(a->image, &symbols, &count));
	if (*number >= count || strncmp(symbols[*number].name, name, size) != 0 ||
	    (symbols[*number].name[size] && symbols[*number].name[size] != '@'))
		return false;
	*ret = symbols[*number];
	return true;
}

bool engine_target_signature(const cprof_process *p, const char *symbol, unsigned want,
			     struct cp_signature **ret)
{
	const struct cp_value_limits limits = engine_value_limits(p->session);
	struct cp_signature *signature = NULL;
	struct cp_symbol found, best = { .kind = CP_SYMBOL_FUNCTION };
	const cprof_image *in = NULL;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];

		if (image->mapped && (!in || image->life.link_rank < in->life.link_rank) &&
		    find_export(image->assembly, symbol, &found)) {
			in = image;
			best = found;
		}
	}
	/* An indirect function's symbol would be its resolver. */
	if (in && best.kind == CP_SYMBOL_FUNCTION)
		cp_error_free(cp_signature_read(in->assembly->image, best.start, best.name, false,
						false, want, &limits, &signature));
	if (signature && cp_signature_is_described(signature) &&
	    !cp_signature_is_vague(signature)) {
		*ret = signature;
		return true;
	}
	if (engine_declared_signature(p->session, symbol, want, ret)) {
		cp_signature_destroy(signature);
		return true;
	}
	if (signature && cp_signature_is_described(signature)) {
		*ret = signature;
		return true;
	}
	cp_signature_destroy(signature);
	return false;
}
