/* SPDX-License-Identifier: MIT
 *
 * What detours call when their ring is full; and where else they call.
 */
#include "arch/x86_64/detour_slow.h"

#include "arch/x86_64/detour_ring.h"

#include <stddef.h>

/* A LOST record. */
static void put_lost(struct cp_x86_emit *e, const struct cp_detour_rings *rings)
{
	uint32_t lost = rings->zero + offsetof(struct cp_detour_ring, lost);

	cp_x86_put_time(e);
	cp_x86_put_stamp(e);
	cp_x86_put_reserve(e, rings, 1);
	cp_x86_put_what(e, rings, cp_detour_what(CP_DETOUR_LOST, 1));
	PUT32(e, "\x65\x8b\x0c\x25", lost); /* mov %gs:lost,%ecx */
	PUT32(e, "\x65\x89\x8a", cp_x86_buffer_at(rings, offsetof(struct cp_detour_head, sp)));
	cp_x86_put_commit(e, rings);
	e->now.record_at = CP_X86_NO_RECORD;
}

/* A thread with gs base 0, whose ring is that at `zero`, stops to be given another. That
 * its call was accepted goes along: calls of other threads have other stack pointers. */
static void put_ask(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint64_t again,
		    struct cp_detour_stop *ret)
{
	PUT(e, "\xcc");
	ret->pc = e->at + e->size;
	/* lea ...(%rsp),%rax: the program's stack pointer */
	PUT32(e, "\x48\x8d\x84\x24", CP_X86_RECORD_PUSHED + 8);
	cp_x86_put_hash(e);
	PUT32(e, "\x48\x3b\x04\xcd", cp_x86_table_at(rings)); /* cmp table(,%rcx,8),%rax */
	cp_x86_put_to(e, "\x0f\x85", 2, again); /* jne */
	PUT32(e, "\x65\x48\x89\x04\xcd", cp_x86_table_at(rings)); /* mov %rax,%gs:... */
	cp_x86_put_to(e, "\xe9", 1, again);
}

/* Is it on a stack that is not its own, but known? Answers where the jump there is. */
static size_t put_known_stack(struct cp_x86_emit *e, const struct cp_detour_rings *rings)
{
	uint32_t stacks = rings->zero + (uint32_t)cp_detour_stacks_offset(rings->log);

	/* lea ...(%rsp),%rax: the program's stack pointer */
	PUT32(e, "\x48\x8d\x84\x24", CP_X86_RECORD_PUSHED + 8);
	PUT(e, "\x89\xc1"); /* mov %eax,%ecx */
	PUT(e, "\xc1\xe9\x06"); /* shr $CP_DETOUR_PART_LOG - 4,%ecx */
	PUT32(e, "\x81\xe1", (CP_DETOUR_STACKS - 1) * (uint32_t)sizeof(struct cp_detour_part));
	PUT32(e, "\x65\x48\x8b\x91",
	      stacks + offsetof(struct cp_detour_part, end)); /* mov %gs:end(%rcx),%rdx */
	PUT32(e, "\x65\x48\x89\x14\x25",
	      rings->zero + offsetof(struct cp_detour_ring, other_end)); /* mov %rdx,%gs:... */
	PUT32(e, "\x65\x48\x8b\x89", stacks); /* mov %gs:at(%rcx),%rcx */
	PUT(e, "\x48\x89\xca"); /* mov %rcx,%rdx */
	PUT(e, "\x48\xc1\xea\x30"); /* shr $CP_DETOUR_PART_BITS,%rdx */
	PUT(e, "\x48\xc1\xe1\x10"); /* shl $16,%rcx */
	PUT(e, "\x48\xc1\xe9\x10"); /* shr $16,%rcx */
	PUT(e, "\x48\x29\xc8"); /* sub %rcx,%rax */
	PUT(e, "\x48\x39\xd0"); /* cmp %rdx,%rax */
	return cp_x86_put_forward(e, "\x0f\x82", 2); /* jb */
}

_Static_assert(CP_DETOUR_PART_LOG == 10 && CP_DETOUR_PART_BITS == 48 &&
		       sizeof(struct cp_detour_part) == 16,
	       "put_known_stack()");

/* A thread on another stack than its own, or that is called by who is not known: its call
 * is told by a stop, as long as somebody reads, and not recorded; else it is lost. */
static void put_foreign(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			struct cp_detour_stop *ret)
{
	size_t below, own, known, silent;

	PUT32(e, "\x65\x48\x3b\x24\x25", rings->zero + offsetof(struct cp_detour_ring, own_low));
	below = cp_x86_put_forward(e, "\x0f\x82", 2); /* jb */
	PUT32(e, "\x65\x48\x3b\x24\x25", rings->zero + offsetof(struct cp_detour_ring, own_end));
	own = cp_x86_put_forward(e, "\x0f\x82", 2); /* jb */
	cp_x86_land(e, below);
	known = put_known_stack(e, rings);
	e->bad |= e->size != CP_X86_OUTSIDE_AT;
	cp_x86_put_time(e);
	PUT32(e, "\x65\x48\x3b\x04\x25",
	      rings->zero + offsetof(struct cp_detour_ring, read_until)); /* cmp ...,%rax */
	silent = cp_x86_put_forward(e, "\x0f\x83", 2); /* jae */
	PUT(e, "\xcc");
	ret->pc = ret->on = e->at + e->size;
	PUT(e, "\xf8"); /* clc */
	PUT(e, "\xc3");
	cp_x86_land(e, silent);
	/* incq %gs:lost */
	PUT32(e, "\x65\x48\xff\x04\x25", rings->zero + offsetof(struct cp_detour_ring, lost));
	PUT(e, "\xf8"); /* clc */
	PUT(e, "\xc3");
	cp_x86_land(e, own);
	cp_x86_land(e, known);
}

/* Called with rax, rcx, rdx free, flags saved. Carry: there is room. It returns by
 * `ret` to where it was called: shadow stacks are content. */
static void put_slow(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		     struct cp_detour_stop *asked_ret)
{
	uint32_t head = rings->zero + offsetof(struct cp_detour_ring, head);
	uint32_t lost = rings->zero + offsetof(struct cp_detour_ring, lost);
	uint32_t lost_head = rings->zero + offsetof(struct cp_detour_ring, lost_head);
	uint32_t wait = rings->zero + offsetof(struct cp_detour_ring, wait_until);
	size_t silent, dropped, counted, marked, ask, full, look = e->size;

	PUT32(e, "\x65\x48\x8b\x0c\x25", head);
	PUT32(e, "\x65\x48\x3b\x0c\x25", rings->zero + offsetof(struct cp_detour_ring, limit));
	full = cp_x86_put_forward(e, "\x0f\x83", 2); /* jae */
	PUT(e, "\xc3");
	cp_x86_land(e, full);
	PUT32(e, "\x65\x48\x8b\x0c\x25", wait); /* mov %gs:wait_until,%rcx */
	PUT(e, "\x48\x85\xc9"); /* test %rcx,%rcx: nobody reads, or wants it */
	silent = cp_x86_put_forward(e, "\x0f\x84", 2); /* je */
	cp_x86_put_time(e);
	PUT(e, "\x48\x39\xc8"); /* cmp %rcx,%rax */
	dropped = cp_x86_put_forward(e, "\x0f\x83", 2); /* jae */
	/* mov %gs:asks,%rcx; test %rcx,%rcx; jne */
	PUT32(e, "\x65\x48\x8b\x0c\x25", rings->zero + offsetof(struct cp_detour_ring, asks));
	PUT(e, "\x48\x85\xc9");
	ask = cp_x86_put_forward(e, "\x0f\x85", 2);
	PUT(e, "\xf3\x90"); /* pause */
	cp_x86_put_to(e, "\xe9", 1, e->at + look);
	cp_x86_land(e, silent);
	PUT32(e, "\x65\x48\xff\x04\x25", lost); /* incq %gs:lost */
	counted = cp_x86_put_forward(e, "\xe9", 1);
	cp_x86_land(e, dropped);
	asked_ret->on = e->at + e->size;
	/* lock incq %gs:lost: threads that got no ring share one */
	PUT(e, "\xf0");
	PUT32(e, "\x65\x48\xff\x04\x25", lost);
	cp_x86_land(e, counted);
	PUT32(e, "\x65\x48\x8b\x0c\x25", head);
	PUT32(e, "\x65\x48\x3b\x0c\x25", lost_head);
	marked = cp_x86_put_forward(e, "\x0f\x84", 2); /* je: no record since the last loss */
	put_lost(e, rings);
	PUT32(e, "\x65\x48\x8b\x0c\x25", head);
	PUT32(e, "\x65\x48\x89\x0c\x25", lost_head); /* mov %rcx,%gs:lost_head */
	cp_x86_land(e, marked);
	PUT(e, "\xf8"); /* clc */
	PUT(e, "\xc3");
	cp_x86_land(e, ask);
	put_ask(e, rings, e->at, asked_ret);
}

void cp_x86_shared(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		   struct cp_x86_shared *ret)
{
	ret->load_count = 0;
	put_foreign(e, rings, &ret->foreign);
	put_slow(e, rings, &ret->asked);
	cp_x86_fill(e, CP_X86_REACH_AT);
	ret->load_count = cp_x86_put_reach(e, rings, ret->loads);
}
