/* SPDX-License-Identifier: MIT
 *
 * SIGTRAP, which is the program's and ours at the same time.
 *
 *     the kernel has     our handler, which leads to ─┐ (should we be killed)
 *     the program sees   its own action ◄─────────────┘ header.old_*, space->own
 *
 * A handler of the program's is not put in the place of ours: where it calls
 * sigaction() there is a breakpoint, what it passes is kept, ours for it is set
 * and what was there before is written at that very stop; the call then asks
 * for nothing. So no moment comes in which we could leave and half is done.
 *
 * When a breakpoint is hit while SIGTRAP is blocked, the kernel unblocks it and
 * takes the handler away (force_sig_info_to_task()). There is little that still
 * blocks it (sigmask.c): then its stand-in is blocked for it, and the handler put
 * back, before the thread goes on. That the handler is gone tells that SIGTRAP was
 * blocked, but costs more than all else at a hit. So it is looked at where the mask
 * has changed, after a signal (while its handler runs, more is blocked), at first,
 * and now and then.
 */
#include "tracer/signals/trap.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "tracer/calls/ask.h"
#include "tracer/calls/inject.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/sigcall.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/windows.h"
#include "tracer/restore.h"
#include "tracer/signals/jumps.h"
#include "tracer/signals/sigmask.h"

#define HANDLER_AT CP_AREA_HANDLER
#define RESTORER 0x04000000u /* SA_RESTORER */
#define HANDLER_FLAGS (SA_SIGINFO | SA_ONSTACK | SA_NODEFER)
/* Flags of the program's that the kernel acts upon by itself. Not SA_RESETHAND: after
 * a SIGKILL of ours a breakpoint would take the handler away. */
#define PASSED_FLAGS ((uint64_t)SA_RESTART)
#define TRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))

/* For children made by vfork() to be on their own. */
#define CHILD_NS (CP_NS_PER_S / 10)
#define CHILD_NAP_NS 50000

/* For the threads of a killed cprof's program to have been held once. */
#define LEFT_NS (5 * CP_NS_PER_S)
#define LEFT_NAP_NS CP_NS_PER_MS

#define LOOK_EVERY 64 /* hits between looks at a handler that may be gone */
#define LOOKS 4 /* at the hits after something that may block SIGTRAP */

/* Reads the program's action for SIGTRAP, or, with `set`, changes it. That takes memory that can be written to: a page is mapped for a moment. */
static int pass_action(const struct space *space, struct injection *in, struct trap_action *action,
		       bool set)
{
	const uint64_t map[6] = {
		0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
	};
	int64_t page = inject_call(in, SYS_mmap, map), result;
	uint64_t at = (uint64_t)page;

	if (page < 0 && page > -4096)
		return (int)-page;
	if (set && !space_write(space, at, action, sizeof(*action)))
		result = -EIO;
	else
		result = inject_call(in, SYS_rt_sigaction,
				     (const uint64_t[6]){ SIGTRAP, set ? at : 0, set ? 0 : at, 8 });
	if (!result && !set && !space_read(space, at, action, sizeof(*action)))
		result = -EIO;
	inject_call(in, SYS_munmap, (const uint64_t[6]){ at, 4096 });
	return (int)-result;
}

/* An action that an earlier cprof left is not the program's: the one behind it
 * is. A handler of ours is in the first page of its area. */
static void see_through(const struct space *space, struct trap_action *action)
{
	struct cp_area_header header;

	if (!space_read(space, action->handler & ~UINT64_C(4095), &header, sizeof(header)) ||
	    header.magic != CP_AREA_MAGIC || header.handler != action->handler)
		return;
	*action = (struct trap_action){ header.old_handler, header.old_flags, header.old_restorer,
					header.old_mask };
}

static int set_action_by(uint64_t area, struct injection *in, const struct trap_action *action)
{
	const struct space *space = in->space;
	/* In the area, where the kernel can read it. */
	uint64_t at = area + HANDLER_AT - sizeof(*action);

	if (!space_write(space, at, action, sizeof(*action)))
		return EIO;
	return (int)-inject_call(in, SYS_rt_sigaction, (const uint64_t[6]){ SIGTRAP, at, 0, 8 });
}

static int set_action(const struct space *space, struct injection *in,
		      const struct trap_action *action)
{
	return set_action_by(space->table->areas.items[0].address, in, action);
}

/* ---- our handler ---- */

/* The signals that are blocked while the program's handler runs: SIGTRAP by its
 * stand-in. */
static uint64_t handler_mask(const struct trap_action *own)
{
	uint64_t mask = own->mask & ~(TRAP_BIT | CP_SIGTRAP_STAND_IN);
	bool blocks = own->mask & TRAP_BIT || !(own->flags & SA_NODEFER);

	return blocks ? mask | CP_SIGTRAP_STAND_IN : mask;
}

/* Ours in the place of `own`. The program's handler, which ours jumps to, finds
 * the signals blocked that it asked for, and calls start again or not. */
static struct trap_action ours(const struct space *space, const struct trap_action *own)
{
	struct trap_action action = {
		.handler = space->handler,
		.flags = HANDLER_FLAGS | RESTORER | SA_RESTART,
		.restorer = space->restorer,
	};

	if (own->handler == (uintptr_t)SIG_DFL || own->handler == (uintptr_t)SIG_IGN)
		return action;
	action.flags = HANDLER_FLAGS | RESTORER | (own->flags & PASSED_FLAGS);
	action.mask = handler_mask(own);
	return action;
}

/* For our handler to find, should we be killed, and for the next cprof. */
static bool write_own(const struct space *space)
{
	const struct trap_action *own = &space->own;
	const uint64_t old[] = { own->handler, own->flags, own->restorer, own->mask };

	_Static_assert(offsetof(struct cp_area_header, old_mask) ==
			       offsetof(struct cp_area_header, old_handler) + 24,
		       "written in one piece");
	return space_write(space,
			   space->table->areas.items[0].address +
				   offsetof(struct cp_area_header, old_handler),
			   old, sizeof(old));
}

/* Code and header of the first area. */
static bool place_handler(struct space *space)
{
	uint64_t base = space->table->areas.items[0].address, at = base + HANDLER_AT;
	struct cp_area_header header;
	size_t size, entry, restorer, area_at;
	const uint8_t *code = cp_trap_handler(cp_arch_host(), &size, &entry, &restorer, &area_at);

	if (!code || size > CP_AREA_SIGCALL - HANDLER_AT ||
	    !space_read(space, base, &header, sizeof(header)))
		return false;
	header.handler = at + entry;
	if (!space_write(space, at, code, size) ||
	    !space_write(space, at + area_at, &base, sizeof(base)) ||
	    !space_write(space, base, &header, sizeof(header)) || !write_own(space))
		return false;
	space->handler = at + entry;
	space->restorer = at + restorer;
	return true;
}

static void set_installed(const struct space *space, uint64_t area, uint64_t installed)
{
	space_write(space, area + offsetof(struct cp_area_header, installed), &installed,
		    sizeof(installed));
}

/* An exec leaves nothing of an action but that a signal is ignored. */
static int read_own(struct space *space, struct injection *in)
{
	bool ignored;

	if (!space->fresh)
		return pass_action(space, in, &space->own, false);
	ignored = space->unfiltered ? space->ignored_first & TRAP_BIT
				    : proc_ignores(in->thread->tid, SIGTRAP);
	space->own = (struct trap_action){
		.handler = (uintptr_t)(ignored ? SIG_IGN : SIG_DFL),
	};
	return 0;
}

static int install(struct space *space, struct injection *in)
{
	struct trap_action action;
	int err = read_own(space, in);

	if (!err) {
		see_through(space, &space->own);
		err = place_handler(space) ? 0 : EIO;
	}
	if (!err) {
		action = ours(space, &space->own);
		/* First: who comes after us looks for it. */
		set_installed(space, space->table->areas.items[0].address, 1);
		err = set_action(space, in, &action);
	}
	if (err)
		space->handler = 0;
	return err;
}

/* A child that was made by vfork() before we came has the memory and is not traced: a
 * breakpoint would be its end. Its parent waits until it executes or exits. */
static bool waits_for_child(struct tracer *tr, const struct space *space)
{
	unsigned long long args[6];
	uint64_t key, value;
	size_t cursor = 0;
	char state[4];
	int64_t nr;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == space && t->state != THREAD_HELD &&
		    proc_call(tr, t, &nr, args) == PROC_BLOCKED &&
		    (nr == SYS_clone || nr == SYS_clone3 || nr == SYS_vfork) &&
		    cp_file_stat_field(t->tid, 3, state, sizeof(state)) && *state == 'D')
			return true;
	}
	return false;
}

static bool wait_for_children(struct tracer *tr, const struct space *space)
{
	const struct timespec nap = { 0, CHILD_NAP_NS };
	uint64_t deadline = cp_now() + CHILD_NS;

	while (waits_for_child(tr, space)) {
		if (cp_now() > deadline)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

int trap_install(struct tracer *tr, struct space *space, struct injection *ret)
{
	int err;

	ret->thread = NULL;
	if (space->handler)
		return 0;
	err = wait_for_children(tr, space) ? ask_begin(tr, space, ret) : EAGAIN;
	if (err) {
		ret->thread = NULL;
		return err;
	}
	err = install(space, ret);
	if (err)
		trap_installed(tr, ret);
	else
		sigmask_begin(tr, ret);
	return err;
}

void trap_set(struct injection *in)
{
	struct trap_action action = ours(in->space, &in->space->own);

	if (set_action(in->space, in, &action))
		cp_debug("a child has no handler for SIGTRAP");
}

int trap_renew(struct injection *in)
{
	struct space *space = in->space;
	bool reset = space->reset;
	int err;

	space->reset = space->stale = false;
	err = install(space, in);
	if (!err && reset) {
		space->own.handler = (uintptr_t)SIG_DFL;
		write_own(space);
	}
	return err;
}

bool trap_hold(struct tracer *tr, struct space *space, struct injection *in)
{
	if (!in->thread) {
		if (ask_begin(tr, space, in)) {
			in->thread = NULL;
			return false;
		}
		sigmask_begin(tr, in);
	}
	return !in->running;
}

void trap_installed(struct tracer *tr, struct injection *in)
{
	if (!in->thread)
		return;
	sigmask_let_others_run(tr, in);
	if (in->space->handler)
		sigmask_actions(tr, in);
	ask_end(tr, in);
	in->thread = NULL;
}

void trap_ignore(struct tracer *tr, struct thread *t)
{
	struct space *space = t->process->space;
	struct trap_action ignore = { .handler = (uintptr_t)SIG_IGN };
	struct injection in;

	space->ignored = false;
	if (space_open(space) || !inject_here(tr, t, &in))
		return;
	if (pass_action(space, &in, &ignore, true))
		cp_debug("SIGTRAP can't be ignored as before an exec");
	else
		space->ignored_first |= TRAP_BIT;
	inject_end(tr, &in);
}

/* Is the action that the kernel has ours, or was ours taken away by it at a
 * breakpoint that was hit while SIGTRAP was blocked? Our handler itself takes it
 * away where the program is to die. */
static bool is_left_to_us(const struct injection *in, const struct trap_action *now)
{
	const struct space *space = in->space;
	struct cp_syscall_state s;

	cp_arch_syscall_state(in->regs, &s);
	return now->handler == space->handler ||
	       (now->handler == (uintptr_t)SIG_DFL && space->watched && !space_area(space, s.pc));
}

static void give_action_back(struct space *space, struct injection *in)
{
	struct trap_action now, own = space->own;

	if (pass_action(space, in, &now, false)) {
		cp_debug("SIGTRAP's action can't be put back");
	} else if (is_left_to_us(in, &now)) {
		if (own.flags & RESTORER && !own.restorer)
			own.restorer = now.restorer; /* that of the C library */
		if (!set_action(space, in, &own)) {
			set_installed(space, space->table->areas.items[0].address, 0);
			space->handler = 0;
		}
	}
}

/* Is there nobody who may come to a stop in the code of detours, where only our handler
 * knows what to do? */
static bool is_out_of_detours(const struct injection *in)
{
	return !in->running || !in->space->code.count;
}

/* Who was blocked in a system call, and woke up, may have come to one of the breakpoints that
 * were there for a moment, or by way of it into the code of detours. There are none now. */
static void hold_woken(struct tracer *tr, struct injection *in)
{
	sigmask_hold_woken(tr, in);
	jumps_lead_out(tr, in);
}

bool trap_remove(struct tracer *tr, struct space *space)
{
	struct windows windows;
	struct injection in;
	bool detours, out;

	if (space_open(space) || ask_begin(tr, space, &in)) {
		cp_debug("no thread of %d can be asked to let go of SIGTRAP", (int)space->pid);
		jumps_out(tr, space, &windows_all);
		sites_clean(space, false);
		return false;
	}
	/* Its children have its memory with breakpoints and handler. */
	tr->stops->serve_newborns(tr);
	detours = windows_unjump(space, &windows_all, &windows);
	sites_clean_traps(space);
	/* A thread on the way from a breakpoint, should we be killed, finds the handler. */
	sigmask_hold_others(tr, &in);
	jumps_lead_out(tr, &in);
	if (detours) {
		windows_put_back(&windows, !in.running);
		sites_clean_traps(space);
	}
	/* Before the handler goes, or a breakpoint that takes their place for a moment would be
	 * the end of who comes there, should we be killed. */
	if (!in.running) {
		sigcall_put_back(space);
		hold_woken(tr, &in);
	}
	out = is_out_of_detours(&in);
	if (out)
		give_action_back(space, &in);
	/* Nobody reads a mask, or an action's, that nobody translates. */
	if (out)
		sigmask_change_back(tr, &in);
	sites_clean(space, false);
	jumps_unmap(tr, &in);
	if (out)
		sigmask_end(&in);
	space->translates &= !out;
	sigmask_let_others_run(tr, &in);
	ask_end(tr, &in);
	return out;
}

/* A thread that is on the way from a breakpoint to the handler finds it: the others are
 * held, or have been since the breakpoints went. */
static bool take_out_left(struct tracer *tr, uint64_t area, struct injection *in)
{
	struct trap_action now, own;

	/* Nobody waits there for room that does not come. */
	cp_restore_rings(in->space->pid, in->space->mem);
	sigmask_hold_others(tr, in);
	if (in->unseen)
		return false;
	if (!jumps_out_left(tr, in) || pass_action(in->space, in, &now, false))
		return false;
	if (!in->running) {
		cp_restore_memory(in->space->pid, in->space->mem, true);
		sigmask_hold_woken(tr, in);
	}
	own = now;
	see_through(in->space, &own);
	if (memcmp(&own, &now, sizeof(own)) != 0) {
		if (own.flags & RESTORER && !own.restorer)
			own.restorer = now.restorer;
		if (set_action_by(area, in, &own))
			return false;
		cp_info("SIGTRAP's handler of a killed cprof taken out of %d", (int)in->space->pid);
	}
	set_installed(in->space, area, 0);
	if (in->running)
		cp_restore_memory(in->space->pid, in->space->mem, false);
	else
		cp_restore_end(in->space->pid, in->space->mem);
	sigmask_change_back(tr, in);
	sigmask_let_others_run(tr, in);
	sigmask_end_all(tr, in);
	return true;
}

void trap_take_out_left(struct tracer *tr, struct space *space)
{
	uint64_t area = space_open(space) ? 0 : cp_restore_handler(space->pid, space->mem);
	const struct timespec nap = { 0, LEFT_NAP_NS };
	uint64_t deadline = cp_now() + LEFT_NS;
	struct injection in;
	bool done = false;

	if (!area)
		return;
	/* The process may go meanwhile. */
	space->users++;
	space->kept = true;
	space->left = true;
	space->left_area = area;
	cp_restore_traps(space->pid, space->mem);
	while (!done && space->users > 1 && cp_now() < deadline) {
		if (!ask_begin(tr, space, &in)) {
			done = take_out_left(tr, area, &in);
			sigmask_let_others_run(tr, &in);
			ask_end(tr, &in);
		}
		if (!done) /* who is in what was left gets on meanwhile */
			nanosleep(&nap, NULL);
	}
	if (!done)
		cp_debug("no thread of %d can be asked to let go of SIGTRAP", (int)space->pid);
	space->kept = false;
	space_release(space);
}

bool trap_of_left(struct thread *t)
{
	const struct space *space = t->process->space;
	uint64_t regs[PRSTATUS_MAX / 8], slot;
	struct cp_syscall_state s;
	siginfo_t si;
	size_t size;

	if (!space->left || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) ||
	    (si.si_code != SI_KERNEL && si.si_code != TRAP_BRKPT) || !regs_read(t->tid, regs))
		return false;
	cp_trap_code(cp_arch_host(), &size);
	cp_arch_syscall_state(regs, &s);
	slot = cp_restore_slot(space->pid, space->mem, s.pc - size, false);
	if (!slot)
		return false;
	cp_arch_set_pc(regs, slot);
	return regs_write(t->tid, regs);
}

/* ---- the program's changes ---- */

/* Has SIGTRAP not handled any more, as the kernel does at a trap that is blocked. */
static void end_by_trap(struct tracer *tr, struct thread *t, uint64_t mask)
{
	struct trap_action none = { .handler = (uintptr_t)SIG_DFL };
	struct space *space = t->process->space;
	struct injection in;

	space->own.handler = (uintptr_t)SIG_DFL;
	if (inject_here(tr, t, &in)) {
		inject_set_mask(&in, mask);
		set_action(space, &in, &none);
		inject_end(tr, &in);
	}
}

/* In a slot nobody has breakpoints but we: that one was served already. */
static bool is_in_slot(const struct thread *t)
{
	uint64_t regs[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;

	if (!regs_read(t->tid, regs))
		return false;
	cp_arch_syscall_state(regs, &s);
	return space_area(t->process->space, s.pc);
}

/* Our handler was taken away at a breakpoint that was hit while the signal waited: it
 * comes once more, and finds it. */
static bool come_again(struct tracer *tr, struct thread *t, uint64_t mask)
{
	const struct space *space = t->process->space;
	struct injection in;

	if (!space_has_trap(space) || space->own.handler == (uintptr_t)SIG_DFL ||
	    space->own.handler == (uintptr_t)SIG_IGN || proc_catches(t->tid, SIGTRAP) ||
	    !inject_requeue(t, SIGTRAP, mask | TRAP_BIT) || !inject_here(tr, t, &in))
		return false;
	inject_set_mask(&in, mask);
	trap_set(&in);
	inject_end(tr, &in);
	return true;
}

/* Did a SIGTRAP that waited come in the place of a trap of the program's own, for which
 * the kernel took our handler away? Traps in slots are ours. */
static bool came_for_trap(const struct thread *t)
{
	const struct space *space = t->process->space;
	uint64_t regs[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;
	uint8_t now[CP_TRAP_MAX];
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	if (proc_catches(t->tid, SIGTRAP) || !regs_read(t->tid, regs))
		return false;
	cp_arch_syscall_state(regs, &s);
	return !space_area(space, s.pc) && space_read(space, s.pc - size, now, size) &&
	       !memcmp(now, trap, size);
}

bool trap_is_blocked(struct tracer *tr, struct thread *t)
{
	const struct space *space = t->process->space;
	uint64_t mask;
	bool is_trap;
	siginfo_t si;

	if (!space->handler || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return false;
	trap_look(t);
	if (si.si_code > 0 && is_in_slot(t))
		return true;
	if (!t->given_back)
		sigmask_change(t);
	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask))
		return false;
	if (!(mask & CP_SIGTRAP_STAND_IN))
		return si.si_code <= 0 && come_again(tr, t, mask);
	is_trap = si.si_code > 0 || came_for_trap(t);
	if (!inject_requeue(t, SIGTRAP, mask | TRAP_BIT))
		return false;
	if (is_trap)
		end_by_trap(tr, t, mask & ~(TRAP_BIT | CP_SIGTRAP_STAND_IN));
	return true;
}

void trap_left(struct thread *t)
{
	if (t->process->space->armed || !t->process->space->table->areas.count)
		return;
	sigmask_give_back_to(t);
}

void trap_delivered(struct thread *t)
{
	struct space *space = t->process->space;

	if (!space_has_trap(space))
		return;
	if (space->reset)
		write_own(space);
	space->reset = space->own.flags & SA_RESETHAND && space->own.handler > (uintptr_t)SIG_IGN;
	if (!space->reset)
		return;
	/* The program's runs once, by the header, which has it until it was called. */
	space->own.handler = (uintptr_t)SIG_DFL;
	space->reset_by = t->tid;
}

static uint64_t mask_word(const sigset_t *set)
{
	uint64_t word;

	memcpy(&word, set, sizeof(word));
	return word;
}

/* Writes the action before, as sigaction() would. */
static void write_old(const struct space *space, uint64_t at)
{
	const struct trap_action *own = &space->own;
	struct sigaction old = { .sa_handler = (void (*)(int))(uintptr_t)own->handler,
				 .sa_flags = (int)own->flags,
				 .sa_restorer = (void (*)(void))(uintptr_t)own->restorer };

	memcpy(&old.sa_mask, &own->mask, sizeof(own->mask));
	space_write(space, at, &old, sizeof(old));
}

/* sigaction(SIGTRAP, ...) becomes one that does nothing; ours for the program's
 * is to be set. True: registers were changed. */
static bool on_sigaction(struct space *space, struct cp_regs *regs)
{
	const uint8_t *arg = cp_arch_host()->args;
	uint64_t new_at = regs->r[arg[1]], old_at = regs->r[arg[2]];
	struct sigaction new;

	if ((int)regs->r[arg[0]] != SIGTRAP || !space_has_trap(space))
		return false;
	if (new_at && (!space_read(space, new_at, &new, sizeof(new)) ||
		       (uintptr_t) new.sa_handler == space->handler))
		return false;
	if (old_at)
		write_old(space, old_at);
	if (new_at) {
		space->own = (struct trap_action){ .handler = (uintptr_t) new.sa_handler,
						   .flags = (uint32_t) new.sa_flags | RESTORER,
						   .mask = mask_word(&new.sa_mask) };
		space->reset = false;
		space->stale = true;
		write_own(space);
	}
	regs->r[arg[1]] = regs->r[arg[2]] = 0;
	return true;
}

bool trap_watch(struct thread *t, unsigned site_flags, uint64_t *prstatus)
{
	struct space *space = t->process->space;
	struct cp_regs regs;

	cp_arch_regs_from_prstatus(prstatus, &regs);
	if (!(site_flags & CP_SITE_SIGACTION) || !on_sigaction(space, &regs))
		return false;
	cp_arch_regs_to_prstatus(&regs, prstatus);
	return true;
}

/* ---- what the kernel took away ---- */

void trap_look(struct thread *t)
{
	t->looks = LOOKS;
}

/* Was it blocked? If not, the program has given up handling it where we did not
 * see that, and it may be ignored. */
static bool was_blocked(const struct space *space, uint64_t mask, bool first, bool changed)
{
	if (space->watched && space_has_trap(space))
		return true;
	return first ? mask != 0 : changed; /* of the first hit this is a guess */
}

/* The kernel has taken ours away. False: the thread can't be asked any more. */
static bool block_again(struct thread *t, uint64_t mask, bool first, bool changed)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) || si.si_code == SI_KERNEL) {
		if (was_blocked(t->process->space, mask, first, changed))
			t->sigmask = mask | CP_SIGTRAP_STAND_IN;
		return true;
	}
	/* Somebody's signal that was pending came in the place of the breakpoint's,
	 * and goes on being pending. */
	t->sigmask = mask |= TRAP_BIT;
	return inject_requeue(t, SIGTRAP, mask);
}

void trap_keep(struct tracer *tr, struct thread *t)
{
	struct space *space = t->process->space;
	struct trap_action action;
	struct injection in;
	uint64_t mask;
	bool first = !t->hits, changed, gone, reset;

	if (!space->handler || ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask))
		return;
	if (!t->hits++)
		t->looks = LOOKS;
	changed = mask != t->sigmask;
	t->sigmask = mask;
	reset = space->reset && space->reset_by == t->tid;
	if (!changed && !reset && !space->stale && !t->looks && t->hits % LOOK_EVERY)
		return;
	t->looks -= t->looks > 0;
	if (reset) {
		write_own(space);
		space->reset = false;
	}
	gone = !proc_thread_catches(tr, t, SIGTRAP) || (first && sigmask_was_taken(t, mask));
	if (gone ? !block_again(t, mask, first, changed) : !space->stale)
		return;
	if (!inject_here(tr, t, &in))
		return;
	inject_set_mask(&in, t->sigmask);
	if (!space->reset)
		write_own(space);
	action = ours(space, &space->own);
	space->stale = set_action(space, &in, &action) != 0;
	inject_end(tr, &in);
}
