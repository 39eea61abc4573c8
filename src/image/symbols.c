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
#include "image/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "image/debugfile.h"
#include "image/dynamic.h"
#include "image/functions.h"
#include "image/plt.h"

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
	       !strncmp(x->s.name, y->s.name, CP_SYMBOL_NAME_MAX);
}

/* Sorts; what is in order up to a place stays so, and the rest is merged into it. */
static void sort(struct cp_raw_symbol *items, size_t count)
{
	struct cp_raw_symbol *rest;
	size_t sorted, more, to = count;

	for (sorted = 1; sorted < count; sorted++)
		if (by_address(&items[sorted - 1], &items[sorted]) > 0)
			break;
	if (sorted >= count)
		return;
	more = count - sorted;
	rest = malloc(more * sizeof(*rest));
	if (!rest) {
		qsort(items, count, sizeof(*items), by_address);
		return;
	}
	memcpy(rest, items + sorted, more * sizeof(*rest));
	qsort(rest, more, sizeof(*rest), by_address);
	while (more) {
		bool first = sorted && by_address(&items[sorted - 1], &rest[more - 1]) > 0;

		items[--to] = first ? items[--sorted] : rest[--more];
	}
	free(rest);
}

/* Sorts, and drops what is in two tables. */
static void tidy(struct cp_raw_symbols *raw)
{
	struct cp_raw_symbol *items = raw->list.items;
	size_t i, n = 0;

	sort(items, raw->list.count);
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

/* Makes spans of the symbols: later starts win, because they are inside; then better
 * names. */
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

static bool is_same_name(const char *a, const char *b)
{
	return !strncmp(a, b, CP_SYMBOL_NAME_MAX);
}

const char *cp_symbols_best_name(struct cp_image *image, struct cp_vaddr at, const char *name)
{
	const struct cp_symbols *table = symbols(image);
	const struct cp_span *span = table ? cp_spans_find(&table->spans, at.v) : NULL;
	const struct cp_symbol *best = span ? &table->items[span->value] : NULL, *it;

	for (it = best; it && it < table->items + table->count && it->start.v == best->start.v;
	     it++)
		if (is_same_name(it->name, name))
			return best->name;
	return name;
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
