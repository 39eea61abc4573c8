/* SPDX-License-Identifier: MIT
 *
 * What the tracer has done, for the controller to read.
 */
#ifndef CP_LINK_STATS_H
#define CP_LINK_STATS_H

#include <stdatomic.h>
#include <stdint.h>

/* Buckets of a histogram of nanoseconds: 16 to each power of two. */
#define CP_HISTOGRAM 1024

struct cp_link_stats {
	_Atomic uint64_t ticks, ticks_missed;
	_Atomic uint64_t samples, lost;
	_Atomic uint64_t perf_samples; /* of them, without a stop (perf.h) */
	_Atomic uint64_t perf_lost; /* found no room in the kernel's rings */
	_Atomic uint64_t perf_cut; /* not told for the stack was deeper than what is copied */
	_Atomic uint64_t perf_throttled; /* times the kernel paused them for being too many */
	/* Where samples are of an event: how often it was, and how much of that no sample carries. */
	_Atomic uint64_t event_count, event_unsampled;
	_Atomic uint64_t perf_left; /* threads that had to be sampled by stops for a while */
	_Atomic uint64_t stops, stopped_ns; /* from seeing a stop to letting go */
	_Atomic uint64_t reads; /* threads read without a stop */
	_Atomic uint64_t restarted; /* system calls repaired */
	_Atomic uint64_t taken; /* of them: the signal that ended it was another thread's then */
	_Atomic uint64_t
		strayed; /* sent by kill(), and not the first thread's, which did not block them */
	_Atomic uint64_t finished; /* transfers that a stop cut short, and that were finished */
	_Atomic uint64_t cut_short; /* those that were not */
	_Atomic uint64_t unsampled_ns, cpu_ns;
	_Atomic uint64_t paused_ns; /* of unsampled_ns: used while samples were paused */
	_Atomic uint64_t tracer_cpu_ns;
	_Atomic uint64_t threads, processes; /* ever traced */
	_Atomic uint64_t signals; /* passed on */
	_Atomic uint64_t hits; /* stops that tell of calls, without those that only counted */
	_Atomic uint64_t counted; /* stops at which something was counted (coverage) */
	_Atomic uint64_t faults_untold; /* beyond what is told of in a process */
	_Atomic uint64_t hits_inside; /* of them: jumps that stayed inside of their function */
	_Atomic uint64_t hits_passed; /* of them: allocations that were not chosen (SAMPLED) */
	_Atomic uint64_t hits_late; /* of them: on a breakpoint just removed */
	_Atomic uint64_t hit_ns; /* what they took, of stopped_ns */
	_Atomic uint64_t detours; /* stops to measure what one costs beyond stopped_ns */
	_Atomic uint64_t slow_stop_ns; /* CPU time that a slow one takes, and others don't */
	_Atomic uint64_t full_ns; /* of stopped_ns, waits for a ring, or room in one */
	_Atomic uint64_t unready; /* held until the controller was ready, let go before */
	_Atomic uint32_t hold[CP_HISTOGRAM];
	_Atomic uint32_t trap[CP_HISTOGRAM]; /* what detours took */
};

unsigned cp_histogram_bucket(uint64_t ns);
/* The value below which `permille` of what was counted lies; 0 when nothing was. */
uint64_t cp_histogram_quantile(const _Atomic uint32_t *buckets, unsigned permille);

#endif
