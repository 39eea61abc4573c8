/* SPDX-License-Identifier: MIT
 *
 * A signal frame of ours leads a thread back with all its registers, the long vectors
 * among them, as the kernel reads it, and into the call that it slept in.
 */
#include "test.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"

#define ROOM 20480u

struct shared {
	atomic_int ready, go;
};

/* Naps, which nobody interrupts; their number is in `ready`. */
static int nap(struct shared *s)
{
	const struct timespec time = { 0, 5000000 };

	while (!s->go) {
		if (nanosleep(&time, NULL))
			return errno;
		s->ready++;
	}
	return 0;
}

__asm__(".text\n"
	".type restore, @function\n"
	"restore:\n"
	"	mov $15, %eax\n" /* rt_sigreturn */
	"	syscall\n"
	"	.size restore, . - restore\n");
extern const char restore[];

/* Fills vectors, waits, and compares: the number of the first that differs, or 0. */
__attribute__((target("avx"), noinline)) static int hold_avx(struct shared *s)
{
	static const uint8_t put[32] = "thirty-two bytes that must stay";
	static uint8_t got[3][32];

	__asm__ volatile("vmovdqu %[put], %%ymm0\n"
			 "vmovdqu %[put], %%ymm8\n"
			 "vmovdqu %[put], %%ymm15\n"
			 "movl $1, (%[ready])\n"
			 "1: pause\n"
			 "cmpl $0, (%[go])\n"
			 "je 1b\n"
			 "vmovdqu %%ymm0, (%[got])\n"
			 "vmovdqu %%ymm8, 32(%[got])\n"
			 "vmovdqu %%ymm15, 64(%[got])\n"
			 "vzeroupper\n"
			 :
			 : [put] "m"(put), [ready] "r"(&s->ready), [go] "r"(&s->go), [got] "r"(got)
			 : "memory", "xmm0", "xmm8", "xmm15");
	for (int i = 0; i < 3; i++)
		if (memcmp(got[i], put, 32))
			return i + 1;
	return 0;
}

/* And of AVX-512 the masks, and what is above the first sixteen vectors. */
__attribute__((target("avx512f"), noinline)) static int hold_avx512(struct shared *s)
{
	static const uint8_t put[64] =
		"sixty-four bytes that must stay as they are, whatever comes here";
	static uint8_t got[2][64];
	uint16_t mask;

	__asm__ volatile("vmovdqu64 %[put], %%zmm3\n"
			 "vmovdqu64 %[put], %%zmm31\n"
			 "mov $0x5a5a, %%eax\n"
			 "kmovw %%eax, %%k3\n"
			 "movl $1, (%[ready])\n"
			 "1: pause\n"
			 "cmpl $0, (%[go])\n"
			 "je 1b\n"
			 "vmovdqu64 %%zmm3, (%[got])\n"
			 "vmovdqu64 %%zmm31, 64(%[got])\n"
			 "kmovw %%k3, %%eax\n"
			 "vzeroupper\n"
			 : "=&a"(mask)
			 : [put] "m"(put), [ready] "r"(&s->ready), [go] "r"(&s->go), [got] "r"(got)
			 : "memory", "xmm3", "xmm31", "k3");
	return memcmp(got[0], put, 64) ? 1 : memcmp(got[1], put, 64) ? 2 : mask != 0x5a5a ? 3 : 0;
}

static void lead_back(pid_t pid)
{
	static uint64_t prstatus[64];
	static uint8_t xstate[ROOM], frame[ROOM];
	struct iovec regs = { prstatus, sizeof(prstatus) }, vectors = { xstate, sizeof(xstate) };
	struct cp_syscall_state state;
	uint64_t sp = 0;
	size_t size;

	CHECK(!ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &regs));
	CHECK(!ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &vectors));
	cp_arch_syscall_state(prstatus, &state);
	size = cp_arch_signal_frame(prstatus, xstate, vectors.iov_len, 0, (uintptr_t)restore,
				    state.sp - 128, frame, sizeof(frame), &sp);
	CHECK(size > 0);

	struct iovec from = { frame, size }, to = { (void *)(uintptr_t)sp, size };

	CHECK_U64((uint64_t)process_vm_writev(pid, &from, 1, &to, 1, 0), size);
	cp_arch_syscall_over(prstatus);
	cp_arch_set_sp(prstatus, sp + 8);
	cp_arch_set_pc(prstatus, (uintptr_t)restore);
	CHECK(!ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &regs));
	/* What the frame has not is not in the registers by chance. */
	memset(xstate, 0, 416);
	memset(xstate + 512, 0, vectors.iov_len - 512);
	CHECK(!ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &vectors));
}

/* In the middle of a nap. */
static void stop_in_nap(pid_t pid)
{
	static uint64_t prstatus[64];
	struct iovec regs = { prstatus, sizeof(prstatus) };
	struct cp_syscall_state state = { 0 };
	int status;

	CHECK(!ptrace(PTRACE_SEIZE, pid, 0, 0));
	while (state.result != -516) { /* -ERESTART_RESTARTBLOCK */
		CHECK(!ptrace(PTRACE_INTERRUPT, pid, 0, 0));
		CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
		CHECK(!ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &regs));
		cp_arch_syscall_state(prstatus, &state);
		if (state.result != -516)
			CHECK(!ptrace(PTRACE_CONT, pid, 0, 0));
	}
}

static void test_nap(void)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();
	int status, naps;

	if (!pid)
		_exit(nap(s));
	while (!s->ready)
		;
	stop_in_nap(pid);
	naps = s->ready;
	lead_back(pid);
	CHECK(!ptrace(PTRACE_DETACH, pid, 0, 0));
	while (s->ready < naps + 2 && kill(pid, 0) == 0 && !waitpid(pid, &status, WNOHANG))
		;
	CHECK(s->ready >= naps + 2);
	s->go = 1;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_U64((uint64_t)status, 0);
	munmap(s, sizeof(*s));
}

static void test_hold(const char *what, int (*hold)(struct shared *s))
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(hold(s));
	while (!s->ready)
		;
	CHECK(!ptrace(PTRACE_SEIZE, pid, 0, 0) && !ptrace(PTRACE_INTERRUPT, pid, 0, 0));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	lead_back(pid);
	CHECK(!ptrace(PTRACE_DETACH, pid, 0, 0));
	s->go = 1;
	CHECK(waitpid(pid, &status, 0) == pid);
	fprintf(stderr, "%s: status %#x\n", what, (unsigned)status);
	CHECK_U64((uint64_t)status, 0);
	munmap(s, sizeof(*s));
}

int main(void)
{
	test_nap();
	if (__builtin_cpu_supports("avx"))
		test_hold("avx", hold_avx);
	if (__builtin_cpu_supports("avx512f"))
		test_hold("avx512", hold_avx512);
	TEST_MAIN_END;
}
