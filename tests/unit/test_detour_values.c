/* SPDX-License-Identifier: MIT
 *
 * Values that are more than a word: copies of the stack, wide vectors, what is on the
 * x87's stack; each beside what this process had there itself.
 *
 *     test_detour_values          the tests
 *     test_detour_values cost     what they cost, in ns
 */
#include "test.h"

#include "detour_ground.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

/* Of the function in %0, from where the red zone may be in use. */
#define CALL "lea -128(%%rsp),%%rsp\n\tcall *%0\n\tlea 128(%%rsp),%%rsp\n\t"

static struct cp_records reader;
static int number = -1;

static void patch(const struct cp_detour_record *record)
{
	struct cp_detour d;

	if (number >= 0)
		ground_unpatch(number);
	d = ground_window((void *)detour_called, detour_called_exit);
	d.records[0] = *record;
	d.records[0].site = 1;
	d.record_count = 1;
	number = ground_make(&d);
	CHECK(number >= 0);
	ground_patch(number);
}

/* The record of a call; its values are good until the next one's. */
static struct cp_record take(void)
{
	struct cp_record record = { 0 };

	cp_records_release(&reader);
	CHECK(cp_records_next(&reader, __rdtsc(), &record));
	return record;
}

/* ---- the stack ---- */

static struct cp_records_memory find_stack(void)
{
	struct cp_records_memory m = { .self = (uintptr_t)reader.ring };
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	CHECK(maps);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[stack]"))
			CHECK(sscanf(line, "%lx-%lx", &m.stack_low, &m.stack_end) == 2);
	}
	if (maps)
		fclose(maps);
	return m;
}

/* With `above` bytes of a pattern in the caller's frame. */
static void __attribute__((noinline)) check_stack(size_t above, uint64_t end, size_t most)
{
	uint64_t pattern[CP_DETOUR_STACK_MAX / 8 + 64], sp, size;
	struct cp_record r;
	size_t i, at, seen = 0;

	for (i = 0; i < CP_ARRAY_SIZE(pattern); i++)
		pattern[i] = above * 1000003 + i * 0x9e3779b97f4a7c15;
	__asm__ volatile("" ::"r"(pattern) : "memory");
	CHECK(detour_called(5, 7) == detour_plain(5, 7));
	r = take();
	sp = ((uintptr_t)pattern & ~UINT64_C(0x7ffffffff)) | r.sp;
	size = end - sp < most ? end - sp : most;
	CHECK_U64(r.stack_size, size);
	CHECK(r.value_words >= 1 && r.values[0] == 5);
	for (i = 0; i < CP_ARRAY_SIZE(pattern); i++) {
		at = (uintptr_t)&pattern[i] - sp;
		if (at + 8 > r.stack_size)
			break;
		CHECK(!memcmp(r.stack + at, &pattern[i], 8));
		seen++;
	}
	CHECK(seen > 0 || most < 256);
}

static void test_stack(void)
{
	struct cp_detour_record record = { .values = { { CP_DETOUR_GENERAL, 5 } },
					   .value_count = 1 };
	static const unsigned sizes[] = { 16, 200, 1000, 1024, 4096, 16384 };
	struct cp_records_memory memory = find_stack();
	uint64_t end = memory.stack_end;
	size_t i, k;

	for (i = 0; i < CP_ARRAY_SIZE(sizes); i++) {
		record.stack = (uint16_t)sizes[i];
		patch(&record);
		memory.stack_end = end;
		cp_records_set_memory(&reader, &memory);
		/* Many turns of the ring. */
		for (k = 0; k < 100; k++)
			check_stack(k, end, sizes[i]);
	}
	for (k = 1; k < 40; k++) { /* an end that is near */
		memory.stack_end = ((uintptr_t)&record & ~UINT64_C(7)) - 8 * k;
		cp_records_set_memory(&reader, &memory);
		check_stack(k, memory.stack_end, 16384);
	}
}

/* Nothing is known, or it is another stack. */
static void test_no_stack(void)
{
	struct cp_detour_record record = { .stack = 4096 };
	const struct cp_records_memory all = find_stack();
	struct cp_records_memory rows[] = { { 0 }, all, all, all, all };
	struct cp_record r;
	size_t i;

	rows[1].self = 0;
	rows[2].stack_end = rows[2].stack_low;
	rows[3].stack_low = rows[3].stack_end;
	rows[4].stack_end = 0;
	patch(&record);
	for (i = 0; i < CP_ARRAY_SIZE(rows); i++) {
		cp_records_set_memory(&reader, &rows[i]);
		CHECK(detour_called(5, 7) == detour_plain(5, 7));
		r = take();
		CHECK_U64(r.stack_size, 0);
	}
	cp_records_set_memory(&reader, &all);
	__asm__ volatile("std\n\t" CALL "cld"
			 :
			 : "b"(detour_called)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	r = take();
	CHECK_U64(r.stack_size, 0);
}

#define PAGES UINT64_C(65536) /* bytes of a stack */

static unsigned long faults;

static void on_fault(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	struct cp_regs regs;

	(void)signal;
	(void)info;
	ground_regs(context, &regs);
	if (!cp_detour_stack_fault(&cp_arch_x86_64, &ground.made[number].detour,
				   ground.made[number].at, &ground.rings, &regs, reader.ring))
		_exit(99);
	ground_set_regs(context, &regs, (uint64_t)context->uc_mcontext.gregs[REG_EFL]);
	faults++;
}

/* The stack ends before it was said to. */
static void test_stack_fault(void)
{
	struct cp_detour_record record = { .stack = 4096 };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	uint8_t *pages = mmap(NULL, PAGES + 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		*sp = pages + PAGES - 1024;
	struct cp_records_memory memory = { .stack_low = (uintptr_t)pages,
					    .stack_end = (uintptr_t)pages + PAGES + 4096,
					    .self = (uintptr_t)reader.ring };
	static const uint8_t zeros[4096];
	struct cp_record r;

	CHECK(pages != MAP_FAILED && !munmap(pages + PAGES, 4096));
	memset(pages, 'x', PAGES);
	patch(&record);
	cp_records_set_memory(&reader, &memory);
	sigaction(SIGSEGV, &action, NULL);
	__asm__ volatile("mov %%rsp,%%r12\n\tmov %1,%%rsp\n\tcall *%0\n\tmov %%r12,%%rsp"
			 :
			 : "b"(detour_called), "r"(sp)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
			   "memory");
	signal(SIGSEGV, SIG_DFL);
	r = take();
	CHECK_U64(faults, 1);
	CHECK_U64(r.stack_size, 4096);
	/* Behind the return address. */
	CHECK(!memcmp(r.stack + 8, sp, 1024) && !memcmp(r.stack + 8 + 1024, zeros, 4096 - 1032));
	munmap(pages, PAGES);
}

/* A long record without a stack, and one that has no room. */
static void test_long(void)
{
	struct cp_detour_record record = { .value_count = 3 };
	char text[1500];
	struct cp_records_memory memory = find_stack();
	struct cp_detour_found found;
	struct cp_record r;
	unsigned i;

	for (i = 0; i < record.value_count; i++)
		record.values[i] =
			(struct cp_detour_value){ CP_DETOUR_GENERAL, 5, .reach = CP_DETOUR_STRING,
						  .size = 1200 };
	patch(&record);
	cp_records_set_memory(&reader, &memory);
	cp_records_read(&reader, __rdtsc() + (UINT64_C(1) << 42));
	memset(text, 'x', sizeof(text));
	text[1000] = 0;
	CHECK(detour_called((uintptr_t)text, 7) == detour_plain((uintptr_t)text, 7));
	r = take();
	CHECK(r.value_words < 3 * 127 + 2);
	for (i = 0; i < 3; i++) {
		CHECK(cp_detour_find(&record, i, r.values, r.value_words, &found));
		CHECK(found.size == 1000 && !memcmp(found.bytes, text, 1000));
	}
	for (; i < 7; i++)
		record.values[i] = record.values[0];
	record.value_count = 7;
	CHECK(cp_detour_units(&record) * CP_DETOUR_UNIT > 8192);
	ground_unpatch(number);
	number = -1;
	{
		struct cp_detour d = ground_window((void *)detour_called, detour_called_exit);

		d.records[d.record_count++] = record;
		CHECK(ground_make(&d) < 0);
	}
}

/* What the program may have written into a record: nothing behind its end is found. */
static void test_nonsense(void)
{
	const struct cp_detour_record record = {
		.values = { { CP_DETOUR_GENERAL, 5, .reach = CP_DETOUR_STRING, .size = 24 },
			    { CP_DETOUR_X87 },
			    { CP_DETOUR_GENERAL, 5, .reach = CP_DETOUR_BYTES, .size = 9 },
			    { CP_DETOUR_GENERAL, 4, .reach = CP_DETOUR_STRING, .size = 24 } },
		.value_count = 4
	};
	struct cp_detour_found found;
	uint64_t words[12], x = 88172645463325252u;
	unsigned round, count, i, good = 0;

	for (round = 0; round < 100000; round++) {
		for (i = 0; i < 12; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			words[i] = x & (x & 1 ? UINT64_C(0x30000001f) : UINT64_MAX);
		}
		count = (unsigned)(x >> 32) % 13;
		for (i = 0; i < 5; i++) {
			if (!cp_detour_find(&record, i, words, count, &found))
				continue;
			CHECK(i < 4 && (const uint8_t *)found.bytes >= (const uint8_t *)words &&
			      (const uint8_t *)found.bytes + found.size <=
				      (const uint8_t *)(words + count));
			good++;
		}
	}
	CHECK(good > 1000);
}

/* ---- x87 ---- */

/* The part of it that is the x87's. */
struct x87 {
	uint8_t image[160], rest[352];
} __attribute__((aligned(16)));

/* Calls with `count` numbers on the stack, which stay there; the last is the result. */
static void call_x87(unsigned count, struct x87 *before, struct x87 *after)
{
	static const long double numbers[] = { 1.5L,  -0.0L,	3.0e4000L, 1 / 3.0L,
					       -2.0L, 1e-4940L, 0x1p63L,   7.0L };
	unsigned i;

	__asm__ volatile("fninit");
	for (i = 0; i < count; i++)
		__asm__ volatile("fldt %0" ::"m"(numbers[i]));
	/* Flags of exceptions and conditions. */
	if (count && count < 8)
		__asm__ volatile("fldz; fdivrs %0; fstp %%st(0); ftst" ::"m"((float){ 1 }));
	__asm__ volatile("fxsave64 (%1)\n\t" CALL "fxsave64 (%2)\n\t"
			 :
			 : "b"(detour_called), "r"(before->image), "r"(after->image)
			 : "rax", "rcx", "rdx", "rdi", "r8", "r9", "r10", "r11", "memory");
	__asm__ volatile("fninit");
}

static void test_x87(void)
{
	struct cp_detour_record record = { .values = { { CP_DETOUR_X87 } }, .value_count = 1 };
	struct x87 before, after;
	struct cp_record r;
	unsigned count;

	patch(&record);
	for (count = 0; count <= 8; count++) {
		call_x87(count, &before, &after);
		CHECK(!memcmp(before.image, after.image, sizeof(before.image)));
		r = take();
		CHECK(cp_detour_x87_there(r.values[1]) == (count > 0));
		CHECK(!memcmp(r.values, before.image + 32, 10));
	}
}

/* ---- vectors ---- */

static uint8_t wide[64];

static void __attribute__((target("avx"))) call_ymm(void)
{
	__asm__ volatile("vmovups %1,%%ymm9\n\t" CALL "vmovups %%ymm9,%1\n\tvzeroupper"
			 :
			 : "b"(detour_called), "m"(wide)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm9",
			   "memory");
}

static void __attribute__((target("avx512f"))) call_zmm(void)
{
	__asm__ volatile("vmovups %1,%%zmm3\n\t" CALL "vmovups %%zmm3,%1\n\tvzeroupper"
			 :
			 : "b"(detour_called), "m"(wide)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm3",
			   "memory");
}

static void test_vector(uint8_t kind, uint8_t reg, void (*call)(void))
{
	struct cp_detour_record record = { .values = { { kind, reg }, { CP_DETOUR_GENERAL, 3 } },
					   .value_count = 2 };
	size_t size = kind == CP_DETOUR_VECTOR32 ? 32 : 64, i;
	uint8_t kept[64];
	struct cp_record r;

	for (i = 0; i < sizeof(wide); i++)
		wide[i] = kept[i] = (uint8_t)(i * 7 + reg);
	patch(&record);
	call();
	r = take();
	CHECK(!memcmp(r.values, kept, size) && !memcmp(wide, kept, size));
	CHECK_U64(r.values[size / 8], (uintptr_t)detour_called);
}

/* ---- cost ---- */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_of(void)
{
	struct cp_record record;
	double best = 1e9, start, time;
	unsigned i, k;

	for (i = 0; i < 2001; i++) {
		start = now_ns();
		for (k = 0; k < 10; k++)
			detour_called(5, 7);
		time = (now_ns() - start) / 10;
		best = time < best ? time : best;
		while (cp_records_next(&reader, __rdtsc(), &record))
			;
		cp_records_release(&reader);
	}
	return best;
}

static int cost(void)
{
	struct cp_detour_record record = { 0 };
	struct cp_records_memory memory = find_stack();
	char room[CP_DETOUR_STACK_MAX];
	double none;
	unsigned size;

	__asm__ volatile("" ::"r"(room) : "memory");
	cp_records_set_memory(&reader, &memory);
	patch(&record);
	none = best_of();
	printf("a call with a record without values: %.1f; more than that:\n", none);
	for (size = 1024; size <= CP_DETOUR_STACK_MAX; size *= 4) {
		record.stack = (uint16_t)size;
		patch(&record);
		printf("  %5u bytes of stack %.1f\n", size, best_of() - none);
	}
	record = (struct cp_detour_record){ .values = { { CP_DETOUR_X87 } }, .value_count = 1 };
	patch(&record);
	printf("  st0 %.1f\n", best_of() - none);
	return 0;
}

int main(int argc, char **argv)
{
	ground_prepare();
	ground_use_ring(1);
	cp_records_open(&reader, ground_ring(1), GROUND_LOG);
	if (argc > 1 && !strcmp(argv[1], "cost"))
		return cost();
	test_stack();
	test_no_stack();
	test_stack_fault();
	test_long();
	test_nonsense();
	test_x87();
	if (__builtin_cpu_supports("avx"))
		test_vector(CP_DETOUR_VECTOR32, 9, call_ymm);
	if (__builtin_cpu_supports("avx512f"))
		test_vector(CP_DETOUR_VECTOR64, 3, call_zmm);
	TEST_MAIN_END;
}
