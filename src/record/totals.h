/* SPDX-License-Identifier: MIT
 *
 * What a recording adds up to, and what making it cost.
 */
#ifndef CP_RECORD_TOTALS_H
#define CP_RECORD_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

/* Totals that come at the end, and so far in each chunk: the last one read
 * counts. Times in ns. */
struct cp_record_totals {
	uint64_t end_ns;
	uint64_t samples, samples_lost;
	uint64_t cpu_ns; /* CPU time the program used, as the kernel counts it */
	uint64_t unsampled_ns; /* of it, not carried by any sample's weight */
	uint64_t stops, stopped_ns; /* stops of threads made by us, and time they took */
	uint64_t hold_median_ns, hold_p99_ns; /* from seeing a stop to letting go */
	uint64_t restarted; /* interrupted system calls that were repaired */
	uint64_t reads; /* threads read without a stop */
	uint64_t threads, processes;
	uint64_t tracer_cpu_ns, controller_cpu_ns;
	bool ended; /* CMD ended (not: let go) */
	int32_t wait_status; /* as wait(2) has it, when ended */
	/* Calls (record/calls.h). `calls` counts their events, the other stops
	 * at breakpoints were rejected: a jump that stayed in its function, a
	 * condition that did not hold, a breakpoint just removed. */
	uint64_t calls, calls_lost;
	uint64_t call_stops;
	uint64_t call_fast; /* functions with detours; */
	uint64_t call_records, call_records_lost; /* what those told, and had no room for */
	uint64_t call_fast_sites; /* of call_sites, those with detours */
	uint64_t detour_ns; /* what a call by detours took more in a trial; 0: not known */
	uint64_t call_records_unread; /* of call_records, without what pointers lead to */
	uint64_t call_conditional; /* 1: only calls for which a condition held */
	uint64_t call_rejected_inside, call_rejected_condition, call_rejected_late;
	uint64_t call_condition_unknown; /* calls for which it could not be evaluated */
	uint64_t call_unmatched; /* leaves of what was entered before tracing began */
	uint64_t call_functions, call_sites; /* traced */
	uint64_t call_disarmed; /* functions, for being called too often */
	uint64_t trap_ns; /* what a stop costs the program beyond stopped_ns: the median of
			     `traps` that were measured; */
	uint64_t trap_low_ns, trap_high_ns, traps; /* of which a tenth is below, a tenth above */
	uint64_t annotations, annotations_lost; /* record/annotations.h */
	uint64_t waited_ns; /* of stopped_ns, because events came faster than they were read */
	/* Allocations: how often watching them paused, and the time of these processes. */
	uint64_t alloc_pauses, alloc_paused_ns, alloc_watched_ns;
	uint64_t alloc_every; /* one is recorded about every so many bytes; 0: all are */
	uint64_t alloc_passed; /* stops for those that are not */
	uint64_t finished; /* transfers that a stop would have made short */
	uint64_t cut_short; /* those that it did */
	/* Samples by the kernel's interrupt (perf), without a stop: */
	uint64_t perf_samples; /* of `samples` */
	uint64_t perf_lost; /* no room in the kernel's rings */
	uint64_t perf_cut; /* left out, for the stack was deeper than what is copied */
	uint64_t perf_throttled; /* times the kernel paused them */
	uint64_t calls_left_out; /* that were traced, and not to be kept */
	uint64_t perf_left; /* times a thread began to be stopped for its samples */
	uint64_t paused_ns; /* of unsampled_ns: used while samples were paused */
	uint64_t placing_ns; /* from the start until breakpoints were placed; of several: 0 */
	uint64_t event_count; /* how often the event was that samples are of, */
	uint64_t event_unsampled; /* and how much of that no sample carries */
	uint64_t left_ns; /* when cprof began to leave what still ran; 0: nothing did. Calls that
			     are open end there, not when it was out */
	uint64_t placing_cut; /* processes that ended, or were left, before all that was to be
				 placed in them was */
	uint64_t strayed; /* signals to a process that another thread than its first one handled */
	/* Sources and code that the recording encloses, and what there was no room for. */
	uint64_t sources, source_bytes, sources_left_out;
	uint64_t codes, code_bytes, codes_left_out;
};

/* Were there more calls than are told? */
static inline bool cp_record_totals_lack_calls(const struct cp_record_totals *t)
{
	return t->calls_lost || t->call_records_lost;
}

#endif
