/* SPDX-License-Identifier: MIT
 *
 * System calls about signals that go by way of our code (sigmask.c says why).
 *
 * Such a call gets a jump, as long as the instruction that it replaces, while whoever runs
 * is held: at once, and it goes at once. Where somebody can't be held, a breakpoint stands
 * there, which kills who comes to it with SIGTRAP blocked and nobody to tell it otherwise;
 * and what was a jump goes while threads run, the breakpoint first, then the bytes behind
 * it. None stands across the border of two lines of the caches.
 */
#include "tracer/memory/sigcall.h"

#include <string.h>

#include "tracer/memory/space.h"
#include "tracer/restore.h"

#define LINE UINT64_C(64) /* a processor has all of one from the same moment */

size_t sigcall_code(const struct space *space, uint8_t *to)
{
	uint64_t first = space->table->areas.items[0].address;
	size_t size, first_at;
	const uint8_t *code = cp_sigcall_code(cp_arch_host(), &size, &first_at);

	if (!code || size > CP_AREA_HEAD - CP_AREA_SIGCALL)
		return 0;
	memcpy(to, code, size);
	memcpy(to + first_at, &first, sizeof(first));
	return size;
}

struct site *sigcall_site(const struct space *space, struct cp_regs *regs, uint64_t *pc_ret,
			  bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size))
{
	const struct cp_reader memory = { space_reader, (void *)(uintptr_t)space };
	uint64_t pc = regs->r[cp_arch_host()->pc], back, slot;
	const struct area *area = space_area(space, pc);
	struct cp_regs now = *regs;
	struct site *site;
	bool done;

	if (!area || pc - area->address < CP_AREA_SIGCALL || pc - area->address >= CP_AREA_HEAD)
		return NULL;
	back = cp_sigcall_return(pc - area->address - CP_AREA_SIGCALL, &now, &memory, write, &done);
	site = back ? space_slot_site(space, back, &slot) : NULL;
	if (!site || !site->step.sigcall)
		return NULL;
	*regs = now;
	*pc_ret = done ? site->step.resume : site->address;
	return site;
}

/* The bytes of both instructions; false: there can be no jump. */
static bool codes(const struct space *space, const struct site *site, uint8_t *jump, uint8_t *now)
{
	return site->flags & CP_SITE_SIGCALL && site->address % LINE <= LINE - CP_SIGCALL_JUMP &&
	       cp_sigcall_jump(site->address, site->slot, jump) &&
	       space_read(space, site->address, now, CP_SIGCALL_JUMP);
}

bool sigcall_jump(const struct space *space, const struct site *site)
{
	uint8_t jump[CP_SIGCALL_JUMP], now[CP_SIGCALL_JUMP];

	/* In one piece: nobody runs, and it lies in one line. */
	return codes(space, site, jump, now) && !memcmp(now, site->original, CP_TRAP_MAX) &&
	       !now[CP_SIGCALL_JUMP - 1] &&
	       space_write(space, site->address, jump, CP_SIGCALL_JUMP);
}

bool sigcall_jumps(const struct space *space, const struct site *site)
{
	uint8_t jump[CP_SIGCALL_JUMP], now[CP_SIGCALL_JUMP];

	return codes(space, site, jump, now) && cp_sigcall_jumps(jump, now);
}

void sigcall_jump_all(const struct space *space)
{
	uint8_t jump[CP_SIGCALL_JUMP], now[CP_SIGCALL_JUMP];
	const struct site *site;
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	cp_vec_for_each(&space->table->sites, site)
		if (site->address && site_armed(space, site) && codes(space, site, jump, now) &&
		    !memcmp(now, trap, size))
			space_write(space, site->address, jump, CP_SIGCALL_JUMP);
}

static void unjump(const struct space *space, bool still)
{
	uint8_t jump[CP_SIGCALL_JUMP], now[CP_SIGCALL_JUMP];
	const struct site *site;

	cp_vec_for_each(&space->table->sites, site)
		if (site->address && codes(space, site, jump, now))
			cp_sigcall_unjump(space->mem, site->address, jump, now, site->original,
					  still);
}

void sigcall_unjump(const struct space *space)
{
	unjump(space, false);
}

void sigcall_put_back(const struct space *space)
{
	unjump(space, true);
}
