/* SPDX-License-Identifier: MIT
 *
 * Constructors and destructors. One in the source is several functions, which
 * share code or do not; their symbols tell them apart:
 *
 *     C1 D1   of a whole object               often one piece of code, which
 *     C2 D2   of a part of a derived object   then is called by the latter's
 *     D0      whole, and gives back its memory
 *     C4 D4   what gcc calls all of them, where one is inlined
 *
 * What is inlined is C1 or C2, as what is called would be: where there is just
 * one of these, it is that; where there are both, nobody can tell.
 */
#include "report/coverage/structors.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/coverage/coverage.h"
#include "report/coverage/sums.h"

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By place and name: those of one in the source follow each other. */
static int compare(const void *pa, const void *pb)
{
	const struct cp_function_sum *a = *(const struct cp_function_sum *const *)pa;
	const struct cp_function_sum *b = *(const struct cp_function_sum *const *)pb;
	int c = a->file != b->file ? order(a->file, b->file) : order(a->line, b->line);

	c = c ? c : strcmp(a->base, b->base);
	return c ? c : strcmp(a->structor, b->structor);
}

static bool is_same(const struct cp_function_sum *a, const struct cp_function_sum *b)
{
	return a->file == b->file && a->line == b->line && !strcmp(a->base, b->base);
}

static void add_variant(struct cp_function_sum *to, struct cp_variant *from)
{
	struct cp_variant *v;
	uint32_t i;

	for (v = to->variants; v && v->blocks != from->blocks;)
		v = v->next;
	for (i = 0; v && i < v->blocks; i++)
		v->covered[i] |= from->covered[i];
	if (v)
		return;
	from->next = to->variants;
	to->variants = from;
}

static void merge(struct cp_function_sum *to, struct cp_function_sum *from, bool uncertain)
{
	struct cp_variant *v, *next;

	to->uncertain = uncertain && !cp_is_covered(to->count) && cp_is_covered(from->count);
	to->count = cp_coverage_add(to->count, from->count);
	to->end_line = to->end_line > from->end_line ? to->end_line : from->end_line;
	to->code |= from->code;
	for (v = from->variants; v; v = next) {
		next = v->next;
		add_variant(to, v);
	}
	from->merged = true;
}

/* "Shape::~Shape() [D0]" */
static const char *tagged(struct cp_sums *s, const char *name, const char *tag)
{
	struct cp_buf text = { 0 };
	const char *got;

	cp_buf_printf(&text, "%s [%s]", name, tag);
	got = text.failed ? NULL : cp_arena_copy(s->arena, text.bytes, text.size);
	cp_buf_free(&text);
	s->no_memory |= !got;
	return got ? got : name;
}

/* All that one in the source became. */
static void settle(struct cp_sums *s, struct cp_function_sum **list, size_t count)
{
	struct cp_function_sum *whole = NULL, *part = NULL, *inlined = NULL, *to;
	size_t i, left = count;

	for (i = 0; i < count; i++) {
		whole = list[i]->structor[1] == '1' ? list[i] : whole;
		part = list[i]->structor[1] == '2' ? list[i] : part;
		inlined = list[i]->structor[1] == '4' ? list[i] : inlined;
	}
	to = whole ? whole : part;
	if (inlined && to) {
		merge(to, inlined, whole && part);
		left--;
	}
	for (i = 0; left > 1 && i < count; i++) {
		if (list[i] == inlined)
			continue;
		list[i]->base = tagged(s, list[i]->base, list[i]->structor);
		if (list[i]->name)
			list[i]->name = tagged(s, list[i]->name, list[i]->structor);
	}
}

void cp_sums_settle_structors(struct cp_sums *s)
{
	struct cp_function_sum **list =
		calloc(s->functions.count + 1, sizeof(struct cp_function_sum *));
	struct cp_function_sum *sum;
	size_t count = 0, i, end;

	if (!list) {
		s->no_memory = true;
		return;
	}
	cp_vec_for_each(&s->functions, sum)
		if (*sum->structor)
			list[count++] = sum;
	qsort(list, count, sizeof(struct cp_function_sum *), compare);
	for (i = 0; i < count; i = end) {
		for (end = i + 1; end < count && is_same(list[i], list[end]);)
			end++;
		settle(s, list + i, end - i);
	}
	free(list);
}
