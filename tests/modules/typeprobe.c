/* SPDX-License-Identifier: MIT
 *
 * Types as a profiler sees them: typeprobe:NAME;NAME;... prints each, once the program is
 * linked, in the words of tests/cli/types_gdb.py. When it is over it prints, of allocations
 * that have a type, how many blocks and bytes there were of each, and of the last `Named` that
 * a function got its value.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *names;
static cprof_tally *sums;
static unsigned wrong;

static void print_type(const cprof_type *type)
{
	char text[200];
	cprof_type_argument argument;
	cprof_enumerator e;
	cprof_member m;
	uint32_t i;

	printf("type %s size %" PRIu64 " align %" PRIu32 "\n", cprof_type_name(type),
	       cprof_type_size(type), cprof_type_alignment(type));
	if (cprof_type_template(type, text, sizeof(text)))
		printf("  template %s\n", text);
	for (i = 0; cprof_type_argument_at(type, i, &argument); i++)
		if (argument.is_value)
			printf("  argument %" PRId64 "\n", argument.value);
		else
			printf("  argument %s\n", cprof_type_name(argument.type));
	wrong += i != cprof_type_argument_count(type);
	for (i = 0; cprof_type_member(type, i, &m); i++)
		if (!(m.flags & CPROF_MEMBER_VIRTUAL))
			printf("  %s %s at %" PRIu64 " bits %u size %" PRIu64 "\n",
			       m.flags & CPROF_MEMBER_BASE ? "base" : "member",
			       m.flags & CPROF_MEMBER_BASE ? cprof_type_name(m.type) : m.name,
			       m.offset * 8 + m.bit_offset, m.bit_size, cprof_type_size(m.type));
	wrong += i != cprof_type_member_count(type);
	for (i = 0; cprof_type_enumerator(type, i, &e); i++)
		printf("  value %s %" PRId64 "\n", e.name, e.value);
	wrong += i != cprof_type_enumerator_count(type);
}

static void on_start(cprof_profiler *prof)
{
	const cprof_function *f = cprof_function_from_name(NULL, "takes");
	const cprof_type *type;
	char *name, *next = names;

	(void)prof;
	wrong += cprof_profiler_enable_allocation_types(); /* too late */
	wrong += cprof_type_from_name(NULL, "no::such_type") != NULL || cprof_type_size(NULL) ||
		 *cprof_type_name(NULL);
	while ((name = strsep(&next, ";"))) {
		type = *name ? cprof_type_from_name(NULL, name) : NULL;
		if (type)
			print_type(type);
		else if (*name)
			printf("no type %s\n", name);
	}
	if (!f)
		return;
	printf("result %s\n", cprof_type_name(cprof_function_result_type(f)));
	type = cprof_function_argument_type(f, 0);
	printf("argument %s of kind %d to %s\n", cprof_type_name(type), cprof_type_kind_of(type),
	       cprof_type_name(cprof_type_target(type)));
	wrong += cprof_function_argument_type(f, 9) != NULL;
}

static void on_allocation(cprof_profiler *prof, const cprof_object *object)
{
	(void)prof;
	if (object->type_name && object->type)
		cprof_tally_add(sums, &object->type, 1, object->size);
	wrong += object->type && !object->type_name;
}

static void on_takes(cprof_profiler *prof, const cprof_function *function,
		     cprof_call_context *context)
{
	const cprof_value *pointer = cprof_call_context_argument(context, 0), *value;
	cprof_object object = { .type = cprof_type_from_name(NULL, "ns::Named") };
	char text[400];

	(void)prof;
	(void)function;
	if (!object.type)
		return;
	object.address = pointer ? pointer->u.u : 0;
	wrong += cprof_object_value(&object, &value) != CPROF_OK;
	cprof_value_format(text, sizeof(text), value);
	printf("taken %s\n", text);
	object.type = NULL;
	wrong += cprof_object_value(&object, &value) != CPROF_E_NO_DEBUG_INFO;
}

static void on_end(cprof_profiler *prof)
{
	const cprof_tally_row *row;
	size_t i;

	(void)prof;
	for (i = 0; (row = cprof_tally_row_at(sums, i)); i++)
		printf("allocated %s %" PRIu64 " %" PRIu64 "\n",
		       cprof_type_name(*(const cprof_type *const *)row->key), row->count, row->sum);
	printf("wrong %u\n", wrong);
	cprof_tally_free(sums);
	free(names);
}

CPROF_PROFILER_INIT(typeprobe)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);

	names = strdup(cprof_profiler_desc_args(desc));
	sums = cprof_tally_create(sizeof(cprof_type *), 0);
	wrong += !cprof_profiler_enable_allocation_types();
	wrong += !cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(handle, cprof_callspec_parse("takes", NULL),
			     CPROF_CALL_INSTRUMENTATION_ENTER |
				     CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT);
	cprof_profiler_set_runtime_initialized_callback(handle, on_start);
	cprof_profiler_set_gc_allocation_callback(handle, on_allocation);
	cprof_profiler_set_method_enter_callback(handle, on_takes);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, on_end);
}
