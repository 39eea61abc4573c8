/* SPDX-License-Identifier: MIT
 *
 * `log:verbose`: what happens to processes, threads and files, and the signals
 * they get, a line each on standard error, in the words of the API. A profiler of its own, so that the
 * recorder's callbacks stay its own.
 */
#include "modules/log/verbose.h"

#define OF_IMAGE(event) \
	static void on_##event(cprof_profiler *log, const cprof_image *image) \
	{ \
		cprof_profiler_printf(log->verbose, "%s %s", #event, cprof_image_path(image)); \
	}
OF_IMAGE(image_loading)
OF_IMAGE(image_loaded)
OF_IMAGE(image_failed)
OF_IMAGE(image_unloading)
OF_IMAGE(image_unloaded)

#define OF_DOMAIN(event) \
	static void on_##event(cprof_profiler *log, cprof_process *domain) \
	{ \
		cprof_profiler_printf(log->verbose, "%s %d", #event, cprof_process_pid(domain)); \
	}
OF_DOMAIN(domain_loading)
OF_DOMAIN(domain_loaded)
OF_DOMAIN(domain_unloading)
OF_DOMAIN(domain_unloaded)

#define OF_THREAD(event) \
	static void on_##event(cprof_profiler *log, uintptr_t tid) \
	{ \
		cprof_profiler_printf(log->verbose, "%s %ld", #event, (long)tid); \
	}
OF_THREAD(thread_started)
OF_THREAD(thread_stopping)
OF_THREAD(thread_stopped)
OF_THREAD(thread_exited)

#define OF_CONTEXT(event) \
	static void on_##event(cprof_profiler *log, cprof_namespace *context) \
	{ \
		cprof_profiler_printf(log->verbose, "%s %u", #event, cprof_namespace_id(context)); \
	}
OF_CONTEXT(context_loaded)
OF_CONTEXT(context_unloaded)

static void on_runtime_initialized(cprof_profiler *log)
{
	cprof_profiler_printf(log->verbose, "runtime_initialized");
}

static void on_domain_name(cprof_profiler *log, cprof_process *domain, const char *name)
{
	cprof_profiler_printf(log->verbose, "domain_name %d %s", cprof_process_pid(domain), name);
}

static void on_thread_name(cprof_profiler *log, uintptr_t tid, const char *name)
{
	cprof_profiler_printf(log->verbose, "thread_name %ld %s", (long)tid, name);
}

static void on_signal_delivered(cprof_profiler *log, uintptr_t tid, int number,
				cprof_addr fault_address)
{
	if (fault_address)
		cprof_profiler_printf(log->verbose, "signal_delivered %ld %d at %#llx", (long)tid,
				      number, (unsigned long long)fault_address);
	else
		cprof_profiler_printf(log->verbose, "signal_delivered %ld %d", (long)tid, number);
}

bool cp_recorder_be_verbose(cprof_profiler *log)
{
	cprof_profiler_handle h = log->verbose ? log->verbose : cprof_profiler_create(log);

	log->verbose = h;
	if (!h)
		return false;
	cprof_profiler_set_image_loading_callback(h, on_image_loading);
	cprof_profiler_set_image_loaded_callback(h, on_image_loaded);
	cprof_profiler_set_image_failed_callback(h, on_image_failed);
	cprof_profiler_set_image_unloading_callback(h, on_image_unloading);
	cprof_profiler_set_image_unloaded_callback(h, on_image_unloaded);
	cprof_profiler_set_domain_loading_callback(h, on_domain_loading);
	cprof_profiler_set_domain_loaded_callback(h, on_domain_loaded);
	cprof_profiler_set_domain_unloading_callback(h, on_domain_unloading);
	cprof_profiler_set_domain_unloaded_callback(h, on_domain_unloaded);
	cprof_profiler_set_thread_started_callback(h, on_thread_started);
	cprof_profiler_set_thread_stopping_callback(h, on_thread_stopping);
	cprof_profiler_set_thread_stopped_callback(h, on_thread_stopped);
	cprof_profiler_set_thread_exited_callback(h, on_thread_exited);
	cprof_profiler_set_context_loaded_callback(h, on_context_loaded);
	cprof_profiler_set_context_unloaded_callback(h, on_context_unloaded);
	cprof_profiler_set_runtime_initialized_callback(h, on_runtime_initialized);
	cprof_profiler_set_domain_name_callback(h, on_domain_name);
	cprof_profiler_set_thread_name_callback(h, on_thread_name);
	cprof_profiler_set_signal_delivered_callback(h, on_signal_delivered);
	return true;
}
