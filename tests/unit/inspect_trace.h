/* SPDX-License-Identifier: MIT
 *
 * A small debugger for the tests of values: runs a program with breakpoints on
 * its functions, captures at each what the signature asks for, as the tracer
 * does, and hands the values over.
 */
#ifndef CP_INSPECT_TRACE_H
#define CP_INSPECT_TRACE_H

#include "inspect/inspect.h"

/* A call that returned. `arguments` were made when it was entered. */
struct traced_call {
	const char *function; /* linkage name */
	const struct cp_signature *signature;
	const cprof_value *arguments;
	size_t argument_count;
	const cprof_value *result; /* NULL: none */
	const cprof_value *locals;
	size_t local_count;
};

typedef void (*traced_call_fn)(void *ctx, const struct traced_call *call);

struct trace_options {
	/* Whether to trace a function; its breakpoint costs nothing but time. */
	bool (*wants)(void *ctx, const struct cp_symbol *symbol);
	traced_call_fn returned;
	void *ctx;
	const char *output; /* file for the program's standard output; NULL: dropped */
	unsigned max_calls; /* of one function; 0: any number */
	unsigned want; /* CP_SIGNATURE_* */
	const char *const *argv;
};

/* Runs the program to its end; its exit status, or -1. */
int trace_program(const struct trace_options *options);

#endif
