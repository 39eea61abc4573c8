/* SPDX-License-Identifier: MIT
 *
 * The code of detours, executed in this process: each form of instruction that a
 * window may have, alone and step by step, with threads taken out at every
 * instruction.
 */
#include "test.h"

#include "detour_ground.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <x86intrin.h>

#define TRAP_FLAG UINT64_C(0x100)
#define RESUME_FLAG UINT64_C(0x10000)
#define ARITHMETIC UINT64_C(0x8d5)
#define DIRECTION UINT64_C(0x400)
#define TRACE_MAX 4096
#define ONCE_AROUND 90 /* instructions of a detour's code, at most; loops repeat them */
#define ONCE_AROUND_LONGER 700 /* with pointers to follow, or stack to copy */

static struct cp_records reader;
static unsigned long compared, steps, taken_out, losses, asked, stopped;

/* ---- states ---- */

static uint64_t random64(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* What r12 points to; the rest is on a page of its own, with nothing behind it. */
static struct target {
	char text[24];
	struct target *self;
	uint64_t numbers[2];
} * target;

static void make_target(void)
{
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED && !munmap(pages + 4096, 4096));
	target = (struct target *)(pages + 4096 - sizeof(*target));
	*target = (struct target){ "twenty-one letters...", target, { 5, 0x123456789 } };
}

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

/* Records in the ring since the last time, and the last one with a copy of its
 * values. */
static unsigned take_records(struct cp_record *last)
{
	static uint64_t values[32];
	struct cp_record record;
	unsigned count = 0;

	while (cp_records_next(&reader, __rdtsc(), &record)) {
		if (record.kind == CP_RECORD_LOST) {
			losses++;
			continue;
		}
		CHECK_U64(record.kind, CP_RECORD_SITE);
		*last = record;
		CHECK(record.value_words <= CP_ARRAY_SIZE(values));
		last->values =
			memcpy(values, record.values, record.value_words * sizeof(values[0]));
		count++;
	}
	cp_records_release(&reader);
	return count;
}

/* ---- steps ---- */

enum mode { NATIVE, FREE, COMPARED, TAKEN_OUT };

static struct {
	enum mode mode;
	const struct form *form;
	struct cp_regs regs[TRACE_MAX]; /* the program's, at each instruction of the window */
	uint64_t flags[TRACE_MAX];
	uint64_t words[TRACE_MAX]; /* at the stack pointer */
	size_t count;
	size_t inside; /* instructions of ours so far */
	size_t take_out_at;
	bool done;
	bool served; /* who asks for a ring gets one */
} trace;

/* Blocks at all addresses, as many as a loop may free. */
#define MANY_TIMES 100
static uint8_t blocks_chosen;

static bool known(const struct cp_regs *regs, uint64_t flags)
{
	uint64_t mask = ARITHMETIC | DIRECTION;
	size_t i;

	for (i = 0; i < trace.count; i++) {
		if (!memcmp(regs->r, trace.regs[i].r, 17 * sizeof(uint64_t)) &&
		    (flags & mask) == (trace.flags[i] & mask))
			return true;
	}
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
	if (!known(&regs, flags)) {
		fprintf(stderr, "%s: +%ld\n", trace.form->name,
			(long)(context->uc_mcontext.gregs[REG_RIP] - (greg_t)ground.code));
		CHECK(known(&regs, flags));
	}
}

/* A thread asks for a ring: this one is opened. Or it stopped, and that is all. */
static void serve_stop(ucontext_t *context)
{
	const uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	struct cp_detour_stop stop, stops[CP_DETOUR_RECORDS];
	size_t last = ground.count - 1;

	if (cp_detour_stops(&cp_arch_x86_64, &ground.made[last].detour, ground.made[last].at,
			    &ground.rings, stops)) {
		CHECK(pc == stops[0].pc && pc == stops[0].on);
		stopped++;
		return;
	}
	asked++;
	CHECK(cp_detour_slow_stop(&cp_arch_x86_64, &ground.rings, &stop));
	CHECK_U64((uint64_t)context->uc_mcontext.gregs[REG_RIP], stop.pc);
	if (trace.served) {
		cp_records_ask(reader.ring, 0, 0);
		cp_records_open(&reader, reader.ring, GROUND_LOG);
	} else {
		context->uc_mcontext.gregs[REG_RIP] = (greg_t)stop.on;
	}
}

/* What the record of a thread that was taken out has counted down, as the tracer does. */
static void count_again(void)
{
	const struct cp_detour_record *r = &ground.made[ground.count - 1].detour.records[0];

	if (cp_detour_counts_down(r) && blocks_chosen)
		memset((uint8_t *)ground_ring(0) + cp_detour_chosen_offset(GROUND_LOG), MANY_TIMES,
		       (size_t)1 << (GROUND_LOG - 3));
}

static void on_step(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	if (trace.mode == NATIVE) {
		/* Also where it goes: a loop may have been left. */
		if (trace.count < TRACE_MAX) {
			ground_regs(context, &trace.regs[trace.count]);
			trace.words[trace.count] =
				*(const uint64_t *)(uintptr_t)trace.regs[trace.count].r[7];
			trace.flags[trace.count++] = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
		}
	} else if (ground_is_inside(pc) && trace.mode == COMPARED) {
		trace.inside++;
		compare_step(context);
	} else if (ground_is_inside(pc) && trace.mode == TAKEN_OUT && !trace.done &&
		   trace.inside++ == trace.take_out_at) {
		CHECK(ground_take_out(context, reader.ring));
		count_again();
		context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		trace.done = true;
		taken_out++;
		return;
	}
	if (info->si_code == SI_KERNEL) /* a breakpoint */
		serve_stop(context);
}

static void run_stepped(enum mode mode, const struct form *form, struct state *s)
{
	trace.mode = mode;
	trace.form = form;
	trace.inside = 0;
	trace.done = false;
	if (mode == NATIVE)
		trace.count = 0;
	s->flags |= TRAP_FLAG;
	detour_run(s, form->start);
}

/* ---- the forms ---- */

/* Which way the code of the record goes. */
enum way {
	RECORDED,
	FULL, /* the ring is closed */
	ACCEPTED, /* by tests */
	REFUSED,
	CALL_REFUSED, /* by those of the call's entry */
	ASKED, /* there is no ring, and one is given */
	ASKED_NOBODY, /* nobody is there to give one */
	READ, /* what pointers lead to */
	READ_REFUSED, /* by a test of that */
	COPIED, /* with a copy of the stack, and what is on the x87's */
	STOPPED, /* with a stop, in the middle of the thread's way; and words of memory */
	CHOSEN, /* a block, by its size */
	PASSED, /* not by that, but there may be a chosen one at the address */
	UNCHOSEN,
	FREED, /* what may have been chosen */
	FREED_OTHER,
	CHOOSES, /* what the call answers with is a chosen block */
	WAYS,
};

static void add_values(struct cp_detour_record *r)
{
	static const struct cp_detour_value values[] = {
		{ CP_DETOUR_GENERAL, 0, 0 }, { CP_DETOUR_GENERAL, 1, 0 },
		{ CP_DETOUR_GENERAL, 2, 0 }, { CP_DETOUR_GENERAL, 3, 0 },
		{ CP_DETOUR_GENERAL, 4, 0 }, { CP_DETOUR_GENERAL, 5, 0 },
		{ CP_DETOUR_GENERAL, 7, 0 }, { CP_DETOUR_GENERAL, 12, 0 },
		{ CP_DETOUR_VECTOR, 9, 0 },  { CP_DETOUR_VECTOR16, 2, 0 },
		{ CP_DETOUR_STACK, 0, -8 },
	};

	memcpy(r->values, values, sizeof(values));
	r->value_count = CP_ARRAY_SIZE(values);
}

/* In records with what add_reached() adds: room for 9 bytes of the string is given back. */
#define READ_WORDS 24

static const struct cp_detour_value through_r12 = {
	CP_DETOUR_GENERAL,
	12,
	.reach = CP_DETOUR_BYTES,
	.size = 12,
	.through = 2,
	.at = { offsetof(struct target, self), offsetof(struct target, self),
		offsetof(struct target, numbers) + 4 }
};

/* Behind all the others. */
static void add_reached(struct cp_detour_record *r)
{
	r->values[r->value_count++] =
		(struct cp_detour_value){ CP_DETOUR_GENERAL, 12, .reach = CP_DETOUR_STRING,
					  .size = 30 };
	r->values[r->value_count++] = through_r12;
	/* Nowhere, most of the time. */
	r->values[r->value_count++] =
		(struct cp_detour_value){ CP_DETOUR_GENERAL, 3, .reach = CP_DETOUR_BYTES, .size = 8,
					  .through = 1 };
	r->values[r->value_count++] =
		(struct cp_detour_value){ CP_DETOUR_GENERAL, 7, .reach = CP_DETOUR_BYTES, .size = 9,
					  .at = { -8 } };
}

/* Of what a jump might read: the numbers, and the word at the stack pointer. */
#define WORD_WORDS 16
static void add_words(struct cp_detour_record *r)
{
	static const struct cp_detour_value values[] = {
		{ CP_DETOUR_WORD, 12, .index = CP_DETOUR_NONE,
		  .at = { offsetof(struct target, numbers) } },
		{ CP_DETOUR_WORD, 12, .index = 13, .scale = 4,
		  .at = { offsetof(struct target, numbers) } },
		{ CP_DETOUR_WORD, 7, .index = CP_DETOUR_NONE },
		{ CP_DETOUR_WORD, 7, .index = 13, .scale = 8, .at = { -24 } },
	};

	memcpy(r->values + r->value_count, values, sizeof(values));
	r->value_count += CP_ARRAY_SIZE(values);
}

/* `last`: of the trace, where the record stands. */
static void check_words(const struct cp_record *record, size_t last)
{
	const uint64_t *v = record->values + record->value_words - 4;

	CHECK_U64(v[0], target->numbers[0]);
	CHECK_U64(v[1], target->numbers[1]);
	/* The return address (deeper is whatever was there before), and what is below the
	 * stack pointer: rdi, as a value on the stack has it. */
	if (trace.regs[last].r[7] == trace.regs[0].r[7])
		CHECK_U64(v[2], trace.words[last]);
	CHECK_U64(v[3], record->values[11]);
}

static void check_reached(const struct cp_record *record)
{
	const struct cp_detour_record *r = &ground.made[ground.count - 1].detour.records[0];
	struct cp_detour_found found[4];
	unsigned i;

	for (i = 0; i < 4; i++)
		CHECK(cp_detour_find(r, r->value_count - 4 + i, record->values, record->value_words,
				     &found[i]));
	CHECK(found[0].how == CP_DETOUR_READ && found[0].size == strlen(target->text));
	CHECK(!memcmp(found[0].bytes, target->text, found[0].size));
	CHECK(found[1].how == CP_DETOUR_READ && found[1].size == 12);
	CHECK(!memcmp(found[1].bytes, (uint8_t *)target->numbers + 4, 12));
	CHECK(found[2].how == CP_DETOUR_READ_BAD && found[2].size == 0);
	CHECK(found[3].how == CP_DETOUR_READ && found[3].size == 9);
}

static int make_form(const struct form *form, enum way way)
{
	struct cp_detour d = ground_window(form->window, form->over);
	struct cp_detour_record *r = &d.records[0];
	unsigned i;

	*r = ground_record(77, (size_t)(form->record - form->window));
	r->taken = form->taken;
	add_values(r);
	d.record_count = 1;
	r->stops = way == STOPPED;
	if (way == STOPPED)
		add_words(r);
	if (way == COPIED) {
		r->stack = 200;
		r->values[r->value_count++] = (struct cp_detour_value){ CP_DETOUR_X87 };
	}
	if (way == READ)
		add_reached(r);
	if (way == CALL_REFUSED || way == CHOOSES)
		r->when = CP_DETOUR_IF_DECIDED;
	r->chooses = way == CHOOSES;
	r->block = (struct cp_detour_block){ 3, 1, 12 };
	if (way == FREED || way == FREED_OTHER)
		r->when = CP_DETOUR_IF_CHOSEN;
	if (way >= CHOSEN && way <= UNCHOSEN) {
		r->when = CP_DETOUR_SAMPLES;
		r->values[r->value_count++] = (struct cp_detour_value){ CP_DETOUR_CHOSEN };
	}
	if (way == ACCEPTED || way == REFUSED) {
		r->when = CP_DETOUR_DECIDES;
		/* Nothing that a register can hold is refused by the first ones. */
		for (i = 0; i < 4; i++)
			r->tests[i] = (struct cp_detour_test){
				.value = { CP_DETOUR_GENERAL, (uint8_t)i, 0 },
				.op = CP_DETOUR_GE,
				.size = (uint8_t)(1 << i),
				.is_signed = true,
				.constant =
					i == 3 && way == REFUSED ? INT64_MAX : (uint64_t)INT64_MIN,
			};
		r->test_count = 4;
	}
	if (way == READ_REFUSED) {
		r->when = CP_DETOUR_DECIDES;
		r->tests[0] = (struct cp_detour_test){
			.value = through_r12, .op = CP_DETOUR_EQ, .size = 4, .constant = 0
		};
		r->tests[1] = r->tests[0];
		r->tests[1].op = CP_DETOUR_NE;
		r->test_count = 2;
	}
	return ground_make(&d);
}

/* Around main()'s frame. */
static struct cp_records_memory with_stack;
static const struct cp_records_memory probing = { .may_probe = true };

static bool chosen; /* by its size, if it has one */

/* As a new ring, of which nothing is known but what the way is about. */
static void set_sample(enum way way)
{
	uint8_t *memory = (uint8_t *)reader.ring, *zero = ground_ring(0);
	uint64_t *ways = (void *)(zero + cp_detour_ways_offset(GROUND_LOG));
	uint64_t *table = (void *)(memory + cp_detour_table_offset(GROUND_LOG));
	size_t i;

	memset(memory, 0, cp_detour_table_offset(GROUND_LOG));
	cp_records_create(memory, GROUND_LOG);
	blocks_chosen = way == UNCHOSEN || way == FREED_OTHER ? 0 : MANY_TIMES;
	memset(zero + cp_detour_chosen_offset(GROUND_LOG), blocks_chosen,
	       (size_t)1 << (GROUND_LOG - 3));
	for (i = 0; i < CP_DETOUR_WAYS; i++)
		ways[i] = 1000 + i;
	reader.ring->way = CP_DETOUR_WAYS - 1;
	/* No product is chosen by one, and each that fits by the other. */
	chosen = way == CHOSEN;
	reader.ring->left = chosen ? INT64_MIN / 2 : INT64_MAX;
	for (i = 0; way == CHOOSES && i < trace.count; i++)
		table[cp_detour_slot(trace.regs[i].r[7])] = trace.regs[i].r[7];
}

static void set_way(enum way way)
{
	memset((uint8_t *)reader.ring + cp_detour_table_offset(GROUND_LOG), 0,
	       CP_DETOUR_SLOTS * sizeof(uint64_t));
	if (way >= CHOSEN)
		set_sample(way);
	trace.served = way == ASKED;
	cp_records_set_memory(&reader, way == COPIED ? &with_stack : &probing);
	cp_records_read(&reader, __rdtsc() + (UINT64_C(1) << 42));
	cp_records_ask(reader.ring, 0, 0);
	if (way != FULL && way != ASKED && way != ASKED_NOBODY) {
		cp_records_open(&reader, reader.ring, GROUND_LOG);
		return;
	}
	cp_records_close(&reader);
	reader.ring->lost_head = 0;
	if (way != FULL)
		cp_records_ask(reader.ring, __rdtsc() + (UINT64_C(1) << 42), 0);
}

/* Where the record says whether a block was chosen, it was as was to be; and where one was,
 * that stands at its address. */
#define SAMPLE_WORDS 14
static void check_sample(const struct cp_record *record, const struct cp_regs *regs)
{
	const struct cp_detour_record *r = &ground.made[ground.count - 1].detour.records[0];
	const uint8_t *bytes =
		(const uint8_t *)ground_ring(0) + cp_detour_chosen_offset(GROUND_LOG);
	const uint64_t at = regs->r[12];
	int64_t product;

	if (r->chooses)
		CHECK((bytes[cp_detour_chosen(at, GROUND_LOG)] > MANY_TIMES) == (at != 0));
	if (r->when != CP_DETOUR_SAMPLES)
		return;
	CHECK_U64(record->value_words, SAMPLE_WORDS);
	if (record->values[12]) /* the last of the ways */
		CHECK_U64((uint64_t)reader.ring->left, 1000 + CP_DETOUR_WAYS - 1);
	if (!__builtin_mul_overflow((int64_t)regs->r[3], (int64_t)regs->r[1], &product) &&
	    product >= 0) /* in a loop, the first time */
		CHECK(chosen ? reader.ring->way == CP_DETOUR_WAYS : !record->values[12]);
}

/* What the record says is what the program had where it stands. */
static void check_record(const struct form *form, const struct state *start,
			 const struct cp_record *record)
{
	const uint64_t *v = record->values;
	size_t i, last = trace.count;

	for (i = 0; i < trace.count; i++) {
		if (trace.regs[i].r[16] == (uintptr_t)form->record)
			last = i;
	}
	CHECK(last < trace.count);
	if (last == trace.count)
		return;
	CHECK_U64(record->site, 77);
	CHECK_U64(record->sp, trace.regs[last].r[7] & 0x7fffffff8);
	for (i = 0; i < 6; i++)
		CHECK_U64(v[i], trace.regs[last].r[i]);
	CHECK_U64(v[6], trace.regs[last].r[7]);
	CHECK_U64(v[7], trace.regs[last].r[12]);
	CHECK(record->value_words == 12 || record->value_words == 15 ||
	      record->value_words == WORD_WORDS || record->value_words == READ_WORDS ||
	      record->value_words == SAMPLE_WORDS);
	check_sample(record, &trace.regs[last]);
	if (record->value_words == WORD_WORDS)
		check_words(record, last);
	if (record->value_words == 15)
		CHECK_U64(record->stack_size, trace.flags[last] & DIRECTION ? 0 : 200);
	if (record->value_words == READ_WORDS)
		check_reached(record);
	CHECK(!memcmp(v + 8, start->x[9], 8) && !memcmp(v + 9, start->x[2], 16));
	if (trace.regs[last].r[7] == trace.regs[0].r[7] && !strcmp(form->name, "tail"))
		CHECK_U64(v[11], trace.regs[last].r[5]); /* rdi, in the red zone */
}

/* A thread is taken out at each instruction, and comes to the window again. On the longer
 * ways at each third: the time goes by their square. */
static void take_out_everywhere(const struct form *form, const struct state *start,
				const struct state *native, enum way way, unsigned records)
{
	bool longer = way == READ || way == READ_REFUSED || way == COPIED;
	size_t most = longer ? ONCE_AROUND_LONGER : ONCE_AROUND;
	size_t inside = trace.inside < most ? trace.inside : most, at;
	size_t step = longer && !getenv("CPROF_TEST_LONG") ? 3 : 1;
	struct cp_record record;
	struct state s;

	/* What these ways have is the same code for all forms. */
	if (way > CALL_REFUSED && (form - detour_forms) % (longer ? 64 : 4))
		return;
	for (at = 0; at < inside; at += step) {
		trace.take_out_at = at;
		set_way(way);
		s = *start;
		run_stepped(TAKEN_OUT, form, &s);
		CHECK(trace.done && same(native, &s));
		CHECK_U64(take_records(&record), records);
	}
}

static bool records(enum way way)
{
	return way == RECORDED || way == ACCEPTED || way == ASKED || way == READ || way == COPIED ||
	       way == STOPPED || way == CHOSEN || way == PASSED || way == FREED || way == CHOOSES;
}

static void test_round(const struct form *form, int number, enum way way, unsigned round)
{
	struct cp_record record = { 0 };
	struct state start, native, s;
	unsigned count;

	random_state(&start, round);
	native = start;
	run_stepped(NATIVE, form, &native);
	CHECK(trace.count && trace.count < TRACE_MAX);
	ground_patch(number);
	set_way(way);
	trace.mode = FREE;
	s = start;
	detour_run(&s, form->start);
	CHECK(same(&native, &s));
	count = take_records(&record);
	CHECK(!count || records(way));
	if (count)
		check_record(form, &start, &record);
	set_way(way);
	s = start;
	run_stepped(COMPARED, form, &s);
	CHECK(same(&native, &s));
	CHECK_U64(take_records(&record), count);
	CHECK(trace.inside > 0);
	if (!round)
		take_out_everywhere(form, &start, &native, way, count);
	ground_unpatch(number);
	compared++;
}

static void test_form(const struct form *form)
{
	enum way way;
	unsigned round;
	int number;

	for (way = RECORDED; way < WAYS; way++) {
		number = make_form(form, way);
		CHECK(number >= 0);
		if (number < 0) {
			fprintf(stderr, "%s can't be moved\n", form->name);
			return;
		}
		for (round = 0; round < (way == RECORDED ? 12 : 1); round++)
			test_round(form, number, way, round);
	}
}

/* ---- what can't be moved ---- */

static void test_refused(void)
{
	static const struct {
		uint8_t code[16], size;
		bool movable;
	} rows[] = {
		{ "\x0f\x05\x90\x90\x90", 5, false }, /* syscall */
		{ "\xcc\x90\x90\x90\x90", 5, false },
		{ "\x0f\x0b\x90\x90\x90", 5, false },
		{ "\xc7\xf8\x01\x00\x00\x00", 6, false }, /* xbegin */
		{ "\xc3\x90\x90\x90\x90", 5, false }, /* nothing comes to the nops */
		{ "\xe8\x00\x00\x00\x00\x90", 6, false }, /* a call returns into the window */
		{ "\x48\x89", 2, false }, /* cut off */
		{ "\x67\x8b\x05\x00\x00\x00\x00", 7, false }, /* relative to eip */
		{ "\xe8\x00\x00\x00\x00", 5, true },
		{ "\xc3", 1, true },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(rows); i++)
		CHECK(cp_detour_movable(&cp_arch_x86_64, rows[i].code, rows[i].size, 0x400000) ==
		      rows[i].movable);
}

/* ---- jumps ---- */

/* Who comes to that byte stops. */
static bool stops(uint8_t byte, bool illegal)
{
	return byte == 0xcc || byte == 0xf1 || (illegal && (byte == 0x60 || byte == 0x37));
}

static void test_landings(void)
{
	struct cp_detour_landing l[CP_DETOUR_LANDINGS];
	uint8_t code[CP_DETOUR_JUMP + CP_DETOUR_PREFIXES];
	uint64_t at = 0x555555555000, to;
	uint32_t begins;
	size_t n, i, k, room;

	for (begins = 0; begins < 256; begins += 2) {
		for (room = 5; room <= 8; room++) {
			n = cp_detour_landings(begins, room, l);
			CHECK(n >= 1 && n <= CP_DETOUR_LANDINGS);
			for (i = 0; i < n; i++) {
				to = at + l[i].prefixes + 5 +
				     (uint64_t)(int64_t)(int32_t)(l[i].value |
								  (0x123456 & ~l[i].mask));
				CHECK(cp_detour_jump(&l[i], at, to, code));
				CHECK(l[i].prefixes + 5u <= room);
				for (k = 1; k < l[i].prefixes + 5u; k++)
					CHECK(!(begins >> k & 1) || stops(code[k], l[i].illegal));
				CHECK(!l[i].mask ||
				      !cp_detour_jump(&l[i], at, to ^ l[i].mask, code));
			}
		}
	}
	CHECK(!cp_detour_jump(&(struct cp_detour_landing){ 0 }, at, at + (UINT64_C(1) << 32),
			      code));
	CHECK(cp_detour_hop(0, at, at + 2 + 127, code) && code[1] == 127);
	CHECK(!cp_detour_hop(0, at, at + 2 + 128, code));
	CHECK(!cp_detour_hop(2, at, at + 2 + 127, code));
	CHECK(cp_detour_hop(2, at, at + 2 - 52, code));
	CHECK_U64(cp_detour_displacement((const uint8_t *)"\xe9\0\0\0\0", 5), 1);
	CHECK_U64(cp_detour_displacement((const uint8_t *)"\x0f\x85\0\0\0\0", 6), 2);
	CHECK_U64(cp_detour_displacement((const uint8_t *)"\xeb\0", 2), 0);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	const struct form *form;

	test_refused();
	test_landings();
	make_target();
	ground_prepare();
	with_stack = (struct cp_records_memory){ .stack_low = (uintptr_t)&form - 8192,
						 .stack_end = (uintptr_t)&form + 1024,
						 .self = (uintptr_t)ground_ring(1) };
	ground_use_ring(1);
	cp_records_open(&reader, ground_ring(1), GROUND_LOG);
	sigaction(SIGTRAP, &action, NULL);
	for (form = detour_forms; form < detour_forms_end; form++)
		test_form(form);
	CHECK(losses > 0 && asked > 0 && stopped > 0);
	printf("%lu runs compared, %lu instructions of detours, %lu times taken out\n", compared,
	       steps, taken_out);
	TEST_MAIN_END;
}
