/* SPDX-License-Identifier: MIT
 *
 * A throw and the catch that follows belong together by thread and address.
 * One that is caught and thrown again is two, of which the second is no throw.
 */
#include "report/events/exceptions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "record/lives.h"
#include "report/look/csv.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"

/* Exceptions of one kind. */
struct kind {
	const char *type; /* of the recording */
	uint32_t location; /* that throws */
	uint32_t thrower, catcher; /* functions */
	enum fate { CAUGHT, NOT_CAUGHT, NOT_KNOWN } fate; /* catcher: of CAUGHT only */
	uint64_t count, rethrown; /* thrown; thrown again by who has caught it */
};

/* Thrown, and not yet caught. */
struct flying {
	uint32_t thread, kind;
	bool landed, rethrown;
};

struct exceptions {
	const struct cp_profile *p;
	CP_VEC(struct kind) kinds;
	struct cp_interner keys, types;
	CP_VEC(struct flying) flights; /* of all that were thrown */
	struct cp_map flying; /* hash of thread and address -> its last one of them + 1 */
	uint64_t thrown, rethrown, caught;
	bool cut;
	uint64_t cut_ns; /* since then they are not told */
};

const char *cp_exception_type(const struct cp_record_call *call)
{
	return call->value_count && call->values->type ? call->values->type : "";
}

uint64_t cp_exception_address(const struct cp_record_call *call)
{
	return call->value_count && call->values->kind == CPROF_VALUE_POINTER ? call->values->u.u
									      : 0;
}

void cp_exception_place(const struct cp_profile *p, const struct cp_record_call *call,
			uint32_t function, struct cp_buf *out)
{
	uint32_t line;
	const char *file = cp_exception_file(p, call, &line);

	cp_add_name(out, p->functions.items[function].name);
	if (!file)
		return;
	cp_buf_str(out, ", ");
	cp_add_name(out, cp_basename(file));
	cp_buf_printf(out, ":%u", line);
}

bool cp_exception_is_rethrown(const struct cp_record_call *call)
{
	return call->kind == CP_RECORD_THROW && call->flags & CP_RECORD_RETHROWN;
}

const char *cp_exception_verb(const struct cp_record_call *call)
{
	if (call->kind == CP_RECORD_CATCH)
		return "catch ";
	return cp_exception_is_rethrown(call) ? "rethrow " : "throw ";
}

void cp_exception_name(const struct cp_record_call *call, struct cp_buf *out)
{
	const char *type = cp_exception_type(call);

	cp_buf_str(out, cp_exception_verb(call));
	cp_buf_str(out, *type ? type : "?");
}

const char *cp_exception_file(const struct cp_profile *p, const struct cp_record_call *call,
			      uint32_t *line_ret)
{
	const struct cp_record_location *l =
		call->kind == CP_RECORD_THROW && call->function != CP_RECORD_NONE
			? cp_record_get_location(p->record, call->function)
			: NULL;

	uint32_t i;

	*line_ret = 0;
	for (i = 0; l && i < l->frame_count; i++) {
		const struct cp_record_frame *f = &l->frames[i];

		/* A frame that is inlined from Rust's own libraries is not where it happened. */
		if (!f->file || (cp_starts_with(f->file, "/rustc/") && i + 1 < l->frame_count))
			continue;
		*line_ret = f->line;
		return f->file;
	}
	return NULL;
}

/* The number of the kind; false without memory. */
static bool kind_of(struct exceptions *x, const struct kind *like, uint32_t *ret)
{
	struct {
		uint32_t type, location, thrower, catcher, fate;
	} key = { 0, like->location, like->thrower, like->catcher, like->fate };
	bool fresh;

	if (!cp_intern(&x->types, like->type, strlen(like->type), &key.type, &fresh) ||
	    !cp_intern(&x->keys, &key, sizeof(key), ret, &fresh))
		return false;
	return !fresh || cp_vec_push(&x->kinds, *like);
}

static uint64_t *tally_of(struct exceptions *x, const struct flying *flying, uint32_t kind)
{
	struct kind *k = &x->kinds.items[kind];

	return flying->rethrown ? &k->rethrown : &k->count;
}

static struct cp_error *thrown(struct exceptions *x, uint32_t thread, uint32_t function,
			       const struct cp_record_call *call, uint64_t key)
{
	struct flying flying = { .thread = thread, .rethrown = cp_exception_is_rethrown(call) };
	struct kind kind = {
		.type = cp_exception_type(call),
		.location = call->function,
		.thrower = function,
		.catcher = CP_RECORD_NONE,
		.fate = NOT_KNOWN,
	};

	*(flying.rethrown ? &x->rethrown : &x->thrown) += 1;
	if (!kind_of(x, &kind, &flying.kind) || !cp_vec_push(&x->flights, flying) ||
	    !cp_map_put(&x->flying, key, x->flights.count))
		return cp_error_nomem();
	++*tally_of(x, &flying, flying.kind);
	return NULL;
}

/* The fate of an exception is known: it moves to the kind that says so. */
static struct cp_error *settle(struct exceptions *x, struct flying *flying, enum fate fate,
			       uint32_t catcher)
{
	struct kind kind = x->kinds.items[flying->kind];
	uint32_t number;

	--*tally_of(x, flying, flying->kind);
	flying->landed = true;
	kind.count = kind.rethrown = 0;
	kind.fate = fate;
	kind.catcher = catcher;
	if (!kind_of(x, &kind, &number))
		return cp_error_nomem();
	++*tally_of(x, flying, number);
	return NULL;
}

static struct cp_error *each(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	uint64_t key = (cp_exception_address(call) << 20) ^ thread, *last;
	struct exceptions *x = ctx;
	struct flying *flying;

	if (call->kind == CP_RECORD_THROW)
		return thrown(x, thread, function, call, key);
	x->caught++;
	last = cp_map_get(&x->flying, key);
	flying = last && *last ? &x->flights.items[*last - 1] : NULL;
	if (!flying || flying->landed)
		return NULL; /* it was thrown before we looked, or that was lost */
	return settle(x, flying, CAUGHT, function);
}

/* Was the thread's process watched to its end? Merged recordings may have several
 * of that number. */
static bool seen_to_end(const struct exceptions *x, uint32_t thread)
{
	const struct cp_record *r = x->p->record;
	const struct cp_record_thread *t = cp_record_get_thread(r, thread);
	const struct cp_record_process *p = t ? cp_record_get_process(r, t->process) : NULL;
	bool ended = false;
	uint32_t i;

	for (i = 0; p && i < cp_record_life_count(r); i++) {
		const struct cp_record_life *life = cp_record_get_life(r, i);

		if (life->thread || life->pid != p->pid)
			continue;
		if (life->end != CP_LIFE_ENDED && life->end != CP_LIFE_REPLACED)
			return false;
		ended |= life->end == CP_LIFE_ENDED;
	}
	return ended;
}

/* No catch was seen: it is known that there was none where everything was, to the end. */
static struct cp_error *settle_rest(struct exceptions *x)
{
	const struct cp_record_totals *t = cp_record_final(x->p->record);
	struct flying *flying;

	if (x->cut || t->calls_lost)
		return NULL;
	cp_vec_for_each(&x->flights, flying) {
		if (!flying->landed && seen_to_end(x, flying->thread))
			CP_TRY(settle(x, flying, NOT_CAUGHT, CP_RECORD_NONE));
	}
	return NULL;
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct exceptions *x = ctx;
	uint64_t start = cp_record_info(x->p->record)->start_ns;

	(void)thread;
	if (!cp_starts_with(x->p->functions.items[function].name, "_Unwind_"))
		return NULL;
	x->cut = true;
	x->cut_ns = call->ts_ns > start ? call->ts_ns - start : 0;
	return NULL;
}

static uint64_t all_of(const struct kind *k)
{
	return k->count + k->rethrown;
}

static int by_count(const void *a, const void *b)
{
	const struct kind *one = a, *two = b;

	if (all_of(one) != all_of(two))
		return all_of(one) > all_of(two) ? -1 : 1;
	return strcmp(one->type, two->type);
}

static void deinit(struct exceptions *x)
{
	cp_vec_free(&x->kinds);
	cp_vec_free(&x->flights);
	cp_interner_free(&x->keys);
	cp_interner_free(&x->types);
	cp_map_free(&x->flying);
}

static CP_ERROR build(const struct cp_profile *p, struct exceptions *x)
{
	static const struct cp_span_visitor visitor = { .exception = each, .disarmed = disarmed };
	size_t i, kept = 0;

	*x = (struct exceptions){ .p = p };
	CP_TRY(cp_spans_walk(p, &visitor, x));
	CP_TRY(settle_rest(x));
	for (i = 0; i < x->kinds.count; i++)
		if (all_of(&x->kinds.items[i]))
			x->kinds.items[kept++] = x->kinds.items[i];
	x->kinds.count = kept;
	if (kept)
		qsort(x->kinds.items, kept, sizeof(*x->kinds.items), by_count);
	return NULL;
}

bool cp_report_holds_exceptions(const struct cp_profile *p)
{
	return cp_record_info(p->record)->holds & CP_RECORD_HAS_EXCEPTIONS ||
	       cp_record_exception_count(p->record);
}

/* ---- text ---- */

/* With the second one where there are any. */
static const struct cp_column columns[] = {
	{ "count", true, 0, false },  { "rethrown", true, 0, false },
	{ "type", false, 16, false }, { "thrown in", false, 16, false },
	{ "at", false, 12, true },    { "caught in", false, 0, false },
};

static const struct cp_column columns_without[] = {
	{ "count", true, 0, false },	   { "type", false, 16, false },
	{ "thrown in", false, 16, false }, { "at", false, 12, true },
	{ "caught in", false, 0, false },
};

static void add_tally(struct cp_table *t, uint64_t count)
{
	if (count)
		cp_table_count(t, CP_PAINT_PLAIN, count);
	else
		cp_table_name(t, CP_PAINT_PLAIN, "");
}

struct place {
	const char *file; /* NULL unknown */
	uint32_t line;
	uint64_t address; /* in its file, as disassemblers show it */
};

static struct place place_of(const struct exceptions *x, const struct kind *k)
{
	const struct cp_record_call at = { .kind = CP_RECORD_THROW, .function = k->location };
	const struct cp_record_location *l =
		k->location != CP_RECORD_NONE ? cp_record_get_location(x->p->record, k->location)
					      : NULL;
	struct place ret = { .address = l ? l->address : 0 };

	ret.file = cp_exception_file(x->p, &at, &ret.line);
	return ret;
}

/* Is there another one whose row would read the same? A line may throw in several ways. */
static bool has_twin(const struct exceptions *x, const struct kind *k, const struct place *place)
{
	const struct kind *other;
	struct place its;

	cp_vec_for_each(&x->kinds, other) {
		if (other->location == k->location || other->thrower != k->thrower ||
		    other->fate != k->fate || other->catcher != k->catcher ||
		    strcmp(other->type, k->type) != 0)
			continue;
		its = place_of(x, other);
		if (its.file && its.line == place->line && !strcmp(its.file, place->file))
			return true;
	}
	return false;
}

static void add_place(struct cp_table *t, const struct exceptions *x, const struct kind *k)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct place place = place_of(x, k);

	if (place.file)
		cp_buf_printf(&text, "%s:%u", cp_basename(place.file), place.line);
	if (place.address && (!place.file || has_twin(x, k, &place)))
		cp_buf_printf(&text, "%s0x%" PRIx64, place.file ? " " : "", place.address);
	cp_table_name(t, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}

static void add_row(struct cp_table *t, const struct exceptions *x, const struct kind *k)
{
	add_tally(t, k->count);
	if (x->rethrown)
		add_tally(t, k->rethrown);
	cp_table_name(t, CP_PAINT_BOLD, *k->type ? k->type : "?");
	cp_table_function(t, CP_PAINT_PLAIN, x->p->functions.items[k->thrower].name);
	add_place(t, x, k);
	if (k->fate == NOT_CAUGHT)
		cp_table_cell(t, CP_PAINT_WARNING, "not caught");
	else if (k->fate == NOT_KNOWN)
		cp_table_cell(t, CP_PAINT_DIM, "not known: no longer watched");
	else
		cp_table_function(t, CP_PAINT_PLAIN, x->p->functions.items[k->catcher].name);
}

static void print(const struct exceptions *x, const struct cp_report_options *o,
		  const struct cp_look *look, struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t shown = x->kinds.count, i;

	cp_add_count(&text, x->thrown);
	cp_buf_str(&text, " thrown, ");
	if (x->rethrown) {
		cp_add_count(&text, x->rethrown);
		cp_buf_str(&text, " rethrown, ");
	}
	cp_add_count(&text, x->caught);
	cp_buf_str(&text, " caught");
	cp_report_title(out, look, "Exceptions", text.bytes ? text.bytes : "");
	if (o->limit && o->limit < shown)
		shown = (size_t)o->limit;
	if (x->rethrown)
		cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	else
		cp_table_init(&t, columns_without, CP_ARRAY_SIZE(columns_without));
	for (i = 0; i < shown; i++)
		add_row(&t, x, &x->kinds.items[i]);
	if (shown)
		cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, x->kinds.count);
	if (!x->cut)
		return;
	cp_buf_clear(&text);
	cp_buf_str(&text, "  ! they were too many (--max-rate): none is told after ");
	cp_add_time(&text, x->cut_ns);
	cp_buf_str(&text, "\n");
	cp_paint(out, look, CP_PAINT_WARNING, text.bytes ? text.bytes : "");
}

CP_ERROR cp_report_exceptions(const struct cp_profile *p, const struct cp_report_options *o,
			      const struct cp_look *look, struct cp_buf *out)
{
	struct exceptions x CP_CLEANUP(deinit) = { 0 };

	CP_TRY(build(p, &x));
	print(&x, o, look, out);
	return NULL;
}

/* ---- JSON ---- */

static void kind_json(const struct exceptions *x, const struct kind *k, struct cp_json *j)
{
	struct place place = place_of(x, k);

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "type", *k->type ? k->type : NULL);
	cp_json_u64(j, "count", k->count);
	cp_json_u64(j, "rethrown", k->rethrown);
	cp_json_str(j, "thrown_in", x->p->functions.items[k->thrower].name);
	if (place.file) {
		cp_json_str(j, "file", place.file);
		cp_json_u64(j, "line", place.line);
	}
	if (place.address)
		cp_json_u64(j, "address", place.address);
	cp_json_str(j, "caught_in",
		    k->fate == CAUGHT ? x->p->functions.items[k->catcher].name : NULL);
	if (k->fate == NOT_KNOWN)
		cp_json_null(j, "is_caught");
	else
		cp_json_bool(j, "is_caught", k->fate == CAUGHT);
	cp_json_end(j, '}');
}

CP_ERROR cp_report_exceptions_json(const struct cp_profile *p, const struct cp_report_options *o,
				   struct cp_json *j)
{
	struct exceptions x CP_CLEANUP(deinit) = { 0 };
	const struct kind *k;

	(void)o;
	CP_TRY(build(p, &x));
	cp_json_begin(j, "exceptions", '{');
	cp_json_u64(j, "thrown", x.thrown);
	cp_json_u64(j, "rethrown", x.rethrown);
	cp_json_u64(j, "caught", x.caught);
	if (x.cut)
		cp_json_u64(j, "none_after_ns", x.cut_ns);
	cp_json_begin(j, "kinds", '[');
	cp_vec_for_each(&x.kinds, k)
		kind_json(&x, k, j);
	cp_json_end(j, ']');
	cp_json_end(j, '}');
	return NULL;
}

/* ---- comma-separated values ---- */

CP_ERROR cp_report_exceptions_csv(const struct cp_profile *p, const struct cp_report_options *o,
				  struct cp_buf *out)
{
	struct exceptions x CP_CLEANUP(deinit) = { 0 };
	const struct kind *k;
	uint64_t count = 0;

	CP_TRY(build(p, &x));
	cp_buf_str(out, "type,count,rethrown,thrown_in,file,line,caught_in,is_caught\n");
	cp_vec_for_each(&x.kinds, k) {
		const struct cp_record_call at = { .kind = CP_RECORD_THROW,
						   .function = k->location };
		uint32_t line = 0;
		const char *file = cp_exception_file(p, &at, &line);

		if (o->limit && count++ >= o->limit)
			break;
		cp_csv_text(out, k->type);
		cp_csv_u64(out, k->count);
		cp_csv_u64(out, k->rethrown);
		cp_csv_text(out, p->functions.items[k->thrower].name);
		cp_csv_text(out, file ? file : "");
		cp_csv_u64(out, file ? line : 0);
		cp_csv_text(out, k->fate == CAUGHT ? p->functions.items[k->catcher].name : "");
		cp_csv_text(out, k->fate == CAUGHT	? "yes"
				 : k->fate == NOT_KNOWN ? "unknown"
							: "no");
		cp_csv_end(out);
	}
	return NULL;
}
