/* SPDX-License-Identifier: MIT
 *
 * What was mapped, by who asked for it and what it is, and what of it is left.
 *
 * A removal says when what it removes was mapped: that is how the two find each other,
 * whatever else has come to the address in the meantime. munmap() may take a part.
 */
#include "report/events/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "record/lives.h"
#include "report/events/frames.h"
#include "report/look/csv.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/alike.h"
#include "report/profile/heap.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"

#define STACKS_SHOWN 3 /* unless these are what is asked for */

struct amount {
	uint64_t mappings, bytes;
};

/* By function and what it is; by stack, too. */
struct site {
	uint32_t function, stack; /* the second: CP_RECORD_NONE: of the function */
	uint32_t what; /* number of its text */
	struct amount created, removed, left;
	uint64_t longest_ns; /* of a mapping of which nothing is left, or that is there yet */
};

struct sites {
	struct site *items;
	size_t count, capacity;
	struct cp_interner keys;
};

struct mapping {
	uint32_t process, site, of_stack;
	uint64_t created_ns, left; /* bytes; 0: it is gone */
};

struct maps {
	const struct cp_profile *p;
	struct sites sites, stacks;
	struct cp_alike alike;
	CP_VEC(struct mapping) mappings; /* those that count for the filter */
	struct cp_map by_creation; /* key_of() -> number of one */
	struct cp_map exec_ns; /* process -> when its program is replaced next */
	struct cp_interner whats; /* texts */
	struct amount created, removed, left;
	uint64_t most; /* bytes that were mapped at once */
	uint64_t before; /* removals of what was not seen to be mapped, or by a parent */
	bool cut;
	uint64_t cut_ns; /* since then some are not told */
};

/* ---- events ---- */

static const cprof_value *named(const struct cp_record_call *call, const char *name)
{
	uint32_t i;

	for (i = 0; i < call->value_count; i++)
		if (!strcmp(call->values[i].name, name))
			return &call->values[i];
	return NULL;
}

static uint64_t number(const struct cp_record_call *call, const char *name)
{
	const cprof_value *v = named(call, name);

	return v && (v->kind == CPROF_VALUE_UINT || v->kind == CPROF_VALUE_POINTER) ? v->u.u : 0;
}

/* Appends a text value; false: there is none. */
static bool add_text(const struct cp_record_call *call, const char *name, struct cp_buf *out)
{
	const cprof_value *v = named(call, name);

	if (!v || v->kind != CPROF_VALUE_STRING)
		return false;
	cp_buf_add(out, v->u.text.bytes, v->u.text.length);
	return true;
}

/* "anonymous", "stack", "FILE", ...: what there is to tell apart. */
static void add_what(const struct cp_record_call *call, struct cp_buf *out)
{
	uint64_t flags = number(call, "flags");
	size_t at = out->size;

	if (add_text(call, "path", out))
		return;
	if (!add_text(call, "kind", out))
		cp_buf_str(out, "unknown");
	if (out->failed || out->size - at != strlen("anonymous"))
		return;
	if (flags & MAP_STACK)
		cp_buf_str(out, ", stack");
	else if (flags & MAP_SHARED)
		cp_buf_str(out, ", shared");
	else if (named(call, "protection") && !number(call, "protection"))
		cp_buf_str(out, ", no access");
}

void cp_map_text(const struct cp_record_call *call, struct cp_buf *out)
{
	uint64_t before = number(call, "previous"), lived = number(call, "lived");

	cp_buf_str(out, call->kind == CP_RECORD_MAPPED ? "+ " : "- ");
	cp_add_bytes(out, number(call, "size"));
	cp_buf_str(out, " of ");
	add_what(call, out);
	cp_buf_printf(out, " at 0x%" PRIx64, number(call, "address"));
	if (before)
		cp_buf_printf(out, ", before at 0x%" PRIx64, before);
	if (lived) {
		cp_buf_str(out, " after ");
		cp_add_time(out, lived);
	}
	if (named(call, "by")) {
		cp_buf_str(out, " by ");
		add_text(call, "by", out);
	}
}

static void text_json(const struct cp_record_call *call, const char *name, struct cp_json *j)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!add_text(call, name, &text))
		return;
	cp_buf_u8(&text, 0);
	cp_json_str(j, name, text.failed ? NULL : text.bytes);
}

static void number_json(const struct cp_record_call *call, const char *name, const char *key,
			struct cp_json *j)
{
	if (named(call, name))
		cp_json_u64(j, key, number(call, name));
}

void cp_map_json(const struct cp_record_call *call, struct cp_json *j)
{
	cp_json_hex(j, "address", number(call, "address"));
	if (named(call, "previous"))
		cp_json_hex(j, "previous", number(call, "previous"));
	cp_json_u64(j, "size", number(call, "size"));
	text_json(call, "kind", j);
	text_json(call, "by", j);
	number_json(call, "protection", "protection", j);
	number_json(call, "flags", "flags", j);
	number_json(call, "fd", "fd", j);
	number_json(call, "offset", "offset", j);
	text_json(call, "path", j);
	number_json(call, "lived", "lived_ns", j);
}

/* ---- counting ---- */

static void add(struct amount *to, uint64_t bytes)
{
	to->mappings++;
	to->bytes += bytes;
}

/* The number of a text; UINT32_MAX without memory. */
static uint32_t what_of(struct maps *m, const struct cp_record_call *call)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	uint32_t n;

	add_what(call, &text);
	return !text.failed && cp_intern(&m->whats, text.bytes, text.size, &n, NULL) ? n
										     : UINT32_MAX;
}

static bool find_site(struct sites *in, const struct site *like, uint32_t *ret)
{
	const uint32_t key[] = { like->function, like->stack, like->what };
	bool fresh;

	return cp_intern(&in->keys, key, sizeof(key), ret, &fresh) &&
	       (!fresh || cp_vec_push(in, *like));
}

static uint64_t key_of(uint32_t process, uint64_t created_ns)
{
	return cp_hash_u64(created_ns) + process;
}

static bool is_shown(const struct maps *m, const struct cp_record_call *call)
{
	return cp_profile_ns(m->p, call->ts_ns) >= m->p->filter.from_ns;
}

static CP_ERROR created(struct maps *m, uint32_t process, uint32_t function,
			const struct cp_record_call *call)
{
	const uint64_t size = number(call, "size"), key = key_of(process, call->ts_ns);
	struct site site = { .function = function, .stack = CP_RECORD_NONE };
	struct mapping made = { .process = process, .created_ns = call->ts_ns, .left = size };
	struct amount *of[6];
	size_t i;

	site.what = what_of(m, call);
	if (site.what == UINT32_MAX || !find_site(&m->sites, &site, &made.site))
		return cp_error_nomem();
	if (!cp_alike_stack(&m->alike, m->p, call->stack, &site.stack) ||
	    !find_site(&m->stacks, &site, &made.of_stack) ||
	    !cp_map_put(&m->by_creation, key, m->mappings.count) ||
	    !cp_vec_push(&m->mappings, made))
		return cp_error_nomem();
	of[0] = &m->left;
	of[1] = &m->sites.items[made.site].left;
	of[2] = &m->stacks.items[made.of_stack].left;
	of[3] = &m->created;
	of[4] = &m->sites.items[made.site].created;
	of[5] = &m->stacks.items[made.of_stack].created;
	for (i = 0; i < (is_shown(m, call) ? 6 : 3); i++)
		add(of[i], size);
	if (m->left.bytes > m->most)
		m->most = m->left.bytes;
	return NULL;
}

static void take(struct amount *from, uint64_t bytes, bool last)
{
	from->bytes -= bytes;
	from->mappings -= last;
}

/* So many bytes of it are no more. */
static void remove_bytes(struct maps *m, struct mapping *it, uint64_t bytes, uint64_t now_ns,
			 bool shown)
{
	struct site *of[] = { &m->sites.items[it->site], &m->stacks.items[it->of_stack] };
	uint64_t lived = now_ns > it->created_ns ? now_ns - it->created_ns : 0;
	bool last;
	size_t i;

	if (bytes > it->left)
		bytes = it->left;
	it->left -= bytes;
	last = !it->left;
	take(&m->left, bytes, last);
	for (i = 0; i < CP_ARRAY_SIZE(of); i++) {
		take(&of[i]->left, bytes, last);
		if (lived > of[i]->longest_ns)
			of[i]->longest_ns = lived;
		of[i]->removed.bytes += shown ? bytes : 0;
		of[i]->removed.mappings += shown && last;
	}
	m->removed.bytes += shown ? bytes : 0;
	m->removed.mappings += shown && last;
}

/* The mapping that a removal is about; NULL: it is not known. */
static struct mapping *removed_of(struct maps *m, uint32_t process,
				  const struct cp_record_call *call)
{
	uint64_t created_ns = call->ts_ns - number(call, "lived");
	const uint64_t *n = cp_map_get(&m->by_creation, key_of(process, created_ns));
	struct mapping *it = n ? &m->mappings.items[*n] : NULL;

	return it && named(call, "lived") && it->process == process &&
			       it->created_ns == created_ns && it->left
		       ? it
		       : NULL;
}

/* ---- the ends of programs ---- */

/* When the program of a process ends next, from a time on. */
static uint64_t next_end(const struct maps *m, uint32_t process, uint64_t from_ns,
			 enum cp_record_life_end how, uint64_t never_ns)
{
	const struct cp_record *r = m->p->record;
	int32_t pid = cp_record_get_process(r, process)->pid;
	size_t count = cp_record_life_count(r), i;
	uint64_t ret = never_ns;

	for (i = 0; i < count; i++) {
		const struct cp_record_life *life = cp_record_get_life(r, (uint32_t)i);

		if (!life->thread && life->pid == pid && life->end == how &&
		    life->end_ns >= from_ns && life->end_ns < ret)
			ret = life->end_ns;
	}
	return ret;
}

/* What a process has goes with its program. */
static void pass_execs(struct maps *m, uint32_t process, uint64_t until_ns)
{
	const uint64_t *known = cp_map_get(&m->exec_ns, process);
	uint64_t at = known ? *known : next_end(m, process, 0, CP_LIFE_REPLACED, UINT64_MAX);
	struct mapping *it;

	for (; at < until_ns; at = next_end(m, process, at + 1, CP_LIFE_REPLACED, UINT64_MAX))
		cp_vec_for_each(&m->mappings, it)
			if (it->process == process && it->left && it->created_ns <= at)
				remove_bytes(m, it, it->left, at, false);
	cp_map_put(&m->exec_ns, process, at);
}

/* What is left has lived until its process ended, or the recording. */
static void look_at_left(struct maps *m)
{
	uint64_t end_ns = cp_record_final(m->p->record)->end_ns;
	size_t processes = cp_record_process_count(m->p->record), i;
	struct mapping *it;

	for (i = 0; i < processes; i++)
		pass_execs(m, (uint32_t)i, end_ns ? end_ns : UINT64_MAX - 1);
	cp_vec_for_each(&m->mappings, it) {
		struct site *of[] = { &m->sites.items[it->site], &m->stacks.items[it->of_stack] };
		uint64_t ended_ns;

		if (!it->left)
			continue;
		ended_ns = next_end(m, it->process, it->created_ns, CP_LIFE_ENDED, end_ns);
		for (i = 0; i < CP_ARRAY_SIZE(of); i++)
			if (ended_ns > it->created_ns &&
			    ended_ns - it->created_ns > of[i]->longest_ns)
				of[i]->longest_ns = ended_ns - it->created_ns;
	}
}

/* ---- all of them ---- */

static struct cp_error *each(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	struct maps *m = ctx;
	uint32_t process = cp_record_get_thread(m->p->record, thread)->process;
	bool counts = cp_profile_accepts_memory(m->p, thread, function);
	struct mapping *it;

	pass_execs(m, process, call->ts_ns);
	if (call->kind == CP_RECORD_MAPPED)
		return counts ? created(m, process, function, call) : NULL;
	it = removed_of(m, process, call);
	if (it)
		remove_bytes(m, it, number(call, "size"), call->ts_ns, is_shown(m, call));
	else if (counts && is_shown(m, call))
		m->before++;
	return NULL;
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	static const char *const names[] = { "mmap", "mmap64", "munmap", "mremap", "brk", NULL };
	struct maps *m = ctx;
	const char *name = m->p->functions.items[function].name;

	(void)thread;
	if (m->cut || !cp_is_any(name + strspn(name, "_"), names))
		return NULL;
	m->cut = true;
	m->cut_ns = cp_profile_ns(m->p, call->ts_ns);
	return NULL;
}

static int by_left(const void *a, const void *b)
{
	const struct site *one = a, *two = b;

	if (one->left.bytes != two->left.bytes)
		return one->left.bytes > two->left.bytes ? -1 : 1;
	if (one->created.bytes != two->created.bytes)
		return one->created.bytes > two->created.bytes ? -1 : 1;
	if (one->created.mappings != two->created.mappings)
		return one->created.mappings > two->created.mappings ? -1 : 1;
	return (one->what > two->what) - (one->what < two->what);
}

static void deinit(struct maps *m)
{
	cp_vec_free(&m->sites);
	cp_vec_free(&m->stacks);
	cp_interner_free(&m->sites.keys);
	cp_interner_free(&m->stacks.keys);
	cp_alike_deinit(&m->alike);
	cp_vec_free(&m->mappings);
	cp_map_free(&m->by_creation);
	cp_map_free(&m->exec_ns);
	cp_interner_free(&m->whats);
}

static CP_ERROR build(const struct cp_profile *p, struct maps *m)
{
	static const struct cp_span_visitor visitor = { .map = each, .disarmed = disarmed };

	*m = (struct maps){ .p = p };
	CP_TRY(cp_spans_walk(p, &visitor, m));
	look_at_left(m);
	cp_vec_sort(&m->sites, by_left);
	cp_vec_sort(&m->stacks, by_left);
	return NULL;
}

static const char *what_text(const struct maps *m, const struct site *site)
{
	return m->whats.items[site->what].bytes;
}

bool cp_report_holds_maps(const struct cp_profile *p)
{
	return cp_record_info(p->record)->holds & CP_RECORD_HAS_MAPS ||
	       cp_record_map_count(p->record);
}

/* ---- text ---- */

static const struct cp_column columns[] = {
	{ "left", true, 0, false },	{ "mappings", true, 0, false },
	{ "made", true, 0, false },	{ "mappings", true, 0, false },
	{ "removed", true, 0, true },	{ "longest", true, 0, true },
	{ "mapped", false, 14, false }, { "mapped in", false, 14, false },
};

static void add_amount(struct cp_buf *out, const struct amount *a)
{
	cp_add_bytes(out, a->bytes);
	cp_buf_str(out, " in ");
	cp_add_plural(out, a->mappings, "mapping", "mappings");
}

static void title(const struct maps *m, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!m->created.mappings && !m->left.mappings && !m->before) {
		cp_report_title(out, look, "Mappings", "nothing was mapped or unmapped");
		return;
	}
	add_amount(&text, &m->created);
	cp_buf_str(&text, "; left: ");
	if (m->left.mappings)
		add_amount(&text, &m->left);
	else
		cp_buf_str(&text, "nothing");
	cp_report_title(out, look, "Mappings", text.bytes ? text.bytes : "");
	cp_buf_clear(&text);
	cp_buf_str(&text, "  ");
	cp_add_count(&text, m->removed.mappings);
	cp_buf_str(&text, " removed, ");
	cp_add_bytes(&text, m->removed.bytes);
	cp_buf_str(&text, "; at most ");
	cp_add_bytes(&text, m->most);
	cp_buf_str(&text, " at once\n");
	cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}

static void bytes_cell(struct cp_table *t, enum cp_paint paint, uint64_t bytes)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (bytes)
		cp_add_bytes(&text, bytes);
	cp_table_name(t, paint, text.bytes ? text.bytes : "");
}

static void count_cell(struct cp_table *t, enum cp_paint paint, uint64_t count)
{
	if (count)
		cp_table_count(t, paint, count);
	else
		cp_table_name(t, paint, "");
}

static void add_row(struct cp_table *t, const struct maps *m, const struct site *site)
{
	bytes_cell(t, CP_PAINT_BOLD, site->left.bytes);
	count_cell(t, CP_PAINT_BOLD, site->left.mappings);
	bytes_cell(t, CP_PAINT_PLAIN, site->created.bytes);
	count_cell(t, CP_PAINT_PLAIN, site->created.mappings);
	count_cell(t, CP_PAINT_PLAIN, site->removed.mappings);
	cp_table_time(t, CP_PAINT_PLAIN, site->longest_ns);
	cp_table_name(t, CP_PAINT_PLAIN, what_text(m, site));
	cp_table_function(t, CP_PAINT_NAME, m->p->functions.items[site->function].name);
}

static void print_stack(const struct maps *m, const struct site *site, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const uint32_t *frames;
	size_t count;

	cp_buf_str(&text, "  ");
	add_amount(&text, &site->left);
	cp_buf_str(&text, " of ");
	cp_add_name(&text, what_text(m, site));
	cp_buf_str(&text, " from\n");
	cp_paint(out, look, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
	if (site->stack == CP_RECORD_NONE)
		return;
	for (frames = cp_profile_walk(m->p, site->stack, &count); count--;) /* leaf first */
		cp_report_frame(m->p, frames[count], look, out);
}

static void print_left(const struct maps *m, size_t most, const struct cp_look *look,
		       struct cp_buf *out)
{
	size_t used = 0, shown, i;

	while (used < m->stacks.count && m->stacks.items[used].left.bytes)
		used++;
	if (!used)
		return;
	shown = most && used > most ? most : used;
	cp_report_title(out, look, "Still mapped", "at the end, by the stack that mapped it");
	for (i = 0; i < shown; i++)
		print_stack(m, &m->stacks.items[i], look, out);
	cp_report_more(out, look, shown, used);
}

static void print_doubts(const struct maps *m, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (m->before) {
		cp_buf_str(&text, "  ");
		cp_add_plural(&text, m->before, "removal", "removals");
		cp_buf_str(&text, " of what nobody was seen to map, or a parent has\n");
		cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
		cp_buf_clear(&text);
	}
	if (!m->cut)
		return;
	cp_buf_str(&text, "  ! they were too many (--max-rate): some are not told after ");
	cp_add_time(&text, m->cut_ns);
	cp_buf_str(&text, ",\n    and what is left is not known\n");
	cp_paint(out, look, CP_PAINT_WARNING, text.bytes ? text.bytes : "");
}

CP_ERROR cp_report_maps(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	struct maps m CP_CLEANUP(deinit) = { 0 };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t shown, i;

	CP_TRY(build(p, &m));
	title(&m, look, out);
	shown = o->limit && o->limit < m.sites.count ? (size_t)o->limit : m.sites.count;
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < shown; i++)
		add_row(&t, &m, &m.sites.items[i]);
	if (shown)
		cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, m.sites.count);
	print_doubts(&m, look, out);
	if (o->what != CP_REPORT_SUMMARY)
		print_left(&m, o->what == CP_REPORT_MAPS ? (size_t)o->limit : STACKS_SHOWN, look,
			   out);
	return NULL;
}

/* ---- JSON ---- */

static void amount_json(struct cp_json *j, const char *key, const struct amount *a)
{
	cp_json_begin(j, key, '{');
	cp_json_u64(j, "mappings", a->mappings);
	cp_json_u64(j, "bytes", a->bytes);
	cp_json_end(j, '}');
}

static void sites_json(const struct maps *m, const char *key, const struct sites *sites,
		       uint64_t limit, struct cp_json *j)
{
	const uint32_t *frames;
	size_t count, i;

	cp_json_begin(j, key, '[');
	for (i = 0; i < sites->count && (!limit || i < limit); i++) {
		const struct site *site = &sites->items[i];

		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "function", m->p->functions.items[site->function].name);
		cp_json_str(j, "mapped", what_text(m, site));
		amount_json(j, "created", &site->created);
		amount_json(j, "removed", &site->removed);
		amount_json(j, "left", &site->left);
		cp_json_u64(j, "longest_ns", site->longest_ns);
		if (site->stack != CP_RECORD_NONE) {
			cp_json_begin(j, "stack", '[');
			for (frames = cp_profile_walk(m->p, site->stack, &count); count--;)
				cp_report_frame_json(m->p, frames[count], j);
			cp_json_end(j, ']');
		}
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

CP_ERROR cp_report_maps_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j)
{
	struct maps m CP_CLEANUP(deinit) = { 0 };

	CP_TRY(build(p, &m));
	cp_json_begin(j, "mappings", '{');
	amount_json(j, "created", &m.created);
	amount_json(j, "removed", &m.removed);
	amount_json(j, "left", &m.left);
	cp_json_u64(j, "most_bytes", m.most);
	cp_json_u64(j, "before", m.before);
	sites_json(&m, "functions", &m.sites, o->limit, j);
	sites_json(&m, "stacks", &m.stacks, o->limit, j);
	if (m.cut)
		cp_json_u64(j, "incomplete_after_ns", m.cut_ns);
	cp_json_end(j, '}');
	return NULL;
}

/* ---- comma-separated values ---- */

static void amount_csv(struct cp_buf *out, const struct amount *a)
{
	cp_csv_u64(out, a->mappings);
	cp_csv_u64(out, a->bytes);
}

CP_ERROR cp_report_maps_csv(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_buf *out)
{
	struct maps m CP_CLEANUP(deinit) = { 0 };
	size_t i;

	CP_TRY(build(p, &m));
	cp_buf_str(out, "function,mapped,created_mappings,created_bytes,removed_mappings,"
			"removed_bytes,left_mappings,left_bytes,longest_ns\n");
	for (i = 0; i < m.sites.count && (!o->limit || i < o->limit); i++) {
		const struct site *site = &m.sites.items[i];

		cp_csv_text(out, p->functions.items[site->function].name);
		cp_csv_text(out, what_text(&m, site));
		amount_csv(out, &site->created);
		amount_csv(out, &site->removed);
		amount_csv(out, &site->left);
		cp_csv_u64(out, site->longest_ns);
		cp_csv_end(out);
	}
	return NULL;
}
