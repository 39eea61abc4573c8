/* SPDX-License-Identifier: MIT */
#include "report/profile/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/eventnames.h"
#include "base/text.h"
#include "record/nettime.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

enum { CPU, WALL, CALLS, CALLS_WALL, BYTES, COUNT, LIVE };

/* clang-format off */
static const struct cp_unit units[] = {
	/* of, whole, heading, tick, ticks, symbol, measure, kind, add */
	[CPU] = { "of CPU time", "of the time", "time", "sample", "samples",
		  "ns", "nanoseconds", "cpu", cp_add_time },
	[WALL] = { "of elapsed time", "of the time", "time", "sample", "samples",
		   "ns", "nanoseconds", "wall", cp_add_time },
	[CALLS] = { "in traced calls", "of the time", "time", "call", "calls",
		    "ns", "nanoseconds", "cpu", cp_add_time },
	[CALLS_WALL] = { "in traced calls", "of the time", "time", "call", "calls",
			 "ns", "nanoseconds", "wall", cp_add_time },
	[BYTES] = { "allocated", "of the bytes", "bytes", "allocation", "allocations",
		    "bytes", "bytes", "alloc_space", cp_add_bytes },
	[COUNT] = { "allocations", "of the allocations", "allocations", "allocation",
		    "allocations", "count", "count", "alloc_objects", cp_add_count },
	[LIVE] = { "not freed", "of what was not freed", "bytes", "block", "blocks",
		   "bytes", "bytes", "inuse_space", cp_add_bytes },
};
/* clang-format on */

/* Samples of an event in the place of time, by its name. */
#define OF(event, words) \
	{ \
		words,	 "of the " words, words, "sample",    "samples", \
		"count", "count",	  event, cp_add_count \
	},
#define EVENT(name, words, type, number, period, kernel) OF(name, words)
static const struct cp_unit events[] = {
	CP_EVENTS(EVENT) OF("events", "events") /* of a later version */
};

const struct cp_unit *cp_sample_unit(const struct cp_record_info *info)
{
	size_t i = 0;

	if (info->clock != CP_RECORD_CLOCK_EVENT)
		return &units[info->clock == CP_RECORD_CLOCK_WALL ? WALL : CPU];
	while (i + 1 < CP_ARRAY_SIZE(events) && strcmp(events[i].kind, info->event) != 0)
		i++;
	return &events[i];
}

void cp_cost_add_words(const struct cp_profile *p, const struct cp_cost *cost, struct cp_buf *out)
{
	struct cp_net_time shown = cp_cost_shown(p, cost);

	cp_buf_str(out, shown.at_most ? "<= " : "");
	p->unit->add(out, shown.ns);
}

const struct cp_unit *cp_profile_unit(const struct cp_profile *p)
{
	bool elapsed = cp_record_info(p->record)->clock == CP_RECORD_CLOCK_WALL;

	switch (p->of) {
	case CP_OF_BYTES:
		return &units[BYTES];
	case CP_OF_COUNT:
		return &units[COUNT];
	case CP_OF_LIVE:
		return &units[LIVE];
	case CP_OF_TIME:
	case CP_OF_AUTO:
		break;
	}
	return p->by_calls ? &units[CALLS + elapsed] : cp_sample_unit(cp_record_info(p->record));
}

void cp_json_cost(struct cp_json *j, const struct cp_profile *p, const char *what,
		  const struct cp_cost *cost)
{
	char key[48];

	snprintf(key, sizeof(key), "%s%s%s", what ? what : "", what ? "_" : "", p->unit->symbol);
	cp_json_u64(j, key, cp_cost_shown(p, cost).ns);
}

void cp_cost_cell(struct cp_table *t, const struct cp_profile *p, const struct cp_cost *cost)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_cost_add_words(p, cost, &text);
	cp_table_cell(t, CP_PAINT_PLAIN, "%s", text.bytes ? text.bytes : "");
}
