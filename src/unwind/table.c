/* SPDX-License-Identifier: MIT
 *
 * One object's table. What is kept grows with what was asked:
 *
 *	pc ──► section ──► index ──► FDE ──► function: rows of (offset, rule)
 *	       .eh_frame    pages of           compiled at the first pc in it
 *	       (memory);    .eh_frame_hdr
 *	       file's       or a list
 *
 * A program of 100 MB that is sampled has some hundred functions compiled,
 * not its half a million.
 */
#include "unwind/table.h"
#include "base/map.h"
#include "unwind/dwarf.h"
#include "unwind/index.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define PHDRS_MAX 512
#define SEGMENTS_MAX 16
#define SECTIONS_MAX 4
#define COPY_MAX (UINT64_C(256) << 20) /* of a section */
#define PAGE_MASK UINT64_C(0xfff)

struct row {
	uint32_t offset; /* from the function's start */
	uint32_t rule; /* its number */
};

struct function {
	uint64_t start, end;
	size_t count;
	struct row rows[];
};

struct section {
	struct cp_cfi_source source; /* `memory` and `bias` are of the lookup under way */
	struct cp_index index;
	uint8_t *copy; /* owned: source.bytes, or NULL */
	struct cp_map cies; /* address -> struct cp_cie *, NULL: unusable */
	struct cp_map functions; /* FDE's address -> struct function *, NULL: unusable */
};

struct cp_table {
	const struct cp_arch *arch;
	uint64_t first, low, high;
	uint64_t hdr, hdr_end; /* .eh_frame_hdr and the end of its segment; 0: none */
	struct segment {
		uint64_t start, end, offset; /* in the file */
		unsigned flags; /* PF_* */
	} segments[SEGMENTS_MAX];
	size_t nsegments;
	bool opened; /* the section in memory was looked for */
	bool searched; /* and so was one without a header to find it by */
	bool asked; /* those of the file were asked for */
	struct section sections[SECTIONS_MAX];
	size_t count;
	struct cp_interner rules, exprs;
	struct cp_cfi_scratch fde_scratch, cie_scratch;
	CP_VEC(struct row) rows; /* of the function being compiled */
};

/* ---- the object ---- */

static void take_segment(struct cp_table *table, const Elf64_Phdr *ph, uint64_t *lowest_offset)
{
	if (ph->p_vaddr < table->low)
		table->low = ph->p_vaddr & ~PAGE_MASK;
	if (ph->p_vaddr + ph->p_memsz > table->high)
		table->high = ph->p_vaddr + ph->p_memsz;
	if (ph->p_offset < *lowest_offset) {
		*lowest_offset = ph->p_offset;
		table->first = ph->p_vaddr - ph->p_offset;
	}
	if (table->nsegments < SEGMENTS_MAX)
		table->segments[table->nsegments++] =
			(struct segment){ ph->p_vaddr, ph->p_vaddr + ph->p_memsz, ph->p_offset,
					  ph->p_flags };
}

static bool take_headers(struct cp_table *table, const Elf64_Phdr *ph, size_t count)
{
	uint64_t lowest_offset = UINT64_MAX;
	size_t i, j;

	table->low = UINT64_MAX;
	for (i = 0; i < count; i++) {
		if (ph[i].p_type == PT_LOAD)
			take_segment(table, &ph[i], &lowest_offset);
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			table->hdr = ph[i].p_vaddr;
	}
	for (j = 0; j < count; j++) {
		if (ph[j].p_type == PT_LOAD && table->hdr >= ph[j].p_vaddr &&
		    table->hdr - ph[j].p_vaddr < ph[j].p_memsz)
			table->hdr_end = ph[j].p_vaddr + ph[j].p_memsz;
	}
	/* The segment that is mapped from offset 0 tells where the others are. */
	return table->low < table->high && (lowest_offset & ~PAGE_MASK) == 0;
}

static bool read_headers(struct cp_table *table, const struct cp_reader *reader, uint64_t base)
{
	Elf64_Ehdr eh;
	Elf64_Phdr *ph;
	bool good;

	if (!cp_read_exact(reader, base, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh.e_machine != table->arch->e_machine || eh.e_phentsize != sizeof(*ph) ||
	    !eh.e_phnum || eh.e_phnum > PHDRS_MAX)
		return false;
	ph = calloc(eh.e_phnum, sizeof(*ph));
	if (!ph)
		return false;
	good = cp_read_exact(reader, base + eh.e_phoff, ph, eh.e_phnum * sizeof(*ph)) &&
	       take_headers(table, ph, eh.e_phnum);
	free(ph);
	return good;
}

struct cp_table *cp_table_create(const struct cp_arch *arch, const struct cp_reader *reader,
				 uint64_t base)
{
	struct cp_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->arch = arch;
	if (!read_headers(table, reader, base)) {
		free(table);
		return NULL;
	}
	return table;
}

static void section_deinit(struct section *section)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&section->cies, &cursor, &key, &value)) {
		if (value)
			cp_cie_deinit((struct cp_cie *)(uintptr_t)value);
		free((struct cp_cie *)(uintptr_t)value);
	}
	cursor = 0;
	while (cp_map_next(&section->functions, &cursor, &key, &value))
		free((struct function *)(uintptr_t)value);
	cp_map_free(&section->cies);
	cp_map_free(&section->functions);
	cp_index_free(&section->index);
	free(section->copy);
}

void cp_table_destroy(struct cp_table *table)
{
	if (!table)
		return;
	while (table->count)
		section_deinit(&table->sections[--table->count]);
	cp_interner_free(&table->rules);
	cp_interner_free(&table->exprs);
	cp_cfi_scratch_free(&table->fde_scratch);
	cp_cfi_scratch_free(&table->cie_scratch);
	cp_vec_free(&table->rows);
	free(table);
}

uint64_t cp_table_first(const struct cp_table *table)
{
	return table->first;
}

uint64_t cp_table_low(const struct cp_table *table)
{
	return table->low;
}

uint64_t cp_table_high(const struct cp_table *table)
{
	return table->high;
}

bool cp_table_maps(const struct cp_table *table, struct cp_vaddr at, uint64_t file_offset)
{
	size_t i;

	for (i = 0; i < table->nsegments; i++) {
		const struct segment *s = &table->segments[i];

		if (s->flags & PF_X && at.v >= (s->start & ~PAGE_MASK) &&
		    at.v < ((s->end + PAGE_MASK) & ~PAGE_MASK) &&
		    at.v - s->start + s->offset == file_offset)
			return true;
	}
	return false;
}

/* ---- rows become rules ---- */

/* The bytes, somewhere they stay; NULL without memory. */
static const uint8_t *keep_expr(struct cp_table *table, const uint8_t *expr, uint32_t size)
{
	uint32_t id;

	if (!cp_intern(&table->exprs, expr, size, &id, NULL))
		return NULL;
	return table->exprs.items[id].bytes;
}

static bool is_expr(enum cp_rule_kind kind)
{
	return kind == CP_RULE_EXPR || kind == CP_RULE_VAL_EXPR;
}

static bool add_reg(struct cp_table *table, struct cp_rule *rule, unsigned reg,
		    const struct cp_cfi_value *value)
{
	struct cp_rule_reg *r = &rule->regs[rule->count++];

	r->reg = (uint8_t)reg;
	r->kind = (uint8_t)value->kind;
	if (is_expr(value->kind)) {
		r->expr_size = value->expr_size;
		r->expr = keep_expr(table, value->expr, value->expr_size);
		return r->expr != NULL;
	}
	r->offset = value->offset;
	return value->kind != CP_RULE_REGISTER || (uint64_t)value->offset < table->arch->nregs;
}

static bool set_cfa(struct cp_table *table, struct cp_rule *rule, const struct cp_cfi_row *row)
{
	rule->cfa_reg = row->cfa_reg;
	if (row->cfa.kind == CP_RULE_OFFSET && row->cfa_reg != CP_CFI_NO_REG) {
		rule->cfa_offset = row->cfa.offset;
		return true;
	}
	if (row->cfa.kind != CP_RULE_VAL_EXPR)
		return false;
	rule->cfa_expr_size = row->cfa.expr_size;
	rule->cfa_expr = keep_expr(table, row->cfa.expr, row->cfa.expr_size);
	return rule->cfa_expr != NULL;
}

static bool is_simple(const struct cp_rule *rule)
{
	unsigned i;

	if (rule->cfa_reg == CP_CFI_NO_REG || rule->signal || rule->root || rule->ra_signed ||
	    !rule->count || rule->regs[0].reg != rule->ra_reg)
		return false;
	for (i = 0; i < rule->count; i++) {
		if (rule->regs[i].kind != CP_RULE_OFFSET)
			return false;
	}
	return true;
}

/* Notes a register's rule: in the list, or in the mask of those kept. */
static bool set_reg(struct cp_table *table, struct cp_rule *rule, unsigned reg,
		    const struct cp_cfi_value *value)
{
	uint64_t bit = UINT64_C(1) << reg;

	switch (value->kind) {
	case CP_RULE_UNSPECIFIED:
		return true;
	case CP_RULE_SAME:
		rule->keep |= bit;
		return true;
	case CP_RULE_UNDEFINED:
		rule->keep &= ~bit;
		rule->root |= reg == rule->ra_reg;
		return true;
	case CP_RULE_OFFSET:
	case CP_RULE_VAL_OFFSET:
	case CP_RULE_REGISTER:
	case CP_RULE_EXPR:
	case CP_RULE_VAL_EXPR:
		rule->keep &= ~bit;
		return add_reg(table, rule, reg, value);
	}
	return false;
}

/* False for rows that can't be a rule: no CFA. */
static bool intern_rule(struct cp_table *table, const struct cp_cie *cie,
			const struct cp_cfi_row *row, uint32_t *ret)
{
	/* Compared as bytes: padding included, so zeroed first. */
	union {
		struct cp_rule rule;
		uint8_t bytes[sizeof(struct cp_rule) + CP_REG_MAX * sizeof(struct cp_rule_reg)];
	} u;
	struct cp_rule *rule = &u.rule;
	unsigned i;

	memset(&u, 0, sizeof(u));
	rule->ra_reg = (uint8_t)cie->ra_reg;
	rule->signal = cie->signal;
	rule->ra_signed = row->ra_signed;
	rule->keep = table->arch->callee_saved;
	if (!set_reg(table, rule, cie->ra_reg, &row->regs[cie->ra_reg]))
		return false;
	for (i = 0; i < table->arch->nregs; i++) {
		if (i != cie->ra_reg && !set_reg(table, rule, i, &row->regs[i]))
			return false;
	}
	if (!set_cfa(table, rule, row) && !rule->root)
		return false;
	rule->simple = is_simple(rule);
	return cp_intern(&table->rules, &u,
			 sizeof(*rule) + rule->count * sizeof(struct cp_rule_reg), ret, NULL);
}

/* ---- functions ---- */

struct compile {
	struct cp_table *table;
	const struct cp_cie *cie;
	uint64_t start;
};

#define NO_RULE UINT32_MAX

static bool add_row(void *ctx, uint64_t from, const struct cp_cfi_row *row)
{
	const struct compile *compile = ctx;
	struct cp_table *table = compile->table;
	uint32_t rule;

	if (from - compile->start > UINT32_MAX)
		return false;
	if (!intern_rule(table, compile->cie, row, &rule))
		rule = NO_RULE;
	if (table->rows.count && table->rows.items[table->rows.count - 1].rule == rule)
		return true;
	return cp_vec_push(&table->rows, (struct row){ (uint32_t)(from - compile->start), rule });
}

static const struct cp_cie *get_cie(struct cp_table *table, struct section *section, uint64_t at)
{
	const uint64_t *known = cp_map_get(&section->cies, at);
	struct cp_cfi_entry entry;
	struct cp_cie *cie;

	if (known)
		return (const struct cp_cie *)(uintptr_t)*known;
	cie = calloc(1, sizeof(*cie));
	if (!cie)
		return NULL;
	if (!cp_cfi_read_entry(&section->source, at, &table->cie_scratch, &entry) ||
	    !cp_cie_parse(&section->source, &entry, table->arch->nregs, cie)) {
		free(cie);
		cie = NULL;
	}
	if (!cp_map_put(&section->cies, at, (uintptr_t)cie)) {
		if (cie)
			cp_cie_deinit(cie);
		free(cie);
		return NULL;
	}
	return cie;
}

static struct function *compile_function(struct cp_table *table, struct section *section,
					 uint64_t at)
{
	struct cp_cfi_entry entry;
	struct cp_fde fde;
	struct compile compile = { .table = table };
	struct function *f;
	size_t rows_size;

	if (!cp_cfi_read_entry(&section->source, at, &table->fde_scratch, &entry) || entry.end ||
	    entry.is_cie)
		return NULL;
	compile.cie = get_cie(table, section, entry.cie);
	if (!compile.cie || !cp_fde_parse(&section->source, &entry, compile.cie, &fde))
		return NULL;
	compile.start = fde.start;
	table->rows.count = 0;
	/* A program that breaks off still has good rows. */
	cp_cfi_run(&section->source, compile.cie, &fde, table->arch->nregs, add_row, &compile);
	rows_size = table->rows.count * sizeof(struct row);
	f = malloc(sizeof(*f) + rows_size);
	if (!f)
		return NULL;
	*f = (struct function){ fde.start, fde.end, table->rows.count };
	if (rows_size)
		memcpy(f->rows, table->rows.items, rows_size);
	return f;
}

static const struct function *get_function(struct cp_table *table, struct section *section,
					   uint64_t at)
{
	const uint64_t *known = cp_map_get(&section->functions, at);
	struct function *f;

	if (known)
		return (const struct function *)(uintptr_t)*known;
	f = compile_function(table, section, at);
	if (!cp_map_put(&section->functions, at, (uintptr_t)f)) {
		free(f);
		return NULL;
	}
	return f;
}

/* ---- sections ---- */

/* Lists the FDEs from `at` on of a section that has no table to search;
 * to_end: a zero length is padding, not the end. True when all of it made
 * sense. */
static bool list_fdes(struct cp_table *table, struct section *section, uint64_t at, bool to_end)
{
	struct cp_cfi_entry entry;
	const struct cp_cie *cie;
	struct cp_fde fde;
	bool sane = true;

	while (at < section->source.end) {
		sane = cp_cfi_read_entry(&section->source, at, &table->fde_scratch, &entry);
		if (!sane || (entry.end && !to_end))
			break;
		at = entry.next;
		if (entry.end || entry.is_cie)
			continue;
		cie = get_cie(table, section, entry.cie);
		if (!cie || !cp_fde_parse(&section->source, &entry, cie, &fde))
			continue;
		if (!cp_index_add(&section->index,
				  (struct cp_index_entry){ fde.start, fde.end, entry.at }))
			break;
	}
	cp_index_sort(&section->index);
	return sane;
}

/* Copies start ... end out of memory, to be the section's bytes. */
static bool copy_memory(struct section *section, uint64_t start, uint64_t end)
{
	struct cp_cfi_source *source = &section->source;

	if (start < source->start || start >= end || end > source->end || end - start > COPY_MAX)
		return false;
	section->copy = malloc(end - start);
	if (!section->copy)
		return false;
	source->end = start + cp_cfi_read(source, start, section->copy, end - start);
	source->start = start;
	source->bytes = section->copy;
	return true;
}

static struct cp_cfi_source memory_source(const struct cp_table *table,
					  const struct cp_table_memory *memory)
{
	return (struct cp_cfi_source){
		.memory = memory->reader,
		.bias = memory->bias,
		.start = table->low,
		.end = table->high,
		.low = table->low,
		.high = table->high,
	};
}

static void open_memory(struct cp_table *table, const struct cp_table_memory *memory)
{
	struct section *section = &table->sections[0];
	uint64_t eh_frame;

	table->opened = true;
	table->count = 1;
	section->source = memory_source(table, memory);
	if (!table->hdr)
		return;
	if (!cp_index_open_hdr(&section->index, &section->source, table->hdr, &eh_frame) &&
	    eh_frame && copy_memory(section, eh_frame, table->hdr_end))
		list_fdes(table, section, eh_frame, false);
}

bool cp_table_ask_files(struct cp_table *table)
{
	bool first = !table->asked;

	table->asked = true;
	return first;
}

void cp_table_add_section(struct cp_table *table, const struct cp_unwind_section *from)
{
	struct section *section;

	/* .eh_frame that can be searched in memory need not be listed again. */
	if (!table->opened || (!from->debug_frame && table->sections[0].index.pages))
		return;
	if (table->count == SECTIONS_MAX || !from->size || from->size > COPY_MAX ||
	    from->addr.v + from->size < from->addr.v)
		return;
	section = &table->sections[table->count];
	*section = (struct section){ .copy = malloc(from->size) };
	if (!section->copy)
		return;
	memcpy(section->copy, from->bytes, from->size);
	section->source = (struct cp_cfi_source){
		.bytes = section->copy,
		.start = from->addr.v,
		.end = from->addr.v + from->size,
		.low = table->low,
		.high = table->high,
		.debug_frame = from->debug_frame,
	};
	table->count++;
	list_fdes(table, section, section->source.start, true);
}

/* Could an .eh_frame begin here: with a CIE that GCC or LLVM wrote? */
static bool looks_like_cie(const uint8_t *p, size_t left)
{
	uint32_t length, id;

	if (left < 32)
		return false;
	memcpy(&length, p, 4);
	memcpy(&id, p + 4, 4);
	return length >= 12 && length < 256 && length % 4 == 0 && id == 0 && p[8] == 1 &&
	       p[9] == 'z' && p[10] != 0;
}

/* Searches a section's copy of memory for .eh_frame: entries that make sense
 * one after the other, of functions in this object, up to a zero length. */
static bool search_copy(struct cp_table *table, struct section *section)
{
	const struct cp_cfi_source *source = &section->source;
	struct cp_index *index = &section->index;
	uint64_t at;

	for (at = source->start; at < source->end; at += 4) {
		if (!looks_like_cie(section->copy + (at - source->start), source->end - at))
			continue;
		if (list_fdes(table, section, at, false) && index->list.count &&
		    index->list.items[0].start >= table->low &&
		    index->list.items[index->list.count - 1].end <= table->high)
			return true;
		cp_vec_free(&index->list);
	}
	return false;
}

void cp_table_search(struct cp_table *table, const struct cp_table_memory *memory)
{
	struct section *section = &table->sections[table->count];
	bool found = false;
	size_t i;

	if (table->searched || table->hdr || table->count != 1)
		return;
	table->searched = true;
	for (i = 0; i < table->nsegments && !found; i++) {
		const struct segment *s = &table->segments[i];

		*section = (struct section){ .source = memory_source(table, memory) };
		found = !(s->flags & PF_W) && copy_memory(section, s->start, s->end) &&
			search_copy(table, section);
		if (!found)
			section_deinit(section);
	}
	table->count += found;
}

/* ---- lookups ---- */

static const struct cp_rule *find_row(const struct cp_table *table, const struct function *f,
				      uint64_t pc)
{
	uint64_t offset = pc - f->start;
	size_t low = 0, high = f->count, middle;
	uint32_t rule;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->rows[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	rule = f->rows[low - 1].rule;
	return rule == NO_RULE ? NULL : table->rules.items[rule].bytes;
}

const struct cp_rule *cp_table_find(struct cp_table *table, const struct cp_table_memory *memory,
				    struct cp_vaddr pc, struct cp_vaddr *function_ret)
{
	const struct function *f;
	struct section *section;
	uint64_t fde;
	size_t i;

	if (!table->opened)
		open_memory(table, memory);
	for (i = 0; i < table->count; i++) {
		section = &table->sections[i];
		if (!section->copy) {
			section->source.memory = memory->reader;
			section->source.bias = memory->bias;
		}
		if (!cp_index_find(&section->index, &section->source, pc.v, &fde))
			continue;
		f = get_function(table, section, fde);
		if (!f || pc.v < f->start || pc.v >= f->end)
			continue;
		if (function_ret)
			function_ret->v = f->start;
		return find_row(table, f, pc.v);
	}
	return NULL;
}

bool cp_table_has_hdr(const struct cp_table *table)
{
	return table->hdr != 0;
}

bool cp_table_hdr(struct cp_table *table, const struct cp_table_memory *memory,
		  struct cp_table_hdr *ret)
{
	const struct cp_index *index = &table->sections[0].index;

	if (!table->opened)
		open_memory(table, memory);
	if (!index->pages || index->encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	*ret = (struct cp_table_hdr){ { index->hdr }, { index->entries }, index->count };
	return true;
}
