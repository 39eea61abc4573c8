/* SPDX-License-Identifier: MIT
 *
 * Where the jump of a `switch` goes. Two passes over the function:
 *
 *   - all of it is decoded, to know which instructions are jumped to, and
 *     where from;
 *   - the last ones before the jump are executed on abstract values
 *     (values.c). Where ways meet, what is known is what holds on all of
 *     them; where a way comes from behind or from too far away, nothing is.
 *
 * That gives the table and the largest index. What the table then holds is
 * checked: addresses inside of the function begin instructions.
 */
#include "arch/x86_64/jump_table.h"

#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/insn.h"
#include "arch/x86_64/values.h"

#define WINDOW 256 /* instructions before the jump that are looked at */
#define ADDRESSES 256 /* that the function puts into registers */
#define EDGES 32 /* branches forward that haven't arrived yet */
#define FUNCTION_MAX (4u << 20)

enum { BEGINS = 1, JOINED = 2, UNCLEAR = 4 }; /* marks */

struct edge {
	uint64_t target; /* 0: none */
	struct cp_values values;
};

/* lea address(%rip),%reg */
struct loaded {
	uint64_t address;
	unsigned reg; /* as encoded */
};

struct search {
	const uint8_t *code;
	uint64_t start, size;
	uint64_t jump;
	uint8_t *marks; /* for each byte of the function */
	uint64_t recent[WINDOW]; /* starts of instructions up to the jump, a ring */
	uint64_t count;
	uint64_t first; /* of the window */
	struct loaded loaded[ADDRESSES];
	size_t loaded_count;
	bool too_many; /* so guesses are less sure: none is made */
	csh handle;
	cs_insn *insn;
	struct edge edges[EDGES];
	struct cp_values now;
	bool reached; /* `now` holds: the way here goes on from the last instruction */
};

static uint8_t *mark(struct search *s, uint64_t address)
{
	return address - s->start < s->size ? &s->marks[address - s->start] : NULL;
}

static void note_lea(struct search *s, uint64_t at)
{
	const uint8_t *code = s->code + at;
	struct cp_x86_insn insn;
	struct loaded found;
	int32_t disp;
	size_t i;

	if (!cp_x86_take_apart(code, s->size - at, &insn) || insn.map != CP_X86_ONE ||
	    insn.opcode != 0x8d || !cp_x86_rip_relative(&insn) || !(insn.rex & 8))
		return;
	memcpy(&disp, code + insn.disp_at, 4);
	found.reg = CP_X86_REG(&insn) | (insn.rex & 4 ? 8u : 0);
	found.address = s->start + at + insn.size + (uint64_t)(int64_t)disp;
	for (i = 0; i < s->loaded_count; i++) {
		if (s->loaded[i].reg == found.reg && s->loaded[i].address == found.address)
			return;
	}
	if (s->loaded_count < ADDRESSES)
		s->loaded[s->loaded_count++] = found;
	else
		s->too_many = true;
}

/* Finds where instructions begin. False: the function can't be followed. */
static bool decode_all(struct search *s)
{
	uint64_t at = 0;
	struct cp_insn insn;

	for (; at < s->size; at += insn.size) {
		if (!cp_x86_decode(s->code + at, s->size - at, s->start + at, &insn))
			break;
		s->marks[at] |= BEGINS;
		if (insn.flow == CP_FLOW_ON)
			note_lea(s, at);
		if (insn.pc <= s->jump)
			s->recent[s->count++ % WINDOW] = insn.pc;
	}
	/* Behind data there may be branches that can't be seen. */
	if (at != s->size || !(s->marks[s->jump - s->start] & BEGINS))
		return false;
	s->first = s->recent[s->count > WINDOW ? s->count % WINDOW : 0];
	return true;
}

/* Ways into the window that the second pass doesn't come along. */
static void mark_joins(struct search *s)
{
	struct cp_insn insn;
	uint64_t at;
	uint8_t *m;

	for (at = 0; at < s->size && (s->marks[at] & BEGINS); at += insn.size) {
		if (!cp_x86_decode(s->code + at, s->size - at, s->start + at, &insn))
			break;
		if (insn.flow != CP_FLOW_JUMP && insn.flow != CP_FLOW_BRANCH)
			continue;
		m = mark(s, insn.target);
		if (m)
			*m |= insn.pc >= insn.target || insn.pc < s->first ? UNCLEAR : JOINED;
	}
}

static void forget(struct search *s)
{
	cp_values_reset(&s->now, s->now.next_symbol);
	s->reached = true;
}

/* The state at an instruction, from all ways that lead to it. */
static void arrive(struct search *s, uint64_t pc)
{
	uint8_t m = s->marks[pc - s->start];
	uint32_t symbol;
	size_t i;

	for (i = 0; i < EDGES; i++) {
		struct edge *e = &s->edges[i];

		if (e->target != pc)
			continue;
		e->target = 0;
		if (s->reached) {
			cp_values_merge(&s->now, &e->values);
			continue;
		}
		symbol = s->now.next_symbol;
		s->now = e->values;
		s->now.next_symbol = symbol;
		s->reached = true;
	}
	/* Nobody was seen to come here: a case of another table, or a handler. */
	if (!s->reached || (m & UNCLEAR))
		forget(s);
}

static void leave_for(struct search *s, uint64_t target, const struct cp_values *values)
{
	uint8_t *m = mark(s, target);
	size_t i;

	if (!m || target > s->jump)
		return;
	for (i = 0; i < EDGES; i++) {
		if (!s->edges[i].target) {
			s->edges[i] = (struct edge){ .target = target, .values = *values };
			return;
		}
	}
	*m |= UNCLEAR;
}

/* ---- tables ---- */

struct table {
	const struct cp_reader *memory;
	uint64_t *targets;
	size_t max, count;
};

/* All entries of the table at `number`. Where a compiler knows that an index
 * can't be larger, it doesn't check, and the table may be shorter than what fits
 * into the index: then, as with a guess, only what lies inside of the function
 * is believed. */
static bool read_table(struct search *s, const struct cp_value *value, bool sure,
		       struct table *table)
{
	uint64_t entry, target, max = cp_values_max(&s->now, value);
	size_t i, inside = 0;
	int32_t relative;
	uint8_t *m;

	if (max >= table->max)
		return false;
	for (i = 0; i <= max; i++) {
		entry = value->number + i * value->scale;
		if (value->kind == CP_TARGET) {
			if (!cp_read_exact(table->memory, entry, &relative, 4))
				return false;
			target = value->base + (uint64_t)(int64_t)relative;
		} else if (!cp_read_exact(table->memory, entry, &target, 8)) {
			return false;
		}
		m = mark(s, target);
		if (m ? !(*m & BEGINS) : !sure || !target)
			return false;
		inside += m != NULL;
		table->targets[i] = target;
	}
	table->count = (size_t)max + 1;
	return inside;
}

/* The address of the table was put into a register somewhere: it is the one
 * address that this function puts there which is a table. */
static bool guess_table(struct search *s, const struct cp_value *value, struct table *table)
{
	struct cp_value tried = *value;
	size_t i, found = 0, which = 0;

	if (s->too_many)
		return false;
	for (i = 0; i < s->loaded_count; i++) {
		if (s->loaded[i].reg != value->guess - 1u)
			continue;
		tried.number = value->number + s->loaded[i].address;
		tried.base = s->loaded[i].address;
		if (read_table(s, &tried, false, table)) {
			which = i;
			found++;
		}
	}
	if (found != 1)
		return false;
	tried.number = value->number + s->loaded[which].address;
	tried.base = s->loaded[which].address;
	return read_table(s, &tried, false, table);
}

static bool is_bounded(const struct search *s, const struct cp_value *value)
{
	return cp_values_max(&s->now, value) < cp_values_most(value->width);
}

static bool resolve(struct search *s, struct table *table)
{
	struct cp_value value = cp_values_target(&s->now, s->insn);

	if (value.kind != CP_TARGET && !(value.kind == CP_ENTRY && value.scale == 8))
		return false;
	if (value.guess)
		return is_bounded(s, &value) && guess_table(s, &value, table);
	return read_table(s, &value, is_bounded(s, &value), table);
}

/* A jump through another table on the way: its cases are ways in, too. */
static void other_table(struct search *s, struct table *table)
{
	uint8_t *m;
	size_t i;

	if (!resolve(s, table))
		return;
	for (i = 0; i < table->count; i++) {
		m = mark(s, table->targets[i]);
		if (m)
			*m |= UNCLEAR;
	}
}

/* ---- the second pass ---- */

static void follow(struct search *s, const struct cp_insn *flow, struct table *table)
{
	struct cp_values taken;

	switch ((enum cp_flow)flow->flow) {
	case CP_FLOW_BRANCH:
		taken = s->now;
		cp_values_branch(&taken, s->insn->id, true);
		cp_values_branch(&s->now, s->insn->id, false);
		/* loop changes rcx, which is no matter at its target: backwards */
		leave_for(s, flow->target, &taken);
		break;
	case CP_FLOW_JUMP:
		leave_for(s, flow->target, &s->now);
		s->reached = false;
		break;
	case CP_FLOW_JUMP_INDIRECT:
		other_table(s, table);
		s->reached = false;
		break;
	case CP_FLOW_RETURN:
	case CP_FLOW_END:
		s->reached = false;
		break;
	case CP_FLOW_ON:
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
	case CP_FLOW_SYSCALL:
		cp_values_step(&s->now, s->handle, s->insn);
		break;
	}
}

static bool run(struct search *s, struct table *table)
{
	uint64_t pc = s->first, at;
	struct cp_insn flow;
	const uint8_t *code;
	size_t size;

	for (;; pc += flow.size) {
		size = (size_t)(s->start + s->size - pc);
		code = s->code + (pc - s->start);
		if (!cp_x86_decode(code, size, pc, &flow))
			return false;
		arrive(s, pc);
		at = pc;
		if (!cs_disasm_iter(s->handle, &code, &size, &at, s->insn) ||
		    s->insn->size != flow.size) {
			if (pc == s->jump)
				return false;
			/* Not known to the disassembler: nothing is known any more. */
			if (!flow.landing_pad)
				forget(s);
			if (flow.flow != CP_FLOW_ON)
				s->reached = false;
			continue;
		}
		if (pc == s->jump)
			return resolve(s, table);
		follow(s, &flow, table);
	}
}

static bool is_indirect_jump(const uint8_t *code, size_t size, uint64_t start, uint64_t pc)
{
	struct cp_insn insn;

	return pc >= start && pc - start < size && size <= FUNCTION_MAX &&
	       cp_x86_decode(code + (pc - start), size - (pc - start), pc, &insn) &&
	       insn.flow == CP_FLOW_JUMP_INDIRECT;
}

bool cp_x86_jump_table(size_t handle, const uint8_t *code, size_t size, uint64_t start, uint64_t pc,
		       const struct cp_reader *memory, uint64_t *targets, size_t max,
		       size_t *count_ret)
{
	struct table table = { .memory = memory, .targets = targets, .max = max };
	struct search *s;
	bool found = false;

	if (!is_indirect_jump(code, size, start, pc))
		return false;
	s = calloc(1, sizeof(*s));
	if (!s)
		return false;
	s->code = code;
	s->start = start;
	s->size = size;
	s->jump = pc;
	s->handle = handle;
	s->marks = calloc(1, size);
	s->insn = cs_malloc(handle);
	if (s->marks && s->insn && decode_all(s)) {
		mark_joins(s);
		forget(s);
		found = run(s, &table);
	}
	if (s->insn)
		cs_free(s->insn, 1);
	free(s->marks);
	free(s);
	if (found)
		*count_ret = table.count;
	return found;
}
