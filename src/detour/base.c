/* SPDX-License-Identifier: MIT
 *
 * Bytes that may be such an instruction are found first: few are. Whether one begins there
 * tells decoding from some way before it, from several places: what begins within an
 * instruction falls in step with the others after a few.
 */
#include "detour/base.h"

#include <asm/prctl.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/insn.h"

#define BEFORE 131 /* bytes that are decoded to fall in step */
#define INSN_MAX 15
#define NEAR 64 /* bytes between two arguments of a system call */
#define PREFIX_GS 0x65
#define MOV_EAX 0xb8
#define MOV_ESI 0xbe
#define MOV_EDI 0xbf

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

static bool is_rex(uint8_t byte)
{
	return byte >> 4 == 4;
}

/* Opcodes with an operand in memory that compilers and people write behind the prefix:
 * arithmetic, moves, tests, and those of two bytes but nops. */
static bool takes_memory(const uint8_t *op)
{
	switch (op[0]) {
	case 0x0f:
		return op[1] != 0x1f && op[1] != 0x05 && op[1] >> 4 != 8;
	case 0x63:
	case 0x84 ... 0x8b:
	case 0x80:
	case 0x81:
	case 0x83:
	case 0xc6:
	case 0xc7:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return true;
	default:
		return op[0] < 0x40 && (op[0] & 7) < 4;
	}
}

/* An address that is an offset alone, as a field has it. */
static bool is_field(const uint8_t *modrm)
{
	return (modrm[0] & 0xc7) == 4 && modrm[1] == 0x25 && modrm[4] < 0x10 && !modrm[5];
}

/* `at` has INSN_MAX bytes. Between functions there may be texts and tables, in which anything
 * looks like something: fields are taken for such, and moves of a word by a pointer. */
static bool may_be_relative(const uint8_t *at)
{
	size_t i = 1, rex;

	while (is_prefix(at[i]) && i < 4)
		i++;
	rex = is_rex(at[i]);
	i += rex;
	if (at[i] == 0x0f)
		return takes_memory(at + i) && is_field(at + i + 2);
	if (takes_memory(at + i) && is_field(at + i + 1))
		return true;
	return i == 2 && at[1] & 8 && rex && (at[i] == 0x8b || at[i] == 0x89) && at[i + 1] >> 6 < 2;
}

/* f3 [rex] 0f ae: rdgsbase and wrgsbase are its first and third form with a register. */
static bool moves_base(const uint8_t *at)
{
	size_t i = 1 + is_rex(at[1]);

	return at[i] == 0x0f && at[i + 1] == 0xae && (at[i + 2] & 0xe8) == 0xc8;
}

/* Does an instruction begin at `target`, decoded from `from` on? */
static bool in_step(struct cp_decoder *decoder, const uint8_t *bytes, size_t size, size_t from,
		    size_t target)
{
	struct cp_insn insn;

	while (from < target)
		from += cp_decode(decoder, bytes + from, size - from, from, &insn) ? insn.size : 1;
	return from == target;
}

static bool begins(struct cp_decoder *decoder, const uint8_t *bytes, size_t size, size_t at)
{
	static const size_t back[] = { 53, 67, 79, 101, BEFORE };
	struct cp_insn insn;
	size_t i, agreed = 0;

	/* A prefix of its own before it is part of the same. */
	while (at && is_prefix(bytes[at - 1]))
		at--;
	for (i = 0; i < CP_ARRAY_SIZE(back) && agreed + 2 > i; i++) /* all but one */
		agreed += in_step(decoder, bytes, size, at > back[i] ? at - back[i] : 0, at);
	return agreed + 2 > i && cp_decode(decoder, bytes + at, size - at, at, &insn);
}

/* A register becomes that number. */
static bool is_number(const uint8_t *at, uint32_t number)
{
	uint32_t has;

	memcpy(&has, at + 1, sizeof(has));
	return (at[0] & 0xf8) == 0xb8 && has == number;
}

/* The number is the first argument of a call: of one by name, of a system call, or of
 * syscall() behind that. */
static bool asks_kernel(const uint8_t *bytes, size_t size, size_t at, bool names_it)
{
	size_t i = at > NEAR ? at - NEAR : 0, end = at + NEAR < size - 5 ? at + NEAR : size - 5;
	bool first = bytes[at] == MOV_EDI;

	if (first && names_it)
		return true;
	for (; i < end && (first || bytes[at] == MOV_ESI); i++)
		if (bytes[i] == (first ? MOV_EAX : MOV_EDI) && is_number(bytes + i, SYS_arch_prctl))
			return true;
	return false;
}

static bool look_for_calls(struct cp_decoder *decoder, const uint8_t *bytes, size_t size,
			   bool names_it)
{
	static const uint8_t set[] = { ARCH_SET_GS & 0xff, ARCH_SET_GS >> 8, 0, 0 };
	const uint8_t *at = bytes + 1, *end = bytes + size;

	while (at < end && (at = memmem(at, (size_t)(end - at), set, sizeof(set)))) {
		size_t begin = (size_t)(at++ - bytes) - 1;

		if (is_number(bytes + begin, ARCH_SET_GS) &&
		    asks_kernel(bytes, size, begin, names_it) &&
		    begins(decoder, bytes, size, begin))
			return true;
	}
	return false;
}

static bool look(struct cp_decoder *decoder, const uint8_t *bytes, size_t size)
{
	size_t i;

	for (i = 0; i + INSN_MAX < size; i++) {
		if (bytes[i] != PREFIX_GS && bytes[i] != 0xf3)
			continue;
		if (!(bytes[i] == PREFIX_GS ? may_be_relative(bytes + i) : moves_base(bytes + i)))
			continue;
		if (begins(decoder, bytes, size, i))
			return true;
	}
	return false;
}

bool cp_detour_base_used(struct cp_decoder *decoder, const uint8_t *code, size_t size,
			 bool names_it)
{
	uint8_t end[BEFORE + 2 * INSN_MAX];
	size_t last = size < BEFORE + INSN_MAX ? size : BEFORE + INSN_MAX;

	/* The last instructions, with something behind them. */
	memset(end, 0x90, sizeof(end));
	if (last)
		memcpy(end, code + size - last, last);
	return look(decoder, code, size) || look(decoder, end, last + INSN_MAX) ||
	       (size > 5 && look_for_calls(decoder, code, size, names_it));
}

static bool has_name(struct cp_image *image, const char *section)
{
	static const char name[] = "\0arch_prctl";
	const uint8_t *bytes;
	struct cp_vaddr at;
	size_t size;

	return cp_image_section(image, section, &bytes, &size, &at) &&
	       memmem(bytes, size, name, sizeof(name));
}

bool cp_detour_base_used_by(struct cp_decoder *decoder, struct cp_image *image, bool *has_ret)
{
	const uint8_t *code;
	struct cp_vaddr at;
	size_t size;

	*has_ret = cp_image_section(image, ".text", &code, &size, &at);
	return *has_ret &&
	       cp_detour_base_used(decoder, code, size,
				   has_name(image, ".dynstr") || has_name(image, ".strtab"));
}
