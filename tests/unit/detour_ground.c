/* SPDX-License-Identifier: MIT */
#include "detour_ground.h"

#include <asm/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROOM (1u << 20)
#define RINGS 20

struct ground ground;
static uint8_t replaced[GROUND_MADE][CP_DETOUR_JUMP];

static const int registers[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map_near(uint64_t near)
{
	uint64_t at;
	void *p;

	for (at = (near & ~UINT64_C(0xffff)) - (512u << 20); at < near + (1u << 30);
	     at += 16u << 20) {
		p = mmap((void *)at, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p != MAP_FAILED)
			return p;
	}
	die("no room near the program");
	return NULL;
}

void *ground_ring(unsigned which)
{
	return (void *)(uintptr_t)(ground.rings.zero + which * cp_detour_ring_size(GROUND_LOG));
}

void ground_use_ring(unsigned which)
{
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, which * cp_detour_ring_size(GROUND_LOG)))
		die("gs");
}

void ground_prepare(void)
{
	size_t size = cp_detour_ring_size(GROUND_LOG) * RINGS;
	uintptr_t text = (uintptr_t)detour_forms->start & ~UINT64_C(4095);
	unsigned i;
	uint64_t at;
	void *p = MAP_FAILED;

	for (at = 0x10000000; at < 0x70000000 && p == MAP_FAILED; at += 0x1000000)
		p = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		die("no room below 2 GiB");
	ground.rings.zero = (uint32_t)(uintptr_t)p;
	ground.rings.log = GROUND_LOG;
	for (i = 0; i < RINGS; i++)
		cp_records_create(ground_ring(i), GROUND_LOG);
	ground.code = map_near(text);
	ground.room = ROOM;
	ground.rings.slow = (uintptr_t)ground.code;
	ground.size = cp_detour_slow(&cp_arch_x86_64, &ground.rings, ground.code);
	ground.size = (ground.size + 15) & ~15u;
	if (mprotect((void *)text, (uintptr_t)detour_called_end - text,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		die("text");
}

struct cp_detour ground_window(const void *start, const void *end)
{
	struct cp_detour d = { .pc = (uintptr_t)start,
			       .size = (uint8_t)((uintptr_t)end - (uintptr_t)start) };

	memcpy(d.code, start, d.size);
	return d;
}

struct cp_detour_record ground_record(uint32_t site, size_t before)
{
	return (struct cp_detour_record){ .site = site, .before = (uint8_t)before };
}

int ground_make(const struct cp_detour *detour)
{
	uint64_t at = (uintptr_t)ground.code + ground.size;
	size_t size =
		cp_detour_make(&cp_arch_x86_64, detour, at, &ground.rings, (uint8_t *)at, NULL);

	if (!size || ground.count == GROUND_MADE)
		return -1;
	ground.made[ground.count].detour = *detour;
	ground.made[ground.count].at = at;
	ground.made[ground.count].size = size;
	ground.size += (size + 15) & ~15u;
	return (int)ground.count++;
}

void ground_patch(int number)
{
	static const struct cp_detour_landing anywhere;
	uint64_t pc = ground.made[number].detour.pc;
	uint8_t jump[CP_DETOUR_JUMP + CP_DETOUR_PREFIXES];

	if (!cp_detour_jump(&anywhere, pc, ground.made[number].at, jump))
		die("a jump");
	memcpy(replaced[number], (void *)pc, CP_DETOUR_JUMP);
	memcpy((void *)pc, jump, CP_DETOUR_JUMP);
}

void ground_unpatch(int number)
{
	memcpy((void *)ground.made[number].detour.pc, replaced[number], CP_DETOUR_JUMP);
}

/* ---- in handlers ---- */

static size_t read_own(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	(void)ctx;
	memcpy(buffer, (void *)addr, size);
	return size;
}
const struct cp_reader ground_memory = { read_own, NULL };

void ground_regs(const ucontext_t *context, struct cp_regs *ret)
{
	size_t i;

	ret->known = UINT64_MAX;
	for (i = 0; i < CP_ARRAY_SIZE(registers); i++)
		ret->r[i] = (uint64_t)context->uc_mcontext.gregs[registers[i]];
}

void ground_set_regs(ucontext_t *context, const struct cp_regs *regs, uint64_t flags)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(registers); i++)
		context->uc_mcontext.gregs[registers[i]] = (greg_t)regs->r[i];
	context->uc_mcontext.gregs[REG_EFL] = (greg_t)flags;
}

bool ground_is_inside(uint64_t pc)
{
	return pc - (uintptr_t)ground.code < ground.size;
}

static int at_pc(uint64_t pc)
{
	size_t i;

	for (i = 0; i < ground.count; i++) {
		if (pc - ground.made[i].at < ground.made[i].size)
			return (int)i;
	}
	return -1;
}

int ground_leave(struct cp_regs *regs, uint64_t *flags, struct cp_detour_left left_ret[2])
{
	const struct cp_arch *arch = &cp_arch_x86_64;
	int i;

	left_ret[0] = (struct cp_detour_left){ 0 };
	if (regs->r[arch->pc] - ground.rings.slow < CP_DETOUR_SLOW_MAX &&
	    at_pc(regs->r[arch->pc]) < 0 &&
	    !cp_detour_leave_slow(arch, &ground.rings, regs, &ground_memory, &left_ret[0]))
		return -1;
	i = at_pc(regs->r[arch->pc]);
	if (i < 0 || !cp_detour_leave(arch, &ground.made[i].detour, ground.made[i].at,
				      &ground.rings, regs, flags, &ground_memory, &left_ret[1]))
		return -1;
	return i;
}

/* What it counted for the instruction that it comes to once more. */
static void count_down(const struct cp_detour_left *left)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(left->counted); i++)
		if (left->counted[i])
			--*(uint64_t *)(uintptr_t)left->counted[i];
}

bool ground_take_out(ucontext_t *context, struct cp_detour_ring *ring)
{
	uint64_t flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL], pc;
	uint64_t enter[CP_DETOUR_WINDOW];
	uint8_t code[CP_DETOUR_CODE_MAX];
	struct cp_detour_left left[2];
	struct cp_regs regs;
	int number, i;

	ground_regs(context, &regs);
	number = ground_leave(&regs, &flags, left);
	if (number < 0)
		return false;
	for (i = 0; i < 2; i++) {
		if (left[i].stage == CP_DETOUR_RESERVED)
			cp_detour_void(ring, &left[i]);
		else if (left[i].stage == CP_DETOUR_COMMITTED)
			cp_detour_cancel(ring, GROUND_LOG, __rdtsc() << 16);
		count_down(&left[i]);
	}
	/* A breakpoint stands there, and who comes to it is sent to the copy. */
	pc = regs.r[16];
	if (pc != ground.made[number].detour.pc &&
	    pc - ground.made[number].detour.pc < ground.made[number].detour.size) {
		cp_detour_make(&cp_arch_x86_64, &ground.made[number].detour, ground.made[number].at,
			       &ground.rings, code, enter);
		regs.r[16] = enter[pc - ground.made[number].detour.pc];
	}
	ground_set_regs(context, &regs, flags);
	return regs.r[16] != 0;
}
