/* SPDX-License-Identifier: MIT
 *
 * The oracle of displaced execution. Two processes, forked from this one and
 * so alike to the byte, run the same code one instruction at a time: one as it
 * is, the other with each instruction executed from a slot. After each,
 *
 *	all registers, flags and floating-point state are the same,
 *	cp_step_destination() has foretold where it goes,
 *	at every instruction inside of the slot, cp_step_unslot() gave a state
 *	that is the one before, or the one after,
 *
 * and at the end, so is all memory that they can write.
 */
#include "test.h"

#include "arch/insn.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 400000
#define AREA_SIZE (1u << 16)
#define MAPPING_MAX (16u << 20)
#define XSTATE_MAX 16384
#define FLAGS_MASK ~(UINT64_C(1) << 8 | UINT64_C(1) << 16) /* TF and RF are the debugger's */

void insn_forms(long *counters);

struct side {
	pid_t pid;
	int mem;
	struct user_regs_struct regs;
	uint8_t xstate[XSTATE_MAX];
	size_t xstate_size;
};

static struct cp_decoder *decoder;
static struct side native, displaced;
static uint64_t areas[2]; /* one near this program, one near libc */
static unsigned long steps, slots, detours, frees, unslotted;

/* ---- what is executed ---- */

static volatile long sink;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static void the_end(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void work(void)
{
	static const char *volatile numbers[] = { "3.14159265358979", "-1e-310", "0x1.8p3",
						  "7e22" };
	static long counters[4];
	int values[40];
	char text[200];
	size_t i;

	insn_forms(counters);
	for (i = 0; i < CP_ARRAY_SIZE(values); i++)
		values[i] = (int)(i * 2654435761u);
	qsort(values, CP_ARRAY_SIZE(values), sizeof(values[0]), compare);
	for (i = 0; i < CP_ARRAY_SIZE(numbers); i++) {
		double d = strtod(numbers[i], NULL);

		sink += snprintf(text, sizeof(text), "%d %s %.6f %-10lx|%g %c", values[i],
				 numbers[i], d, (long)i << 40, d, 'x');
	}
	sink += (long)strlen(text) + (strstr(text, "7e22") != NULL) + counters[0];
	memset(text, 7, sizeof(text));
	memmove(text + 1, text, 150);
	free(malloc(1000));
}

/* ---- processes ---- */

/* The kernel writes the CPU's number into memory (rseq): one for both. */
static void stay_on_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	if (cpu >= 0 && cpu < CPU_SETSIZE) {
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
}

static uint64_t map_near(uint64_t address)
{
	uint64_t at;
	int way;

	for (way = 1; way <= 8; way++) {
		for (at = 0; at < 64; at++) {
			uint64_t hint = address + (way & 1 ? at : -at) * (16u << 20) +
					((uint64_t)way << 26);
			void *p = mmap((void *)(uintptr_t)(hint & ~UINT64_C(0xfff)), AREA_SIZE,
				       PROT_READ | PROT_WRITE | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (p != MAP_FAILED)
				return (uint64_t)(uintptr_t)p;
		}
	}
	return 0;
}

static bool start(struct side *side)
{
	char path[64];
	int status;

	side->pid = fork();
	if (side->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		work();
		the_end();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)side->pid);
	side->mem = open(path, O_RDWR | O_CLOEXEC);
	return side->pid > 0 && side->mem >= 0 && waitpid(side->pid, &status, 0) == side->pid &&
	       WIFSTOPPED(status) &&
	       ptrace(PTRACE_SETOPTIONS, side->pid, NULL, (void *)PTRACE_O_EXITKILL) == 0;
}

static void stop(struct side *side)
{
	if (side->pid > 0) {
		kill(side->pid, SIGKILL);
		waitpid(side->pid, NULL, 0);
	}
	close(side->mem);
}

static bool get(struct side *side)
{
	struct iovec xstate = { side->xstate, sizeof(side->xstate) };

	if (ptrace(PTRACE_GETREGS, side->pid, NULL, &side->regs) ||
	    ptrace(PTRACE_GETREGSET, side->pid, (void *)NT_X86_XSTATE, &xstate))
		return false;
	side->xstate_size = xstate.iov_len;
	/* fop, fip and fdp: where the last x87 instruction was */
	memset(side->xstate + 6, 0, 18);
	side->regs.eflags &= FLAGS_MASK;
	return true;
}

static bool single_step(struct side *side)
{
	int status;

	return ptrace(PTRACE_SINGLESTEP, side->pid, NULL, NULL) == 0 &&
	       waitpid(side->pid, &status, 0) == side->pid && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == SIGTRAP && get(side);
}

static bool go_to(struct side *side, uint64_t pc)
{
	side->regs.rip = pc;
	side->regs.orig_rax = UINT64_MAX;
	return ptrace(PTRACE_SETREGS, side->pid, NULL, &side->regs) == 0;
}

/* XSTATE_BV, 8 bytes at 512, says which parts the processor holds to be in use:
 * AMD's notices at some time or other that upper halves are all zero. */
static bool same_xstate(const uint8_t *a, const uint8_t *b)
{
	return native.xstate_size == displaced.xstate_size && native.xstate_size >= 520 &&
	       !memcmp(a, b, 512) && !memcmp(a + 520, b + 520, native.xstate_size - 520);
}

/* orig_rax is a matter of the kernel's restarts. */
static bool same_regs(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	struct user_regs_struct x = *a, y = *b;

	x.orig_rax = y.orig_rax = 0;
	return !memcmp(&x, &y, sizeof(x));
}

static size_t read_memory(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	ssize_t n = pread(*(const int *)ctx, buffer, size, (off_t)addr);

	return n > 0 ? (size_t)n : 0;
}

static bool complain(const char *what, const struct user_regs_struct *before)
{
	fprintf(stderr,
		"step %lu at %llx: %s; rip %llx and %llx, rsp %llx and %llx, rax %llx and %llx, "
		"rcx %llx and %llx, flags %llx and %llx\n",
		steps, before->rip, what, native.regs.rip, displaced.regs.rip, native.regs.rsp,
		displaced.regs.rsp, native.regs.rax, displaced.regs.rax, native.regs.rcx,
		displaced.regs.rcx, native.regs.eflags, displaced.regs.eflags);
	return false;
}

/* ---- one instruction, both ways ---- */

/* In the middle of a slot: is what unslot makes of it true? */
static bool judge_unslot(const struct cp_step *step, uint64_t slot,
			 const struct user_regs_struct *before)
{
	struct user_regs_struct told = displaced.regs;
	struct cp_regs regs;

	cp_arch_regs_from_prstatus(&told, &regs);
	told.rip = cp_step_unslot(step, before->rip, slot, told.rip, &regs, NULL, NULL);
	told.rsp = regs.r[7];
	told.rcx = regs.r[2];
	unslotted++;
	return same_regs(&told, before) || same_regs(&told, &native.regs);
}

/* By way of its detour, if there is one: a trap and a jump. */
static bool enter_slot(const struct cp_step *step, uint64_t slot,
		       const struct user_regs_struct *before)
{
	unsigned detour = cp_step_detour(step);

	if (!go_to(&displaced, slot + detour))
		return false;
	detours += detour != 0;
	return !detour || (judge_unslot(step, slot, before) && single_step(&displaced) &&
			   displaced.regs.rip > slot + detour && judge_unslot(step, slot, before) &&
			   single_step(&displaced) && displaced.regs.rip == slot);
}

static bool run_slot(const struct cp_step *step, uint64_t slot,
		     const struct user_regs_struct *before)
{
	unsigned n;

	if (!enter_slot(step, slot, before))
		return complain("can't be sent to its slot", before);
	for (n = 0; n < 12; n++) {
		if (!single_step(&displaced))
			return complain("was stopped in its slot", before);
		if (displaced.regs.rip == slot) { /* an iteration of a repeated one */
			displaced.regs.rip = before->rip;
			return go_to(&displaced, before->rip);
		}
		if (displaced.regs.rip - slot >= CP_SLOT_SIZE)
			return true;
		if (!judge_unslot(step, slot, before))
			return complain("unslot", before);
	}
	return complain("doesn't leave its slot", before);
}

/* endbr64: int3 in its place, and on behind that. */
static bool run_free(const struct user_regs_struct *before, const uint8_t *code)
{
	frees++;
	return pwrite(displaced.mem, "\xcc", 1, (off_t)before->rip) == 1 &&
	       go_to(&displaced, before->rip + 1) && single_step(&displaced) &&
	       pwrite(displaced.mem, code, 1, (off_t)before->rip) == 1;
}

static uint64_t slot_near(uint64_t pc)
{
	int64_t distance = (int64_t)(areas[0] - pc);
	uint64_t area = distance > -(1LL << 30) && distance < 1LL << 30 ? areas[0] : areas[1];

	return area + steps % (AREA_SIZE / CP_SLOT_SIZE) * CP_SLOT_SIZE;
}

static bool is_destination(const struct cp_step *step, const struct user_regs_struct *before)
{
	struct cp_reader reader = { .read = read_memory, .ctx = &displaced.mem };
	struct cp_regs regs;

	cp_arch_regs_from_prstatus(before, &regs);
	return cp_step_destination(step, &regs, before->eflags, &reader) == native.regs.rip ||
	       native.regs.rip == before->rip; /* a repeated one */
}

/* Hypervisors that emulate cpuid may forget the trap behind it: then a step is one of two
 * instructions (seen on a virtual machine without hardware's help), and what it did can't be
 * compared. Both go on behind cpuid as if it had not been there. */
static bool is_behind_cpuid(const struct user_regs_struct *before, const uint8_t *code)
{
	if (code[0] != 0x0f || code[1] != 0xa2 || native.regs.rip == before->rip + 2)
		return false;
	native.regs = displaced.regs = *before;
	native.regs.rip = displaced.regs.rip = before->rip + 2;
	return !ptrace(PTRACE_SETREGS, native.pid, NULL, &native.regs) &&
	       !ptrace(PTRACE_SETREGS, displaced.pid, NULL, &displaced.regs);
}

static bool one(void)
{
	struct user_regs_struct before = displaced.regs;
	uint64_t slot = slot_near(before.rip);
	uint8_t code[16], slot_code[CP_SLOT_SIZE];
	struct cp_step step;

	if (pread(displaced.mem, code, sizeof(code), (off_t)before.rip) <= 0)
		return complain("unreadable", &before);
	if (!cp_step_prepare(decoder, code, sizeof(code), before.rip, slot, slot_code, &step))
		return complain("refused", &before);
	if (pwrite(displaced.mem, slot_code, sizeof(slot_code), (off_t)slot) != CP_SLOT_SIZE)
		return complain("slot can't be written", &before);
	if (!single_step(&native))
		return complain("step", &before);
	if (is_behind_cpuid(&before, code))
		return true;
	if (!is_destination(&step, &before))
		return complain("destination", &before);
	if (step.how == CP_STEP_FREE && !run_free(&before, code))
		return complain("endbr64", &before);
	/* endbr64's slot is for when nobody steps over it: judged just as well */
	if (step.how == CP_STEP_FREE)
		displaced.regs = before;
	if (!run_slot(&step, slot, &before))
		return false;
	slots++;
	if (!same_regs(&native.regs, &displaced.regs))
		return complain("registers", &before);
	if (!same_xstate(native.xstate, displaced.xstate))
		return complain("floating-point state", &before);
	return true;
}

/* ---- memory ---- */

/* Calls `visit` for each mapping that they can write; adds up what it returns. */
static unsigned for_mappings(unsigned (*visit)(uint64_t from, size_t size))
{
	unsigned long from, to;
	unsigned count = 0;
	char path[64], line[512], access[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)native.pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && access[1] == 'w' &&
		    access[2] != 'x' && to - from <= MAPPING_MAX)
			count += visit(from, (size_t)(to - from));
	}
	if (maps)
		fclose(maps);
	return count;
}

static unsigned copy_mapping(uint64_t from, size_t size)
{
	uint8_t *bytes = malloc(size);
	bool good = bytes && pread(native.mem, bytes, size, (off_t)from) == (ssize_t)size &&
		    pwrite(displaced.mem, bytes, size, (off_t)from) == (ssize_t)size;

	free(bytes);
	return good;
}

static unsigned compare_mapping(uint64_t from, size_t size)
{
	uint8_t *a = malloc(size), *b = malloc(size);
	unsigned count = 0;
	size_t i;

	if (a && b && pread(native.mem, a, size, (off_t)from) == (ssize_t)size &&
	    pread(displaced.mem, b, size, (off_t)from) == (ssize_t)size) {
		for (i = 0; i < size; i++) {
			if (a[i] != b[i] && count++ < 5)
				fprintf(stderr, "memory at %" PRIx64 ": %x and %x\n", from + i,
					a[i], b[i]);
		}
	}
	free(a);
	free(b);
	return count;
}

/* Both at the start of the work, in the same state: what they did before,
 * knowing their own pids, is made the same. */
static bool begin(void)
{
	struct side *sides[] = { &native, &displaced };
	struct iovec xstate = { native.xstate, 0 };
	unsigned i, n;

	for (i = 0; i < 2; i++) {
		for (n = 0; sides[i]->regs.rip != (uint64_t)(uintptr_t)work; n++) {
			if (n == 10000 || !single_step(sides[i]))
				return false;
		}
	}
	if (for_mappings(copy_mapping) < 3)
		return false;
	xstate.iov_len = native.xstate_size;
	displaced.regs = native.regs;
	return ptrace(PTRACE_SETREGS, displaced.pid, NULL, &native.regs) == 0 &&
	       ptrace(PTRACE_SETREGSET, displaced.pid, (void *)NT_X86_XSTATE, &xstate) == 0;
}

int main(void)
{
	bool good;

	decoder = cp_decoder_create(&cp_arch_x86_64);
	stay_on_cpu();
	work(); /* what is bound lazily is bound now */
	areas[0] = map_near((uint64_t)(uintptr_t)main);
	areas[1] = map_near((uint64_t)(uintptr_t)qsort);
	if (!decoder || !areas[0] || !areas[1] || !start(&native) || !start(&displaced))
		SKIP("can't trace a child");
	good = get(&native) && get(&displaced) && begin();
	while (good && native.regs.rip != (uint64_t)(uintptr_t)the_end && steps < STEPS_MAX) {
		good = one();
		steps++;
	}
	CHECK(good);
	CHECK(steps < STEPS_MAX && frees > 0 && unslotted > 0 && detours > 0);
	CHECK_U64(for_mappings(compare_mapping), 0);
	printf("%lu instructions, %lu from slots, %lu free, %lu looks inside of slots\n", steps,
	       slots, frees, unslotted);
	stop(&native);
	stop(&displaced);
	cp_decoder_destroy(decoder);
	TEST_MAIN_END;
}
