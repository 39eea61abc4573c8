/* SPDX-License-Identifier: MIT
 *
 * The encoding of x86-64, from the opcode maps in Intel's manual (volume 2,
 * appendix A) and AMD's (volume 3, appendix A):
 *
 *     prefixes | REX, VEX, EVEX, XOP | opcode | ModRM SIB disp | immediate
 *
 * Each opcode of the maps is a letter that tells what follows it. That takes a
 * tenth of the time of a disassembler that writes text, knows
 * instructions that a disassembler is too old for (the vector encodings are
 * regular), and yields the offsets that copying an instruction needs.
 */
#include "arch/x86_64/insn.h"

#include <string.h>

/* The parts that follow an opcode:
 *   .  nothing        m  ModRM        i  imm8      I  imm16/32 by operand size
 *   b  ModRM, imm8    z  ModRM, imm16/32           w  imm16     e  imm16, imm8
 *   j  rel8           J  rel32        V  imm16/32/64            o  address
 *   x  no instruction                 t  ModRM, imm8 only with /0 and /1 (test)
 *   T  the same, imm16/32             P  prefix    E  escape */
static const char one_byte[] = "mmmmiIxxmmmmiIxE" /* 00 */
			       "mmmmiIxxmmmmiIxx" /* 10 */
			       "mmmmiIPxmmmmiIPx" /* 20 */
			       "mmmmiIPxmmmmiIPx" /* 30 */
			       "PPPPPPPPPPPPPPPP" /* 40 */
			       "................" /* 50 */
			       "xxEmPPPPIzib...." /* 60 */
			       "jjjjjjjjjjjjjjjj" /* 70 */
			       "bzxbmmmmmmmmmmmm" /* 80 */
			       "..........x....." /* 90 */
			       "oooo....iI......" /* a0 */
			       "iiiiiiiiVVVVVVVV" /* b0 */
			       "bbw.EEbze.w..ix." /* c0 */
			       "mmmmxxx.mmmmmmmm" /* d0 */
			       "jjjjiiiiJJxj...." /* e0 */
			       "P.PP..tT......mm"; /* f0 */

static const char two_bytes[] = "mmmmx.....x.xm.b" /* 00 */
				"mmmmmmmmmmmmmmmm" /* 10 */
				"mmmmxxxxmmmmmmmm" /* 20 */
				"......x.ExExxxxx" /* 30 */
				"mmmmmmmmmmmmmmmm" /* 40 */
				"mmmmmmmmmmmmmmmm" /* 50 */
				"mmmmmmmmmmmmmmmm" /* 60 */
				"bbbbmmm.mmxxmmmm" /* 70 */
				"JJJJJJJJJJJJJJJJ" /* 80 */
				"mmmmmmmmmmmmmmmm" /* 90 */
				"...mbmmm...mbmmm" /* a0 */
				"mmmmmmmmmmbmmmmm" /* b0 */
				"mmbmbbbm........" /* c0 */
				"mmmmmmmmmmmmmmmm" /* d0 */
				"mmmmmmmmmmmmmmmm" /* e0 */
				"mmmmmmmmmmmmmmmm"; /* f0 */

#define SIZE_MAX_INSN 15

struct walk {
	const uint8_t *code;
	size_t size, at;
	struct cp_x86_insn *insn;
};

static int peek(const struct walk *w, size_t ahead)
{
	return w->at + ahead < w->size ? w->code[w->at + ahead] : -1;
}

static bool prefixes(struct walk *w)
{
	struct cp_x86_insn *insn = w->insn;
	int byte;

	for (;; w->at++) {
		byte = peek(w, 0);
		if (byte < 0)
			return false;
		if (one_byte[byte] != 'P')
			return true;
		/* REX counts only right before the opcode. */
		insn->rex = byte >> 4 == 4 ? (uint8_t)byte : 0;
		if (byte == 0x66)
			insn->opsize = true;
		else if (byte == 0x67)
			insn->addrsize = true;
		else if (byte == 0xf0)
			insn->lock = true;
		else if (byte == 0xf2 || byte == 0xf3)
			insn->rep = (uint8_t)byte;
		else if (byte == 0x64 || byte == 0x65)
			insn->segment = true;
	}
}

/* The vector encodings: map, opcode, ModRM. Immediates follow the map. */
static char vector(struct walk *w, int escape)
{
	struct cp_x86_insn *insn = w->insn;
	int second = peek(w, 1), map;
	size_t size = escape == 0xc5 ? 2 : escape == 0x62 ? 4 : 3;

	if (second < 0 || peek(w, size) < 0 || insn->rex || insn->opsize || insn->rep || insn->lock)
		return 'x';
	map = escape == 0xc5 ? 1 : second & (escape == 0x62 ? 7 : 31);
	w->at += size;
	insn->map = CP_X86_VECTOR;
	insn->opcode = (uint8_t)peek(w, 0);
	if (escape == 0x8f)
		return map == 8 ? 'b' : map == 9 ? 'm' : map == 10 ? 'z' : 'x';
	if (map == 1) {
		if (insn->opcode == 0x77)
			return escape == 0x62 ? 'x' : '.';
		return two_bytes[insn->opcode] == 'b' && insn->opcode >= 0x70 ? 'b' : 'm';
	}
	if (escape == 0x62 && (map == 5 || map == 6))
		return 'm';
	return map == 2 ? 'm' : map == 3 ? 'b' : 'x';
}

static char opcode(struct walk *w)
{
	struct cp_x86_insn *insn = w->insn;
	int byte = peek(w, 0);

	insn->opcode = (uint8_t)byte;
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return vector(w, byte);
	if (byte == 0x8f && peek(w, 1) >= 0 && (peek(w, 1) & 0x38))
		return vector(w, byte); /* pop has only /0; XOP's maps are 8 and more */
	if (byte != 0x0f)
		return one_byte[byte];
	w->at++;
	byte = peek(w, 0);
	if (byte == 0x38 || byte == 0x3a) {
		w->at++;
		insn->map = byte == 0x38 ? CP_X86_0F38 : CP_X86_0F3A;
		byte = peek(w, 0);
		insn->opcode = (uint8_t)byte;
		return byte < 0 ? 'x' : insn->map == CP_X86_0F38 ? 'm' : 'b';
	}
	insn->map = CP_X86_0F;
	insn->opcode = (uint8_t)byte;
	/* SSE4a's extrq and insertq with immediates */
	if (byte == 0x78 && (insn->opsize || insn->rep == 0xf2))
		return 'D';
	return byte < 0 ? 'x' : two_bytes[byte];
}

/* ModRM, SIB and displacement; `at` is behind them afterwards. */
static bool modrm(struct walk *w)
{
	struct cp_x86_insn *insn = w->insn;
	int byte = peek(w, 0), sib;
	bool wide = false;

	if (byte < 0)
		return false;
	insn->has_modrm = true;
	insn->modrm = (uint8_t)byte;
	insn->modrm_at = (uint8_t)w->at++;
	/* Control and debug registers: mod is ignored. */
	if (CP_X86_MOD(insn) == 3 ||
	    (insn->map == CP_X86_0F && insn->opcode >= 0x20 && insn->opcode < 0x24))
		return true;
	if (CP_X86_RM(insn) == 4) {
		sib = peek(w, 0);
		if (sib < 0)
			return false;
		wide = (sib & 7) == 5;
		w->at++;
	} else {
		wide = CP_X86_RM(insn) == 5;
	}
	insn->disp_size = CP_X86_MOD(insn) == 1 ? 1 : CP_X86_MOD(insn) == 2 || wide ? 4 : 0;
	if (insn->disp_size)
		insn->disp_at = (uint8_t)w->at;
	w->at += insn->disp_size;
	return w->at <= w->size;
}

/* Opcodes that are only partly used. */
static bool is_valid(const struct cp_x86_insn *insn)
{
	if (insn->map != CP_X86_ONE)
		return true;
	switch (insn->opcode) {
	case 0xc6:
	case 0xc7: /* mov; xabort and xbegin */
		return CP_X86_REG(insn) == 0 || insn->modrm == 0xf8;
	case 0xfe:
		return CP_X86_REG(insn) < 2;
	case 0xff:
		return CP_X86_REG(insn) < 7;
	case 0x8d:
		return CP_X86_MOD(insn) != 3;
	default:
		return true;
	}
}

static unsigned imm_size(const struct cp_x86_insn *insn, char kind)
{
	unsigned z = insn->opsize && !(insn->rex & 8) ? 2 : 4;

	switch (kind) {
	case 'i':
	case 'b':
	case 'j':
		return 1;
	case 't':
		return CP_X86_REG(insn) < 2 ? 1 : 0;
	case 'T':
		return CP_X86_REG(insn) < 2 ? z : 0;
	case 'I':
	case 'z':
		return insn->map == CP_X86_VECTOR ? 4 : z;
	case 'V':
		return insn->rex & 8 ? 8 : z;
	case 'w':
	case 'D':
		return 2;
	case 'e':
		return 3;
	case 'J':
		return 4;
	case 'o':
		return insn->addrsize ? 4 : 8;
	default:
		return 0;
	}
}

static bool has_modrm(char kind)
{
	return kind == 'm' || kind == 'b' || kind == 'z' || kind == 't' || kind == 'T' ||
	       kind == 'D';
}

bool cp_x86_take_apart(const uint8_t *code, size_t size, struct cp_x86_insn *ret)
{
	struct cp_x86_insn insn = { 0 };
	struct walk w = { .code = code,
			  .size = size < SIZE_MAX_INSN ? size : SIZE_MAX_INSN,
			  .insn = &insn };
	char kind;

	if (!prefixes(&w))
		return false;
	kind = opcode(&w);
	insn.opcode_at = (uint8_t)w.at++;
	/* With 66 Intel's near jumps stay as they are and AMD's become 16 bits. */
	if (kind == 'x' || ((kind == 'j' || kind == 'J') && insn.opsize && !(insn.rex & 8)))
		return false;
	if (has_modrm(kind) && !modrm(&w))
		return false;
	if (!is_valid(&insn))
		return false;
	insn.imm_size = (uint8_t)imm_size(&insn, kind);
	insn.imm_at = (uint8_t)w.at;
	w.at += insn.imm_size;
	if (w.at > w.size)
		return false;
	insn.size = (uint8_t)w.at;
	*ret = insn;
	return true;
}

bool cp_x86_rip_relative(const struct cp_x86_insn *insn)
{
	return insn->has_modrm && CP_X86_MOD(insn) == 0 && CP_X86_RM(insn) == 5 && insn->disp_size;
}

int64_t cp_x86_imm(const struct cp_x86_insn *insn, const uint8_t *code)
{
	const uint8_t *p = code + insn->imm_at;
	int64_t v64;
	int32_t v32;
	int16_t v16;

	switch (insn->imm_size) {
	case 1:
		return (int8_t)*p;
	case 2:
		memcpy(&v16, p, 2);
		return v16;
	case 4:
		memcpy(&v32, p, 4);
		return v32;
	case 8:
		memcpy(&v64, p, 8);
		return v64;
	default:
		return 0;
	}
}

/* rax rcx rdx rbx rsp rbp rsi rdi, then r8 to r15 */
uint8_t cp_x86_dwarf(unsigned number)
{
	static const uint8_t low[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return (uint8_t)(number < 8 ? low[number] : number);
}

void cp_x86_operand(const struct cp_x86_insn *insn, const uint8_t *code, struct cp_x86_operand *ret)
{
	unsigned b = insn->rex & 1 ? 8 : 0, x = insn->rex & 2 ? 8 : 0, sib;

	*ret = (struct cp_x86_operand){ .base = 0xff, .index = 0xff, .scale = 1 };
	if (CP_X86_MOD(insn) == 3) {
		ret->base = cp_x86_dwarf(CP_X86_RM(insn) | b);
		return;
	}
	ret->memory = true;
	if (insn->disp_size == 4)
		memcpy(&ret->disp, code + insn->disp_at, 4);
	else if (insn->disp_size == 1)
		ret->disp = (int8_t)code[insn->disp_at];
	if (cp_x86_rip_relative(insn)) {
		ret->base = 16;
	} else if (CP_X86_RM(insn) == 4) {
		sib = code[insn->modrm_at + 1];
		if ((sib & 7) != 5 || CP_X86_MOD(insn))
			ret->base = cp_x86_dwarf((sib & 7) | b);
		if (((sib >> 3 & 7) | x) != 4)
			ret->index = cp_x86_dwarf((sib >> 3 & 7) | x);
		ret->scale = (uint8_t)(1 << (sib >> 6));
	} else {
		ret->base = cp_x86_dwarf(CP_X86_RM(insn) | b);
	}
}

/* ---- flow ---- */

static enum cp_flow flow_0f(const struct cp_x86_insn *insn)
{
	if ((insn->opcode & 0xf0) == 0x80)
		return CP_FLOW_BRANCH;
	switch (insn->opcode) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return CP_FLOW_SYSCALL;
	case 0x07: /* sysret */
	case 0x0b: /* ud2 */
	case 0x35: /* sysexit */
	case 0xb9: /* ud1 */
	case 0xff: /* ud0 */
		return CP_FLOW_END;
	default:
		return CP_FLOW_ON;
	}
}

static enum cp_flow flow_one(const struct cp_x86_insn *insn, const uint8_t *code)
{
	static const uint8_t group5[8] = {
		[2] = CP_FLOW_CALL_INDIRECT,
		[3] = CP_FLOW_CALL_INDIRECT,
		[4] = CP_FLOW_JUMP_INDIRECT,
		[5] = CP_FLOW_JUMP_INDIRECT,
	};

	switch (insn->opcode) {
	case 0xc2:
	case 0xc3:
	case 0xca: /* far */
	case 0xcb:
	case 0xcf: /* iret */
		return CP_FLOW_RETURN;
	case 0xe8:
		return CP_FLOW_CALL;
	case 0xe9:
	case 0xeb:
		return CP_FLOW_JUMP;
	case 0xe0: /* loopne, loope, loop, jrcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return CP_FLOW_BRANCH;
	case 0xc7: /* xbegin: where it goes when the transaction fails */
		return insn->modrm == 0xf8 ? CP_FLOW_BRANCH : CP_FLOW_ON;
	case 0xcd:
		return code[insn->imm_at] == 0x80 ? CP_FLOW_SYSCALL : CP_FLOW_END;
	case 0xcc: /* int3, int1, hlt */
	case 0xf1:
	case 0xf4:
		return CP_FLOW_END;
	case 0xff:
		return group5[CP_X86_REG(insn)];
	default:
		return (insn->opcode & 0xf0) == 0x70 ? CP_FLOW_BRANCH : CP_FLOW_ON;
	}
}

static bool is_nop(const struct cp_x86_insn *insn)
{
	if (insn->map == CP_X86_ONE) /* f3 90 is pause, with REX.B it is an xchg of r8 */
		return insn->opcode == 0x90 && insn->rep != 0xf3 && !(insn->rex & 1);
	return insn->map == CP_X86_0F && insn->opcode == 0x1f;
}

void cp_x86_flow(const struct cp_x86_insn *insn, const uint8_t *code, uint64_t pc,
		 struct cp_insn *ret)
{
	enum cp_flow flow = CP_FLOW_ON;

	if (insn->map == CP_X86_ONE)
		flow = flow_one(insn, code);
	else if (insn->map == CP_X86_0F)
		flow = flow_0f(insn);
	*ret = (struct cp_insn){
		.pc = pc,
		.size = insn->size,
		.flow = (uint8_t)flow,
		.nop = is_nop(insn),
		.landing_pad = insn->map == CP_X86_0F && insn->opcode == 0x1e &&
			       insn->modrm == 0xfa && insn->rep == 0xf3,
		.compares = insn->map == CP_X86_0F && insn->opcode == 0xb1 && insn->lock,
	};
	if (flow == CP_FLOW_JUMP || flow == CP_FLOW_BRANCH || flow == CP_FLOW_CALL)
		ret->target = pc + insn->size + (uint64_t)cp_x86_imm(insn, code);
}

bool cp_x86_decode(const uint8_t *code, size_t size, uint64_t pc, struct cp_insn *ret)
{
	struct cp_x86_insn insn;

	if (!cp_x86_take_apart(code, size, &insn))
		return false;
	cp_x86_flow(&insn, code, pc, ret);
	return true;
}
