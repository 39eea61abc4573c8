/* SPDX-License-Identifier: MIT */
#ifndef CP_BASE_CLOCK_H
#define CP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CP_NS_PER_S UINT64_C(1000000000)
#define CP_NS_PER_MS UINT64_C(1000000)

static inline uint64_t cp_clock_ns(clockid_t clock)
{
	struct timespec t = { 0, 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * CP_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The time base of everything cprof records. */
static inline uint64_t cp_now(void)
{
	return cp_clock_ns(CLOCK_MONOTONIC);
}

static inline struct timespec cp_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / CP_NS_PER_S), (long)(ns % CP_NS_PER_S) };
}

#endif
