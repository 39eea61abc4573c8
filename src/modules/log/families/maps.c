/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for mappings: log:maps. With the stack of each that is made; of
 * what is removed only who does it, unless stacks are asked for.
 */
#include <string.h>

#include "modules/log/disarmed.h"
#include "modules/log/families.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"

#define VALUES 11

/* What a record says. */
struct said {
	cprof_value values[VALUES];
	uint32_t count;
};

static cprof_value *add(struct said *said, uint8_t kind, const char *name, const char *type)
{
	cprof_value *v = &said->values[said->count++];

	*v = (cprof_value){ .kind = kind, .size = sizeof(uint64_t), .name = name, .type = type };
	return v;
}

static void add_number(struct said *said, const char *name, const char *type, uint64_t number)
{
	add(said, CPROF_VALUE_UINT, name, type)->u.u = number;
}

static void add_pointer(struct said *said, const char *name, cprof_addr address)
{
	add(said, CPROF_VALUE_POINTER, name, "void *")->u.u = address;
}

static void add_text(struct said *said, const char *name, const char *text)
{
	cprof_value *v = add(said, CPROF_VALUE_STRING, name, "char *");

	v->u.text.bytes = text;
	v->u.text.length = strlen(text);
}

static void describe(struct said *said, const cprof_mapping *m)
{
	static const char *const kinds[] = { [CPROF_MAPPING_UNKNOWN] = "unknown",
					     [CPROF_MAPPING_ANONYMOUS] = "anonymous",
					     [CPROF_MAPPING_FILE] = "file",
					     [CPROF_MAPPING_BREAK] = "break" };

	add_number(said, "size", "size_t", m->size);
	add_pointer(said, "address", m->address);
	add_text(said, "kind", kinds[m->kind]);
	if (m->function)
		add_text(said, "by", cprof_function_name(m->function));
	if (m->kind == CPROF_MAPPING_UNKNOWN)
		return;
	add_number(said, "protection", "int", (uint32_t)m->protection);
	add_number(said, "flags", "int", (uint32_t)m->flags);
	if (m->fd >= 0)
		add_number(said, "fd", "int", (uint32_t)m->fd);
	if (m->kind == CPROF_MAPPING_FILE)
		add_number(said, "offset", "off_t", m->offset);
	if (m->path)
		add_text(said, "path", m->path);
}

static void record(cprof_profiler *log, enum cp_record_call_kind kind)
{
	struct said said = { .count = 0 };
	struct cp_record_call r;
	cprof_mapping m;
	cprof_call call;

	if (!cprof_current_mapping(&m) || !cprof_current_call(&call) ||
	    !cp_recorder_event(log, &call, kind, &r))
		return;
	describe(&said, &m);
	if (m.previous)
		add_pointer(&said, "previous", m.previous);
	if (kind == CP_RECORD_UNMAPPED && m.created_ns)
		add_number(&said, "lived", "uint64_t", r.ts_ns - m.created_ns);
	r.values = said.values;
	r.value_count = said.count;
	r.function =
		cp_recorder_taker(log, kind == CP_RECORD_MAPPED || log->stacks ? &r.stack : NULL);
	cp_recorder_call(log, &r);
}

static void on_created(cprof_profiler *log, cprof_addr address, uint64_t size)
{
	(void)address;
	(void)size;
	record(log, CP_RECORD_MAPPED);
}

static void on_removed(cprof_profiler *log, cprof_addr address, uint64_t size)
{
	(void)address;
	(void)size;
	record(log, CP_RECORD_UNMAPPED);
}

static void start(cprof_profiler *log)
{
	if (!cprof_profiler_enable_mappings())
		cprof_profiler_fail(log->handle, "mappings cannot be watched here");
	cprof_profiler_set_mapping_created_callback(log->handle, on_created);
	cprof_profiler_set_mapping_removed_callback(log->handle, on_removed);
	cp_recorder_watch_disarmed(log);
}

const struct cp_recorder_family cp_recorder_maps = {
	.option = "maps",
	.help = "  maps               what is mapped into memory and out of it\n",
	.holds = CP_RECORD_HAS_MAPS,
	.start = start,
};
