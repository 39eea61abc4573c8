/* SPDX-License-Identifier: MIT
 *
 * A batch of breakpoints: filled, written to the plan area, sent.
 */
#include "engine/probes/batch.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "engine/probes/roles.h"
#include "engine/target/family.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

void engine_batch_free(struct engine_batch *b)
{
	cp_vec_free(&b->sites);
	cp_vec_free(&b->groups);
	cp_vec_free(&b->fetches);
	cp_vec_free(&b->windows);
	cp_vec_free(&b->yielded);
	cp_vec_free(&b->code);
}

uint32_t engine_batch_slot(cprof_image *image, uint64_t address)
{
	uint64_t *known = cp_map_get(&image->slots, address);
	uint32_t slot = image->cover.reserved + (uint32_t)image->slots.count;
	uint64_t here = (uint64_t)image->unmapped << 32;

	if (!known) {
		cp_map_add(&image->slots, address, here | slot);
		return slot;
	}
	slot = (uint32_t)*known;
	*known = here | slot;
	return slot;
}

bool engine_batch_is_here(const cprof_image *image, uint64_t slot)
{
	return slot >> 32 == image->unmapped;
}

static unsigned site_flags(const cprof_session *s, const struct engine_site *site)
{
	static const unsigned kinds[] = {
		[ENGINE_SITE_ENTRY] = CP_SITE_ENTRY,
		[ENGINE_SITE_EXIT] = CP_SITE_EXIT,
		[ENGINE_SITE_TAIL] = CP_SITE_TAIL,
		[ENGINE_SITE_RETURN] = CP_SITE_RETURN,
		[ENGINE_SITE_OWN] = 0,
	};
	unsigned flags = kinds[site->kind] | site->list.site_flags;
	const struct engine_traced *t;

	if (site->traced == ENGINE_NO_FUNCTION)
		return flags;
	t = s->calls->traced.items[site->traced];
	if (site->list.fetch_count)
		flags |= CP_SITE_REGS;
	if (engine_holds(s, t, site))
		flags |= CP_SITE_HOLD | CP_SITE_REGS;
	flags |= engine_role_captures(s, t, site->kind);
	if (site->kind != ENGINE_SITE_ENTRY)
		return flags;
	if (t->flags & CPROF_CALL_INSTRUMENTATION_STACK)
		flags |= CP_SITE_STACK | CP_SITE_REGS;
	if (t->flags & CPROF_CALL_INSTRUMENTATION_ONCE)
		flags |= CP_SITE_ONCE;
	if (t->by_return)
		flags |= CP_SITE_WATCH_RETURN;
	return flags;
}

/* Fills in what is known of the instruction, and its slot's code. */
static bool prepare(const struct engine_batch *b, const uint8_t *code, size_t size,
		    struct cp_site *out, uint8_t *slot_code)
{
	const cprof_image *image = b->image;
	uint64_t slot = cp_area_slot(image->area, image->area_size, out->slot);
	struct cp_sigcall call;

	if (out->flags & CP_SITE_SIGCALL)
		return cp_sigcall_at(code, size, &call) &&
		       cp_sigcall_prepare(&call, code, out->address, slot, image->area, slot_code,
					  &out->step);
	return cp_step_prepare(b->calls->decoder, code, size, out->address, slot, slot_code,
			       &out->step) &&
	       out->step.how != CP_STEP_REFUSED;
}

static void push(struct engine_batch *b, const struct cp_site *site, const uint8_t *slot_code)
{
	b->failed |= !cp_vec_push(&b->sites, *site);
	b->failed |= !cp_vec_reserve(&b->code, b->code.count + CP_SLOT_SIZE);
	if (b->failed)
		return;
	memcpy(b->code.items + b->code.count, slot_code, CP_SLOT_SIZE);
	b->code.count += CP_SLOT_SIZE;
}

/* Where detours are in the way of a breakpoint, their functions have breakpoints, too. */
static void make_way(struct engine_batch *b, const struct cp_site *site)
{
	const cprof_session *s = b->image->process->session;
	uint64_t address = site->address - b->image->bias;
	uint32_t number;
	int i;

	/* A window, and the pun whose displacement it is in. */
	for (i = 0; i < 2; i++) {
		number = engine_detours_at(b->image, address);
		if (number == ENGINE_NO_FUNCTION)
			return;
		if (number == ENGINE_COUNTED) {
			engine_each_family(s, f, yield)
				f->yield(b->image, address, 1);
			return;
		}
		engine_detours_yield(b->image, number);
		b->failed |= !cp_vec_push(&b->yielded, number);
	}
}

bool engine_batch_put(struct engine_batch *b, struct cp_site *out, const uint8_t *code, size_t size)
{
	uint8_t slot_code[CP_SLOT_SIZE] = { 0 };

	if (!prepare(b, code, size, out, slot_code))
		return false;
	memcpy(out->original, code, size < CP_TRAP_MAX ? size : CP_TRAP_MAX);
	make_way(b, out);
	push(b, out, slot_code);
	return true;
}

/* The bytes at the site as the file has them. */
static void read_original(const cprof_image *image, struct cp_site *out)
{
	struct cp_reader file = cp_probe_file_reader(image->assembly->image);

	file.read(file.ctx, out->address - image->bias, out->original, sizeof(out->original));
}

/* What a thread does that comes to the site's breakpoint: goes to the detour, or, at a
 * conditional jump, only if it jumps. How many bytes that has; 0: it can't be. */
static size_t put_way(const struct engine_batch *b, const struct engine_detour_site *site,
		      uint32_t number, uint8_t *slot_code)
{
	const size_t kept = CP_SLOT_SIZE - sizeof(site->window) +
			    offsetof(struct cp_window, original) + CP_DETOUR_BRANCH;
	uint64_t slot = cp_area_slot(b->image->area, b->image->area_size, number);

	_Static_assert(CP_DETOUR_FILLED >= CP_DETOUR_BRANCH + sizeof(site->to),
		       "what such a window leaves free");
	if (!site->branches)
		return cp_detour_far_jump(site->to, slot_code);
	return cp_detour_far_branch(site->window.original, site->to, site->address + site->size,
				    slot, kept, slot_code);
}

void engine_batch_detour(struct engine_batch *b, const struct engine_detour_site *site)
{
	uint8_t slot_code[CP_SLOT_SIZE] = { 0 };
	size_t trap_size, jump_size = 0;
	struct cp_site out = {
		.address = site->address,
		.id = site->traced,
		.group = (uint32_t)b->groups.count - 1,
		.first_fetch = (uint32_t)b->fetches.count,
		.flags = site->flags,
		.slot = engine_batch_slot(b->image, site->address - b->image->bias),
	};

	cp_trap_code(cp_arch_host(), &trap_size);
	if (site->window.size)
		memcpy(slot_code + CP_SLOT_SIZE - sizeof(site->window), &site->window,
		       sizeof(site->window));
	if (site->to)
		jump_size = put_way(b, site, out.slot, slot_code);
	b->failed |= site->to && !jump_size;
	out.step = (struct cp_step){
		.how = CP_STEP_SLOT,
		.size = site->size,
		.slot_size = (uint8_t)jump_size,
		.base = 0xff,
		.index = 0xff,
		.trap_size = (uint8_t)trap_size,
		.resume = site->address + site->size,
	};
	if (site->window.size) {
		out.window = (uint32_t)b->windows.count;
		b->failed |= !cp_vec_push(&b->windows, site->window);
	}
	read_original(b->image, &out);
	push(b, &out, slot_code);
}

bool engine_batch_site(struct engine_batch *b, uint32_t number, uint64_t address,
		       const uint8_t *code, size_t size)
{
	const struct engine_site *site = &b->calls->sites.items[number];
	cprof_image *image = b->image;
	struct cp_site out = {
		.address = address,
		.id = number,
		.group = (uint32_t)b->groups.count - 1,
		.first_fetch = (uint32_t)b->fetches.count,
		.fetch_count = (uint32_t)site->list.fetch_count,
		.flags = site_flags(image->process->session, site),
		.slot = engine_batch_slot(image, address - image->bias),
	};
	size_t i;

	if (!engine_batch_put(b, &out, code, size))
		return false;
	for (i = 0; i < site->list.fetch_count; i++)
		b->failed |= !cp_vec_push(&b->fetches, site->list.fetches[i]);
	return true;
}

bool engine_batch_planned(struct engine_batch *b, uint32_t number)
{
	const struct engine_site site = b->calls->sites.items[number];

	return engine_batch_site(b, number, site.address + b->image->bias, site.code, site.size);
}

/* Tells the tracer the function's ranges: a jump into them does not leave it. */
static void set_ranges(const struct engine_batch *b, const struct engine_traced *t,
		       struct cp_site_group *group)
{
	uint32_t i;

	for (i = 0; i < CP_GROUP_RANGES && t->ranges[i].end; i++) {
		group->ranges[i].start = t->ranges[i].start + b->image->bias;
		group->ranges[i].end = t->ranges[i].end + b->image->bias;
	}
}

bool engine_batch_group(struct engine_batch *b, uint32_t number)
{
	const cprof_session *s = b->image->process->session;
	struct cp_site_group group = { .id = number };
	const struct engine_traced *t;

	if (number == ENGINE_NO_FUNCTION) { /* what all detours share */
		group.id = ENGINE_GROUP_SHARED;
		return cp_vec_push(&b->groups, group);
	}
	t = b->calls->traced.items[number];
	group.max_rate = t->max_rate;
	if (engine_role_pauses(s, t))
		group.flags |= CP_GROUP_PAUSES;
	if (t->function->kind == CP_PROBE_PLT)
		group.flags |= CP_GROUP_LIBRARY;
	if (t->signature && cp_signature_result_is_kept(t->signature))
		group.flags |= CP_GROUP_KEEPS;
	if (engine_role_sampled(s, t, &group.heap))
		group.flags |= CP_GROUP_SAMPLED;
	else if (!(t->flags & CPROF_CALL_INSTRUMENTATION_ONCE) && !engine_role_entry_alone(s, t))
		group.flags |= CP_GROUP_OPENS;
	set_ranges(b, t, &group);
	return cp_vec_push(&b->groups, group);
}

bool engine_batch_function(struct engine_batch *b, uint32_t number)
{
	const cprof_session *s = b->image->process->session;
	struct engine_traced *t = b->calls->traced.items[number];
	size_t entry = b->sites.count;
	uint32_t i;

	if (!engine_batch_group(b, number))
		return false;
	for (i = 0; i < t->entry_count; i++)
		engine_batch_planned(b, t->first_site + i);
	if (b->sites.count == entry) {
		b->groups.count--;
		return false;
	}
	for (i = t->entry_count; i < t->site_count && !engine_role_entry_alone(s, t); i++) {
		if (engine_batch_planned(b, t->first_site + i))
			continue;
		cp_debug("%s: no breakpoint can stand at an exit", t->function->linkage_name);
		t->by_return = true;
	}
	if (t->by_return && b->sites.count > entry) {
		b->sites.items[entry].flags |= CP_SITE_WATCH_RETURN;
		b->calls->by_return = true;
	}
	return true;
}

static uint8_t *put(uint8_t *at, const void *from, size_t size)
{
	if (size)
		memcpy(at, from, size);
	return at + size;
}

/* Their breakpoints may be in the way of others. */
static void add_yielded(struct engine_batch *b)
{
	size_t i;

	for (i = 0; i < b->yielded.count; i++)
		engine_batch_function(b, b->yielded.items[i]);
}

static bool has_yielded(const struct engine_batch *b, uint32_t number)
{
	size_t i;

	for (i = 0; i < b->yielded.count && b->yielded.items[i] != number; i++)
		;
	return i < b->yielded.count;
}

/* Detours that come again were made for what stood in the image then: of those that are in the
 * way of a breakpoint that comes with them none may come. */
static void drop_yielded(struct engine_batch *b)
{
	size_t i, n = 0;

	if (!b->yielded.count || b->failed)
		return;
	for (i = 0; i < b->sites.count; i++) {
		const struct cp_site *site = &b->sites.items[i];

		if (site->flags & (CP_SITE_WINDOW | CP_SITE_HOP | CP_SITE_LANDING) &&
		    has_yielded(b, site->id))
			continue;
		memmove(b->code.items + n * CP_SLOT_SIZE, b->code.items + i * CP_SLOT_SIZE,
			CP_SLOT_SIZE);
		b->sites.items[n++] = *site;
	}
	b->sites.count = n;
	b->code.count = n * CP_SLOT_SIZE;
}

int engine_batch_post(struct engine_batch *b)
{
	cprof_process *p = b->image->process;
	struct cp_batch head = {
		.area = b->image->area,
	};
	struct cp_request rq = { .type = CP_REQUEST_ARM,
				 .pid = p->pid,
				 .flags = (p->session->calls->cpu_time ? CP_TRACE_CPU : 0) |
					  (b->counts ? CP_ARM_COUNTS : 0) };
	struct cp_error *err;
	uint8_t *at = p->session->link.plan;

	add_yielded(b);
	drop_yielded(b);
	head.site_count = (uint32_t)b->sites.count;
	head.group_count = (uint32_t)b->groups.count;
	head.fetch_count = (uint32_t)b->fetches.count;
	head.window_count = (uint32_t)b->windows.count;
	head.size = sizeof(head) + b->sites.count * sizeof(*b->sites.items) +
		    b->groups.count * sizeof(*b->groups.items) +
		    b->fetches.count * sizeof(*b->fetches.items) +
		    b->windows.count * sizeof(*b->windows.items) + b->code.count;
	if (b->failed || head.size > CP_LINK_PLAN)
		return ENOMEM;
	at = put(at, &head, sizeof(head));
	at = put(at, b->sites.items, b->sites.count * sizeof(*b->sites.items));
	at = put(at, b->groups.items, b->groups.count * sizeof(*b->groups.items));
	at = put(at, b->fetches.items, b->fetches.count * sizeof(*b->fetches.items));
	at = put(at, b->windows.items, b->windows.count * sizeof(*b->windows.items));
	put(at, b->code.items, b->code.count);
	rq.size = head.size;
	err = cp_link_send(&p->session->link, &rq, &b->serial);
	cp_error_free(err);
	return err ? ESRCH : 0;
}

int engine_batch_answer(const struct engine_batch *b, uint32_t *armed_ret)
{
	struct cp_link *link = &b->image->process->session->link;
	struct cp_answer answer;
	struct cp_error *err = cp_link_wait(link, b->serial, &answer, NULL);

	if (err || answer.type != CP_REQUEST_ARM) {
		cp_error_free(err);
		return ESRCH;
	}
	*armed_ret = answer.threads;
	return answer.errnum;
}

int engine_batch_send(struct engine_batch *b, uint32_t *armed_ret)
{
	int errnum = engine_batch_post(b);

	return errnum ? errnum : engine_batch_answer(b, armed_ret);
}
