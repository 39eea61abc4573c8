/* SPDX-License-Identifier: MIT
 *
 * The switch of the program's own annotations: one bit in its memory, set while
 * the controller wants it and cleared when we leave, however that comes. Nobody
 * is stopped for it. What is behind an address is the program's business: we
 * look for the magic number and write to nothing else.
 *
 * The program may change the same byte at the same moment (its own switch); one
 * of the two changes would be lost then. The controller looks at each poll.
 */
#include "tracer/memory/annotate.h"

#include <cprof/trace_format.h>
#include <errno.h>

#include "tracer/known/lookup.h"
#include "tracer/memory/space.h"

/* Sets or clears our bit in the root; an errno, or 0. */
static int switch_root(struct space *space, uint64_t root, bool on)
{
	uint64_t at = root + offsetof(cprof_trace_root, enabled), magic = 0;
	uint8_t bits; /* the lowest byte of it */

	if (space_open(space))
		return ESRCH;
	if (!space_read(space, root, &magic, sizeof(magic)) || magic != CPROF_TRACE_MAGIC ||
	    !space_read(space, at, &bits, 1))
		return EFAULT;
	if (!(bits & CPROF_TRACE_ENABLED_BY_CONTROLLER) == !on)
		return 0;
	bits ^= CPROF_TRACE_ENABLED_BY_CONTROLLER;
	return space_write(space, at, &bits, 1) ? 0 : EFAULT;
}

void annotate(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct process *p = process_find(tr, rq->pid);
	bool known = false;
	uint64_t *root;

	if (!p) {
		ret->errnum = ESRCH;
		return;
	}
	ret->errnum = switch_root(p->space, rq->address, true);
	cp_vec_for_each(&p->space->annotated, root)
		known |= *root == rq->address;
	if (!ret->errnum && !known && !cp_vec_push(&p->space->annotated, rq->address)) {
		switch_root(p->space, rq->address, false);
		ret->errnum = ENOMEM;
	}
}

void annotate_end(struct space *space)
{
	uint64_t *root;

	cp_vec_for_each(&space->annotated, root)
		switch_root(space, *root, false);
	space->annotated.count = 0;
}
