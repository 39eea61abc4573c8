/* SPDX-License-Identifier: MIT
 *
 * Recordings of one image need not have the same functions (filters differ),
 * and where a debug file was missing they know no lines. But a function that
 * several have has the same blocks and branches in all, or the images are not
 * the same one. Of what else is said of it the most is taken: that with most
 * rows, and of those the greatest by its bytes, so that the order in which
 * recordings are merged makes no difference. Blocks that were cut in two by a fault in
 * some of them alone are cut in all (merge_cuts.c).
 */
#include "record/merge_coverage.h"

#include <stdlib.h>
#include <string.h>

#include "record/coverage_encode.h"
#include "record/coverage_tests.h"
#include "record/merge_cuts.h"

/* An image in one recording. */
struct entry {
	uint32_t image; /* number in the output */
	const struct cp_record_coverage *coverage;
	const struct cp_merge_from *from;
};

/* A function of an entry. */
struct member {
	const struct entry *entry;
	const struct cp_coverage_function *f;
	uint64_t address;
	size_t again; /* how many of its entry begin there, too, before it */
	struct cp_buf words; /* of one without code: what is said of it */
};

/* Counts of a part of the output. */
struct tally {
	uint32_t part; /* + 1; 0: of 0 and 1, of all others */
	uint32_t flags;
	CP_VEC(uint64_t) blocks, taken, passed;
};

struct cp_merged_image {
	struct cp_coverage_image c;
	struct cp_interner files;
	CP_VEC(const char *) paths;
	CP_VEC(struct cp_coverage_function) functions;
	CP_VEC(struct cp_coverage_block) blocks;
	CP_VEC(struct cp_coverage_row) rows;
	CP_VEC(struct cp_coverage_branch) branches;
	CP_VEC(struct cp_coverage_inline) inlines;
	CP_VEC(struct tally) tallies; /* by part */
	bool no_memory;
};

static bool ok(struct cp_merged_image *m, bool is)
{
	if (!is)
		m->no_memory = true;
	return is;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static const char *file_of(const struct cp_coverage_image *c, uint32_t n)
{
	return n < c->file_count ? c->files[n] : "";
}

/* ---- one function in words: all but its blocks and counts ---- */

static void add_text(struct cp_buf *out, const char *text)
{
	cp_buf_add(out, text, strlen(text) + 1);
}

static void put_words(const struct member *m, struct cp_buf *out)
{
	const struct cp_coverage_image *c = &m->entry->coverage->c;
	const struct cp_coverage_function *f = m->f;
	uint32_t i;

	add_text(out, f->name);
	add_text(out, f->linkage);
	add_text(out, file_of(c, f->file));
	cp_buf_u32(out, f->line);
	cp_buf_u32(out, f->flags);
	for (i = 0; i < f->row_count; i++) {
		const struct cp_coverage_row *row = &c->rows[f->first_row + i];

		cp_buf_u32(out, row->block - f->first_block);
		cp_buf_u32(out, row->line);
		cp_buf_u32(out, row->flags);
		add_text(out, file_of(c, row->file));
	}
	for (i = 0; i < f->branch_count; i++) {
		cp_buf_u32(out, c->branches[f->first_branch + i].line);
		add_text(out, file_of(c, c->branches[f->first_branch + i].file));
	}
	for (i = 0; i < f->inline_count; i++) {
		const struct cp_coverage_inline *in = &c->inlines[f->first_inline + i];

		cp_buf_u32(out, in->block - f->first_block);
		cp_buf_u32(out, in->line);
		add_text(out, in->name);
		add_text(out, file_of(c, in->file));
	}
}

static int compare_words(const struct cp_buf *a, const struct cp_buf *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	int c = size ? memcmp(a->bytes, b->bytes, size) : 0;

	return c ? c : order(a->size, b->size);
}

/* Functions by address; those without code, which have none, by their words. */
static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->address != b->address)
		return order(a->address, b->address);
	if (!a->f->block_count != !b->f->block_count)
		return a->f->block_count ? 1 : -1;
	if (a->f->block_count)
		return order(a->again, b->again);
	return compare_words(&a->words, &b->words);
}

static bool same_blocks(const struct member *a, const struct member *b)
{
	const struct cp_coverage_image *ca = &a->entry->coverage->c, *cb = &b->entry->coverage->c;
	uint32_t i;

	if (a->f->block_count != b->f->block_count)
		return false;
	for (i = 0; i < a->f->block_count; i++) {
		const struct cp_coverage_block *x = &ca->blocks[a->f->first_block + i];
		const struct cp_coverage_block *y = &cb->blocks[b->f->first_block + i];

		if (x->address != y->address || x->size != y->size)
			return false;
	}
	return true;
}

static bool same_branches(const struct member *a, const struct member *b)
{
	const struct cp_coverage_image *ca = &a->entry->coverage->c, *cb = &b->entry->coverage->c;
	uint32_t i;

	if (a->f->branch_count != b->f->branch_count || !a->f->block_count != !b->f->block_count ||
	    (a->f->block_count &&
	     ca->blocks[a->f->entry].address != cb->blocks[b->f->entry].address))
		return false;
	for (i = 0; i < a->f->branch_count; i++)
		if (ca->branches[a->f->first_branch + i].address !=
		    cb->branches[b->f->first_branch + i].address)
			return false;
	return true;
}

static struct cp_error *refuse(const struct member *a)
{
	const struct cp_record *r = a->entry->from->record;
	const struct cp_record_image *image = cp_record_get_image(r, a->entry->coverage->c.image);
	struct cp_error *err =
		cp_error_new(CP_ERR_UNSUPPORTED, 0,
			     "the recordings have different code of %s at 0x%llx in %s%s%s%s",
			     a->f->name, (unsigned long long)a->address, image->path,
			     *image->build_id ? " (build-id " : "", image->build_id,
			     *image->build_id ? ")" : "");

	if (*image->build_id)
		return cp_error_hint(err, "it was read by different versions of cprof: record all "
					  "with one, or merge those of one version");
	return cp_error_hint(err, "it was built anew between them, and has no build-id to tell "
				  "builds apart: link it with -Wl,--build-id, or merge recordings "
				  "of one build");
}

/* ---- into the image ---- */

static uint32_t file_number(struct cp_merged_image *m, const char *path)
{
	uint32_t n = CP_RECORD_NONE;
	bool fresh = false;

	if (*path && ok(m, cp_intern(&m->files, path, strlen(path), &n, &fresh)) && fresh)
		ok(m, cp_vec_push(&m->paths, path));
	return n;
}

static void add_function(struct cp_merged_image *m, const struct cp_coverage_image *c,
			 struct cp_coverage_function f)
{
	uint32_t i, moved = (uint32_t)m->blocks.count - f.first_block;

	for (i = 0; i < f.block_count; i++)
		ok(m, cp_vec_push(&m->blocks, c->blocks[f.first_block + i]));
	f.first_block += moved;
	f.entry += moved;
	for (i = 0; i < f.row_count; i++) {
		struct cp_coverage_row row = c->rows[f.first_row + i];

		row.block += moved;
		row.file = file_number(m, file_of(c, row.file));
		ok(m, cp_vec_push(&m->rows, row));
	}
	f.first_row = (uint32_t)m->rows.count - f.row_count;
	for (i = 0; i < f.branch_count; i++) {
		struct cp_coverage_branch b = c->branches[f.first_branch + i];

		b.block += moved;
		b.file = file_number(m, file_of(c, b.file));
		ok(m, cp_vec_push(&m->branches, b));
	}
	f.first_branch = (uint32_t)m->branches.count - f.branch_count;
	for (i = 0; i < f.inline_count; i++) {
		struct cp_coverage_inline in = c->inlines[f.first_inline + i];

		in.block += moved;
		in.file = file_number(m, file_of(c, in.file));
		ok(m, cp_vec_push(&m->inlines, in));
	}
	f.first_inline = (uint32_t)m->inlines.count - f.inline_count;
	f.file = file_number(m, file_of(c, f.file));
	ok(m, cp_vec_push(&m->functions, f));
}

/* ---- counts ---- */

/* The part of the output that counts go to, + 1; 0: with all others of 0 and
 * 1 that no test is named of; CP_RECORD_NONE: nowhere. */
static uint32_t part_of(const struct entry *e, const struct cp_record_counts *counts)
{
	if (!(counts->flags & CP_COVERAGE_COUNTED) &&
	    !*cp_record_test(e->from->record, counts->part))
		return 0;
	if (!counts->part || counts->part > e->from->part_count ||
	    !e->from->parts[counts->part - 1])
		return CP_RECORD_NONE;
	return e->from->parts[counts->part - 1];
}

static int compare_tallies(const void *pa, const void *pb)
{
	const struct tally *a = pa, *b = pb;

	return order(a->part, b->part);
}

/* The tally of a part; they are kept sorted. */
static struct tally *tally_of(struct cp_merged_image *m, uint32_t part)
{
	const struct tally wanted = { .part = part };

	if (!m->tallies.count)
		return NULL;
	return bsearch(&wanted, m->tallies.items, m->tallies.count, sizeof(wanted),
		       compare_tallies);
}

static void add_tally(struct cp_merged_image *m, uint32_t part, uint32_t flags)
{
	struct tally *t = tally_of(m, part);

	if (t) {
		t->flags &= flags;
		return;
	}
	if (ok(m, cp_vec_push(&m->tallies, (struct tally){ .part = part, .flags = flags })))
		qsort(m->tallies.items, m->tallies.count, sizeof(*m->tallies.items),
		      compare_tallies);
}

static void make_tallies(struct cp_merged_image *m, const struct entry *entries, size_t count)
{
	const struct cp_record_counts *counts;
	uint32_t part;
	size_t i;

	for (i = 0; i < count; i++) {
		cp_vec_for_each(&entries[i].coverage->counts, counts) {
			part = part_of(&entries[i], counts);
			if (part != CP_RECORD_NONE)
				add_tally(m, part, counts->flags);
		}
	}
}

/* Room for the counts of the function added last. */
static void grow_tallies(struct cp_merged_image *m)
{
	struct tally *t;

	cp_vec_for_each(&m->tallies, t) {
		while (t->blocks.count < m->blocks.count)
			if (!ok(m, cp_vec_push(&t->blocks, CP_COVER_ABSENT)))
				return;
		while (t->taken.count < m->branches.count)
			if (!ok(m, cp_vec_push(&t->taken, CP_COVER_ABSENT)) ||
			    !ok(m, cp_vec_push(&t->passed, CP_COVER_ABSENT)))
				return;
	}
}

static bool is_executed(uint64_t count)
{
	return count && count != CP_COVERAGE_UNKNOWN && count != CP_COVER_ABSENT;
}

/* Exact counts, and those of a test, come from one recording each; those that are not exact
 * are 0 or 1. */
static void add_count(uint64_t *to, uint64_t count, const struct tally *t)
{
	if (count == CP_COVER_ABSENT)
		return;
	if (!(t->flags & CP_COVERAGE_COUNTED) && is_executed(count))
		count = 1;
	*to = *to == CP_COVER_ABSENT ? count : cp_coverage_add(*to, count);
	if (!(t->flags & CP_COVERAGE_COUNTED) && is_executed(*to))
		*to = 1;
}

/* The count of the block that has the n-th one of the function added last. */
static uint64_t count_of(const struct cp_merged_image *m, const struct member *from,
			 const uint64_t *values, uint32_t n)
{
	const struct cp_coverage_function *to = &m->functions.items[m->functions.count - 1];
	const struct cp_cut_function cut = { &from->entry->coverage->c, from->f };

	if (to->block_count != from->f->block_count)
		n = cp_cuts_block(&cut, m->blocks.items[to->first_block + n].address);
	return n < from->f->block_count ? values[from->f->first_block + n] : CP_COVER_ABSENT;
}

static void add_counts(struct cp_merged_image *m, const struct member *from)
{
	const struct cp_record_coverage *c = from->entry->coverage;
	const struct cp_coverage_function *to = &m->functions.items[m->functions.count - 1];
	const struct cp_record_counts *counts;
	uint32_t part, i;
	struct tally *t;

	cp_vec_for_each(&c->counts, counts) {
		const uint64_t *taken = counts->values + c->c.block_count + from->f->first_branch;
		const uint64_t *passed = taken + c->c.branch_count;

		part = part_of(from->entry, counts);
		t = part == CP_RECORD_NONE ? NULL : tally_of(m, part);
		if (!t)
			continue;
		for (i = 0; i < to->block_count; i++)
			add_count(&t->blocks.items[to->first_block + i],
				  count_of(m, from, counts->values, i), t);
		for (i = 0; i < to->branch_count; i++) {
			add_count(&t->taken.items[to->first_branch + i], taken[i], t);
			add_count(&t->passed.items[to->first_branch + i], passed[i], t);
		}
	}
}

/* ---- images ---- */

struct members {
	CP_VEC(struct member) items;
};

/* Does member `a` tell more of the function than `b`? */
static bool says_more(struct cp_merged_image *m, const struct member *a, const struct member *b)
{
	struct cp_buf x = { 0 }, y = { 0 };
	bool more;

	if (a->f->row_count != b->f->row_count)
		return a->f->row_count > b->f->row_count;
	put_words(a, &x);
	put_words(b, &y);
	more = ok(m, !x.failed && !y.failed) && compare_words(&x, &y) > 0;
	cp_buf_free(&x);
	cp_buf_free(&y);
	return more;
}

/* Adds all[best] with the cuts of all members, of which some have none. */
static struct cp_error *add_cuts(struct cp_merged_image *m, const struct member *all, size_t count,
				 size_t best)
{
	struct cp_cut_function *cuts = calloc(count, sizeof(*cuts));
	struct cp_joined_cuts joined = { 0 };
	bool no_memory = !cuts, same;
	size_t i;

	for (i = 0; cuts && i < count; i++)
		cuts[i] = (struct cp_cut_function){ &all[i].entry->coverage->c, all[i].f };
	same = cuts && cp_cuts_join(cuts, count, best, &joined, &no_memory);
	if (same)
		add_function(m, &joined.c, joined.f);
	cp_cuts_free(&joined);
	free(cuts);
	return no_memory ? cp_error_nomem() : same ? NULL : refuse(all);
}

/* `count` members that are one function. */
static struct cp_error *join_function(struct cp_merged_image *m, const struct member *all,
				      size_t count)
{
	bool cuts = false;
	size_t best = 0, i;

	for (i = 1; i < count; i++) {
		if (!same_branches(all, &all[i]))
			return refuse(all);
		cuts |= !same_blocks(all, &all[i]);
		if (all->f->block_count && says_more(m, &all[i], &all[best]))
			best = i;
	}
	if (cuts)
		CP_TRY(add_cuts(m, all, count, best));
	else
		add_function(m, &all[best].entry->coverage->c, *all[best].f);
	grow_tallies(m);
	for (i = 0; i < count && !m->no_memory; i++)
		add_counts(m, &all[i]);
	return m->no_memory ? cp_error_nomem() : NULL;
}

static struct cp_error *join(struct cp_merged_image *m, const struct members *list)
{
	size_t n = list->items.count, i, end;
	struct member *all = list->items.items;

	if (n)
		qsort(all, n, sizeof(*all), compare_members);
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !compare_members(&all[i], &all[end]);)
			end++;
		CP_TRY(join_function(m, all + i, end - i));
	}
	return NULL;
}

static bool collect(struct members *list, const struct entry *e)
{
	const struct cp_coverage_image *c = &e->coverage->c;
	size_t i, again = 0;

	for (i = 0; i < c->function_count; i++) {
		struct member member = { e, &c->functions[i], c->functions[i].address, 0, { 0 } };

		again = i && c->functions[i - 1].address == member.address ? again + 1 : 0;
		member.again = again;
		if (!c->functions[i].block_count)
			put_words(&member, &member.words);
		if (member.words.failed || !cp_vec_push(&list->items, member)) {
			cp_buf_free(&member.words);
			return false;
		}
	}
	return true;
}

/* All entries of one image. */
static struct cp_error *merge_image(struct cp_merged_image *m, const struct entry *entries,
				    size_t count)
{
	struct members list = { 0 };
	struct cp_error *err = NULL;
	struct member *member;
	size_t i;

	m->c.image = entries->image;
	make_tallies(m, entries, count);
	for (i = 0; i < count && !err; i++) {
		uint64_t written = entries[i].coverage->c.written_ns;

		if (written && (!m->c.written_ns || written < m->c.written_ns))
			m->c.written_ns = written;
		if (!collect(&list, &entries[i]))
			err = cp_error_nomem();
	}
	if (!err)
		err = join(m, &list);
	cp_vec_for_each(&list.items, member)
		cp_buf_free(&member->words);
	cp_vec_free(&list.items);
	m->c.files = m->paths.items;
	m->c.file_count = m->paths.count;
	m->c.functions = m->functions.items;
	m->c.function_count = m->functions.count;
	m->c.blocks = m->blocks.items;
	m->c.block_count = m->blocks.count;
	m->c.rows = m->rows.items;
	m->c.row_count = m->rows.count;
	m->c.branches = m->branches.items;
	m->c.branch_count = m->branches.count;
	m->c.inlines = m->inlines.items;
	m->c.inline_count = m->inlines.count;
	return err;
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return order(a->image, b->image);
}

static struct cp_error *merge_images(const struct entry *entries, size_t count,
				     struct cp_merged_coverage *ret)
{
	struct cp_merged_image *m;
	size_t i, end;

	for (i = 0; i < count; i = end) {
		for (end = i; end < count && entries[end].image == entries[i].image;)
			end++;
		m = calloc(1, sizeof(*m));
		if (!m || !cp_vec_push(&ret->images, m)) {
			free(m);
			return cp_error_nomem();
		}
		CP_TRY(merge_image(m, entries + i, end - i));
	}
	return NULL;
}

CP_ERROR cp_merge_coverage(const struct cp_merge_from *from, size_t count,
			   struct cp_merged_coverage *ret)
{
	struct cp_error *err = NULL;
	CP_VEC(struct entry) entries = { 0 };
	size_t i, k;

	*ret = (struct cp_merged_coverage){ 0 };
	for (i = 0; i < count && !err; i++) {
		for (k = 0; k < from[i].record->coverage.count && !err; k++) {
			const struct cp_record_coverage *c = &from[i].record->coverage.items[k];

			if (!cp_vec_push(&entries,
					 (struct entry){ from[i].images[c->c.image], c, &from[i] }))
				err = cp_error_nomem();
		}
	}
	if (!err && entries.count) {
		qsort(entries.items, entries.count, sizeof(*entries.items), compare_entries);
		err = merge_images(entries.items, entries.count, ret);
	}
	cp_vec_free(&entries);
	return err;
}

/* The image with the counts of one part. */
static void write_counts(struct cp_merged_image *m, const struct tally *t,
			 struct cp_record_encoder *e)
{
	size_t i;

	for (i = 0; i < m->blocks.count; i++)
		m->blocks.items[i].count = t->blocks.items[i];
	for (i = 0; i < m->branches.count; i++) {
		m->branches.items[i].taken = t->taken.items[i];
		m->branches.items[i].passed = t->passed.items[i];
	}
	m->c.flags = t->flags;
	cp_record_encode_counts(e, t->part, &m->c);
}

void cp_merged_coverage_write(struct cp_merged_coverage *m, struct cp_record_encoder *e)
{
	struct cp_merged_image **image;
	const struct tally *t;

	cp_vec_for_each(&m->images, image) {
		cp_record_encode_layout(e, &(*image)->c);
		cp_vec_for_each(&(*image)->tallies, t)
			write_counts(*image, t, e);
	}
}

void cp_merged_coverage_free(struct cp_merged_coverage *m)
{
	struct cp_merged_image **it;
	struct tally *t;

	cp_vec_for_each(&m->images, it) {
		struct cp_merged_image *image = *it;

		cp_vec_for_each(&image->tallies, t) {
			cp_vec_free(&t->blocks);
			cp_vec_free(&t->taken);
			cp_vec_free(&t->passed);
		}
		cp_vec_free(&image->tallies);
		cp_interner_free(&image->files);
		cp_vec_free(&image->paths);
		cp_vec_free(&image->functions);
		cp_vec_free(&image->blocks);
		cp_vec_free(&image->rows);
		cp_vec_free(&image->branches);
		cp_vec_free(&image->inlines);
		free(image);
	}
	cp_vec_free(&m->images);
}
