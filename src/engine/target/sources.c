/* SPDX-License-Identifier: MIT
 *
 * Source lines and functions of an object: read once, when somebody asks, or
 * by a thread of their own while the program runs.
 */
#include "engine/target/sources.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/thread.h"
#include "engine/target/state.h"

static struct engine_sources *sources_of(cprof_assembly *a)
{
	if (!a->sources && a->image)
		a->sources = calloc(1, sizeof(*a->sources));
	return a->sources;
}

static void read_functions(cprof_assembly *a, struct engine_sources *sources)
{
	struct cp_error *err = NULL;

	if (!sources->functions_read)
		err = cp_image_source_functions(a->image, &sources->functions);
	sources->functions_read = true;
	if (err)
		cp_debug("functions of %s: %s", a->path, err->what);
	cp_error_free(err);
}

static void read_lines(cprof_assembly *a, struct engine_sources *sources)
{
	struct cp_error *err = NULL;

	if (!sources->lines_read)
		err = cp_image_lines(a->image, &sources->lines);
	sources->lines_read = true;
	if (err)
		cp_debug("lines of %s: %s", a->path, err->what);
	cp_error_free(err);
}

/* ---- ahead of time ---- */

static void *read_all(void *arg)
{
	cprof_assembly *a = arg;

	if (!a->sources->reading_lines)
		read_functions(a, a->sources);
	read_lines(a, a->sources);
	atomic_store(&a->sources->done, true);
	return NULL;
}

void engine_sources_prefetch(cprof_assembly *a)
{
	struct engine_sources *sources = sources_of(a);

	if (!sources || sources->reading || (sources->functions_read && sources->lines_read))
		return;
	sources->reading_lines = sources->functions_read;
	sources->reading = !cp_thread_start(&a->sources->reader, read_all, a);
}

bool engine_sources_ready(const cprof_assembly *a)
{
	const struct engine_sources *sources = a->sources;

	if (!sources || sources->reading)
		return sources && atomic_load(&sources->done);
	return sources->functions_read && sources->lines_read;
}

static void end_reading(struct engine_sources *sources)
{
	if (sources->reading)
		pthread_join(sources->reader, NULL);
	sources->reading = false;
}

void engine_sources_free(struct engine_sources *sources)
{
	if (!sources)
		return;
	end_reading(sources);
	cp_line_table_free(&sources->lines);
	cp_source_functions_free(&sources->functions);
	free(sources);
}

/* ---- when they are asked for ---- */

static struct engine_sources *with_functions(cprof_assembly *a)
{
	struct engine_sources *sources = sources_of(a);

	if (!sources)
		return NULL;
	if (!sources->reading_lines)
		end_reading(sources);
	read_functions(a, sources);
	return sources;
}

const struct engine_sources *engine_sources_of(cprof_assembly *a)
{
	struct engine_sources *sources = with_functions(a);

	if (sources) {
		end_reading(sources);
		read_lines(a, sources);
	}
	return sources;
}

size_t engine_first_row(const struct cp_line_table *lines, uint64_t address)
{
	return cp_vec_partition(&lines->rows, row, row->address < address);
}

size_t engine_first_source(const struct cp_source_functions *functions, uint64_t address)
{
	return cp_vec_partition(&functions->items, f, f->address < address);
}

const struct cp_source_function *engine_source_at(const struct cp_source_functions *functions,
						  uint64_t address)
{
	size_t i = engine_first_source(functions, address);

	/* At one address, real functions come before inlined ones. */
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
