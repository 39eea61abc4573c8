/* SPDX-License-Identifier: MIT
 *
 * Slots are seen by nobody but us: registers that somebody else will look at
 * say the site whose instruction is being executed, or what comes behind it.
 */
#include "tracer/memory/unslot.h"

#include <string.h>

#include "tracer/known/again.h"
#include "tracer/known/regs.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/sigcall.h"
#include "tracer/memory/space.h"

static bool write_memory(void *ctx, uint64_t address, const void *bytes, size_t size)
{
	return space_write(ctx, address, bytes, size);
}

/* For a copy of registers: the memory does not change. */
static bool write_nothing(void *ctx, uint64_t address, const void *bytes, size_t size)
{
	(void)ctx;
	(void)address;
	(void)bytes;
	(void)size;
	return false;
}

/* The site whose breakpoint a thread at `pc` has just run into, or passed without
 * a slot: then pc is in the middle of the instruction. */
static struct site *cut_site(const struct space *space, uint64_t pc)
{
	struct site *site = space_site(space, pc - 1);

	return site && !(site->flags & (CP_SITE_HOP | CP_SITE_RING | CP_SITE_FOREIGN)) &&
			       site->step.trap_size == 1 && site->step.size > 1
		       ? site
		       : NULL;
}

uint64_t unslot_pc(const struct thread *t, uint64_t pc)
{
	const struct space *space = t->process->space;
	struct cp_regs regs = { 0 };
	struct site *site;
	uint64_t slot;

	if (!space->table->areas.count)
		return pc;
	site = space_slot_site(space, pc, &slot);
	if (site)
		return cp_step_unslot(&site->step, site->address, slot, pc, &regs, write_nothing,
				      NULL);
	site = cut_site(space, pc);
	return site ? site->address : pc;
}

void unslot_regs(const struct thread *t, void *prstatus)
{
	const struct space *space = t->process->space;
	struct cp_syscall_state s;
	struct site *site;
	struct cp_regs regs;
	uint64_t slot, pc;

	if (!space->table->areas.count)
		return;
	cp_arch_syscall_state(prstatus, &s);
	site = space_slot_site(space, s.pc, &slot);
	cp_arch_regs_from_prstatus(prstatus, &regs);
	if (site)
		pc = cp_step_unslot(&site->step, site->address, slot, s.pc, &regs, write_nothing,
				    NULL);
	else
		site = sigcall_site(space, &regs, &pc, write_nothing);
	if (site) {
		regs.r[cp_arch_host()->pc] = pc;
		cp_arch_regs_to_prstatus(&regs, prstatus);
		return;
	}
	if (detours_hide(space, prstatus))
		return;
	site = cut_site(space, s.pc);
	if (site)
		cp_arch_set_pc(prstatus, site->address);
}

bool unslot_sigcall_regs(struct space *space, struct cp_regs *regs)
{
	uint64_t pc;

	if (!space->table->areas.count || !sigcall_site(space, regs, &pc, write_memory))
		return false;
	regs->r[cp_arch_host()->pc] = pc;
	return true;
}

void unslot_sigcall(struct thread *t)
{
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct cp_regs regs;

	if (!regs_read(t->tid, prstatus))
		return;
	cp_arch_regs_from_prstatus(prstatus, &regs);
	if (!unslot_sigcall_regs(t->process->space, &regs))
		return;
	cp_arch_regs_to_prstatus(&regs, prstatus);
	regs_write(t->tid, prstatus);
}

void unslot_thread(struct thread *t)
{
	struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8], slot, pc;
	struct cp_syscall_state s;
	struct site *site;
	struct cp_regs regs;

	if (!space->table->areas.count || !regs_read(t->tid, prstatus))
		return;
	cp_arch_syscall_state(prstatus, &s);
	cp_arch_regs_from_prstatus(prstatus, &regs);
	site = space_slot_site(space, s.pc, &slot);
	if (site)
		pc = cp_step_unslot(&site->step, site->address, slot, s.pc, &regs, write_memory,
				    space);
	else
		site = sigcall_site(space, &regs, &pc, write_memory);
	if (!site) {
		detours_lead_out(t);
		return;
	}
	regs.r[cp_arch_host()->pc] = pc;
	cp_arch_regs_to_prstatus(&regs, prstatus);
	regs_write(t->tid, prstatus);
	if (pc == site->address && !site->step.sigcall && !(site->flags & SITE_DETOURS))
		again_expect(t, &regs);
}
