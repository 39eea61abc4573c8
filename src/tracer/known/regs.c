/* SPDX-License-Identifier: MIT
 *
 * The general registers of a stopped thread, as the kernel has them.
 */
#include "tracer/known/regs.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "arch/arch.h"

bool regs_read(pid_t tid, void *to)
{
	struct iovec v = { to, cp_arch_prstatus_size() };

	/* A program of another word size has another set: left alone. */
	return !ptrace(PTRACE_GETREGSET, tid, (long)NT_PRSTATUS, &v) &&
	       v.iov_len == cp_arch_prstatus_size();
}

bool regs_write(pid_t tid, void *from)
{
	struct iovec v = { from, cp_arch_prstatus_size() };

	return !ptrace(PTRACE_SETREGSET, tid, (long)NT_PRSTATUS, &v);
}

bool regs_write_pc(pid_t tid, void *regs, uint64_t pc)
{
	long at = cp_arch_pc_in_user();

	cp_arch_set_pc(regs, pc);
	return at < 0 ? regs_write(tid, regs) : !ptrace(PTRACE_POKEUSER, tid, at, (long)pc);
}
