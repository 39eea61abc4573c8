/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/detour_frame.h"

#include "arch/x86_64/detour_ring.h"

uint8_t cp_x86_number(unsigned dwarf)
{
	static const uint8_t low[] = { 0, 2, 1, 3, 6, 7, 5, 4 };

	return dwarf < 8 ? low[dwarf] : (uint8_t)dwarf;
}

void cp_x86_push(struct cp_x86_emit *e, const char *insn, uint16_t *saved)
{
	cp_x86_put(e, insn, 1);
	e->now.pushed += 8;
	*saved = e->now.pushed;
}

void cp_x86_pop(struct cp_x86_emit *e, const char *insn, uint16_t *saved)
{
	cp_x86_put(e, insn, 1);
	e->now.pushed -= 8;
	*saved = 0;
}

void cp_x86_save(struct cp_x86_emit *e)
{
	PUT(e, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp),%rsp */
	e->now.pushed += CP_X86_RED_ZONE;
	cp_x86_push(e, "\x50", &e->now.saved[CP_X86_RAX]);
	PUT(e, "\x9f"); /* lahf */
	PUT(e, "\x0f\x90\xc0"); /* seto %al */
	cp_x86_push(e, "\x50", &e->now.flags);
	e->now.flags_at = CP_X86_FLAGS_SAVED;
	cp_x86_push(e, "\x51", &e->now.saved[CP_X86_RCX]);
}

void cp_x86_restore(struct cp_x86_emit *e)
{
	cp_x86_pop(e, "\x59", &e->now.saved[CP_X86_RCX]);
	cp_x86_pop(e, "\x58", &e->now.flags);
	e->now.flags_at = CP_X86_FLAGS_IN_RAX;
	PUT(e, "\x04\x7f"); /* add $0x7f,%al: overflows where al is 1 */
	e->now.flags_at = CP_X86_FLAGS_IN_AH;
	PUT(e, "\x9e"); /* sahf */
	e->now.flags_at = CP_X86_FLAGS_LIVE;
	cp_x86_pop(e, "\x58", &e->now.saved[CP_X86_RAX]);
	PUT(e, "\x48\x8d\xa4\x24\x80\x00\x00\x00"); /* lea 128(%rsp),%rsp */
	e->now.pushed -= CP_X86_RED_ZONE;
}

void cp_x86_keep_stamp(struct cp_x86_emit *e)
{
	cp_x86_push(e, "\x50", &e->now.stamp);
	e->now.record_at = CP_X86_TAG_SAVED;
}

void cp_x86_take_stamp(struct cp_x86_emit *e)
{
	cp_x86_pop(e, "\x58", &e->now.stamp);
	e->now.record_at = CP_X86_TAG_IN_AX;
}

void cp_x86_drop(struct cp_x86_emit *e, uint16_t *saved)
{
	PUT(e, "\x48\x8d\x64\x24\x08"); /* lea 8(%rsp),%rsp */
	e->now.pushed -= 8;
	*saved = 0;
}

void cp_x86_put_frame(struct cp_x86_emit *e, const void *bytes, size_t size, int32_t below)
{
	cp_x86_put32(e, bytes, size, (uint32_t)(e->now.pushed - below));
}

void cp_x86_load_value(struct cp_x86_emit *e, const struct cp_detour_value *v, uint8_t to)
{
	uint8_t move[] = { 0x48, 0x89, (uint8_t)(0xc0 | to) }, number = cp_x86_number(v->reg);
	uint8_t from_frame[] = { 0x48, 0x8b, (uint8_t)(0x84 | to << 3), 0x24 };
	int32_t below = v->kind == CP_DETOUR_STACK ? -v->offset : e->now.saved[v->reg];

	if (v->kind == CP_DETOUR_STACK || below) {
		cp_x86_put_frame(e, from_frame, sizeof(from_frame), below);
	} else if (v->reg == CP_X86_RSP) {
		from_frame[1] = 0x8d; /* lea */
		cp_x86_put_frame(e, from_frame, sizeof(from_frame), 0);
	} else {
		move[0] |= number & 8 ? 4 : 0;
		move[2] |= (uint8_t)((number & 7) << 3);
		cp_x86_put(e, move, sizeof(move));
	}
}

void cp_x86_load_register(struct cp_x86_emit *e, uint8_t reg, uint8_t to)
{
	const struct cp_detour_value v = { .kind = CP_DETOUR_GENERAL, .reg = reg };

	cp_x86_load_value(e, &v, to);
}
