/* bytype: what is allocated by type, and how much of an object is padding.
 *   cprof run --profile=bytype -- ./program */
#include <cprof/cprof.h>

static cprof_profiler_handle bytype;
static cprof_tally *sums; /* of bytes, by type */

static void allocated(cprof_profiler *p, const cprof_object *object)
{
	if (object->type)
		cprof_tally_add(sums, &object->type, 1, object->size);
}

static void ended(cprof_profiler *p)
{
	const cprof_tally_row *row;
	cprof_member m;

	cprof_tally_sort(sums, CPROF_TALLY_BY_SUM);
	for (int i = 0; i < 20 && (row = cprof_tally_row_at(sums, i)); i++) {
		const cprof_type *type = *(const cprof_type *const *)row->key;
		long size = cprof_type_size(type), bits = 0;
		for (uint32_t k = 0; cprof_type_member(type, k, &m); k++)
			bits += m.bit_size ? m.bit_size : 8 * cprof_type_size(m.type);
		cprof_profiler_printf(bytype, "%ld blocks, %ld bytes: %s, %ld of %ld padding",
				      (long)row->count, (long)row->sum, cprof_type_name(type),
				      bits ? size - (bits + 7) / 8 : 0, size);
	}
}

CPROF_PROFILER_INIT(bytype)
{
	sums = cprof_tally_create(sizeof(cprof_type *), 0);
	bytype = cprof_profiler_create(NULL);
	cprof_profiler_enable_allocation_types();
	cprof_profiler_set_gc_allocation_callback(bytype, allocated);
	cprof_profiler_set_runtime_shutdown_end_callback(bytype, ended);
}
