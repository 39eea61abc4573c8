/* SPDX-License-Identifier: MIT
 *
 * The symbol table of an image, made of every place that knows names:
 *
 *     .symtab        of the file, else of its separate debug file, else of
 *                    the mini debug information in .gnu_debugdata
 *     .dynsym        always: stripped libraries have nothing else
 *     PLT sections   named after the relocation that each entry jumps through
 *     .eh_frame      functions that nobody names, as fn_<hex>
 *
 * All names stay, sorted by address, the best name of an address first. For
 * lookups they are flattened: an inner symbol hides the outer one, a symbol
 * with a size hides bounds from .eh_frame, and those hide a label without a
 * size, which reaches up to the next symbol.
 *
 * The table is built under symbols_lock and never changes; lookups find it
 * through an atomic pointer and take no lock. A debug file that comes over the
 * network later makes a new table; the old one is kept for its names.
 */
#include "image/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/map.h"

#define MAX_SYMBOLS (UINT64_C(4) << 20) /* the largest browsers have 2 million */
#define NAME_BLOCK 65536
#define MAX_NAME 65536 /* longer ones are left out */

/* ---- names ---- */

char *cp_symbols_keep(struct cp_symbols *table, const char *text, size_t size)
{
	size_t block = size < NAME_BLOCK / 4 ? NAME_BLOCK : size + 1;
	char *copy;

	if (size >= table->names_left) {
		copy = malloc(block);
		if (!copy || !cp_vec_push(&table->owned, copy)) {
			free(copy);
			return NULL;
		}
		table->names = copy;
		table->names_left = block;
	}
	copy = table->names;
	table->names += size + 1;
	table->names_left -= size + 1;
	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}

bool cp_symbols_push(struct cp_raw_symbols *raw, const struct cp_symbol *s, uint32_t rank,
		     uint64_t limit)
{
	size_t hashed = strnlen(s->name, 256);

	return raw->list.count >= MAX_SYMBOLS ||
	       cp_vec_push(&raw->list,
			   (struct cp_raw_symbol){ *s, limit, rank,
						   (uint32_t)cp_hash_bytes(s->name, hashed) });
}

/* What a person would call it: functions before labels, a size before none,
 * few leading underscores, global before local, strong before weak, short. */
static uint32_t rank_of(const Elf64_Sym *sym, const char *name, size_t length)
{
	unsigned bind = ELF64_ST_BIND(sym->st_info);
	size_t underscores = 0;
	uint32_t rank = 0;

	while (underscores < 15 && name[underscores] == '_')
		underscores++;
	if (underscores && (name[underscores] == 'Z' || name[underscores] == 'R'))
		underscores--; /* mangled */
	if (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE)
		rank |= 1u << 31;
	if (!sym->st_size)
		rank |= 1u << 30;
	rank |= (uint32_t)underscores << 26;
	if (bind == STB_LOCAL)
		rank |= 1u << 25;
	if (bind == STB_WEAK)
		rank |= 1u << 24;
	return rank | (uint32_t)(length < 0xffffff ? length : 0xffffff);
}

/* ---- symbol tables ---- */

struct table {
	const struct cp_elf *elf; /* whose table it is */
	const struct cp_elf *image; /* whose addresses count */
	size_t budget; /* bytes of names that may still be looked at */
};

/* Of labels without a type only those count that are in code and that no
 * assembler made up ($x, .L1). */
static bool is_function(const struct table *t, const Elf64_Sym *sym, const char *name)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return sym->st_shndx < t->elf->section_count &&
		       (t->elf->sections[sym->st_shndx].flags & SHF_EXECINSTR) && name[0] != '$' &&
		       strncmp(name, ".L", 2) != 0;
	default:
		return false;
	}
}

static bool within(const struct cp_elf_section *s, uint64_t address)
{
	return address >= s->vaddr && address - s->vaddr < s->size;
}

/* In an object file a symbol has an offset in its section, which has an address
 * when it was made at run time; some who make it write an address at once. */
static uint64_t address_of(const struct table *t, const Elf64_Sym *sym)
{
	const struct cp_elf_section *s;

	if (t->elf->type != ET_REL || sym->st_shndx >= t->elf->section_count)
		return sym->st_value;
	s = &t->elf->sections[sym->st_shndx];
	if (within(s, sym->st_value) || sym->st_value >= s->size ||
	    s->vaddr > UINT64_MAX - sym->st_value)
		return sym->st_value;
	return s->vaddr + sym->st_value;
}

static uint64_t limit_of(const struct table *t, const Elf64_Sym *sym, uint64_t address)
{
	const struct cp_elf_section *s;
	const Elf64_Phdr *p;

	if (sym->st_shndx < t->elf->section_count) {
		s = &t->elf->sections[sym->st_shndx];
		if (within(s, address))
			return s->vaddr + s->size;
	}
	p = cp_elf_segment_at(t->image, address);
	return p ? p->p_vaddr + p->p_memsz : address;
}

static bool add_one(struct table *t, const Elf64_Sym *sym, const char *name,
		    struct cp_raw_symbols *raw)
{
	struct cp_symbol s = { .name = name,
			       .start = { address_of(t, sym) },
			       .size = sym->st_size,
			       .local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL };
	const char *version;
	size_t length;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
	    !cp_elf_is_code(t->image, s.start.v) || !name[0] || !is_function(t, sym, name))
		return true;
	/* Names may share their ends, but not again and again. */
	length = strnlen(s.name, MAX_NAME + 1);
	if (length > MAX_NAME || length > t->budget)
		return true;
	t->budget -= length;
	if (s.size > UINT64_MAX - s.start.v ||
	    !cp_elf_is_code(t->image, s.start.v + s.size - !!s.size))
		s.size = 0;
	s.kind =
		ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ? CP_SYMBOL_IFUNC : CP_SYMBOL_FUNCTION;
	version = memchr(s.name, '@', length);
	if (version && version > s.name) {
		length = (size_t)(version - s.name);
		s.name = cp_symbols_keep(raw->into, s.name, length);
		if (!s.name)
			return false;
	}
	return cp_symbols_push(raw, &s, rank_of(sym, s.name, length),
			       s.size ? 0 : limit_of(t, sym, s.start.v));
}

bool cp_symbols_add_list(const struct cp_elf *elf, const struct cp_elf *image,
			 const struct cp_elf_symbols *symbols, struct cp_raw_symbols *raw)
{
	struct table t = { elf, image, 2 * symbols->names_size + (16u << 20) };
	const char *name;
	Elf64_Sym sym;
	size_t i;

	for (i = 1; i < symbols->count && i < MAX_SYMBOLS; i++) {
		name = cp_elf_symbol(symbols, i, &sym);
		if (name && !add_one(&t, &sym, name, raw))
			return false;
	}
	return true;
}

static bool add_table(struct cp_elf *elf, const struct cp_elf *image,
		      const struct cp_elf_section *section, struct cp_raw_symbols *raw)
{
	struct cp_elf_symbols symbols;

	return !cp_elf_symbols(elf, section, &symbols) ||
	       cp_symbols_add_list(elf, image, &symbols, raw);
}

/* .symtab of the nearest file that has one. */
static bool add_static(struct cp_image *image, struct cp_raw_symbols *raw)
{
	struct cp_elf *elf = image->elf;

	if (!cp_elf_symbol_section(elf, SHT_SYMTAB))
		elf = cp_debug_file(image, false);
	if (!cp_elf_symbol_section(elf, SHT_SYMTAB))
		elf = raw->into->mini = cp_debug_mini(image->elf);
	if (!cp_elf_symbol_section(elf, SHT_SYMTAB))
		return true;
	return add_table(elf, image->elf, cp_elf_symbol_section(elf, SHT_SYMTAB), raw);
}

/* ---- the table ---- */

static int by_address(const void *a, const void *b)
{
	const struct cp_raw_symbol *x = a, *y = b;

	if (x->s.start.v != y->s.start.v)
		return x->s.start.v < y->s.start.v ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

static bool same_symbol(const struct cp_raw_symbol *x, const struct cp_raw_symbol *y)
{
	return x->s.start.v == y->s.start.v && x->hash == y->hash &&
	       !strncmp(x->s.name, y->s.name, MAX_NAME);
}

/* Sorts, and drops what is in two tables. */
static void tidy(struct cp_raw_symbols *raw)
{
	struct cp_raw_symbol *items = raw->list.items;
	size_t i, n = 0;

	for (i = 1; i < raw->list.count && by_address(&items[i - 1], &items[i]) <= 0; i++)
		;
	if (i < raw->list.count)
		qsort(items, raw->list.count, sizeof(*items), by_address);
	for (i = 0; i < raw->list.count; i++) {
		if (n && same_symbol(&items[n - 1], &items[i]))
			continue;
		items[n++] = items[i];
	}
	raw->list.count = n;
}

static unsigned strength(const struct cp_raw_symbol *sym)
{
	if (!sym->s.size)
		return 1;
	return sym->s.kind == CP_SYMBOL_UNWIND ? 2 : 3;
}

/* Later starts win, because they are inside; then better names. */
static bool flatten(const struct cp_raw_symbols *raw, struct cp_spans *ret)
{
	const struct cp_raw_symbol *items = raw->list.items;
	size_t count = raw->list.count, i, group = 0, next = 0;
	struct cp_span *spans = calloc(count + 1, sizeof(*spans));
	uint64_t end;
	bool ok;

	if (!spans)
		return false;
	for (i = 0; i < count; i++) {
		if (items[i].s.start.v != items[group].s.start.v)
			group = i;
		while (next < count && items[next].s.start.v <= items[i].s.start.v)
			next++;
		end = items[i].s.start.v + items[i].s.size;
		if (!items[i].s.size) {
			end = items[i].limit;
			if (next < count && items[next].s.start.v < end)
				end = items[next].s.start.v;
		}
		spans[i] = (struct cp_span){
			.start = items[i].s.start.v,
			.end = end,
			.priority = (uint64_t)strength(&items[i]) << 60 | (uint64_t)group << 24 |
				    (0xffffff - (i - group)),
			.value = (uint32_t)i,
		};
	}
	ok = cp_spans_build(spans, count, ret);
	free(spans);
	return ok;
}

static bool add_unnamed(struct cp_image *image, struct cp_raw_symbols *raw)
{
	size_t before = raw->list.count;
	struct cp_spans known = { 0 };
	bool ok;

	if (!flatten(raw, &known))
		return false;
	ok = cp_symbols_add_unwind(image->elf, &known, raw);
	cp_spans_free(&known);
	if (ok && raw->list.count != before)
		tidy(raw);
	return ok;
}

/* ---- how a program begins ---- */

#define START_MAX 64 /* bytes of _start that are looked at */

static const struct cp_arch *arch_of(const struct cp_elf *elf)
{
	return elf->machine == cp_arch_host()->e_machine ? cp_arch_host() : NULL;
}

static void name_unnamed(struct cp_raw_symbols *raw, uint64_t address, const char *name)
{
	struct cp_raw_symbol *it, *unnamed = NULL;

	cp_vec_for_each(&raw->list, it) {
		if (it->s.start.v != address)
			continue;
		if (it->s.kind != CP_SYMBOL_UNWIND)
			return;
		unnamed = it;
	}
	if (!unnamed)
		return;
	unnamed->s.name = name;
	unnamed->s.kind = CP_SYMBOL_FUNCTION;
}

/* A stripped program still says where it begins, and there, where main() is. */
static void name_start(const struct cp_image *image, struct cp_raw_symbols *raw)
{
	const struct cp_elf *elf = image->elf;
	const struct cp_arch *arch = arch_of(elf);
	const Elf64_Phdr *segment = elf->entry ? cp_elf_segment_at(elf, elf->entry) : NULL;
	uint8_t code[START_MAX];
	uint64_t main_at = 0;

	if (arch && arch->start_main && segment &&
	    cp_elf_read(elf, elf->entry - segment->p_vaddr + segment->p_offset, code, sizeof(code)))
		main_at = arch->start_main(code, sizeof(code), elf->entry);
	if (!main_at || !cp_elf_is_code(elf, main_at))
		return;
	name_unnamed(raw, elf->entry, "_start");
	name_unnamed(raw, main_at, "main");
}

static bool fill(struct cp_image *image, struct cp_raw_symbols *raw)
{
	const struct cp_elf_section *dynamic = cp_elf_symbol_section(image->elf, SHT_DYNSYM);
	struct cp_symbols *table = raw->into;
	size_t i;

	if (!add_static(image, raw) ||
	    !(dynamic ? add_table(image->elf, image->elf, dynamic, raw)
		      : cp_symbols_add_dynamic(image->elf, raw)) ||
	    !cp_symbols_add_plt(image->elf, raw))
		return false;
	tidy(raw);
	if (!add_unnamed(image, raw))
		return false;
	name_start(image, raw);
	if (!flatten(raw, &table->spans))
		return false;
	table->items = calloc(raw->list.count + 1, sizeof(*table->items));
	if (!table->items)
		return false;
	table->count = raw->list.count;
	for (i = 0; i < table->count; i++)
		table->items[i] = raw->list.items[i].s;
	return true;
}

static struct cp_symbols *build(struct cp_image *image)
{
	struct cp_symbols *table = calloc(1, sizeof(*table));
	struct cp_raw_symbols raw = { .into = table };
	bool ok;

	if (!table)
		return NULL;
	ok = fill(image, &raw);
	cp_vec_free(&raw.list);
	if (!ok) {
		cp_symbols_destroy(table);
		return NULL;
	}
	return table;
}

void cp_symbols_destroy(struct cp_symbols *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->owned.count; i++)
		free(table->owned.items[i]);
	cp_vec_free(&table->owned);
	cp_spans_free(&table->spans);
	cp_elf_destroy(table->mini);
	free(table->items);
	cp_symbols_destroy(table->older);
	free(table);
}

/* NULL only without memory. */
static const struct cp_symbols *symbols(struct cp_image *image)
{
	struct cp_symbols *table = atomic_load_explicit(&image->symbols, memory_order_acquire);
	struct cp_symbols *newer;

	if (table && !atomic_load_explicit(&image->symbols_stale, memory_order_relaxed))
		return table;
	pthread_mutex_lock(&image->symbols_lock);
	table = atomic_load_explicit(&image->symbols, memory_order_relaxed);
	if (!table || atomic_exchange(&image->symbols_stale, false)) {
		newer = build(image);
		if (newer) {
			newer->older = table;
			table = newer;
		}
		atomic_store_explicit(&image->symbols, table, memory_order_release);
	}
	pthread_mutex_unlock(&image->symbols_lock);
	return table;
}

bool cp_image_symbol(struct cp_image *image, struct cp_vaddr at, struct cp_symbol *ret)
{
	const struct cp_symbols *table = symbols(image);
	const struct cp_span *span = table ? cp_spans_find(&table->spans, at.v) : NULL;

	if (!span)
		return false;
	*ret = table->items[span->value];
	return true;
}

CP_ERROR cp_image_symbols(struct cp_image *image, const struct cp_symbol **ret, size_t *count_ret)
{
	const struct cp_symbols *table = symbols(image);

	if (!table)
		return cp_error_nomem();
	*ret = table->items;
	*count_ret = table->count;
	return NULL;
}
