/* SPDX-License-Identifier: MIT
 *
 * Detours that count, executed in this process: each form of instruction alone and step by
 * step, with threads taken out at every instruction. How often each place was come to, and
 * which way its jump went, says the run without.
 */
#include "test.h"

#include "detour_ground.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define TRAP_FLAG UINT64_C(0x100)
#define RESUME_FLAG UINT64_C(0x10000)
#define ARITHMETIC UINT64_C(0x8d5)
#define DIRECTION UINT64_C(0x400)
#define TRACE_MAX 4096
#define ONCE_AROUND 120 /* instructions of a detour's code, at most; loops repeat them */

static unsigned long compared, steps, taken_out, undone, ways;

enum mode { NATIVE, FREE, COMPARED, TAKEN_OUT };

static struct {
	enum mode mode;
	struct cp_regs regs[TRACE_MAX]; /* the program's, at each instruction */
	uint64_t flags[TRACE_MAX];
	size_t count, inside, take_out_at;
	bool done;
} trace;

static uint64_t random64(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static uint64_t *target; /* what r12 points to */

static void random_state(struct state *s, unsigned round)
{
	size_t i;

	for (i = 0; i < 16; i++) {
		s->r[i] = round & 1 ? random64() : random64() % 5;
		memset(s->x[i], (int)random64(), 16);
	}
	s->r[12] = (uintptr_t)target;
	s->r[13] = 2;
	s->flags = (random64() & ARITHMETIC) | 0x202;
}

static bool same(const struct state *a, const struct state *b)
{
	struct state x = *a, y = *b;

	x.r[4] = y.r[4] = 0; /* rsp */
	x.flags &= ~(TRAP_FLAG | RESUME_FLAG);
	y.flags &= ~(TRAP_FLAG | RESUME_FLAG);
	return !memcmp(&x, &y, sizeof(x));
}

/* ---- steps ---- */

static bool known(const struct cp_regs *regs, uint64_t flags)
{
	uint64_t mask = ARITHMETIC | DIRECTION;
	size_t i;

	for (i = 0; i < trace.count; i++)
		if (!memcmp(regs->r, trace.regs[i].r, 17 * sizeof(uint64_t)) &&
		    (flags & mask) == (trace.flags[i] & mask))
			return true;
	return false;
}

static void compare_step(const ucontext_t *context)
{
	uint64_t flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
	struct cp_detour_left left[2];
	struct cp_regs regs;

	ground_regs(context, &regs);
	steps++;
	CHECK(ground_leave(&regs, &flags, left) >= 0);
	CHECK(known(&regs, flags));
	CHECK(left[1].stage == CP_DETOUR_NOTHING);
	undone += left[1].counted[0] != 0;
}

static void on_step(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	CHECK(info->si_code != SI_KERNEL);
	if (trace.mode == NATIVE && trace.count < TRACE_MAX) {
		ground_regs(context, &trace.regs[trace.count]);
		trace.flags[trace.count++] = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
	} else if (ground_is_inside(pc) && trace.mode == COMPARED) {
		trace.inside++;
		compare_step(context);
	} else if (ground_is_inside(pc) && trace.mode == TAKEN_OUT && !trace.done &&
		   trace.inside++ == trace.take_out_at) {
		CHECK(ground_take_out(context, ground_ring(1)));
		context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		trace.done = true;
		taken_out++;
	}
}

static void run_stepped(enum mode mode, const struct form *form, struct state *s)
{
	trace.mode = mode;
	trace.inside = 0;
	trace.done = false;
	if (mode == NATIVE)
		trace.count = 0;
	s->flags |= TRAP_FLAG;
	detour_run(s, form->start);
}

/* ---- counts ---- */

static uint64_t *number(unsigned n)
{
	return (uint64_t *)(uintptr_t)cp_detour_count_at(ground.rings.zero, n);
}

/* Bytes of a conditional jump on flags; 0: it is none. */
static unsigned jump_size(const uint8_t *code)
{
	return code[0] >> 4 == 7 ? 2 : code[0] == 0x0f && code[1] >> 4 == 8 ? 6 : 0;
}

static void add(struct cp_detour *d, size_t before, enum cp_detour_way way)
{
	d->counts[d->count_count] = (struct cp_detour_count){
		.at = (uint32_t)(uintptr_t)number(d->count_count),
		.before = (uint8_t)before,
		.way = (uint8_t)way,
	};
	d->count_count++;
}

/* At the beginning, before another instruction, and on the ways of that if it is a jump. */
static int make_form(const struct form *form)
{
	struct cp_detour d = ground_window(form->window, form->over);
	size_t before = (size_t)(form->record - form->window);

	add(&d, 0, CP_DETOUR_ANY_WAY);
	if (before)
		add(&d, before, CP_DETOUR_ANY_WAY);
	if (jump_size(form->record)) {
		add(&d, before, CP_DETOUR_TAKEN);
		add(&d, before, CP_DETOUR_PASSED);
		ways++;
	}
	return ground_make(&d);
}

static uint64_t expected(const struct cp_detour *d, const struct cp_detour_count *c)
{
	uint64_t pc = d->pc + c->before, n = 0;
	unsigned size = jump_size(d->code + c->before);
	size_t i;

	for (i = 0; i < trace.count; i++) {
		if (trace.regs[i].r[16] != pc)
			continue;
		n += c->way == CP_DETOUR_ANY_WAY ||
		     (i + 1 < trace.count &&
		      (trace.regs[i + 1].r[16] == pc + size) == (c->way == CP_DETOUR_PASSED));
	}
	return n;
}

static void check_counts(const struct cp_detour *d)
{
	unsigned i;

	for (i = 0; i < d->count_count; i++) {
		CHECK_U64(*number(i), expected(d, &d->counts[i]));
		*number(i) = 0;
	}
}

/* ---- the forms ---- */

static void test_round(const struct form *form, int made, unsigned round)
{
	const struct cp_detour *d = &ground.made[made].detour;
	struct state start, native, s;
	size_t inside;

	random_state(&start, round);
	native = start;
	run_stepped(NATIVE, form, &native);
	CHECK(trace.count && trace.count < TRACE_MAX);
	ground_patch(made);
	trace.mode = FREE;
	s = start;
	detour_run(&s, form->start);
	CHECK(same(&native, &s));
	check_counts(d);
	s = start;
	run_stepped(COMPARED, form, &s);
	CHECK(same(&native, &s) && trace.inside > 0);
	check_counts(d);
	inside = trace.inside < ONCE_AROUND ? trace.inside : ONCE_AROUND;
	for (trace.take_out_at = 0; round < 4 && trace.take_out_at < inside; trace.take_out_at++) {
		s = start;
		run_stepped(TAKEN_OUT, form, &s);
		CHECK(trace.done && same(&native, &s));
		check_counts(d);
	}
	ground_unpatch(made);
	compared++;
}

static void test_form(const struct form *form)
{
	int made = make_form(form);
	unsigned round;

	CHECK(made >= 0);
	for (round = 0; made >= 0 && round < 12; round++)
		test_round(form, made, round);
}

/* ---- what can't be ---- */

static void test_refused(void)
{
	static const struct {
		struct cp_detour_count counts[2];
		uint8_t count, size;
		bool ok;
	} rows[] = {
		{ { { 0x10000, 0, CP_DETOUR_ANY_WAY } }, 1, 5, true },
		{ { { 0x10000, 3, CP_DETOUR_TAKEN } }, 1, 5, true },
		{ { { 0, 0, CP_DETOUR_ANY_WAY } }, 1, 5, false }, /* no number */
		{ { { 0x10000, 1, CP_DETOUR_ANY_WAY } }, 1, 5, false }, /* in an instruction */
		{ { { 0x10000, 0, CP_DETOUR_TAKEN } }, 1, 5, false }, /* of no jump */
		{ { { 0x10000, 5, CP_DETOUR_ANY_WAY } }, 1, 5, false }, /* behind all */
		{ { { 0x10000, 0, 0 }, { 0x10008, 0, 0 } }, 2, 5, false }, /* twice the same */
	};
	uint8_t code[CP_DETOUR_CODE_MAX];
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(rows); i++) {
		struct cp_detour d = { .pc = 0x400000,
				       .size = rows[i].size,
				       .count_count = rows[i].count };

		memcpy(d.code, "\x48\x39\xd8\x74\x10", 5); /* cmp %rbx,%rax; je */
		memcpy(d.counts, rows[i].counts, sizeof(rows[i].counts));
		CHECK(!!cp_detour_make(&cp_arch_x86_64, &d, 0x410000, &ground.rings, code, NULL) ==
		      rows[i].ok);
	}
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	const struct form *form;

	target = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(target != MAP_FAILED);
	ground_prepare();
	test_refused();
	sigaction(SIGTRAP, &action, NULL);
	for (form = detour_forms; form < detour_forms_end; form++)
		test_form(form);
	CHECK(undone > 0 && ways > 1);
	printf("%lu runs compared, %lu instructions of detours, %lu times taken out, %lu jumps\n",
	       compared, steps, taken_out, ways);
	TEST_MAIN_END;
}
