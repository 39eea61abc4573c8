/* SPDX-License-Identifier: MIT
 *
 * Names for the entries of procedure linkage tables. An entry jumps through a
 * slot of the global offset table, and a relocation says for which symbol the
 * dynamic linker fills that slot:
 *
 *     .plt.sec+0x20:  jmp *0x4018   .rela.plt: 0x4018 memcpy   -> "memcpy@plt"
 *
 * That holds for every layout: lazy (.plt), with branch tracking (.plt.sec),
 * bound at start (.plt.got), static programs (the relocation names the
 * resolver's address instead of a symbol). With branch tracking, the n-th
 * lazy stub in .plt has no slot of its own: it belongs to the n-th relocation.
 *
 * Where no stub has a name, calls go through the slot at once (-fno-plt): then
 * the slot has it.
 */
#include "image/plt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/map.h"
#include "image/got.h"

#define MAX_PLT (UINT64_C(1) << 20)
#define MAX_NAME 2048
#define STEP 4 /* entries and their first instructions lie at multiples of it */
#define MAX_ENTRY 32
#define LAZY_STUB 16
#define WORD 8

struct entry {
	uint64_t vaddr, size;
	char *name; /* owned by the table; NULL: not known yet */
	bool lazy; /* the way to the dynamic linker of an entry in .plt.sec */
	bool word; /* no entry: a slot that none jumps through */
	size_t next; /* another entry with the same resolver: its number + 1, or 0 */
};

struct plt {
	struct cp_elf *elf;
	struct cp_raw_symbols *raw;
	CP_VEC(struct entry) entries;
	struct cp_map by_slot; /* address of a slot -> entry */
	struct cp_map by_target; /* resolver's address -> last such entry, in static programs */
	CP_VEC(size_t) lazy; /* entries of .plt without a slot, in order */
	uint64_t start; /* of .plt, or 0 */
	size_t words; /* among the entries */
};

static const struct cp_arch *arch_of(const struct cp_elf *elf)
{
	if (elf->machine == cp_arch_x86_64.e_machine)
		return &cp_arch_x86_64;
	if (elf->machine == cp_arch_aarch64.e_machine)
		return &cp_arch_aarch64;
	return NULL;
}

/* Entries that jump through a slot. Where they begin and how long they are
 * differs (8, 16, 24 bytes; 20 or 32 before the first), so it is tried at each
 * possible instruction; the second instruction of an entry decodes as well. */
static bool collect(struct plt *p, const struct cp_arch *arch, const struct cp_elf_section *section,
		    const uint8_t *code, size_t size)
{
	struct entry e = { 0 }, *last = NULL;
	uint64_t slot, last_slot = 0;
	size_t at;

	for (at = 0; size - at >= STEP && at < size; at += STEP) {
		e.vaddr = section->vaddr + at;
		if (!arch->jump_slot(code + at, size - at, e.vaddr, &slot) ||
		    (last && slot == last_slot))
			continue;
		if (last)
			last->size = e.vaddr - last->vaddr < MAX_ENTRY ? e.vaddr - last->vaddr
								       : MAX_ENTRY;
		e.size = size - at < MAX_ENTRY ? size - at : MAX_ENTRY;
		if (!cp_map_put(&p->by_slot, slot, p->entries.count) ||
		    !cp_vec_push(&p->entries, e))
			return false;
		last = &p->entries.items[p->entries.count - 1];
		last_slot = slot;
	}
	return true;
}

/* The stubs of .plt that belong to the entries of .plt.sec. */
static bool collect_lazy(struct plt *p, const struct cp_elf_section *section, size_t size)
{
	struct entry e = { .size = LAZY_STUB, .lazy = true };
	size_t at;

	for (at = LAZY_STUB; size - at >= LAZY_STUB && at < size; at += LAZY_STUB) {
		e.vaddr = section->vaddr + at;
		if (!cp_vec_push(&p->lazy, p->entries.count) || !cp_vec_push(&p->entries, e))
			return false;
	}
	return true;
}

static bool collect_section(struct plt *p, const struct cp_arch *arch, const char *name)
{
	struct cp_elf_section *section = cp_elf_section(p->elf, name);
	const uint8_t *code = NULL;
	size_t size = 0;

	if (section && section->size <= MAX_PLT && section->type == SHT_PROGBITS &&
	    cp_elf_is_code(p->elf, section->vaddr) && section->vaddr < UINT64_MAX - MAX_PLT)
		code = cp_elf_load(p->elf, section, &size);
	if (!code)
		return true;
	if (!strcmp(name, ".plt")) {
		p->start = section->vaddr;
		if (cp_elf_section(p->elf, ".plt.sec"))
			return collect_lazy(p, section, size);
	}
	return collect(p, arch, section, code, size);
}

/* A cp_got_word_fn. */
static bool collect_word(void *ctx, const struct cp_got_word *word)
{
	struct entry e = { .vaddr = word->at.v, .size = WORD, .word = true };
	struct plt *p = ctx;

	if ((!word->elsewhere && !word->resolver.v) || cp_map_get(&p->by_slot, e.vaddr) ||
	    p->words++ >= MAX_PLT / WORD)
		return true;
	return cp_map_put(&p->by_slot, e.vaddr, p->entries.count) && cp_vec_push(&p->entries, e);
}

static bool name_entry(struct plt *p, size_t number, const char *target)
{
	size_t n = strnlen(target, MAX_NAME);
	char *name = malloc(n + sizeof("@plt"));

	if (!name)
		return false;
	memcpy(name, target, n);
	memcpy(name + n, "@plt", sizeof("@plt"));
	p->entries.items[number].name = cp_symbols_keep(p->raw->into, name, n + 4);
	free(name);
	return p->entries.items[number].name != NULL;
}

struct relocating {
	struct plt *p;
	bool by_index; /* the section's n-th relocation is of the n-th lazy stub */
};

/* Applies a relocation: its slot's entry gets the symbol's name, or waits for the
 * name of what is at the address. */
static bool apply(void *ctx, const struct cp_relocation *r)
{
	const struct relocating *relocating = ctx;
	struct plt *p = relocating->p;
	uint64_t *number = cp_map_get(&p->by_slot, r->at), *other;

	if (r->name && relocating->by_index && r->index < p->lazy.count &&
	    !name_entry(p, p->lazy.items[r->index], r->name))
		return false;
	if (!number || p->entries.items[*number].name)
		return true;
	if (r->name)
		return name_entry(p, *number, r->name);
	if (r->symbol)
		return true;
	other = cp_map_get(&p->by_target, r->addend);
	/* A relocation that comes twice would close a circle. */
	if (other && (*other == *number || p->entries.items[*number].next))
		return true;
	p->entries.items[*number].next = other ? *other + 1 : 0;
	return cp_map_put(&p->by_target, r->addend, *number);
}

/* .rela.plt before the others, which are large. */
static bool relocate_all(struct plt *p)
{
	struct relocating r = { .p = p };
	struct cp_elf_section *s;
	unsigned pass;
	size_t i;
	bool first;

	for (pass = 0; pass < 2; pass++) {
		for (i = 1; i < p->elf->section_count; i++) {
			s = &p->elf->sections[i];
			r.by_index = !strcmp(s->name, ".rela.plt");
			first = r.by_index || !strcmp(s->name, ".rela.iplt");
			if (first == !pass && !cp_elf_each_relocation(p->elf, s, apply, &r))
				return false;
		}
	}
	return true;
}

/* Gives the name to every entry with that resolver; to a slot only if it is one,
 * for those of functions of the file's own look alike. */
static bool name_entries(struct plt *p, size_t number, const char *name, bool resolver)
{
	/* A name that is there already ends a chain that a broken file closed. */
	while (!p->entries.items[number].name) {
		if ((resolver || !p->entries.items[number].word) && !name_entry(p, number, name))
			return false;
		if (!p->entries.items[number].next)
			break;
		number = p->entries.items[number].next - 1;
	}
	return true;
}

/* Names of resolvers, out of the symbols known so far: the best of each. */
static bool name_by_target(struct plt *p)
{
	const struct cp_raw_symbol *list = p->raw->list.items;
	struct cp_map best = { 0 }; /* first entry -> symbol */
	struct cp_map resolvers = { 0 }; /* such entries */
	uint64_t *number, *known, key, value;
	size_t i, at = 0;
	bool ok = true;

	for (i = 0; ok && p->by_target.count && i < p->raw->list.count; i++) {
		number = cp_map_get(&p->by_target, list[i].s.start.v);
		known = number ? cp_map_get(&best, *number) : NULL;
		if (number && (!known || list[i].rank < list[*known].rank))
			ok = cp_map_put(&best, *number, i);
		if (ok && number && list[i].s.kind == CP_SYMBOL_IFUNC)
			ok = cp_map_put(&resolvers, *number, 1);
	}
	while (ok && cp_map_next(&best, &at, &key, &value))
		ok = name_entries(p, key, list[value].s.name, cp_map_get(&resolvers, key) != NULL);
	cp_map_free(&best);
	cp_map_free(&resolvers);
	return ok;
}

/* Slots, of which those count whose name nothing else has. */
static bool add_words(struct plt *p)
{
	struct cp_map names = { 0 }; /* their hashes */
	const struct entry *e;
	unsigned pass;
	bool ok = true;

	for (pass = 0; pass < 2; pass++) {
		cp_vec_for_each(&p->entries, e) {
			const struct cp_symbol s = { .name = e->name,
						     .start = { e->vaddr },
						     .size = e->size,
						     .kind = CP_SYMBOL_SLOT };
			uint64_t hash;

			if (!e->name || e->lazy || e->word != pass)
				continue;
			hash = cp_hash_bytes(e->name, strlen(e->name));
			if (pass && !cp_map_get(&names, hash))
				ok = ok && cp_symbols_push(p->raw, &s, 0, 0);
			ok = ok && cp_map_put(&names, hash, 1);
		}
	}
	cp_map_free(&names);
	return ok;
}

static bool add_symbol(struct plt *p, const char *name, uint64_t start, uint64_t size, bool part)
{
	const struct cp_symbol s = {
		.name = name, .start = { start }, .size = size, .kind = CP_SYMBOL_PLT, .part = part
	};

	return !cp_elf_is_code(p->elf, start + size - 1) || cp_symbols_push(p->raw, &s, 0, 0);
}

/* Adds the entries that have got a name, and the code before the first entry of
 * .plt, which calls the dynamic linker. */
static bool add_entries(struct plt *p)
{
	uint64_t first = UINT64_MAX;
	const struct entry *e;

	cp_vec_for_each(&p->entries, e) {
		if (!e->name || e->word)
			continue;
		if (e->vaddr >= p->start && e->vaddr < first)
			first = e->vaddr;
		if (!add_symbol(p, e->name, e->vaddr, e->size, e->lazy))
			return false;
	}
	if (!p->start || first <= p->start || first - p->start > 2 * MAX_ENTRY)
		return true;
	return add_symbol(p, ".plt", p->start, first - p->start, true);
}

bool cp_symbols_add_plt(struct cp_elf *elf, struct cp_raw_symbols *raw)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	const struct cp_arch *arch = arch_of(elf);
	struct plt p = { .elf = elf, .raw = raw };
	bool ok = true;
	size_t i;

	for (i = 0; arch && ok && i < CP_ARRAY_SIZE(names); i++)
		ok = collect_section(&p, arch, names[i]);
	ok = ok && cp_elf_got(elf, collect_word, &p);
	ok = ok && (!p.entries.count || relocate_all(&p)) && name_by_target(&p) &&
	     add_entries(&p) && add_words(&p);
	cp_vec_free(&p.entries);
	cp_vec_free(&p.lazy);
	cp_map_free(&p.by_slot);
	cp_map_free(&p.by_target);
	return ok;
}
