/* SPDX-License-Identifier: MIT
 *
 * What samples can be of in the place of time: the only list. X(name, words, type and number
 * as <linux/perf_event.h> has them without PERF_TYPE_ and PERF_COUNT_, how many make a sample
 * unless told, whether it happens in the kernel alone).
 */
#ifndef CP_BASE_EVENTNAMES_H
#define CP_BASE_EVENTNAMES_H

#define CP_EVENTS(X) \
	X("cycles", "cycles", HARDWARE, HW_CPU_CYCLES, 10000000, false) \
	X("instructions", "instructions", HARDWARE, HW_INSTRUCTIONS, 10000000, false) \
	X("cache-references", "cache references", HARDWARE, HW_CACHE_REFERENCES, 100000, false) \
	X("cache-misses", "cache misses", HARDWARE, HW_CACHE_MISSES, 10000, false) \
	X("branches", "branches", HARDWARE, HW_BRANCH_INSTRUCTIONS, 1000000, false) \
	X("branch-misses", "branch misses", HARDWARE, HW_BRANCH_MISSES, 100000, false) \
	X("page-faults", "page faults", SOFTWARE, SW_PAGE_FAULTS, 100, false) \
	X("minor-faults", "minor faults", SOFTWARE, SW_PAGE_FAULTS_MIN, 100, false) \
	X("major-faults", "major faults", SOFTWARE, SW_PAGE_FAULTS_MAJ, 1, false) \
	X("context-switches", "context switches", SOFTWARE, SW_CONTEXT_SWITCHES, 20, true) \
	X("cpu-migrations", "CPU migrations", SOFTWARE, SW_CPU_MIGRATIONS, 1, true)

#endif
