/* SPDX-License-Identifier: MIT
 *
 * Functions that end with a jump to where a register or memory says, in each way that
 * an operand can be written; one of them reads what can't be read at first.
 */
#include "tracee.h"

#include <sys/mman.h>
#include <ucontext.h>

typedef long way(long n, void **to);

/* n is 0, 1 or 2; to[n + 1] and to[3] are places to go to. */
#define WAY(name, code) \
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n.p2align 4\n" #name \
		":\n.cfi_startproc\n" code "\n.cfi_endproc\n.size " #name ", . - " #name "\n"); \
	way name

WAY(by_base, "lea 1(%rdi),%rdi\n	jmp *24(%rsi)");
WAY(by_index, "lea 1(%rdi),%rdi\n	jmp *(%rsi,%rdi,8)");
WAY(by_saved, "lea 8(%rsi),%rcx\n	mov %rdi,%rax\n	inc %rdi\n	jmp *(%rcx,%rax,8)");
WAY(by_saved_too, "mov %rsi,%rdx\n	lea 1(%rdi,%rdi),%rcx\n	inc %rdi\n	jmp "
		  "*4(%rdx,%rcx,4)");
WAY(by_scaled, "mov %rsi,%rax\n	shr $3,%rax\n	inc %rdi\n	jmp *24(,%rax,8)");
WAY(by_stack, "mov 24(%rsi),%rax\n	mov %rax,-16(%rsp)\n	inc %rdi\n	jmp *-16(%rsp)");
WAY(by_high, "lea 16(%rsi),%r13\n	mov %rdi,%r12\n	inc %rdi\n"
	     "	jmp *-8(%r13,%r12,8)");
WAY(by_register, "mov 24(%rsi),%rdx\n	inc %rdi\n	jmp *%rdx");
WAY(by_place, "add $1,%rdi\n	jmp *somewhere(%rip)");
WAY(at_once, "jmp *somewhere(%rip)");
/* Before its jump r11 holds what nothing else does. */
WAY(by_bad, "mov $0x5ad,%r11d\n	lea 1(%rdi),%rdi\nby_bad_jump:	jmp *24(%rsi)");

extern const char by_bad_jump[];

NOIPA long first(long n, void **to);
NOIPA long first(long n, void **to)
{
	return n + 10 + (to == NULL);
}

NOIPA long second(long n, void **to);
NOIPA long second(long n, void **to)
{
	return n + 20 + (to == NULL);
}

/* by_high() changes what a function has to keep. */
NOIPA long keeping(way *call, long n, void **to);
NOIPA long keeping(way *call, long n, void **to)
{
	long result = call(n, to);

	__asm__ volatile("" ::: "r12", "r13", "memory");
	return result;
}

void *somewhere = (void *)second;
static void **page;
static volatile int faults;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	faults++;
	if (info->si_addr != (void *)(page + 3) ||
	    regs[REG_RIP] != (greg_t)(uintptr_t)by_bad_jump || regs[REG_R11] != 0x5ad ||
	    regs[REG_RSI] != (greg_t)(uintptr_t)page)
		_exit(3);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static long all(void **to)
{
	static way *const ways[] = { by_base,  by_index, by_saved,    by_saved_too, by_scaled,
				     by_stack, by_high,	 by_register, by_place,	    at_once };
	long sum = 0, n;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (n = 0; n < 3; n++) {
			to[n + 1] = i % 2 ? (void *)first : (void *)second;
			to[3] = n ? (void *)second : (void *)first;
			sum += keeping(ways[i], n, to);
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	void *to[4] = { NULL };

	tracee_begin("tails", argc, argv, (struct tracee_options){ .rounds = 20, .mode = "plain" });
	sigaction(SIGSEGV, &action, NULL);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED, "no memory");
	page[3] = (void *)first;
	while (tracee_more()) {
		long sum = all(to), bad;

		CHECK(sum == 577, "sum %ld", sum);
		if (!strcmp(opt.mode, "faults")) {
			mprotect(page, 4096, PROT_NONE);
			bad = by_bad(5, page);
			CHECK(bad == 16 && faults == tracee_round, "%ld, %d", bad, faults);
		}
	}
	return tracee_ok("the same jumps");
}
