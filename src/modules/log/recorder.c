/* SPDX-License-Identifier: MIT */
#include "modules/log/recorder.h"

#include <stdlib.h>

#include "base/text.h"

bool cp_recorder_parts_init(cprof_profiler *log, const struct cp_recorder_family *const *table)
{
	size_t count = 0, i;

	while (table[count])
		count++;
	log->parts = calloc(count + 1, sizeof(*log->parts));
	if (!log->parts)
		return false;
	for (i = 0; i < count; i++) {
		struct cp_recorder_part *part = &log->parts[log->part_count++];

		*part = (struct cp_recorder_part){
			.family = table[i],
			.state = calloc(1, table[i]->state_size + 1),
			.on = table[i]->always,
			.holds = table[i]->holds,
		};
		if (!part->state)
			return false;
		if (table[i]->init)
			table[i]->init(part->state);
	}
	return true;
}

void cp_recorder_parts_deinit(cprof_profiler *log)
{
	size_t i;

	for (i = 0; i < log->part_count; i++) {
		if (log->parts[i].state && log->parts[i].family->release)
			log->parts[i].family->release(log->parts[i].state);
		free(log->parts[i].state);
	}
	free(log->parts);
	log->parts = NULL;
	log->part_count = 0;
}

struct cp_recorder_part *cp_recorder_part(const cprof_profiler *log,
					  const struct cp_recorder_family *family)
{
	struct cp_recorder_part *part = log->parts;

	while (part->family != family)
		part++;
	return part;
}

void *cp_recorder_state(const cprof_profiler *log, const struct cp_recorder_family *family)
{
	return cp_recorder_part(log, family)->state;
}

bool cp_recorder_is_on(const cprof_profiler *log, const struct cp_recorder_family *family)
{
	return cp_recorder_part(log, family)->on;
}

void cp_recorder_turn_on(cprof_profiler *log, const struct cp_recorder_family *family)
{
	cp_recorder_part(log, family)->on = true;
}

bool cp_recorder_number(const char *value, uint32_t *ret)
{
	uint64_t n;

	if (!cp_parse_u64(value, UINT32_MAX, &n))
		return false;
	*ret = (uint32_t)n;
	return true;
}
