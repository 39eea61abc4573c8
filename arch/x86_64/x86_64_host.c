/* SPDX-License-Identifier: MIT
 *
 * x86-64: what needs the machine's own headers.
 */
#include "arch/arch.h"

#include <elf.h>
#include <string.h>
#include <sys/user.h>

const struct cp_arch *cp_arch_host(void)
{
	return &cp_arch_x86_64;
}

size_t cp_arch_prstatus_size(void)
{
	return sizeof(struct user_regs_struct);
}

void cp_arch_regs_from_prstatus(const void *prstatus, struct cp_regs *ret)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	*ret = (struct cp_regs){
		.known = (UINT64_C(1) << 17) - 1,
		.r = { u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8, u.r9, u.r10,
		       u.r11, u.r12, u.r13, u.r14, u.r15, u.rip },
	};
}

int cp_arch_vector_note(void)
{
	return NT_X86_XSTATE;
}

uint64_t cp_arch_thread_pointer(const void *prstatus)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	return u.fs_base;
}

void cp_arch_syscall_state(const void *prstatus, struct cp_syscall_state *ret)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	*ret = (struct cp_syscall_state){
		.nr = (int64_t)u.orig_rax,
		.result = (int64_t)u.rax,
		.pc = u.rip,
		.sp = u.rsp,
	};
}

/* `syscall` is two bytes long. orig_rax stays as it is: with a positive rax
 * the kernel's own restart code leaves the registers alone. */
void cp_arch_syscall_rewind(void *prstatus, int64_t nr)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	u.rax = (uint64_t)nr;
	u.rip -= 2;
	memcpy(prstatus, &u, sizeof(u));
}

void cp_arch_syscall_unrewind(void *prstatus, int64_t result)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	u.rax = (uint64_t)result;
	u.rip += 2;
	memcpy(prstatus, &u, sizeof(u));
}

void cp_arch_regs_to_prstatus(const struct cp_regs *regs, void *prstatus)
{
	const uint64_t *r = regs->r;
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	u.rax = r[0], u.rdx = r[1], u.rcx = r[2], u.rbx = r[3], u.rsi = r[4], u.rdi = r[5];
	u.rbp = r[6], u.rsp = r[7], u.r8 = r[8], u.r9 = r[9], u.r10 = r[10], u.r11 = r[11];
	u.r12 = r[12], u.r13 = r[13], u.r14 = r[14], u.r15 = r[15], u.rip = r[16];
	memcpy(prstatus, &u, sizeof(u));
}

void cp_arch_set_pc(void *prstatus, uint64_t pc)
{
	memcpy((uint8_t *)prstatus + offsetof(struct user_regs_struct, rip), &pc, sizeof(pc));
}

uint64_t cp_arch_flags(const void *prstatus)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	return u.eflags;
}

const uint8_t *cp_arch_syscall_code(size_t *size_ret)
{
	static const uint8_t code[] = { 0x0f, 0x05 };

	*size_ret = sizeof(code);
	return code;
}

/* orig_rax -1: what the thread was doing in the kernel before, if anything, is
 * not to be started again yet. */
void cp_arch_syscall_make(void *prstatus, uint64_t pc, int64_t nr, const uint64_t args[6])
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	u.orig_rax = (unsigned long long)-1;
	u.rip = pc;
	u.rax = (uint64_t)nr;
	u.rdi = args[0], u.rsi = args[1], u.rdx = args[2];
	u.r10 = args[3], u.r8 = args[4], u.r9 = args[5];
	memcpy(prstatus, &u, sizeof(u));
}

int cp_arch_fp_note(void)
{
	return NT_PRFPREG;
}

void cp_arch_fp_values(const void *fp, size_t size, uint8_t vector[8][16], uint8_t x87[2][16])
{
	struct user_fpregs_struct u;

	memset(vector, 0, 8 * sizeof(vector[0]));
	memset(x87, 0, 2 * sizeof(x87[0]));
	if (size < sizeof(u))
		return;
	memcpy(&u, fp, sizeof(u));
	memcpy(vector, u.xmm_space, 8 * sizeof(vector[0]));
	memcpy(x87[0], u.st_space, 10);
	memcpy(x87[1], (const uint8_t *)u.st_space + 16, 10);
}
