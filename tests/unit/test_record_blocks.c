/* SPDX-License-Identifier: MIT
 *
 * The same calls as single events and in blocks of a thread: both recordings have to tell
 * the same, thread by thread and in the order of time, merged and damaged, too.
 */
#include "record/merge.h"
#include "test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "record/call_block_decode.h"
#include "record/load.h"
#include "record/reader.h"
#include "record/sums.h"
#include "record_model.h"

#define START_NS (104 * CP_NS_PER_S) /* a multiple of the unit */
#define THREADS 4u
#define FUNCTIONS 30u
#define DEEP 5000u

#define FORMS 12u
#define VALUES 16u /* at most, of an event, with their parts */
#define PLACES 5u

struct frame {
	uint64_t ts_ns, inner;
	uint32_t function;
};

struct thread {
	struct frame *frames;
	uint32_t depth;
	struct cp_call_entry *entries; /* not told yet */
	size_t count;
	cprof_value *values; /* of the entries */
	size_t value_count;
	uint64_t *numbers; /* some of these as numbers: three a value */
	size_t number_count;
};

struct program {
	struct cp_record_writer *events, *blocks;
	struct thread threads[THREADS];
	uint64_t now_ns;
	uint32_t most; /* depth */
	bool values; /* calls have some */
	struct cp_sums sums;
};

static const struct cp_call_costs costs = {
	.own_ps = 12300, .inner_ps = 41700, .own_doubt_ps = 900, .inner_doubt_ps = 2100
};

/* What is certain, and how much more it may be; or the middle, if that is right to a tenth. */
static void add_costs(struct cp_record_call *call, uint64_t inner)
{
	uint64_t least = (costs.own_ps + inner * costs.inner_ps) / 1000;
	uint64_t most = least + (costs.own_doubt_ps + inner * costs.inner_doubt_ps) / 1000;
	uint64_t lasted = call->duration_ns, half;

	least = least > lasted ? lasted : least;
	most = most > lasted ? lasted : most;
	half = (most - least) / 2;
	call->overhead_ns = least;
	if (10 * half <= lasted - least - half)
		call->overhead_ns += half;
	else
		call->uncertain_ns = most - least;
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % n);
}

static void make_tables(struct cp_record_writer *w)
{
	const struct cp_record_image image = { .path = "/bin/p", .build_id = "", .debug_path = "" };
	const struct cp_record_process process = {
		.pid = 7, .ns_pid = 7, .name = "p", .exe = "/bin/p", .start_ns = START_NS
	};
	uint32_t of = cp_record_image(w, 1, &image), p = cp_record_process(w, &process), i;

	for (i = 0; i < THREADS; i++) {
		const struct cp_record_thread thread = { .process = p,
							 .tid = 7 + (int32_t)i,
							 .ns_tid = 7 + (int32_t)i,
							 .name = "t",
							 .start_ns = START_NS };

		cp_record_thread(w, &thread);
	}
	for (i = 0; i < FUNCTIONS; i++)
		cp_record_location(w, of, 16 * i, 0);
}

/* ---- values ---- */

#define WITHIN(offset) .address = 2 + (offset)
static const cprof_value part[] = {
	{ .kind = CPROF_VALUE_INT, .size = 2, .name = "a", .type = "short", WITHIN(18) },
	{ .kind = CPROF_VALUE_FLOAT, .size = 8, .name = "w", .type = "double", WITHIN(24) },
};
static const cprof_value elements[] = {
	{ .kind = CPROF_VALUE_UINT, .size = 4, .name = "", .type = "unsigned", WITHIN(40) },
	{ .kind = CPROF_VALUE_UINT, .size = 4, .name = "", .type = "unsigned", WITHIN(44) },
	{ .kind = CPROF_VALUE_UINT, .size = 4, .name = "", .type = "unsigned", WITHIN(48) },
};
static const cprof_value node[] = {
	{ .kind = CPROF_VALUE_POINTER,
	  .size = 8,
	  .name = "next",
	  .type = "struct node *",
	  WITHIN(0) },
	{ .kind = CPROF_VALUE_STRING, .size = 8, .name = "name", .type = "char *", .address = 1 },
	{ .kind = CPROF_VALUE_STRUCT,
	  .name = "in",
	  .type = "struct inner",
	  WITHIN(16),
	  .count = 2,
	  .items = part },
	{ .kind = CPROF_VALUE_ERROR,
	  .error = CPROF_VALUE_TOO_DEEP,
	  .name = "deep",
	  .type = "struct deep",
	  WITHIN(32) },
	{ .kind = CPROF_VALUE_UINT, .size = 4, .name = "bits", .type = "unsigned" },
	{ .kind = CPROF_VALUE_ARRAY,
	  .name = "counts",
	  .type = "unsigned[30]",
	  .cut = true,
	  .repeats = 1,
	  WITHIN(40),
	  .count = 3,
	  .items = elements },
};
static const cprof_value pointee[] = {
	{ .kind = CPROF_VALUE_STRUCT,
	  .name = "",
	  .type = "struct node",
	  WITHIN(0),
	  .count = 6,
	  .items = node },
};

static const struct form {
	uint16_t count;
	cprof_value values[PLACES];
} forms[FORMS] = {
	{ 1, { { .kind = CPROF_VALUE_INT, .size = 4, .name = "a", .type = "int" } } },
	{ 2,
	  { { .kind = CPROF_VALUE_STRING,
	      .size = 8,
	      .name = "path",
	      .type = "char *",
	      .address = 1 },
	    { .kind = CPROF_VALUE_ENUM,
	      .size = 4,
	      .name = "mode",
	      .type = "enum mode",
	      .symbol = "" } } },
	{ 5,
	  { { .kind = CPROF_VALUE_UINT, .size = 8, .name = "", .type = "", .guessed = true },
	    { .kind = CPROF_VALUE_POINTER,
	      .size = 8,
	      .name = "f",
	      .type = "void (*)()",
	      .symbol = "" },
	    { .kind = CPROF_VALUE_FLOAT, .size = 8, .name = "d", .type = "double" },
	    { .kind = CPROF_VALUE_BOOL, .size = 1, .name = "b", .type = "bool", .address = 1 },
	    { .kind = CPROF_VALUE_CHAR, .size = 1, .name = "c", .type = "char", .source = 1 } } },
	{ 1,
	  { { .kind = CPROF_VALUE_STRING,
	      .size = 8,
	      .name = "",
	      .type = "char *",
	      .address = 1 } } },
	{ 1, { { .kind = CPROF_VALUE_POINTER, .size = 8, .name = "", .type = "void *" } } },
	{ 2,
	  { { .kind = CPROF_VALUE_POINTER,
	      .size = 8,
	      .name = "n",
	      .type = "struct node *",
	      .count = 1,
	      .items = pointee },
	    { .kind = CPROF_VALUE_INT, .size = 4, .name = "k", .type = "int" } } },
	{ 1,
	  { { .kind = CPROF_VALUE_STRUCT,
	      .name = "by_value",
	      .type = "struct inner",
	      .address = 1,
	      .count = 2,
	      .items = part } } },
};

static uint64_t a_number(void)
{
	return below(4) ? (uint64_t)below(1000) - 500
			: (uint64_t)below(UINT32_MAX) << below(33) | below(UINT32_MAX);
}

static bool has_number(const cprof_value *v)
{
	return v->kind != CPROF_VALUE_STRUCT && v->kind != CPROF_VALUE_ARRAY &&
	       v->kind != CPROF_VALUE_ERROR;
}

static void set_value(struct thread *t, const cprof_value *form, cprof_value *v, uint64_t base);

/* What it has: its parts; of a folded array some, each perhaps often. */
static void set_parts(struct thread *t, const cprof_value *form, cprof_value *v, uint64_t base)
{
	uint32_t count = form->repeats ? below(form->count + 1) : form->count, done = 0, i;
	cprof_value *items = t->values + t->value_count;

	t->value_count += count;
	v->count = count;
	v->items = count ? items : NULL;
	for (i = 0; i < count; i++) {
		set_value(t, &form->items[i], &items[i],
			  v->kind == CPROF_VALUE_POINTER ? v->u.u : base);
		if (!form->repeats)
			continue;
		items[i].repeats = below(3) ? 0 : 10 + below(9);
		items[i].address = v->address + UINT64_C(4) * done;
		done += items[i].repeats ? items[i].repeats : 1;
	}
	if (form->repeats)
		v->cut = below(2);
}

/* `base`: where what it is part of begins; 0: it is no part. */
static void set_value(struct thread *t, const cprof_value *form, cprof_value *v, uint64_t base)
{
	static const char *const texts[] = { "",    "x",   "/etc/passwd", "with\0two",
					     "one", "two", "three" };
	uint32_t number = below(7);

	*v = *form;
	v->repeats = 0;
	v->symbol = form->symbol && below(3) ? texts[2 + below(5)] : NULL;
	v->address = form->address ? UINT64_C(0x7ffc00000000) + 8 * below(1000) : 0;
	if (form->address > 1)
		v->address = base + form->address - 2;
	if (has_number(v))
		v->u.u = a_number();
	if (v->kind == CPROF_VALUE_FLOAT)
		v->u.f = below(1000) / 8.0;
	if (v->kind == CPROF_VALUE_POINTER && v->count && !below(4)) {
		v->u.u = v->count = 0;
		v->items = NULL;
	}
	if (v->kind == CPROF_VALUE_POINTER && v->count)
		v->u.u |= 1;
	if (v->count)
		set_parts(t, form, v, base ? base : v->address);
	if (v->kind != CPROF_VALUE_STRING)
		return;
	v->u.text.bytes = texts[number];
	v->u.text.length = number == 3 ? 8 : (uint32_t)strlen(texts[number]);
	v->cut = !below(4);
	if (below(5))
		return;
	v->kind = CPROF_VALUE_POINTER; /* NULL */
	v->u.u = v->address = 0;
	v->cut = false;
}

/* The numbers of values that have no parts; NULL: others. */
static const uint64_t *pack(struct thread *t, const cprof_value *form, const cprof_value *values,
			    uint32_t count)
{
	uint64_t *to = t->numbers + t->number_count, *at = to;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const cprof_value *v = &values[i];
		bool text = form[i].kind == CPROF_VALUE_STRING;

		if (form[i].count || !has_number(&form[i]) ||
		    (text && v->kind == CPROF_VALUE_STRING && !v->address))
			return NULL;
		if (text) {
			at[0] = at[1] = at[2] = 0;
			if (v->kind == CPROF_VALUE_STRING) {
				at[0] = v->address;
				at[1] = (uintptr_t)v->u.text.bytes;
				at[2] = v->u.text.length | (uint64_t)v->cut << 32;
			}
			at += 3;
			continue;
		}
		*at++ = v->u.u;
		if (form[i].symbol)
			*at++ = (uintptr_t)v->symbol;
		if (form[i].address == 1)
			*at++ = v->address;
	}
	t->number_count = (size_t)(at - t->numbers);
	return to;
}

/* Mostly a function's values have the same form. */
static void add_values(struct thread *t, struct cp_record_call *call, struct cp_call_entry *entry)
{
	uint32_t number = below(50) ? (call->function + 3u * call->kind) % FORMS : below(FORMS), i;
	cprof_value *values = t->values + t->value_count;

	if (call->kind > CP_RECORD_LEAVE || !forms[number].count ||
	    (call->kind == CP_RECORD_LEAVE && forms[number].count > 1))
		return;
	call->values = entry->values = values;
	call->value_count = entry->value_count = forms[number].count;
	call->result_count = call->kind == CP_RECORD_LEAVE;
	entry->form = forms[number].values;
	t->value_count += forms[number].count;
	for (i = 0; i < forms[number].count; i++)
		set_value(t, &forms[number].values[i], &values[i], 0);
	entry->numbers = below(2) ? pack(t, entry->form, values, entry->value_count) : NULL;
	if (entry->numbers)
		entry->values = NULL;
}

/* ---- the program ---- */

static size_t leaves; /* that came in one entry, */
static size_t valued_leaves; /* and had arguments and a result */

static void tell(struct program *p, uint32_t t, struct cp_record_call call)
{
	struct thread *thread = &p->threads[t];
	struct cp_call_entry entry = {
		.ts_ns = call.ts_ns,
		.duration_ns = call.duration_ns,
		.function = call.function,
		.depth = call.depth,
		.target = call.count ? call.count : call.target,
		.kind = call.kind,
		.flags = call.flags,
	};

	call.thread = t;
	call.stack = call.entered_by = CP_RECORD_NONE;
	if (p->values)
		add_values(thread, &call, &entry);
	cp_record_call(p->events, &call);
	thread->entries[thread->count++] = entry;
}

static void enter(struct program *p, uint32_t t)
{
	struct thread *thread = &p->threads[t];
	struct cp_record_call call = { .kind = CP_RECORD_ENTER,
				       .ts_ns = p->now_ns,
				       .function = below(4) ? below(6) : below(FUNCTIONS),
				       .depth = thread->depth,
				       .target = CP_RECORD_NONE };

	if (!below(40)) {
		call.flags = CPROF_INVOKER_SIGNAL << 2;
		call.count = 1 + below(64);
	} else if (!below(40)) {
		call.flags = CPROF_INVOKER_CODE << 2;
		call.target = below(FUNCTIONS);
	}
	thread->frames[thread->depth++] =
		(struct frame){ .ts_ns = p->now_ns, .function = call.function };
	tell(p, t, call);
}

/* The innermost call, or, as if coroutines took turns, another. */
static void leave(struct program *p, uint32_t t)
{
	static const uint8_t kinds[] = { CP_RECORD_LEAVE, CP_RECORD_LEAVE, CP_RECORD_LEAVE,
					 CP_RECORD_TAIL_CALL, CP_RECORD_UNWIND };
	struct thread *thread = &p->threads[t];
	uint32_t at = below(60) || thread->depth < 2 ? thread->depth - 1 : thread->depth - 2;
	struct frame *frame = &thread->frames[at];
	struct cp_record_call call = { .kind = kinds[below(5)],
				       .ts_ns = p->now_ns,
				       .function = frame->function,
				       .depth = at,
				       .duration_ns = p->now_ns - frame->ts_ns,
				       .target = CP_RECORD_NONE };
	bool deep = at >= CP_CALL_BLOCK_DEPTH;
	uint64_t inner = deep ? 0 : frame->inner;

	if (call.kind == CP_RECORD_TAIL_CALL && below(3))
		call.target = below(FUNCTIONS);
	if (call.kind == CP_RECORD_UNWIND && below(2))
		call.flags = CP_RECORD_CALL_ENDED;
	add_costs(&call, inner);
	thread->depth = at;
	if (at)
		thread->frames[at - 1].inner += inner + 1;
	tell(p, t, call);
}

static bool is_leaf(const struct cp_call_entry e[2])
{
	return e[0].kind == CP_RECORD_ENTER && e[1].kind == CP_RECORD_LEAVE &&
	       e[0].function == e[1].function && e[0].depth == e[1].depth &&
	       CP_RECORD_CALL_INVOKER(e[0].flags) != CPROF_INVOKER_SIGNAL && !e[1].flags &&
	       (!e[0].value_count || e[0].numbers) && (!e[1].value_count || e[1].numbers);
}

/* The numbers of both in one place. */
static void join_numbers(struct thread *t, const struct cp_call_entry e[2],
			 struct cp_call_entry *leaf)
{
	uint64_t *to = t->numbers + t->number_count, *at = to;
	size_t words;
	int i;

	for (i = 0; i < 2; i++) {
		words = e[i].value_count ? cp_call_words(e[i].form, e[i].value_count) : 0;
		if (words)
			memcpy(at, e[i].numbers, words * sizeof(*at));
		at += words;
	}
	t->number_count = (size_t)(at - t->numbers);
	leaf->numbers = to;
	leaf->result_form = e[1].value_count ? e[1].form : NULL;
	valued_leaves += e[0].value_count && e[1].value_count;
}

/* Of calls that nothing happens in, some come in one entry. */
static void join_leaves(struct thread *t)
{
	size_t from, to = 0;

	for (from = 0; from < t->count; to++) {
		t->entries[to] = t->entries[from++];
		if (from == t->count || !is_leaf(&t->entries[from - 1]) || !below(3))
			continue;
		join_numbers(t, (struct cp_call_entry[2]){ t->entries[from - 1], t->entries[from] },
			     &t->entries[to]);
		t->entries[to].kind = CP_CALL_LEAF;
		t->entries[to].duration_ns = t->entries[from].ts_ns - t->entries[from - 1].ts_ns;
		from++;
		leaves++;
	}
	t->count = to;
}

static void flush(struct program *p, uint32_t t)
{
	struct thread *thread = &p->threads[t];

	join_leaves(thread);
	cp_record_call_block(p->blocks, t, &costs, thread->entries, thread->count);
	CHECK_OK(cp_sums_block(&p->sums, 0, t, &costs, thread->entries, thread->count));
	thread->count = thread->value_count = thread->number_count = 0;
}

static void run(struct program *p, size_t events, uint32_t stride)
{
	uint32_t t;
	size_t i;

	for (i = 0; i < events; i++) {
		t = below(THREADS);
		p->now_ns += 8 * (below(20) ? below(30) : below(1000000));
		if (p->threads[t].depth < p->most && (!p->threads[t].depth || below(5) < 3))
			enter(p, t);
		else
			leave(p, t);
		if (!below(stride))
			flush(p, below(THREADS));
		if (!below(4 * stride)) {
			cp_record_flush(p->events);
			cp_record_flush(p->blocks);
		}
	}
	for (t = 0; t < THREADS; t++)
		flush(p, t);
}

/* `sums` may be NULL. */
static void record(uint64_t start, size_t events, uint32_t stride, uint32_t most, int fds[2],
		   struct cp_sums *sums)
{
	char *const command[] = { NULL };
	const struct cp_record_info info = { .holds = CP_RECORD_HAS_CALLS,
					     .cprof_version = "test",
					     .host = "",
					     .machine = "",
					     .kernel = "",
					     .boot_id = "",
					     .command = command,
					     .start_ns = START_NS };
	const struct cp_record_totals totals = { .end_ns = START_NS + 1 };
	struct program p = { .now_ns = START_NS, .most = most, .values = start % 2 };
	uint32_t t;

	seed = start;
	fds[0] = scratch_file();
	fds[1] = scratch_file();
	CHECK_OK(cp_record_writer_create(dup(fds[0]), &info, NULL, &p.events));
	CHECK_OK(cp_record_writer_create(dup(fds[1]), &info, NULL, &p.blocks));
	make_tables(p.events);
	make_tables(p.blocks);
	for (t = 0; t < THREADS; t++) {
		p.threads[t].frames = calloc(most + 1, sizeof(*p.threads[t].frames));
		p.threads[t].entries = calloc(events + 1, sizeof(*p.threads[t].entries));
		p.threads[t].values = calloc(VALUES * events + 1, sizeof(*p.threads[t].values));
		p.threads[t].numbers = calloc(6 * VALUES * events + 6, sizeof(uint64_t));
	}
	run(&p, events, stride);
	cp_record_totals(p.events, &totals);
	cp_record_totals(p.blocks, &totals);
	cp_record_writer_destroy(p.events, NULL);
	cp_record_writer_destroy(p.blocks, NULL);
	if (sums)
		*sums = p.sums;
	else
		cp_sums_deinit(&p.sums);
	for (t = 0; t < THREADS; t++) {
		free(p.threads[t].frames);
		free(p.threads[t].entries);
		free(p.threads[t].values);
		free(p.threads[t].numbers);
	}
}

/* ---- what is told of it ---- */

struct telling {
	const struct cp_record *r;
	struct cp_buf text[THREADS];
	uint64_t last_ns, count;
	bool in_order;
};

static void add_value(struct cp_buf *out, const cprof_value *v)
{
	uint32_t i;

	cp_buf_printf(out, "  %u %u %u %u %u %u %s %s <%s> %" PRIx64 " %u %u ", v->kind, v->source,
		      v->error, v->cut, v->guessed, v->size, v->name, v->type,
		      v->symbol ? v->symbol : "none", v->address, v->count, v->repeats);
	if (v->kind == CPROF_VALUE_STRING)
		cp_buf_add(out, v->u.text.bytes, strnlen(v->u.text.bytes, v->u.text.length));
	else
		cp_buf_printf(out, "%" PRIx64, v->u.u);
	cp_buf_printf(out, " %u\n", v->kind == CPROF_VALUE_STRING ? v->u.text.length : 0);
	for (i = 0; i < v->count; i++)
		add_value(out, &v->items[i]);
}

/* Values with their parts; each is looked at. */
static size_t count_values(const cprof_value *values, uint32_t count)
{
	size_t all = count;
	uint32_t i;

	for (i = 0; i < count; i++)
		all += count_values(values[i].items, values[i].count);
	return all;
}

static bool add(void *ctx, const struct cp_record_call *call)
{
	struct telling *t = ctx;
	uint32_t thread = (uint32_t)cp_record_get_thread(t->r, call->thread)->tid - 7, i;
	const struct cp_record_location *target =
		call->target == CP_RECORD_NONE ? NULL : cp_record_get_location(t->r, call->target);

	t->in_order &= call->ts_ns >= t->last_ns;
	t->last_ns = call->ts_ns;
	t->count++;
	cp_buf_printf(&t->text[thread],
		      "%" PRIu64 " %u %u f%" PRIu64 " %u > %" PRId64 " %u %" PRIu64 " %" PRIu64
		      " %" PRIu64 "\n",
		      call->ts_ns, call->kind, call->flags,
		      cp_record_get_location(t->r, call->function)->address / 16, call->depth,
		      target ? (int64_t)target->address / 16 : -1, call->count, call->duration_ns,
		      call->overhead_ns, call->uncertain_ns);
	cp_buf_printf(&t->text[thread], "%u %u\n", call->value_count, call->result_count);
	for (i = 0; i < call->value_count; i++)
		add_value(&t->text[thread], &call->values[i]);
	return true;
}

static struct telling told(struct cp_record *r)
{
	struct telling t = { .r = r, .in_order = true };

	CHECK_OK(cp_record_each_call(r, add, &t));
	CHECK_U64(t.count, cp_record_call_count(r));
	return t;
}

static void same_text(const char *a, const char *b)
{
	const char *from = a;

	if (!strcmp(a, b)) {
		CHECK(true);
		return;
	}
	for (; *a == *b; a++, b++)
		from = *a == '\n' ? a + 1 : from;
	CHECK(!"texts differ");
	fprintf(stderr, "%.*s\n", (int)strcspn(from, "\n"), from);
	fprintf(stderr, "%.*s\n", (int)strcspn(b - (a - from), "\n"), b - (a - from));
}

static void same(struct cp_record *x, struct cp_record *y)
{
	struct telling a = told(x), b = told(y);
	uint32_t t;

	CHECK_U64(a.count, b.count);
	CHECK(b.in_order);
	for (t = 0; t < THREADS; t++) {
		same_text(a.text[t].bytes ? a.text[t].bytes : "",
			  b.text[t].bytes ? b.text[t].bytes : "");
		cp_buf_free(&a.text[t]);
		cp_buf_free(&b.text[t]);
	}
}

static size_t leaves_told;

/* Events as they come, without values. */
struct bare {
	CP_VEC(struct cp_record_call) calls;
	size_t leaves;
};

static bool add_bare(void *ctx, const struct cp_record_call *call)
{
	struct bare *b = ctx;
	struct cp_record_call copy = *call;

	copy.values = copy.form = NULL;
	copy.value_count = copy.result_count = copy.changed_count = 0;
	CHECK(cp_vec_push(&b->calls, copy));
	return true;
}

static bool add_leaf(void *ctx, const struct cp_record_call *call,
		     const struct cp_record_leaf *leaf)
{
	struct cp_record_call leave = *call;
	struct bare *b = ctx;

	b->leaves++;
	CHECK(call->kind == CP_RECORD_ENTER);
	cp_record_leaf_leave(leaf, &leave);
	return add_bare(ctx, call) && add_bare(ctx, &leave);
}

static void same_bare(const struct bare *one, const struct bare *two)
{
	size_t i, different = 0;

	CHECK_U64(one->calls.count, two->calls.count);
	for (i = 0; i < one->calls.count && i < two->calls.count; i++) {
		const struct cp_record_call *a = &one->calls.items[i], *b = &two->calls.items[i];

		different += a->ts_ns != b->ts_ns || a->kind != b->kind || a->flags != b->flags ||
			     a->thread != b->thread || a->function != b->function ||
			     a->depth != b->depth || a->target != b->target ||
			     a->stack != b->stack || a->count != b->count ||
			     a->entered_by != b->entered_by || a->duration_ns != b->duration_ns ||
			     a->overhead_ns != b->overhead_ns ||
			     a->uncertain_ns != b->uncertain_ns || a->cpu_ns != b->cpu_ns;
	}
	CHECK_U64(different, 0);
}

/* Calls told at once are those that are told by two events, in the same order, and those of
 * which values are passed over those that are told with them. */
static void same_leaves(struct cp_record *r)
{
	struct bare one = { 0 }, two = { 0 }, whole = { 0 };

	CHECK_OK(cp_record_each_bare_leaf(r, add_bare, add_leaf, &one));
	CHECK_OK(cp_record_each_bare_call(r, add_bare, &two));
	CHECK_OK(cp_record_each_call(r, add_bare, &whole));
	same_bare(&one, &two);
	same_bare(&two, &whole);
	leaves_told += one.leaves;
	cp_vec_free(&one.calls);
	cp_vec_free(&two.calls);
	cp_vec_free(&whole.calls);
}

static bool add_up(void *ctx, const struct cp_record_call *call)
{
	CHECK_OK(cp_sums_event(ctx, 0, call));
	return true;
}

/* What blocks add up to is what the events that are told of them do. Calls deeper than
 * blocks expect have other overheads. */
static void same_sums(struct cp_record *r, struct cp_sums *got, bool deep)
{
	struct cp_sums want = { 0 };
	size_t i, k;

	CHECK_OK(cp_record_each_call(r, add_up, &want));
	CHECK_OK(cp_sums_end(&want, START_NS + 1));
	CHECK_OK(cp_sums_end(got, START_NS + 1));
	CHECK_U64(got->edges.count, want.edges.count);
	for (i = 0; !deep && i < want.edges.count; i++) {
		const struct cp_sums_edge *a = &want.edges.items[i], *b = NULL;

		for (k = 0; k < got->edges.count; k++)
			if (got->edges.items[k].caller == a->caller &&
			    got->edges.items[k].callee == a->callee)
				b = &got->edges.items[k];
		CHECK(b && b->sum.calls == a->sum.calls && b->sum.open == a->sum.open &&
		      b->sum.whole.likely_ns == a->sum.whole.likely_ns &&
		      b->sum.self.likely_ns == a->sum.self.likely_ns &&
		      b->sum.overhead_ns == a->sum.overhead_ns &&
		      b->sum.unwound == a->sum.unwound && b->sum.least.ns == a->sum.least.ns &&
		      b->sum.most.ns == a->sum.most.ns);
	}
	cp_sums_deinit(&want);
	cp_sums_deinit(got);
}

static void test_same(uint64_t start, size_t events, uint32_t stride, uint32_t most)
{
	struct cp_record *r[2], *merged[2];
	struct cp_sums sums;
	int fds[2], to[2], i;

	record(start, events, stride, most, fds, &sums);
	for (i = 0; i < 2; i++) {
		r[i] = load_file(fds[i]);
		CHECK_U64(cp_record_damage(r[i])->bad_chunks + cp_record_damage(r[i])->lost, 0);
		CHECK_U64(cp_record_final(r[i])->calls, events);
	}
	same(r[0], r[1]);
	same_leaves(r[1]);
	same_sums(r[1], &sums, most > CP_CALL_BLOCK_DEPTH);
	for (i = 0; i < 2; i++) {
		to[i] = scratch_file();
		CHECK_OK(cp_record_merge(&r[i], 1, dup(to[i])));
		merged[i] = load_file(to[i]);
	}
	same(merged[0], merged[1]);
	for (i = 0; i < 2; i++) {
		cp_record_destroy(r[i]);
		cp_record_destroy(merged[i]);
		close(fds[i]);
		close(to[i]);
	}
}

/* Without some bytes, the rest is told, and that something is missing. */
static void test_damaged(void)
{
	struct cp_record *r;
	struct telling t;
	struct cp_buf bytes;
	int fds[2], i;

	record(99, 20000, 300, 40, fds, NULL);
	bytes = file_bytes(fds[1]);
	for (i = 1; i < 40; i++) {
		char *at = bytes.bytes + bytes.size * (size_t)i / 40, was = *at;

		*at = (char)(was + 1);
		CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "damaged", &r));
		t = told(r);
		CHECK(t.in_order && cp_record_damage(r)->bad_chunks);
		CHECK(t.count < 20000 &&
		      t.count + cp_record_damage(r)->lost + cp_record_damage(r)->dropped >= 20000);
		for (uint32_t n = 0; n < THREADS; n++)
			cp_buf_free(&t.text[n]);
		cp_record_destroy(r);
		*at = was;
	}
	cp_buf_free(&bytes);
	close(fds[0]);
	close(fds[1]);
}

static bool add_thread(void *ctx, const struct cp_record_call *call)
{
	cp_buf_u8(ctx, (uint8_t)('0' + call->thread));
	return true;
}

/* Threads that take turns, and nearly all their events at the same time: the more blocks
 * they are, the more there is to write and to read; which thread comes first is who had a
 * block first. */
static void test_turns(void)
{
	const struct cp_record_info info = { .cprof_version = "test" };
	const uint32_t turns = 5000, order[] = { 2, 0, 3, 1 };
	struct cp_call_entry pair[] = { { .ts_ns = START_NS, .target = CP_RECORD_NONE },
					{ .ts_ns = START_NS, .target = CP_RECORD_NONE } };
	struct cp_buf text = { 0 };
	struct cp_record_writer *w;
	struct cp_record *r;
	int fd = scratch_file();
	uint32_t i, k;

	pair[1].kind = CP_RECORD_LEAVE;
	CHECK_OK(cp_record_writer_create(dup(fd), &info, NULL, &w));
	make_tables(w);
	for (i = 0; i < turns; i++) {
		pair[0].ts_ns = START_NS + 800 * i;
		pair[1].ts_ns = pair[0].ts_ns + 80;
		for (k = 0; k < THREADS; k++)
			cp_record_call_block(w, order[i % 2 ? THREADS - 1 - k : k], &costs, pair,
					     2);
	}
	cp_record_flush(w);
	for (i = 0; i < turns; i++) { /* nobody comes between */
		pair[0].ts_ns += 800;
		pair[1].ts_ns += 800;
		cp_record_call_block(w, 0, &costs, pair, 2);
	}
	cp_record_writer_destroy(w, NULL);
	r = load_file(fd);
	CHECK_U64(cp_record_call_count(r), 2 * (THREADS + 1) * turns);
	CHECK(r->call_blocks.count && r->call_blocks.count <= 2 * THREADS + 1);
	CHECK_OK(cp_record_each_call(r, add_thread, &text));
	CHECK_U64(text.size, 2 * (THREADS + 1) * turns);
	for (i = 0; i < turns; i++)
		CHECK(!memcmp(text.bytes + 2 * THREADS * i, "20312031", 2 * THREADS));
	cp_buf_free(&text);
	cp_record_destroy(r);
	close(fd);
}

/* Whatever the bytes of a block are, reading ends, and says no more than they can hold. */
static void test_mutated(void)
{
	struct cp_call_entry entries[400];
	struct cp_call_block_reader reader = { 0 };
	struct cp_call_coder coder = { 0 };
	struct cp_call_block block;
	struct cp_buf bytes = { 0 };
	struct thread t = { .values = calloc(VALUES * CP_ARRAY_SIZE(entries), sizeof(*t.values)),
			    .numbers = calloc(6 * VALUES * CP_ARRAY_SIZE(entries),
					      sizeof(*t.numbers)) };
	size_t begin, round, i;

	seed = 5;
	for (i = 0; i < CP_ARRAY_SIZE(entries); i++) {
		struct cp_record_call call = { .kind = i % 2 ? CP_RECORD_LEAVE : CP_RECORD_ENTER,
					       .function = (uint32_t)(i / 2) % 9 };

		entries[i] = (struct cp_call_entry){ .ts_ns = START_NS + 8 * i,
						     .function = call.function,
						     .target = CP_RECORD_NONE,
						     .kind = call.kind };
		add_values(&t, &call, &entries[i]);
	}
	CHECK(cp_call_encode(&coder, 0, 9, &costs, entries, CP_ARRAY_SIZE(entries), &block));
	cp_buf_uleb(&bytes, 0);
	cp_buf_uleb(&bytes, block.count);
	for (i = 0; i < 6; i++)
		cp_buf_uleb(&bytes, 0);
	begin = bytes.size;
	cp_buf_add(&bytes, block.bytes, block.size);
	for (round = 0; round < 20000; round++) {
		struct cp_buf copy = { 0 };
		struct cp_record_call call;
		size_t events = 0, values = 0;

		/* Memory of its own, so that a sanitizer sees its end. */
		cp_buf_add(&copy, bytes.bytes,
			   bytes.size - (round ? below((uint32_t)block.size / 4) : 0));
		for (i = 0; round && i <= round % 4; i++)
			copy.bytes[begin + below((uint32_t)(copy.size - begin))] = (char)below(256);
		if (cp_call_block_open(&reader, copy.bytes, copy.size))
			while (cp_call_block_next(&reader, &call) == CP_CALL_READ) {
				events++;
				values += count_values(call.values, call.value_count);
			}
		CHECK(round ? events <= CP_ARRAY_SIZE(entries) : events == CP_ARRAY_SIZE(entries));
		CHECK(round ? values <= copy.size * CP_CALL_VALUES_MAX : values == t.value_count);
		cp_buf_free(&copy);
	}
	cp_call_block_reader_free(&reader);
	cp_call_coder_free(&coder);
	cp_buf_free(&bytes);
	free(t.values);
	free(t.numbers);
}

int main(void)
{
	uint64_t i;

	for (i = 1; i <= 8; i++)
		test_same(i, 20000, (uint32_t)(40 << i), 4u << i);
	test_same(20, 200000, 200000, 50); /* blocks that are full */
	test_same(21, 60000, 20000, DEEP);
	CHECK(leaves > 10000);
	CHECK(valued_leaves > 1000);
	CHECK(leaves_told > 1000);
	test_turns();
	test_damaged();
	test_mutated();
	TEST_MAIN_END;
}
