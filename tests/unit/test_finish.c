/* SPDX-License-Identifier: MIT
 *
 * The code that finishes a transfer, executed one instruction after the other
 * by a child. At each of them cp_finish_leave() has to say what the processor
 * comes to, or, before the call, what there would be without it.
 */
#include "test.h"

#include "arch/finish.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>

#define PAGE 4096
#define DONE 1000
#define EARLY 4444
#define STEPS 64

static uint8_t *code; /* and a page behind it the record */
static uint8_t landing[PAGE] __attribute__((aligned(PAGE)));
static uint64_t ret;

static struct cp_finish_record *record_of(uint8_t *area)
{
	return (struct cp_finish_record *)(void *)(area + PAGE);
}

static void get_regs(pid_t pid, uint64_t *prstatus)
{
	struct iovec v = { prstatus, cp_arch_prstatus_size() };

	CHECK(!ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v));
}

static void set_regs(pid_t pid, uint64_t *prstatus)
{
	struct iovec v = { prstatus, cp_arch_prstatus_size() };

	CHECK(!ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v));
}

static uint64_t pc_of(const uint64_t *prstatus)
{
	struct cp_syscall_state s;

	cp_arch_syscall_state(prstatus, &s);
	return s.pc;
}

/* r11 holds flags after a system call, and nobody relies on it. */
static bool same_regs(const struct cp_regs *a, const struct cp_regs *b)
{
	unsigned i;

	for (i = 0; i <= cp_arch_host()->pc; i++)
		if (i != 11 && a->r[i] != b->r[i]) {
			fprintf(stderr, "register %u: %" PRIx64 ", %" PRIx64 "\n", i, a->r[i],
				b->r[i]);
			return false;
		}
	return true;
}

/* Sets what the call came to, if it just did. */
static void force_result(pid_t pid, struct cp_regs *regs, int64_t raw)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t prstatus[64];
	int64_t result;

	if (!cp_finish_called(arch, (unsigned)(regs->r[arch->pc] - (uintptr_t)code), regs, &result))
		return;
	regs->r[arch->result] = (uint64_t)raw;
	get_regs(pid, prstatus);
	cp_arch_regs_to_prstatus(regs, prstatus);
	set_regs(pid, prstatus);
}

/* Steps through; `raw` is what the call comes to, or, at -EINTR and with `tell`, seems to. Returns how
 * often it told. */
static unsigned walk(pid_t pid, int64_t nr, const uint64_t args[6], const uint64_t own[6],
		     int64_t raw, uint64_t mask, int tell)
{
	struct cp_regs at[STEPS], left;
	uint64_t prstatus[64], expected = DONE + ((uint64_t)raw & (raw > 0 ? UINT64_MAX : mask));
	struct cp_finish_record *r = record_of(code), seen[STEPS];
	const struct cp_arch *arch = cp_arch_host();
	int64_t result = 0;
	int status, n = 0, i;
	unsigned told = 0;
	bool called = false;

	*r = (struct cp_finish_record){ .busy = 1,
					.done = DONE,
					.mask = mask,
					.ret = ret,
					.nr = nr,
					.early = EARLY,
					.tell = (uint64_t)tell };
	memcpy(r->args, own, sizeof(r->args));
	get_regs(pid, prstatus);
	cp_arch_syscall_make(prstatus, (uintptr_t)code, nr, args);
	set_regs(pid, prstatus);
	do {
		get_regs(pid, prstatus);
		cp_arch_regs_from_prstatus(prstatus, &at[n]);
		if (tell || raw == -EINTR)
			force_result(pid, &at[n], raw);
		seen[n++] = *r;
		if (pc_of(prstatus) == ret)
			break;
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, 0, 0));
		CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
		if (tell && WSTOPSIG(status) == tell) { /* not the step's: that comes next */
			get_regs(pid, prstatus);
			CHECK(cp_finish_told(arch, (unsigned)(pc_of(prstatus) - (uintptr_t)code)));
			told++;
		}
	} while (n < STEPS);
	CHECK(n > 10 && n < STEPS);
	CHECK_U64(at[n - 1].r[arch->result], expected);
	CHECK_U64(r->busy, 0);
	for (i = 0; i < n - 1; i++) {
		unsigned offset = (unsigned)(at[i].r[arch->pc] - (uintptr_t)code);
		/* The last instruction needs nothing of a record any more. */
		struct cp_finish_record none = { .done = 1, .ret = 1 };

		if (cp_finish_called(arch, offset, &at[i], &result)) {
			called = true;
			CHECK_U64((uint64_t)result, (uint64_t)raw);
		}
		left = at[i];
		cp_finish_leave(arch, offset, seen[i].busy ? &seen[i] : &none, &left);
		if (!i) {
			CHECK_U64(left.r[arch->result], EARLY);
			left.r[arch->result] = expected;
		}
		if (!same_regs(&left, &at[n - 1]))
			fprintf(stderr, "at offset %u\n", offset);
		CHECK(same_regs(&left, &at[n - 1]));
	}
	CHECK(called);
	return told;
}

static pid_t start_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	return pid;
}

static void test_judged(void)
{
	const uint64_t own[6] = { 11, 12, 13, 14, 15, 16 };
	int pair[2];
	pid_t pid;

	CHECK(!pipe(pair));
	ret = (uintptr_t)landing;
	pid = start_child();
	walk(pid, SYS_write, (uint64_t[6]){ (uint64_t)pair[1], (uintptr_t)landing, 77, 4, 5, 6 },
	     own, 77, 0, 0);
	walk(pid, SYS_write, (uint64_t[6]){ 12345, (uintptr_t)landing, 77, 4, 5, 6 }, own, -EBADF,
	     0, 0);
	walk(pid, SYS_write, (uint64_t[6]){ (uint64_t)pair[1], (uintptr_t)landing, 0, 4, 5, 6 },
	     own, 0, 0, 0);
	walk(pid, SYS_write, (uint64_t[6]){ 12345, (uintptr_t)landing, 77, 4, 5, 6 }, own, -EBADF,
	     UINT64_MAX, 0);
	/* Ended by a signal that is not there any more: whoever traces is told of it, and
	 * after that, or where nobody is told, it has just ended so. */
	CHECK_U64(walk(pid, SYS_getppid, own, own, -EINTR, UINT64_MAX, SIGURG), 1);
	CHECK_U64(walk(pid, SYS_getppid, own, own, -EBADF, UINT64_MAX, SIGURG), 0);
	CHECK_U64(walk(pid, SYS_getppid, own, own, -EINTR, 0, SIGURG), 1);
	CHECK_U64(walk(pid, SYS_getppid, own, own, -EINTR, UINT64_MAX, 0), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_far(void)
{
	uint8_t to[CP_FINISH_CODE];

	CHECK(!cp_finish_code(&cp_arch_x86_64, 0x1000, UINT64_C(0x7f0000000000), to));
	CHECK(cp_finish_code(&cp_arch_x86_64, 0x7f0000000000, UINT64_C(0x7f0000009000), to) <=
	      CP_FINISH_CODE);
	CHECK(!cp_finish_code(&cp_arch_aarch64, 0x1000, 0x2000, to));
}

int main(void)
{
	size_t size;

	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	CHECK(code != MAP_FAILED);
	size = cp_finish_code(cp_arch_host(), (uintptr_t)code, (uintptr_t)code + PAGE, code);
	CHECK(size && size <= CP_FINISH_CODE);
	test_judged();
	test_far();
	TEST_MAIN_END;
}
