/* SPDX-License-Identifier: MIT
 *
 * Who takes a lock or memory: not the function of the C library that does it, nor
 * what a language has in between, but who called those.
 */
#include "modules/log/taker.h"

#include "base/runtime.h"
#include "base/text.h"

static bool is_library(const cprof_image *image)
{
	return image &&
	       cp_file_is_runtime(cp_basename(cprof_assembly_path(cprof_image_assembly(image))));
}

/* A symbol of an inlined function that is somebody's own sets *data. */
static void own_inlined(const cprof_symbol *symbol, void *data)
{
	bool *own = data;

	*own |= symbol->inlined && symbol->name && !cp_name_is_runtime(symbol->name);
}

/* Optimised code has who takes it inlined into what is not to be told: Rust's closures
 * into what starts a thread. */
static bool has_own_inlined(const cprof_image *image, uint64_t address)
{
	bool own = false;

	cprof_assembly_symbolize(cprof_image_assembly(image), address, own_inlined, &own);
	return own;
}

static bool is_runtime(const cprof_image *image, const cprof_function *function, uint64_t address)
{
	const char *name = function ? cprof_function_name(function) : NULL;

	if (is_library(image))
		return true;
	return name && cp_name_is_runtime(name) && !(image && has_own_inlined(image, address));
}

bool cp_recorder_is_runtime(cprof_profiler *log, const cprof_image *image, cprof_addr ip,
			    uint64_t address, uint32_t location)
{
	uint64_t *known = image ? cp_map_get(&log->runtimes, location) : NULL;
	bool answer;

	if (known)
		return *known != 0;
	answer = is_runtime(image, cprof_function_from_ip(ip), address);
	if (image)
		cp_map_put(&log->runtimes, location, answer);
	return answer;
}
