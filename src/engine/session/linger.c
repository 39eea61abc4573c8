/* SPDX-License-Identifier: MIT
 *
 * Processes that live on when CMD has ended:
 *
 *     CMD ends ──► none left ─────────────────────────────► the session ends
 *                  some, and they are to be waited for
 *                      └─► says so ──► all ended, time is up, or stop() ──┘
 *
 * The kernel tells the controller of CMD's end when the tracer has seen it, and a
 * process that forks is held until the tracer has seen the child. So all processes that
 * CMD has left are in the ring by then.
 */
#include "engine/session/linger.h"

#include "base/clock.h"
#include "engine/target/lives.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

void cprof_session_set_wait(cprof_session *s, uint64_t ns, cprof_wait_fn begins, void *data)
{
	if (s)
		s->life.linger = (struct engine_linger){ .ns = ns, .begins = begins, .data = data };
}

void cprof_session_each_process(cprof_session *s, cprof_process_fn cb, void *data)
{
	size_t i;

	for (i = 0; s && cb && i < s->processes.count; i++) {
		cprof_process *p = s->processes.items[i];

		if (p->loaded && engine_process(s, p->pid) == p)
			cb(p, data);
	}
}

static void count(cprof_process *p, void *data)
{
	(void)p;
	++*(size_t *)data;
}

/* How many processes are left. CMD is gone, whether or not its end was handled already. */
static size_t count_left(cprof_session *s)
{
	const cprof_process *command = engine_process(s, s->child);
	size_t left = 0;

	cprof_session_each_process(s, count, &left);
	return left - (command && command->loaded);
}

bool engine_lingers(cprof_session *s)
{
	struct engine_linger *l = &s->life.linger;
	uint64_t now = cp_now();

	if (!l->ns || !count_left(s))
		return false;
	if (!l->until_ns) {
		l->until_ns = l->ns > UINT64_MAX - now ? UINT64_MAX : now + l->ns;
		if (l->begins)
			l->begins(s, l->data);
	}
	return now < l->until_ns;
}
