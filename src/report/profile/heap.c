/* SPDX-License-Identifier: MIT
 *
 * The heap as the events leave it: who allocated what, block by block, and what
 * of it is still there at the end.
 *
 * realloc() is told when it returns, so its old address may have been given to
 * another thread in the meantime; then that block is not the one that it freed.
 * A block at an address that is allocated anew was freed unseen.
 */
#include "report/profile/heap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "base/text.h"
#include "record/lives.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"

#define LATELY 65536u /* places that are kept at hand; their memory comes as it is used */

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

bool cp_heap_shown(const struct cp_profile *p, uint32_t thread, uint32_t function,
		   const struct cp_record_call *call)
{
	return cp_profile_ns(p, call->ts_ns) >= p->filter.from_ns &&
	       cp_profile_accepts_memory(p, thread, function);
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

static void add(struct cp_heap_amount *to, const struct cp_heap_amount *more)
{
	to->blocks += more->blocks;
	to->bytes += more->bytes;
}

static void take(struct cp_heap_amount *from, const struct cp_heap_amount *less)
{
	from->blocks -= less->blocks;
	from->bytes -= less->bytes;
}

/* ---- a sample ---- */

/* How likely a block of so many bytes was to be chosen. */
static double chance(uint64_t size, uint64_t every)
{
	return -expm1(-(double)(size ? size : 1) / (double)every);
}

/* Up or down to a whole number, so that it is right on an average; as often as it is
 * asked the same. */
static uint64_t round_fairly(double value, uint64_t seed)
{
	double whole = floor(value);
	uint64_t random = cp_random_of(seed * CP_RANDOM_STEP);

	if (value >= 0x1p63)
		return UINT64_C(1) << 63;
	return (uint64_t)whole + ((double)(random >> 11) * 0x1p-53 < value - whole);
}

static void weigh(const struct cp_heap *h, struct cp_heap_block *b)
{
	double p = h->every ? chance(b->size, h->every) : 1;

	b->weight = (struct cp_heap_amount){ 1, b->size };
	if (p >= 1)
		return;
	b->weight.blocks = round_fairly(1 / p, 2 * b->number);
	b->weight.bytes = round_fairly((double)b->size / p, 2 * b->number + 1);
}

/* Of round_fairly(). */
static double rounding(double value)
{
	double up = value - floor(value);

	return up * (1 - up);
}

static void add_doubt(const struct cp_heap *h, uint64_t size, struct cp_heap_doubt *to)
{
	double p = h->every ? chance(size, h->every) : 1, bytes = (double)size;

	if (p >= 1)
		return;
	to->blocks += (1 - p) / (p * p) + rounding(1 / p);
	to->bytes += (1 - p) / (p * p) * bytes * bytes + rounding(bytes / p);
}

double cp_heap_error(double variance, uint64_t value)
{
	return value ? 100 * sqrt(variance) / (double)value : 0;
}

/* That none of n bytes is chosen has a chance of exp(-n / every). */
uint64_t cp_heap_unseen(const struct cp_heap *h)
{
	return h->every > UINT64_MAX / 3 ? UINT64_MAX : 3 * h->every;
}

static void add_error(double error, struct cp_buf *out)
{
	cp_buf_printf(out, "%.*f %%", error < 10 ? 1 : 0, error);
}

void cp_heap_add_sampling(const struct cp_heap *h, struct cp_buf *out)
{
	if (!h->every)
		return;
	cp_buf_str(out, "sampled, one block about every ");
	cp_add_bytes(out, h->every);
	cp_buf_str(out, h->chosen ? ": estimates from " : ": from ");
	cp_add_plural(out, h->chosen, "block", "blocks");
	if (!h->allocated.bytes)
		return;
	cp_buf_str(out, ", of the bytes give or take ");
	add_error(cp_heap_error(h->allocated_doubt.bytes, h->allocated.bytes), out);
	cp_buf_str(out, ", of the blocks ");
	add_error(cp_heap_error(h->allocated_doubt.blocks, h->allocated.blocks), out);
}

/* Of all up to that one something is known. False without memory. */
static bool know_processes(struct cp_heap *h, size_t number)
{
	if (number < h->processes.count)
		return true;
	if (!cp_vec_reserve(&h->processes, number + 1))
		return false;
	while (h->processes.count <= number)
		h->processes.items[h->processes.count++] = (struct cp_heap_process){ 0 };
	return true;
}

uint64_t cp_heap_in_use(const struct cp_heap *h, uint32_t process)
{
	return process < h->processes.count ? h->processes.items[process].in_use : 0;
}

/* A block that was allocated before the time that is asked for counts only as left. */
static bool is_shown(const struct cp_heap *h, uint64_t ts_ns)
{
	uint64_t from_ns = h->p->filter.from_ns;

	return !from_ns || cp_profile_ns(h->p, ts_ns) >= from_ns;
}

static uint64_t key_of(uint32_t process, uint64_t address)
{
	return address ^ (uint64_t)process << 48;
}

static bool add_site(struct cp_heap_sites *to, uint32_t function, uint32_t stack, uint32_t thread)
{
	const struct cp_heap_site site = { .function = function, .stack = stack, .thread = thread };

	return cp_vec_push(to, site);
}

/* The number of the stack's site; false without memory. */
static bool look_up_stack(struct cp_heap *h, struct cp_heap_block *b)
{
	struct {
		uint32_t function, stack, thread;
	} key = { b->function, b->stack, h->by_thread ? b->thread : CP_RECORD_NONE };
	bool fresh;

	/* Who looks at threads looks at each address, too. */
	if (!h->by_thread && !cp_alike_stack(&h->alike, h->p, b->stack, &key.stack))
		return false;
	return cp_intern(&h->keys, &key, sizeof(key), &b->of_stack, &fresh) &&
	       (!fresh || add_site(&h->stacks, b->function, key.stack, key.thread));
}

/* Numbers of the function's and the stack's site; false without memory. */
static bool look_up_sites(struct cp_heap *h, struct cp_heap_block *b)
{
	const uint64_t *known = cp_map_get(&h->by_function, b->function);

	b->site = (uint32_t)(known ? *known : h->sites.count);
	if (!known && (!cp_map_put(&h->by_function, b->function, h->sites.count) ||
		       !add_site(&h->sites, b->function, CP_RECORD_NONE, CP_RECORD_NONE)))
		return false;
	return look_up_stack(h, b);
}

/* Where it stands who was alike lately, if anywhere; NULL without memory. */
static struct cp_heap_lately *lately(struct cp_heap *h, uint32_t stack, uint32_t thread)
{
	/* Numbers of stacks are dense; those of a thread begin anywhere. */
	uint32_t place = (stack + thread * 0x9e3779b1u) % LATELY;

	if (!h->lately)
		h->lately = calloc(LATELY, sizeof(*h->lately));
	return h->lately ? &h->lately[place] : NULL;
}

/* The same, mostly without looking: blocks come from the same places again and again. */
static bool find_sites(struct cp_heap *h, struct cp_heap_block *b)
{
	uint32_t thread = h->by_thread ? b->thread : CP_RECORD_NONE;
	struct cp_heap_lately *at = lately(h, b->stack, thread);

	if (!at)
		return false;
	if (at->function == b->function + 1 && at->stack == b->stack && at->thread == thread) {
		b->site = at->site;
		b->of_stack = at->of_stack;
		return true;
	}
	if (!look_up_sites(h, b))
		return false;
	*at = (struct cp_heap_lately){ b->function + 1, b->stack, thread, b->site, b->of_stack };
	return true;
}

enum removal { FREED, REPLACED /* by realloc() */ };

/* The block that is `found` in h->live is no more. */
static void remove_block(struct cp_heap *h, uint64_t *found, enum removal how, uint64_t now_ns)
{
	uint32_t number = (uint32_t)*found;
	struct cp_heap_block *b = &h->blocks.items[number];

	if (b->counts) {
		struct cp_heap_site *of[] = { &h->sites.items[b->site],
					      &h->stacks.items[b->of_stack] };
		size_t i;

		for (i = 0; i < CP_ARRAY_SIZE(of); i++) {
			take(&of[i]->left, &b->weight);
			if (is_shown(h, now_ns))
				add(how == FREED ? &of[i]->freed : &of[i]->replaced, &b->weight);
		}
		take(&h->left, &b->weight);
		h->processes.items[b->process].in_use -= b->weight.bytes;
		if (h->gone)
			h->gone(h->gone_ctx, b, now_ns);
	}
	b->process = CP_RECORD_NONE;
	cp_map_remove_found(&h->live, found);
	h->spare.items[h->spare.count++] = number; /* there is room for all */
}

static bool remove_at(struct cp_heap *h, uint32_t process, uint64_t address, enum removal how,
		      uint64_t not_after_ns, uint64_t now_ns)
{
	uint64_t *found = cp_map_get(&h->live, key_of(process, address));

	if (!found || h->blocks.items[*found].ts_ns > not_after_ns)
		return false;
	remove_block(h, found, how, now_ns);
	return true;
}

static void count_block(struct cp_heap *h, const struct cp_heap_block *b)
{
	struct cp_heap_site *of[] = { &h->sites.items[b->site], &h->stacks.items[b->of_stack] };
	bool shown = is_shown(h, b->ts_ns);
	bool resized = shown && b->previous == b->address;
	bool moved = shown && b->previous && !resized;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(of); i++) {
		add(&of[i]->left, &b->weight);
		if (shown) {
			add(&of[i]->allocated, &b->weight);
			add_doubt(h, b->size, &of[i]->allocated_doubt);
		}
		of[i]->moved += moved ? b->weight.blocks : 0;
		of[i]->resized += resized ? b->weight.blocks : 0;
	}
	h->moved += moved ? b->weight.blocks : 0;
	h->resized += resized ? b->weight.blocks : 0;
	if (shown) {
		add(&h->allocated, &b->weight);
		add_doubt(h, b->size, &h->allocated_doubt);
		h->chosen++;
	}
	add(&h->left, &b->weight);
	h->processes.items[b->process].in_use += b->weight.bytes;
	if (h->left.bytes > h->most.bytes)
		h->most = h->left;
}

/* Nothing is at its address. False without memory. */
static bool add_block(struct cp_heap *h, struct cp_heap_block *b)
{
	uint32_t number = (uint32_t)h->blocks.count;

	if (b->counts) {
		if (!find_sites(h, b))
			return false;
		count_block(h, b);
	}
	if (h->spare.count)
		number = h->spare.items[--h->spare.count];
	else if (!cp_vec_push(&h->blocks, *b) || !cp_vec_reserve(&h->spare, h->blocks.count))
		return false;
	h->blocks.items[number] = *b;
	return cp_map_add(&h->live, key_of(b->process, b->address), number);
}

/* The time from `from_ns` on at which a process executes another program; UINT64_MAX: never. */
static uint64_t next_exec(const struct cp_heap *h, uint32_t process, uint64_t from_ns)
{
	const struct cp_record *r = h->p->record;
	int32_t pid = cp_record_get_process(r, process)->pid;
	size_t count = cp_record_life_count(r), i;
	uint64_t ret = UINT64_MAX;

	for (i = 0; i < count; i++) {
		const struct cp_record_life *life = cp_record_get_life(r, (uint32_t)i);

		if (!life->thread && life->pid == pid && life->end == CP_LIFE_REPLACED &&
		    life->end_ns >= from_ns && life->end_ns < ret)
			ret = life->end_ns;
	}
	return ret;
}

static void remove_all(struct cp_heap *h, uint32_t process, uint64_t now_ns)
{
	CP_VEC(uint64_t) gone = { 0 };
	uint64_t key, number, *it;
	size_t cursor = 0;

	while (cp_map_next(&h->live, &cursor, &key, &number))
		if (h->blocks.items[number].process == process && !cp_vec_push(&gone, key))
			break;
	cp_vec_for_each(&gone, it)
		remove_block(h, cp_map_get(&h->live, *it), FREED, now_ns);
	cp_vec_free(&gone);
}

/* Up to when the process, which began as a copy of one that was watched, runs that program; 0:
 * it did not. */
static uint64_t find_copy(const struct cp_heap *h, uint32_t process)
{
	const struct cp_record *r = h->p->record;
	const struct cp_record_process *p = cp_record_get_process(r, process), *from;
	size_t count = cp_record_process_count(r), i;

	for (i = 0; i < count; i++) {
		from = cp_record_get_process(r, (uint32_t)i);
		if (from != p && from->pid == p->ppid && from->start_ns <= p->start_ns)
			return next_exec(h, process, 0);
	}
	return 0;
}

static bool is_copy(struct cp_heap *h, uint32_t process, uint64_t ts_ns)
{
	struct cp_heap_process *known = &h->processes.items[process];

	if (!known->copy_known)
		known->copy_ns = find_copy(h, process);
	known->copy_known = true;
	return known->copy_ns >= ts_ns;
}

/* A block is freed or moved that the process was not seen to allocate. */
static void count_unknown(struct cp_heap *h, const struct cp_heap_block *b)
{
	if (!b->counts || !is_shown(h, b->ts_ns) || h->every)
		return;
	if (is_copy(h, b->process, b->ts_ns))
		h->inherited++;
	else
		h->unknown++;
}

/* Removes the blocks of a process up to the last time at which it executed another program. */
static void pass_execs(struct cp_heap *h, uint32_t process, uint64_t until_ns)
{
	struct cp_heap_process *known = &h->processes.items[process];

	if (!known->exec_known)
		known->exec_ns = next_exec(h, process, until_ns);
	known->exec_known = true;
	while (known->exec_ns < until_ns) {
		remove_all(h, process, known->exec_ns);
		known->exec_ns = next_exec(h, process, known->exec_ns + 1);
	}
}

/* ---- heapshots ---- */

static void keep_live(struct cp_heap_sites *sites, size_t which)
{
	struct cp_heap_site *site;

	cp_vec_for_each(sites, site)
		site->live[which] = site->left;
}

/* All that is told from now on happened after `until_ns`, or then. */
static void reach_shots(struct cp_heap *h, uint64_t until_ns)
{
	struct cp_heapshot *shot;
	size_t i;

	for (; h->shots_reached < h->shots.count; h->shots_reached++) {
		shot = &h->shots.items[h->shots_reached];
		if (shot->ts_ns >= until_ns)
			return;
		for (i = 0; i < cp_record_process_count(h->p->record); i++)
			pass_execs(h, (uint32_t)i, shot->ts_ns);
		shot->live = h->left;
		shot->reached = true;
		for (i = 0; i < CP_ARRAY_SIZE(h->wanted); i++) {
			if (h->wanted[i] != h->shots_reached + 1)
				continue;
			keep_live(&h->sites, i);
			keep_live(&h->stacks, i);
		}
	}
}

/* ---- the walk ---- */

static void follow_free(struct cp_heap *h, const struct cp_heap_block *b)
{
	uint64_t *found = cp_map_get(&h->live, key_of(b->process, b->address));
	uint64_t blocks = found ? h->blocks.items[*found].weight.blocks : !h->every;

	if (found)
		remove_block(h, found, FREED, b->ts_ns);
	else
		count_unknown(h, b);
	if (b->counts && is_shown(h, b->ts_ns))
		h->freed.blocks += blocks;
}

CP_ERROR cp_heap_follow(struct cp_heap *h, uint32_t thread, uint32_t function,
			const struct cp_record_call *call)
{
	struct cp_heap_block b = {
		.size = cp_heap_size(call),
		.ts_ns = call->ts_ns,
		.address = cp_heap_address(call),
		.previous = cp_heap_previous(call),
		.process = cp_record_get_thread(h->p->record, thread)->process,
		.thread = thread,
		.function = function,
		.stack = call->stack,
		.counts = cp_profile_accepts_memory(h->p, thread, function),
	};

	if (!know_processes(h, b.process))
		return cp_error_nomem();
	reach_shots(h, call->ts_ns);
	pass_execs(h, b.process, call->ts_ns);
	/* Of a sample few mappings are known to be the allocator's. */
	if (call->kind == CP_RECORD_HEAP_SIZE && b.counts && b.size > h->held && !h->every)
		h->held = b.size;
	if (!b.address) /* that, or broken */
		return NULL;
	if (call->kind == CP_RECORD_FREED) {
		follow_free(h, &b);
		return NULL;
	}
	if (b.previous && !remove_at(h, b.process, b.previous, REPLACED,
				     call->ts_ns - call->duration_ns, call->ts_ns))
		count_unknown(h, &b);
	remove_at(h, b.process, b.address, FREED, UINT64_MAX, call->ts_ns);
	b.number = ++h->last_number;
	weigh(h, &b);
	return add_block(h, &b) ? NULL : cp_error_nomem();
}

static struct cp_error *each(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	return cp_heap_follow(ctx, thread, function, call);
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	static const char *const names[] = { "alloc", "free", "memalign", "operator new",
					     "operator delete" };
	struct cp_heap *h = ctx;
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

int cp_heap_by_allocated(const void *a, const void *b)
{
	const struct cp_heap_site *one = a, *two = b;

	if (one->allocated.bytes != two->allocated.bytes)
		return one->allocated.bytes > two->allocated.bytes ? -1 : 1;
	return (one->allocated.blocks < two->allocated.blocks) -
	       (one->allocated.blocks > two->allocated.blocks);
}

static int by_left(const void *a, const void *b)
{
	const struct cp_heap_site *one = a, *two = b;

	if (one->left.bytes != two->left.bytes)
		return one->left.bytes > two->left.bytes ? -1 : 1;
	return cp_heap_by_allocated(a, b);
}

void cp_heap_add_watched(const struct cp_record *r, struct cp_buf *out)
{
	const struct cp_record_totals *t = cp_record_final(r);
	double all = (double)t->alloc_watched_ns + (double)t->alloc_paused_ns;

	double percent = all > 0 ? 100 * (double)t->alloc_watched_ns / all : 0, lost;

	/* After pauses the time is never all of it. It is no share of the allocations: between
	 * the pieces nothing holds the program up. */
	cp_buf_str(out, "in pieces of the time, ");
	if (percent < 99)
		cp_buf_printf(out, "%.1f %% of it", percent);
	else
		cp_buf_str(out, "nearly all of it");
	if (t->call_records_lost) {
		lost = (double)t->call_records_lost;
		cp_buf_printf(out, ", where %.1f %% of the calls found room",
			      100 * (double)t->call_records / ((double)t->call_records + lost));
	}
	cp_buf_str(out, "; between them it ran at full speed, and what it allocated is not known");
}

/* What is needed only until all events are added up. */
static void forget_blocks(struct cp_heap *h)
{
	cp_vec_free(&h->blocks);
	cp_vec_free(&h->spare);
	cp_interner_free(&h->keys);
	cp_alike_deinit(&h->alike);
	cp_map_free(&h->by_function);
	cp_map_free(&h->live);
	cp_vec_free(&h->processes);
	free(h->lately);
	h->lately = NULL;
}

void cp_heap_deinit(struct cp_heap *h)
{
	forget_blocks(h);
	cp_vec_free(&h->sites);
	cp_vec_free(&h->stacks);
	cp_vec_free(&h->shots);
}

/* Blocks that are left at the end. */
static void doubt_left(struct cp_heap *h, const struct cp_heap_block *b)
{
	if (b->process == CP_RECORD_NONE || !b->counts)
		return;
	add_doubt(h, b->size, &h->left_doubt);
	add_doubt(h, b->size, &h->sites.items[b->site].left_doubt);
	add_doubt(h, b->size, &h->stacks.items[b->of_stack].left_doubt);
}

/* All but their order. */
static CP_ERROR add_up(const struct cp_profile *p, struct cp_heap *h)
{
	static const struct cp_span_visitor visitor = { .heap = each, .disarmed = disarmed };
	uint64_t end_ns = UINT64_MAX;
	size_t i;

	h->p = p;
	h->every = cp_record_final(p->record)->alloc_every;
	h->sampled = cp_record_final(p->record)->alloc_pauses;
	if (!know_processes(h, cp_record_process_count(p->record)))
		return cp_error_nomem();
	CP_TRY(cp_heapshots_find(p->record, &h->shots));
	CP_TRY(cp_spans_walk(p, &visitor, h));
	if (p->filter.to_ns)
		end_ns = cp_record_info(p->record)->start_ns + p->filter.to_ns;
	reach_shots(h, end_ns);
	for (i = 0; i < cp_record_process_count(p->record); i++)
		pass_execs(h, (uint32_t)i, end_ns);
	for (i = 0; h->every && i < h->blocks.count; i++)
		doubt_left(h, &h->blocks.items[i]);
	/* A sample does not tell what realloc() freed: what it made of a block that was
	 * chosen need not be. */
	if (h->every && !p->filter.from_ns) {
		uint64_t other = h->left.blocks + h->moved + h->resized;

		h->freed.blocks = h->allocated.blocks > other ? h->allocated.blocks - other : 0;
	}
	return NULL;
}

/* ---- sums that the profile has ---- */

static void add_sums(struct cp_heap_site *to, const struct cp_heap_site *more)
{
	add(&to->allocated, &more->allocated);
	add(&to->freed, &more->freed);
	add(&to->replaced, &more->replaced);
	add(&to->left, &more->left);
	to->moved += more->moved;
	to->resized += more->resized;
	to->allocated_doubt.blocks += more->allocated_doubt.blocks;
	to->allocated_doubt.bytes += more->allocated_doubt.bytes;
	to->left_doubt.blocks += more->left_doubt.blocks;
	to->left_doubt.bytes += more->left_doubt.bytes;
}

/* What cp_heap_build_sums() made, without telling threads apart, in `h`, which has nothing. */
static CP_ERROR take_sums(const struct cp_heap *sums, struct cp_heap *h)
{
	const struct cp_heap_site *site;
	const struct cp_heapshot *shot;

	*h = *sums;
	h->by_thread = false;
	h->sites = h->stacks = (struct cp_heap_sites){ 0 };
	h->shots = (struct cp_heapshots){ 0 };
	cp_vec_for_each(&sums->shots, shot)
		if (!cp_vec_push(&h->shots, *shot))
			return cp_error_nomem();
	cp_vec_for_each(&sums->sites, site)
		if (!cp_vec_push(&h->sites, *site))
			return cp_error_nomem();
	cp_vec_for_each(&sums->stacks, site) {
		struct cp_heap_block b = { .function = site->function, .stack = site->stack };

		if (!look_up_stack(h, &b))
			return cp_error_nomem();
		add_sums(&h->stacks.items[b.of_stack], site);
	}
	return NULL;
}

CP_ERROR cp_heap_build_sums(const struct cp_profile *p, struct cp_heap *h)
{
	CP_TRY(add_up(p, h));
	forget_blocks(h);
	return NULL;
}

void cp_heap_sort(const struct cp_heap *h, struct cp_heap_site *sites, size_t count)
{
	if (count)
		qsort(sites, count, sizeof(*sites), h->sampled ? cp_heap_by_allocated : by_left);
}

CP_ERROR cp_heap_build(const struct cp_profile *p, struct cp_heap *h)
{
	bool asks_more = h->by_thread || h->gone || h->wanted[0] || h->wanted[1];

	if (p->allocations && !asks_more)
		CP_TRY(take_sums(p->allocations, h));
	else
		CP_TRY(add_up(p, h));
	cp_heap_sort(h, h->sites.items, h->sites.count);
	cp_heap_sort(h, h->stacks.items, h->stacks.count);
	return NULL;
}
