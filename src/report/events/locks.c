/* SPDX-License-Identifier: MIT
 *
 * Waits for the same lock in the same function are a row, the worst first.
 */
#include "report/events/locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/events/frames.h"
#include "report/look/csv.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"
#include "report/profile/tree.h"

struct owner {
	int32_t tid; /* 0: not known */
	uint64_t waits;
};

struct row {
	struct cp_buf name; /* of the lock */
	char *type, *variable; /* owned; variable NULL: none */
	uint64_t address;
	uint32_t process, function, number;
	uint32_t origin; /* the worst of its origins + 1; 0: none */
	uint64_t waits, timed_out, open, total_ns, longest_ns;
	CP_VEC(struct owner) owners; /* the most frequent first */
};

#define ORIGIN_FRAMES 8 /* more of a stack has replay */

/* The origin of waits for a row's lock: the frames from that of the row's function
 * on outwards. Two calls in a line are one place. */
struct origin {
	uint32_t row;
	uint32_t frames[ORIGIN_FRAMES], count;
	bool cut; /* there are more */
	uint32_t next; /* of the row's + 1; 0: none */
	uint64_t waits, total_ns;
};

struct locks {
	const struct cp_profile *p;
	CP_VEC(struct row) rows;
	CP_VEC(struct origin) origins; /* of waits with a stack; the worst first */
	struct cp_interner keys, origin_keys;
	uint64_t waits, timed_out, total_ns;
	bool cut;
	uint64_t cut_ns; /* since then they are not told */
};

uint64_t cp_wait_address(const struct cp_record_call *call)
{
	return call->value_count && call->values[0].kind == CPROF_VALUE_POINTER
		       ? call->values[0].u.u
		       : 0;
}

int32_t cp_wait_owner(const struct cp_record_call *call)
{
	return call->value_count > 1 && call->values[1].kind == CPROF_VALUE_INT
		       ? (int32_t)call->values[1].u.i
		       : 0;
}

const char *cp_wait_end(const struct cp_record_call *call)
{
	return call->flags & CP_RECORD_WAIT_TIMED_OUT ? "timed_out"
	       : call->flags & CP_RECORD_WAIT_OPEN    ? "unfinished"
						      : "acquired";
}

static const char *variable_of(const struct cp_record_call *call)
{
	const char *name = call->value_count ? call->values[0].symbol : NULL;

	return name && *name ? name : NULL;
}

static const char *type_of(const struct cp_record_call *call)
{
	return call->value_count && call->values[0].type ? call->values[0].type : "";
}

void cp_wait_name(const struct cp_record_call *call, struct cp_buf *out)
{
	if (variable_of(call))
		cp_buf_str(out, variable_of(call));
	else
		cp_buf_printf(out, "%s at 0x%" PRIx64, *type_of(call) ? type_of(call) : "lock",
			      cp_wait_address(call));
}

/* The thread of a process; CP_RECORD_NONE: not in the recording. */
static uint32_t thread_of(const struct cp_profile *p, uint32_t process, int32_t tid)
{
	size_t count = cp_record_thread_count(p->record), i;

	for (i = 0; tid && i < count; i++) {
		const struct cp_record_thread *t = cp_record_get_thread(p->record, (uint32_t)i);

		if (t->tid == tid && t->process == process)
			return (uint32_t)i;
	}
	return CP_RECORD_NONE;
}

static void add_owner_name(const struct cp_profile *p, uint32_t process, int32_t tid,
			   struct cp_buf *out)
{
	uint32_t thread = thread_of(p, process, tid);

	if (thread != CP_RECORD_NONE)
		cp_thread_name(p, thread, out);
	else
		cp_buf_printf(out, "thread %d", tid);
}

void cp_wait_text(const struct cp_profile *p, const struct cp_record_call *call, struct cp_buf *out)
{
	int32_t owner = cp_wait_owner(call);

	cp_add_time(out, call->duration_ns);
	cp_buf_str(out, " for ");
	cp_wait_name(call, out);
	if (owner) {
		cp_buf_str(out, ", held by ");
		add_owner_name(p, cp_record_get_thread(p->record, call->thread)->process, owner,
			       out);
	}
	if (call->flags & CP_RECORD_WAIT_OPEN)
		cp_buf_str(out, ", not over");
	else if (call->flags & CP_RECORD_WAIT_TIMED_OUT)
		cp_buf_str(out, ", timed out");
}

/* ---- counting ---- */

static bool add_owner(struct row *row, int32_t tid)
{
	size_t i;

	for (i = 0; i < row->owners.count; i++)
		if (row->owners.items[i].tid == tid)
			break;
	if (i == row->owners.count && !cp_vec_push(&row->owners, ((struct owner){ tid, 0 })))
		return false;
	row->owners.items[i].waits++;
	for (; i && row->owners.items[i].waits > row->owners.items[i - 1].waits; i--) {
		struct owner less = row->owners.items[i - 1];

		row->owners.items[i - 1] = row->owners.items[i];
		row->owners.items[i] = less;
	}
	return true;
}

/* NULL without memory. */
static struct row *row_of(struct locks *l, const struct cp_record_call *call, uint32_t function)
{
	struct {
		uint64_t address;
		uint32_t process, function;
	} key = { cp_wait_address(call), cp_record_get_thread(l->p->record, call->thread)->process,
		  function };
	struct row row = { .address = key.address, .process = key.process, .function = function };
	uint32_t number;
	bool fresh;

	if (!cp_intern(&l->keys, &key, sizeof(key), &number, &fresh))
		return NULL;
	if (!fresh)
		return number < l->rows.count ? &l->rows.items[number] : NULL;
	cp_wait_name(call, &row.name);
	row.type = strdup(type_of(call));
	row.variable = variable_of(call) ? strdup(variable_of(call)) : NULL;
	if (row.type && !row.name.failed && cp_vec_push(&l->rows, row))
		return &l->rows.items[l->rows.count - 1];
	cp_buf_free(&row.name);
	free(row.type);
	free(row.variable);
	return NULL;
}

static void find_frames(const struct cp_profile *p, const struct cp_record_call *call,
			uint32_t function, struct origin *origin)
{
	size_t count, from;
	const uint32_t *frames = cp_profile_walk(p, call->stack, &count);

	for (from = count; from; from--)
		if (p->frames.items[frames[from - 1]].function == function)
			break;
	if (!from)
		from = count;
	while (from && origin->count < ORIGIN_FRAMES)
		origin->frames[origin->count++] = frames[--from];
	origin->cut = from || cp_profile_truncated(p, call->stack);
}

static bool add_origin(struct locks *l, const struct row *row, const struct cp_record_call *call)
{
	struct origin origin = { .row = (uint32_t)(row - l->rows.items) };
	struct {
		uint32_t row, cut, functions[ORIGIN_FRAMES], lines[ORIGIN_FRAMES];
	} key = { .row = origin.row };
	uint32_t number, i;
	bool fresh;

	if (call->stack == CP_RECORD_NONE)
		return true;
	find_frames(l->p, call, row->function, &origin);
	key.cut = origin.cut;
	for (i = 0; i < origin.count; i++) {
		key.functions[i] = l->p->frames.items[origin.frames[i]].function + 1;
		key.lines[i] = l->p->frames.items[origin.frames[i]].line;
	}
	if (!cp_intern(&l->origin_keys, &key, sizeof(key), &number, &fresh) ||
	    (fresh && !cp_vec_push(&l->origins, origin)))
		return false;
	if (number >= l->origins.count)
		return false;
	l->origins.items[number].waits++;
	l->origins.items[number].total_ns += call->duration_ns;
	return true;
}

static struct cp_error *each(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	struct locks *l = ctx;
	struct row *row = row_of(l, call, function);

	(void)thread;
	if (!row || !add_owner(row, cp_wait_owner(call)) || !add_origin(l, row, call))
		return cp_error_nomem();
	l->waits++;
	row->waits++;
	l->total_ns += call->duration_ns;
	row->total_ns += call->duration_ns;
	if (call->duration_ns > row->longest_ns)
		row->longest_ns = call->duration_ns;
	if (call->flags & CP_RECORD_WAIT_OPEN) {
		row->open++;
	} else if (call->flags & CP_RECORD_WAIT_TIMED_OUT) {
		row->timed_out++;
		l->timed_out++;
	}
	return NULL;
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct locks *l = ctx;
	uint64_t start = cp_record_info(l->p->record)->start_ns;
	const char *name = l->p->functions.items[function].name;

	(void)thread;
	if (!cp_starts_with(name, "pthread_mutex_") && !strstr(name, "lock_contended"))
		return NULL;
	l->cut = true;
	l->cut_ns = call->ts_ns > start ? call->ts_ns - start : 0;
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct row *one = a, *two = b;

	if (one->total_ns != two->total_ns)
		return one->total_ns > two->total_ns ? -1 : 1;
	return (one->waits < two->waits) - (one->waits > two->waits);
}

static int by_origin(const void *a, const void *b)
{
	const struct origin *one = a, *two = b;

	if (one->total_ns != two->total_ns)
		return one->total_ns > two->total_ns ? -1 : 1;
	return (one->waits < two->waits) - (one->waits > two->waits);
}

/* The worst first; origins go with their rows. */
static CP_ERROR sort(struct locks *l)
{
	CP_FREE uint32_t *to = calloc(l->rows.count + 1, sizeof(*to));
	struct origin *origin;
	uint32_t i;

	if (!to)
		return cp_error_nomem();
	for (i = 0; i < l->rows.count; i++)
		l->rows.items[i].number = i;
	if (l->rows.count)
		qsort(l->rows.items, l->rows.count, sizeof(*l->rows.items), by_time);
	for (i = 0; i < l->rows.count; i++)
		to[l->rows.items[i].number] = i;
	cp_vec_for_each(&l->origins, origin)
		origin->row = to[origin->row];
	if (l->origins.count)
		qsort(l->origins.items, l->origins.count, sizeof(*l->origins.items), by_origin);
	for (i = (uint32_t)l->origins.count; i; i--) {
		origin = &l->origins.items[i - 1];
		origin->next = l->rows.items[origin->row].origin;
		l->rows.items[origin->row].origin = i;
	}
	return NULL;
}

static void deinit(struct locks *l)
{
	struct row *row;

	cp_vec_for_each(&l->rows, row) {
		cp_buf_free(&row->name);
		free(row->type);
		free(row->variable);
		cp_vec_free(&row->owners);
	}
	cp_vec_free(&l->rows);
	cp_vec_free(&l->origins);
	cp_interner_free(&l->keys);
	cp_interner_free(&l->origin_keys);
}

static CP_ERROR build(const struct cp_profile *p, struct locks *l)
{
	static const struct cp_span_visitor visitor = { .wait = each, .disarmed = disarmed };

	*l = (struct locks){ .p = p };
	CP_TRY(cp_spans_walk(p, &visitor, l));
	return sort(l);
}

bool cp_report_holds_locks(const struct cp_profile *p)
{
	return cp_record_info(p->record)->holds & CP_RECORD_HAS_LOCKS ||
	       cp_record_wait_count(p->record);
}

/* ---- text ---- */

#define TIMED_OUT_COLUMN 3

static const struct cp_column columns[] = {
	{ "waits", true, 0, false },	 { "total", true, 0, false },
	{ "longest", true, 0, false },	 { "timed out", true, 0, true },
	{ "lock", false, 24, false },	 { "waited for in", false, 16, false },
	{ "held by", false, 12, false },
};

/* The most frequent one that is known. */
static void add_owners(struct cp_table *t, const struct locks *l, const struct row *row)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t known = row->owners.count, more = 0, i;

	for (i = row->owners.count; i--;)
		if (row->owners.items[i].tid) {
			known = i;
			more++;
		}
	if (more)
		add_owner_name(l->p, row->process, row->owners.items[known].tid, &text);
	else
		cp_buf_str(&text, "?");
	if (more > 1)
		cp_buf_printf(&text, " and %zu more", more - 1);
	cp_table_name(t, CP_PAINT_PLAIN, text.bytes ? text.bytes : "");
}

static void add_row(struct cp_table *t, const struct locks *l, const struct row *row)
{
	cp_table_count(t, CP_PAINT_PLAIN, row->waits);
	cp_table_time(t, CP_PAINT_PLAIN, row->total_ns);
	cp_table_time(t, CP_PAINT_PLAIN, row->longest_ns);
	if (row->timed_out)
		cp_table_count(t, CP_PAINT_WARNING, row->timed_out);
	else if (l->timed_out)
		cp_table_name(t, CP_PAINT_PLAIN, "");
	cp_table_name(t, CP_PAINT_BOLD, row->name.bytes);
	cp_table_function(t, CP_PAINT_PLAIN, l->p->functions.items[row->function].name);
	add_owners(t, l, row);
}

static void title(const struct locks *l, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (l->waits) {
		cp_add_plural(&text, l->waits, "wait", "waits");
		cp_buf_str(&text, " of together ");
		cp_add_time(&text, l->total_ns);
		if (l->timed_out) {
			cp_buf_str(&text, ", ");
			cp_add_count(&text, l->timed_out);
			cp_buf_str(&text, " timed out");
		}
	} else {
		cp_buf_str(&text, "no lock was waited for");
	}
	cp_report_title(out, look, "Locks", text.bytes ? text.bytes : "");
}

static void print_origins(const struct locks *l, size_t most, const struct cp_look *look,
			  struct cp_buf *out)
{
	size_t shown = most && l->origins.count > most ? most : l->origins.count, i;
	uint32_t n;

	if (!shown)
		return;
	cp_report_title(out, look, "Waits", "longest in all first, by where they came from");
	for (i = 0; i < shown; i++) {
		const struct origin *origin = &l->origins.items[i];
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

		cp_buf_str(&text, "  ");
		cp_add_plural(&text, origin->waits, "wait", "waits");
		cp_buf_str(&text, " of ");
		cp_add_time(&text, origin->total_ns);
		cp_buf_str(&text, " for ");
		cp_add_name(&text, l->rows.items[origin->row].name.bytes);
		cp_buf_str(&text, " from\n");
		cp_paint(out, look, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
		for (n = 0; n < origin->count; n++)
			cp_report_frame(l->p, origin->frames[n], look, out);
		if (origin->cut)
			cp_paint(out, look, CP_PAINT_DIM, "      …\n");
	}
	cp_report_more(out, look, shown, l->origins.count);
}

static void print(const struct locks *l, const struct cp_report_options *o,
		  const struct cp_look *look, struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_column present[CP_ARRAY_SIZE(columns)];
	size_t shown = l->rows.count, count = 0, i;

	title(l, look, out);
	for (i = 0; i < CP_ARRAY_SIZE(columns); i++)
		if (i != TIMED_OUT_COLUMN || l->timed_out)
			present[count++] = columns[i];
	if (o->limit && o->limit < shown)
		shown = (size_t)o->limit;
	cp_table_init(&t, present, count);
	for (i = 0; i < shown; i++)
		add_row(&t, l, &l->rows.items[i]);
	if (shown)
		cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, l->rows.count);
	print_origins(l, (size_t)o->limit, look, out);
	if (!l->cut)
		return;
	cp_buf_str(&text, "  ! they were too many (--max-rate): none is told after ");
	cp_add_time(&text, l->cut_ns);
	cp_buf_str(&text, "\n");
	cp_paint(out, look, CP_PAINT_WARNING, text.bytes ? text.bytes : "");
}

CP_ERROR cp_report_locks(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out)
{
	struct locks l CP_CLEANUP(deinit) = { 0 };

	CP_TRY(build(p, &l));
	print(&l, o, look, out);
	return NULL;
}

/* ---- JSON ---- */

static void owner_json(const struct locks *l, const struct row *row, const struct owner *owner,
		       struct cp_json *j)
{
	uint32_t thread = thread_of(l->p, row->process, owner->tid);

	cp_json_begin(j, NULL, '{');
	if (owner->tid)
		cp_json_u64(j, "tid", (uint64_t)owner->tid);
	else
		cp_json_str(j, "tid", NULL);
	cp_json_str(j, "thread",
		    thread == CP_RECORD_NONE ? NULL
					     : cp_record_get_thread(l->p->record, thread)->name);
	cp_json_u64(j, "waits", owner->waits);
	cp_json_end(j, '}');
}

/* In recordings without stacks there is no such key. */
static void origins_json(const struct locks *l, const struct row *row, struct cp_json *j)
{
	const struct origin *origin;
	uint32_t number, n;

	if (!l->origins.count)
		return;
	cp_json_begin(j, "from", '[');
	for (number = row->origin; number; number = origin->next) {
		origin = &l->origins.items[number - 1];
		cp_json_begin(j, NULL, '{');
		cp_json_u64(j, "waits", origin->waits);
		cp_json_u64(j, "total_ns", origin->total_ns);
		cp_json_begin(j, "stack", '[');
		for (n = 0; n < origin->count; n++)
			cp_report_frame_json(l->p, origin->frames[n], j);
		cp_json_end(j, ']');
		cp_json_bool(j, "cut", origin->cut);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void row_json(const struct locks *l, const struct row *row, struct cp_json *j)
{
	const struct owner *owner;
	char address[24];

	snprintf(address, sizeof(address), "0x%" PRIx64, row->address);
	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "address", address);
	cp_json_str(j, "type", *row->type ? row->type : NULL);
	cp_json_str(j, "variable", row->variable);
	cp_json_u64(j, "pid", (uint64_t)cp_record_get_process(l->p->record, row->process)->pid);
	cp_json_str(j, "waited_in", l->p->functions.items[row->function].name);
	cp_json_u64(j, "waits", row->waits);
	cp_json_u64(j, "timed_out", row->timed_out);
	cp_json_u64(j, "unfinished", row->open);
	cp_json_u64(j, "total_ns", row->total_ns);
	cp_json_u64(j, "longest_ns", row->longest_ns);
	cp_json_begin(j, "owners", '[');
	cp_vec_for_each(&row->owners, owner)
		owner_json(l, row, owner, j);
	cp_json_end(j, ']');
	origins_json(l, row, j);
	cp_json_end(j, '}');
}

CP_ERROR cp_report_locks_json(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_json *j)
{
	struct locks l CP_CLEANUP(deinit) = { 0 };
	const struct row *row;

	(void)o;
	CP_TRY(build(p, &l));
	cp_json_begin(j, "locks", '[');
	cp_vec_for_each(&l.rows, row)
		row_json(&l, row, j);
	cp_json_end(j, ']');
	if (l.cut)
		cp_json_u64(j, "no_locks_after_ns", l.cut_ns);
	return NULL;
}

/* ---- comma-separated values ---- */

CP_ERROR cp_report_locks_csv(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_buf *out)
{
	struct locks l CP_CLEANUP(deinit) = { 0 };
	const struct row *row;
	uint64_t count = 0;
	char address[24];

	CP_TRY(build(p, &l));
	cp_buf_str(out, "address,type,variable,pid,waited_in,waits,timed_out,unfinished,total_ns,"
			"longest_ns\n");
	cp_vec_for_each(&l.rows, row) {
		if (o->limit && count++ >= o->limit)
			break;
		snprintf(address, sizeof(address), "0x%" PRIx64, row->address);
		cp_csv_text(out, address);
		cp_csv_text(out, row->type);
		cp_csv_text(out, row->variable ? row->variable : "");
		cp_csv_u64(out, (uint64_t)cp_record_get_process(p->record, row->process)->pid);
		cp_csv_text(out, p->functions.items[row->function].name);
		cp_csv_u64(out, row->waits);
		cp_csv_u64(out, row->timed_out);
		cp_csv_u64(out, row->open);
		cp_csv_u64(out, row->total_ns);
		cp_csv_u64(out, row->longest_ns);
		cp_csv_end(out);
	}
	return NULL;
}
