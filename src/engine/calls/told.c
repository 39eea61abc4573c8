/* SPDX-License-Identifier: MIT */
#include "engine/calls/told.h"

#include <string.h>

#include "engine/calls/calls.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

#define SP_BITS 35 /* of a stack pointer in a record */

static uint64_t whole_sp(const cprof_thread *t, const struct engine_ring *ring, uint64_t low)
{
	const uint64_t span = UINT64_C(1) << SP_BITS;
	uint64_t base = t->stack_end && t->stack_end != UINT64_MAX ? t->stack_end : ring->sp;
	uint64_t sp = (base & ~(span - 1)) | low;

	if (sp > base && sp - base > span / 2)
		return sp - span;
	return sp < base && base - sp > span / 2 ? sp + span : sp;
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

static void take_fetches(const struct engine_site *site, struct engine_words *v,
			 struct engine_told *told)
{
	uint8_t *to = told->fetched;
	size_t i, word;

	for (i = 0; i < site->list.fetch_count; i++) {
		const struct cp_fetch *f = &site->list.fetches[i];
		const struct cp_fetched block = {
			.index = (uint32_t)i,
			.size = f->size,
			.address = told->event.sp + (uint64_t)(int64_t)f->offset,
		};

		memcpy(to, &block, sizeof(block));
		to += sizeof(block);
		for (word = 0; word * 8 < f->size; word++, to += 8) {
			uint64_t value = next_value(v);

			memcpy(to, &value, sizeof(value));
		}
	}
	told->event.fetched_size = (uint32_t)(to - told->fetched);
	if (told->event.fetched_size)
		told->hit.fetched = told->fetched;
}

/* Values of the record, each where it was. */
static void take_values(const struct engine_site *site, struct engine_words *v,
			struct engine_told *told)
{
	const struct cp_arch *arch = cp_arch_host();
	struct cp_regs *regs = &told->hit.regs;
	unsigned i;

	if (!site->valued)
		return;
	regs->known = site->uses.general | UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	for (i = 0; i < arch->nregs; i++)
		if (site->uses.general >> i & 1)
			regs->r[i] = next_value(v);
	regs->r[arch->pc] = told->event.pc;
	regs->r[arch->sp] = told->event.sp;
	if (site->uses.vectors) {
		memset(&told->vector, 0, sizeof(told->vector));
		told->hit.vector = &told->vector;
	}
	for (i = 0; i < CP_ARCH_VECTORS; i++) {
		uint64_t halves[2];

		if (!(site->uses.vectors >> i & 1))
			continue;
		halves[0] = next_value(v);
		halves[1] = next_value(v);
		memcpy(told->vector.v[i], halves, sizeof(halves));
	}
	take_fetches(site, v, told);
}

/* The stack as far as the record has it, and the registers that its walk begins with. */
static void take_stack(const struct cp_record *r, struct engine_words *v, struct engine_told *told,
		       struct engine_capture *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	struct cp_regs *regs = &ret->regs;
	unsigned i;

	regs->known = arch->callee_saved | UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	for (i = 0; i < arch->nregs; i++)
		if (regs->known >> i & 1 && i != arch->pc && i != arch->sp)
			regs->r[i] = next_value(v);
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
	};
	if (site->walked)
		take_stack(r, v, told, capture);
}

bool engine_told_fill(cprof_session *s, const struct engine_ring *ring, const struct cp_record *r,
		      uint32_t number, struct engine_words *v, struct engine_told *told)
{
	const struct engine_calls *c = s->calls;
	const struct engine_site *site = &c->sites.items[number];
	const cprof_thread *t = s->current.thread;

	told->event = (struct cp_event_hit){ .e = { .size = sizeof(told->event),
						    .type = CP_EVENT_HIT,
						    .flags = CP_HIT_DECIDED,
						    .ts_ns = ring->next_ns,
						    .pid = t->process->pid,
						    .tid = t->tid },
					     .site = number,
					     .slot = t->slot,
					     .sp = whole_sp(t, ring, r->sp),
					     .lost_ns = t->last_hit.lost_ns,
					     .doubt = t->last_hit.doubt,
					     .run_ns = t->last_hit.run_ns };
	told->hit = (struct engine_hit){ .event = &told->event,
					 .site = number,
					 .image = engine_detours_image(t->process, site->traced) };
	if (!told->hit.image)
		return false;
	told->event.pc = site->address + told->hit.image->bias;
	if (site->kind == ENGINE_SITE_ENTRY) {
		told->event.caller = next_value(v);
		told->event.target = next_value(v);
	}
	set_capture(s, r, site, v, told);
	if (site->kind == ENGINE_SITE_TAIL) {
		told->event.e.flags |= CP_HIT_TAKEN;
		told->event.target = target_of(t->process, site, told->event.pc, v);
	}
	take_values(site, v, told);
	return true;
}
