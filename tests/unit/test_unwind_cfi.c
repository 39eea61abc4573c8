/* SPDX-License-Identifier: MIT
 *
 * Call frame information made by hand: every instruction, encoding and
 * augmentation, sensible and not; and expressions.
 */
#include "test.h"
#include "unwind/cfi.h"
#include "unwind/dwarf.h"
#include "unwind/expr.h"

#include "arch/arch.h"

#define SECTION 0x400000u /* where the section is said to lie */
#define CODE 0x401000u

/* A section under construction. */
struct section {
	uint8_t bytes[4096];
	size_t size;
};

static void put(struct section *s, const void *bytes, size_t size)
{
	memcpy(s->bytes + s->size, bytes, size);
	s->size += size;
}

static void put_u8(struct section *s, uint8_t v)
{
	put(s, &v, 1);
}

static void put_u32(struct section *s, uint32_t v)
{
	put(s, &v, 4);
}

static void put_u64(struct section *s, uint64_t v)
{
	put(s, &v, 8);
}

static size_t begin(struct section *s, bool wide)
{
	if (wide)
		put_u32(s, UINT32_MAX);
	if (wide)
		put_u64(s, 0);
	else
		put_u32(s, 0);
	return s->size;
}

static void finish(struct section *s, size_t body, bool wide)
{
	uint64_t size;

	while (s->size % 8)
		put_u8(s, DW_CFA_nop);
	size = s->size - body;
	memcpy(s->bytes + body - (wide ? 8 : 4), &size, wide ? 8 : 4);
}

/* What a CIE may be like. */
struct cie_options {
	const char *augmentation; /* "zR" */
	const uint8_t *data; /* of the augmentation */
	size_t data_size;
	const uint8_t *program;
	size_t program_size;
	uint8_t version;
	uint8_t code_align;
	uint8_t ra;
	bool wide, debug_frame;
};

static const uint8_t pcrel4 = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
/* rsp+8, ra at cfa-8 */
static const uint8_t usual[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };

static const struct cie_options plain = {
	.augmentation = "zR",
	.data = &pcrel4,
	.data_size = 1,
	.program = usual,
	.program_size = sizeof(usual),
	.version = 1,
	.code_align = 1,
	.ra = 16,
};

static void put_cie(struct section *s, const struct cie_options *o)
{
	size_t body = begin(s, o->wide);

	if (o->debug_frame && o->wide)
		put_u64(s, UINT64_MAX);
	else
		put_u32(s, o->debug_frame ? UINT32_MAX : 0);
	put_u8(s, o->version);
	put(s, o->augmentation, strlen(o->augmentation) + 1);
	if (o->version == 4) {
		put_u8(s, 8);
		put_u8(s, 0);
	}
	put_u8(s, o->code_align);
	put_u8(s, 0x78); /* -8 */
	put_u8(s, o->ra);
	if (o->augmentation[0] == 'z') {
		put_u8(s, (uint8_t)o->data_size);
		put(s, o->data, o->data_size);
	}
	put(s, o->program, o->program_size);
	finish(s, body, o->wide);
}

/* An FDE of 100 bytes of code; its CIE is at the section's start. */
static uint64_t put_fde(struct section *s, const struct cie_options *o, const uint8_t *program,
			size_t size)
{
	uint64_t at = SECTION + s->size;
	size_t body = begin(s, o->wide);

	if (o->debug_frame && o->wide)
		put_u64(s, 0);
	else
		put_u32(s, o->debug_frame ? 0 : (uint32_t)s->size);
	if (o->debug_frame) {
		put_u64(s, CODE);
		put_u64(s, 100);
	} else {
		put_u32(s, CODE - (SECTION + (uint32_t)s->size));
		put_u32(s, 100);
		put_u8(s, 0);
	}
	put(s, program, size);
	finish(s, body, o->wide);
	return at;
}

/* ---- rows as text ---- */

static char text[4096];

static void say_value(const char *name, const struct cp_cfi_value *v, char *out, size_t size)
{
	static const char *const kinds[] = { "", "same", "undef", "c", "v", "r", "exp", "vexp" };

	if (v->kind == CP_RULE_OFFSET || v->kind == CP_RULE_VAL_OFFSET ||
	    v->kind == CP_RULE_REGISTER)
		snprintf(out, size, " %s=%s%+ld", name, kinds[v->kind], (long)v->offset);
	else if (v->kind == CP_RULE_EXPR || v->kind == CP_RULE_VAL_EXPR)
		snprintf(out, size, " %s=%s%u", name, kinds[v->kind], v->expr_size);
	else if (v->kind != CP_RULE_UNSPECIFIED)
		snprintf(out, size, " %s=%s", name, kinds[v->kind]);
	else
		out[0] = 0;
}

static bool say_row(void *ctx, uint64_t from, const struct cp_cfi_row *row)
{
	const struct cp_arch *arch = ctx;
	size_t n = strlen(text);
	unsigned i;

	snprintf(text + n, sizeof(text) - n, "%s%lu:", n ? "; " : "", from - CODE);
	n = strlen(text);
	if (row->cfa_reg != CP_CFI_NO_REG)
		snprintf(text + n, sizeof(text) - n, "%s%+ld", arch->reg_names[row->cfa_reg],
			 (long)row->cfa.offset);
	else
		snprintf(text + n, sizeof(text) - n, "%s",
			 row->cfa.kind == CP_RULE_VAL_EXPR ? "exp" : "none");
	for (i = 0; i < arch->nregs; i++) {
		n = strlen(text);
		say_value(arch->reg_names[i], &row->regs[i], text + n, sizeof(text) - n);
	}
	if (row->ra_signed)
		strcat(text, " signed");
	return true;
}

static struct cp_cfi_source source_of(const struct section *s, bool debug_frame)
{
	return (struct cp_cfi_source){
		.bytes = s->bytes,
		.start = SECTION,
		.end = SECTION + s->size,
		.low = SECTION,
		.high = SECTION + 0x10000,
		.debug_frame = debug_frame,
	};
}

/* The rows of one FDE as text; "no ..." where it is refused. */
static const char *rows_of(const struct section *s, const struct cie_options *o, uint64_t fde_at,
			   const struct cp_arch *arch)
{
	struct cp_cfi_source source = source_of(s, o->debug_frame);
	struct cp_cfi_scratch scratch = { 0 };
	struct cp_cfi_entry entry;
	struct cp_cie cie;
	struct cp_fde fde;

	text[0] = 0;
	if (!cp_cfi_read_entry(&source, fde_at, &scratch, &entry) || entry.is_cie || entry.end)
		return "no entry";
	CHECK_U64(entry.cie, SECTION);
	if (!cp_cfi_read_entry(&source, entry.cie, &scratch, &entry) ||
	    !cp_cie_parse(&source, &entry, arch->nregs, &cie))
		return "no CIE";
	if (!cp_cfi_read_entry(&source, fde_at, &scratch, &entry) ||
	    !cp_fde_parse(&source, &entry, &cie, &fde)) {
		cp_cie_deinit(&cie);
		return "no FDE";
	}
	CHECK_U64(fde.start, CODE);
	CHECK_U64(fde.end, CODE + 100);
	if (!cp_cfi_run(&source, &cie, &fde, arch->nregs, say_row, (void *)(uintptr_t)arch))
		strcat(text, " BROKEN");
	cp_cie_deinit(&cie);
	cp_cfi_scratch_free(&scratch);
	return text;
}

static const char *rows(const struct cie_options *o, const uint8_t *program, size_t size,
			const struct cp_arch *arch)
{
	struct section s = { .size = 0 };
	uint64_t fde;

	put_cie(&s, o);
	fde = put_fde(&s, o, program, size);
	return rows_of(&s, o, fde, arch);
}

#define PROGRAM(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define ROWS(...) rows(&plain, PROGRAM(__VA_ARGS__), &cp_arch_x86_64)

static void test_locations(void)
{
	CHECK_STR(ROWS(DW_CFA_nop), "0:rsp+8 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		       DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6),
		  "0:rsp+8 rip=c-8; 1:rsp+16 rbp=c-16 rip=c-8; 4:rbp+16 rbp=c-16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_advance_loc1, 10, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc2, 20,
		       0, DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc4, 30, 0, 0, 0,
		       DW_CFA_def_cfa_offset, 32),
		  "0:rsp+8 rip=c-8; 10:rsp+16 rip=c-8; 30:rsp+24 rip=c-8; 60:rsp+32 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_MIPS_advance_loc8, 9, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16),
		  "0:rsp+8 rip=c-8; 9:rsp+16 rip=c-8");
	/* Moving by nothing makes no row; moving beyond the end ends the program. */
	CHECK_STR(ROWS(DW_CFA_advance_loc | 0, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc1, 200,
		       DW_CFA_def_cfa_offset, 24),
		  "0:rsp+16 rip=c-8");
}

/* set_loc has the FDE's encoding: here relative to its own place. */
static void test_set_loc(void)
{
	struct section s = { .size = 0 };
	uint8_t program[] = { DW_CFA_set_loc, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16 };
	uint64_t fde, here;
	uint32_t relative;

	put_cie(&s, &plain);
	here = SECTION + s.size + 4 + 4 + 4 + 4 + 1 + 1;
	relative = (uint32_t)(CODE + 7 - here);
	memcpy(program + 1, &relative, 4);
	fde = put_fde(&s, &plain, program, sizeof(program));
	CHECK_STR(rows_of(&s, &plain, fde, &cp_arch_x86_64), "0:rsp+8 rip=c-8; 7:rsp+16 rip=c-8");
}

static void test_cfa(void)
{
	CHECK_STR(ROWS(DW_CFA_def_cfa, 6, 0x90, 1), "0:rbp+144 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_def_cfa_sf, 6, 0x7e), "0:rbp+16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_def_cfa_offset_sf, 0x7d), "0:rsp+24 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_def_cfa_expression, 3, 0x77, 8, 6), "0:exp rip=c-8");
	/* Only a CFA of both can have one of them changed. */
	CHECK_STR(ROWS(DW_CFA_def_cfa_expression, 2, 0x77, 8, DW_CFA_def_cfa_offset, 8),
		  "0:none BROKEN");
	/* A register that is none of ours has no use. */
	CHECK_STR(ROWS(DW_CFA_def_cfa_register, 40), "0:none rip=c-8");
}

static void test_registers(void)
{
	CHECK_STR(ROWS(DW_CFA_offset_extended, 3, 2), "0:rsp+8 rbx=c-16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_offset_extended_sf, 3, 0x7e), "0:rsp+8 rbx=c+16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_GNU_negative_offset_extended, 3, 2), "0:rsp+8 rbx=c+16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_val_offset, 3, 2), "0:rsp+8 rbx=v-16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_val_offset_sf, 3, 0x7e), "0:rsp+8 rbx=v+16 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_register, 16, 2), "0:rsp+8 rip=r+2");
	CHECK_STR(ROWS(DW_CFA_undefined, 16), "0:rsp+8 rip=undef");
	CHECK_STR(ROWS(DW_CFA_same_value, 3), "0:rsp+8 rbx=same rip=c-8");
	CHECK_STR(ROWS(DW_CFA_expression, 3, 2, 0x77, 8), "0:rsp+8 rbx=exp2 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_val_expression, 3, 3, 0x77, 8, 6), "0:rsp+8 rbx=vexp3 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_undefined, 16, DW_CFA_restore | 16, DW_CFA_undefined, 3,
		       DW_CFA_restore_extended, 3),
		  "0:rsp+8 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_GNU_args_size, 0x80, 1), "0:rsp+8 rip=c-8");
	/* Vector registers and unknown ones are passed over. */
	CHECK_STR(ROWS(DW_CFA_offset | 40, 2, DW_CFA_undefined, 33, DW_CFA_expression, 50, 1, 0x50,
		       DW_CFA_restore | 60),
		  "0:rsp+8 rip=c-8");
}

static void test_states(void)
{
	uint8_t deep[40];

	CHECK_STR(ROWS(DW_CFA_remember_state, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 3, 3,
		       DW_CFA_advance_loc | 1, DW_CFA_restore_state),
		  "0:rbp+16 rbx=c-24 rip=c-8; 1:rsp+8 rip=c-8");
	CHECK_STR(ROWS(DW_CFA_restore_state), "0:none BROKEN");
	memset(deep, DW_CFA_remember_state, sizeof(deep));
	CHECK_STR(rows(&plain, deep, 10, &cp_arch_x86_64), "0:rsp+8 rip=c-8");
	CHECK_STR(rows(&plain, deep, sizeof(deep), &cp_arch_x86_64), "0:none BROKEN");
}

static void test_broken(void)
{
	CHECK_STR(ROWS(DW_CFA_advance_loc | 4, 0x3f), "0:rsp+8 rip=c-8; 4:none BROKEN");
	CHECK_STR(ROWS(DW_CFA_def_cfa_expression, 0xff, 0xff, 0xff, 0x0f), "0:none BROKEN");
}

/* ---- entries ---- */

static void test_formats(void)
{
	static const uint8_t program[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16 };
	static const char want[] = "0:rsp+8 rip=c-8; 1:rsp+16 rip=c-8";
	static const uint8_t odd_data[] = { DW_EH_PE_pcrel | DW_EH_PE_indirect | DW_EH_PE_sdata4,
					    1,
					    2,
					    3,
					    4,
					    DW_EH_PE_udata4,
					    DW_EH_PE_pcrel | DW_EH_PE_sdata4,
					    99 };
	struct cie_options o = plain;

	o.wide = true;
	CHECK_STR(rows(&o, program, sizeof(program), &cp_arch_x86_64), want);
	o = plain;
	o.debug_frame = true;
	o.augmentation = "";
	for (o.version = 1; o.version <= 4; o.version++) {
		o.wide = o.version & 1;
		CHECK_STR(rows(&o, program, sizeof(program), &cp_arch_x86_64),
			  o.version == 2 ? "no CIE" : want);
	}
	o = plain;
	o.augmentation = "zPLRSQ"; /* Q: unknown, its byte is skipped */
	o.data = odd_data;
	o.data_size = sizeof(odd_data);
	CHECK_STR(rows(&o, program, sizeof(program), &cp_arch_x86_64), want);
	o = plain;
	o.augmentation = "armcc+";
	CHECK_STR(rows(&o, program, sizeof(program), &cp_arch_x86_64), "no CIE");
	o = plain;
	o.ra = 17;
	CHECK_STR(rows(&o, program, sizeof(program), &cp_arch_x86_64), "no CIE");
	o = plain;
	o.code_align = 4;
	CHECK_STR(rows(&o, program, sizeof(program), &cp_arch_x86_64),
		  "0:rsp+8 rip=c-8; 4:rsp+16 rip=c-8");
}

static void test_aarch64(void)
{
	static const uint8_t initial[] = { DW_CFA_def_cfa, 31, 0 };
	struct cie_options o = plain;

	o.program = initial;
	o.program_size = sizeof(initial);
	o.ra = 30;
	o.code_align = 4;
	o.augmentation = "zRB";
	CHECK_STR(rows(&o,
		       PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_AARCH64_negate_ra_state,
			       DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32,
			       DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3, DW_CFA_advance_loc | 4,
			       DW_CFA_AARCH64_negate_ra_state),
		       &cp_arch_aarch64),
		  "0:sp+0; 4:sp+0 signed; 8:sp+32 x29=c-32 x30=c-24 signed; "
		  "24:sp+32 x29=c-32 x30=c-24");
}

/* Whatever is cut off, nothing beyond it is read (a sanitizer would tell). */
static void test_cut(void)
{
	struct section s = { .size = 0 };
	uint64_t fde;
	size_t whole;

	put_cie(&s, &plain);
	fde = put_fde(&s, &plain, PROGRAM(DW_CFA_def_cfa_expression, 2, 0x77, 8));
	whole = s.size;
	for (s.size = 0; s.size < whole; s.size++) {
		uint8_t *exact = malloc(s.size ? s.size : 1);
		struct cp_cfi_source source = source_of(&s, false);
		struct cp_cfi_scratch scratch = { 0 };
		struct cp_cfi_entry entry;

		memcpy(exact, s.bytes, s.size);
		source.bytes = exact;
		CHECK(!cp_cfi_read_entry(&source, fde, &scratch, &entry));
		free(exact);
	}
}

static void test_pointers(void)
{
	static const struct {
		uint8_t encoding, bytes[12];
		uint64_t want; /* 1: refused */
	} cases[] = {
		{ DW_EH_PE_absptr, { 1, 2, 3, 4, 5, 6, 7, 8 }, 0x0807060504030201 },
		{ DW_EH_PE_uleb128, { 0x80, 0x02 }, 256 },
		{ DW_EH_PE_udata2, { 0xfe, 0xff }, 0xfffe },
		{ DW_EH_PE_udata4, { 0xfe, 0xff, 0xff, 0xff }, 0xfffffffe },
		{ DW_EH_PE_sleb128 | DW_EH_PE_pcrel, { 0x7f }, SECTION - 1 },
		{ DW_EH_PE_sdata2 | DW_EH_PE_pcrel, { 0xfe, 0xff }, SECTION - 2 },
		{ DW_EH_PE_sdata4 | DW_EH_PE_datarel, { 5 }, 0x1005 },
		{ DW_EH_PE_sdata8 | DW_EH_PE_pcrel, { 9 }, SECTION + 9 },
		{ DW_EH_PE_aligned, { 7 }, 7 },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata4, { 0 }, 0 }, /* a null pointer */
		{ DW_EH_PE_omit, { 5 }, 0 },
		{ DW_EH_PE_pcrel | DW_EH_PE_udata4 | DW_EH_PE_indirect,
		  { 4, 0, 0, 0, 0x21 },
		  0x21 },
		{ 0x20 | DW_EH_PE_udata4, { 5 }, 1 }, /* text: nobody knows the base */
		{ 0x05, { 5 }, 1 },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(cases); i++) {
		struct section s = { .size = 0 };
		struct cp_cfi_source source;
		struct cp_cfi_cursor c = { cp_cursor(s.bytes, 12), s.bytes, SECTION };
		uint64_t got = 1;
		bool good;

		put(&s, cases[i].bytes, 12);
		source = source_of(&s, false);
		good = cp_cfi_read_pointer(&source, &c, cases[i].encoding, 0x1000, &got);
		CHECK_U64(good ? got : 1, cases[i].want);
	}
}

/* ---- expressions ---- */

static size_t read_words(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	static const uint64_t words[] = { 0x1122334455667788, 0x4000 };

	(void)ctx;
	if (addr < 0x5000 || addr + size > 0x5000 + sizeof(words))
		return 0;
	memcpy(buffer, (const uint8_t *)words + (addr - 0x5000), size);
	return size;
}

#define E(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static void test_expressions(void)
{
	static const struct {
		uint8_t code[16];
		size_t size;
		uint64_t want;
		enum cp_expr_status status;
	} cases[] = {
		{ E(0x30 + 7), 7 },
		{ E(DW_OP_const1s, 0xff), UINT64_MAX },
		{ E(DW_OP_const2u, 0x34, 0x12), 0x1234 },
		{ E(DW_OP_const4s, 0xff, 0xff, 0xff, 0xff), UINT64_MAX },
		{ E(DW_OP_consts, 0x7f), UINT64_MAX },
		{ E(0x77, 8), 0x5008 }, /* rsp + 8 */
		{ E(DW_OP_bregx, 7, 0x78), 0x4ff8 },
		{ E(0x77, 0, DW_OP_deref), 0x1122334455667788 },
		{ E(0x77, 0, DW_OP_deref_size, 2), 0x7788 },
		{ E(0x30, DW_OP_deref), 0, CP_EXPR_MEMORY },
		{ E(0x77, 0, DW_OP_deref_size, 9), 0, CP_EXPR_BAD },
		{ E(0x73, 0), 0, CP_EXPR_UNKNOWN }, /* rbx is not known */
		{ E(0x31, 0x32, DW_OP_swap, DW_OP_minus), 1 },
		{ E(0x31, 0x32, 0x33, DW_OP_rot), 2 },
		{ E(0x31, 0x32, DW_OP_over, DW_OP_plus), 3 },
		{ E(0x31, 0x32, 0x33, DW_OP_pick, 2), 1 },
		{ E(0x31, DW_OP_neg, DW_OP_abs), 1 },
		{ E(0x37, 0x32, DW_OP_div), 3 },
		{ E(0x37, 0x30, DW_OP_div), 0, CP_EXPR_BAD },
		{ E(0x31, DW_OP_const1u, 63, DW_OP_shl, 0x31, DW_OP_neg, DW_OP_div),
		  UINT64_C(1) << 63 },
		{ E(0x31, DW_OP_const1u, 64, DW_OP_shl), 0 },
		{ E(0x31, DW_OP_neg, DW_OP_const1u, 70, DW_OP_shra), UINT64_MAX },
		{ E(0x31, DW_OP_bra, 1, 0, 0x35, 0x36), 6 },
		{ E(0x31, DW_OP_skip, 0xfc, 0xff), 0, CP_EXPR_BAD }, /* for ever */
		{ E(DW_OP_skip, 0x00, 0x80), 0, CP_EXPR_BAD },
		{ E(DW_OP_drop), 0, CP_EXPR_BAD },
		{ E(DW_OP_nop), 0, CP_EXPR_BAD },
		{ E(0xe0), 0, CP_EXPR_BAD },
		{ E(DW_OP_const4u, 1), 0, CP_EXPR_BAD },
	};
	struct cp_regs regs = { .known = 1 << 7 | 1 << 16, .r = { [7] = 0x5000, [16] = 0x10b } };
	struct cp_reader memory = { read_words, NULL };
	struct cp_expr_env env = { &regs, 17, &memory, 0, 0 };
	/* What ld writes for a PLT: rsp + 8, + 8 more from byte 11 of an entry on. */
	static const uint8_t plt[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 };
	uint64_t got, start = 0x99;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(cases); i++) {
		got = 0;
		CHECK_U64(cp_expr_eval(&env, cases[i].code, cases[i].size, NULL, &got),
			  cases[i].status);
		CHECK_U64(got, cases[i].want);
	}
	CHECK_U64(cp_expr_eval(&env, plt, sizeof(plt), NULL, &got), CP_EXPR_OK);
	CHECK_U64(got, 0x5010);
	regs.r[16]--;
	CHECK_U64(cp_expr_eval(&env, plt, sizeof(plt), NULL, &got), CP_EXPR_OK);
	CHECK_U64(got, 0x5008);
	CHECK_U64(cp_expr_eval(&env, plt, 0, &start, &got), CP_EXPR_OK);
	CHECK_U64(got, 0x99);
}

int main(void)
{
	test_locations();
	test_set_loc();
	test_cfa();
	test_registers();
	test_states();
	test_broken();
	test_formats();
	test_aarch64();
	test_cut();
	test_pointers();
	test_expressions();
	TEST_MAIN_END;
}
