/* SPDX-License-Identifier: MIT
 *
 * cprof/sampling.h - the statistical sampler: mode, frequency, ownership.
 */
#ifndef CPROF_SAMPLING_H
#define CPROF_SAMPLING_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_sample_mode {
	CPROF_SAMPLE_MODE_NONE = 0, /* do not sample */
	CPROF_SAMPLE_MODE_PROCESS = 1, /* CPU time: only threads that run at a tick */
	CPROF_SAMPLE_MODE_REAL = 2 /* CLOCK_MONOTONIC: every thread, at every tick */
} cprof_sample_mode;

#define CPROF_SAMPLE_MAX_FREQUENCY 10000u /* Hz */

/* Enables the sampler. The first caller owns mode and frequency. True if the
 * sampler is enabled (also for later callers, who do not own it); false if too
 * late: while the session runs, a command (control.h) may, where nobody did. Nothing is sampled before a
 * mode other than NONE is set. Mono: mono_profiler_enable_sampling(). */
CPROF_API bool cprof_profiler_enable_sampling(cprof_profiler_handle handle);

/* Sets mode and frequency (Hz, 1 to CPROF_SAMPLE_MAX_FREQUENCY), also while the
 * session runs; takes effect at the next tick. [async] False, and no change, unless the caller owns the settings
 * and `frequency` is in range. */
CPROF_API bool cprof_profiler_set_sample_mode(cprof_profiler_handle handle, cprof_sample_mode mode,
					      uint32_t frequency);

/* Stores the current settings (either pointer may be NULL). True if the caller
 * may change them. The default is NONE, 100 Hz. */
CPROF_API bool cprof_profiler_get_sample_mode(cprof_profiler_handle handle, cprof_sample_mode *mode,
					      uint32_t *frequency);

/* Samples also carry the vector and floating-point registers of the leaf
 * (cprof_context.xstate). False if too late. [init] */
CPROF_API bool cprof_profiler_enable_vector_state(void);

#define CPROF_SAMPLE_BLOCKED 1u /* the thread was blocked and has been read without a stop */
#define CPROF_SAMPLE_REPEAT \
	2u /* it has not run since its last sample: the same stack again. So is what it
				  waited for otherwise, where that is worth saying */
#define CPROF_SAMPLE_WAITED 4u /* it did not sleep: it waited for a CPU, or while a stop held it */

/* What a sample stands for. */
typedef struct cprof_sample {
	uint64_t timestamp_ns; /* CLOCK_MONOTONIC */
	uint64_t weight_ns; /* PROCESS: CPU time since the thread's last sample, so that the
				  weights add up to what the program used; REAL: the same, and
				  with any of the flags the time in which it did not run;
				  of an event (cprof_session_set_event()): how often that was */
	uint32_t count; /* ticks */
	uint32_t flags; /* CPROF_SAMPLE_* */
} cprof_sample;

/* Stores what the sample_hit being delivered stands for; false outside of one. */
CPROF_API bool cprof_current_sample(cprof_sample *sample);

/* What profiling has cost so far, and what it missed. Times in ns. */
typedef struct cprof_overhead {
	uint64_t stops, stopped_ns; /* stops of threads; from seeing one to letting go */
	uint64_t hold_median_ns, hold_p99_ns;
	uint64_t reads; /* threads read without a stop */
	uint64_t restarted; /* interrupted system calls that were repaired */
	uint64_t samples, lost;
	uint64_t ticks, ticks_missed;
	uint64_t cpu_ns, unsampled_ns; /* CPU time of the program; of it in no sample (known
					    at the end) */
	uint64_t tracer_cpu_ns, controller_cpu_ns;
	uint64_t threads, processes; /* ever seen */
	uint64_t waited_ns; /* of stopped_ns: for cprof to take events, or to know who makes them */
	uint64_t finished; /* transfers (write, recv with MSG_WAITALL, ...) that would have been
			      short because of a stop, and were finished */
	uint64_t cut_short; /* those that came back short */
	/* Samples without stops (cprof_session_capture()): */
	uint64_t perf_samples; /* of `samples` */
	uint64_t perf_lost; /* found no room in the kernel's rings */
	uint64_t perf_cut; /* left out: of stacks that were deeper than what is copied, of
			      threads that were stopped for their samples from then on */
	uint64_t perf_throttled; /* times the kernel paused them for being too many */
	uint64_t perf_left; /* times a thread began to be stopped for its samples */
	/* Where samples are of an event (cprof_session_set_event()): how often that was, and how
	 * much of it no sample stands for. */
	uint64_t event_count, event_unsampled;
	uint64_t paused_ns; /* of unsampled_ns: used while samples were paused */
	uint64_t placing_ns; /* since the session's begin, until what it found was prepared and
				breakpoints were placed; 0: they are not yet */
	uint64_t left_ns; /* CLOCK_MONOTONIC: when cprof began to leave the program; 0: it did
			     not. What happens later is held up by that */
	uint64_t placing_cut; /* processes that ended, or were left, before all that was to be
				 placed in them was */
	uint64_t strayed; /* signals to a whole process, by kill(), with a handler that another
			     thread ran than its first one, which did not block them */
} cprof_overhead;

CPROF_API void cprof_get_overhead(cprof_overhead *overhead);
/* While the session runs cpu_ns, unsampled_ns and tracer_cpu_ns are as old as the last call
 * of this: it has the tracer look at each thread. */
CPROF_API void cprof_refresh_overhead(void);

#ifdef __cplusplus
}
#endif
#endif
