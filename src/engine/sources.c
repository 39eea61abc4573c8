/* SPDX-License-Identifier: MIT
 *
 * Source lines and functions of an object, read once, when somebody asks.
 */
#include <stdlib.h>

#include "base/log.h"
#include "engine/coverage.h"

void engine_sources_free(struct engine_sources *sources)
{
	if (!sources)
		return;
	cp_line_table_free(&sources->lines);
	cp_source_functions_free(&sources->functions);
	free(sources);
}

static struct engine_sources *sources_of(cprof_assembly *a)
{
	if (!a->sources && a->image)
		a->sources = calloc(1, sizeof(*a->sources));
	return a->sources;
}

static struct engine_sources *with_functions(cprof_assembly *a)
{
	struct engine_sources *sources = sources_of(a);
	struct cp_error *err;

	if (!sources || sources->functions_read)
		return sources;
	sources->functions_read = true;
	err = cp_image_source_functions(a->image, &sources->functions);
	if (err)
		cp_debug("functions of %s: %s", a->path, err->what);
	cp_error_free(err);
	return sources;
}

const struct engine_sources *engine_sources_of(cprof_assembly *a)
{
	struct engine_sources *sources = with_functions(a);
	struct cp_error *err;

	if (!sources || sources->lines_read)
		return sources;
	sources->lines_read = true;
	err = cp_image_lines(a->image, &sources->lines);
	if (err)
		cp_debug("lines of %s: %s", a->path, err->what);
	cp_error_free(err);
	return sources;
}

size_t engine_first_row(const struct cp_line_table *lines, uint64_t address)
{
	size_t lo = 0, hi = lines->rows.count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (lines->rows.items[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t engine_first_source(const struct cp_source_functions *functions, uint64_t address)
{
	size_t lo = 0, hi = functions->items.count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (functions->items.items[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct cp_source_function *engine_source_at(const struct cp_source_functions *functions,
						  uint64_t address)
{
	size_t i = engine_first_source(functions, address);

	/* Real ones come before inlined ones. */
	if (!address || i >= functions->items.count)
		return NULL;
	return functions->items.items[i].address == address && !functions->items.items[i].inlined
		       ? &functions->items.items[i]
		       : NULL;
}

static const struct cp_source_function *source_of(const cprof_function *f)
{
	const struct engine_sources *sources = with_functions(f->image->assembly);

	return sources ? engine_source_at(&sources->functions, f->start - f->image->bias) : NULL;
}

const char *cprof_function_file(const cprof_function *function)
{
	const struct cp_source_function *source = source_of(function);

	return source ? source->file : NULL;
}

uint32_t cprof_function_line(const cprof_function *function)
{
	const struct cp_source_function *source = source_of(function);

	return source ? source->line : 0;
}
