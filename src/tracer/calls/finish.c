/* SPDX-License-Identifier: MIT
 *
 * Transfers that were cut short are finished, by code in the program.
 *
 * A write() of a megabyte to a pipe that is interrupted returns what it has
 * written by then. Who takes that for the whole loses the rest; without us it
 * would not have been interrupted. So at our stop the thread is sent to code
 * that makes the call for the rest, adds up, and goes back behind the first call
 * (arch/finish.h):
 *
 *     write(1, p, 1000000) = 65536 ─► our stop ─► slot: write(1, p + 65536, 934464)
 *                                                   │ interrupted again: the other
 *            1000000, registers as they were ◄──────┴─ slot, for what is left then
 *
 * What the slot needs is written before the one PTRACE_SETREGSET that sends the
 * thread there: up to it the program would see the short count, from then on the
 * whole, whenever we are killed. A thread has two slots, so that nothing changes
 * that it may still need. A signal that the program gets ends the call with what
 * was done by then, as it does without us; nobody else ever sees the slots.
 *
 * Calls that wait (epoll_wait, sigtimedwait) are made there, too, for what is left of
 * their time limit: when an ignored signal ends them again, and another thread takes
 * it, so that this one does not stop, the code tells of it (finish_told()).
 *
 * The memory is mapped when the first call is cut short, and stays: a thread may
 * be in it for as long as its reader wants. Who attaches next finds it by its
 * magic and uses it again; slots that are not free say so.
 *
 *     page 0   magic │ code of slot 0 │ code of slot 1 │ ...     read, execute
 *     page 1…  record, message, vectors of slot 0                read, write
 *     page 6…  ... of slot 1
 */
#include "tracer/calls/finish.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "arch/finish.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "tracer/calls/inject.h"
#include "tracer/calls/seccomp.h"
#include "tracer/calls/transfer.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"

#define MAGIC UINT64_C(0x3268736e66727063) /* "cprfnsh2" */
#define PAGE 4096u
#define SLOTS (2 * FINISH_PAIRS)
#define MESSAGE_AT 128u /* of a slot's memory, behind its record */
#define VECTORS_AT 192u
#define SLOT_MEMORY (5 * PAGE)
#define AREA_SIZE (PAGE + SLOTS * SLOT_MEMORY)
/* How often it is tried to map an area where that fails. */
#define TRIES 8
/* Signals that do more than to be delivered, or are ours. */
#define OF_THE_KERNEL \
	(BIT(SIGCONT) | BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) | BIT(SIGTRAP))
#define BIT(signal) (UINT64_C(1) << ((signal)-1))

_Static_assert(sizeof(struct cp_finish_record) <= MESSAGE_AT, "record");
_Static_assert(MESSAGE_AT + sizeof(struct msghdr) <= VECTORS_AT, "message");
_Static_assert(VECTORS_AT + TRANSFER_VECTORS * sizeof(struct iovec) <= SLOT_MEMORY, "vectors");
_Static_assert((SLOTS + 1) * CP_FINISH_CODE <= PAGE, "code");

/* A slot that a thread is in, or is about to be. */
struct place {
	struct finish_area *area;
	unsigned slot;
	unsigned offset; /* in its code */
};

static uint64_t code_at(const struct place *p)
{
	return p->area->address + (p->slot + 1) * CP_FINISH_CODE;
}

static uint64_t record_at(const struct place *p)
{
	return p->area->address + PAGE + (uint64_t)p->slot * SLOT_MEMORY;
}

static bool find_place(const struct space *space, uint64_t pc, struct place *ret)
{
	struct finish_area *area;
	uint64_t offset;

	cp_vec_for_each(&space->finisher.areas, area) {
		offset = pc - area->address;
		if (offset < CP_FINISH_CODE || offset >= (SLOTS + 1) * CP_FINISH_CODE)
			continue;
		*ret = (struct place){ area, (unsigned)offset / CP_FINISH_CODE - 1,
				       (unsigned)offset % CP_FINISH_CODE };
		return true;
	}
	return false;
}

static bool read_record(const struct space *space, const struct place *p,
			struct cp_finish_record *ret)
{
	return space_read(space, record_at(p), ret, sizeof(*ret));
}

bool finish_is_in(const struct thread *t, uint64_t pc)
{
	struct place p;

	return find_place(t->process->space, pc, &p);
}

/* ---- the areas of a space ---- */

static bool keep_area(struct space *space, uint64_t address)
{
	struct finish_area area = { .address = address };

	return cp_vec_push(&space->finisher.areas, area);
}

bool finish_copy(struct space *to, const struct space *from)
{
	const struct finish_area *area;

	cp_vec_for_each(&from->finisher.areas, area)
		if (!keep_area(to, area->address))
			return false;
	return true;
}

/* The program may have unmapped it, and a child may have been born before it. */
static bool is_area(const struct space *space, uint64_t address)
{
	uint64_t head[2];

	return space_read(space, address, head, sizeof(head)) && head[0] == MAGIC &&
	       head[1] == address;
}

static bool fill_area(const struct space *space, uint64_t address)
{
	const uint64_t head[2] = { MAGIC, address };
	struct finish_area area = { .address = address };
	struct place p = { .area = &area };
	uint8_t code[(SLOTS + 1) * CP_FINISH_CODE] = { 0 };

	for (; p.slot < SLOTS; p.slot++)
		if (!cp_finish_code(cp_arch_host(), code_at(&p), record_at(&p),
				    code + (p.slot + 1) * CP_FINISH_CODE))
			return false;
	memcpy(code, head, sizeof(head));
	return space_write(space, address, code, sizeof(code));
}

/* By the thread itself, which is stopped. Only where it finds back should we be
 * killed meanwhile. */
static bool map_area(struct tracer *tr, struct thread *t)
{
	const uint64_t map[6] = {
		0, AREA_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
	};
	struct space *space = t->process->space;
	struct injection in;
	int64_t at = -1;
	bool ok = false;

	if (!inject_here(tr, t, &in))
		return false;
	if (in.guard)
		at = inject_call(&in, SYS_mmap, map);
	if (at > 0) {
		const uint64_t data[6] = { (uint64_t)at + PAGE, AREA_SIZE - PAGE,
					   PROT_READ | PROT_WRITE };

		ok = !inject_call(&in, SYS_mprotect, data) && fill_area(space, (uint64_t)at) &&
		     keep_area(space, (uint64_t)at);
		if (!ok)
			inject_call(&in, SYS_munmap,
				    (const uint64_t[6]){ (uint64_t)at, AREA_SIZE });
	}
	inject_end(tr, &in);
	return ok;
}

/* A line of /proc/PID/maps: private, read and execute, no file. The kernel joins
 * mappings that lie side by side, so each page is looked at. */
static void adopt_mapping(struct space *space, const char *line)
{
	unsigned long start, end, offset, inode, at;
	char perms[5], device[16];
	struct place p;

	if (sscanf(line, "%lx-%lx %4s %lx %15s %lu", &start, &end, perms, &offset, device,
		   &inode) != 6 ||
	    strcmp(perms, "r-xp") != 0 || inode || strchr(line, '['))
		return;
	for (at = start; at < end; at += PAGE)
		if (!find_place(space, at + CP_FINISH_CODE, &p) && is_area(space, at) &&
		    !keep_area(space, at))
			cp_debug("no memory to remember an area");
}

void finish_adopt(struct space *space)
{
	char path[64], line[512];
	bool whole = true;

	if (space_open(space))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)space->pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (whole)
			adopt_mapping(space, line);
		whole = strchr(line, '\n') != NULL; /* a long name goes on */
	}
}

/* ---- slots ---- */

static bool is_free(const struct space *space, struct place p)
{
	struct cp_finish_record r;

	return read_record(space, &p, &r) && !r.busy;
}

static bool lives_here(struct tracer *tr, const struct space *space, pid_t tid)
{
	const struct thread *t = thread_find(tr, tid);

	return t && t->process->space == space;
}

/* A pair in an area, for `t`: one that it had before, or one that nobody has. */
static bool take_pair(struct tracer *tr, const struct thread *t, struct finish_area *area,
		      struct place *ret)
{
	const struct space *space = t->process->space;
	struct place first = { area, 0, 0 };

	for (; first.slot < SLOTS; first.slot += 2) {
		pid_t *owner = &area->owners[first.slot / 2];
		struct place second = { area, first.slot + 1, 0 };

		if (*owner != t->tid) {
			if ((*owner && lives_here(tr, space, *owner)) || !is_free(space, first) ||
			    !is_free(space, second))
				continue;
		}
		*owner = t->tid;
		*ret = first;
		return true;
	}
	return false;
}

/* For a thread that is not in a slot. */
static bool take_place(struct tracer *tr, struct thread *t, struct place *ret)
{
	struct space *space = t->process->space;
	struct finish_area *area;
	size_t i = 0;

	while (i < space->finisher.areas.count) {
		area = &space->finisher.areas.items[i];
		if (!is_area(space, area->address))
			*area = space->finisher.areas.items[--space->finisher.areas.count];
		else if (take_pair(tr, t, area, ret))
			return true;
		else
			i++;
	}
	if (space->finisher.failed >= TRIES)
		return false;
	if (map_area(tr, t)) {
		space->finisher.failed = 0;
		i = space->finisher.areas.count - 1;
		return take_pair(tr, t, &space->finisher.areas.items[i], ret);
	}
	space->finisher.failed++;
	return false;
}

static void set_free(const struct space *space, const struct place *p)
{
	const uint64_t no = 0;

	space_write(space, record_at(p) + offsetof(struct cp_finish_record, busy), &no, sizeof(no));
}

/* ---- making a thread do the rest ---- */

/* Are system calls of this thread not what they seem, outside of the program's own code
 * (PR_SET_SYSCALL_USER_DISPATCH)? */
static bool is_dispatched(pid_t tid)
{
#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif
	struct {
		uint64_t mode, selector, offset, size;
	} config = { 0 };

	return !ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid, sizeof(config), &config) &&
	       config.mode;
}

/* Writes everything that the slot's call reads. */
static bool fill_place(const struct space *space, const struct place *p,
		       const struct transfer *call, const struct cp_syscall_state *s,
		       struct transfer_rest *rest)
{
	struct cp_finish_record record = {
		.busy = 1,
		.done = call->done,
		.mask = call->deadline_ns ? UINT64_MAX : 0,
		.ret = s->pc,
		.nr = call->nr,
		.tell = call->tell,
		.early = call->deadline_ns ? -EINTR : (int64_t)call->done,
		.deadline_ns = call->deadline_ns,
		.sp = s->sp,
	};
	uint64_t vectors = record_at(p) + VECTORS_AT, message = record_at(p) + MESSAGE_AT;

	memcpy(record.args, call->args, sizeof(record.args));
	if (rest->vector_count) {
		rest->args[1] = rest->given ? message : vectors;
		if (!space_write(space, vectors, rest->vectors,
				 rest->vector_count * sizeof(rest->vectors[0])))
			return false;
	}
	if (rest->limit_arg >= 0) {
		rest->args[rest->limit_arg] = message;
		if (!space_write(space, message, &rest->limit, sizeof(rest->limit)))
			return false;
	}
	rest->message.msg_iov = (struct iovec *)(uintptr_t)vectors; // NOLINT: theirs
	if (rest->given && !space_write(space, message, &rest->message, sizeof(rest->message)))
		return false;
	return space_write(space, record_at(p), &record, sizeof(record));
}

/* Sends the thread to the slot. */
static bool enter(struct thread *t, const struct place *p, const struct transfer *call,
		  const struct cp_syscall_state *s, struct transfer_rest *rest, uint64_t *prstatus)
{
	if (!fill_place(t->process->space, p, call, s, rest))
		return false;
	cp_arch_syscall_make(prstatus, code_at(p), call->nr, rest->args);
	return regs_write(t->tid, prstatus);
}

/* The call of a slot was interrupted in its turn: the rest of it is done in the
 * thread's other one. */
static void do_rest(struct thread *t, const struct place *at, uint64_t *prstatus)
{
	const struct space *space = t->process->space;
	struct place other = { at->area, at->slot ^ 1, 0 };
	struct cp_syscall_state s;
	struct cp_finish_record r;
	struct transfer_rest rest;
	struct transfer call;
	struct cp_regs regs;
	int64_t result;

	cp_arch_regs_from_prstatus(prstatus, &regs);
	if (!cp_finish_called(cp_arch_host(), at->offset, &regs, &result) || result <= 0 ||
	    !read_record(space, at, &r) || proc_will_get_any(t->tid))
		return;
	call = (struct transfer){ .nr = r.nr, .done = r.done + (uint64_t)result };
	memcpy(call.args, r.args, sizeof(call.args));
	if (transfer_look(t, &call, &rest) != TRANSFER_REST)
		return;
	s = (struct cp_syscall_state){ .pc = r.ret, .sp = r.sp };
	at->area->owners[at->slot / 2] = t->tid;
	if (enter(t, &other, &call, &s, &rest, prstatus))
		set_free(space, at);
}

/* Was the call made by the instruction that we know, and of our kind? */
static bool made_it(const struct space *space, const struct cp_syscall_state *s)
{
	uint8_t bytes[8];
	size_t size;
	const uint8_t *code = cp_arch_syscall_code(&size);

	return space_read(space, s->pc - size, bytes, size) && !memcmp(bytes, code, size);
}

bool finish_is_due(const struct thread *t, const struct cp_syscall_state *s)
{
	return finish_is_in(t, s->pc) || (s->nr >= 0 && s->result > 0 && transfer_may_be(s->nr));
}

void finish_call(struct tracer *tr, struct thread *t, uint64_t *prstatus)
{
	struct space *space = t->process->space;
	struct cp_link_stats *stats = &tr->link->shared->stats;
	struct transfer_rest rest;
	struct cp_syscall_state s;
	struct transfer call;
	struct place p;

	cp_arch_syscall_state(prstatus, &s);
	if (find_place(space, s.pc, &p)) {
		do_rest(t, &p, prstatus);
		return;
	}
	if (s.nr < 0 || s.result <= 0 || !transfer_may_be(s.nr) || space_open(space) ||
	    !made_it(space, &s))
		return;
	call = (struct transfer){ .nr = s.nr, .done = (uint64_t)s.result };
	cp_arch_syscall_args(prstatus, call.args);
	switch (transfer_look(t, &call, &rest)) {
	case TRANSFER_WHOLE:
		return;
	case TRANSFER_LOST:
		break;
	case TRANSFER_REST:
		if (proc_will_get_any(t->tid))
			return; /* it would have ended now in any case */
		if (!is_dispatched(t->tid) && take_place(tr, t, &p) &&
		    enter(t, &p, &call, &s, &rest, prstatus)) {
			stats->finished++;
			return;
		}
		break;
	}
	if (proc_will_get_any(t->tid))
		return;
	stats->cut_short++;
	/* The thread may stop again before it gets to do anything. */
	cp_arch_syscall_over(prstatus);
	regs_write(t->tid, prstatus);
}

/* ---- calls that wait ---- */

/* The call that a slot makes, if it is one that waits. */
static bool limited_call(const struct space *space, const struct place *p, struct transfer *call,
			 struct cp_syscall_state *s)
{
	struct cp_finish_record r;

	if (!read_record(space, p, &r) || !r.deadline_ns)
		return false;
	*call = (struct transfer){ .nr = r.nr, .deadline_ns = r.deadline_ns, .tell = r.tell };
	memcpy(call->args, r.args, sizeof(call->args));
	*s = (struct cp_syscall_state){ .nr = r.nr, .pc = r.ret, .sp = r.sp };
	return true;
}

/* The signal by which the code may tell of -EINTR; 0: by none. One that it was ended by
 * is ignored, and not blocked, unless it is while the call lasts. */
static uint64_t telling(struct tracer *tr, const struct thread *t, const struct transfer *call,
			int signal)
{
	bool masks = (call->nr == SYS_epoll_pwait || call->nr == SYS_epoll_pwait2) && call->args[4];

	if (!signal || masks || BIT(signal) & OF_THE_KERNEL || t->process->threads.count < 2 ||
	    !seccomp_lets(tr, t))
		return 0;
	return (uint64_t)signal;
}

bool finish_wait(struct tracer *tr, struct thread *t, int signal, uint64_t *prstatus)
{
	struct space *space = t->process->space;
	struct cp_syscall_state s;
	struct transfer_rest rest;
	struct transfer call = { 0 };
	struct place at = { 0 }, next;
	bool again, forever;

	cp_arch_syscall_state(prstatus, &s);
	again = find_place(space, s.pc, &at);
	if (!again) {
		call.nr = s.nr;
		cp_arch_syscall_args(prstatus, call.args);
	} else if (!limited_call(space, &at, &call, &s)) {
		return false;
	}
	if (space_open(space) || !transfer_limit(t, &call, &rest))
		return false;
	forever = call.deadline_ns == TRANSFER_FOREVER;
	if (forever && !call.tell)
		call.tell = telling(tr, t, &call, signal);
	if (forever && !call.tell)
		return false;
	next = (struct place){ at.area, at.slot ^ 1, 0 };
	if (again)
		at.area->owners[at.slot / 2] = t->tid;
	else if (!made_it(space, &s) || is_dispatched(t->tid) || !take_place(tr, t, &next))
		return false;
	if (!call.tell)
		call.tell = telling(tr, t, &call, signal);
	if (!enter(t, &next, &call, &s, &rest, prstatus))
		return false;
	if (again)
		set_free(space, &at);
	return true;
}

bool finish_told(const struct thread *t, int signal)
{
	const struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct cp_finish_record r;
	struct cp_syscall_state s;
	struct place p;

	if (!space->finisher.areas.count || !regs_read(t->tid, prstatus))
		return false;
	cp_arch_syscall_state(prstatus, &s);
	return find_place(space, s.pc, &p) && cp_finish_told(cp_arch_host(), p.offset) &&
	       s.nr == SYS_tkill && read_record(space, &p, &r) && r.tell == (uint64_t)signal;
}

/* ---- what others see ---- */

/* True: they were changed. */
static bool hide(const struct thread *t, void *prstatus)
{
	const struct space *space = t->process->space;
	struct cp_finish_record r;
	struct cp_syscall_state s;
	struct cp_regs regs;
	struct place p;

	if (!space->finisher.areas.count)
		return false;
	cp_arch_syscall_state(prstatus, &s);
	if (!find_place(space, s.pc, &p) || !read_record(space, &p, &r))
		return false;
	cp_arch_regs_from_prstatus(prstatus, &regs);
	cp_finish_leave(cp_arch_host(), p.offset, &r, &regs);
	cp_arch_regs_to_prstatus(&regs, prstatus);
	return true;
}

void finish_hide(const struct thread *t, void *prstatus)
{
	hide(t, prstatus);
}

uint64_t finish_hide_pc(const struct thread *t, uint64_t pc)
{
	const struct space *space = t->process->space;
	struct cp_finish_record r;
	struct place p;

	return find_place(space, pc, &p) && read_record(space, &p, &r) ? r.ret : pc;
}

void finish_leave(struct thread *t)
{
	const struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;
	struct place p;

	if (!space->finisher.areas.count || !regs_read(t->tid, prstatus))
		return;
	cp_arch_syscall_state(prstatus, &s);
	if (!find_place(space, s.pc, &p) || !hide(t, prstatus) || !regs_write(t->tid, prstatus))
		return;
	set_free(space, &p);
}
