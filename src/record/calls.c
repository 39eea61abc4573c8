/* SPDX-License-Identifier: MIT */
#include "record/calls.h"

#include "record/reader.h"

struct kind {
	enum cp_record_call_family family;
	bool has_stack;
};

/* A row for each kind of events. */
static const struct kind kinds[CP_RECORD_CALL_KINDS] = {
	[CP_RECORD_ENTER] = { CP_RECORD_OF_CALLS, true },
	[CP_RECORD_LEAVE] = { CP_RECORD_OF_CALLS, false },
	[CP_RECORD_TAIL_CALL] = { CP_RECORD_OF_CALLS, false },
	[CP_RECORD_UNWIND] = { CP_RECORD_OF_CALLS, false },
	[CP_RECORD_DISARMED] = { CP_RECORD_OF_CALLS, false },
	[CP_RECORD_THROW] = { CP_RECORD_OF_EXCEPTIONS, true },
	[CP_RECORD_CATCH] = { CP_RECORD_OF_EXCEPTIONS, false },
	[CP_RECORD_WAIT] = { CP_RECORD_OF_LOCKS, true },
	[CP_RECORD_ALLOCATED] = { CP_RECORD_OF_HEAP, true },
	[CP_RECORD_MOVED] = { CP_RECORD_OF_HEAP, true },
	[CP_RECORD_FREED] = { CP_RECORD_OF_HEAP, true },
	[CP_RECORD_HEAP_SIZE] = { CP_RECORD_OF_HEAP, false },
	[CP_RECORD_INHERITED] = { CP_RECORD_OF_CALLS, false },
	[CP_RECORD_MAPPED] = { CP_RECORD_OF_MAPS, true },
	[CP_RECORD_UNMAPPED] = { CP_RECORD_OF_MAPS, true },
};

enum cp_record_call_family cp_record_kind_family(unsigned kind)
{
	return kind < CP_RECORD_CALL_KINDS ? kinds[kind].family : CP_RECORD_OF_CALLS;
}

bool cp_record_kind_has_stack(unsigned kind)
{
	return kind < CP_RECORD_CALL_KINDS && kinds[kind].has_stack;
}

uint64_t cp_record_call_count(const struct cp_record *r)
{
	return r->call_counts[CP_RECORD_OF_CALLS];
}

uint64_t cp_record_exception_count(const struct cp_record *r)
{
	return r->call_counts[CP_RECORD_OF_EXCEPTIONS];
}

uint64_t cp_record_wait_count(const struct cp_record *r)
{
	return r->call_counts[CP_RECORD_OF_LOCKS];
}

uint64_t cp_record_heap_count(const struct cp_record *r)
{
	return r->call_counts[CP_RECORD_OF_HEAP];
}

uint64_t cp_record_map_count(const struct cp_record *r)
{
	return r->call_counts[CP_RECORD_OF_MAPS];
}
