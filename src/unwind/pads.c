/* SPDX-License-Identifier: MIT */
#include "unwind/pads.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "unwind/cfi.h"
#include "unwind/dwarf.h"
#include "unwind/lsda.h"

/* Bytes of tables. All tables of a program of 400 MB have 20 million. */
#define BUDGET (UINT64_C(256) << 20)

struct pads {
	const struct cp_arch *arch;
	const struct cp_reader *file;
	struct cp_cfi_source source;
	struct cp_cfi_scratch scratch;
	uint64_t budget;
	struct cp_map cies; /* address -> struct cp_cie *, NULL: its functions have no LSDA */
	CP_VEC(uint64_t) list; /* of pads alone, or of */
	CP_VEC(struct cp_lsda_landing) landings;
	bool with_calls;
};

static void destroy_cie(struct cp_cie *cie)
{
	if (cie)
		cp_cie_deinit(cie);
	free(cie);
}

/* The CIE at `at`, read once. False without memory. */
static bool get_cie(struct pads *p, uint64_t at, const struct cp_cie **ret)
{
	const uint64_t *known = cp_map_get(&p->cies, at);
	struct cp_cfi_entry entry;
	struct cp_cie *cie;

	if (known) {
		*ret = (const struct cp_cie *)(uintptr_t)*known;
		return true;
	}
	cie = calloc(1, sizeof(*cie));
	if (!cie)
		return false;
	if (!cp_cfi_read_entry(&p->source, at, &p->scratch, &entry) ||
	    !cp_cie_parse(&p->source, &entry, p->arch->nregs, cie)) {
		free(cie);
		cie = NULL;
	} else if (cie->lsda_encoding == DW_EH_PE_omit) {
		destroy_cie(cie);
		cie = NULL;
	}
	if (!cp_map_put(&p->cies, at, (uintptr_t)cie)) {
		destroy_cie(cie);
		return false;
	}
	*ret = cie;
	return true;
}

static bool add_pad(void *ctx, const struct cp_lsda_landing *landing)
{
	struct pads *p = ctx;

	return p->with_calls ? cp_vec_push(&p->landings, *landing)
			     : cp_vec_push(&p->list, landing->pad);
}

static bool add_all(struct pads *p)
{
	const struct cp_cie *cie;
	struct cp_cfi_entry entry;
	struct cp_fde fde;
	uint64_t at;

	for (at = p->source.start; at < p->source.end; at = entry.next) {
		if (!cp_cfi_read_entry(&p->source, at, &p->scratch, &entry))
			return true;
		if (entry.end || entry.is_cie)
			continue;
		if (!get_cie(p, entry.cie, &cie))
			return false;
		if (cie && cp_fde_parse(&p->source, &entry, cie, &fde) && fde.lsda &&
		    !cp_lsda_pads(p->file, fde.lsda, fde.start, &p->budget, add_pad, p))
			return false;
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Calls share pads. */
static void sort_once(struct pads *p)
{
	size_t i, kept = 0;

	if (p->list.count)
		qsort(p->list.items, p->list.count, sizeof(*p->list.items), by_address);
	for (i = 0; i < p->list.count; i++)
		if (!i || p->list.items[i] != p->list.items[kept - 1])
			p->list.items[kept++] = p->list.items[i];
	p->list.count = kept;
}

/* Fills the one list, or the other. */
static CP_ERROR read_all(struct pads *p, const struct cp_unwind_section *eh_frame)
{
	uint64_t key, value;
	size_t cursor = 0;
	bool ok;

	p->budget = BUDGET;
	p->source = (struct cp_cfi_source){ .bytes = eh_frame->bytes,
					    .start = eh_frame->addr.v,
					    .end = eh_frame->addr.v + eh_frame->size,
					    .high = UINT64_MAX };
	ok = p->source.end < p->source.start || add_all(p);
	while (cp_map_next(&p->cies, &cursor, &key, &value))
		destroy_cie((struct cp_cie *)(uintptr_t)value);
	cp_map_free(&p->cies);
	cp_cfi_scratch_free(&p->scratch);
	if (ok)
		return NULL;
	cp_vec_free(&p->list);
	cp_vec_free(&p->landings);
	return cp_error_nomem();
}

CP_ERROR cp_unwind_pads(const struct cp_arch *arch, const struct cp_unwind_section *eh_frame,
			const struct cp_reader *file, uint64_t **ret, size_t *count_ret)
{
	struct pads p = { .arch = arch, .file = file };

	CP_TRY(read_all(&p, eh_frame));
	sort_once(&p);
	*ret = p.list.items;
	*count_ret = p.list.count;
	return NULL;
}

static int by_call(const void *a, const void *b)
{
	const struct cp_lsda_landing *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

CP_ERROR cp_unwind_landings(const struct cp_arch *arch, const struct cp_unwind_section *eh_frame,
			    const struct cp_reader *file, struct cp_lsda_landing **ret,
			    size_t *count_ret)
{
	struct pads p = { .arch = arch, .file = file, .with_calls = true };

	CP_TRY(read_all(&p, eh_frame));
	cp_vec_sort(&p.landings, by_call);
	*ret = p.landings.items;
	*count_ret = p.landings.count;
	return NULL;
}
