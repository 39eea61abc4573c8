/* threads: which threads use the CPU, second by second: cprof attach --profile=threads PID */
#include <cprof/cprof.h>

static cprof_profiler_handle handle;
static cprof_tally *used; /* ns, by thread */

static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	cprof_thread *thread = cprof_current_thread();
	cprof_sample sample;
	if (cprof_current_sample(&sample))
		cprof_tally_add(used, &thread, 1, sample.weight_ns);
}
static void second(cprof_profiler *p)
{
	const cprof_tally_row *row;
	cprof_tally_sort(used, CPROF_TALLY_BY_SUM);
	for (size_t i = 0; (row = cprof_tally_row_at(used, i)); i++)
		cprof_profiler_printf(handle, "%3.0f%% %s", row->sum / 1e7,
				      cprof_thread_name(*(cprof_thread *const *)row->key));
	cprof_tally_clear(used);
}
CPROF_PROFILER_INIT(threads)
{
	used = cprof_tally_create(sizeof(cprof_thread *), 0);
	handle = cprof_profiler_create(NULL);
	cprof_profiler_set_sample_hit_callback(handle, hit);
	cprof_profiler_set_heartbeat_callback(handle, second);
	if (cprof_profiler_enable_sampling(handle))
		cprof_profiler_set_sample_mode(handle, CPROF_SAMPLE_MODE_PROCESS, 99);
}
