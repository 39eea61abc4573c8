/* SPDX-License-Identifier: MIT
 *
 * The heap as the events leave it: who allocated what, block by block, and what
 * of it is still there at the end.
 *
 * realloc() is told when it returns, so its old address may have been given to
 * another thread in the meantime; then that block is not the one that it freed.
 * A block at an address that is allocated anew was freed unseen.
 */
#include "report/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "record/lives.h"
#include "report/spans.h"

#define STACKS_SHOWN 3 /* unless these are what is asked for */

struct amount {
	uint64_t blocks, bytes;
};

/* Of a function, or of a stack. */
struct site {
	uint32_t function; /* that asked for it */
	uint32_t stack; /* CP_RECORD_NONE: of the function */
	struct amount allocated, freed, left;
	uint64_t moved; /* blocks that realloc() moved, or left where they were */
};

struct block {
	uint64_t size, ts_ns;
	uint32_t site, of_stack; /* numbers */
	uint32_t process; /* CP_RECORD_NONE: it is free */
};

struct heap {
	const struct cp_profile *p;
	CP_VEC(struct site) sites, stacks;
	CP_VEC(struct block) blocks;
	CP_VEC(uint32_t) spare; /* numbers of blocks that are free */
	struct cp_interner keys;
	struct cp_map by_function; /* -> number of a site */
	struct cp_map live; /* process and address -> number of a block */
	struct amount allocated, freed, left, most;
	uint64_t held; /* by an allocator, of the kernel's memory, at most */
	uint64_t moved, unknown; /* unknown: freed or moved, allocated before */
	bool cut;
	uint64_t cut_ns; /* since then some are not told */
};

/* ---- events ---- */

static uint64_t value(const struct cp_record_call *call, uint32_t n, unsigned kind)
{
	return n < call->value_count && call->values[n].kind == kind ? call->values[n].u.u : 0;
}

uint64_t cp_heap_size(const struct cp_record_call *call)
{
	return call->kind == CP_RECORD_FREED ? 0 : value(call, 0, CPROF_VALUE_UINT);
}

uint64_t cp_heap_address(const struct cp_record_call *call)
{
	return value(call, call->kind != CP_RECORD_FREED, CPROF_VALUE_POINTER);
}

uint64_t cp_heap_previous(const struct cp_record_call *call)
{
	return call->kind == CP_RECORD_MOVED ? value(call, 2, CPROF_VALUE_POINTER) : 0;
}

const char *cp_heap_event(const struct cp_record_call *call)
{
	return call->kind == CP_RECORD_HEAP_SIZE		 ? "heap"
	       : call->kind == CP_RECORD_ALLOCATED		 ? "alloc"
	       : call->kind == CP_RECORD_FREED			 ? "free"
	       : cp_heap_previous(call) == cp_heap_address(call) ? "resize"
								 : "move";
}

void cp_heap_text(const struct cp_record_call *call, struct cp_buf *out)
{
	uint64_t address = cp_heap_address(call), before = cp_heap_previous(call);

	if (call->kind == CP_RECORD_FREED) {
		cp_buf_printf(out, "- 0x%" PRIx64, address);
		return;
	}
	cp_buf_str(out, !address ? "= " : before ? "~ " : "+ ");
	cp_add_plural(out, cp_heap_size(call), "byte", "bytes");
	if (!address) {
		cp_buf_str(out, " held by the allocator");
		return;
	}
	cp_buf_printf(out, " at 0x%" PRIx64, address);
	if (before && before != address)
		cp_buf_printf(out, ", before at 0x%" PRIx64, before);
}

/* ---- counting ---- */

static void add(struct amount *to, uint64_t bytes)
{
	to->blocks++;
	to->bytes += bytes;
}

static void take(struct amount *from, uint64_t bytes)
{
	from->blocks--;
	from->bytes -= bytes;
}

static uint64_t key_of(uint32_t process, uint64_t address)
{
	return address ^ (uint64_t)process << 48;
}

/* Numbers of the function's and the stack's site; false without memory. */
static bool sites_of(struct heap *h, uint32_t function, uint32_t stack, struct block *ret)
{
	const struct {
		uint32_t function, stack;
	} key = { function, stack };
	const uint64_t *known = cp_map_get(&h->by_function, function);
	bool fresh;

	ret->site = (uint32_t)(known ? *known : h->sites.count);
	if (!known &&
	    (!cp_map_put(&h->by_function, function, h->sites.count) ||
	     !cp_vec_push(&h->sites,
			  ((struct site){
				  function, CP_RECORD_NONE, { 0, 0 }, { 0, 0 }, { 0, 0 }, 0 }))))
		return false;
	return cp_intern(&h->keys, &key, sizeof(key), &ret->of_stack, &fresh) &&
	       (!fresh ||
		cp_vec_push(&h->stacks,
			    ((struct site){ function, stack, { 0, 0 }, { 0, 0 }, { 0, 0 }, 0 })));
}

/* The block at an address is no more. */
static void remove_block(struct heap *h, uint64_t key, uint32_t number)
{
	struct block *b = &h->blocks.items[number];
	struct site *of[] = { &h->sites.items[b->site], &h->stacks.items[b->of_stack] };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(of); i++) {
		take(&of[i]->left, b->size);
		add(&of[i]->freed, b->size);
	}
	take(&h->left, b->size);
	b->process = CP_RECORD_NONE;
	cp_map_remove(&h->live, key);
	h->spare.items[h->spare.count++] = number; /* there is room for all */
}

static bool remove_at(struct heap *h, uint32_t process, uint64_t address, uint64_t not_after_ns)
{
	uint64_t key = key_of(process, address);
	const uint64_t *number = cp_map_get(&h->live, key);

	if (!number || h->blocks.items[*number].ts_ns > not_after_ns)
		return false;
	remove_block(h, key, (uint32_t)*number);
	return true;
}

/* False without memory. */
static bool add_block(struct heap *h, uint64_t key, const struct block *b)
{
	struct site *of[] = { &h->sites.items[b->site], &h->stacks.items[b->of_stack] };
	uint32_t number = (uint32_t)h->blocks.count;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(of); i++) {
		add(&of[i]->left, b->size);
		add(&of[i]->allocated, b->size);
	}
	add(&h->left, b->size);
	if (h->left.bytes > h->most.bytes)
		h->most = h->left;
	if (h->spare.count)
		number = h->spare.items[--h->spare.count];
	else if (!cp_vec_push(&h->blocks, *b) || !cp_vec_reserve(&h->spare, h->blocks.count))
		return false;
	h->blocks.items[number] = *b;
	return cp_map_put(&h->live, key, number);
}

static struct cp_error *each(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	struct heap *h = ctx;
	uint32_t process = cp_record_get_thread(h->p->record, thread)->process;
	uint64_t address = cp_heap_address(call), before = cp_heap_previous(call);
	struct block b = { cp_heap_size(call), call->ts_ns, 0, 0, process };

	if (call->kind == CP_RECORD_HEAP_SIZE && b.size > h->held)
		h->held = b.size;
	if (!address) /* that, or broken */
		return NULL;
	if (call->kind == CP_RECORD_FREED) {
		h->freed.blocks++;
		h->unknown += !remove_at(h, process, address, UINT64_MAX);
		return NULL;
	}
	if (!sites_of(h, function, call->stack, &b))
		return cp_error_nomem();
	if (before) {
		h->unknown += !remove_at(h, process, before, call->ts_ns - call->duration_ns);
		h->moved++;
		h->sites.items[b.site].moved++;
		h->stacks.items[b.of_stack].moved++;
	} else {
		add(&h->allocated, b.size);
	}
	remove_at(h, process, address, UINT64_MAX);
	return add_block(h, key_of(process, address), &b) ? NULL : cp_error_nomem();
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	static const char *const names[] = { "alloc", "free", "memalign", "operator new",
					     "operator delete" };
	struct heap *h = ctx;
	uint64_t start = cp_record_info(h->p->record)->start_ns;
	const char *name = h->p->functions.items[function].name;
	size_t i;

	(void)thread;
	for (i = 0; i < CP_ARRAY_SIZE(names) && !strstr(name, names[i]); i++)
		;
	if (i == CP_ARRAY_SIZE(names) || h->cut)
		return NULL;
	h->cut = true;
	h->cut_ns = call->ts_ns > start ? call->ts_ns - start : 0;
	return NULL;
}

/* Was the program replaced by an exec since? */
static bool went_with_exec(const struct heap *h, const struct block *b)
{
	const struct cp_record *r = h->p->record;
	int32_t pid = cp_record_get_process(r, b->process)->pid;
	size_t count = cp_record_life_count(r), i;

	for (i = 0; i < count; i++) {
		const struct cp_record_life *life = cp_record_get_life(r, (uint32_t)i);

		if (!life->thread && life->pid == pid && life->end == CP_LIFE_REPLACED &&
		    life->start_ns <= b->ts_ns && life->end_ns >= b->ts_ns)
			return true;
	}
	return false;
}

static void remove_what_went(struct heap *h)
{
	CP_VEC(uint64_t) gone = { 0 };
	uint64_t key, number, *it;
	size_t cursor = 0;

	while (cp_map_next(&h->live, &cursor, &key, &number))
		if (went_with_exec(h, &h->blocks.items[number]) && !cp_vec_push(&gone, key))
			break;
	cp_vec_for_each(&gone, it)
		remove_block(h, *it, (uint32_t)*cp_map_get(&h->live, *it));
	cp_vec_free(&gone);
}

static int by_bytes(const void *a, const void *b)
{
	const struct site *one = a, *two = b;

	if (one->left.bytes != two->left.bytes)
		return one->left.bytes > two->left.bytes ? -1 : 1;
	if (one->allocated.bytes != two->allocated.bytes)
		return one->allocated.bytes > two->allocated.bytes ? -1 : 1;
	return (one->allocated.blocks < two->allocated.blocks) -
	       (one->allocated.blocks > two->allocated.blocks);
}

static void deinit(struct heap *h)
{
	cp_vec_free(&h->sites);
	cp_vec_free(&h->stacks);
	cp_vec_free(&h->blocks);
	cp_vec_free(&h->spare);
	cp_interner_free(&h->keys);
	cp_map_free(&h->by_function);
	cp_map_free(&h->live);
}

static CP_ERROR build(const struct cp_profile *p, struct heap *h)
{
	static const struct cp_span_visitor visitor = { .heap = each, .disarmed = disarmed };

	*h = (struct heap){ .p = p };
	CP_TRY(cp_spans_walk(p, &visitor, h));
	remove_what_went(h);
	if (h->sites.count)
		qsort(h->sites.items, h->sites.count, sizeof(*h->sites.items), by_bytes);
	if (h->stacks.count)
		qsort(h->stacks.items, h->stacks.count, sizeof(*h->stacks.items), by_bytes);
	return NULL;
}

static bool was_asked_for(const struct cp_profile *p)
{
	return cp_record_info(p->record)->holds & CP_RECORD_HAS_ALLOCATIONS ||
	       cp_record_heap_count(p->record);
}

/* ---- text ---- */

static const struct cp_column columns[] = {
	{ "bytes left", true, 0, false }, { "blocks left", true, 0, false },
	{ "bytes", true, 0, false },	  { "blocks", true, 0, false },
	{ "moved", true, 0, true },	  { "allocated in", false, 16, false },
};

/* "1,234 bytes in 5 blocks". */
static void add_amount(struct cp_buf *out, const struct amount *a)
{
	cp_add_plural(out, a->bytes, "byte", "bytes");
	cp_buf_str(out, " in ");
	cp_add_plural(out, a->blocks, "block", "blocks");
}

static void title(const struct heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!h->allocated.blocks && !h->moved && !h->freed.blocks) {
		cp_report_title(out, look, "Allocations", "nothing was allocated");
		return;
	}
	add_amount(&text, &h->allocated);
	cp_buf_str(&text, "; left: ");
	if (h->left.blocks)
		add_amount(&text, &h->left);
	else
		cp_buf_str(&text, "nothing");
	cp_report_title(out, look, "Allocations", text.bytes ? text.bytes : "");
	cp_buf_clear(&text);
	cp_buf_str(&text, "  ");
	cp_add_count(&text, h->freed.blocks);
	cp_buf_str(&text, " freed, ");
	cp_add_count(&text, h->moved);
	cp_buf_str(&text, " moved or resized; at most ");
	cp_add_plural(&text, h->most.bytes, "byte", "bytes");
	cp_buf_str(&text, " at once");
	if (h->held) {
		cp_buf_str(&text, ", of ");
		cp_add_count(&text, h->held);
		cp_buf_str(&text, " that the allocator had");
	}
	cp_buf_str(&text, "\n");
	cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}

static void add_row(struct cp_table *t, const struct heap *h, const struct site *site)
{
	enum cp_paint left = site->left.blocks ? CP_PAINT_BOLD : CP_PAINT_DIM;

	cp_table_count(t, left, site->left.bytes);
	cp_table_count(t, left, site->left.blocks);
	cp_table_count(t, CP_PAINT_PLAIN, site->allocated.bytes);
	cp_table_count(t, CP_PAINT_PLAIN, site->allocated.blocks);
	if (site->moved)
		cp_table_count(t, CP_PAINT_PLAIN, site->moved);
	else
		cp_table_name(t, CP_PAINT_PLAIN, "");
	cp_table_name(t, CP_PAINT_NAME, h->p->functions.items[site->function].name);
}

static void print_stack(const struct heap *h, const struct site *site, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const uint32_t *frames;
	size_t count;

	cp_buf_str(&text, "  ");
	add_amount(&text, &site->left);
	cp_buf_str(&text, " from\n");
	cp_paint(out, look, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
	if (site->stack == CP_RECORD_NONE)
		return;
	for (frames = cp_profile_walk(h->p, site->stack, &count); count--;) { /* leaf first */
		const struct cp_frame *f = &h->p->frames.items[frames[count]];

		cp_buf_str(out, "      ");
		cp_add_name(out, h->p->functions.items[f->function].name);
		cp_buf_clear(&text);
		if (f->file) {
			cp_buf_str(&text, "  ");
			cp_add_name(&text, cp_basename(f->file));
			cp_buf_printf(&text, ":%u", f->line);
		}
		cp_paint(out, look, CP_PAINT_DIM, text.size ? text.bytes : "");
		cp_buf_u8(out, '\n');
	}
}

static void print_left(const struct heap *h, size_t most, const struct cp_look *look,
		       struct cp_buf *out)
{
	size_t used = 0, shown, i;

	while (used < h->stacks.count && h->stacks.items[used].left.blocks)
		used++;
	if (!used)
		return;
	shown = most && used > most ? most : used;
	cp_report_title(out, look, "Left",
			cp_record_info(h->p->record)->attached
				? "not freed while cprof looked, by the stack that allocated it"
				: "never freed, by the stack that allocated it");
	for (i = 0; i < shown; i++)
		print_stack(h, &h->stacks.items[i], look, out);
	cp_report_more(out, look, shown, used);
}

static void print_doubts(const struct heap *h, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (h->unknown) {
		cp_buf_str(&text, "  ");
		cp_add_plural(&text, h->unknown, "block", "blocks");
		cp_buf_str(&text, " freed or moved that nobody was seen to allocate\n");
		cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
		cp_buf_clear(&text);
	}
	if (!h->cut)
		return;
	cp_buf_str(&text, "  ! they were too many (--max-rate): some are not told after ");
	cp_add_time(&text, h->cut_ns);
	cp_buf_str(&text, "\n");
	cp_paint(out, look, CP_PAINT_WARNING, text.bytes ? text.bytes : "");
}

CP_ERROR cp_report_heap(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	struct heap h CP_CLEANUP(deinit) = { 0 };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t shown, i;

	if (!was_asked_for(p))
		return NULL;
	CP_TRY(build(p, &h));
	title(&h, look, out);
	shown = o->limit && o->limit < h.sites.count ? (size_t)o->limit : h.sites.count;
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < shown; i++)
		add_row(&t, &h, &h.sites.items[i]);
	if (shown)
		cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, h.sites.count);
	print_doubts(&h, look, out);
	if (o->what != CP_REPORT_SUMMARY)
		print_left(&h, o->what == CP_REPORT_HEAP ? (size_t)o->limit : STACKS_SHOWN, look,
			   out);
	return NULL;
}

/* ---- JSON ---- */

static void amount_json(struct cp_json *j, const char *key, const struct amount *a)
{
	cp_json_begin(j, key, '{');
	cp_json_u64(j, "blocks", a->blocks);
	cp_json_u64(j, "bytes", a->bytes);
	cp_json_end(j, '}');
}

static void site_json(const struct heap *h, const struct site *site, struct cp_json *j)
{
	const uint32_t *frames;
	size_t count;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "function", h->p->functions.items[site->function].name);
	amount_json(j, "allocated", &site->allocated);
	cp_json_u64(j, "moved", site->moved);
	amount_json(j, "freed", &site->freed);
	amount_json(j, "left", &site->left);
	if (site->stack != CP_RECORD_NONE) {
		cp_json_begin(j, "stack", '[');
		for (frames = cp_profile_walk(h->p, site->stack, &count); count--;) {
			const struct cp_frame *f = &h->p->frames.items[frames[count]];

			cp_json_begin(j, NULL, '{');
			cp_json_str(j, "function", h->p->functions.items[f->function].name);
			cp_json_str(j, "file", f->file);
			if (f->file)
				cp_json_u64(j, "line", f->line);
			cp_json_end(j, '}');
		}
		cp_json_end(j, ']');
	}
	cp_json_end(j, '}');
}

CP_ERROR cp_report_heap_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j)
{
	struct heap h CP_CLEANUP(deinit) = { 0 };
	size_t i;

	if (!was_asked_for(p))
		return NULL;
	CP_TRY(build(p, &h));
	cp_json_begin(j, "allocations", '{');
	amount_json(j, "allocated", &h.allocated);
	cp_json_u64(j, "freed", h.freed.blocks);
	cp_json_u64(j, "moved", h.moved);
	cp_json_u64(j, "unknown", h.unknown);
	amount_json(j, "most", &h.most);
	amount_json(j, "left", &h.left);
	if (h.held)
		cp_json_u64(j, "held_most_bytes", h.held);
	cp_json_begin(j, "functions", '[');
	for (i = 0; i < h.sites.count && (!o->limit || i < o->limit); i++)
		site_json(&h, &h.sites.items[i], j);
	cp_json_end(j, ']');
	cp_json_begin(j, "stacks", '[');
	for (i = 0; i < h.stacks.count && (!o->limit || i < o->limit); i++)
		site_json(&h, &h.stacks.items[i], j);
	cp_json_end(j, ']');
	if (h.cut)
		cp_json_u64(j, "incomplete_after_ns", h.cut_ns);
	cp_json_end(j, '}');
	return NULL;
}
