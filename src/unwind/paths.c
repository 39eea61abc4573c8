/* SPDX-License-Identifier: MIT
 *
 * Where a walk goes by rules depends on little of the stack: on the return addresses, and on
 * what was saved of the registers that frames further up are found by. Where these are the same
 * as before, at the same stack pointer, each frame is where it was, one after the other:
 *
 *     pc, sp ─rule─► CFA of the leaf ─► its return address ─rule─► CFA of the caller ─► ...
 *                                    the same word?      │
 *                                              rbp + 16: the same word where rbp was saved?
 *
 * So a walk is remembered as words that have to be what they were, and found again by comparing
 * them: a load for a frame, in place of a lookup and a dozen words.
 */
#include "unwind/paths.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/apply.h"
#include "unwind/space.h"

#define SETS 1024u
#define WAYS 4u /* paths that begin alike */
#define WORDS_MOST 256u
#define NOWHERE UINT64_MAX
#define IN_REGISTER(r) (UINT64_MAX - 1 - (r)) /* as an address: it is there at the leaf */
#define REGISTERS 64u

#define BIT(n) (UINT64_C(1) << (n))

/* A word of the stack, or a register of the leaf. */
struct word {
	uint64_t at, value; /* from the stack's copy on; IN_REGISTER */
};

struct path {
	uint64_t pc, sp, base;
	size_t size; /* of the copy: where it ends a walk may, too */
	uint64_t value;
	uint32_t count;
	struct word words[];
};

struct cp_unwind_paths {
	struct path *known[SETS][WAYS]; /* owned */
	unsigned next; /* that makes room */
};

struct cp_unwind_paths *cp_unwind_paths_create(void)
{
	return calloc(1, sizeof(struct cp_unwind_paths));
}

void cp_unwind_paths_clear(struct cp_unwind_paths *paths)
{
	size_t set, way;

	for (set = 0; set < SETS; set++)
		for (way = 0; way < WAYS; way++) {
			free(paths->known[set][way]);
			paths->known[set][way] = NULL;
		}
}

void cp_unwind_paths_destroy(struct cp_unwind_paths *paths)
{
	if (paths)
		cp_unwind_paths_clear(paths);
	free(paths);
}

/* The set of a capture, by what a walk begins with. */
static size_t set_of(const struct cp_arch *arch, const struct cp_unwind_capture *c)
{
	uint64_t first = 0, key;

	if (c->stack_size >= sizeof(first))
		memcpy(&first, c->stack, sizeof(first));
	key = (c->regs.r[arch->pc] ^ c->regs.r[arch->sp] << 20) + first * 31;
	return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (SETS - 1);
}

static inline uint64_t word_at(const struct cp_unwind_capture *c, uint64_t at)
{
	uint64_t ret;

	memcpy(&ret, c->stack + at, sizeof(ret));
	return ret;
}

static bool holds(const struct path *p, const struct cp_arch *arch,
		  const struct cp_unwind_capture *c)
{
	uint32_t i;

	if (p->pc != c->regs.r[arch->pc] || p->sp != c->regs.r[arch->sp] ||
	    p->base != c->stack_base || p->size != c->stack_size)
		return false;
	for (i = 0; i < p->count; i++) {
		const struct word *w = &p->words[i];

		if (w->at < p->size ? word_at(c, w->at) != w->value
				    : !(c->regs.known & BIT(IN_REGISTER(w->at))) ||
					      c->regs.r[IN_REGISTER(w->at)] != w->value)
			return false;
	}
	return true;
}

bool cp_unwind_paths_find(const struct cp_unwind_paths *paths,
			  const struct cp_unwind_capture *capture, uint64_t *value_ret)
{
	const struct cp_arch *arch = cp_arch_host();
	struct path *const *set = paths->known[set_of(arch, capture)];
	size_t way;

	for (way = 0; way < WAYS; way++)
		if (set[way] && holds(set[way], arch, capture)) {
			*value_ret = set[way]->value;
			return true;
		}
	return false;
}

/* ---- what a walk depended on ---- */

struct finding {
	const struct cp_arch *arch;
	const struct cp_unwind_capture *capture;
	uint64_t from[REGISTERS]; /* where each register of the frame was saved */
	struct word words[WORDS_MOST];
	uint32_t count;
};

static bool in_copy(const struct finding *f, uint64_t at)
{
	return f->capture->stack_size >= sizeof(uint64_t) &&
	       at <= f->capture->stack_size - sizeof(uint64_t);
}

static bool depend(struct finding *f, uint64_t at)
{
	const struct cp_unwind_capture *c = f->capture;
	uint64_t value;

	if (at == NOWHERE || f->count == WORDS_MOST)
		return false;
	if (at > IN_REGISTER(REGISTERS))
		value = c->regs.r[IN_REGISTER(at)];
	else if (in_copy(f, at))
		value = word_at(c, at);
	else
		return false;
	f->words[f->count++] = (struct word){ at, value };
	return true;
}

static uint64_t at_leaf(const struct finding *f, unsigned reg)
{
	return f->capture->regs.known >> reg & 1 ? IN_REGISTER(reg) : NOWHERE;
}

/* From a frame to the registers of its caller. */
static void save(struct finding *f, const struct cp_rule *rule, const struct cp_frame *frame)
{
	uint64_t sp = frame->regs.r[f->arch->sp], address, at;
	unsigned i;

	for (i = 0; i < f->arch->nregs; i++)
		if (!(rule->keep >> i & 1))
			f->from[i] = NOWHERE;
	for (i = 1; i < rule->count; i++) {
		address = frame->cfa.v + (uint64_t)rule->regs[i].offset;
		at = address - f->capture->stack_base;
		if (in_copy(f, at))
			f->from[rule->regs[i].reg] = at;
		else if (frame->flags & CP_FRAME_EXACT_PC && address < sp) /* taken off already */
			f->from[rule->regs[i].reg] = at_leaf(f, rule->regs[i].reg);
	}
}

/* What the step from the frame depends on. `ends`: it led nowhere. */
static bool find_step(struct finding *f, struct cp_unwind_space *space,
		      const struct cp_frame *frame, bool leaf, bool ends, enum cp_unwind_end end)
{
	const struct cp_step *step = cp_space_step(space, frame->pc.v, leaf);
	const struct cp_rule *rule = step->kind == CP_STEP_RULE ? step->rule : NULL;
	uint64_t at;

	if (!rule || frame->flags & (CP_FRAME_GUESSED | CP_FRAME_SIGNAL))
		return false;
	if (ends && rule->root)
		return end == CP_UNWIND_END_ROOT;
	if (!rule->simple || rule->signal || (!ends && frame->by != CP_UNWIND_BY_CFI) ||
	    (rule->cfa_reg != f->arch->sp && !depend(f, f->from[rule->cfa_reg])))
		return false;
	at = frame->regs.r[rule->cfa_reg] + (uint64_t)rule->cfa_offset +
	     (uint64_t)rule->regs[0].offset - f->capture->stack_base;
	if (ends)
		return end == CP_UNWIND_END_CUT && !in_copy(f, at);
	if (!depend(f, at))
		return false;
	save(f, rule, frame);
	return true;
}

static bool find_words(struct finding *f, struct cp_unwind_space *space,
		       const struct cp_frame *frames, size_t count, enum cp_unwind_end end)
{
	size_t i;

	for (i = 0; i < f->arch->nregs; i++)
		f->from[i] = at_leaf(f, (unsigned)i);
	for (i = 0; i < count; i++)
		if (!find_step(f, space, &frames[i], !i, i + 1 == count, end))
			return false;
	return count != 0;
}

bool cp_unwind_paths_add(struct cp_unwind_paths *paths, struct cp_unwind_space *space,
			 const struct cp_unwind_capture *capture, const struct cp_frame *frames,
			 size_t count, enum cp_unwind_end end, uint64_t value)
{
	const struct cp_arch *arch = cp_arch_host();
	struct path **to = &paths->known[set_of(arch, capture)][paths->next % WAYS], *made;
	struct finding f;

	f.arch = arch;
	f.capture = capture;
	f.count = 0;
	if (arch->nregs > REGISTERS || !arch->ret_size || capture->held || capture->below_size ||
	    !find_words(&f, space, frames, count, end))
		return false;
	made = malloc(sizeof(*made) + f.count * sizeof(*f.words));
	if (!made)
		return false;
	*made = (struct path){ .pc = capture->regs.r[arch->pc],
			       .sp = capture->regs.r[arch->sp],
			       .base = capture->stack_base,
			       .size = capture->stack_size,
			       .value = value,
			       .count = f.count };
	memcpy(made->words, f.words, f.count * sizeof(*f.words));
	free(*to);
	*to = made;
	paths->next++;
	return true;
}
