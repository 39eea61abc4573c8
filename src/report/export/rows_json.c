/* SPDX-License-Identifier: MIT
 *
 * Flat arrays, as those of the time line:
 *
 *     sets     each: how many, then spot * 2, + 1 where it is the stack's own
 *     lines    number, text or null, spot or -1; 0, null, how many are left out
 *     insns    address, text, file or -1, line, spot or -1, row of a jump's target or -1;
 *              "", "", -1, how many are left out, -1, -1
 */
#include "report/export/rows_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/export/rows_near.h"
#include "report/look/brief.h"
#include "report/look/source.h"
#include "report/look/table.h"
#include "report/profile/region.h"

struct writer {
	const struct cp_rows *rows;
	const struct cp_timeline *t;
	struct cp_sink *sink;
	struct cp_json j;
	struct cp_source source;
	struct cp_buf raw, shown;
	/* of the listing at work */
	const struct cp_listing *l;
	uint32_t number;
	int64_t *files; /* by function of the listing, the number of its file here; or -1 */
};

/* What steers a display is visible. */
static void put_text(struct writer *w, const char *key, const char *raw)
{
	cp_buf_clear(&w->shown);
	cp_add_name(&w->shown, raw ? raw : "");
	cp_json_str(&w->j, key, w->shown.bytes ? w->shown.bytes : "");
}

static int64_t spot_of(const struct writer *w, size_t row, bool insn)
{
	uint32_t spot = cp_spots_of(&w->rows->spots, w->number, (uint32_t)row, insn);

	return spot == CP_RECORD_NONE ? -1 : (int64_t)spot;
}

/* ---- lines ---- */

static void put_line(struct writer *w, const char *file, uint32_t number,
		     const struct cp_listing_line *line)
{
	cp_json_u64(&w->j, NULL, number);
	cp_buf_clear(&w->raw);
	if (file && cp_source_line_as_is(&w->source, file, number, &w->raw))
		put_text(w, NULL, w->raw.bytes);
	else
		cp_json_str(&w->j, NULL, NULL);
	cp_json_i64(&w->j, NULL, line ? spot_of(w, (size_t)(line - w->l->lines.items), false) : -1);
}

static void put_gap(struct writer *w, uint64_t *passed)
{
	if (*passed) {
		cp_json_u64(&w->j, NULL, 0);
		cp_json_null(&w->j, NULL);
		cp_json_u64(&w->j, NULL, *passed);
	}
	*passed = 0;
}

static void put_lines(struct writer *w, const struct cp_region *r, const char *file)
{
	uint64_t passed = 0;
	uint32_t number;
	size_t at = 0;

	cp_json_begin(&w->j, "lines", '[');
	for (number = r->first; number <= r->last && number - r->first < CP_ROWS_LINES; number++) {
		bool known = at < r->count && r->lines[at]->line == number;

		if (cp_region_is_near(r, number, CP_ROWS_CONTEXT)) {
			put_gap(w, &passed);
			put_line(w, file, number, known ? r->lines[at] : NULL);
		} else {
			passed++;
		}
		at += known;
	}
	put_gap(w, &passed);
	cp_json_end(&w->j, ']');
}

static void put_file(struct writer *w, uint32_t function, int64_t *count)
{
	const struct cp_listing_function *f = &w->l->functions.items[function];
	struct cp_region r;

	if (cp_region_of(w->l, function, &r) && r.hot) {
		cp_json_begin(&w->j, NULL, '{');
		put_text(w, "file", f->file ? f->file : "(unknown file)");
		put_text(w, "inlined", function ? f->name : "");
		put_lines(w, &r, f->file);
		cp_json_end(&w->j, '}');
		w->files[function] = (*count)++;
	}
	free(r.lines);
}

/* The function, then what is inlined into it, the hottest first. */
static void put_files(struct writer *w)
{
	const struct cp_listing *l = w->l;
	CP_FREE uint64_t *sums = calloc(l->functions.count + 1, sizeof(*sums));
	const struct cp_listing_line *line;
	int64_t count = 0;
	size_t i, k, best;

	cp_json_begin(&w->j, "files", '[');
	if (sums) {
		cp_vec_for_each(&l->lines, line)
			sums[line->function] += line->self.weight + 1;
		put_file(w, 0, &count);
		for (i = 1; i < l->functions.count; i++) {
			for (k = 1, best = 0; k < l->functions.count; k++)
				if (sums[k] && (!best || sums[k] > sums[best]))
					best = k;
			if (!best)
				break;
			put_file(w, (uint32_t)best, &count);
			sums[best] = 0;
		}
	}
	cp_json_end(&w->j, ']');
}

/* ---- instructions ---- */

static void put_insn(struct writer *w, const struct cp_listing_insn *insn, int64_t target)
{
	const struct cp_listing_line *line = insn->line ? &w->l->lines.items[insn->line - 1] : NULL;
	char address[24];

	snprintf(address, sizeof(address), "%" PRIx64, insn->address);
	cp_json_str(&w->j, NULL, address);
	put_text(w, NULL, insn->text);
	cp_json_i64(&w->j, NULL, line ? w->files[line->function] : -1);
	cp_json_u64(&w->j, NULL, line ? line->line : 0);
	cp_json_i64(&w->j, NULL, spot_of(w, (size_t)(insn - w->l->insns.items), true));
	cp_json_i64(&w->j, NULL, target);
}

static void put_insn_gap(struct writer *w, uint64_t passed)
{
	cp_json_str(&w->j, NULL, "");
	cp_json_str(&w->j, NULL, "");
	cp_json_i64(&w->j, NULL, -1);
	cp_json_u64(&w->j, NULL, passed);
	cp_json_i64(&w->j, NULL, -1);
	cp_json_i64(&w->j, NULL, -1);
}

/* The row of each instruction that is shown; -1: it is not. */
static int64_t *shown_rows(const struct cp_listing *l)
{
	int64_t *rows = calloc(l->insns.count + 1, sizeof(*rows)), next = 0;
	bool gap = false;
	size_t i;

	for (i = 0; rows && i < l->insns.count; i++) {
		bool near = cp_listing_insn_is_near(l, i, CP_ROWS_CONTEXT);

		next += near && gap; /* a row says what is left out */
		gap = !near;
		rows[i] = near ? next++ : -1;
	}
	return rows;
}

static int64_t target_row(const struct cp_map *at, const int64_t *rows,
			  const struct cp_listing_insn *insn)
{
	const uint64_t *number = insn->target ? cp_map_get(at, insn->target) : NULL;

	return number ? rows[*number] : -1;
}

static void put_insns(struct writer *w)
{
	const struct cp_listing *l = w->l;
	CP_FREE int64_t *rows = shown_rows(l);
	struct cp_map at CP_CLEANUP(cp_map_free) = { 0 };
	uint64_t passed = 0;
	size_t i;

	cp_json_begin(&w->j, "insns", '[');
	for (i = 0; i < l->insns.count; i++)
		cp_map_put(&at, l->insns.items[i].address, i); /* else a target is not told */
	for (i = 0; rows && i < l->insns.count; i++) {
		if (rows[i] < 0) {
			passed++;
			continue;
		}
		if (passed)
			put_insn_gap(w, passed);
		passed = 0;
		put_insn(w, &l->insns.items[i], target_row(&at, rows, &l->insns.items[i]));
	}
	if (passed)
		put_insn_gap(w, passed);
	cp_json_end(&w->j, ']');
}

/* ---- all of it ---- */

/* The number of the function's label on the time line; -1: none. */
static int64_t label_of(const struct cp_timeline *t, uint32_t function)
{
	size_t i;

	for (i = 0; i < t->labels.count; i++)
		if (t->labels.items[i].kind == CP_LABEL_FUNCTION &&
		    t->labels.items[i].ref == function)
			return (int64_t)i;
	return -1;
}

/* Functions that it is inlined into, by their numbers here. */
static void put_hosts(struct writer *w)
{
	const struct cp_spots *s = &w->rows->spots;
	size_t i, n;

	cp_json_begin(&w->j, "hosts", '[');
	for (i = 0; i < w->l->hosts.count; i++)
		for (n = 0; n < s->listings.count; n++)
			if (s->listings.items[n]->function == w->l->hosts.items[i])
				cp_json_u64(&w->j, NULL, n);
	cp_json_end(&w->j, ']');
}

static CP_ERROR put_function(struct writer *w, uint32_t number)
{
	const struct cp_listing *l = w->rows->spots.listings.items[number];
	const struct cp_function *f = &w->t->p->functions.items[l->function];
	CP_FREE int64_t *files = malloc((l->functions.count + 1) * sizeof(*files));
	size_t i;

	if (!files)
		return cp_error_nomem();
	for (i = 0; i < l->functions.count; i++)
		files[i] = -1;
	w->l = l;
	w->number = number;
	w->files = files;
	cp_json_begin(&w->j, NULL, '{');
	put_text(w, "name", f->name);
	cp_buf_clear(&w->raw);
	cp_brief_name(&w->raw, f->name);
	put_text(w, "brief", w->raw.bytes);
	put_text(w, "image", cp_profile_image_name(w->t->p, f));
	cp_json_i64(&w->j, "label", label_of(w->t, l->function));
	put_text(w, "why", w->rows->why.items[number]);
	put_hosts(w);
	put_files(w);
	put_insns(w);
	cp_json_end(&w->j, '}');
	cp_sink_spill(w->sink);
	w->files = NULL;
	return NULL;
}

static void put_sets(struct writer *w)
{
	const struct cp_spots *s = &w->rows->spots;
	size_t n, i;

	cp_json_begin(&w->j, "sets", '[');
	for (n = 0; n + 1 < s->sets.count; n++) {
		cp_json_u64(&w->j, NULL, s->sets.items[n + 1] - s->sets.items[n]);
		for (i = s->sets.items[n]; i < s->sets.items[n + 1]; i++)
			cp_json_u64(&w->j, NULL, s->codes.items[i]);
		cp_sink_spill(w->sink);
	}
	cp_json_end(&w->j, ']');
}

CP_ERROR cp_rows_json(const struct cp_rows *rows, const struct cp_timeline *t, struct cp_sink *sink)
{
	struct writer w = { .rows = rows,
			    .t = t,
			    .sink = sink,
			    .j = { .out = &sink->buf },
			    .source.record = t->p->record };
	struct cp_error *err = NULL;
	uint32_t n;

	cp_json_begin(&w.j, NULL, '{');
	cp_json_u64(&w.j, "left_out", rows->left_out);
	cp_json_u64(&w.j, "spots", rows->spots.spots.count);
	put_sets(&w);
	cp_json_begin(&w.j, "functions", '[');
	for (n = 0; n < rows->spots.listings.count && !err; n++)
		err = put_function(&w, n);
	cp_json_end(&w.j, ']');
	cp_json_end(&w.j, '}');
	cp_source_deinit(&w.source);
	cp_buf_free(&w.raw);
	cp_buf_free(&w.shown);
	if (!err && sink->buf.failed)
		err = cp_error_nomem();
	return err;
}
