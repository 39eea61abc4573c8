/* SPDX-License-Identifier: MIT
 *
 * What a detour does before an instruction of the program:
 *
 *     lea -128(%rsp),%rsp                 the red zone
 *     push rax; lahf; seto al; push rax; push rcx
 *     tests, if there is a condition; table of accepted calls     ──► refused
 *     push rdx
 *     head < limit?                                               ──► slow
 *     rdtsc
 *     head += size, by one xadd: a signal's handler may come in between and reserve
 *          for itself; other threads have other rings, so nothing is locked
 *     values, site, stack pointer
 *     time stamp and tag: the record is there
 *     pop rdx, rcx, flags, rax; lea 128(%rsp),%rsp
 *
 * What is rarely done lies behind all that, and has its own way to the instruction,
 * so that a thread that stands before it tells by its place whether it recorded:
 *
 *     slow:     call what all detours share: waits or gives up    ──► back, or
 *     dropped:  pop rdx
 *     skip:     pop rcx, flags, rax; lea 128(%rsp),%rsp
 *               the instruction once more; jump behind it
 *     refused:  what the table says of this stack pointer goes    ──► skip
 *
 * rdtsc comes before room is reserved: what a handler records in between comes
 * before in the ring, as it does in what the program does.
 */
#include "arch/x86_64/detour.h"
#include "arch/x86_64/detour_count.h"
#include "arch/x86_64/detour_ring.h"
#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/detour_sample.h"
#include "arch/x86_64/detour_slow.h"
#include "arch/x86_64/detour_stack.h"
#include "arch/x86_64/detour_value.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* Offsets that the code has in it, and lines of the caches that only one writes. */
_Static_assert(offsetof(struct cp_detour_ring, limit) == 64, "ring");
_Static_assert(sizeof(struct cp_detour_ring) <= CP_DETOUR_BUFFER, "ring");
_Static_assert(sizeof(struct cp_detour_head) == CP_DETOUR_UNIT, "record");

struct maker {
	struct cp_x86_emit *e;
	const struct cp_detour_rings *rings;
	const struct cp_detour *detour;
	struct {
		const struct cp_detour_record *record;
		struct cp_x86_place refused_at, slow_at; /* as things were there */
		size_t slow[3], go; /* the jumps to there, and where it comes back */
		size_t unknown, known; /* the same, of who was called from elsewhere; 0: none */
		size_t refused[2 * CP_DETOUR_TESTS];
		size_t refused_count;
		size_t unread[CP_DETOUR_TESTS], unread_count; /* accepted, whatever it is */
		size_t skip; /* the jump of an exit whose call was refused; 0: none */
		size_t next; /* offset of the following instruction; 0: nothing follows */
		size_t taken; /* of a conditional jump: to its record; else 0 */
		uint64_t pc, target; /* of the jump */
	} out[CP_DETOUR_RECORDS];
};

static uint32_t head_at(const struct maker *m, size_t member)
{
	return m->rings->zero + (uint32_t)member;
}

/* ---- conditions ---- */

static void extend(struct maker *m, const struct cp_detour_test *t)
{
	if (t->size == 1)
		t->is_signed ? PUT(m->e, "\x48\x0f\xbe\xc0") : PUT(m->e, "\x0f\xb6\xc0");
	else if (t->size == 2)
		t->is_signed ? PUT(m->e, "\x48\x0f\xbf\xc0") : PUT(m->e, "\x0f\xb7\xc0");
	else if (t->size == 4)
		t->is_signed ? PUT(m->e, "\x48\x63\xc0") : PUT(m->e, "\x89\xc0");
}

/* The second byte of jcc where the test does not hold. */
static uint8_t opposite(const struct cp_detour_test *t)
{
	static const uint8_t with_sign[] = { 0x85, 0x84, 0x8d, 0x8f, 0x8e, 0x8c, 0x84 };
	static const uint8_t without[] = { 0x85, 0x84, 0x83, 0x87, 0x86, 0x82, 0x84 };

	return t->is_signed ? with_sign[t->op] : without[t->op];
}

static void refuse(struct maker *m, unsigned r, const void *jcc)
{
	m->out[r].refused[m->out[r].refused_count++] = cp_x86_put_forward(m->e, jcc, 2);
}

/* What a test is of into rax. What can't be read is for who takes the record. */
static void load_tested(struct maker *m, unsigned r, const struct cp_detour_test *t)
{
	size_t read;

	if (!t->value.reach) {
		cp_x86_load_value(m->e, &t->value, CP_X86_TO_RAX);
		return;
	}
	cp_x86_push(m->e, "\x52", &m->e->now.saved[CP_X86_RDX]);
	cp_x86_put_time(m->e);
	cp_x86_pop(m->e, "\x5a", &m->e->now.saved[CP_X86_RDX]);
	cp_x86_push_time(m->e);
	cp_x86_follow(m->e, m->rings, &t->value);
	PUT32(m->e, "\xb8", t->size); /* mov $size,%eax */
	cp_x86_put_to(m->e, "\xe8", 1, m->rings->slow + CP_X86_WORD_AT);
	cp_x86_pop_time(m->e);
	read = cp_x86_put_forward(m->e, "\x0f\x82", 2); /* jc */
	m->out[r].unread[m->out[r].unread_count++] = cp_x86_put_forward(m->e, "\xe9", 1);
	cp_x86_land(m->e, read);
	PUT(m->e, "\x48\x89\xc8"); /* mov %rcx,%rax */
}

static void put_tests(struct maker *m, unsigned r)
{
	const struct cp_detour_record *record = m->out[r].record;
	unsigned i;

	for (i = 0; i < record->test_count; i++) {
		const struct cp_detour_test *t = &record->tests[i];
		uint8_t constant[10] = { 0x48, 0xb9 }, jcc[] = { 0x0f, opposite(t) };

		memcpy(constant + 2, &t->constant, 8);
		load_tested(m, r, t);
		extend(m, t);
		cp_x86_put(m->e, constant, sizeof(constant)); /* mov $constant,%rcx */
		if (t->op == CP_DETOUR_BITS)
			PUT(m->e, "\x48\x85\xc8"); /* test %rcx,%rax */
		else
			PUT(m->e, "\x48\x39\xc8"); /* cmp %rcx,%rax */
		refuse(m, r, jcc);
	}
	for (i = 0; i < m->out[r].unread_count; i++)
		cp_x86_land(m->e, m->out[r].unread[i]);
	m->out[r].refused_at = m->e->now;
}

/* The program's sp into rax, the number of its slot in the table into rcx. */
static void put_hash(struct maker *m)
{
	FRAME(m->e, "\x48\x8d\x84\x24", 0); /* lea ...(%rsp),%rax */
	cp_x86_put_hash(m->e);
}

static void put_sample(struct maker *m, unsigned r)
{
	m->out[r].refused[m->out[r].refused_count++] =
		cp_x86_put_sample(m->e, m->rings, &m->out[r].record->block);
	m->out[r].refused_at = m->e->now;
}

/* Was the call accepted? On another stack than its own, another thread may have decided that:
 * there the end is recorded of all calls, and whoever reads knows which are open. */
static void put_if_decided(struct maker *m, unsigned r)
{
	const struct cp_detour_record *record = m->out[r].record;
	struct cp_x86_emit *e = m->e;
	size_t decided, other;

	put_hash(m);
	PUT32(e, "\x65\x48\x3b\x04\xcd", cp_x86_table_at(m->rings)); /* cmp %gs:(,%rcx,8),%rax */
	m->out[r].refused_at = e->now;
	if (record->chooses) {
		m->out[r].skip = cp_x86_put_forward(e, "\x0f\x85", 2); /* jne */
		cp_x86_note_chosen(e, m->rings, record->block.address);
		return;
	}
	decided = cp_x86_put_forward(e, "\x0f\x84", 2); /* je */
	/* cmp %gs:own_low,%rsp; jb other; cmp %gs:own_end,%rsp; jb skip */
	PUT32(e, "\x65\x48\x3b\x24\x25", head_at(m, offsetof(struct cp_detour_ring, own_low)));
	other = cp_x86_put_forward(e, "\x0f\x82", 2);
	PUT32(e, "\x65\x48\x3b\x24\x25", head_at(m, offsetof(struct cp_detour_ring, own_end)));
	m->out[r].skip = cp_x86_put_forward(e, "\x0f\x82", 2);
	cp_x86_land(e, decided);
	cp_x86_land(e, other);
}

static void put_condition(struct maker *m, unsigned r)
{
	const struct cp_detour_record *record = m->out[r].record;

	switch ((enum cp_detour_when)record->when) {
	case CP_DETOUR_ALWAYS:
		break;
	case CP_DETOUR_DECIDES:
	case CP_DETOUR_SAMPLES:
		if (record->when == CP_DETOUR_DECIDES)
			put_tests(m, r);
		else
			put_sample(m, r);
		put_hash(m);
		PUT32(m->e, "\x65\x48\x89\x04\xcd",
		      cp_x86_table_at(m->rings)); /* mov %rax,%gs:(,%rcx,8) */
		break;
	case CP_DETOUR_IF_DECIDED:
		put_if_decided(m, r);
		break;
	case CP_DETOUR_IF_CHOSEN:
		m->out[r].skip = cp_x86_put_if_chosen(m->e, m->rings, record->block.address);
		break;
	}
}

/* ---- the record ---- */

static bool is_jcc(const struct cp_x86_insn *insn)
{
	return insn->map == CP_X86_ONE ? insn->opcode >> 4 == 7
				       : insn->map == CP_X86_0F && insn->opcode >> 4 == 8;
}

/* An instruction with the place that rcx says of the table of callers. */
static void put_at_caller(struct maker *m, const char *opcode, size_t size)
{
	uint32_t callers = head_at(m, cp_detour_callers_offset(m->rings->log));

	cp_x86_put(m->e, (const uint8_t *)opcode, size);
	cp_x86_put(m->e, (const uint8_t *)&callers, sizeof(callers));
}

/* Is ecx known, by the flag of equality? rcx becomes its place, rdx its mark. */
static void put_look(struct maker *m)
{
	uint8_t shift[] = { 0xc1, 0xe9, (uint8_t)cp_detour_caller_shift(m->rings->log) };
	uint8_t mark[] = { 0xc1, 0xea, CP_DETOUR_MARK_SHIFT };

	PUT32(m->e, "\x69\xc9", CP_DETOUR_HASH); /* imul $...,%ecx,%ecx */
	PUT(m->e, "\x89\xca"); /* mov %ecx,%edx */
	cp_x86_put(m->e, shift, sizeof(shift)); /* shr $...,%ecx */
	cp_x86_put(m->e, mark, sizeof(mark)); /* shr $...,%edx */
	PUT(m->e, "\x80\xca\x01"); /* or $1,%dl */
	put_at_caller(m, "\x38\x91", 2); /* cmp %dl,callers(%rcx) */
}

/* Is it known of where the call comes from? */
static void put_caller(struct maker *m, unsigned r)
{
	FRAME(m->e, "\x8b\x8c\x24", 0); /* mov ...(%rsp),%ecx */
	put_look(m);
	m->out[r].unknown = cp_x86_put_forward(m->e, "\x0f\x85", 2); /* jne */
	m->out[r].known = m->e->size;
}

static void put_known(struct maker *m, unsigned r)
{
	cp_x86_put_to(m->e, "\x0f\x84", 2, m->e->at + m->out[r].known); /* je */
}

static void put_any(struct maker *m, unsigned r)
{
	static const uint8_t any = CP_DETOUR_ANY;

	put_at_caller(m, "\x80\xb9", 2); /* cmpb $any,callers(%rcx) */
	cp_x86_put(m->e, &any, 1);
	put_known(m, r);
}

/* If not, are several? Or is it of that place on the stack? */
static void put_unknown(struct maker *m, unsigned r)
{
	struct cp_x86_emit *e = m->e;

	cp_x86_land(e, m->out[r].unknown);
	put_any(m, r);
	FRAME(e, "\x48\x8d\x8c\x24", 0); /* lea ...(%rsp),%rcx */
	FRAME(e, "\x03\x8c\x24", 0); /* add ...(%rsp),%ecx */
	put_look(m);
	put_known(m, r);
	put_any(m, r);
	cp_x86_put_to(e, "\xe8", 1, m->rings->slow + CP_X86_OUTSIDE_AT); /* call */
}

static void put_record(struct maker *m, unsigned r)
{
	const struct cp_detour_record *record = m->out[r].record;
	const struct cp_x86_layout layout = cp_x86_layout(record);
	unsigned units = (unsigned)(layout.size / CP_DETOUR_UNIT);
	struct cp_x86_emit *e = m->e;

	cp_x86_save(e);
	put_condition(m, r);
	cp_x86_push(e, "\x52", &e->now.saved[CP_X86_RDX]);
	/* mov %gs:head,%rcx; cmp %gs:limit,%rcx; jae slow */
	PUT32(e, "\x65\x48\x8b\x0c\x25", head_at(m, offsetof(struct cp_detour_ring, head)));
	PUT32(e, "\x65\x48\x3b\x0c\x25", head_at(m, offsetof(struct cp_detour_ring, limit)));
	e->bad |= e->now.pushed != CP_X86_RECORD_PUSHED;
	m->out[r].slow_at = e->now;
	m->out[r].slow[0] = cp_x86_put_forward(e, "\x0f\x83", 2);
	/* cmp %gs:own_low,%rsp; jb slow; cmp %gs:own_end,%rsp; jae slow */
	PUT32(e, "\x65\x48\x3b\x24\x25", head_at(m, offsetof(struct cp_detour_ring, own_low)));
	m->out[r].slow[1] = cp_x86_put_forward(e, "\x0f\x82", 2);
	PUT32(e, "\x65\x48\x3b\x24\x25", head_at(m, offsetof(struct cp_detour_ring, own_end)));
	m->out[r].slow[2] = cp_x86_put_forward(e, "\x0f\x83", 2);
	m->out[r].go = e->size;
	if (record->by_known)
		put_caller(m, r);
	if (record->stack)
		cp_x86_put_stack_size(e, m->rings, record->stack);
	if (layout.has_strings)
		cp_x86_put_used(e, record);
	cp_x86_put_time(e);
	if (layout.reaches)
		cp_x86_push(e, "\x50", &e->now.time);
	cp_x86_put_stamp(e);
	cp_x86_put_reserve(e, m->rings, units);
	if (cp_detour_counts_down(record))
		cp_x86_count_down(e, m->rings, record->block.address);
	cp_x86_put_what(e, m->rings, cp_detour_what(record->site, layout.is_long ? 0 : units));
	if (layout.is_long)
		cp_x86_put_long(e, m->rings, units);
	FRAME(e, "\x48\x8d\x8c\x24", 0); /* lea ...(%rsp),%rcx */
	PUT(e, "\x48\xc1\xe9\x03"); /* shr $3,%rcx */
	/* mov %ecx,%gs:sp(%rdx) */
	PUT32(e, "\x65\x89\x8a", cp_x86_buffer_at(m->rings, offsetof(struct cp_detour_head, sp)));
	cp_x86_put_values(e, m->rings, record);
	if (record->stack)
		cp_x86_put_stack(e, m->rings, layout.size);
	else if (layout.has_strings)
		cp_x86_give_back(e, m->rings, record->site, units, layout.is_long);
	cp_x86_put_commit(e, m->rings);
	if (layout.reaches)
		cp_x86_drop(e, &e->now.time);
	if (layout.has_strings)
		cp_x86_drop(e, &e->now.used);
	if (record->stack)
		cp_x86_drop(e, &e->now.copied);
	cp_x86_pop(e, "\x5a", &e->now.saved[CP_X86_RDX]);
	cp_x86_restore(e);
	if (record->stops) {
		PUT(e, "\xcc");
		e->now.stopped = true;
	}
}

/* The instruction again, and on to what follows. */
static void put_instruction(struct maker *m, unsigned r)
{
	size_t before = m->out[r].record->before;
	struct cp_x86_emit *e = m->e;

	if (m->out[r].taken)
		cp_x86_put_to(e, "\xe9", 1, m->out[r].target);
	else if (cp_x86_put_moved(e, m->detour->code + before, m->detour->size - before))
		cp_x86_put_to(e, "\xe9", 1, m->out[r].next ? e->at + m->out[r].next : e->now.pc);
}

/* A conditional jump with a record on the way that it leads to: that is behind
 * everything. A thread there has the flags with which it would jump again. */
static void put_branch(struct maker *m, unsigned r)
{
	const struct cp_detour *d = m->detour;
	size_t before = m->out[r].record->before;
	uint8_t jcc[2] = { 0x0f };
	struct cp_x86_insn insn;
	struct cp_insn flow;

	if (!cp_x86_take_apart(d->code + before, d->size - before, &insn)) {
		m->e->bad = true;
		return;
	}
	cp_x86_flow(&insn, d->code + before, m->e->now.pc, &flow);
	jcc[1] = (uint8_t)(0x80 | (insn.opcode & 15));
	m->e->bad |= !is_jcc(&insn);
	m->out[r].pc = flow.pc;
	m->out[r].target = flow.target;
	m->out[r].taken = cp_x86_put_forward(m->e, jcc, sizeof(jcc));
	m->e->now.pc += flow.size;
}

/* No room, or not on the own stack; or called from elsewhere. */
static void put_slow(struct maker *m, unsigned r)
{
	struct cp_x86_emit *e = m->e;
	size_t dropped = 0, i;

	e->now = m->out[r].slow_at;
	if (m->out[r].unknown) {
		put_unknown(m, r);
		dropped = cp_x86_put_forward(e, "\xe9", 1);
	}
	for (i = 0; i < CP_ARRAY_SIZE(m->out[r].slow); i++)
		cp_x86_land(e, m->out[r].slow[i]);
	cp_x86_put_to(e, "\xe8", 1, m->rings->slow); /* call slow */
	cp_x86_put_to(e, "\x0f\x82", 2, e->at + m->out[r].go); /* jc go */
	if (dropped)
		cp_x86_land(e, dropped);
}

/* What is rarely done of a record. */
static void put_rest(struct maker *m, unsigned r)
{
	struct cp_x86_emit *e = m->e;
	size_t to_skip = 0, i;

	if (m->out[r].taken) {
		e->now = (struct cp_x86_place){ .pc = m->out[r].pc };
		cp_x86_land(e, m->out[r].taken);
		put_record(m, r);
		put_instruction(m, r);
	}

	put_slow(m, r);
	cp_x86_pop(e, "\x5a", &e->now.saved[CP_X86_RDX]);
	if (m->out[r].skip)
		cp_x86_land(e, m->out[r].skip);
	if (m->out[r].refused_count)
		to_skip = e->size;
	cp_x86_restore(e);
	put_instruction(m, r);
	if (!m->out[r].refused_count)
		return;
	e->now = m->out[r].refused_at;
	for (i = 0; i < m->out[r].refused_count; i++)
		cp_x86_land(e, m->out[r].refused[i]);
	put_hash(m);
	PUT32(e, "\x65\x48\x3b\x04\xcd", cp_x86_table_at(m->rings)); /* cmp %gs:(,%rcx,8),%rax */
	cp_x86_put_to(e, "\x0f\x85", 2, e->at + to_skip); /* jne skip */
	PUT(e, "\x31\xc0"); /* xor %eax,%eax */
	PUT32(e, "\x65\x48\x89\x04\xcd", cp_x86_table_at(m->rings)); /* mov %rax,%gs:(,%rcx,8) */
	cp_x86_put_to(e, "\xe9", 1, e->at + to_skip);
}

/* ---- all of it ---- */

/* The instruction at an offset of the window, with its record. True: what follows it
 * is reached. */
static bool put_one(struct maker *m, size_t at, unsigned r)
{
	const struct cp_detour *d = m->detour;
	bool goes_on;

	if (r < d->record_count) {
		m->out[r].record = &d->records[r];
		if (d->records[r].taken) {
			put_branch(m, r);
			return true;
		}
		put_record(m, r);
	}
	goes_on = cp_x86_put_moved(m->e, d->code + at, d->size - at);
	m->e->now.record_at = CP_X86_NO_RECORD;
	return goes_on;
}

/* The record before the instruction at an offset; none: record_count. */
static unsigned record_before(const struct cp_detour *detour, size_t offset)
{
	unsigned r = 0;

	while (r < detour->record_count && detour->records[r].before != offset)
		r++;
	return r;
}

/* Registers that the block of a record is told by. */
static bool block_fits(const struct cp_detour_record *r)
{
	const struct cp_detour_block *b = &r->block;

	if (r->when == CP_DETOUR_IF_CHOSEN || r->chooses)
		return b->address < CP_X86_PC;
	return r->when != CP_DETOUR_SAMPLES ||
	       (b->size < CP_X86_PC && (b->times < CP_X86_PC || b->times == CP_DETOUR_NONE) &&
		(b->address < CP_X86_PC || b->address == CP_DETOUR_NONE));
}

static bool records_fit(const struct cp_detour *d)
{
	const struct cp_detour_record *r;

	if (d->record_count > CP_DETOUR_RECORDS || d->size > sizeof(d->code))
		return false;
	for (r = d->records; r < d->records + d->record_count; r++) {
		if (r->site >= CP_DETOUR_SITES || !cp_x86_values_fit(r) || !block_fits(r) ||
		    (r->when != CP_DETOUR_DECIDES && r->test_count))
			return false;
	}
	return true;
}

void cp_x86_detour(struct cp_x86_emit *e, const struct cp_detour *detour,
		   const struct cp_detour_rings *rings, uint64_t at_ret[CP_DETOUR_WINDOW])
{
	struct maker m = { .e = e, .rings = rings, .detour = detour };
	unsigned r, before = detour->record_count, done = 0;
	bool goes_on = true;
	size_t at = 0;

	if (detour->count_count) {
		cp_x86_counting(e, detour, at_ret);
		return;
	}
	e->bad |= !records_fit(detour);
	e->now = (struct cp_x86_place){ .pc = detour->pc };
	while (at < detour->size && !e->bad) {
		if (before < detour->record_count)
			m.out[before].next = e->size;
		if (at_ret)
			at_ret[at] = e->at + e->size;
		before = record_before(detour, at);
		done += before < detour->record_count;
		goes_on = put_one(&m, at, before);
		at = (size_t)(e->now.pc - detour->pc);
		/* Nothing of the window is reached behind what doesn't go on. */
		e->bad |= at > detour->size || (!goes_on && at != detour->size);
	}
	if (goes_on && !e->bad)
		cp_x86_put_to(e, "\xe9", 1, e->now.pc);
	e->bad |= done != detour->record_count;
	for (r = 0; r < detour->record_count && !e->bad; r++)
		put_rest(&m, r);
}

static bool usable(const struct cp_arch *arch, const struct cp_detour_rings *rings)
{
	return arch->e_machine == EM_X86_64 && rings->log >= CP_DETOUR_LOG_MIN &&
	       rings->log <= CP_DETOUR_LOG_MAX &&
	       rings->zero <= INT32_MAX - cp_detour_ring_size(rings->log);
}

size_t cp_detour_make(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
		      const struct cp_detour_rings *rings, uint8_t *code,
		      uint64_t enter_ret[CP_DETOUR_WINDOW])
{
	struct cp_x86_emit e = { .code = code, .room = CP_DETOUR_CODE_MAX, .at = at };

	if (!usable(arch, rings))
		return 0;
	if (enter_ret)
		memset(enter_ret, 0, CP_DETOUR_WINDOW * sizeof(*enter_ret));
	cp_x86_detour(&e, detour, rings, enter_ret);
	return e.bad ? 0 : e.size;
}

size_t cp_detour_slow(const struct cp_arch *arch, const struct cp_detour_rings *rings,
		      uint8_t *code)
{
	struct cp_x86_emit e = { .code = code, .room = CP_DETOUR_SLOW_MAX, .at = rings->slow };
	struct cp_x86_shared shared;

	if (!usable(arch, rings))
		return 0;
	cp_x86_shared(&e, rings, &shared);
	return e.bad ? 0 : e.size;
}

bool cp_detour_slow_foreign(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			    struct cp_detour_stop *ret)
{
	struct cp_x86_emit e = { .room = CP_DETOUR_SLOW_MAX, .at = rings->slow };
	struct cp_x86_shared shared;

	if (!usable(arch, rings))
		return false;
	cp_x86_shared(&e, rings, &shared);
	*ret = shared.foreign;
	return !e.bad;
}

bool cp_detour_slow_stop(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			 struct cp_detour_stop *ret)
{
	struct cp_x86_emit e = { .room = CP_DETOUR_SLOW_MAX, .at = rings->slow };
	struct cp_x86_shared shared;

	if (!usable(arch, rings))
		return false;
	cp_x86_shared(&e, rings, &shared);
	if (e.bad)
		return false;
	*ret = shared.asked;
	return true;
}

bool cp_detour_movable(const struct cp_arch *arch, const uint8_t *code, size_t size, uint64_t pc)
{
	struct cp_detour d = { .pc = pc, .size = (uint8_t)size };
	struct cp_detour_rings rings = { .log = CP_DETOUR_LOG_MIN, .slow = pc };
	struct cp_x86_emit e = { .room = CP_DETOUR_CODE_MAX, .at = pc };

	if (arch->e_machine != EM_X86_64 || !size || size > sizeof(d.code))
		return false;
	memcpy(d.code, code, size);
	cp_x86_detour(&e, &d, &rings, NULL);
	return !e.bad;
}

bool cp_detour_nothing(const struct cp_arch *arch, uint64_t pc, struct cp_detour windows_ret[2])
{
	static const uint8_t entry[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, /* nopl 0(%rax,%rax) */
		exit[] = { 0x0f, 0x1f, 0x40, 0x00, 0xc3 }; /* nopl 0(%rax); ret */

	if (arch->e_machine != EM_X86_64)
		return false;
	windows_ret[0] = (struct cp_detour){ .pc = pc, .size = sizeof(entry), .record_count = 1 };
	memcpy(windows_ret[0].code, entry, sizeof(entry));
	windows_ret[0].records[0].value_count = 1; /* who called */
	windows_ret[0].records[0].values[0].kind = CP_DETOUR_STACK;
	windows_ret[1] = (struct cp_detour){ .pc = pc + sizeof(entry),
					     .size = sizeof(exit),
					     .record_count = 1 };
	memcpy(windows_ret[1].code, exit, sizeof(exit));
	windows_ret[1].records[0].before = sizeof(exit) - 1;
	return true;
}
