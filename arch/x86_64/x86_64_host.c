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
