/* SPDX-License-Identifier: MIT */
#include "report/tables/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "report/coverage/reached.h"
#include "report/look/source.h"
#include "report/look/title.h"
#include "report/profile/region.h"
#include "report/profile/unit.h"
#include "report/tables/arrows.h"

#define LANES 10 /* of arrows; */
#define LANES_NARROW 4 /* below so many columns: */
#define NARROW 100
#define BAR 10
#define REACHED 12u

struct printer {
	const struct cp_listing *l;
	const struct cp_listing_options *o;
	const struct cp_look *look;
	struct cp_buf *out;
	struct cp_source source;
	struct cp_buf line; /* of text, at work */
	uint64_t whole, most; /* weights: of the function, of the hottest row */
};

static const struct cp_function *function_of(const struct cp_listing *l)
{
	return &l->profile->functions.items[l->function];
}

/* ---- rows ---- */

static void share_cell(struct printer *p, uint64_t weight)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	double share = cp_share(weight, p->whole);

	if (weight)
		cp_add_percent(&text, weight, p->whole);
	cp_buf_printf(p->out, "%*s", (int)(8 - text.size), "");
	cp_paint(p->out, p->look,
		 share >= 0.1	 ? CP_PAINT_HOT
		 : share >= 0.02 ? CP_PAINT_WARM
				 : CP_PAINT_DIM,
		 text.bytes ? text.bytes : "");
}

static void bar_cell(struct printer *p, uint64_t weight)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	uint64_t n = p->most ? (weight * BAR * 8 + p->most - 1) / p->most : 0;
	struct cp_buf bar CP_CLEANUP(cp_buf_free) = { 0 };
	unsigned columns = 0;

	if (p->look->columns && p->look->columns < NARROW)
		return;
	for (; n >= 8; n -= 8, columns++)
		cp_buf_str(&bar, "█");
	cp_buf_str(&bar, eighths[n]);
	columns += n != 0;
	cp_buf_str(p->out, "  ");
	cp_paint(p->out, p->look, CP_PAINT_COOL, bar.bytes ? bar.bytes : "");
	cp_buf_printf(p->out, "%*s", (int)(BAR - columns), "");
}

/* The rest of a row, cut to what room there is behind `taken` columns. */
static void rest_of_row(struct printer *p, size_t taken, enum cp_paint paint, const char *raw)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	size_t room = SIZE_MAX, end;

	cp_add_name(&name, raw);
	if (p->look->columns)
		room = p->look->columns > taken + 8 ? p->look->columns - taken : 8;
	/* Code is read from its beginning: it is cut at the end. */
	for (end = name.size; name.bytes && cp_text_columns(name.bytes) > room && end;) {
		while (--end && ((uint8_t)name.bytes[end] & 0xc0) == 0x80)
			;
		name.bytes[end] = 0;
	}
	cp_paint(p->out, p->look, paint, name.bytes ? name.bytes : "");
	cp_buf_u8(p->out, '\n');
}

static size_t lead_columns(const struct printer *p)
{
	return p->look->columns && p->look->columns < NARROW ? 16 : 16 + 2 + BAR;
}

static void left_out(struct printer *p, size_t count, const char *one, const char *many)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_str(&text, "… ");
	cp_add_plural(&text, count, one, many);
	cp_buf_str(&text, " without time");
	cp_buf_printf(p->out, "%*s", (int)lead_columns(p) + 2, "");
	cp_paint(p->out, p->look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	cp_buf_u8(p->out, '\n');
}

/* ---- source ---- */

/* Where the recording has coverage, how often the line was reached. */
static void reached_cell(struct printer *p, const char *file, uint32_t number)
{
	const struct cp_covered_line *line = cp_reached_line(p->o->coverage, file, number);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!p->o->coverage)
		return;
	if (line)
		cp_reached_add(&text, p->o->coverage, line);
	cp_buf_printf(p->out, "%*s", (int)(REACHED - (text.size < REACHED ? text.size : REACHED)),
		      "");
	cp_paint(p->out, p->look, line && !line->count ? CP_PAINT_HOT : CP_PAINT_DIM,
		 text.bytes ? text.bytes : "");
}

static void source_row(struct printer *p, const char *file, uint32_t number,
		       const struct cp_listing_line *line)
{
	share_cell(p, line ? line->self.weight : 0);
	share_cell(p, line ? line->total.weight : 0);
	bar_cell(p, line ? line->self.weight : 0);
	reached_cell(p, file, number);
	cp_buf_printf(p->out, "  %6" PRIu32 "  ", number);
	cp_buf_clear(&p->line);
	if (file)
		cp_source_line_as_is(&p->source, file, number, &p->line);
	rest_of_row(p, lead_columns(p) + 10 + (p->o->coverage ? REACHED : 0),
		    line && (line->total.weight || line->code) ? CP_PAINT_PLAIN : CP_PAINT_DIM,
		    p->line.bytes ? p->line.bytes : "");
}

static void source_rows(struct printer *p, const struct cp_region *r, const char *file)
{
	size_t at = 0, passed = 0;
	uint32_t number;

	for (number = r->first; number <= r->last; number++) {
		bool known = at < r->count && r->lines[at]->line == number;

		if (!cp_region_is_near(r, number, p->o->context)) {
			passed++;
			at += known;
			continue;
		}
		if (passed)
			left_out(p, passed, "line", "lines");
		passed = 0;
		source_row(p, file, number, known ? r->lines[at] : NULL);
		at += known;
	}
	if (passed)
		left_out(p, passed, "line", "lines");
}

static void source_of(struct printer *p, uint32_t function)
{
	const struct cp_listing_function *f = &p->l->functions.items[function];
	struct cp_buf note CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_region r;
	size_t i;

	if (!cp_region_of(p->l, function, &r) || (function && !r.hot)) {
		free(r.lines);
		return;
	}
	cp_add_name(&note, f->file ? f->file : "(unknown file)");
	if (function) {
		cp_buf_str(&note, "  inlined: ");
		cp_add_name(&note, f->name);
	}
	cp_report_title(p->out, p->look, "Source", note.bytes ? note.bytes : NULL);
	cp_paint(p->out, p->look, CP_PAINT_DIM, "    self   total");
	if (lead_columns(p) > 16)
		cp_buf_printf(p->out, "%*s", BAR + 2, "");
	if (p->o->coverage)
		cp_buf_printf(p->out, "%*s", (int)REACHED, "reached");
	cp_paint(p->out, p->look, CP_PAINT_DIM, "    line\n");
	for (i = 0, p->most = 0; i < r.count; i++)
		if (r.lines[i]->self.weight > p->most)
			p->most = r.lines[i]->self.weight;
	source_rows(p, &r, f->file);
	free(r.lines);
}

/* The function, then what is inlined into it, in the order of time. */
static void sources(struct printer *p)
{
	size_t count = p->l->functions.count, i, k, best;
	CP_FREE uint64_t *sums = calloc(count + 1, sizeof(*sums));
	const struct cp_listing_line *line;

	if (!sums)
		return;
	cp_vec_for_each(&p->l->lines, line)
		sums[line->function] += line->self.weight + 1;
	source_of(p, 0);
	for (i = 1; i < count; i++) {
		for (k = 1, best = 0; k < count; k++)
			if (sums[k] && (!best || sums[k] > sums[best]))
				best = k;
		if (!best)
			return;
		source_of(p, (uint32_t)best);
		sums[best] = 0;
	}
}

/* ---- instructions ---- */

/* Where the code that follows is from. */
static void place_row(struct printer *p, const struct cp_arrows *arrows, size_t number, int digits)
{
	const struct cp_listing_insn *insn = &p->l->insns.items[number];
	const struct cp_listing_line *line = &p->l->lines.items[insn->line - 1];
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (line->function)
		cp_buf_printf(&text, "%s ", p->l->functions.items[line->function].name);
	cp_buf_printf(&text, "%s:%" PRIu32, line->file ? cp_basename(line->file) : "?", line->line);
	if (line->file) {
		cp_buf_str(&text, "  ");
		cp_source_line(&p->source, line->file, line->line, &text);
	}
	cp_buf_printf(p->out, "%*s", (int)lead_columns(p) + 2, "");
	cp_arrows_add(arrows, number, true, p->out);
	cp_buf_printf(p->out, "%*s", digits + 2, "");
	rest_of_row(p, lead_columns(p) + 2 + arrows->lanes + 2 + (size_t)digits + 2, CP_PAINT_NAME,
		    text.bytes ? text.bytes : "");
}

static void insn_row(struct printer *p, const struct cp_arrows *arrows, size_t number, int digits)
{
	const struct cp_listing_insn *insn = &p->l->insns.items[number];

	share_cell(p, insn->self.weight);
	share_cell(p, insn->total.weight);
	bar_cell(p, insn->self.weight);
	cp_buf_str(p->out, "  ");
	cp_arrows_add(arrows, number, false, p->out);
	cp_buf_printf(p->out, " %*" PRIx64 " ", digits, insn->address);
	rest_of_row(p, lead_columns(p) + 2 + arrows->lanes + 2 + (size_t)digits + 2,
		    insn->total.weight ? CP_PAINT_PLAIN : CP_PAINT_DIM, insn->text);
}

static void insn_rows(struct printer *p, const struct cp_arrows *arrows)
{
	const struct cp_listing *l = p->l;
	uint32_t place = 0;
	size_t passed = 0, i;
	char address[24];
	int digits = snprintf(address, sizeof(address), "%" PRIx64,
			      l->insns.items[l->insns.count - 1].address);

	for (i = 0; i < l->insns.count; i++) {
		const struct cp_listing_insn *insn = &l->insns.items[i];

		if (!cp_listing_insn_is_near(l, i, p->o->context)) {
			passed++;
			continue;
		}
		if (passed)
			left_out(p, passed, "instruction", "instructions");
		if (insn->begins && i)
			cp_buf_u8(p->out, '\n');
		if (insn->line && (insn->line != place || passed))
			place_row(p, arrows, i, digits);
		passed = 0;
		place = insn->line;
		insn_row(p, arrows, i, digits);
	}
	if (passed)
		left_out(p, passed, "instruction", "instructions");
}

/* What an address of a sample means, by how it was taken. */
const char *cp_listing_pc(const struct cp_record *r)
{
	const struct cp_record_totals *t = cp_record_final(r);

	if (!t->perf_samples && !*cp_record_info(r)->capture)
		return "unknown";
	if (!t->perf_samples)
		return "stop";
	return t->perf_samples < t->samples ? "both" : "interrupt";
}

static void skid(struct printer *p)
{
	static const struct {
		const char *pc, *words;
	} kinds[] = {
		{ "stop",
		  "samples were taken by stopping the thread: self is what would have run "
		  "next, so the time of a slow instruction or system call stands behind it" },
		{ "interrupt",
		  "samples were taken by the interrupt of the kernel's clock (perf): self is what "
		  "would have run next, so the time of a slow instruction stands behind it; in the "
		  "kernel, what ran with interrupts off stands where they were on again" },
		{ "unknown", "the recording does not say how its samples were taken: the time of a "
			     "slow instruction may stand behind it" },
	};
	const struct cp_record_totals *t = cp_record_final(p->l->profile->record);
	const char *pc = cp_listing_pc(p->l->profile->record);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	cp_buf_str(&text, "  ");
	if (!strcmp(pc, "both")) {
		cp_buf_str(&text, "of the samples, ");
		cp_add_count(&text, t->perf_samples);
		cp_buf_str(&text, " were taken by the interrupt of the kernel's clock (perf), ");
		cp_add_count(&text, t->samples - t->perf_samples);
		cp_buf_str(&text,
			   " by stopping the thread: of both, the instruction is the one that "
			   "would have run next");
	}
	for (i = 0; i < CP_ARRAY_SIZE(kinds); i++)
		if (!strcmp(pc, kinds[i].pc))
			cp_buf_printf(&text, "%s", kinds[i].words);
	cp_add_wrapped(p->out, p->look, 0, 2, text.bytes ? text.bytes : "");
}

static void instructions(struct printer *p)
{
	struct cp_arrows arrows CP_CLEANUP(cp_arrows_deinit) = { 0 };
	bool narrow = p->look->columns && p->look->columns < NARROW;
	const struct cp_listing_insn *insn;

	if (!cp_arrows_init(&arrows, p->l, narrow ? LANES_NARROW : LANES))
		return;
	p->most = 0;
	cp_vec_for_each(&p->l->insns, insn)
		if (insn->self.weight > p->most)
			p->most = insn->self.weight;
	cp_report_title(p->out, p->look, "Instructions", "self: at it; total: with what it calls");
	skid(p);
	cp_paint(p->out, p->look, CP_PAINT_DIM, "    self   total\n");
	insn_rows(p, &arrows);
}

/* ---- all of it ---- */

static void heading(struct printer *p)
{
	const struct cp_function *f = function_of(p->l);
	uint64_t all = p->l->profile->total.weight;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_name(&text, f->name);
	cp_paint(p->out, p->look, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
	cp_buf_clear(&text);
	cp_add_name(&text, cp_profile_image_name(p->l->profile, f));
	cp_buf_str(p->out, "  ");
	cp_paint(p->out, p->look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	cp_buf_str(p->out, "\n  total ");
	cp_add_percent(p->out, f->total.weight, all);
	cp_buf_str(p->out, ", ");
	cp_cost_add_words(p->l->profile, &f->total, p->out);
	cp_buf_str(p->out, " · self ");
	cp_add_percent(p->out, f->self.weight, all);
	cp_buf_str(p->out, ", ");
	cp_cost_add_words(p->l->profile, &f->self, p->out);
	cp_buf_str(p->out, " · ");
	cp_add_plural(p->out, f->total.ticks, p->l->profile->unit->tick,
		      p->l->profile->unit->ticks);
	cp_buf_str(p->out, "\n");
}

/* Where its code is besides. */
static void hosts(struct printer *p)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	if (!p->l->hosts.count)
		return;
	cp_buf_str(&text, "  inlined into ");
	for (i = 0; i < p->l->hosts.count && i < 8; i++) {
		cp_buf_str(&text, i ? ", " : "");
		cp_add_name(&text, p->l->profile->functions.items[p->l->hosts.items[i]].name);
	}
	if (i < p->l->hosts.count)
		cp_buf_printf(&text, " and %zu more", p->l->hosts.count - i);
	cp_buf_str(&text,
		   p->l->image != CP_RECORD_NONE ? ", too" : ", whose instructions those are");
	cp_add_wrapped(p->out, p->look, 0, 4, text.bytes ? text.bytes : "");
}

static bool has_lines(const struct cp_listing *l)
{
	const struct cp_listing_line *line;

	cp_vec_for_each(&l->lines, line)
		if (line->line)
			return true;
	return false;
}

void cp_listing_text(const struct cp_listing *l, const struct cp_listing_options *o,
		     const struct cp_look *look, struct cp_buf *out)
{
	struct printer p = {
		.l = l, .o = o, .look = look, .out = out, .source.record = l->profile->record
	};
	struct cp_buf note CP_CLEANUP(cp_buf_free) = { 0 };

	p.whole = function_of(l)->total.weight;
	heading(&p);
	hosts(&p);
	if (o->source && !has_lines(l))
		cp_add_wrapped(out, look, 0, 4,
			       "  no source lines: no debug information tells them");
	if (o->code && o->no_code) {
		cp_buf_printf(&note, "  no instructions: %s", o->no_code);
		cp_add_wrapped(out, look, 0, 4, note.bytes ? note.bytes : "");
	}
	if (o->source)
		sources(&p);
	if (o->code && l->insns.count)
		instructions(&p);
	cp_source_deinit(&p.source);
	cp_buf_free(&p.line);
}

/* ---- JSON ---- */

static void json_cost(struct cp_json *j, const struct cp_profile *p, const struct cp_cost *self,
		      const struct cp_cost *total)
{
	cp_json_u64(j, "self", self->ticks);
	cp_json_cost(j, p, "self", self);
	cp_json_u64(j, "total", total->ticks);
	cp_json_cost(j, p, "total", total);
}

static void json_place(struct cp_json *j, const struct cp_listing *l,
		       const struct cp_listing_line *line)
{
	cp_json_str(j, "file", line ? line->file : NULL);
	if (line && line->line)
		cp_json_u64(j, "line", line->line);
	else
		cp_json_null(j, "line");
	cp_json_str(j, "function", line ? l->functions.items[line->function].name : NULL);
}

/* true, false or, where it can't be told or is not known, null; and how often. */
static void json_reached(struct cp_json *j, const struct cp_coverage *c,
			 const struct cp_listing_line *line)
{
	const struct cp_covered_line *covered = cp_reached_line(c, line->file, line->line);
	bool told = covered && covered->count != CP_COVERAGE_UNKNOWN;

	if (told)
		cp_json_bool(j, "reached", covered->count != 0);
	else
		cp_json_null(j, "reached");
	if (told && c->counted)
		cp_json_u64(j, "count", covered->count);
	else
		cp_json_null(j, "count");
}

static void json_lines(struct cp_json *j, const struct cp_listing *l, const struct cp_coverage *c)
{
	struct cp_source source CP_CLEANUP(cp_source_deinit) = { .record = l->profile->record };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_listing_line *line;

	cp_json_begin(j, "lines", '[');
	cp_vec_for_each(&l->lines, line) {
		bool known = line->file && line->line;

		cp_buf_clear(&text);
		known = known && cp_source_line_as_is(&source, line->file, line->line, &text);
		cp_json_begin(j, NULL, '{');
		json_place(j, l, line);
		cp_json_str(j, "source", known ? text.bytes ? text.bytes : "" : NULL);
		json_cost(j, l->profile, &line->self, &line->total);
		json_reached(j, c, line);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void json_insns(struct cp_json *j, const struct cp_listing *l)
{
	const struct cp_listing_insn *insn;

	cp_json_begin(j, "instructions", '[');
	cp_vec_for_each(&l->insns, insn) {
		cp_json_begin(j, NULL, '{');
		cp_json_hex(j, "address", insn->address);
		cp_json_str(j, "text", insn->text);
		if (insn->target)
			cp_json_hex(j, "target", insn->target);
		else
			cp_json_null(j, "target");
		json_place(j, l, insn->line ? &l->lines.items[insn->line - 1] : NULL);
		json_cost(j, l->profile, &insn->self, &insn->total);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

void cp_listing_json(const struct cp_listing *l, const struct cp_listing_options *o,
		     struct cp_buf *out)
{
	const struct cp_function *f = function_of(l);
	const struct cp_record_image *image =
		l->image == CP_RECORD_NONE ? NULL
					   : cp_record_get_image(l->profile->record, l->image);
	struct cp_json j = { .out = out, .pretty = true };

	cp_json_begin(&j, NULL, '{');
	cp_json_str(&j, "function", f->name);
	cp_json_str(&j, "image", cp_profile_image_name(l->profile, f));
	cp_json_str(&j, "path", image ? image->path : NULL);
	cp_json_str(&j, "build_id", image ? image->build_id : NULL);
	json_cost(&j, l->profile, &f->self, &f->total);
	cp_json_str(&j, "pc", cp_listing_pc(l->profile->record));
	if (o->source)
		json_lines(&j, l, o->coverage);
	if (o->code) {
		cp_json_str(&j, "no_instructions", o->no_code);
		json_insns(&j, l);
	}
	cp_json_end(&j, '}');
	cp_buf_u8(out, '\n');
}
