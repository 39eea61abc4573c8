/* SPDX-License-Identifier: MIT */
#include "link/perf.h"

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/eventnames.h"

#define EVENT(name, words, type, number, period, kernel) \
	{ name, PERF_TYPE_##type, PERF_COUNT_##number, period, kernel },

const struct cp_perf_event cp_perf_events[] = { CP_EVENTS(EVENT){ NULL, 0, 0, 0, false } };
