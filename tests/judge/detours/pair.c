/* SPDX-License-Identifier: MIT */
#include "pair.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t syscall_code[2] = { 0x0f, 0x05 };

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("judge-detours: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

/* ---- one process ---- */

size_t half_read(const struct half *h, uint64_t at, void *to, size_t size)
{
	ssize_t n = pread(h->mem, to, size, (off_t)at);

	return n < 0 ? 0 : (size_t)n;
}

bool half_write(const struct half *h, uint64_t at, const void *from, size_t size)
{
	return pwrite(h->mem, from, size, (off_t)at) == (ssize_t)size;
}

static void get_regs(struct half *h)
{
	if (ptrace(PTRACE_GETREGS, h->pid, NULL, &h->regs))
		die("registers of %d: %s", h->pid, strerror(errno));
}

void half_set_regs(struct half *h, const struct user_regs_struct *regs)
{
	h->regs = *regs;
	h->regs.orig_rax = (unsigned long long)-1; /* no system call is to be made again */
	if (ptrace(PTRACE_SETREGS, h->pid, NULL, &h->regs))
		die("registers of %d: %s", h->pid, strerror(errno));
}

/* The next stop: 0 for one by a step, a breakpoint, an event. */
static int wait_stop(struct half *h)
{
	int status;

	if (waitpid(h->pid, &status, __WALL) != h->pid || !WIFSTOPPED(status))
		return -1;
	get_regs(h);
	return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

int half_step(struct half *h)
{
	if (ptrace(PTRACE_SINGLESTEP, h->pid, NULL, NULL))
		return -1;
	return wait_stop(h);
}

uint64_t half_call(struct half *h, uint64_t at, uint64_t number, const uint64_t args[6])
{
	struct user_regs_struct before = h->regs, regs = before;
	uint64_t result;

	regs.rip = at;
	regs.rax = number;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	half_set_regs(h, &regs);
	if (half_step(h))
		die("system call %lu was not made", (unsigned long)number);
	result = h->regs.rax;
	half_set_regs(h, &before);
	return result;
}

static void open_memory(struct half *h)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", h->pid);
	h->mem = open(path, O_RDWR | O_CLOEXEC);
	if (h->mem < 0)
		die("%s: %s", path, strerror(errno));
}

/* ---- the program ---- */

/* The time would come from memory that the kernel writes. */
static void hide_vdso(struct half *h)
{
	uint64_t at = h->regs.rsp, word, pair[2];

	if (!half_read(h, at, &word, sizeof(word)))
		die("no stack");
	at += 8 * (word + 2);
	do {
		if (!half_read(h, at, &word, sizeof(word)))
			die("no environment");
		at += 8;
	} while (word);
	for (; half_read(h, at, pair, sizeof(pair)) == sizeof(pair) && pair[0]; at += 16) {
		if (pair[0] != AT_SYSINFO_EHDR)
			continue;
		pair[0] = AT_IGNORE;
		half_write(h, at, pair, sizeof(pair));
	}
}

/* Both on one processor: they are never at work at the same time. */
static void use_one_processor(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void pair_start(struct half *native, char **argv)
{
	use_one_processor();
	native->pid = fork();
	if (!native->pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (native->pid < 0 || wait_stop(native))
		die("%s can't be started", argv[0]);
	ptrace(PTRACE_SETOPTIONS, native->pid, NULL,
	       (void *)(uintptr_t)(PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK));
	open_memory(native);
	hide_vdso(native);
}

bool pair_run_to(struct half *native, uint64_t address)
{
	const uint8_t breakpoint = 0xcc;
	uint8_t replaced;
	int signal = 0;

	if (native->regs.rip == address)
		return true;
	if (!half_read(native, address, &replaced, 1) ||
	    !half_write(native, address, &breakpoint, 1))
		return false;
	do {
		if (ptrace(PTRACE_CONT, native->pid, NULL, (void *)(intptr_t)signal))
			return false;
		signal = wait_stop(native);
	} while (signal > 0);
	if (signal || native->regs.rip != address + 1)
		return false;
	native->regs.rip = address;
	half_set_regs(native, &native->regs);
	return half_write(native, address, &replaced, 1);
}

void pair_fork(struct half *native, struct half *copy)
{
	struct user_regs_struct before = native->regs, regs = before;
	uint8_t replaced[sizeof(syscall_code)];
	unsigned long pid = 0;

	half_read(native, before.rip, replaced, sizeof(replaced));
	half_write(native, before.rip, syscall_code, sizeof(syscall_code));
	regs.rax = SYS_fork;
	half_set_regs(native, &regs);
	if (half_step(native) || ptrace(PTRACE_GETEVENTMSG, native->pid, NULL, &pid) || !pid)
		die("it can't be forked");
	copy->pid = (pid_t)pid;
	wait_stop(copy);
	if (half_step(native))
		die("it does not go on behind its fork");
	open_memory(copy);
	half_write(native, before.rip, replaced, sizeof(replaced));
	half_write(copy, before.rip, replaced, sizeof(replaced));
	half_set_regs(native, &before);
	half_set_regs(copy, &before);
}

/* ---- system calls ---- */

#define MOST 4096 /* bytes that the kernel writes where an argument leads to */

/* What the kernel may have written from `at` on, where memory is writable. */
static void copy_some(const struct half *from, const struct half *to, uint64_t at, uint64_t size)
{
	static uint8_t there[1 << 16], here[1 << 16];
	size_t n;

	while (size) {
		n = size < sizeof(there) ? (size_t)size : sizeof(there);
		n = half_read(from, at, there, n);
		if (!n)
			return;
		if (half_read(to, at, here, n) != n || memcmp(there, here, n))
			half_write(to, at, there, n);
		at += n;
		size -= n;
	}
}

/* The end of the writable mapping that `at` is in; 0: in none. */
static uint64_t writable_end(const struct half *h, uint64_t at)
{
	unsigned long start, end;
	char line[512], rights[8];
	uint64_t ret = 0;
	FILE *maps;

	snprintf(line, sizeof(line), "/proc/%d/maps", h->pid);
	maps = fopen(line, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && at >= start &&
		    at < end && rights[1] == 'w')
			ret = end;
	}
	if (maps)
		fclose(maps);
	return ret;
}

static void copy_written(const struct half *from, const struct half *to, uint64_t at, uint64_t size)
{
	uint64_t end = at < 4096 ? 0 : writable_end(from, at);

	if (end)
		copy_some(from, to, at, size < end - at ? size : end - at);
}

/* A vector of buffers. */
static void copy_vector(const struct half *from, const struct half *to, uint64_t at, uint64_t count)
{
	uint64_t buffer[2], i;

	for (i = 0; i < count && i < 1024; i++) {
		if (half_read(from, at + i * sizeof(buffer), buffer, sizeof(buffer)) !=
		    sizeof(buffer))
			return;
		copy_written(from, to, buffer[0], buffer[1]);
	}
}

/* What lies in memory that arguments lead to. */
static void copy_answers(const struct half *from, const struct half *to,
			 const struct user_regs_struct *asked, uint64_t result)
{
	const uint64_t args[] = { asked->rdi, asked->rsi, asked->rdx,
				  asked->r10, asked->r8,  asked->r9 };
	uint64_t most = (int64_t)result > MOST ? result : MOST, message[7];
	size_t i;

	for (i = 0; i < 6; i++)
		copy_written(from, to, args[i], most);
	if (asked->rax == SYS_readv || asked->rax == SYS_preadv || asked->rax == SYS_preadv2)
		copy_vector(from, to, asked->rsi, asked->rdx);
	if (asked->rax == SYS_recvmsg &&
	    half_read(from, asked->rsi, message, sizeof(message)) == sizeof(message)) {
		copy_written(from, to, message[0], MOST);
		copy_vector(from, to, message[2], message[3]);
		copy_written(from, to, message[4], message[5]);
	}
}

static bool failed(uint64_t result)
{
	return result > (uint64_t)-4096;
}

/* The same memory where the other one has it, without its file. */
static const char *map_too(const struct half *native, struct half *copy,
			   const struct user_regs_struct *asked, uint64_t result)
{
	uint64_t flags = asked->r10 & (MAP_NORESERVE | MAP_STACK), args[6];

	flags |= MAP_PRIVATE | MAP_ANONYMOUS |
		 (asked->r10 & MAP_FIXED ? MAP_FIXED : MAP_FIXED_NOREPLACE);
	memcpy(args, (const uint64_t[6]){ result, asked->rsi, asked->rdx, flags, (uint64_t)-1, 0 },
	       sizeof(args));
	if (half_call(copy, asked->rip, SYS_mmap, args) != result)
		return "it maps memory where the code of detours is";
	if (!(asked->r10 & MAP_ANONYMOUS))
		copy_some(native, copy, result, asked->rsi);
	return NULL;
}

/* Memory of the copy. */
static const char *remember(const struct half *native, struct half *copy,
			    const struct user_regs_struct *asked, uint64_t result)
{
	uint64_t args[6] = { asked->rdi, asked->rsi, asked->rdx, asked->r10, asked->r8, asked->r9 };

	if (asked->rax == SYS_mmap)
		return map_too(native, copy, asked, result);
	if (asked->rax == SYS_mremap && result != asked->rdi) {
		args[3] = MREMAP_MAYMOVE | MREMAP_FIXED;
		args[4] = result;
	}
	if (half_call(copy, asked->rip, asked->rax, args) != result)
		return "its memory is not that of its copy any more";
	return NULL;
}

static const char *unwanted(uint64_t number)
{
	switch (number) {
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		return "it makes a thread or a process";
	case SYS_execve:
	case SYS_execveat:
		return "it executes another program";
	case SYS_exit:
	case SYS_exit_group:
		return "it ends";
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigreturn:
		return "it sends a signal";
	case SYS_shmat:
	case SYS_io_uring_setup:
		return "it shares memory";
	}
	return NULL;
}

const char *pair_system_call(struct half *native, struct half *copy)
{
	struct user_regs_struct asked = native->regs, after;
	const char *why = unwanted(asked.rax);

	if (why)
		return why;
	if (half_step(native))
		return "a signal interrupts a system call";
	switch (asked.rax) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
	case SYS_brk:
	case SYS_arch_prctl:
		if (!failed(native->regs.rax))
			why = remember(native, copy, &asked, native->regs.rax);
		break;
	case SYS_madvise:
		if (asked.rdx == MADV_DONTNEED)
			why = remember(native, copy, &asked, native->regs.rax);
		break;
	default:
		copy_answers(native, copy, &asked, native->regs.rax);
	}
	after = native->regs;
	after.gs_base = copy->regs.gs_base;
	half_set_regs(copy, &after);
	return why;
}
