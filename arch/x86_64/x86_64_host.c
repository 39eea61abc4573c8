/* SPDX-License-Identifier: MIT
 *
 * x86-64: what needs the machine's own headers.
 */
#include "arch/arch.h"

#include <asm/perf_regs.h>
#include <asm/prctl.h>
#include <cpuid.h>
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

const struct cp_arch *cp_arch_host(void)
{
	return &cp_arch_x86_64;
}

bool cp_arch_ring_base_is_0(void)
{
	unsigned long gs = 1;

	return !syscall(SYS_arch_prctl, ARCH_GET_GS, &gs) && !gs;
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

/* The places in the register set of what perf_event_open() gives, by its numbers. */
static const uint16_t perf_places[] = {
	[PERF_REG_X86_AX] = offsetof(struct user_regs_struct, rax),
	[PERF_REG_X86_BX] = offsetof(struct user_regs_struct, rbx),
	[PERF_REG_X86_CX] = offsetof(struct user_regs_struct, rcx),
	[PERF_REG_X86_DX] = offsetof(struct user_regs_struct, rdx),
	[PERF_REG_X86_SI] = offsetof(struct user_regs_struct, rsi),
	[PERF_REG_X86_DI] = offsetof(struct user_regs_struct, rdi),
	[PERF_REG_X86_BP] = offsetof(struct user_regs_struct, rbp),
	[PERF_REG_X86_SP] = offsetof(struct user_regs_struct, rsp),
	[PERF_REG_X86_IP] = offsetof(struct user_regs_struct, rip),
	[PERF_REG_X86_FLAGS] = offsetof(struct user_regs_struct, eflags),
	[PERF_REG_X86_CS] = offsetof(struct user_regs_struct, cs),
	[PERF_REG_X86_SS] = offsetof(struct user_regs_struct, ss),
	[PERF_REG_X86_R8] = offsetof(struct user_regs_struct, r8),
	[PERF_REG_X86_R9] = offsetof(struct user_regs_struct, r9),
	[PERF_REG_X86_R10] = offsetof(struct user_regs_struct, r10),
	[PERF_REG_X86_R11] = offsetof(struct user_regs_struct, r11),
	[PERF_REG_X86_R12] = offsetof(struct user_regs_struct, r12),
	[PERF_REG_X86_R13] = offsetof(struct user_regs_struct, r13),
	[PERF_REG_X86_R14] = offsetof(struct user_regs_struct, r14),
	[PERF_REG_X86_R15] = offsetof(struct user_regs_struct, r15),
};

/* DS to GS lie in between; the kernel gives none of them. */
static bool perf_gives(size_t number)
{
	return number <= PERF_REG_X86_SS || number >= PERF_REG_X86_R8;
}

uint64_t cp_arch_perf_regs(void)
{
	uint64_t mask = 0;
	size_t i;

	for (i = 0; i < sizeof(perf_places) / sizeof(perf_places[0]); i++)
		mask |= perf_gives(i) ? UINT64_C(1) << i : 0;
	return mask;
}

void cp_arch_prstatus_from_perf(const uint64_t *values, void *prstatus)
{
	size_t i;

	memset(prstatus, 0, sizeof(struct user_regs_struct));
	for (i = 0; i < sizeof(perf_places) / sizeof(perf_places[0]); i++)
		if (perf_gives(i))
			memcpy((uint8_t *)prstatus + perf_places[i], values++, sizeof(*values));
	cp_arch_syscall_over(prstatus);
}

bool cp_arch_other_regs(const void *prstatus, uint64_t *ret, size_t room)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	const uint64_t others[] = { u.eflags, u.orig_rax, u.cs, u.ss,	   u.ds,
				    u.es,     u.fs,	  u.gs, u.fs_base, u.gs_base };

	if (room * sizeof(*ret) < sizeof(others))
		return false;
	memcpy(ret, others, sizeof(others));
	return true;
}

/* The FXSAVE area, with which the XSAVE area begins: SDM vol. 1, 10.5.1. */
bool cp_arch_vector_register(const char *name, size_t *offset_ret, size_t *size_ret)
{
	bool xmm = !strncmp(name, "xmm", 3);
	char *end;
	unsigned long n;

	if (!xmm && strncmp(name, "st", 2) != 0)
		return false;
	name += xmm ? 3 : 2;
	n = *name >= '0' && *name <= '9' ? strtoul(name, &end, 10) : 16;
	if (n >= (xmm ? 16 : 8) || *end)
		return false;
	*offset_ret = xmm ? 160 + 16 * n : 32 + 16 * n;
	*size_ret = xmm ? 16 : 10;
	return true;
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

void cp_arch_syscall_over(void *prstatus)
{
	const uint64_t none = UINT64_MAX;

	memcpy((uint8_t *)prstatus + offsetof(struct user_regs_struct, orig_rax), &none,
	       sizeof(none));
}

void cp_arch_syscall_args(const void *prstatus, uint64_t ret[6])
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	const uint64_t args[6] = { u.rdi, u.rsi, u.rdx, u.r10, u.r8, u.r9 };

	memcpy(ret, args, sizeof(args));
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

bool cp_arch_serve_time_stamp(void *prstatus, const uint8_t *code)
{
	uint64_t stamp = cp_arch_time_stamp();
	struct user_regs_struct u;

	if (code[0] != 0x0f || code[1] != 0x31)
		return false;
	memcpy(&u, prstatus, sizeof(u));
	u.rax = (uint32_t)stamp;
	u.rdx = stamp >> 32;
	u.rip += 2;
	memcpy(prstatus, &u, sizeof(u));
	return true;
}

long cp_arch_pc_in_user(void)
{
	return offsetof(struct user, regs.rip);
}

uint64_t cp_arch_flags(const void *prstatus)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	return u.eflags;
}

void cp_arch_set_flags(void *prstatus, uint64_t flags)
{
	const unsigned long long eflags = flags;

	memcpy((uint8_t *)prstatus + offsetof(struct user_regs_struct, eflags), &eflags,
	       sizeof(eflags));
}

uint64_t cp_arch_ring_base(const void *prstatus)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	return u.gs_base;
}

void cp_arch_set_ring_base(void *prstatus, uint64_t base)
{
	memcpy((uint8_t *)prstatus + offsetof(struct user_regs_struct, gs_base), &base,
	       sizeof(base));
}

uint64_t cp_arch_time_stamp(void)
{
	return __builtin_ia32_rdtsc();
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

void cp_arch_set_sp(void *prstatus, uint64_t sp)
{
	struct user_regs_struct u;

	memcpy(&u, prstatus, sizeof(u));
	u.rsp = sp;
	memcpy(prstatus, &u, sizeof(u));
}

const uint8_t *cp_arch_syscall_return_code(size_t *size_ret)
{
	static const uint8_t code[] = { 0x0f, 0x05, 0xc3 };

	*size_ret = sizeof(code);
	return code;
}

const uint8_t *cp_arch_sigreturn_code(unsigned n, size_t *size_ret)
{
	static const uint8_t glibc[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t musl[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	*size_ret = n ? sizeof(musl) : sizeof(glibc);
	return n == 0 ? glibc : n == 1 ? musl : NULL;
}

/* As in <asm/sigcontext.h> and <asm/ucontext.h>, which don't go with
 * <sys/user.h>. */
struct signal_frame {
	uint64_t restorer;
	uint64_t flags, link, stack_sp, stack_flags, stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, rflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
	uint64_t mask;
};

#define XSAVE_LEGACY 512u
#define XSAVE_HEADER 64u /* behind that: the features that are not as at the beginning */
#define XSAVE_SOFTWARE 464u /* where the kernel keeps words of its own */
#define RESTARTS(result) ((result) <= -512 && (result) >= -514)
#define RESTARTS_BLOCK(result) ((result) == -516)

/* Restarts a call as arch_do_signal_or_restart() would; a sigreturn does not. Where that
 * would go on with a time limit, it begins anew: a sigreturn forgets how much is left, and
 * restart_syscall would be EINTR. */
static void start_again(struct user_regs_struct *u)
{
	int64_t result = (int64_t)u->rax;

	if ((int64_t)u->orig_rax < 0 || (!RESTARTS(result) && !RESTARTS_BLOCK(result)))
		return;
	u->rax = u->orig_rax;
	u->rip -= 2;
}

/* How much of it holds what is not as at the beginning, and of which features that is. A
 * regset has room for all that the processor could have; a frame with more than the
 * kernel has for the thread (AMX's tiles, where nobody asked for them) is no whole one
 * to it: it would take the first 512 bytes, and AVX would be lost. */
static size_t xstate_used(const void *xstate, size_t size, uint64_t *features_ret)
{
	size_t end = XSAVE_LEGACY + XSAVE_HEADER;
	unsigned length, offset, c, d, i;
	uint64_t features = 0;

	if (size >= end)
		memcpy(&features, (const uint8_t *)xstate + XSAVE_LEGACY, sizeof(features));
	for (i = 2; i < 63; i++) {
		if (!(features >> i & 1) || !__get_cpuid_count(0xd, i, &length, &offset, &c, &d))
			continue;
		if ((size_t)offset + length > end)
			end = (size_t)offset + length;
	}
	*features_ret = features | 3; /* x87 and SSE are there in any case */
	return end < size ? end : size;
}

/* The floating-point state with the words behind which the kernel recognises a
 * whole one; bytes used. */
static size_t signal_xstate(const void *xstate, size_t size, uint64_t features, uint8_t *to)
{
	static const uint32_t magic1 = 0x46505853, magic2 = 0x46505845;
	struct {
		uint32_t magic, extended_size;
		uint64_t features;
		uint32_t size, pad[7];
	} words = { .magic = magic1,
		    .extended_size = (uint32_t)(size + sizeof(magic2)),
		    .features = features,
		    .size = (uint32_t)size };

	memcpy(to, xstate, size);
	memcpy(to + XSAVE_SOFTWARE, &words, sizeof(words));
	memcpy(to + size, &magic2, sizeof(magic2));
	return size + sizeof(magic2);
}

size_t cp_arch_signal_frame(const void *prstatus, const void *xstate, size_t xstate_size,
			    uint64_t mask, uint64_t restorer, uint64_t top, uint8_t *frame,
			    size_t room, uint64_t *sp_ret)
{
	uint64_t features;
	size_t used = xstate_used(xstate, xstate_size, &features);
	uint64_t fpstate = (top - used - 8) & ~UINT64_C(63);
	uint64_t at = (fpstate - sizeof(struct signal_frame)) & ~UINT64_C(15);
	struct user_regs_struct u;
	struct signal_frame f;

	if (xstate_size <= XSAVE_LEGACY || top - at > room)
		return 0;
	memcpy(&u, prstatus, sizeof(u));
	start_again(&u);
	f = (struct signal_frame){
		.restorer = restorer,
		.flags = 7, /* extended state; ss is to be taken as it is */
		.stack_flags = 0x40, /* not valid: the signal stack stays as it is */
		.r8 = u.r8,
		.r9 = u.r9,
		.r10 = u.r10,
		.r11 = u.r11,
		.r12 = u.r12,
		.r13 = u.r13,
		.r14 = u.r14,
		.r15 = u.r15,
		.di = u.rdi,
		.si = u.rsi,
		.bp = u.rbp,
		.bx = u.rbx,
		.dx = u.rdx,
		.ax = u.rax,
		.cx = u.rcx,
		.sp = u.rsp,
		.ip = u.rip,
		.rflags = u.eflags,
		.cs = (uint16_t)u.cs,
		.ss = (uint16_t)u.ss,
		.fpstate = fpstate,
		.mask = mask,
	};
	memset(frame, 0, top - at);
	memcpy(frame, &f, sizeof(f));
	signal_xstate(xstate, used, features, frame + (fpstate - at));
	*sp_ret = at;
	return top - at;
}

int cp_arch_fp_note(void)
{
	return NT_PRFPREG;
}

void cp_arch_fp_values(const void *fp, size_t size, uint8_t vector[CP_ARCH_VECTORS][16],
		       uint8_t x87[2][16])
{
	struct user_fpregs_struct u;

	memset(vector, 0, CP_ARCH_VECTORS * sizeof(vector[0]));
	memset(x87, 0, 2 * sizeof(x87[0]));
	if (size < sizeof(u))
		return;
	memcpy(&u, fp, sizeof(u));
	memcpy(vector, u.xmm_space, CP_ARCH_VECTORS * sizeof(vector[0]));
	memcpy(x87[0], u.st_space, 10);
	memcpy(x87[1], (const uint8_t *)u.st_space + 16, 10);
}
