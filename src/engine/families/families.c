/* SPDX-License-Identifier: MIT
 *
 * The table of families, and those that are nothing but a question to the tracer.
 */
#include "engine/target/family.h"
#include "engine/target/lives.h"
#include "engine/target/state.h"

static bool wants_exits(const cprof_session *s)
{
	return engine_has(s, thread_stopping) || engine_has(s, thread_stopped) ||
	       engine_has(s, domain_unloading);
}

/* Threads stop on their way out. */
const struct engine_family engine_exits_family = {
	.name = "exits",
	.trace = CP_TRACE_EXITS,
	.asked = wants_exits,
};

static bool wants_signals(const cprof_session *s)
{
	return engine_has(s, signal_delivered);
}

const struct engine_family engine_delivered_family = {
	.name = "delivered",
	.trace = CP_TRACE_SIGNALS,
	.asked = wants_signals,
};

static const struct engine_family none;

const struct engine_family *const engine_families[ENGINE_FAMILIES] = { [ENGINE_NO_FAMILY] = &none,
#define X(ID, name) [ENGINE_FAMILY_##ID] = &engine_##name##_family,
								       ENGINE_FAMILY_LIST(X)
#undef X
};
