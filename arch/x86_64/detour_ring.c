/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/detour_ring.h"

#include <stddef.h>
#include <string.h>

#include "arch/x86_64/detour_frame.h"

#define TABLE_SHIFT 20 /* 32 - log2(CP_DETOUR_SLOTS) */
_Static_assert(CP_DETOUR_SLOTS == 1u << (32 - TABLE_SHIFT), "table");

void cp_x86_put_hash(struct cp_x86_emit *e)
{
	PUT32(e, "\x69\xc8", CP_DETOUR_HASH); /* imul $...,%eax,%ecx */
	PUT(e, "\xc1\xe9\x14"); /* shr $20,%ecx */
}

uint32_t cp_x86_table_at(const struct cp_detour_rings *rings)
{
	return rings->zero + (uint32_t)cp_detour_table_offset(rings->log);
}

void cp_x86_put_reserve(struct cp_x86_emit *e, const struct cp_detour_rings *rings, unsigned units)
{
	uint8_t shift[] = { 0x48, 0xc1, 0xe9, rings->log };

	if (e->now.copied) {
		FRAME(e, "\x8b\x8c\x24", e->now.copied); /* mov ...(%rsp),%ecx */
		/* add $...,%ecx; and $-16,%ecx */
		PUT32(e, "\x81\xc1", (units + 1) * CP_DETOUR_UNIT - 1);
		PUT(e, "\x83\xe1\xf0");
	} else {
		PUT32(e, "\xb9", units * CP_DETOUR_UNIT); /* mov $size,%ecx */
	}
	/* xadd %rcx,%gs:head */
	PUT32(e, "\x65\x48\x0f\xc1\x0c\x25", rings->zero + offsetof(struct cp_detour_ring, head));
	e->now.units = (uint16_t)units;
	e->now.record_at = CP_X86_POSITION_IN_RCX;
	PUT(e, "\x89\xca"); /* mov %ecx,%edx */
	PUT32(e, "\x81\xe2", (1u << rings->log) - 1); /* and $mask,%edx */
	cp_x86_put(e, shift, sizeof(shift)); /* shr $log,%rcx */
	e->now.record_at = CP_X86_TURN_IN_RCX;
	PUT(e, "\x66\x89\xc8"); /* mov %cx,%ax */
	e->now.record_at = CP_X86_TAG_IN_AX;
}

uint32_t cp_x86_buffer_at(const struct cp_detour_rings *rings, size_t offset)
{
	return rings->zero + CP_DETOUR_BUFFER + (uint32_t)offset;
}

void cp_x86_put_time(struct cp_x86_emit *e)
{
	PUT(e, "\x0f\x31"); /* rdtsc */
	PUT(e, "\x48\xc1\xe2\x20"); /* shl $32,%rdx */
	PUT(e, "\x48\x09\xd0"); /* or %rdx,%rax */
}

void cp_x86_put_stamp(struct cp_x86_emit *e)
{
	PUT(e, "\x48\xc1\xe0\x10"); /* shl $16,%rax */
}

void cp_x86_put_half(struct cp_x86_emit *e, const struct cp_detour_rings *rings, size_t offset,
		     uint32_t value)
{
	uint8_t bytes[] = { 0x65, 0xc7, 0x82, 0, 0, 0, 0 }; /* movl $value,%gs:(%rdx) */
	uint32_t at = cp_x86_buffer_at(rings, offset);

	memcpy(bytes + 3, &at, 4);
	cp_x86_put32(e, bytes, sizeof(bytes), value);
}

void cp_x86_put_what(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint32_t what)
{
	cp_x86_put_half(e, rings, offsetof(struct cp_detour_head, what), what);
}

void cp_x86_put_long(struct cp_x86_emit *e, const struct cp_detour_rings *rings, unsigned units)
{
	size_t at = sizeof(struct cp_detour_head);
	size_t units_at = at + offsetof(struct cp_detour_long, units),
	       stack_at = at + offsetof(struct cp_detour_long, stack);

	if (!e->now.copied) {
		cp_x86_put_half(e, rings, units_at, units);
		cp_x86_put_half(e, rings, stack_at, 0);
		return;
	}
	FRAME(e, "\x8b\x8c\x24", e->now.copied); /* mov ...(%rsp),%ecx */
	PUT32(e, "\x65\x89\x8a", cp_x86_buffer_at(rings, stack_at)); /* mov %ecx,%gs:... */
	PUT32(e, "\x81\xc1", (units + 1) * CP_DETOUR_UNIT - 1); /* add $...,%ecx */
	PUT(e, "\xc1\xe9\x04"); /* shr $4,%ecx */
	PUT32(e, "\x65\x89\x8a", cp_x86_buffer_at(rings, units_at));
}

/* `head`, if it is right behind the record, to behind what is in use: by an exchange, as
 * a signal's handler may reserve at any time. Units in use in ecx. */
static void put_exchange(struct cp_x86_emit *e, const struct cp_detour_rings *rings, unsigned units,
			 size_t failed[2])
{
	uint32_t head = rings->zero + offsetof(struct cp_detour_ring, head);
	uint32_t size = units * CP_DETOUR_UNIT;

	PUT32(e, "\x65\x48\x8b\x04\x25", head); /* mov %gs:head,%rax */
	PUT32(e, "\x8d\xb0", -size); /* lea -size(%rax),%esi */
	PUT32(e, "\x81\xe6", (1u << rings->log) - 1); /* and $mask,%esi */
	PUT(e, "\x39\xd6"); /* cmp %edx,%esi */
	failed[0] = cp_x86_put_forward(e, "\x0f\x85", 2); /* jne */
	PUT(e, "\x89\xce"); /* mov %ecx,%esi */
	PUT(e, "\xc1\xe6\x04"); /* shl $4,%esi */
	PUT32(e, "\x48\x8d\xb4\x30", -size); /* lea -size(%rax,%rsi),%rsi */
	PUT32(e, "\x65\x48\x0f\xb1\x34\x25", head); /* cmpxchg %rsi,%gs:head */
	e->now.units_by = CP_X86_USED_IF_ZERO;
	failed[1] = cp_x86_put_forward(e, "\x0f\x85", 2); /* jne */
	e->now.units_by = CP_X86_AS_USED;
}

void cp_x86_give_back(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint32_t site,
		      unsigned units, bool is_long)
{
	size_t failed[2], done;
	size_t units_at = sizeof(struct cp_detour_head) + offsetof(struct cp_detour_long, units);

	cp_x86_keep_stamp(e);
	cp_x86_push(e, "\x56", &e->now.saved[CP_X86_RSI]);
	FRAME(e, "\x8b\x8c\x24", e->now.used); /* mov ...(%rsp),%ecx */
	PUT(e, "\x83\xc1\x0f"); /* add $15,%ecx */
	PUT(e, "\xc1\xe9\x04"); /* shr $4,%ecx */
	put_exchange(e, rings, units, failed);
	if (!is_long) {
		PUT(e, "\xc1\xe1\x1a"); /* shl $26,%ecx */
		PUT32(e, "\x81\xc9", site); /* or $site,%ecx */
		units_at = offsetof(struct cp_detour_head, what);
	}
	PUT32(e, "\x65\x89\x8a", cp_x86_buffer_at(rings, units_at)); /* mov %ecx,%gs:... */
	done = cp_x86_put_forward(e, "\xe9", 1);
	cp_x86_land(e, failed[0]);
	cp_x86_land(e, failed[1]);
	e->now.units_by = CP_X86_AS_RESERVED;
	FRAME(e, "\x48\x8d\x8c\x24", e->now.used); /* lea ...(%rsp),%rcx */
	PUT32(e, "\xc7\x01", units * CP_DETOUR_UNIT); /* movl $size,(%rcx) */
	cp_x86_land(e, done);
	e->now.units_by = CP_X86_AS_USED;
	cp_x86_pop(e, "\x5e", &e->now.saved[CP_X86_RSI]);
	cp_x86_take_stamp(e);
}

void cp_x86_put_commit(struct cp_x86_emit *e, const struct cp_detour_rings *rings)
{
	PUT32(e, "\x65\x48\x89\x82", cp_x86_buffer_at(rings, 0)); /* mov %rax,%gs:(%rdx) */
	e->now.record_at = CP_X86_DONE;
	e->now.units_by = CP_X86_AS_RESERVED;
}
