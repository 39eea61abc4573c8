/* SPDX-License-Identifier: MIT
 *
 * inspect_dump PROGRAM [ARG...]: the first call of every function of the
 * program, its arguments and result in a form that gdb's can be brought into
 * (inspect_judge.py).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect_trace.h"

static bool wants(void *ctx, const struct cp_symbol *symbol)
{
	(void)ctx;
	return symbol->name[0] != '_' || symbol->name[1] == 'Z';
}

static void dump(const cprof_value *v, int depth)
{
	uint32_t i;

	switch (v->kind) {
	case CPROF_VALUE_INT:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_ENUM:
		printf("%" PRId64, v->u.i);
		break;
	case CPROF_VALUE_UINT:
	case CPROF_VALUE_BOOL:
		printf("%" PRIu64, v->u.u);
		break;
	case CPROF_VALUE_FLOAT:
		printf("%.9g", v->u.f);
		break;
	case CPROF_VALUE_POINTER:
		printf("0x%" PRIx64, v->u.u);
		break;
	case CPROF_VALUE_STRING:
		printf("0x%" PRIx64, v->address);
		break;
	case CPROF_VALUE_STRUCT:
		printf("{");
		for (i = 0; i < v->count && depth < 2; i++) {
			if (v->items[i].name && *v->items[i].name) {
				printf("%s:", v->items[i].name);
				dump(&v->items[i], depth + 1);
				printf(";");
			}
		}
		printf("}");
		break;
	case CPROF_VALUE_ERROR:
		printf("?%s", cp_value_error_name(v->error));
		break;
	default:
		printf("*");
	}
}

static void returned(void *ctx, const struct traced_call *call)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < call->argument_count; i++) {
		if (call->arguments[i].guessed)
			return;
		printf("%s %s ", call->function, call->arguments[i].name);
		dump(&call->arguments[i], 0);
		printf("\n");
	}
	if (call->result) {
		printf("%s = ", call->function);
		dump(call->result, 0);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	return trace_program(&(struct trace_options){ .wants = wants,
						      .returned = returned,
						      .max_calls = 1,
						      .want = CP_SIGNATURE_ARGUMENTS |
							      CP_SIGNATURE_RESULT,
						      .argv = (const char *const *)argv + 1 }) < 0;
}
