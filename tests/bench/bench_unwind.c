/* SPDX-License-Identifier: MIT
 *
 * What a walk costs: a stack 42 frames deep, of this program itself, walked
 * from a copy by each unwinder; the first walk, which reads and compiles; and
 * the first lookup in a large library, if there is one. CPU time, not wall
 * time. Prints a table; says nothing about right or wrong.
 */
#include "base/clock.h"
#include "../unit/test_unwind.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 38 /* calls; the rest are libc's and main's */
#define ROUNDS 15

static struct cp_frame frames[128];
static uint8_t stack_copy[256 << 10];
static struct cp_unwind_capture capture;
static struct test_maps maps;
static pid_t self;
static const struct cp_reader memory = { test_read_pid, &self };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct cp_unwind_space *fresh(void)
{
	struct cp_unwind_space *space;

	cp_error_free(cp_unwind_space_create(cp_arch_host(), &memory, NULL, &space));
	cp_error_free(cp_unwind_space_set_mappings(space, maps.items, maps.count));
	return space;
}

/* Median nanoseconds of a walk; *count_ret frames. */
static double measure(struct cp_unwind_space *space, enum cp_unwinder by, unsigned walks,
		      size_t *count_ret)
{
	enum cp_unwind_end end;
	double times[ROUNDS];
	uint64_t start;
	unsigned r, i;

	for (r = 0; r < ROUNDS; r++) {
		start = cp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (i = 0; i < walks; i++)
			cp_unwind_walk(space, by, &capture, frames, 128, count_ret, &end);
		times[r] = (double)(cp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / walks;
	}
	qsort(times, ROUNDS, sizeof(times[0]), by_value);
	return times[ROUNDS / 2];
}

static void print(const char *what, double ns, size_t count)
{
	printf("%-34s %10.0f ns  %3zu frames  %8.1f ns a frame\n", what, ns, count,
	       count ? ns / (double)count : 0);
}

static void measure_all(void)
{
	static const char *const names[] = { "own, warm", "libunwind", "frame pointers" };
	struct cp_unwind_space *space;
	enum cp_unwind_end end;
	double first[ROUNDS];
	uint64_t start;
	size_t count = 0;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		space = fresh();
		start = cp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		cp_unwind_walk(space, CP_UNWINDER_OWN, &capture, frames, 128, &count, &end);
		first[i] = (double)(cp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
		cp_unwind_space_destroy(space);
	}
	qsort(first, ROUNDS, sizeof(first[0]), by_value);
	print("own, first walk of a process", first[ROUNDS / 2], count);
	space = fresh();
	for (i = 0; i < 3; i++) {
		double ns = measure(space, (enum cp_unwinder)i, i == 1 ? 20 : 20000, &count);

		print(names[i], ns, count);
	}
	cp_unwind_space_destroy(space);
}

/* One pc in a library of many megabytes. */
static void measure_large(void)
{
	static const char *const libraries[] = { "libLLVM-15.so.1", "libLLVM-14.so.1",
						 "libcrypto.so.3", "libstdc++.so.6" };
	static const char *const symbols[] = { "LLVMContextCreate", "LLVMContextCreate",
					       "EVP_MD_CTX_new", "_ZSt9terminatev" };
	struct cp_unwind_space *space;
	enum cp_unwind_end end;
	void *symbol = NULL;
	size_t count, i;
	uint64_t start;

	for (i = 0; i < CP_ARRAY_SIZE(libraries) && !symbol; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY);

		symbol = library ? dlsym(library, symbols[i]) : NULL;
	}
	if (!symbol)
		return;
	test_maps_free(&maps);
	maps = test_maps(self);
	space = fresh();
	capture.regs.r[cp_arch_host()->pc] = (uint64_t)(uintptr_t)symbol;
	start = cp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	cp_unwind_walk(space, CP_UNWINDER_OWN, &capture, frames, 2, &count, &end);
	printf("first pc in %-22s %10.0f ns\n", libraries[i - 1],
	       (double)(cp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start));
	cp_unwind_space_destroy(space);
}

static void take(uint64_t pc, uint64_t sp, uint64_t fp)
{
	const struct cp_arch *arch = cp_arch_host();
	struct cp_reader reader = memory;

	capture.regs.known = arch->callee_saved;
	capture.regs.r[arch->pc] = pc;
	capture.regs.r[arch->sp] = sp;
	capture.regs.r[arch->fp] = fp;
	capture.stack = stack_copy;
	capture.stack_base = sp;
	capture.stack_size = reader.read(reader.ctx, sp, stack_copy, sizeof(stack_copy));
}

/* Built with a frame pointer, so that one walk fits all. */
__attribute__((noinline)) static int down(int n)
{
	volatile int below;
	uint64_t pc, sp;

	if (n) {
		below = down(n - 1);
		return below + 1;
	}
	__asm__ volatile("lea (%%rip), %0\n\tmov %%rsp, %1" : "=r"(pc), "=r"(sp));
	take(pc, sp, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	measure_all();
	measure_large();
	return 0;
}

int main(void)
{
	self = getpid();
	maps = test_maps(self);
	return down(DEPTH) != DEPTH;
}
