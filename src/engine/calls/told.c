/* SPDX-License-Identifier: MIT */
#include "engine/calls/told.h"

#include <string.h>

#include "engine/calls/calls.h"
#include "engine/calls/other_stacks.h"
#include "engine/probes/detours.h"
#include "engine/probes/hide.h"
#include "engine/probes/values.h"
#include "engine/target/memory.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

static uint64_t whole_sp(const cprof_thread *t, const struct engine_ring *ring, uint64_t low)
{
	const uint64_t span = UINT64_C(1) << CP_RECORD_SP_BITS;
	uint64_t base = t->stack_end && t->stack_end != UINT64_MAX ? t->stack_end : ring->sp;
	uint64_t sp = (base & ~(span - 1)) | low, other;

	if (sp > base && sp - base > span / 2)
		sp -= span;
	else if (sp < base && base - sp > span / 2)
		sp += span;
	if ((sp < t->stack_low || sp >= t->stack_end) &&
	    engine_stack_whole(t->process, low, &other))
		return other;
	return sp;
}

/* Takes out the lowest bit that is set: its number. */
static inline unsigned take_bit(uint64_t *bits)
{
	unsigned ret = (unsigned)__builtin_ctzll(*bits);

	*bits &= *bits - 1;
	return ret;
}

static uint64_t next_value(struct engine_words *v)
{
	return v->at < v->record->value_words ? v->record->values[v->at++] : 0;
}

/* Where a jump goes: what it reads is in the record. */
static uint64_t target_of(cprof_process *p, const struct engine_site *site, uint64_t pc,
			  struct engine_words *v)
{
	const struct cp_regs none = { 0 };

	if (site->jumps)
		return next_value(v);
	return engine_target_of(p->session->calls, site, pc, &none, &p->memory);
}

/* The address that a fetch read at; 0: its pointer was not read. */
static uint64_t fetched_at(const struct engine_site *site, size_t number,
			   const struct engine_told *told, const size_t blocks[CP_DETOUR_VALUES])
{
	const struct cp_fetch *f = &site->list.fetches[number];
	struct cp_fetched block;
	uint64_t pointer;
	uint32_t where;
	bool beside;

	if (f->from < CP_FETCH_BLOCK) {
		pointer =
			f->from == cp_arch_host()->sp ? told->event.sp : told->hit.regs.r[f->from];
		return pointer ? pointer + (uint64_t)(int64_t)f->offset : 0;
	}
	beside = f->flags & CP_FETCH_BESIDE;
	if ((size_t)f->from - CP_FETCH_BLOCK >= number || (beside && f->at >= number))
		return 0;
	where = beside ? 0 : f->at;
	memcpy(&block, told->fetched + blocks[f->from - CP_FETCH_BLOCK], sizeof(block));
	if (block.size < where + sizeof(pointer))
		return 0;
	memcpy(&pointer, told->fetched + blocks[f->from - CP_FETCH_BLOCK] + sizeof(block) + where,
	       sizeof(pointer));
	if (beside) {
		memcpy(&block, told->fetched + blocks[f->at], sizeof(block));
		pointer += block.address;
	}
	return pointer ? pointer + (uint64_t)(int64_t)f->offset : 0;
}

/* `size` bytes of the record from a word on. False: it has not so many; the program may
 * have written there. */
static bool copy_words(const struct engine_words *v, unsigned at, uint8_t *to, size_t size)
{
	if (at > v->record->value_words || size > (v->record->value_words - at) * 8)
		return false;
	memcpy(to, v->record->values + at, size);
	return true;
}

/* What the record has of a fetch, to `to`, which has room for it and one byte more; how
 * many bytes. */
static uint32_t take_fetch(const struct cp_fetch *f, struct engine_words *v, uint8_t *to,
			   bool *untried)
{
	enum engine_fetch_as as = engine_fetch_as(f);
	unsigned *at = as == ENGINE_FETCH_STRING ? &v->strings : &v->at;
	struct cp_detour_reached reached = { .size = f->size };
	unsigned begin = *at;

	if (as == ENGINE_FETCH_WORDS) {
		*at += engine_fetch_words(f);
		return copy_words(v, begin, to, f->size) ? f->size : 0;
	}
	if (!copy_words(v, begin, (uint8_t *)&reached, sizeof(reached)) || reached.size > f->size)
		reached.size = 0;
	*untried |= reached.how == CP_DETOUR_READ_NOT;
	*at += 1 + (as == ENGINE_FETCH_STRING ? (reached.size + 7) / 8 : engine_fetch_words(f));
	if (!copy_words(v, begin + 1, to, reached.size))
		return 0;
	if (as != ENGINE_FETCH_STRING || reached.how != CP_DETOUR_READ || reached.size == f->size)
		return reached.size;
	to[reached.size] = 0;
	return reached.size + 1;
}

/* The same from memory. */
static uint32_t read_fetch(const cprof_process *p, const struct cp_fetch *f, uint64_t address,
			   uint8_t *to)
{
	size_t got = address < 4096 ? 0 : p->memory.read(p->memory.ctx, address, to, f->size);
	const uint8_t *end = f->flags & CP_FETCH_STRING ? memchr(to, 0, got) : NULL;

	return (uint32_t)(end ? end - to + 1 : (ptrdiff_t)got);
}

/* `v` NULL: from memory. */
static void take_fetches(cprof_session *s, const struct engine_site *site, struct engine_words *v,
			 struct engine_told *told)
{
	size_t blocks[CP_DETOUR_VALUES], end = 0, i;
	bool untried = false;

	for (i = 0; i < site->list.fetch_count && i < CP_DETOUR_VALUES; i++) {
		const struct cp_fetch *f = &site->list.fetches[i];
		struct cp_fetched block = { .index = (uint32_t)i };
		uint8_t *to;

		if (end + sizeof(block) + cp_align8(f->size + 1) > sizeof(told->fetched))
			break;
		blocks[i] = end;
		block.address = fetched_at(site, i, told, blocks);
		to = told->fetched + end + sizeof(block);
		block.size = v ? take_fetch(f, v, to, &untried)
			       : read_fetch(s->current.process, f, block.address, to);
		memcpy(told->fetched + end, &block, sizeof(block));
		engine_hide_breakpoints(s->current.process, block.address, to, block.size);
		end += sizeof(block) + cp_align8(block.size);
	}
	s->calls->records_unread += untried;
	told->event.fetched_size = (uint32_t)end;
	if (end)
		told->hit.fetched = told->fetched;
}

/* What was on top of the x87's stack. */
static void take_x87(struct engine_words *v, struct cp_hit_vector *vector)
{
	uint64_t halves[2];

	halves[0] = next_value(v);
	halves[1] = next_value(v);
	if (cp_detour_x87_there(halves[1]))
		memcpy(vector->x87[0], halves, 10);
}

/* Values of the record, each where it was. */
static void take_values(cprof_session *s, const struct engine_site *site, struct engine_words *v,
			struct engine_told *told)
{
	const struct cp_arch *arch = cp_arch_host();
	struct cp_regs *regs = &told->hit.regs;
	uint64_t bits;

	if (!site->valued)
		return;
	regs->known = site->uses.general | UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	for (bits = site->uses.general; bits;)
		regs->r[take_bit(&bits)] = next_value(v);
	regs->r[arch->pc] = told->event.pc;
	regs->r[arch->sp] = told->event.sp;
	if (site->uses.vectors || site->uses.x87) {
		memset(&told->vector, 0, sizeof(told->vector));
		told->hit.vector = &told->vector;
	}
	for (bits = site->uses.vectors; bits;) {
		uint64_t halves[2];

		halves[0] = next_value(v);
		halves[1] = next_value(v);
		memcpy(told->vector.v[take_bit(&bits)], halves, sizeof(halves));
	}
	if (site->uses.x87)
		take_x87(v, &told->vector);
	take_fetches(s, site, v, told);
}

/* The stack as far as the record has it, and the registers that its walk begins with. */
static void take_stack(const struct cp_record *r, struct engine_words *v, struct engine_told *told,
		       struct engine_capture *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	const uint64_t places = UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	struct cp_regs *regs = &ret->regs;
	uint64_t bits = arch->callee_saved & ~places;

	regs->known = arch->callee_saved | places;
	while (bits)
		regs->r[take_bit(&bits)] = next_value(v);
	regs->r[arch->pc] = told->event.pc;
	regs->r[arch->sp] = told->event.sp;
	if (!r->stack_size)
		return;
	told->hit.stack = r->stack;
	ret->stack = r->stack;
	ret->stack_size = r->stack_size & ~7u;
	ret->stack_base = told->event.sp;
}

/* What walks begin with. */
static void set_capture(cprof_session *s, const struct cp_record *r, const struct engine_site *site,
			struct engine_words *v, struct engine_told *told)
{
	struct engine_capture *capture = &s->current.capture;

	*capture = (struct engine_capture){
		.pc = told->event.pc,
		.ts_ns = told->event.e.ts_ns,
		.slot = told->event.slot,
		.recorded = true,
	};
	if (site->walked)
		take_stack(r, v, told, capture);
}

/* Registers of the event are those that values are in, too. */
static void know_registers(const struct cp_regs *values, struct cp_regs *regs)
{
	uint64_t bits = values->known & ~regs->known;

	regs->known |= values->known;
	while (bits) {
		unsigned i = take_bit(&bits);

		regs->r[i] = values->r[i];
	}
}

bool engine_told_fill(cprof_session *s, const struct engine_ring *ring, const struct cp_record *r,
		      uint32_t number, struct engine_words *v, struct engine_told *told)
{
	const struct engine_calls *c = s->calls;
	const struct engine_site *site = &c->sites.items[number];
	const cprof_thread *t = s->current.thread;

	told->event = (struct cp_event_hit){ .e = { .size = sizeof(told->event),
						    .type = CP_EVENT_HIT,
						    .flags = site->judged ? 0 : CP_HIT_DECIDED,
						    .ts_ns = ring->next_ns,
						    .pid = t->process->pid,
						    .tid = t->tid },
					     .site = number,
					     .slot = t->slot,
					     .sp = whole_sp(t, ring, r->sp),
					     .lost_ns = t->account.lost_ns,
					     .doubt = t->account.doubt,
					     .run_ns = t->account.run_ns };
	told->hit = (struct engine_hit){ .event = &told->event,
					 .site = number,
					 .image = engine_detours_image(t->process, site->traced),
					 .recorded = true };
	if (!told->hit.image)
		return false;
	told->event.pc = site->address + told->hit.image->bias;
	if (site->kind == ENGINE_SITE_ENTRY) {
		told->event.caller = next_value(v);
		told->event.target = next_value(v);
	}
	set_capture(s, r, site, v, told);
	if (site->sampled)
		told->event.e.flags |=
			(uint16_t)(CP_HIT_CHOSEN | (next_value(v) ? 0 : CP_HIT_PASSED));
	if (site->kind == ENGINE_SITE_TAIL) {
		told->event.e.flags |= CP_HIT_TAKEN;
		told->event.target = target_of(t->process, site, told->event.pc, v);
	}
	if (!v->strings)
		v->strings = c->sites.items[r->site].words;
	take_values(s, site, v, told);
	know_registers(&told->hit.regs, &s->current.capture.regs);
	return true;
}

void engine_told_fetch(cprof_session *s, struct engine_hit *hit, struct engine_told *told)
{
	const struct engine_site *site = &s->calls->sites.items[hit->site];

	told->event = *hit->event;
	told->hit = *hit;
	told->hit.event = &told->event;
	if (site->valued && hit->regs.known && engine_open_memory(s->current.process))
		take_fetches(s, site, NULL, told);
	*hit = told->hit;
}
