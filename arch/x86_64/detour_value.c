/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/detour_value.h"

#include <stddef.h>
#include <string.h>

#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/detour_reach.h"
#include "arch/x86_64/detour_ring.h"

#define FXSAVE_ROOM 544 /* 512 bytes, aligned by 16 */

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static size_t value_size(const struct cp_detour_value *v)
{
	if (v->reach)
		return sizeof(struct cp_detour_reached) + round_up(v->size, 8);
	switch ((enum cp_detour_value_kind)v->kind) {
	case CP_DETOUR_GENERAL:
	case CP_DETOUR_VECTOR:
	case CP_DETOUR_STACK:
	case CP_DETOUR_WORD:
	case CP_DETOUR_CHOSEN:
		break;
	case CP_DETOUR_VECTOR16:
	case CP_DETOUR_X87:
		return 16;
	case CP_DETOUR_VECTOR32:
		return 32;
	case CP_DETOUR_VECTOR64:
		return 64;
	}
	return 8;
}

static bool is_string(const struct cp_detour_value *v)
{
	return v->reach == CP_DETOUR_STRING;
}

struct cp_x86_layout cp_x86_layout(const struct cp_detour_record *record)
{
	struct cp_x86_layout l = { .values = sizeof(struct cp_detour_head) };
	size_t size = 0, strings = 0, i;

	for (i = 0; i < record->value_count; i++) {
		l.reaches |= record->values[i].reach != 0;
		if (is_string(&record->values[i]))
			strings += value_size(&record->values[i]);
		else
			size += value_size(&record->values[i]);
	}
	l.is_long = record->stack ||
		    l.values + size + strings > (size_t)CP_DETOUR_SHORT * CP_DETOUR_UNIT;
	if (l.is_long)
		l.values += sizeof(struct cp_detour_long);
	l.has_strings = strings != 0;
	l.strings = l.values + size;
	l.size = round_up(l.strings + strings, CP_DETOUR_UNIT);
	return l;
}

/* Strings before the one at `number`: by what they say. */
static size_t skip_strings(const struct cp_detour_record *record, unsigned number,
			   const uint8_t *bytes, size_t size, size_t at)
{
	struct cp_detour_reached r;
	unsigned i;

	for (i = 0; i < number && at + sizeof(r) <= size; i++) {
		if (!is_string(&record->values[i]))
			continue;
		memcpy(&r, bytes + at, sizeof(r));
		at += sizeof(r) + round_up(r.size, 8);
	}
	return at;
}

bool cp_detour_find(const struct cp_detour_record *record, unsigned number, const uint64_t *values,
		    unsigned words, struct cp_detour_found *ret)
{
	const struct cp_x86_layout l = cp_x86_layout(record);
	const struct cp_detour_value *v = &record->values[number];
	const uint8_t *bytes = (const uint8_t *)values;
	size_t at = 0, size = words * sizeof(*values), i;
	struct cp_detour_reached r = { 0 };

	if (number >= record->value_count)
		return false;
	r.size = (uint32_t)value_size(v);
	for (i = 0; i < number && !is_string(v); i++)
		at += is_string(&record->values[i]) ? 0 : value_size(&record->values[i]);
	if (is_string(v))
		at = skip_strings(record, number, bytes, size, l.strings - l.values);
	if (v->reach && at + sizeof(r) <= size) {
		memcpy(&r, bytes + at, sizeof(r));
		at += sizeof(r);
	}
	if (at > size || r.size > size - at || r.how > CP_DETOUR_READ_NOT ||
	    (v->reach && r.size > v->size))
		return false;
	*ret = (struct cp_detour_found){ bytes + at, r.size, (uint8_t)r.how };
	return true;
}

unsigned cp_detour_units(const struct cp_detour_record *record)
{
	size_t size = cp_x86_layout(record).size + round_up(record->stack, CP_DETOUR_UNIT);

	return (unsigned)(size / CP_DETOUR_UNIT);
}

static bool word_fits(const struct cp_detour_value *v)
{
	if (v->reach || v->through || (v->reg > CP_X86_PC && v->reg != CP_DETOUR_NONE))
		return false;
	return v->index == CP_DETOUR_NONE || (v->index < CP_X86_PC && v->reg != CP_X86_PC &&
					      v->scale <= 8 && __builtin_popcount(v->scale) == 1);
}

static bool value_fits(const struct cp_detour_value *v, bool tested)
{
	if (v->sure && (v->sure > CP_DETOUR_SURE_IF_LIKE || !v->reach || tested))
		return false;
	if (v->kind == CP_DETOUR_WORD)
		return !tested && word_fits(v);
	if (v->kind == CP_DETOUR_CHOSEN)
		return !tested && !v->reach;
	if (v->kind > CP_DETOUR_X87 || v->reg > 15 || v->reach > CP_DETOUR_STRING)
		return false;
	if ((v->reach || tested) && v->kind != CP_DETOUR_GENERAL && v->kind != CP_DETOUR_STACK)
		return false;
	return v->through <= CP_DETOUR_THROUGH && v->beside <= v->through &&
	       v->size <= CP_DETOUR_REACH_MAX;
}

static uint32_t sure_bit(const struct cp_detour_value *v)
{
	return v->sure ? 1u << CP_X86_SURE : 0;
}

bool cp_x86_values_fit(const struct cp_detour_record *record)
{
	unsigned i;

	if (record->value_count > CP_DETOUR_VALUES || record->test_count > CP_DETOUR_TESTS)
		return false;
	for (i = 0; i < record->value_count; i++) {
		if (!value_fits(&record->values[i], false))
			return false;
	}
	for (i = 0; i < record->test_count; i++) {
		if (!value_fits(&record->tests[i].value, true))
			return false;
	}
	return record->stack <= CP_DETOUR_STACK_MAX &&
	       cp_detour_units(record) * CP_DETOUR_UNIT <= CP_DETOUR_RECORD_MAX &&
	       cp_x86_layout(record).size <= CP_DETOUR_RECORD_MAX - CP_DETOUR_STACK_MAX;
}

/* rcx becomes 0 if the word there is not what it has to be. */
static void put_guard(struct cp_x86_emit *e, const struct cp_detour_value *v)
{
	if (v->sure < CP_DETOUR_SURE_IF)
		return;
	PUT(e, "\x8b\x01"); /* mov (%rcx),%eax */
	if (v->sure == CP_DETOUR_SURE_IF_LIKE)
		PUT(e, "\xb0\x00"); /* mov $0,%al */
	PUT32(e, "\x3d", v->sure == CP_DETOUR_SURE_IF ? v->guard : v->guard & ~0xffu); /* cmp */
	PUT(e, "\x74\x02"); /* je */
	PUT(e, "\x31\xc9"); /* xor %ecx,%ecx */
}

void cp_x86_push_time(struct cp_x86_emit *e)
{
	if (e->now.time)
		FRAME(e, "\xff\xb4\x24", e->now.time); /* push ...(%rsp) */
	else
		PUT(e, "\x50"); /* push %rax */
	e->now.pushed += 8;
}

void cp_x86_pop_time(struct cp_x86_emit *e)
{
	PUT(e, "\x48\x8d\x64\x24\x08"); /* lea 8(%rsp),%rsp */
	e->now.pushed -= 8;
}

void cp_x86_follow(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		   const struct cp_detour_value *v)
{
	unsigned i;

	cp_x86_load_value(e, v, CP_X86_TO_RCX);
	put_guard(e, v);
	for (i = 0; i < v->through; i++) {
		PUT32(e, "\x48\x8d\x89", v->at[i]); /* lea ...(%rcx),%rcx */
		PUT32(e, "\xb8", 8 | sure_bit(v)); /* mov $8,%eax */
		cp_x86_put_to(e, "\xe8", 1, rings->slow + CP_X86_WORD_AT);
		if (i + 1 != v->beside)
			continue;
		cp_x86_load_value(e, v, CP_X86_TO_RAX);
		PUT(e, "\x48\x01\xc1"); /* add %rax,%rcx: what can't be read stays so */
	}
	PUT32(e, "\x48\x8d\x89", v->at[i]);
}

/* Bytes that a value leads to, to `at` bytes from the record's beginning. */
static void put_bytes(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		      const struct cp_detour_value *v, size_t at)
{
	cp_x86_keep_stamp(e);
	cp_x86_push_time(e);
	cp_x86_follow(e, rings, v);
	PUT32(e, "\xb8", v->size | sure_bit(v) | at << 16); /* mov $...,%eax */
	cp_x86_put_to(e, "\xe8", 1, rings->slow + CP_X86_BYTES_AT);
	cp_x86_pop_time(e);
	cp_x86_take_stamp(e);
}

/* A string behind the one before. */
static void put_string(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		       const struct cp_detour_value *v)
{
	cp_x86_keep_stamp(e);
	cp_x86_push_time(e);
	cp_x86_follow(e, rings, v);
	FRAME(e, "\x8b\x84\x24", e->now.used); /* mov ...(%rsp),%eax */
	PUT(e, "\xc1\xe0\x10"); /* shl $16,%eax */
	PUT32(e, "\x0d", v->size | sure_bit(v)); /* or $...,%eax */
	cp_x86_put_to(e, "\xe8", 1, rings->slow + CP_X86_STRING_AT);
	cp_x86_pop_time(e);
	/* Its word, and its bytes up to whole words. */
	PUT(e, "\x83\xc1\x0f"); /* add $8+7,%ecx */
	PUT(e, "\x83\xe1\xf8"); /* and $-8,%ecx */
	FRAME(e, "\x01\x8c\x24", e->now.used); /* add %ecx,...(%rsp) */
	cp_x86_take_stamp(e);
}

void cp_x86_put_used(struct cp_x86_emit *e, const struct cp_detour_record *record)
{
	PUT32(e, "\x68", cp_x86_layout(record).strings); /* push $... */
	e->now.pushed += 8;
	e->now.used = e->now.pushed;
}

/* st0, without a change to anything: `fxsave` neither takes registers from the stack nor
 * looks at exceptions. */
static void put_x87(struct cp_x86_emit *e, uint32_t at)
{
	cp_x86_keep_stamp(e);
	PUT32(e, "\x48\x8d\xa4\x24", -FXSAVE_ROOM); /* lea -...(%rsp),%rsp */
	e->now.pushed += FXSAVE_ROOM;
	PUT(e, "\x48\x8d\x4c\x24\x0f"); /* lea 15(%rsp),%rcx */
	PUT(e, "\x48\x83\xe1\xf0"); /* and $-16,%rcx */
	PUT(e, "\x48\x0f\xae\x01"); /* fxsave64 (%rcx) */
	PUT(e, "\x48\x8b\x41\x20"); /* mov 32(%rcx),%rax */
	PUT32(e, "\x65\x48\x89\x82", at); /* mov %rax,%gs:(%rdx) */
	PUT(e, "\x0f\xb7\x41\x28"); /* movzwl 40(%rcx),%eax: sign and exponent */
	PUT(e, "\x8b\x49\x02"); /* mov 2(%rcx),%ecx: status, tags */
	PUT(e, "\x48\xc1\xe1\x10"); /* shl $16,%rcx */
	PUT(e, "\x48\x09\xc8"); /* or %rcx,%rax */
	PUT32(e, "\x65\x48\x89\x82", at + 8);
	PUT32(e, "\x48\x8d\xa4\x24", FXSAVE_ROOM);
	e->now.pushed -= FXSAVE_ROOM;
	cp_x86_take_stamp(e);
}

static void put_vector(struct cp_x86_emit *e, const struct cp_detour_value *v, uint32_t at)
{
	uint8_t modrm = (uint8_t)(0x82 | (v->reg & 7) << 3), high = v->reg & 8 ? 4 : 0;
	/* The same bit in VEX and EVEX is 1 for the lower registers. */
	uint8_t low = high ? 0 : 0x80;
	uint8_t movlps[] = { 0x65, 0x40 | high, 0x0f, 0x13, modrm };
	uint8_t movups[] = { 0x65, 0x40 | high, 0x0f, 0x11, modrm };
	uint8_t ymm[] = { 0x65, 0xc5, 0x7c | low, 0x11, modrm }; /* vmovups */
	uint8_t zmm[] = { 0x65, 0x62, 0x71 | low, 0x7c, 0x48, 0x11, modrm };

	if (v->kind == CP_DETOUR_VECTOR)
		cp_x86_put32(e, movlps, sizeof(movlps), at);
	else if (v->kind == CP_DETOUR_VECTOR16)
		cp_x86_put32(e, movups, sizeof(movups), at);
	else if (v->kind == CP_DETOUR_VECTOR32)
		cp_x86_put32(e, ymm, sizeof(ymm), at);
	else
		cp_x86_put32(e, zmm, sizeof(zmm), at);
}

static void put_word(struct cp_x86_emit *e, const struct cp_detour_value *v, uint32_t at)
{
	uint8_t number = cp_x86_number(v->reg);
	uint8_t general[] = { 0x65, (uint8_t)(0x48 | (number & 8 ? 4 : 0)), 0x89,
			      (uint8_t)(0x82 | (number & 7) << 3) };

	if (v->kind == CP_DETOUR_GENERAL && v->reg != CP_X86_RSP && !e->now.saved[v->reg]) {
		cp_x86_put32(e, general, sizeof(general), at);
		return;
	}
	cp_x86_load_value(e, v, CP_X86_TO_RCX);
	PUT32(e, "\x65\x48\x89\x8a", at); /* mov %rcx,%gs:(%rdx) */
}

/* The word that a jump is about to read. */
static void put_read(struct cp_x86_emit *e, const struct cp_detour_value *v, uint32_t at)
{
	bool indexed = v->index != CP_DETOUR_NONE;
	uint8_t scale = indexed ? (uint8_t)(__builtin_ctz(v->scale) << 6) : 0;
	uint8_t by_both[] = { 0x48, 0x8b, 0x8c, scale | 0x01 };
	uint8_t by_index[] = { 0x48, 0x8b, 0x0c, scale | 0x0d };

	if (v->reg == CP_X86_PC) {
		cp_x86_put_to(e, "\x48\x8b\x0d", 3, e->now.pc + (uint64_t)(int64_t)v->at[0]);
	} else if (v->reg == CP_DETOUR_NONE && !indexed) {
		PUT32(e, "\x48\x8b\x0c\x25", v->at[0]); /* mov ...,%rcx */
	} else if (v->reg == CP_DETOUR_NONE) {
		cp_x86_load_register(e, v->index, CP_X86_TO_RCX);
		cp_x86_put32(e, by_index, sizeof(by_index), (uint32_t)v->at[0]);
	} else if (!indexed) {
		cp_x86_load_register(e, v->reg, CP_X86_TO_RCX);
		PUT32(e, "\x48\x8b\x89", v->at[0]); /* mov ...(%rcx),%rcx */
	} else {
		cp_x86_keep_stamp(e);
		cp_x86_load_register(e, v->reg, CP_X86_TO_RCX);
		cp_x86_load_register(e, v->index, CP_X86_TO_RAX);
		cp_x86_put32(e, by_both, sizeof(by_both), (uint32_t)v->at[0]);
		cp_x86_take_stamp(e);
	}
	PUT32(e, "\x65\x48\x89\x8a", at); /* mov %rcx,%gs:(%rdx) */
}

static void put_chosen(struct cp_x86_emit *e, const struct cp_detour_rings *rings, uint32_t at)
{
	PUT32(e, "\x65\x8b\x0c\x25", rings->zero + offsetof(struct cp_detour_ring, chosen));
	PUT32(e, "\x65\x48\x89\x8a", at); /* mov %rcx,%gs:(%rdx) */
}

static void put_value(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		      const struct cp_detour_value *v, uint32_t at)
{
	switch ((enum cp_detour_value_kind)v->kind) {
	case CP_DETOUR_GENERAL:
	case CP_DETOUR_STACK:
		put_word(e, v, at);
		break;
	case CP_DETOUR_VECTOR:
	case CP_DETOUR_VECTOR16:
	case CP_DETOUR_VECTOR32:
	case CP_DETOUR_VECTOR64:
		put_vector(e, v, at);
		break;
	case CP_DETOUR_X87:
		put_x87(e, at);
		break;
	case CP_DETOUR_WORD:
		put_read(e, v, at);
		break;
	case CP_DETOUR_CHOSEN:
		put_chosen(e, rings, at);
		break;
	}
}

void cp_x86_put_values(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		       const struct cp_detour_record *record)
{
	size_t at = cp_x86_layout(record).values, i;
	const struct cp_detour_value *v;

	for (i = 0; i < record->value_count; i++) {
		v = &record->values[i];
		if (is_string(v))
			continue;
		if (v->reach)
			put_bytes(e, rings, v, at);
		else
			put_value(e, rings, v, cp_x86_buffer_at(rings, at));
		at += value_size(v);
	}
	for (i = 0; i < record->value_count; i++) {
		if (is_string(&record->values[i]))
			put_string(e, rings, &record->values[i]);
	}
}
