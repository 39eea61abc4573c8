/* SPDX-License-Identifier: MIT
 *
 * Threads that are done with their start routine. glibc calls __call_tls_dtors(), too,
 * when such a routine has returned, a thread is cancelled, or exit() begins.
 */
#include "engine/families/stopping.h"

#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/lives.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

void engine_thread_stopping(cprof_session *s, cprof_thread *t)
{
	if (t->life.stopping)
		return;
	t->life.stopping = true;
	engine_raise(s, thread_stopping, (uintptr_t)t->tid);
}

static bool is_asked(const cprof_session *s)
{
	return engine_has(s, thread_stopping);
}

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	cprof_thread *t = s->current.thread;

	engine_thread_refresh_name(s, t, hit->event->e.ts_ns);
	engine_thread_stopping(s, t);
}

static const struct engine_watch watches[] = {
	{ "pthread_exit", 0, CP_SITE_ENTRY, 0 },
	{ "__call_tls_dtors", 0, CP_SITE_ENTRY, 0 },
};

const struct engine_family engine_stopping_family = {
	.name = "stopping",
	.breakpoints = true,
	.asked = is_asked,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.hit = on_hit,
};
