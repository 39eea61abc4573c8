/* SPDX-License-Identifier: MIT */
#include "report/profile/listing.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

/* ---- lines ---- */

static bool function_for(struct cp_listing *l, const char *name, const char *file,
			 uint32_t decl_line, uint32_t *ret)
{
	struct cp_listing_function f = { .file = file, .decl_line = decl_line };
	struct cp_buf key CP_CLEANUP(cp_buf_free) = { 0 };
	bool fresh;

	cp_buf_str(&key, name);
	cp_buf_u8(&key, 0);
	cp_buf_str(&key, file ? file : "");
	if (key.failed || !cp_intern(&l->names, key.bytes, key.size, ret, &fresh))
		return false;
	if (fresh) {
		f.name = l->names.items[*ret].bytes;
		f.file = file ? f.name + strlen(name) + 1 : NULL;
		return cp_vec_push(&l->functions, f);
	}
	if (!l->functions.items[*ret].decl_line)
		l->functions.items[*ret].decl_line = decl_line;
	return true;
}

static bool line_for(struct cp_listing *l, const char *name, uint32_t decl_line, const char *file,
		     uint32_t line, uint32_t *ret)
{
	struct cp_listing_line row = { .line = line };
	uint32_t key[2];
	bool fresh;

	if (!function_for(l, name, file, decl_line, &row.function))
		return false;
	key[0] = row.function;
	key[1] = line;
	if (!cp_intern(&l->keys, key, sizeof(key), ret, &fresh))
		return false;
	row.file = l->functions.items[row.function].file;
	return !fresh || (cp_vec_push(&l->lines, row) && cp_vec_push(&l->seen_lines, 0));
}

uint32_t cp_listing_line(struct cp_listing *l, const char *function, uint32_t decl_line,
			 const char *file, uint32_t line)
{
	struct cp_buf shown CP_CLEANUP(cp_buf_free) = { 0 };
	uint32_t number;

	if (file)
		cp_path_shorten(&shown, file); /* as the profile has it */
	if (shown.failed || !line_for(l, function, decl_line, shown.bytes, line, &number))
		return 0;
	l->lines.items[number].code = true;
	return number + 1;
}

/* ---- costs ---- */

struct adding {
	struct cp_listing *l;
	const struct cp_hit *hit;
	size_t number; /* of the hit, from 1 */
	bool leaf;
};

/* `place`: the line is noted to be of it; NULL: it is known. */
static CP_ERROR add_line(struct adding *a, const struct cp_frame *frame, bool innermost,
			 const struct cp_listing_place *place)
{
	const struct cp_profile *p = a->l->profile;
	const struct cp_function *f = &p->functions.items[frame->function];
	struct cp_listing_line *line;
	uint32_t n;

	if (!line_for(a->l, f->name, f->decl_line, frame->file, frame->line, &n))
		return cp_error_nomem();
	if (place && !cp_vec_push(&a->l->place_lines, n))
		return cp_error_nomem();
	line = &a->l->lines.items[n];
	if (a->l->seen_lines.items[n] != a->number)
		cp_cost_add(&line->total, &a->hit->cost);
	a->l->seen_lines.items[n] = a->number;
	if (a->leaf && innermost)
		cp_cost_add(&line->self, &a->hit->cost);
	return NULL;
}

static CP_ERROR add_address(struct adding *a, uint64_t address)
{
	struct cp_listing *l = a->l;
	struct cp_listing_address fresh = { .address = address }, *to;
	uint64_t *at = cp_map_get(&l->at, address);

	if (!at && (!cp_vec_push(&l->addresses, fresh) || !cp_vec_push(&l->seen_addresses, 0) ||
		    !cp_map_put(&l->at, address, l->addresses.count)))
		return cp_error_nomem();
	to = &l->addresses.items[(at ? *at : l->addresses.count) - 1];
	if (l->seen_addresses.items[to - l->addresses.items] != a->number)
		cp_cost_add(&to->total, &a->hit->cost);
	l->seen_addresses.items[to - l->addresses.items] = a->number;
	if (a->leaf)
		cp_cost_add(&to->self, &a->hit->cost);
	return NULL;
}

static bool push_once(struct cp_listing *l, uint32_t host)
{
	size_t i;

	for (i = 0; i < l->hosts.count; i++)
		if (l->hosts.items[i] == host)
			return true;
	return cp_vec_push(&l->hosts, host);
}

static bool push_start(struct cp_listing *l, uint64_t start)
{
	size_t i;

	for (i = 0; i < l->starts.count; i++)
		if (l->starts.items[i] == start)
			return true;
	return cp_vec_push(&l->starts, start);
}

/* Of several files with a function of that name the first one counts. */
static bool is_own(const struct cp_listing *l, const struct cp_record_location *loc)
{
	return loc->image != CP_RECORD_NONE &&
	       (l->image == CP_RECORD_NONE || l->image == loc->image);
}

/* Its own code: what the function is at the end of. Code of a file of the same name that
 * is another one is left to the lines. */
static CP_ERROR add_own(struct adding *a, const struct cp_record_location *loc)
{
	struct cp_listing *l = a->l;

	if (!is_own(l, loc))
		return NULL;
	l->image = loc->image;
	if (a->leaf)
		cp_cost_add(&l->own, &a->hit->cost);
	if (loc->function_start && !push_start(l, loc->function_start))
		return cp_error_nomem();
	return add_address(a, loc->address);
}

static CP_ERROR add_location(struct adding *a, uint32_t number)
{
	struct cp_listing *l = a->l;
	struct cp_listing_place place = { .location = number,
					  .first = (uint32_t)l->place_lines.count };
	bool fresh = !cp_map_get(&l->known, number);
	const struct cp_profile *p = l->profile;
	uint32_t first = p->location_frames[number], end = p->location_frames[number + 1], i, k;

	for (k = end; k > first && p->frames.items[k - 1].function != l->function; k--)
		;
	if (k == first)
		return NULL;
	for (i = first; i < k; i++)
		CP_TRY(add_line(a, &p->frames.items[i], i == first, fresh ? &place : NULL));
	place.count = (uint32_t)l->place_lines.count - place.first;
	place.own = k == end && is_own(l, cp_record_get_location(p->record, number));
	place.address = cp_record_get_location(p->record, number)->address;
	if (fresh && (!cp_map_put(&l->known, number, 1) || !cp_vec_push(&l->places, place)))
		return cp_error_nomem();
	if (k == end)
		return add_own(a, cp_record_get_location(p->record, number));
	if (!push_once(l, p->frames.items[end - 1].function))
		return cp_error_nomem();
	return NULL;
}

static CP_ERROR add_hit(struct cp_listing *l, size_t number)
{
	const struct cp_hit *hit = &l->profile->hits.items[number];
	const struct cp_record *r = l->profile->record;
	struct adding a = { .l = l, .hit = hit, .number = number + 1 };
	const uint32_t *locations;
	uint32_t flags;
	size_t count, i;

	if (hit->stack >= cp_record_stack_count(r))
		return NULL;
	locations = cp_record_get_stack(r, hit->stack, &count, &flags);
	for (i = 0; i < count; i++) {
		if (locations[i] >= cp_record_location_count(r))
			continue;
		a.leaf = i == 0;
		CP_TRY(add_location(&a, locations[i]));
	}
	return NULL;
}

static int by_address(const void *va, const void *vb)
{
	const struct cp_listing_address *a = va, *b = vb;

	return (a->address > b->address) - (a->address < b->address);
}

static int by_value(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

CP_ERROR cp_listing_create(const struct cp_profile *p, uint32_t function, struct cp_listing **ret)
{
	const struct cp_function *f = &p->functions.items[function];
	struct cp_listing *l = calloc(1, sizeof(*l));
	struct cp_error *err = NULL;
	uint32_t first;
	size_t i;

	if (!l)
		return cp_error_nomem();
	l->profile = p;
	l->function = function;
	l->image = CP_RECORD_NONE;
	if (!function_for(l, f->name, f->file, f->decl_line, &first))
		err = cp_error_nomem();
	for (i = 0; i < p->hits.count && !err; i++)
		err = add_hit(l, i);
	if (err) {
		cp_listing_destroy(l);
		return err;
	}
	cp_vec_sort(&l->addresses, by_address);
	cp_vec_sort(&l->starts, by_value);
	*ret = l;
	return NULL;
}

void cp_listing_destroy(struct cp_listing *l)
{
	if (!l)
		return;
	cp_vec_free(&l->starts);
	cp_vec_free(&l->addresses);
	cp_vec_free(&l->hosts);
	cp_vec_free(&l->functions);
	cp_vec_free(&l->lines);
	cp_vec_free(&l->insns);
	cp_vec_free(&l->places);
	cp_vec_free(&l->place_lines);
	cp_map_free(&l->known);
	cp_vec_free(&l->seen_lines);
	cp_vec_free(&l->seen_addresses);
	cp_interner_free(&l->names);
	cp_interner_free(&l->keys);
	cp_map_free(&l->at);
	cp_arena_free(&l->arena);
	free(l);
}

/* ---- instructions ---- */

uint32_t cp_listing_insn_at(const struct cp_listing *l, uint64_t address)
{
	size_t i = cp_vec_partition(&l->addresses, it, it->address < address);

	return i < l->addresses.count && l->addresses.items[i].address == address
		       ? l->addresses.items[i].insn
		       : 0;
}

bool cp_listing_add(struct cp_listing *l, const struct cp_listing_insn *insn, unsigned size)
{
	struct cp_listing_insn row = *insn;
	size_t i = cp_vec_partition(&l->addresses, it, it->address < insn->address);

	for (; i < l->addresses.count && l->addresses.items[i].address - insn->address < size;
	     i++) {
		cp_cost_add(&row.self, &l->addresses.items[i].self);
		cp_cost_add(&row.total, &l->addresses.items[i].total);
		l->addresses.items[i].insn = (uint32_t)l->insns.count + 1;
	}
	l->passed += !row.line;
	row.text = cp_arena_copy(&l->arena, insn->text, strlen(insn->text));
	return row.text && cp_vec_push(&l->insns, row);
}
