/* SPDX-License-Identifier: MIT
 *
 * A timer whose signal comes every 100 us, and a handler that takes longer than
 * that since it has breakpoints: when it returns, the next signal waits, and is
 * delivered before a single instruction of what was interrupted. The program goes
 * on for ever and gets nowhere.
 *
 *     main   ──┐         ┌┐        ┌┐        ┌┐       no instruction between
 *     handler  └ hit hit ┘└ hit hit┘└ hit hit┘└ ...
 *                     ▲ the next signal is pending here already
 *
 * No share of the time tells that from a function that is called all the time: what
 * a loop does besides may be as little. But what was interrupted is, to the last
 * register, where it was the time before, not in a system call, and has hit no
 * breakpoint. A loop of one instruction that waits for the handler looks like that,
 * too: there, no signal waits while the one before is handled. Where all that holds
 * at nine of ten signals for a second, the function that is entered most often has
 * to go, named in full or not, and then the next one, until the program gets on.
 *
 * A handler that leaves by siglongjmp() unblocks its signal on the way. The one that waits
 * then comes inside it, and so on, until the stack is full, which is a matter of a few: there,
 * the third of a signal that comes inside of the one before is enough. Signals of several
 * kinds come inside of each other as they should.
 */
#include "tracer/known/starve.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "tracer/known/regs.h"
#include "tracer/known/state.h"

#define WINDOW_NS CP_NS_PER_S
#define WINDOW_LEAST_NS (50 * CP_NS_PER_MS)
#define DELIVERIES_LEAST 8
#define NESTED_MOST 3
/* What the kernel writes for a handler is larger; what a handler has of its own is less. */
#define FRAME_LEAST 512
#define HANDLER_MOST 16384
/* Signals that come inside of each other are no further apart: another stack is. */
#define NESTED_WITHIN 65536
/* Pending signals that are looked at. */
#define PEEKED 16

static bool waits_in(pid_t tid, int signal, uint32_t flags)
{
	siginfo_t found[PEEKED];
	struct __ptrace_peeksiginfo_args args = { .flags = flags, .nr = PEEKED };
	long n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, found), i;

	for (i = 0; i < n; i++)
		if (found[i].si_signo == signal)
			return true;
	return false;
}

void starve_hit(struct thread *t, uint64_t sp)
{
	struct starve *s = &t->starve;
	size_t i;

	s->hit = true;
	s->hit_sp = sp;
	if (sp > s->found_sp && sp - s->found_sp < NESTED_WITHIN)
		s->nested = 0; /* that handler is left */
	if (!s->looks)
		return;
	for (i = 0; i < STARVE_PLACES; i++)
		s->places[i].moved |= s->places[i].sp == sp;
	if (!s->waits)
		s->waits = waits_in(t->tid, s->signal, 0) ||
			   waits_in(t->tid, s->signal, PTRACE_PEEKSIGINFO_SHARED);
}

bool starve_enters(struct thread *t, uint32_t group)
{
	struct starve *s = &t->starve;

	if (s->found && group == s->most) {
		s->found = false;
		s->votes = 0;
		return true;
	}
	if (!s->votes)
		s->most = group;
	s->votes = s->most == group ? s->votes + 1 : s->votes - 1;
	return false;
}

/* FNV-1a, by words. */
static uint64_t hash_of(const uint64_t *regs, uint64_t seed)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ seed;
	size_t i;

	for (i = 0; i < PRSTATUS_MAX / 8; i++)
		hash = (hash ^ regs[i]) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

static void begin(struct starve *s, uint64_t now)
{
	s->since_ns = now;
	s->deliveries = s->still = 0;
}

static void judge(struct starve *s, uint64_t now)
{
	if (!s->window_ns)
		s->window_ns = WINDOW_NS;
	if (now - s->since_ns < s->window_ns || s->deliveries < DELIVERIES_LEAST)
		return;
	s->found = s->votes && s->still * 10 >= s->deliveries * 9;
	s->window_ns = s->found ? s->window_ns / 2 : WINDOW_NS;
	if (s->window_ns < WINDOW_LEAST_NS)
		s->window_ns = WINDOW_LEAST_NS;
	begin(s, now);
}

/* Does it interrupt the handler of the one before, where breakpoints were hit since? */
static bool comes_inside(const struct starve *s, uint64_t sp)
{
	return sp < s->hit_sp + FRAME_LEAST && sp + HANDLER_MOST > s->hit_sp;
}

/* Handlers inside of handlers, while the next signal waits already. */
static void judge_depth(struct starve *s, int signal, const struct starve_place *before,
			uint64_t sp)
{
	uint64_t below = before->sp - sp;

	if (signal == s->signal && comes_inside(s, sp) && below >= FRAME_LEAST &&
	    below < FRAME_LEAST + NESTED_WITHIN)
		s->nested += s->waits;
	else if (sp != before->sp)
		s->nested = 0;
	s->found |= s->nested >= NESTED_MOST;
}

void starve_signal(struct thread *t, int signal, uint64_t now_ns)
{
	uint64_t regs[PRSTATUS_MAX / 8] = { 0 };
	struct starve *s = &t->starve;
	struct starve_place *place = &s->places[(unsigned)signal % STARVE_PLACES], now;
	struct cp_syscall_state at;

	if (!s->hit || !regs_read(t->tid, regs))
		return;
	cp_arch_syscall_state(regs, &at);
	now = (struct starve_place){ hash_of(regs, (uint64_t)signal), at.sp, false };
	s->suspect = at.nr < 0 && now.registers == place->registers && !place->moved;
	judge_depth(s, signal, place, at.sp);
	s->looks = s->suspect || comes_inside(s, at.sp) || s->nested;
	if (!s->since_ns)
		begin(s, now_ns);
	s->deliveries++;
	s->still += s->suspect && s->waits;
	judge(s, now_ns);
	*place = now;
	s->found_sp = at.sp;
	s->signal = signal;
	s->hit = s->waits = false;
}

void starve_forget(struct thread *t)
{
	memset(&t->starve, 0, sizeof(t->starve));
}
