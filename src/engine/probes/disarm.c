/* SPDX-License-Identifier: MIT
 *
 * Functions that are called too often are not traced any more.
 */
#include "engine/probes/disarm.h"

#include "engine/target/state.h"
#include "probe/shadow.h"

/* A function that was called too often in one process is not traced any more in any. */
void engine_disarm(cprof_session *s, uint32_t number)
{
	struct cp_request rq = { .type = CP_REQUEST_DISARM_GROUP, .first = number };
	struct cp_answer answer;
	size_t i;

	cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
	for (i = 0; i < s->processes.count; i++)
		if (s->processes.items[i]->shadow)
			cp_shadow_forget(s->processes.items[i]->shadow, number);
}

void engine_disarm_return(const cprof_process *p, uint32_t site, uint64_t address)
{
	const struct cp_request rq = { .type = CP_REQUEST_DISARM,
				       .pid = p->pid,
				       .flags = CP_DISARM_SITE,
				       .address = address,
				       .first = site };
	struct cp_answer answer;

	cp_error_free(cp_link_call(&p->session->link, &rq, &answer, NULL));
}
