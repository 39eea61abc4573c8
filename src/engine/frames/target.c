/* SPDX-License-Identifier: MIT
 *
 * A thread that a callback asks for is captured now, wherever it is. The tracer's
 * answer comes through the ring, behind events that must not be delivered from within a
 * callback; so the ring is read ahead, and the answer is passed over later.
 *
 *      ring:  [the event being delivered] [others, later] ... [sample] [end]
 *                                                              └─ copied
 */
#include "engine/frames/target.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/frames/snapshot.h"
#include "engine/target/state.h"

/* The tracer gives up after one second. */
#define WAIT_NS (3 * CP_NS_PER_S)
#define POLL_MS 20

enum looked { LOOK_ON, LOOK_END, LOOK_GONE };

static enum looked look_at(const struct cp_event *e, const cprof_thread *t,
			   struct cp_event_sample **ret)
{
	const struct cp_event_sample *sample = (const struct cp_event_sample *)e;

	if (e->type == CP_EVENT_SNAPSHOT_END)
		return LOOK_END;
	if (e->type == CP_EVENT_LEFT || (e->type == CP_EVENT_THREAD_EXIT && e->tid == t->tid))
		return LOOK_GONE;
	if (e->type != CP_EVENT_SAMPLE || e->size < sizeof(*sample) || e->tid != t->tid ||
	    !(e->flags & CP_SAMPLE_SNAPSHOT) || *ret)
		return LOOK_ON;
	*ret = malloc(e->size);
	if (*ret)
		memcpy(*ret, e, e->size);
	return LOOK_ON;
}

static void wait_for_ring(cprof_session *s, uint64_t at)
{
	struct pollfd fd = { .fd = s->link.kick, .events = POLLIN };
	uint64_t count;

	s->link.shared->asleep = 1;
	if (s->link.shared->head == at)
		poll(&fd, 1, POLL_MS);
	s->link.shared->asleep = 0;
	if (fd.revents && read(s->link.kick, &count, sizeof(count)) < 0)
		cp_debug("kick: %m");
}

/* Looks in the ring, from position `at` on, for the capture of the thread. */
static enum looked look_ahead(cprof_session *s, uint64_t at, const cprof_thread *t,
			      struct cp_event_sample **ret)
{
	uint64_t deadline = cp_now() + WAIT_NS;
	enum looked looked = LOOK_ON;
	const struct cp_event *e;
	bool bad = false, gone = false;

	while (looked != LOOK_END && !bad && cp_now() < deadline) {
		e = cp_ring_look(&s->link, &at, &bad);
		if (!e && looked == LOOK_GONE && gone)
			break;
		if (!e) {
			wait_for_ring(s, at);
			continue;
		}
		looked = look_at(e, t, ret);
		gone |= looked == LOOK_GONE;
		if (e->type == CP_EVENT_LEFT)
			break;
	}
	return gone ? LOOK_GONE : looked;
}

cprof_status engine_capture_thread(cprof_thread *t, struct cp_event_sample **ret)
{
	cprof_session *s = t->process->session;
	struct cp_request rq = { .type = CP_REQUEST_SNAPSHOT, .pid = t->tid };
	uint64_t from = s->link.shared->head;
	struct cp_event_sample *sample = NULL;
	struct cp_answer answer;
	struct cp_error *err;
	enum looked looked;

	if (!s->started || s->ended || s->snapshotting || cprof_thread_from_tid(t->tid) != t)
		return CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD;
	err = cp_link_call(&s->link, &rq, &answer, NULL);
	if (err || answer.errnum) {
		cp_error_free(err);
		return !err && answer.errnum == EBUSY ? CPROF_E_STACKSNAPSHOT_UNSAFE
						      : CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD;
	}
	looked = look_ahead(s, from, t, &sample);
	if (sample && !(sample->e.flags & CP_SAMPLE_NO_STACK)) {
		*ret = sample;
		return CPROF_OK;
	}
	free(sample);
	return looked == LOOK_GONE ? CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD
				   : CPROF_E_STACKSNAPSHOT_UNSAFE;
}

static void fill(const struct engine_capture *c, unsigned parts, cprof_context *ret)
{
	engine_fill_context(&c->regs, ret);
	engine_fill_leaf(c, parts & (CPROF_CONTEXT_FLOATING | CPROF_CONTEXT_XSTATE), ret);
}

cprof_status cprof_thread_context(cprof_thread *t, unsigned parts, cprof_context *ret)
{
	cprof_session *s = cprof_session_current();
	struct engine_current other = { 0 };
	struct cp_event_sample *sample;
	cprof_status status;

	if (!s || !t || !ret)
		return CPROF_E_INVALID_ARGUMENT;
	if (t == s->current.thread && (s->current.sample || s->current.hit)) {
		fill(&s->current.capture, parts, ret);
		return CPROF_OK;
	}
	status = engine_capture_thread(t, &sample);
	if (status)
		return status;
	engine_use_sample(&other, sample);
	fill(&other.capture, parts & ~(CPROF_CONTEXT_FLOATING | CPROF_CONTEXT_XSTATE), ret);
	free(sample);
	return CPROF_OK;
}
