/* SPDX-License-Identifier: MIT */
#include "record/info.h"

#include <string.h>

#define FIELDS_MAX 1000000 /* arguments, merged recordings */

enum {
	INFO_ID = 1,
	INFO_HOLDS,
	INFO_VERSION,
	INFO_HOST,
	INFO_MACHINE,
	INFO_KERNEL,
	INFO_BOOT_ID,
	INFO_ARGUMENT, /* of the command; repeated */
	INFO_ATTACHED,
	INFO_PID,
	INFO_CLOCK,
	INFO_HZ,
	INFO_START,
	INFO_START_REAL,
	INFO_CPUS,
	INFO_MERGED, /* repeated */
	INFO_RESOLUTION,
	INFO_CAPTURE,
	INFO_CAPTURE_REASON,
	INFO_EVENT,
	INFO_EVENT_PERIOD,
	INFO_TEST,
};

static void put_text(struct cp_buf *out, uint64_t tag, const char *text)
{
	if (text && *text)
		cp_record_put_field(out, tag, text, strlen(text));
}

void cp_record_put_info(struct cp_buf *out, const struct cp_record_info *info, const uint8_t *id)
{
	char *const *it;

	if (id)
		cp_record_put_field(out, INFO_ID, id, CP_RECORD_ID_SIZE);
	cp_record_put_number(out, INFO_HOLDS, info->holds);
	put_text(out, INFO_VERSION, info->cprof_version);
	put_text(out, INFO_HOST, info->host);
	put_text(out, INFO_MACHINE, info->machine);
	put_text(out, INFO_KERNEL, info->kernel);
	put_text(out, INFO_BOOT_ID, info->boot_id);
	for (it = info->command; it && *it; it++)
		cp_record_put_field(out, INFO_ARGUMENT, *it, strlen(*it));
	cp_record_put_number(out, INFO_ATTACHED, info->attached);
	cp_record_put_number(out, INFO_PID, (uint32_t)info->pid);
	cp_record_put_number(out, INFO_CLOCK, (uint64_t)info->clock);
	cp_record_put_number(out, INFO_HZ, info->hz);
	cp_record_put_number(out, INFO_START, info->start_ns);
	cp_record_put_number(out, INFO_START_REAL, info->start_real_ns);
	cp_record_put_number(out, INFO_CPUS, info->cpus);
	cp_record_put_number(out, INFO_RESOLUTION, info->resolution_ns);
	put_text(out, INFO_CAPTURE, info->capture);
	put_text(out, INFO_CAPTURE_REASON, info->capture_reason);
	if (info->clock == CP_RECORD_CLOCK_EVENT) {
		put_text(out, INFO_EVENT, info->event);
		cp_record_put_number(out, INFO_EVENT_PERIOD, info->event_period);
	}
	put_text(out, INFO_TEST, info->test);
	for (it = info->merged; it && *it; it++)
		cp_record_put_field(out, INFO_MERGED, *it, strlen(*it));
}

static char *const no_strings[1];

struct cp_record_info cp_record_no_info(void)
{
	return (struct cp_record_info){
		.cprof_version = "",
		.host = "",
		.machine = "",
		.kernel = "",
		.boot_id = "",
		.capture = "",
		.capture_reason = "",
		.event = "",
		.test = "",
		.command = no_strings,
	};
}

struct strings {
	CP_VEC(char *) list;
	bool bad;
};

static char *text(struct cp_record_arena *arena, struct cp_cursor *body, bool *bad)
{
	char *copy = cp_record_copy(arena, body->at, cp_cursor_left(body));

	if (!copy)
		*bad = true;
	return copy;
}

static void add_string(struct strings *s, struct cp_record_arena *arena, struct cp_cursor *body)
{
	char *copy = text(arena, body, &s->bad);

	if (copy && (s->list.count >= FIELDS_MAX || !cp_vec_push(&s->list, copy)))
		s->bad = true;
}

/* The list as an array that ends in NULL, in the arena. */
static char *const *finish(struct strings *s, struct cp_record_arena *arena)
{
	size_t n = s->list.count;
	char **array = cp_record_alloc(arena, (n + 1) * sizeof(*array));

	if (array) {
		if (n)
			memcpy(array, s->list.items, n * sizeof(*array));
		array[n] = NULL;
	} else {
		s->bad = true;
	}
	cp_vec_free(&s->list);
	return array;
}

static void get_number(struct cp_record_info *info, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case INFO_HOLDS:
		info->holds = (uint32_t)value;
		break;
	case INFO_ATTACHED:
		info->attached = value != 0;
		break;
	case INFO_PID:
		info->pid = (int32_t)(uint32_t)value;
		break;
	case INFO_CLOCK:
		info->clock = value <= CP_RECORD_CLOCK_EVENT ? (enum cp_record_clock)value
							     : CP_RECORD_CLOCK_NONE;
		break;
	case INFO_HZ:
		info->hz = (uint32_t)value;
		break;
	case INFO_START:
		info->start_ns = value;
		break;
	case INFO_START_REAL:
		info->start_real_ns = value;
		break;
	case INFO_CPUS:
		info->cpus = (uint32_t)value;
		break;
	case INFO_EVENT_PERIOD:
		info->event_period = value;
		break;
	case INFO_RESOLUTION:
		info->resolution_ns = (uint32_t)value;
		break;
	default:
		break;
	}
}

static const char **text_field(struct cp_record_info *info, uint64_t tag)
{
	switch (tag) {
	case INFO_VERSION:
		return &info->cprof_version;
	case INFO_HOST:
		return &info->host;
	case INFO_MACHINE:
		return &info->machine;
	case INFO_KERNEL:
		return &info->kernel;
	case INFO_BOOT_ID:
		return &info->boot_id;
	case INFO_CAPTURE:
		return &info->capture;
	case INFO_CAPTURE_REASON:
		return &info->capture_reason;
	case INFO_EVENT:
		return &info->event;
	case INFO_TEST:
		return &info->test;
	default:
		return NULL;
	}
}

bool cp_record_get_info(struct cp_cursor *c, struct cp_record_arena *arena,
			struct cp_record_info *ret, uint8_t *id_ret)
{
	struct cp_record_info info = cp_record_no_info();
	struct strings command = { 0 }, merged = { 0 };
	uint8_t id[CP_RECORD_ID_SIZE] = { 0 };
	bool bad = false, has_id = false;
	struct cp_cursor body;
	uint64_t tag;

	while (cp_record_get_field(c, &tag, &body)) {
		const char **field = text_field(&info, tag);

		if (field) {
			*field = text(arena, &body, &bad);
		} else if (tag == INFO_ARGUMENT) {
			add_string(&command, arena, &body);
		} else if (tag == INFO_MERGED) {
			add_string(&merged, arena, &body);
		} else if (tag == INFO_ID && cp_cursor_left(&body) == sizeof(id)) {
			memcpy(id, body.at, sizeof(id));
			has_id = true;
		} else {
			get_number(&info, tag, cp_cursor_uleb(&body));
		}
	}
	info.command = finish(&command, arena);
	info.merged = merged.list.count ? finish(&merged, arena) : NULL;
	if (bad || command.bad || merged.bad)
		c->bad = true;
	if (c->bad)
		return false;
	if (has_id)
		memcpy(id_ret, id, sizeof(id));
	*ret = info;
	return true;
}
