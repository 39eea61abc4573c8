/* SPDX-License-Identifier: MIT
 *
 * From the program's stack pointer to the end of the thread's own stack, if that is
 * known and it is there, or else of the other one that it was found to be on a moment ago
 * (detour_slow.c); should a handler have been on yet another one since, it is read where a
 * fault may come, as anywhere. Nothing is copied where the direction flag is set, which
 * functions never find so.
 */
#include "arch/x86_64/detour_stack.h"

#include <stddef.h>

#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/detour_ring.h"

static uint32_t in_head(const struct cp_detour_rings *rings, size_t member)
{
	return rings->zero + (uint32_t)member;
}
#define HEAD(rings, member) in_head(rings, offsetof(struct cp_detour_ring, member))

void cp_x86_put_stack_size(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			   uint32_t most)
{
	size_t none[3], below, own, all, over, i;

	PUT(e, "\x9c"); /* pushfq */
	e->now.pushed += 8;
	PUT(e, "\x59"); /* pop %rcx */
	e->now.pushed -= 8;
	PUT32(e, "\xf7\xc1", 0x400); /* test $DF,%ecx */
	none[0] = cp_x86_put_forward(e, "\x0f\x85", 2); /* jne */
	PUT32(e, "\x65\x48\x8b\x0c\x25", HEAD(rings, self)); /* mov %gs:self,%rcx */
	PUT(e, "\x48\x85\xc9"); /* test %rcx,%rcx */
	none[1] = cp_x86_put_forward(e, "\x0f\x84", 2); /* je */
	FRAME(e, "\x48\x8d\x8c\x24", 0); /* lea ...(%rsp),%rcx */
	PUT32(e, "\x65\x48\x3b\x0c\x25", HEAD(rings, stack_low)); /* cmp %gs:stack_low,%rcx */
	below = cp_x86_put_forward(e, "\x0f\x82", 2); /* jb */
	PUT32(e, "\x65\x48\x8b\x04\x25", HEAD(rings, stack_end)); /* mov %gs:stack_end,%rax */
	PUT(e, "\x48\x29\xc8"); /* sub %rcx,%rax */
	own = cp_x86_put_forward(e, "\x0f\x87", 2); /* ja */
	cp_x86_land(e, below);
	PUT32(e, "\x65\x48\x8b\x04\x25", HEAD(rings, other_end)); /* mov %gs:other_end,%rax */
	PUT(e, "\x48\x29\xc8"); /* sub %rcx,%rax */
	none[2] = cp_x86_put_forward(e, "\x0f\x86", 2); /* jbe */
	cp_x86_land(e, own);
	PUT32(e, "\x48\x3d", most); /* cmp $most,%rax */
	all = cp_x86_put_forward(e, "\x0f\x86", 2); /* jbe */
	PUT32(e, "\xb8", most); /* mov $most,%eax */
	over = cp_x86_put_forward(e, "\xe9", 1);
	for (i = 0; i < CP_ARRAY_SIZE(none); i++)
		cp_x86_land(e, none[i]);
	PUT(e, "\x31\xc0"); /* xor %eax,%eax */
	cp_x86_land(e, all);
	cp_x86_land(e, over);
	cp_x86_push(e, "\x50", &e->now.copied);
}

void cp_x86_put_stack(struct cp_x86_emit *e, const struct cp_detour_rings *rings, size_t at)
{
	cp_x86_push(e, "\x56", &e->now.saved[CP_X86_RSI]);
	cp_x86_push(e, "\x57", &e->now.saved[CP_X86_RDI]);
	PUT32(e, "\x65\x48\x8b\x3c\x25", HEAD(rings, self)); /* mov %gs:self,%rdi */
	PUT32(e, "\x48\x8d\xbc\x17", CP_DETOUR_BUFFER + at); /* lea ...(%rdi,%rdx),%rdi */
	FRAME(e, "\x48\x8d\xb4\x24", 0); /* lea ...(%rsp),%rsi */
	FRAME(e, "\x8b\x8c\x24", e->now.copied); /* mov ...(%rsp),%ecx */
	e->now.copying = true;
	PUT(e, "\xf3\xa4"); /* rep movsb */
	e->now.copying = false;
	cp_x86_pop(e, "\x5f", &e->now.saved[CP_X86_RDI]);
	cp_x86_pop(e, "\x5e", &e->now.saved[CP_X86_RSI]);
}
