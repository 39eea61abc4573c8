/* SPDX-License-Identifier: MIT
 *
 * Callgrind's profile format 1: self cost of each function by line, and the
 * cost of its calls. Readers add both to what a function costs with all that
 * it calls; so of a function that is on a stack more than once only the
 * innermost one counts there, or it would cost more than the program. Calls
 * are not counted by sampling: the number given is that of samples. Of a
 * recording of calls it is that of calls, and costs are the time in them; of
 * allocations it is theirs.
 */
#include "report/export/callgrind.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/events/calls.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"
#include "report/profile/unit.h"

/* Self cost at a line (callee is CP_RECORD_NONE), or of a call made there. */
struct item {
	uint32_t function, callee, line;
};
struct cost_of {
	struct item at;
	struct cp_cost cost;
};

struct callgrind {
	const struct cp_profile *p;
	struct cp_interner keys;
	CP_VEC(struct cost_of) costs;
	size_t *function_seen; /* number (from 1) of the last hit added */
	struct cp_sink *sink;
	struct cp_buf text;
	CP_VEC(bool) named; /* by string number: written before, the number is enough */
	struct cp_interner strings;
	struct cp_calls calls; /* of a profile by calls */
};

static CP_ERROR add(struct callgrind *c, struct item at, const struct cp_cost *cost)
{
	uint32_t n;
	bool fresh;

	if (!cp_intern(&c->keys, &at, sizeof(at), &n, &fresh) ||
	    (fresh && !cp_vec_push(&c->costs, (struct cost_of){ .at = at })))
		return cp_error_nomem();
	cp_cost_add(&c->costs.items[n].cost, cost);
	return NULL;
}

static CP_ERROR add_hit(struct callgrind *c, size_t number)
{
	const struct cp_hit *hit = &c->p->hits.items[number];
	const struct cp_frame *f, *callee = NULL;
	const uint32_t *frames;
	size_t i;

	frames = cp_profile_walk(c->p, hit->stack, &i);
	for (; i-- > 0; callee = f) {
		f = &c->p->frames.items[frames[i]];
		if (c->function_seen[f->function] == number + 1)
			continue;
		c->function_seen[f->function] = number + 1;
		CP_TRY(add(c,
			   (struct item){ f->function, callee ? callee->function : CP_RECORD_NONE,
					  f->line },
			   &hit->cost));
	}
	return NULL;
}

static int compare(const void *va, const void *vb)
{
	const struct item *a = &((const struct cost_of *)va)->at;
	const struct item *b = &((const struct cost_of *)vb)->at;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if ((a->callee == CP_RECORD_NONE) != (b->callee == CP_RECORD_NONE))
		return a->callee == CP_RECORD_NONE ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

/* "key=(number) text", the text only the first time. Files, images and
 * functions count apart in the format; one numbering serves all. */
static CP_ERROR name(struct callgrind *c, const char *key, char kind, const char *text,
		     uint32_t apart)
{
	struct cp_buf *out = &c->sink->buf;
	uint32_t n;

	cp_buf_clear(&c->text);
	cp_buf_u8(&c->text, (uint8_t)kind);
	cp_buf_u32(&c->text, apart);
	cp_buf_str(&c->text, text);
	if (c->text.failed || !cp_intern(&c->strings, c->text.bytes, c->text.size, &n, NULL) ||
	    (n >= c->named.count && !cp_vec_push(&c->named, false)))
		return cp_error_nomem();
	cp_buf_printf(out, "%s=(%u)", key, n + 1);
	if (!c->named.items[n]) {
		cp_buf_u8(out, ' ');
		cp_escape(out, CP_ESCAPE_TERMINAL, text, strlen(text));
	}
	c->named.items[n] = true;
	cp_buf_u8(out, '\n');
	return NULL;
}

/* The three lines that say which function; as callee with `callee`. */
static CP_ERROR function(struct callgrind *c, uint32_t number, bool callee)
{
	const struct cp_function *f = &c->p->functions.items[number];

	CP_TRY(name(c, callee ? "cob" : "ob", 'o', c->p->images.items[f->image].path, 0));
	CP_TRY(name(c, callee ? "cfi" : "fl", 'f', f->file ? f->file : "???", 0));
	return name(c, callee ? "cfn" : "fn", 'n', f->name, f->image);
}

/* The number of calls of `at`'s callee by its function. */
static uint64_t calls_of(const struct callgrind *c, const struct cost_of *it)
{
	const struct cp_call_edge *e;

	if (!c->p->by_calls)
		return it->cost.ticks;
	cp_vec_for_each(&c->calls.edges, e)
		if (e->caller == it->at.function && e->callee == it->at.callee)
			return e->sum.calls;
	return 0;
}

static CP_ERROR write_items(struct callgrind *c)
{
	const struct cost_of *it;
	uint32_t last = CP_RECORD_NONE;

	cp_vec_for_each(&c->costs, it) {
		if (it->at.function != last) {
			cp_buf_u8(&c->sink->buf, '\n');
			CP_TRY(function(c, it->at.function, false));
		}
		last = it->at.function;
		if (it->at.callee != CP_RECORD_NONE) {
			CP_TRY(function(c, it->at.callee, true));
			cp_buf_printf(&c->sink->buf, "calls=%" PRIu64 " %u\n", calls_of(c, it),
				      c->p->functions.items[it->at.callee].decl_line);
		}
		cp_buf_printf(&c->sink->buf, "%u %" PRIu64 "\n", it->at.line, it->cost.weight);
		cp_sink_spill(c->sink);
	}
	return NULL;
}

static CP_ERROR write_all(struct callgrind *c, const struct cp_export_options *o)
{
	const struct cp_unit *unit = c->p->unit;
	struct cp_buf *out = &c->sink->buf;
	size_t i;

	c->function_seen = calloc(c->p->functions.count + 1, sizeof(*c->function_seen));
	if (!c->function_seen)
		return cp_error_nomem();
	if (c->p->by_calls)
		CP_TRY(cp_calls_build(c->p, &c->calls));
	for (i = 0; i < c->p->hits.count; i++)
		if (c->p->hits.items[i].cost.ticks || c->p->hits.items[i].cost.weight)
			CP_TRY(add_hit(c, i));
	if (c->costs.count)
		qsort(c->costs.items, c->costs.count, sizeof(*c->costs.items), compare);
	cp_export_title(c->p, o, &c->text);
	cp_buf_str(out, "# callgrind format\nversion: 1\ncreator: cprof\ncmd: ");
	cp_escape(out, CP_ESCAPE_TERMINAL, c->text.bytes ? c->text.bytes : "", c->text.size);
	cp_buf_printf(out,
		      "\npositions: line\nevent: %s : %c%s\nevents: %s\nsummary: %" PRIu64 "\n",
		      unit->symbol, toupper((unsigned char)unit->measure[0]), unit->measure + 1,
		      unit->symbol, c->p->total.weight);
	CP_TRY(write_items(c));
	cp_buf_printf(out, "\ntotals: %" PRIu64 "\n", c->p->total.weight);
	return NULL;
}

CP_ERROR cp_export_callgrind(const struct cp_profile *p, const struct cp_export_options *o,
			     struct cp_sink *sink)
{
	struct callgrind c = { .p = p, .sink = sink };
	struct cp_error *err = write_all(&c, o);

	cp_calls_deinit(&c.calls);
	cp_interner_free(&c.keys);
	cp_interner_free(&c.strings);
	cp_vec_free(&c.costs);
	free(c.function_seen);
	cp_vec_free(&c.named);
	cp_buf_free(&c.text);
	return err;
}
