/* SPDX-License-Identifier: MIT */
#include "report/export/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/export/rows_near.h"
#include "report/profile/places.h"
#include "report/profile/region.h"

#define HOT_SELF 48 /* functions by their own time, and as many by the time with callees: */
#define HOT_TOTAL 16
#define LEAST_SELF 0.001 /* of the whole */
#define LEAST_TOTAL 0.02
#define ROWS_MOST 12000u
#define CODES_MOST ((size_t)300000) /* in all sets: a megabyte or two of text */

static bool has_listing(const struct cp_rows *rows, uint32_t function)
{
	size_t i;

	for (i = 0; i < rows->spots.listings.count; i++)
		if (rows->spots.listings.items[i]->function == function)
			return true;
	return false;
}

/* Lines and instructions of `l` that are worth showing. */
static size_t count_rows(const struct cp_listing *l)
{
	struct cp_region r;
	uint32_t f, line;
	size_t n = 0, i;

	for (f = 0; f < l->functions.count; f++) {
		if (cp_region_of(l, f, &r) && r.hot)
			for (line = r.first; line <= r.last && line - r.first < CP_ROWS_LINES;
			     line++)
				n += cp_region_is_near(&r, line, CP_ROWS_CONTEXT);
		free(r.lines);
	}
	for (i = 0; i < l->insns.count; i++)
		n += cp_listing_insn_is_near(l, i, CP_ROWS_CONTEXT);
	return n;
}

/* What can't be read is no reason to have no page. */
static CP_ERROR read_code(const struct cp_export_options *o, struct cp_listing *l, char **why_ret)
{
	const char *why = NULL;
	struct cp_error *err = o->code(o->code_ctx, l, &why);

	if (err && err->code == CP_ERR_NOMEM)
		return err;
	*why_ret = err ? strdup(err->what) : why ? strdup(why) : NULL;
	cp_error_free(err);
	return NULL;
}

static CP_ERROR add_listing(struct cp_rows *rows, const struct cp_profile *p,
			    const struct cp_export_options *o, uint32_t function, size_t *room)
{
	struct cp_listing *l = NULL;
	char *why = NULL;
	size_t count;

	CP_TRY(cp_listing_create(p, function, &l));
	if (o->code) {
		struct cp_error *err = read_code(o, l, &why);

		if (err) {
			cp_listing_destroy(l);
			return err;
		}
	}
	count = count_rows(l);
	if (!count || count > *room) {
		cp_listing_destroy(l);
		free(why);
		return NULL;
	}
	*room -= count;
	if (cp_vec_push(&rows->spots.listings, l)) {
		if (cp_vec_push(&rows->why, why))
			return NULL;
	} else {
		cp_listing_destroy(l);
	}
	free(why);
	return cp_error_nomem();
}

static CP_ERROR choose(struct cp_rows *rows, const struct cp_profile *p,
		       const struct cp_export_options *o, size_t *room)
{
	CP_FREE uint32_t *by_self = NULL;
	CP_FREE uint32_t *by_total = NULL;
	double whole = (double)p->total.weight;
	size_t count, others, i;

	CP_TRY(cp_profile_sorted(p, CP_ORDER_SELF, &by_self, &count));
	CP_TRY(cp_profile_sorted(p, CP_ORDER_TOTAL, &by_total, &others));
	for (i = 0; i < count && i < HOT_SELF; i++) {
		const struct cp_function *f = &p->functions.items[by_self[i]];

		if ((double)f->self.weight >= LEAST_SELF * whole)
			CP_TRY(add_listing(rows, p, o, by_self[i], room));
	}
	for (i = 0; i < others && i < HOT_TOTAL; i++) {
		const struct cp_function *f = &p->functions.items[by_total[i]];

		if ((double)f->total.weight >= LEAST_TOTAL * whole && f->file &&
		    !has_listing(rows, by_total[i]))
			CP_TRY(add_listing(rows, p, o, by_total[i], room));
	}
	return NULL;
}

static void drop_last(struct cp_rows *rows)
{
	cp_listing_destroy(rows->spots.listings.items[--rows->spots.listings.count]);
	free(rows->why.items[--rows->why.count]);
}

/* Deep stacks of many functions make large sets: then there are fewer functions. */
static CP_ERROR build_sets(struct cp_rows *rows, const struct cp_profile *p)
{
	size_t keep = rows->spots.listings.count;

	CP_TRY(cp_spots_build(&rows->spots, p));
	while (rows->spots.codes.count > CODES_MOST && keep > 1) {
		keep = keep * 2 / 3;
		while (rows->spots.listings.count > keep)
			drop_last(rows);
		cp_spots_clear(&rows->spots);
		CP_TRY(cp_spots_build(&rows->spots, p));
	}
	return NULL;
}

CP_ERROR cp_rows_build(const struct cp_profile *p, const struct cp_export_options *o,
		       struct cp_rows *ret)
{
	size_t room = ROWS_MOST, i;

	if (o->no_rows || !cp_profile_of_samples(p) || !p->hits.count)
		return NULL;
	CP_TRY(choose(ret, p, o, &room));
	CP_TRY(build_sets(ret, p));
	for (i = 0; i < p->functions.count; i++)
		ret->left_out +=
			p->functions.items[i].self.weight && !has_listing(ret, (uint32_t)i);
	return NULL;
}

void cp_rows_deinit(struct cp_rows *rows)
{
	size_t i;

	cp_spots_deinit(&rows->spots);
	for (i = 0; i < rows->why.count; i++)
		free(rows->why.items[i]);
	cp_vec_free(&rows->why);
}
