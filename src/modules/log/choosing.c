/* SPDX-License-Identifier: MIT
 *
 * The rules are those by which reports choose (report/profile/choice.h), as far as they can
 * be told before a call is over.
 */
#include "modules/log/choosing.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/types.h"

/* Events that are held because one before them is: of no more than this time, or number,
 * beyond the duration that is asked for. */
#define HELD_NS CP_NS_PER_S
#define HELD_MOST 100000

/* What is known of an open call; its span's `data`. */
struct cp_fate {
	bool under, not_under; /* it, or a call around it */
	bool kept; /* but for its duration */
	bool lasted; /* long enough, by what it calls or by the time */
	bool target; /* of paths: it leads to itself, if it lasts */
	bool leads; /* to such a one, or that does not matter */
	uint32_t level; /* it and the calls around that under and not-under leave */
	uint32_t depth; /* calls around that are kept */
	uint64_t held; /* the number of its enter; 0: it is written, or not to be */
	uint64_t held_end; /* that of its end, of one that is over */
	/* The call that it is the tail call of, of which it is not known yet what it leads to;
	 * owned; or NULL */
	struct cp_fate *maker;
};

/* The function that a thread is about to enter, for its last call ended by that. */
struct tail {
	uint32_t depth, target;
	bool under, not_under;
	struct cp_fate *maker; /* of that call, if it is not decided; owned */
};

/* ---- options ---- */

static const char *const names[CP_CHOICES] = { "under", "not-under", "paths-to", "start-at",
					       "stop-at" };

static bool take(struct cp_recorder_choosing *c, const char *key, const char *value,
		 bool *known_ret, char **error_ret)
{
	uint64_t levels;
	size_t i;

	*known_ret = true;
	for (i = 0; i < CP_CHOICES; i++) {
		if (strcmp(key, names[i]) != 0)
			continue;
		cprof_callspec_free(c->specs[i]);
		c->specs[i] = value ? cprof_callspec_parse(value, error_ret) : NULL;
		return c->specs[i] != NULL;
	}
	if (!strcmp(key, "min-duration"))
		return value && cp_parse_duration(value, &c->least_ns) && c->least_ns;
	*known_ret = !strcmp(key, "levels");
	if (!*known_ret || !value || !cp_parse_u64(value, UINT32_MAX, &levels) || !levels)
		return false;
	c->levels = (uint32_t)levels;
	return true;
}

bool cp_recorder_choice_take(struct cp_recorder_choosing *c, const char *key, const char *value,
			     bool *known_ret, char **error_ret)
{
	bool good = take(c, key, value, known_ret, error_ret);

	c->chooses |= *known_ret;
	return good;
}

/* ---- what is wanted ---- */

static bool is_wanted(const struct cp_fate *fate)
{
	return fate->kept && fate->lasted && fate->leads;
}

static void leave_out(struct cp_recorder_choosing *c, const struct cp_fate *fate)
{
	c->left_out += fate->kept;
	c->unwritten += fate->kept;
}

/* What is known of calls that are over by now, and of those whose tail calls they are: the
 * first of them comes first. */
static void settle_makers(struct cp_recorder_choosing *c, struct cp_fate *last, bool leads)
{
	struct cp_fate *first = NULL, *fate;

	while (last) {
		fate = last;
		last = fate->maker;
		fate->maker = first;
		first = fate;
	}
	while (first) {
		fate = first;
		first = fate->maker;
		fate->leads |= leads;
		if (!is_wanted(fate)) {
			leave_out(c, fate);
			c->unwritten += fate->held_end != 0;
		}
		cp_held_decide(c->held, c->writer, fate->held, is_wanted(fate));
		cp_held_decide(c->held, c->writer, fate->held_end, is_wanted(fate));
		free(fate);
	}
}

/* An open call leads to a wanted one, with all around it and those whose tail calls they are. */
static void lead(struct cp_recorder_choosing *c, const struct cp_span *span)
{
	struct cp_fate *fate;

	c->leading.count = 0;
	for (; span; span = span->outer) {
		fate = span->data;
		if (!fate || fate->leads)
			break;
		if (!cp_vec_push(&c->leading, span)) {
			c->no_memory = true;
			break;
		}
	}
	while (c->leading.count) {
		fate = c->leading.items[--c->leading.count]->data;
		fate->leads = true;
		fate->lasted |= cp_held_is_late(c->held, fate->held);
		settle_makers(c, cp_steal(fate->maker), true);
		if (is_wanted(fate))
			cp_held_decide(c->held, c->writer, fate->held, true);
		else
			cp_held_hurry(c->held, fate->held);
	}
}

/* ---- a call begins ---- */

/* What the SPECs say of the function of the event. */
static unsigned said_of(struct cp_recorder_choosing *c, uint32_t location)
{
	const uint64_t *known = cp_map_get(&c->said, location);
	unsigned said = 0, i;

	if (known)
		return (unsigned)*known;
	for (i = 0; i < CP_CHOICES; i++)
		if (c->specs[i] && cprof_callspec_match(c->specs[i], c->function))
			said |= 1u << i;
	c->no_memory |= !cp_map_put(&c->said, location, said);
	return said;
}

static const struct cp_fate *fate_around(const struct cp_span *span)
{
	return span->outer ? span->outer->data : NULL;
}

static struct tail *tail_of(struct cp_recorder_choosing *c, uint32_t thread)
{
	uint64_t *known = cp_map_get(&c->tails, thread);
	struct tail *tail = known ? (struct tail *)(uintptr_t)*known : calloc(1, sizeof(*tail));

	if (known || !tail)
		return tail;
	tail->target = CP_RECORD_NONE;
	if (cp_map_put(&c->tails, thread, (uintptr_t)tail))
		return tail;
	free(tail);
	return NULL;
}

/* What the call that made this one is below, which may be over: by a tail call. */
static void inherit(struct cp_recorder_choosing *c, const struct cp_span *span,
		    struct cp_fate *fate)
{
	const struct cp_fate *around = fate_around(span);
	struct tail *tail = tail_of(c, span->thread);

	c->no_memory |= !tail;
	if (tail && tail->target == span->location && tail->depth == span->depth && span->entered) {
		fate->under = tail->under;
		fate->not_under = tail->not_under;
		fate->maker = cp_steal(tail->maker);
	} else if (around) {
		fate->under = around->under;
		fate->not_under = around->not_under;
	}
	if (tail) {
		tail->target = CP_RECORD_NONE;
		settle_makers(c, cp_steal(tail->maker), false);
	}
}

static struct cp_error *on_begin(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_recorder_choosing *c = ctx;
	const struct cp_fate *around = fate_around(span);
	struct cp_fate *fate = calloc(1, sizeof(*fate));
	unsigned said = said_of(c, span->location);
	bool left;

	if (!fate)
		return cp_error_nomem();
	span->data = fate;
	inherit(c, span, fate);
	fate->under |= said >> CP_UNDER & 1;
	fate->not_under |= said >> CP_NOT_UNDER & 1;
	if (said >> CP_STOP_AT & 1)
		c->on = false;
	if (said >> CP_START_AT & 1)
		c->on = true;
	left = (!c->specs[CP_UNDER] || fate->under) && !fate->not_under;
	fate->level = (around ? around->level : 0) + left;
	fate->depth = around ? around->depth + around->kept : 0;
	/* Of one whose enter was not seen it is not known when that was. */
	fate->kept = left && c->on && (!c->levels || fate->level <= c->levels) &&
		     call->kind != CP_RECORD_LEAVE && call->kind != CP_RECORD_TAIL_CALL &&
		     call->kind != CP_RECORD_UNWIND;
	fate->lasted = !c->least_ns;
	fate->leads = !c->specs[CP_PATHS_TO];
	fate->target = said >> CP_PATHS_TO & 1 && left && c->on;
	if (fate->target && fate->lasted)
		lead(c, span);
	c->left_out += !fate->kept;
	c->fate = fate;
	c->keeps = fate->kept;
	c->depth = fate->depth;
	return NULL;
}

/* ---- a call ends ---- */

/* The calls around one that has lasted have, too. */
static void let_go_around(struct cp_recorder_choosing *c, const struct cp_span *span)
{
	const struct cp_span *outer;
	struct cp_fate *fate;

	for (outer = span->outer; outer; outer = outer->outer) {
		fate = outer->data;
		if (!fate || fate->lasted)
			return;
		fate->lasted = true;
		if (fate->target)
			lead(c, outer);
		if (is_wanted(fate))
			cp_held_decide(c->held, c->writer, fate->held, true);
	}
}

static void keep_tail(struct cp_recorder_choosing *c, const struct cp_span *span,
		      const struct cp_fate *fate)
{
	struct tail *tail = tail_of(c, span->thread);

	c->no_memory |= !tail;
	if (!tail)
		return;
	settle_makers(c, tail->maker, false);
	*tail = (struct tail){
		span->depth, span->end == CP_SPAN_TAIL_CALLED ? span->target : CP_RECORD_NONE,
		fate->under, fate->not_under,
		NULL,
	};
}

/* What it ends by calling may lead to a wanted call. False: that can't be. */
static bool wait_for_tail(struct cp_recorder_choosing *c, const struct cp_span *span,
			  struct cp_fate *fate, const struct cp_record_call *call)
{
	struct tail *tail = tail_of(c, span->thread);

	if (fate->leads || !call || !tail || tail->target == CP_RECORD_NONE)
		return false;
	tail->maker = fate;
	c->keeps = fate->kept && fate->lasted;
	c->ended = c->keeps ? fate : NULL;
	return true;
}

static struct cp_error *on_end(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_recorder_choosing *c = ctx;
	struct cp_fate *fate = span->data;

	if (!fate)
		return NULL;
	keep_tail(c, span, fate);
	fate->lasted |= span->net_ns >= c->least_ns ||
			(fate->kept && !cp_held_is_open(c->held, fate->held)) ||
			cp_held_is_late(c->held, fate->held);
	if (fate->target && fate->lasted)
		lead(c, span);
	if (fate->kept && fate->lasted)
		let_go_around(c, span);
	c->depth = fate->depth;
	span->data = NULL;
	if (wait_for_tail(c, span, fate, call))
		return NULL;
	settle_makers(c, cp_steal(fate->maker), fate->leads);
	if (fate->kept && !is_wanted(fate))
		leave_out(c, fate);
	cp_held_decide(c->held, c->writer, fate->held, is_wanted(fate));
	c->keeps = is_wanted(fate) && call;
	free(fate);
	return NULL;
}

/* ---- events ---- */

static const struct cp_spans_to to = { .begin = on_begin, .end = on_end };

static void look_at(struct cp_recorder_choosing *c, const struct cp_record_call *call)
{
	struct cp_error *err;

	if (!c->begun)
		c->on = !c->specs[CP_START_AT];
	c->begun = true;
	c->spans.to = &to;
	c->spans.ctx = c;
	c->fate = c->ended = NULL;
	err = cp_spans_event(&c->spans, call);
	c->no_memory |= err != NULL;
	cp_error_free(err);
}

/* Those that are held since a time before `now_ns` that is long enough for any of them. */
static void let_go(struct cp_recorder_choosing *c, uint64_t now_ns)
{
	uint64_t longest = c->least_ns + (cp_held_count(c->held) > HELD_MOST ? 0 : HELD_NS);

	if (cp_held_count(c->held) && now_ns > longest)
		cp_held_let_go(c->held, c->writer, now_ns - longest);
}

bool cp_recorder_choice_keeps(struct cp_recorder_choosing *c, struct cp_record_writer *w,
			      const cprof_function *f, struct cp_record_call *call)
{
	if (c->no_memory)
		return true;
	c->writer = w;
	c->function = f;
	c->keeps = false;
	if (call->ts_ns > c->last_ns)
		c->last_ns = call->ts_ns;
	let_go(c, c->last_ns);
	look_at(c, call);
	call->depth = c->depth;
	return c->keeps || c->no_memory;
}

void cp_recorder_choice_write(struct cp_recorder_choosing *c, struct cp_record_writer *w,
			      const struct cp_record_call *call)
{
	struct cp_fate *fate = c->fate, *ended = c->ended;

	if (fate && !(fate->lasted && fate->leads) && !c->no_memory)
		fate->held = cp_held_hold(c->held, w, call, !fate->leads);
	else if (ended && !c->no_memory)
		ended->held_end = cp_held_hold(c->held, w, call, true);
	else
		cp_held_add(c->held, w, call);
}

void cp_recorder_choice_disarmed(struct cp_recorder_choosing *c, struct cp_record_writer *w,
				 const struct cp_record_call *call)
{
	c->writer = w;
	look_at(c, call);
}

/* By the time of events, for some may still wait to be told; where none came in a second,
 * none does. */
void cp_recorder_choice_beat(struct cp_recorder_choosing *c, struct cp_record_writer *w)
{
	c->writer = w;
	let_go(c, c->last_ns == c->beat_ns ? cp_now() : c->last_ns);
	c->beat_ns = c->last_ns;
}

void cp_recorder_choice_forget(struct cp_recorder_choosing *c, uint32_t thread)
{
	if (!cp_spans_are_open(&c->spans, thread))
		cp_spans_forget(&c->spans, thread);
}

static void free_makers(struct cp_fate *fate)
{
	struct cp_fate *maker;

	for (; fate; fate = maker) {
		maker = fate->maker;
		free(fate);
	}
}

static void forget_numbers(struct cp_recorder_choosing *c)
{
	uint64_t thread, tail;
	size_t cursor = 0;

	while (cp_map_next(&c->tails, &cursor, &thread, &tail)) {
		free_makers(((struct tail *)(uintptr_t)tail)->maker);
		free((struct tail *)(uintptr_t)tail);
	}
	cp_vec_free(&c->leading);
	cp_map_free(&c->tails);
	cp_map_free(&c->said);
	cp_spans_deinit(&c->spans);
	c->tails = c->said = (struct cp_map){ 0 };
	c->spans = (struct cp_spans){ 0 };
}

/* Without a writer nothing is written. */
static struct cp_error *drop(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	(void)ctx;
	(void)call;
	free_makers(span->data);
	return NULL;
}

/* What is over led to nothing. */
static void settle_tails(struct cp_recorder_choosing *c)
{
	uint64_t thread, tail;
	size_t cursor = 0;

	while (cp_map_next(&c->tails, &cursor, &thread, &tail))
		settle_makers(c, cp_steal(((struct tail *)(uintptr_t)tail)->maker), false);
}

void cp_recorder_choice_end(struct cp_recorder_choosing *c, struct cp_record_writer *w,
			    uint64_t now_ns)
{
	c->writer = w;
	cp_error_free(c->begun ? cp_spans_rest(&c->spans, now_ns) : NULL);
	settle_tails(c);
	cp_held_let_go(c->held, w, UINT64_MAX);
	forget_numbers(c);
}

void cp_recorder_choice_deinit(struct cp_recorder_choosing *c)
{
	static const struct cp_spans_to nobody = { .end = drop };
	size_t i;

	c->spans.to = &nobody;
	cp_error_free(cp_spans_rest(&c->spans, 0));
	forget_numbers(c);
	for (i = 0; i < CP_CHOICES; i++)
		cprof_callspec_free(c->specs[i]);
}
