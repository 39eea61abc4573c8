/* SPDX-License-Identifier: MIT
 *
 * The kernel tells of who sleeps where its program counter and stack pointer are, and
 * what it calls the kernel with: /proc/PID/task/TID/syscall, which is "running" for who
 * does.
 */
#include "cmd/leaves.h"

#include <stdio.h>
#include <string.h>

#include "base/types.h"

static bool read_line(pid_t pid, pid_t tid, const char *name, char *to, size_t size)
{
	char path[64];
	FILE *file;
	bool got;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	file = fopen(path, "re");
	got = file && fgets(to, (int)size, file);
	if (file)
		fclose(file);
	return got;
}

/* How often it has left its CPU so far, and 1. */
static uint64_t switches_of(pid_t pid, pid_t tid)
{
	unsigned long long n, sum = 1;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	if (file)
		fclose(file);
	return sum;
}

static void set(struct cp_regs *regs, unsigned n, uint64_t value)
{
	regs->r[n] = value;
	regs->known |= UINT64_C(1) << n;
}

enum cp_leaf_found cp_leaf_asleep(pid_t pid, pid_t tid, struct cp_leaf *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	unsigned long long pc = 0, sp = 0;
	char line[256], *at;
	uint64_t slept = switches_of(pid, tid);

	*ret = (struct cp_leaf){ .tid = tid, .slept = slept };
	if (!read_line(pid, tid, "syscall", line, sizeof(line)))
		return CP_LEAF_GONE;
	if (!strncmp(line, "running", 7))
		return CP_LEAF_RUNS;
	at = strrchr(line, ' '); /* "NR argument... SP PC", or "-1 SP PC" */
	if (!at || sscanf(at, "%llx", &pc) != 1 || !pc)
		return CP_LEAF_GONE;
	*at = '\0';
	at = strrchr(line, ' ');
	if (!at || sscanf(at, "%llx", &sp) != 1)
		return CP_LEAF_GONE;
	set(&ret->regs, arch->pc, pc);
	set(&ret->regs, arch->sp, sp);
	return CP_LEAF_FOUND;
}

bool cp_leaf_still_sleeps(pid_t pid, const struct cp_leaf *leaf)
{
	const struct cp_arch *arch = cp_arch_host();
	struct cp_leaf now;

	return cp_leaf_asleep(pid, leaf->tid, &now) == CP_LEAF_FOUND && now.slept == leaf->slept &&
	       now.regs.r[arch->pc] == leaf->regs.r[arch->pc] &&
	       now.regs.r[arch->sp] == leaf->regs.r[arch->sp];
}

bool cp_leaf_of_core(const struct cp_core *core, pid_t tid, struct cp_leaf *ret)
{
	const struct cp_core_thread *t;

	cp_vec_for_each(&core->threads, t) {
		if (t->tid != tid || t->size < cp_arch_prstatus_size())
			continue;
		*ret = (struct cp_leaf){ .tid = tid,
					 .vectors = t->vectors,
					 .vectors_size = t->vectors_size };
		cp_arch_regs_from_prstatus(t->registers, &ret->regs);
		ret->has_others =
			cp_arch_other_regs(t->registers, ret->others, CP_ARRAY_SIZE(ret->others));
		return true;
	}
	return false;
}
