/* threads: which threads use the CPU, second by second: cprof attach --profile=threads PID */
#include <cprof/cprof.h>

static cprof_profiler_handle handle;
static cprof_thread *threads[100];
static double used[100]; /* ns */

static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	cprof_sample sample;
	int i = 0;
	while (i < 99 && threads[i] && threads[i] != cprof_current_thread())
		i++;
	threads[i] = cprof_current_thread();
	used[i] += cprof_current_sample(&sample) ? sample.weight_ns : 0;
}
static void second(cprof_profiler *p)
{
	for (int i = 0; i < 100 && threads[i]; used[i++] = 0)
		cprof_profiler_printf(handle, "%3.0f%% %s", used[i] / 1e7, cprof_thread_name(threads[i]));
}
CPROF_PROFILER_INIT(threads)
{
	handle = cprof_profiler_create(NULL);
	cprof_profiler_set_sample_hit_callback(handle, hit);
	cprof_profiler_set_heartbeat_callback(handle, second);
	if (cprof_profiler_enable_sampling(handle))
		cprof_profiler_set_sample_mode(handle, CPROF_SAMPLE_MODE_PROCESS, 99);
}
