/* SPDX-License-Identifier: MIT
 *
 * SIGTRAP is blocked in no thread while there are breakpoints (arch/insn.h says
 * why): its stand-in is.
 *
 *     what blocks it                     what is done about it
 *     a thread's mask at the beginning   it is stopped once, and has another one
 *     a handler's mask                   rt_sigaction for it, by a thread of the program
 *     a C library's system call          goes by way of our code (memory/sigcall.c)
 *     other system calls; masks that     seen at the next hit, or at the birth of a
 *     come with a call (ppoll, ...)      child: only until then it is blocked
 *
 * Where SIGTRAP waits, sent by somebody, it is blocked itself, as it was meant.
 */
#include "tracer/signals/sigmask.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/calls/ask.h"
#include "tracer/calls/guard.h"
#include "tracer/calls/inject.h"
#include "tracer/calls/restart.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/unslot.h"

#define TRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))
#define SIGNALS 64
#define PAGE UINT64_C(4096)
/* For all threads together to be stopped. Only on a machine that is short of
 * processors does it take more than a moment. */
#define BLOCKING_NS (2 * CP_NS_PER_S)
#define TRIES 8
/* Of the stack, at most, where frames of signals are looked for. */
#define FRAMES_WORDS 64
#define FRAMES_MOST UINT64_C(65536)

/* ---- masks ---- */

static uint64_t stand_in(uint64_t mask)
{
	return mask & TRAP_BIT ? (mask & ~TRAP_BIT) | CP_SIGTRAP_STAND_IN : mask;
}

/* Of a mask in which the stand-in is no more than itself, yet. */
static uint64_t first_stand_in(uint64_t mask)
{
	return stand_in(mask & ~CP_SIGTRAP_STAND_IN);
}

/* Does it have the stand-in blocked, and not SIGTRAP? */
static bool blocks_stand_in(uint64_t mask)
{
	return (mask & (TRAP_BIT | CP_SIGTRAP_STAND_IN)) == CP_SIGTRAP_STAND_IN;
}

/* Is the stand-in, in this mask of the thread's, no more than itself? So it is before the first
 * change, and where a handler that began before it returns to what the program blocked itself.
 * Who was not held when calls began to go by way of our code may have it from there, and where an
 * earlier cprof was killed it may mean SIGTRAP since then. */
static bool is_first(const struct thread *t, uint64_t mask)
{
	const struct space *space = t->process->space;

	return !space->left && ((!t->stands_in && !space->translates) ||
				(blocks_stand_in(mask) && mask == t->first_mask));
}

/* Changes the mask of a stopped thread. False: it is gone, or its mask is right. */
static bool change_mask(pid_t tid, uint64_t (*change)(uint64_t mask))
{
	uint64_t mask, other;

	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask))
		return false;
	other = change(mask);
	return other != mask && !ptrace(PTRACE_SETSIGMASK, tid, sizeof(other), &other);
}

/* A thread in a handler of SIGTRAP's, which blocks it: what was blocked where that began, and
 * will be again. By what the kernel wrote on the stack; `mask`: it is in none. */
static uint64_t interrupted_mask(const struct thread *t, uint64_t mask)
{
	const struct space *space = t->process->space;
	uint64_t regs[PRSTATUS_MAX / 8], words[FRAMES_WORDS], before, at;
	struct cp_syscall_state s;
	size_t i;

	if (!space->own.restorer || space->own.handler <= (uintptr_t)SIG_IGN ||
	    !regs_read(t->tid, regs))
		return mask;
	cp_arch_syscall_state(regs, &s);
	for (at = s.sp & ~UINT64_C(7); at < s.sp + FRAMES_MOST; at += sizeof(words)) {
		if (!space_read(space, at, words, sizeof(words)))
			break;
		for (i = 0; i < FRAMES_WORDS; i++)
			if (words[i] == space->own.restorer &&
			    space_read(space, at + 8 * i + CP_SIGNAL_FRAME_MASK, &before,
				       sizeof(before)) &&
			    !(before & TRAP_BIT))
				return before;
	}
	return mask;
}

/* What the thread is to block instead of `mask`, which it does from now on. */
static uint64_t change_for(struct thread *t, uint64_t mask)
{
	bool first = is_first(t, mask);

	if (mask & TRAP_BIT && proc_is_pending(t->tid, SIGTRAP))
		return mask;
	if (first && !t->stands_in)
		t->first_mask = mask & TRAP_BIT ? interrupted_mask(t, mask) : mask;
	if (!t->stands_in) /* again, it may be */
		t->given_back = false;
	t->stands_in = true;
	return first ? first_stand_in(mask) : stand_in(mask);
}

void sigmask_change(struct thread *t)
{
	uint64_t mask, other;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask))
		return;
	other = change_for(t, mask);
	if (other != mask)
		ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(other), &other);
}

void sigmask_stand_in(struct thread *t)
{
	if (!t->process->space->handler)
		return;
	t->stands_in = true; /* its parent does */
	sigmask_change(t);
}

/* What the thread blocks where SIGTRAP is blocked as itself again. */
static uint64_t given_back(const struct thread *t, uint64_t mask)
{
	if (is_first(t, mask) && mask == t->first_mask)
		return mask;
	return cp_sigmask_seen(mask) | (t->first_mask & CP_SIGTRAP_STAND_IN);
}

bool sigmask_was_taken(const struct thread *t, uint64_t mask)
{
	return !t->stands_in && t->first_mask & TRAP_BIT && mask == (t->first_mask & ~TRAP_BIT);
}

bool sigmask_is_to_give_back(const struct thread *t)
{
	uint64_t mask;

	if (t->given_back)
		return false;
	mask = proc_blocked(t->tid);
	return given_back(t, mask) != mask;
}

void sigmask_give_back_to(struct thread *t)
{
	uint64_t mask, other;

	if (t->given_back)
		return;
	if (!ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask)) {
		other = given_back(t, mask);
		if (other != mask)
			ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(other), &other);
	}
	t->given_back = true;
	t->stands_in = false;
}

void sigmask_give_back(pid_t tid)
{
	change_mask(tid, cp_sigmask_seen);
}

/* ---- threads ---- */

/* Does it block SIGTRAP, or what is to stand for that? */
static bool is_to_change(struct thread *t)
{
	uint64_t mask = proc_blocked(t->tid);

	return (mask & TRAP_BIT && !proc_is_pending(t->tid, SIGTRAP)) ||
	       (blocks_stand_in(mask) && is_first(t, mask));
}

/* Does it, once our code is not there any more? */
static bool is_to_change_back(const struct tracer *tr, const struct thread *t)
{
	if (t->process->space->left)
		return blocks_stand_in(proc_blocked(t->tid));
	return tr->ending && sigmask_is_to_give_back(t);
}

/* Is it one of those that run, or that block SIGTRAP in a call that may be interrupted? One
 * that wakes up after a SIGKILL of ours would die of the first breakpoint.
 * Calls that the code of detours makes are its own. */
enum wanted { NOT_WANTED, RUNS, WAITS };

static enum wanted is_wanted(struct tracer *tr, struct thread *t)
{
	unsigned long long args[6];
	uint64_t pc, sp;
	int64_t nr;

	if (t->state == THREAD_HELD || t->process->launching)
		return NOT_WANTED;
	if (proc_call(tr, t, &nr, args) != PROC_BLOCKED || nr < 0)
		return RUNS;
	if (t->process->space->chunks.count && proc_where(tr, t, &pc, &sp) == PROC_BLOCKED &&
	    detours_in_chunks(t->process->space, pc, 1))
		return RUNS;
	return (is_to_change(t) || is_to_change_back(tr, t)) && restart_is_bearable(nr, args)
		       ? WAITS
		       : NOT_WANTED;
}

static bool is_in(const struct tids *tids, pid_t tid)
{
	size_t i;

	for (i = 0; i < tids->count; i++)
		if (tids->items[i] == tid)
			return true;
	return false;
}

/* By their ids, for they may go meanwhile. Those that run are interrupted, all at once. */
static void choose(struct tracer *tr, const struct injection *in, enum wanted which,
		   struct tids *ret)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == in->space && t != in->thread &&
		    !is_in(&in->others, t->tid) && is_wanted(tr, t) == which &&
		    (which == WAITS || !ptrace(PTRACE_INTERRUPT, t->tid, 0, 0)) &&
		    !cp_vec_push(ret, t->tid))
			return;
	}
}

/* A thread that has loaded the number of its call makes it as others will. */
static bool step_back_regs(const struct space *space, uint64_t *regs)
{
	struct cp_syscall_state s;
	const struct site *site;
	unsigned i;

	cp_arch_syscall_state(regs, &s);
	for (i = CP_SIGCALL_JUMP; i <= CP_SIGCALL_JUMP + CP_SIGCALL_BETWEEN; i++) {
		site = space_site(space, s.pc - i);
		if (!site || !site->step.sigcall || s.pc >= site->step.resume)
			continue;
		cp_arch_set_pc(regs, site->address);
		return true;
	}
	return false;
}

static void step_back(struct thread *t)
{
	uint64_t regs[PRSTATUS_MAX / 8];

	if (regs_read(t->tid, regs) && step_back_regs(t->process->space, regs))
		regs_write(t->tid, regs);
}

static bool goes_on(struct tracer *tr, pid_t tid)
{
	const struct thread *t = thread_find(tr, tid);

	return t && t->state != THREAD_HELD && !proc_has_ended(tid);
}

/* NULL: it is gone, or goes on running. */
static struct thread *hold(struct tracer *tr, pid_t tid, bool interrupted, uint64_t deadline)
{
	struct thread *t;

	do
		t = ask_stop(tr, tid, interrupted);
	while (!t && goes_on(tr, tid) && cp_now() < deadline);
	return t;
}

/* Those of `tids` that hold still are added to in->others. A call that was cut short is put
 * right at once: we may be killed while the thread is held. */
static void hold_all(struct tracer *tr, struct injection *in, const struct tids *tids,
		     bool interrupted, uint64_t deadline)
{
	size_t i;

	for (i = 0; i < tids->count; i++) {
		struct thread *t = hold(tr, tids->items[i], interrupted, deadline);

		if (!t && goes_on(tr, tids->items[i])) {
			in->running++;
			in->unseen += !thread_find(tr, tids->items[i])->passed;
		}
		if (!t || t->state == THREAD_HELD)
			continue;
		t->passed = true;
		restart_repair(tr, t, NULL);
		if (!cp_vec_push(&in->others, t->tid))
			ask_let_run(tr, t);
	}
}

static void hold_those(struct tracer *tr, struct injection *in, enum wanted which,
		       uint64_t deadline)
{
	struct tids tids = { 0 };

	choose(tr, in, which, &tids);
	hold_all(tr, in, &tids, which == RUNS, deadline);
	cp_vec_free(&tids);
}

/* Is one not held whose mask is to change? */
static bool is_one_left(struct tracer *tr, const struct injection *in)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == in->space && t != in->thread &&
		    !is_in(&in->others, t->tid) && (is_to_change(t) || is_to_change_back(tr, t)) &&
		    is_wanted(tr, t) != NOT_WANTED)
			return true;
	}
	return false;
}

/* Who ran when others were looked for that wait, and waits by now, or the other way round. */
static void hold_rest(struct tracer *tr, struct injection *in, uint64_t deadline)
{
	unsigned tries = TRIES;

	while (tries-- && is_one_left(tr, in)) {
		hold_those(tr, in, WAITS, deadline);
		hold_those(tr, in, RUNS, deadline);
	}
}

void sigmask_hold_others(struct tracer *tr, struct injection *in)
{
	uint64_t deadline = cp_now() + BLOCKING_NS;

	in->others = (struct tids){ 0 };
	in->running = in->unseen = 0;
	hold_those(tr, in, WAITS, deadline); /* one by one: each is put right then */
	hold_those(tr, in, RUNS, deadline);
	hold_rest(tr, in, deadline);
	cp_debug("%zu threads of %d hold still, %u do not", in->others.count, (int)in->space->pid,
		 in->running);
}

void sigmask_hold_woken(struct tracer *tr, struct injection *in)
{
	uint64_t deadline = cp_now() + BLOCKING_NS;

	hold_those(tr, in, RUNS, deadline);
	hold_rest(tr, in, deadline);
}

void sigmask_let_others_run(struct tracer *tr, struct injection *in)
{
	struct thread *t;
	size_t i;

	for (i = 0; i < in->others.count; i++) {
		t = thread_find(tr, in->others.items[i]);
		if (t)
			ask_let_run(tr, t);
	}
	cp_vec_free(&in->others);
	in->running = 0;
}

/* Does `held` to those that are held with in->thread, `standing` to who is at a hit. */
static void visit(struct tracer *tr, const struct injection *in, void (*held)(struct thread *t),
		  void (*standing)(struct thread *t))
{
	uint64_t key, value;
	size_t cursor = 0, i;

	for (i = 0; i < in->others.count; i++) {
		struct thread *t = thread_find(tr, in->others.items[i]);

		if (t)
			held(t);
	}
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == in->space && t != in->thread && t->state == THREAD_HELD)
			standing(t);
	}
}

static void change_and_step_back(struct thread *t)
{
	sigmask_change(t);
	step_back(t);
}

static void change_held(struct tracer *tr, const struct injection *in)
{
	visit(tr, in, change_and_step_back, sigmask_change);
}

/* What another cprof left behind knows of no thread what it blocked before. */
static void change_back(struct thread *t)
{
	if (t->process->space->left) {
		change_mask(t->tid, cp_sigmask_seen);
		return;
	}
	unslot_sigcall(t);
	sigmask_give_back_to(t);
}

void sigmask_change_back(struct tracer *tr, struct injection *in)
{
	struct cp_regs regs;

	visit(tr, in, change_back, change_back);
	cp_arch_regs_from_prstatus(in->regs, &regs);
	if (unslot_sigcall_regs(in->space, &regs)) {
		cp_arch_regs_to_prstatus(&regs, in->regs);
		guard_renew(in);
	}
}

/* Before anything changes: what the stand-in is to whoever can't be held. */
static void note_masks(struct tracer *tr, const struct injection *in)
{
	const struct space *space = in->space;
	uint64_t key, value;
	size_t cursor = 0;

	while (!space->translates && cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == space && !t->stands_in)
			t->first_mask = t == in->thread ? in->mask : proc_blocked(t->tid);
	}
}

void sigmask_begin(struct tracer *tr, struct injection *in)
{
	uint64_t mask;

	note_masks(tr, in);
	sigmask_hold_others(tr, in);
	change_held(tr, in);
	mask = change_for(in->thread, in->mask);
	if (mask != in->mask)
		inject_set_mask(in, mask);
	if (step_back_regs(in->space, in->regs))
		guard_renew(in);
}

/* ---- handlers ---- */

static bool exchange(struct injection *in, uint64_t page, int signal, struct trap_action *action)
{
	uint64_t old_at = page + sizeof(*action);

	return space_write(in->space, page, action, sizeof(*action)) &&
	       !inject_call(in, SYS_rt_sigaction,
			    (const uint64_t[6]){ (uint64_t)signal, page, old_at, 8 }) &&
	       space_read(in->space, old_at, action, sizeof(*action));
}

/* The program may set another one meanwhile, which then is what comes back. */
static void change_action(struct injection *in, uint64_t page, int signal,
			  uint64_t (*change)(uint64_t mask))
{
	struct trap_action was, action;
	int tries = TRIES;

	if (inject_call(in, SYS_rt_sigaction,
			(const uint64_t[6]){ (uint64_t)signal, 0, page, 8 }) ||
	    !space_read(in->space, page, &was, sizeof(was)))
		return;
	action = was;
	action.mask = change(was.mask);
	while (action.mask != was.mask && tries--) {
		if (!exchange(in, page, signal, &action) || !memcmp(&action, &was, sizeof(was)))
			return;
		was = action;
		was.mask = 0;
		action.mask = change(action.mask);
	}
}

static void change_actions(struct injection *in, uint64_t (*change)(uint64_t mask))
{
	const uint64_t map[6] = {
		0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
	};
	uint64_t caught = proc_caught(in->thread->tid) & ~TRAP_BIT;
	int64_t page;
	int signal;

	if (!caught)
		return;
	page = inject_call(in, SYS_mmap, map);
	if (page < 0 && page > -4096)
		return;
	for (signal = 1; signal <= SIGNALS; signal++)
		if (caught >> (signal - 1) & 1)
			change_action(in, (uint64_t)page, signal, change);
	inject_call(in, SYS_munmap, (const uint64_t[6]){ (uint64_t)page, PAGE });
}

void sigmask_actions(struct tracer *tr, struct injection *in)
{
	if (!in->space->fresh) /* an exec leaves no handlers */
		change_actions(in, in->space->left ? stand_in : first_stand_in);
	/* Handlers that began before. */
	sigmask_hold_others(tr, in);
	change_held(tr, in);
	sigmask_let_others_run(tr, in);
}

void sigmask_end(struct injection *in)
{
	if (!in->thread->given_back)
		inject_set_mask(in, given_back(in->thread, in->mask));
	in->thread->given_back = true;
	in->thread->stands_in = false;
	change_actions(in, cp_sigmask_seen);
}

void sigmask_end_all(struct tracer *tr, struct injection *in)
{
	const struct thread *but = in->thread;
	struct tids tids = { 0 };
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == in->space && t != but &&
		    blocks_stand_in(proc_blocked(t->tid)) && ask_may_stop(tr, t) &&
		    !cp_vec_push(&tids, t->tid))
			break;
	}
	for (i = 0; i < tids.count; i++) {
		struct thread *t = ask_stop(tr, tids.items[i], false);

		if (!t)
			continue;
		change_mask(t->tid, cp_sigmask_seen);
		ask_let_run(tr, t);
	}
	cp_vec_free(&tids);
	if (blocks_stand_in(in->mask))
		inject_set_mask(in, cp_sigmask_seen(in->mask));
	change_actions(in, cp_sigmask_seen);
}
