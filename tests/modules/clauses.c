/* SPDX-License-Identifier: MIT
 *
 * Prints each exception that is thrown and each clause that it comes to.
 * clauses:without does not ask for clauses.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
	[CPROF_EXCEPTION_CLAUSE_CATCH] = "catch",
	[CPROF_EXCEPTION_CLAUSE_FILTER] = "filter",
	[CPROF_EXCEPTION_CLAUSE_FINALLY] = "finally",
	[CPROF_EXCEPTION_CLAUSE_FAULT] = "fault",
};

static void thrown(cprof_profiler *p, const cprof_object *exception)
{
	(void)p;
	printf("%s %s\n", cprof_current_exception_rethrown() ? "rethrow" : "throw",
	       exception->type_name);
}

static void clause(cprof_profiler *p, const cprof_function *method, uint32_t index,
		   cprof_exception_clause_type type, const cprof_object *exception)
{
	(void)p;
	printf("%s %" PRIu32 " of %s for %s\n", kinds[type], index, cprof_function_name(method),
	       exception->type_name);
}

CPROF_PROFILER_INIT(clauses)
{
	cprof_profiler_handle h = cprof_profiler_create(NULL);

	if (!strcmp(desc, "clauses"))
		cprof_profiler_enable_clauses();
	cprof_profiler_set_exception_throw_callback(h, thrown);
	cprof_profiler_set_exception_clause_callback(h, clause);
}
