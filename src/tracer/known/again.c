/* SPDX-License-Identifier: MIT */
#include "tracer/known/again.h"

#include <string.h>

#include "arch/arch.h"

/* What is further up may be another stack: contexts between which handlers switch, say. Who comes
 * back down the same one is seen on the way. */
#define SAME_STACK (UINT64_C(16) << 10)
#define ANY 0 /* registers */

/* FNV-1a, by words, of all but the pc. */
static uint64_t hash_of(const struct cp_regs *regs)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t hash = UINT64_C(14695981039346656037);
	unsigned i;

	for (i = 0; i < arch->nregs; i++)
		if (i != arch->pc)
			hash = (hash ^ regs->r[i]) * UINT64_C(1099511628211);
	return hash == ANY ? 1 : hash;
}

/* The newest first; the oldest is forgotten. */
static void expect(struct thread *t, const struct cp_regs *regs, uint64_t hash)
{
	const struct cp_arch *arch = cp_arch_host();

	memmove(t->again + 1, t->again, sizeof(t->again) - sizeof(t->again[0]));
	t->again[0].pc = regs->r[arch->pc];
	t->again[0].sp = regs->r[arch->sp];
	t->again[0].registers = hash;
}

void again_expect(struct thread *t, const struct cp_regs *regs)
{
	expect(t, regs, hash_of(regs));
}

void again_expect_changed(struct thread *t, const struct cp_regs *regs)
{
	expect(t, regs, ANY);
}

bool again_came(struct thread *t, uint64_t pc, const struct cp_regs *regs)
{
	uint64_t sp = regs->r[cp_arch_host()->sp];
	bool same = false;
	size_t i;

	for (i = 0; i < sizeof(t->again) / sizeof(t->again[0]); i++) {
		uint64_t registers = t->again[i].registers;

		if (!t->again[i].pc)
			continue;
		same |= t->again[i].pc == pc && t->again[i].sp == sp &&
			(registers == ANY || registers == hash_of(regs));
		if (sp >= t->again[i].sp && sp - t->again[i].sp < SAME_STACK)
			t->again[i].pc = 0;
	}
	return same;
}
