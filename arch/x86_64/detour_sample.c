/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/detour_sample.h"

#include <stddef.h>
#include <string.h>

#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/detour_ring.h"

/* Where in the program a member of the first ring is, or, by the base of gs, of another. */
static uint32_t member(const struct cp_detour_rings *rings, size_t offset)
{
	return rings->zero + (uint32_t)offset;
}

#define MEMBER(rings, name) member(rings, offsetof(struct cp_detour_ring, name))

/* The address in rcx becomes the number of its byte. */
static void put_hash(struct cp_x86_emit *e, const struct cp_detour_rings *rings)
{
	uint8_t shift[] = { 0xc1, 0xe9, (uint8_t)cp_detour_chosen_shift(rings->log) };

	PUT(e, "\x48\xc1\xe9\x04"); /* shr $4,%rcx */
	PUT32(e, "\x69\xc9", CP_DETOUR_HASH); /* imul $...,%ecx,%ecx */
	cp_x86_put(e, shift, sizeof(shift)); /* shr $...,%ecx */
}

/* cmpb $with,bytes(%rcx) */
static void put_compare(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint8_t with)
{
	uint32_t at = member(rings, cp_detour_chosen_offset(rings->log));
	uint8_t compare[7] = { 0x80, 0xb9 };

	memcpy(compare + 2, &at, sizeof(at));
	compare[6] = with;
	cp_x86_put(e, compare, sizeof(compare));
}

static void set_chosen(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint32_t to)
{
	uint8_t move[8] = { 0x65, 0xc7, 0x04, 0x25 }; /* movl $to,%gs:chosen */
	uint32_t at = MEMBER(rings, chosen);

	memcpy(move + 4, &at, sizeof(at));
	cp_x86_put32(e, move, sizeof(move), to);
}

/* From the byte that chose to the next one. In a closed ring, which is that of many threads,
 * `left` stays what it is. */
static void put_way(struct cp_x86_emit *e, const struct cp_detour_rings *rings)
{
	uint8_t compare[10] = { 0x65, 0x48, 0x83, 0x3c, 0x25 }; /* cmpq $0,%gs:limit */
	uint32_t limit = MEMBER(rings, limit);
	size_t closed;

	memcpy(compare + 5, &limit, sizeof(limit));
	cp_x86_put(e, compare, sizeof(compare));
	closed = cp_x86_put_forward(e, "\x0f\x84", 2); /* je */
	PUT32(e, "\x65\x8b\x0c\x25", MEMBER(rings, way)); /* mov %gs:way,%ecx */
	PUT32(e, "\x81\xe1", CP_DETOUR_WAYS - 1); /* and $...,%ecx */
	PUT(e, "\x8d\x41\x01"); /* lea 1(%rcx),%eax */
	PUT32(e, "\x65\x89\x04\x25", MEMBER(rings, way)); /* mov %eax,%gs:way */
	/* mov ways(,%rcx,8),%rcx; mov %rcx,%gs:left */
	PUT32(e, "\x48\x8b\x0c\xcd", member(rings, cp_detour_ways_offset(rings->log)));
	PUT32(e, "\x65\x48\x89\x0c\x25", MEMBER(rings, left));
	cp_x86_land(e, closed);
}

/* What the call asks for, off the way. Where that does not choose go the jumps. */
static size_t put_size(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		       const struct cp_detour_block *block, size_t ret[3])
{
	size_t count = 0;

	cp_x86_load_register(e, block->size, CP_X86_TO_RAX);
	if (block->times != CP_DETOUR_NONE) {
		cp_x86_load_register(e, block->times, CP_X86_TO_RCX);
		PUT(e, "\x48\x0f\xaf\xc1"); /* imul %rcx,%rax */
		ret[count++] = cp_x86_put_forward(e, "\x0f\x80", 2); /* jo */
	}
	PUT(e, "\x48\x83\xf8\x01"); /* cmp $1,%rax */
	PUT(e, "\x48\x83\xd0\x00"); /* adc $0,%rax */
	ret[count++] = cp_x86_put_forward(e, "\x0f\x88", 2); /* js */
	PUT32(e, "\x65\x48\x29\x04\x25", MEMBER(rings, left)); /* sub %rax,%gs:left */
	ret[count++] = cp_x86_put_forward(e, "\x0f\x8f", 2); /* jg */
	return count;
}

size_t cp_x86_put_sample(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			 const struct cp_detour_block *block)
{
	size_t not_chosen[3], count, yes, refused;

	count = put_size(e, rings, block, not_chosen);
	set_chosen(e, rings, 1);
	put_way(e, rings);
	yes = cp_x86_put_forward(e, "\xe9", 1);
	while (count)
		cp_x86_land(e, not_chosen[--count]);
	if (block->address == CP_DETOUR_NONE) {
		refused = cp_x86_put_forward(e, "\xe9", 1);
	} else {
		set_chosen(e, rings, 0);
		refused = cp_x86_put_if_chosen(e, rings, block->address);
	}
	cp_x86_land(e, yes);
	return refused;
}

size_t cp_x86_put_if_chosen(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			    uint8_t address)
{
	cp_x86_load_register(e, address, CP_X86_TO_RCX);
	put_hash(e, rings);
	put_compare(e, rings, 0);
	return cp_x86_put_forward(e, "\x0f\x84", 2); /* je */
}

void cp_x86_count_down(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint8_t address)
{
	size_t none = cp_x86_put_if_chosen(e, rings, address);

	PUT32(e, "\xf0\xfe\x89",
	      member(rings, cp_detour_chosen_offset(rings->log))); /* lock decb */
	cp_x86_land(e, none);
}

void cp_x86_note_chosen(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint8_t address)
{
	size_t none, full;

	cp_x86_load_register(e, address, CP_X86_TO_RCX);
	PUT(e, "\x48\x85\xc9"); /* test %rcx,%rcx */
	none = cp_x86_put_forward(e, "\x0f\x84", 2); /* je */
	put_hash(e, rings);
	put_compare(e, rings, CP_DETOUR_MANY);
	full = cp_x86_put_forward(e, "\x0f\x83", 2); /* jae */
	PUT32(e, "\xf0\xfe\x81",
	      member(rings, cp_detour_chosen_offset(rings->log))); /* lock incb */
	cp_x86_land(e, none);
	cp_x86_land(e, full);
}
