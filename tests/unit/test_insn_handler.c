/* SPDX-License-Identifier: MIT
 *
 * The handler that stays in the program. This process puts breakpoints on
 * every instruction of functions of its own, with nobody tracing it, and has
 * to get the results that it got without them.
 */
#include "test.h"

#include "arch/insn.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define AREA_SIZE (1u << 20)
#define SITES_MAX 4096
#define THREADS 4
#define KERNEL_RESTORER 0x04000000

/* Executed with breakpoints; of its own section, to know where it ends. */
#define PROBED __attribute__((section("probed"), noinline, no_sanitize("all")))

extern const uint8_t __start_probed[], __stop_probed[];
void insn_forms(long *counters);

struct kernel_sigaction {
	uint64_t handler, flags, restorer, mask;
};

static struct cp_decoder *decoder;
static uint8_t *area;
static struct cp_area_header *header;
static struct cp_area_entry entries[SITES_MAX];
static size_t entry_count, refused;

/* ---- what is executed ---- */

static volatile long table[64];
static atomic_ulong signals;
static atomic_uint finished;

PROBED static long leaf(long x)
{
	return x * 7 + table[x & 63];
}

PROBED static long recursive(long n)
{
	return n < 2 ? leaf(n) : recursive(n - 1) ^ (recursive(n - 2) + n);
}

PROBED static long choose(long x)
{
	switch (x % 11) {
	case 0:
		return leaf(x);
	case 1:
		return x + 3;
	case 2:
		return -x;
	case 3:
		return leaf(-x & 31);
	case 4:
		return x << 3;
	case 5:
		return table[5];
	case 7:
		return leaf(x + 1);
	default:
		return recursive(x & 7);
	}
}

PROBED static long probed_work(long seed)
{
	long (*const volatile pick[])(long) = { leaf, choose, recursive };
	long sum = seed, i;

	for (i = 0; i < 200; i++)
		sum = sum * 31 + pick[i % 3](i % 9);
	return sum;
}

PROBED static void count_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&signals, (unsigned long)(leaf(3) - leaf(3) + 1));
}

PROBED static long raw(long nr, long a, long b, long c)
{
	__asm__ volatile("syscall" : "+a"(nr) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return nr;
}

/* ---- breakpoints ---- */

static bool writable_text(const uint8_t *from, const uint8_t *to)
{
	uintptr_t page = (uintptr_t)from & ~(uintptr_t)4095;

	return mprotect((void *)page, (size_t)((uintptr_t)to - page),
			PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

/* A slot and an entry for each instruction in [from, to). */
static void prepare(const uint8_t *from, const uint8_t *to)
{
	const uint8_t *at;
	struct cp_insn insn;
	struct cp_step step;

	for (at = from; at < to; at += insn.size) {
		uint64_t pc = (uint64_t)(uintptr_t)at;
		uint8_t *slot = area + (header->slots - (uint64_t)(uintptr_t)area) +
				entry_count * CP_SLOT_SIZE;

		if (!cp_decode(decoder, at, (size_t)(to - at), pc, &insn) ||
		    entry_count == SITES_MAX)
			return;
		if (!cp_step_prepare(decoder, at, (size_t)(to - at), pc, (uint64_t)(uintptr_t)slot,
				     slot, &step)) {
			refused++; /* ud2 */
			continue;
		}
		entries[entry_count] = (struct cp_area_entry){ .site = pc,
							       .slot = (uint32_t)entry_count,
							       .original = { *at } };
		entry_count++;
	}
}

static int by_site(const void *a, const void *b)
{
	uint64_t x = ((const struct cp_area_entry *)a)->site;
	uint64_t y = ((const struct cp_area_entry *)b)->site;

	return x < y ? -1 : x > y;
}

static void arm(bool armed)
{
	size_t i;

	for (i = 0; i < entry_count; i++) {
		uint8_t *site = (uint8_t *)(uintptr_t)entries[i].site;

		*site = armed ? 0xcc : entries[i].original[0];
	}
}

/* Header, table, handler, slots, as the tracer lays them out. */
static bool make_area(void)
{
	uintptr_t hint = ((uintptr_t)__start_probed & ~(uintptr_t)0xfffff) + (64u << 20);
	size_t size, entry, restorer, word;
	const uint8_t *code = cp_trap_handler(&cp_arch_x86_64, &size, &entry, &restorer, &word);
	struct kernel_sigaction action;
	uint64_t here;
	uint8_t *handler;

	area = mmap((void *)hint, AREA_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return false;
	here = (uint64_t)(uintptr_t)area;
	handler = area + sizeof(*header) + sizeof(entries);
	memcpy(handler, code, size);
	memcpy(handler + word, &here, 8);
	header = (struct cp_area_header *)(void *)area;
	*header = (struct cp_area_header){
		.magic = CP_AREA_MAGIC,
		.size = AREA_SIZE,
		.table = here + sizeof(*header),
		.slots = here + (AREA_SIZE / 2),
		.handler = (uint64_t)(uintptr_t)(handler + entry),
	};
	action = (struct kernel_sigaction){
		.handler = header->handler,
		.flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | KERNEL_RESTORER,
		.restorer = (uint64_t)(uintptr_t)(handler + restorer),
	};
	return syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, 8) == 0;
}

/* A second area holds the table, so that the list is followed. */
static bool fill_areas(const uint8_t *forms_end)
{
	struct cp_area_header *second;

	prepare((const uint8_t *)(uintptr_t)insn_forms, forms_end);
	prepare(__start_probed, __stop_probed);
	qsort(entries, entry_count, sizeof(entries[0]), by_site);
	memcpy(area + sizeof(*header), entries, entry_count * sizeof(entries[0]));
	second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (second == MAP_FAILED)
		return false;
	*second = *header;
	second->size = 4096;
	second->count = entry_count;
	header->count = entry_count / 3;
	header->next = (uint64_t)(uintptr_t)second;
	return writable_text(__start_probed, __stop_probed) &&
	       writable_text((const uint8_t *)(uintptr_t)insn_forms, forms_end);
}

/* ---- judging ---- */

static void test_forms(void)
{
	long native[4] = { 0 }, displaced[4] = { 0 };

	insn_forms(native);
	arm(true);
	insn_forms(displaced);
	arm(false);
	CHECK(native[0] && native[1] && native[2]);
	CHECK(!memcmp(native, displaced, sizeof(native)));
}

static const uint8_t *slot_of(const struct cp_area_entry *entry)
{
	return (const uint8_t *)(uintptr_t)header->slots + (size_t)entry->slot * CP_SLOT_SIZE;
}

/* Every slot is entered by its detour: another trap, which is the handler's too. */
static void test_detours(void)
{
	long native[4] = { 0 }, displaced[4] = { 0 };
	struct cp_area_header *second = (struct cp_area_header *)(uintptr_t)header->next;
	unsigned offset = 0;
	size_t i, count = 0;

	insn_forms(native);
	for (i = 0; i < entry_count; i++) {
		unsigned here = cp_slot_detour(&cp_arch_x86_64, slot_of(&entries[i]));

		if (here)
			*(uint8_t *)(uintptr_t)entries[i].site = 0xcc;
		CHECK(!here || !offset || here == offset);
		offset = here ? here : offset;
		count += here != 0;
	}
	CHECK(count > entry_count * 9 / 10);
	header->slots += offset;
	second->slots += offset;
	insn_forms(displaced);
	header->slots -= offset;
	second->slots -= offset;
	arm(false);
	CHECK(!memcmp(native, displaced, sizeof(native)));
}

static void *thread_work(void *arg)
{
	long *result = arg;

	*result = probed_work(*result);
	atomic_fetch_add(&finished, 1);
	return NULL;
}

/* Signals arrive all the time; their handler has breakpoints, too. */
static void test_threads(void)
{
	pthread_t threads[THREADS];
	long want[THREADS], got[THREADS];
	unsigned i;

	signal(SIGUSR1, count_signal);
	for (i = 0; i < THREADS; i++) {
		got[i] = (long)i;
		want[i] = probed_work((long)i);
	}
	arm(true);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, thread_work, &got[i]) == 0);
	while (atomic_load(&finished) < THREADS) {
		for (i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
		sched_yield();
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	arm(false);
	CHECK(!memcmp(want, got, sizeof(want)));
	CHECK(atomic_load(&signals) > 0);
	printf("%zu breakpoints, %lu signals\n", entry_count, atomic_load(&signals));
}

static int pipe_ends[2];
static atomic_bool reading;

static void *read_byte(void *arg)
{
	char byte = 0;

	atomic_store(&reading, true);
	*(long *)arg = raw(SYS_read, pipe_ends[0], (long)(uintptr_t)&byte, 1) * 1000 + byte;
	return NULL;
}

/* A read that a signal interrupts begins again in its slot; a child begins
 * to live in one. */
static void test_system_calls(void)
{
	unsigned long before = atomic_load(&signals);
	pthread_t thread;
	int status = 0;
	long got = 0;
	pid_t pid;

	CHECK(pipe(pipe_ends) == 0);
	arm(true);
	CHECK(pthread_create(&thread, NULL, read_byte, &got) == 0);
	while (!atomic_load(&reading) || atomic_load(&signals) < before + 50) {
		pthread_kill(thread, SIGUSR1);
		sched_yield();
	}
	CHECK(write(pipe_ends[1], "x", 1) == 1);
	pthread_join(thread, NULL);
	pid = (pid_t)raw(SYS_fork, 0, 0, 0);
	if (pid == 0)
		raw(SYS_exit_group, leaf(0) == table[0] ? 5 : 6, 0, 0);
	arm(false);
	CHECK_U64((uint64_t)got, 1000 + 'x');
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

static volatile int own_code, own_count;
static volatile uint64_t own_pc;

static void own_handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	own_count += sig == SIGTRAP;
	own_code = info->si_code;
	own_pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}

static void test_chain(void)
{
	uint64_t behind;

	header->old_handler = (uint64_t)(uintptr_t)own_handler;
	__asm__ volatile("lea 1f(%%rip), %0; int3; 1:" : "=r"(behind));
	CHECK(own_count == 1 && own_code == SI_KERNEL);
	CHECK_U64(own_pc, behind);
	raise(SIGTRAP);
	CHECK(own_count == 2 && own_code == SI_TKILL);
	/* A stray trap inside of the area is nobody's. */
	memcpy(area + AREA_SIZE - 16, "\xcc\xc3", 2);
	((void (*)(void))(uintptr_t)(area + AREA_SIZE - 16))();
	CHECK(own_count == 2);
	header->old_handler = 0;
}

static volatile uintptr_t frame_at;
static volatile long double saved;

static void note_frame(int sig)
{
	(void)sig;
	frame_at = (uintptr_t)__builtin_frame_address(0);
	saved *= 3; /* other registers than those that were interrupted */
}

/* Where it runs by itself, and behind ours; the registers are what they were. */
PROBED static uintptr_t frame_of(long double x)
{
	long double sum = saved + x;

	__asm__ volatile("int3" : "+t"(sum));
	CHECK(sum == saved / 3 + x);
	return frame_at;
}

/* The frame is where the kernel would have it, had it the program's flags. */
static void test_stacks(void)
{
	static char stack[64 << 10];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction ours, own = { .sa_handler = note_frame };
	uintptr_t native;
	unsigned i;

	CHECK(sigaltstack(&alternate, NULL) == 0);
	for (i = 0; i < 2; i++) {
		own.sa_flags = i ? SA_ONSTACK : 0;
		saved = 5;
		sigaction(SIGTRAP, &own, &ours);
		native = frame_of(7);
		sigaction(SIGTRAP, &ours, NULL);
		header->old_handler = (uint64_t)(uintptr_t)note_frame;
		header->old_flags = (uint64_t)own.sa_flags;
		CHECK_U64(frame_of(7), native);
		CHECK((native - (uintptr_t)stack < sizeof(stack)) == (i == 1));
	}
	header->old_handler = header->old_flags = 0;
}

static int child(uint64_t old_handler, bool by_signal)
{
	int status = 0;
	pid_t pid;

	header->old_handler = old_handler;
	pid = fork();
	if (pid == 0) {
		if (by_signal)
			raise(SIGTRAP);
		else
			__asm__ volatile("int3");
		_exit(7);
	}
	header->old_handler = 0;
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static bool died_by_trap(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP;
}

static void test_dispositions(void)
{
	int status;

	CHECK(died_by_trap(child((uint64_t)(uintptr_t)SIG_DFL, false)));
	CHECK(died_by_trap(child((uint64_t)(uintptr_t)SIG_DFL, true)));
	CHECK(died_by_trap(child((uint64_t)(uintptr_t)SIG_IGN, false)));
	status = child((uint64_t)(uintptr_t)SIG_IGN, true);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* To whom it is blocked it does not come, be it handled or the program's end. */
static void test_blocked(void)
{
	int status, before = own_count;
	sigset_t stand_in;

	sigemptyset(&stand_in);
	sigaddset(&stand_in, SIGSTKFLT);
	sigprocmask(SIG_BLOCK, &stand_in, NULL);
	header->old_handler = (uint64_t)(uintptr_t)own_handler;
	raise(SIGTRAP);
	CHECK(own_count == before);
	status = child((uint64_t)(uintptr_t)SIG_DFL, true);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	sigprocmask(SIG_UNBLOCK, &stand_in, NULL);
	header->old_handler = (uint64_t)(uintptr_t)own_handler;
	raise(SIGTRAP);
	CHECK(own_count == before + 1);
	header->old_handler = 0;
}

/* The restorer is known to unwinders. */
static void test_restorer(void)
{
	size_t size, entry, restorer, word;
	const uint8_t *code = cp_trap_handler(&cp_arch_x86_64, &size, &entry, &restorer, &word);

	CHECK(cp_arch_x86_64.is_sigreturn(code + restorer, size - restorer));
	CHECK(word % 8 == 0 && entry < size);
	CHECK(!cp_trap_handler(&cp_arch_aarch64, &size, &entry, &restorer, &word));
}

extern const uint8_t insn_forms_end[];

int main(void)
{
	decoder = cp_decoder_create(&cp_arch_x86_64);
	if (!decoder || !make_area() || !fill_areas(insn_forms_end))
		SKIP("no memory that can be written and executed");
	CHECK(entry_count > 300 && entry_count < SITES_MAX);
	CHECK(refused > 5 && refused < 30);
	test_restorer();
	test_forms();
	test_detours();
	test_threads();
	test_system_calls();
	test_chain();
	test_stacks();
	test_dispositions();
	test_blocked();
	cp_decoder_destroy(decoder);
	TEST_MAIN_END;
}
