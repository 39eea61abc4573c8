/* SPDX-License-Identifier: MIT
 *
 * Locations are prepared when they are read, so that whoever evaluates them
 * needs no unit: indices of addresses become addresses, references to base
 * types become sizes. Forms that are spelled in several ways come out as one.
 */
#include "image/dwarf/location.h"

#include <string.h>

#include "base/buf.h"
#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/list.h"
#include "image/dwarf/unit.h"
#include "image/elfsymbols.h"

#define MAX_ENTRIES 1024
#define MAX_EXPR 4096
#define NESTED_MAX 3

struct preparing {
	struct cp_unit *unit;
	struct cp_cursor c;
	struct cp_buf out;
	bool changed, jumps; /* sizes differ; distances matter */
	unsigned nested;
};

static bool prepare(struct preparing *p);

/* ---- expressions ---- */

/* Size and encoding of the base type whose DIE is at an offset in the unit. */
static void base_type(struct preparing *p, uint64_t offset, uint8_t *size_ret,
		      uint8_t *encoding_ret)
{
	struct cp_attr reference = { .form = DW_FORM_ref_udata, .u = offset };
	uint64_t at, size = 0, encoding = 0;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;

	*size_ret = 8;
	*encoding_ret = DW_ATE_unsigned;
	if (!offset)
		return; /* the generic type */
	if (!cp_attr_reference(p->unit, &reference, &at) || !cp_die_at(p->unit, at, &w, &die, &a) ||
	    !cp_attr_number(&a.byte_size, &size) || !cp_attr_number(&a.encoding, &encoding) ||
	    size > 8 || encoding == DW_ATE_float) {
		p->c.bad = true; /* wider than a word, or no integer */
		return;
	}
	*size_ret = (uint8_t)size;
	*encoding_ret = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char
				? DW_ATE_signed
				: DW_ATE_unsigned;
}

static void put_converted(struct preparing *p, uint64_t die)
{
	uint8_t size, encoding;

	base_type(p, die, &size, &encoding);
	cp_buf_u8(&p->out, CP_OP_CONVERT);
	cp_buf_u8(&p->out, size);
	cp_buf_u8(&p->out, encoding);
}

static void put_constant(struct preparing *p)
{
	uint64_t die = cp_cursor_uleb(&p->c), value = 0;
	uint8_t size = cp_cursor_u8(&p->c);
	const void *bytes = cp_cursor_bytes(&p->c, size);

	if (!bytes || size > 8) {
		p->c.bad = true;
		return;
	}
	memcpy(&value, bytes, size);
	cp_buf_u8(&p->out, DW_OP_const8u);
	cp_buf_u64(&p->out, value);
	put_converted(p, die);
}

static void put_entry_value(struct preparing *p)
{
	uint64_t size = cp_cursor_uleb(&p->c);
	const uint8_t *bytes = cp_cursor_bytes(&p->c, size);
	struct preparing inner = { .unit = p->unit, .nested = p->nested + 1 };

	if (!bytes || inner.nested > NESTED_MAX) {
		p->c.bad = true;
		return;
	}
	inner.c = cp_cursor(bytes, size);
	if (prepare(&inner)) {
		cp_buf_u8(&p->out, DW_OP_entry_value);
		cp_buf_uleb(&p->out, inner.out.size);
		cp_buf_add(&p->out, inner.out.bytes, inner.out.size);
	} else {
		p->c.bad = true;
	}
	cp_buf_free(&inner.out);
}

/* What the caller passed for a parameter that this function, a clone, does not take. */
static void put_passed(struct preparing *p)
{
	struct cp_attr reference = { .form = DW_FORM_ref4, .u = cp_cursor_u32(&p->c) };
	uint64_t die = 0;

	if (!cp_attr_reference(p->unit, &reference, &die))
		p->c.bad = true;
	cp_buf_u8(&p->out, CP_OP_PASSED);
	cp_buf_u64(&p->out, die);
}

static bool is_thread_local(uint8_t op)
{
	return op == DW_OP_form_tls_address || op == DW_OP_GNU_push_tls_address;
}

/* Does a thread-local variable begin at an offset? As far as there are symbols. */
static bool begins_at(struct cp_elf *elf, uint64_t offset)
{
	struct cp_elf_symbols symbols;
	Elf64_Sym sym;
	size_t i;

	if (!cp_elf_symbols(elf, cp_elf_symbol_section(elf, SHT_SYMTAB), &symbols))
		return false;
	for (i = 1; i < symbols.count; i++)
		if (cp_elf_symbol(&symbols, i, &sym) && ELF64_ST_TYPE(sym.st_info) == STT_TLS &&
		    sym.st_shndx != SHN_UNDEF && sym.st_value == offset)
			return true;
	return false;
}

/* What a table of addresses has for a thread-local variable, as an offset. gcc's relocation
 * asks for the address of what threads begin with, which GNU ld fills in; gold and lld make
 * an offset of that, too, and other compilers ask for one. */
static uint64_t thread_local_offset(const struct cp_unit *unit, uint64_t value)
{
	const struct cp_unit *u = unit->skeleton ? unit->skeleton : unit;
	struct cp_elf *elf = u->dwarf->elf;
	const Elf64_Phdr *p;
	bool offset, address;

	for (p = elf->segments; p != cp_elf_segments_end(elf); p++) {
		if (p->p_type != PT_TLS || value < p->p_vaddr || value - p->p_vaddr >= p->p_memsz)
			continue;
		if (value >= p->p_memsz)
			return value - p->p_vaddr;
		/* It may be either where there is much of it. */
		offset = begins_at(elf, value);
		address = begins_at(elf, value - p->p_vaddr);
		if (offset == address)
			address = unit->producer && strstr(unit->producer, "GNU ");
		return address ? value - p->p_vaddr : value;
	}
	return value;
}

/* A number out of the table of addresses. */
static void put_indexed(struct preparing *p)
{
	uint64_t n = cp_cursor_addrx(p->unit, &p->c);

	if (cp_cursor_left(&p->c) && is_thread_local(*p->c.at))
		n = thread_local_offset(p->unit, n);
	cp_buf_u8(&p->out, DW_OP_const8u);
	cp_buf_u64(&p->out, n);
}

/* What a pointer that is nowhere leads to. */
static void put_implied(struct preparing *p)
{
	const struct cp_unit *u = p->unit;
	struct cp_attr reference = { .form = DW_FORM_ref_addr };
	struct cp_unit *unit;
	uint64_t die = 0, at = 0;

	/* As an address in DWARF 2. */
	reference.u = (u->version == 2 ? u->address_size : u->offset_size) == 8
			      ? cp_cursor_u64(&p->c)
			      : cp_cursor_u32(&p->c);
	at = (uint64_t)cp_cursor_sleb(&p->c);
	unit = p->c.bad ? NULL : cp_attr_reference(u, &reference, &die);
	if (unit && (die < unit->die || die >= unit->end)) /* 0 is what gcc 12 has in split units */
		unit = NULL;
	cp_buf_u8(&p->out, CP_OP_IMPLIED);
	cp_buf_u64(&p->out, (uintptr_t)unit);
	cp_buf_u64(&p->out, die);
	cp_buf_u64(&p->out, at);
}

/* Rewrites an operation that only the unit can tell the meaning of; false: it is
 * none of these. */
static bool rewrite(struct preparing *p, uint8_t op)
{
	uint64_t n;

	switch (op) {
	case DW_OP_addr:
		cp_buf_u8(&p->out, DW_OP_addr);
		n = p->unit->address_size == 8 ? cp_cursor_u64(&p->c) : cp_cursor_u32(&p->c);
		cp_buf_u64(&p->out, n);
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		cp_buf_u8(&p->out, DW_OP_addr);
		cp_buf_u64(&p->out, cp_cursor_addrx(p->unit, &p->c));
		return true;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		put_indexed(p);
		return true;
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		put_constant(p);
		return true;
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		cp_buf_u8(&p->out, DW_OP_bregx);
		cp_buf_uleb(&p->out, cp_cursor_uleb(&p->c));
		cp_buf_u8(&p->out, 0);
		put_converted(p, cp_cursor_uleb(&p->c));
		return true;
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		cp_buf_u8(&p->out, DW_OP_deref_size);
		cp_buf_u8(&p->out, cp_cursor_u8(&p->c));
		put_converted(p, cp_cursor_uleb(&p->c));
		return true;
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		put_converted(p, cp_cursor_uleb(&p->c));
		return true;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		put_entry_value(p);
		return true;
	case DW_OP_GNU_parameter_ref:
		put_passed(p);
		return true;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		put_implied(p);
		return true;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		cp_buf_u8(&p->out, DW_OP_form_tls_address);
		return true;
	default:
		return false;
	}
}

/* Passes over the operands of those that stay as they are. */
static void operands(struct preparing *p, uint8_t op)
{
	struct cp_cursor *c = &p->c;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		cp_cursor_sleb(c);
		return;
	}
	switch (op) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_pick:
	case DW_OP_deref_size:
	case DW_OP_xderef_size:
		cp_cursor_u8(c);
		break;
	case DW_OP_skip:
	case DW_OP_bra:
		p->jumps = true;
		cp_cursor_u16(c);
		break;
	case DW_OP_const2u:
	case DW_OP_const2s:
		cp_cursor_u16(c);
		break;
	case DW_OP_const4u:
	case DW_OP_const4s:
		cp_cursor_u32(c);
		break;
	case DW_OP_const8u:
	case DW_OP_const8s:
		cp_cursor_u64(c);
		break;
	case DW_OP_constu:
	case DW_OP_consts:
	case DW_OP_plus_uconst:
	case DW_OP_regx:
	case DW_OP_fbreg:
	case DW_OP_piece:
		cp_cursor_uleb(c);
		break;
	case DW_OP_bregx:
	case DW_OP_bit_piece:
		cp_cursor_uleb(c);
		cp_cursor_uleb(c);
		break;
	case DW_OP_implicit_value:
		cp_cursor_bytes(c, cp_cursor_uleb(c));
		break;
	default:
		/* An operation without operands; others are not understood. */
		if (op < DW_OP_dup && op != DW_OP_deref)
			c->bad = true;
		else if (op > DW_OP_bregx && op != DW_OP_nop && op != DW_OP_call_frame_cfa &&
			 op != DW_OP_stack_value && op != DW_OP_GNU_uninit)
			c->bad = true;
	}
}

static bool prepare(struct preparing *p)
{
	const uint8_t *begin;
	uint8_t op;

	while (cp_cursor_left(&p->c) && !p->c.bad && p->out.size < MAX_EXPR) {
		begin = p->c.at;
		op = cp_cursor_u8(&p->c);
		if (rewrite(p, op)) {
			p->changed = p->changed || op != DW_OP_addr;
			continue;
		}
		operands(p, op);
		if (!p->c.bad)
			cp_buf_add(&p->out, begin, (size_t)(p->c.at - begin));
	}
	return !p->c.bad && !p->out.failed && !(p->changed && p->jumps);
}

/* An expression that makes no sense is empty: the variable is nowhere. */
static void keep(struct cp_unit *unit, struct cp_arena *arena, const uint8_t *bytes, uint64_t size,
		 struct cp_location *ret)
{
	struct preparing p = { .unit = unit, .c = cp_cursor(bytes, size) };

	ret->expr = NULL;
	ret->size = 0;
	if (size <= MAX_EXPR && prepare(&p) && p.out.size) {
		ret->expr = (const uint8_t *)cp_arena_copy(arena, p.out.bytes, p.out.size);
		ret->size = ret->expr ? (uint32_t)p.out.size : 0;
	}
	cp_buf_free(&p.out);
}

/* ---- lists ---- */

struct list {
	struct cp_unit *unit;
	struct cp_arena *arena;
	struct cp_list at;
	CP_VEC(struct cp_location) entries;
};

/* The location of a range comes next. */
static bool add_entry(struct list *l, uint64_t low, uint64_t high)
{
	struct cp_cursor *c = &l->at.c;
	uint64_t size = l->unit->version < 5 ? cp_cursor_u16(c) : cp_cursor_uleb(c);
	struct cp_location entry = { .low = low, .high = high };
	const uint8_t *bytes;

	if (c->bad || size > cp_cursor_left(c))
		return false;
	bytes = cp_cursor_bytes(c, size);
	if (low >= high)
		return true;
	keep(l->unit, l->arena, bytes, size, &entry);
	return l->entries.count < MAX_ENTRIES && cp_vec_push(&l->entries, entry);
}

static bool list_offset(struct cp_unit *unit, const struct cp_attr *attr, uint64_t *ret)
{
	*ret = attr->u + unit->part->lists;
	if (attr->form == DW_FORM_loclistx)
		return cp_list_indexed(unit, unit->dwarf->loclists, unit->loclists_base, attr->u,
				       ret);
	return attr->form == DW_FORM_sec_offset ||
	       (unit->version < 4 && (attr->form == DW_FORM_data4 || attr->form == DW_FORM_data8));
}

/* More than any list takes; what is beyond is left out. */
#define WINDOW 65536

static void read_list(struct list *l, uint64_t offset)
{
	const struct cp_unit *own = l->unit->skeleton ? l->unit->skeleton : l->unit;
	struct cp_dwarf *in = l->unit->dwarf;
	struct cp_elf_section *section = l->unit->version < 5 ? in->loc : in->loclists;
	uint64_t total = cp_elf_length(in->elf, section), window, low, high;
	enum cp_list_more more = CP_LIST_NOTHING;
	const uint8_t *bytes;

	if (offset >= total)
		return;
	window = total - offset < WINDOW ? total - offset : WINDOW;
	bytes = cp_elf_need(in->elf, section, offset, window);
	if (!bytes)
		return;
	l->at = (struct cp_list){ .unit = l->unit,
				  .c = cp_cursor(bytes, window),
				  .base = own->low_pc,
				  .locations = true };
	while (more != CP_LIST_END && cp_dwarf_step(in, 4)) {
		more = cp_list_next(&l->at, &low, &high);
		if (more == CP_LIST_RANGE && !add_entry(l, low, high))
			break;
	}
}

struct cp_locations cp_unit_locations(struct cp_unit *unit, const struct cp_attr *attr,
				      struct cp_arena *arena)
{
	struct list l = { .unit = unit, .arena = arena };
	struct cp_locations ret = { 0 };
	struct cp_location *items;
	uint64_t offset;

	if (!attr->form)
		return ret;
	if (attr->block) {
		struct cp_location one = { .high = UINT64_MAX };

		keep(unit, arena, attr->block, attr->u, &one);
		if (!cp_vec_push(&l.entries, one))
			return ret;
	} else if (list_offset(unit, attr, &offset)) {
		read_list(&l, offset);
	}
	items = cp_arena_array(arena, l.entries.count, sizeof(*items));
	if (items && l.entries.count) {
		memcpy(items, l.entries.items, l.entries.count * sizeof(*items));
		ret = (struct cp_locations){ items, (uint32_t)l.entries.count };
	}
	cp_vec_free(&l.entries);
	return ret;
}
