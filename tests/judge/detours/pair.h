/* SPDX-License-Identifier: MIT
 *
 * Two processes that are the same: a program, and a fork of it that makes no system
 * call but for memory. What the first one is told by the kernel, the second one is
 * given: it is a processor with the same memory.
 */
#ifndef JUDGE_PAIR_H
#define JUDGE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct half {
	pid_t pid;
	int mem; /* /proc/PID/mem */
	struct user_regs_struct regs; /* of its last stop */
};

size_t half_read(const struct half *h, uint64_t at, void *to, size_t size);
bool half_write(const struct half *h, uint64_t at, const void *from, size_t size);
void half_set_regs(struct half *h, const struct user_regs_struct *regs);
/* One instruction. 0, or a signal that it got; -1: it is gone. */
int half_step(struct half *h);
/* A system call, by the instruction for it at `at`; registers are as before. */
uint64_t half_call(struct half *h, uint64_t at, uint64_t number, const uint64_t args[6]);

/* The program, stopped behind its exec; its stack, heap and images are where they always
 * are, and it has no vDSO: time comes by system calls. */
void pair_start(struct half *native, char **argv);
/* Runs until it comes to `address`; false: it did not. */
bool pair_run_to(struct half *native, uint64_t address);
void pair_fork(struct half *native, struct half *copy);
/* Both are right before the same system call, which is made once. NULL: both are behind
 * it; else why they can't be, and nothing was done. */
const char *pair_system_call(struct half *native, struct half *copy);

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
