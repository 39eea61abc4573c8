/* SPDX-License-Identifier: MIT
 *
 * Of who runs, registers are known when it stands still. Everybody is captured in one
 * snapshot of a session, and stays held until the last was told of; as soon as all are
 * known that matter, they are looked at.
 */
#include "cmd/holding.h"

#include <cprof/cprof.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/collecting.h"

static void forget(struct cp_holding *h)
{
	struct cp_leaf *leaf;

	cp_vec_for_each(&h->leaves.list, leaf)
		free((void *)(uintptr_t)leaf->vectors);
	h->leaves.list.count = 0;
}

static bool is_wanted(const struct cp_holding *h, pid_t tid)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		if (h->tids[i] == tid)
			return true;
	return false;
}

static int by_tid(const void *a, const void *b)
{
	const struct cp_leaf *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void look(struct cp_holding *h, bool held)
{
	if (h->looked)
		return;
	h->looked = true;
	cp_vec_sort(&h->leaves.list, by_tid);
	h->look(h->ctx, &h->leaves, held);
}

static void fill(const cprof_context *c, struct cp_leaf *leaf)
{
	const struct cp_arch *arch = cp_arch_host();
	uint8_t *copy = c->xstate ? malloc(c->xstate_size) : NULL;
	unsigned i;

	leaf->regs.known = c->valid;
	for (i = 0; i < arch->nregs; i++)
		leaf->regs.r[i] = c->u.raw[i];
	leaf->has_others = c->parts & CPROF_CONTEXT_SEGMENTS;
	for (i = 0; leaf->has_others && arch->other_names[i] && i < CP_LEAF_OTHERS; i++)
		leaf->others[i] = c->u.raw[arch->nregs + i];
	if (!copy)
		return;
	memcpy(copy, c->xstate, c->xstate_size);
	leaf->vectors = copy;
	leaf->vectors_size = c->xstate_size;
}

static void take(cprof_thread *thread, bool captured, void *data)
{
	struct cp_holding *h = data;
	struct cp_leaf leaf = { .tid = cprof_thread_tid(thread) };
	cprof_context context = { .size = sizeof(context) };

	if (!captured || !is_wanted(h, leaf.tid) ||
	    cprof_thread_context(thread,
				 CPROF_CONTEXT_CONTROL | CPROF_CONTEXT_INTEGER |
					 CPROF_CONTEXT_SEGMENTS | CPROF_CONTEXT_XSTATE,
				 &context))
		return;
	fill(&context, &leaf);
	if (!cp_vec_push(&h->leaves.list, leaf))
		free((void *)(uintptr_t)leaf.vectors);
	if (h->leaves.list.count == h->count)
		look(h, true);
}

static bool has_ended(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	bool ended = pidfd < 0 || poll(&end, 1, 0) > 0;

	cp_close_fd(&pidfd);
	return ended;
}

static void complain(const struct cp_holding *h)
{
	if (!h->may_end || !has_ended(h->pid))
		cp_collecting_complain(h->session);
}

static bool attach(struct cp_holding *h)
{
	const struct cp_stacks_options plain = { 0 };

	h->session = cp_collecting_session(&plain, 0);
	if (!h->session)
		return false;
	if (!cprof_session_attach(h->session, h->pid, 0))
		return true;
	complain(h);
	cprof_session_destroy(h->session);
	h->session = NULL;
	return false;
}

bool cp_hold(struct cp_holding *h)
{
	const unsigned held = CPROF_SNAPSHOT_HOLD | CPROF_SNAPSHOT_FLOATING |
			      (h->stop ? CPROF_SNAPSHOT_STOP_BLOCKED : 0u);

	if (!h->session && !attach(h))
		return false;
	forget(h);
	h->looked = false;
	if (cprof_session_snapshot(h->session, h->rehearses ? 0 : held, take, h)) {
		complain(h);
		return false;
	}
	look(h, false); /* one of them has ended meanwhile */
	return true;
}

void cp_holding_end(struct cp_holding *h)
{
	forget(h);
	cp_vec_free(&h->leaves.list);
	if (h->session)
		cprof_session_destroy(h->session);
	h->session = NULL;
}
