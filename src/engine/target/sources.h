/* SPDX-License-Identifier: MIT
 *
 * Source lines and functions of an object. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_SOURCES_H
#define CP_ENGINE_TARGET_SOURCES_H

#include <cprof/cprof.h>
#include <pthread.h>
#include <stdatomic.h>

#include "image/lines.h"

struct cp_source_function;

/* Source lines and functions of an object (sources.c), read when first asked for. */
struct engine_sources {
	struct cp_line_table lines;
	struct cp_source_functions functions;
	bool lines_read, functions_read;
	pthread_t reader; /* reads both while the program runs */
	bool reading;
	bool reading_lines; /* the reader reads lines alone: the functions were read before */
	_Atomic bool done; /* the reader is done */
};

void engine_sources_free(struct engine_sources *sources);
/* The object's lines and functions, read now if they were not; NULL: there are none. */
const struct engine_sources *engine_sources_of(cprof_assembly *a);
/* Lines and functions will be asked for at the end: a thread begins to read them. */
void engine_sources_prefetch(cprof_assembly *a);
/* Are lines and functions read, so that nobody need wait for them? */
bool engine_sources_ready(const cprof_assembly *a);
/* Index of the first row, or function, with at least that address, or how many there
 * are. */
size_t engine_first_row(const struct cp_line_table *lines, uint64_t address);
size_t engine_first_source(const struct cp_source_functions *functions, uint64_t address);
/* The function, not an inlined one, that begins at `address`; NULL: unknown. */
const struct cp_source_function *engine_source_at(const struct cp_source_functions *functions,
						  uint64_t address);

#endif
