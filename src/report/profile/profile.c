/* SPDX-License-Identifier: MIT */
#include "report/profile/profile.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "record/calls.h"
#include "record/nettime.h"
#include "report/profile/choice.h"

/* ---- the filter ---- */

uint32_t cp_profile_process(const struct cp_profile *p, uint32_t thread)
{
	const struct cp_record_thread *t = NULL;

	if (thread < cp_record_thread_count(p->record))
		t = cp_record_get_thread(p->record, thread);
	if (!t || t->process >= cp_record_process_count(p->record))
		return CP_RECORD_NONE;
	return t->process;
}

bool cp_thread_matches(const char *want, int32_t tid, const char *name)
{
	uint64_t number;

	if (cp_parse_u64(want, INT32_MAX, &number) && tid == (int32_t)number)
		return true;
	return name && !fnmatch(want, name, 0);
}

static bool is_meant(const char *glob, const struct cp_profile_image *image)
{
	return !fnmatch(glob, image->name, 0) || !fnmatch(glob, image->path, 0) ||
	       !fnmatch(glob, cp_basename(image->path), 0) || !fnmatch(glob, image->started_as, 0);
}

bool cp_profile_is_program(const struct cp_profile *p, const struct cp_profile_image *image)
{
	size_t count = cp_record_process_count(p->record), i;

	for (i = 0; i < count; i++) {
		const struct cp_record_process *q = cp_record_get_process(p->record, (uint32_t)i);

		if (q && q->exe && *q->exe &&
		    !strcmp(cp_basename(q->exe), cp_basename(image->path)))
			return true;
	}
	return false;
}

static bool image_accepted(const struct cp_profile *p, uint32_t stack)
{
	const struct cp_profile_image *image;
	const uint32_t *frames;
	size_t count;

	frames = cp_profile_walk(p, stack, &count);
	image = &p->images.items[cp_profile_function(p, frames[count - 1])->image];
	return is_meant(p->filter.image, image);
}

static bool who_accepted(const struct cp_profile *p, uint32_t number)
{
	const struct cp_profile_filter *f = &p->filter;
	const struct cp_record_process *process = NULL;
	const struct cp_record_thread *thread = NULL;
	uint32_t of;

	if (!f->thread && !f->pid)
		return true;
	if (number < cp_record_thread_count(p->record))
		thread = cp_record_get_thread(p->record, number);
	of = cp_profile_process(p, number);
	if (of != CP_RECORD_NONE)
		process = cp_record_get_process(p->record, of);
	if (f->thread && (!thread || !cp_thread_matches(f->thread, thread->tid, thread->name)))
		return false;
	return !f->pid || (process && process->pid == f->pid);
}

uint64_t cp_profile_ns(const struct cp_profile *p, uint64_t ts_ns)
{
	uint64_t start = cp_record_info(p->record)->start_ns;

	return ts_ns > start ? ts_ns - start : 0;
}

bool cp_profile_accepts(const struct cp_profile *p, const struct cp_record_sample *s)
{
	const struct cp_profile_filter *f = &p->filter;
	uint64_t at = cp_profile_ns(p, s->ts_ns);

	if (p->choice)
		return false;
	if (at < f->from_ns || (f->to_ns && at > f->to_ns))
		return false;
	if (f->state != CP_STATE_ANY && cp_sample_waits(s) != (f->state == CP_STATE_WAITING))
		return false;
	return who_accepted(p, s->thread) && (!f->image || image_accepted(p, s->stack));
}

bool cp_profile_accepts_thread(const struct cp_profile *p, uint32_t thread)
{
	return who_accepted(p, thread);
}

bool cp_profile_accepts_call(const struct cp_profile *p, uint32_t thread, uint32_t function)
{
	const struct cp_profile_image *image;

	if (!who_accepted(p, thread))
		return false;
	image = &p->images.items[p->functions.items[function].image];
	return !p->filter.image || is_meant(p->filter.image, image);
}

bool cp_profile_accepts_memory(const struct cp_profile *p, uint32_t thread, uint32_t function)
{
	return cp_profile_accepts_call(p, thread, function) &&
	       (!p->choice || p->choice->moment_counts);
}

uint32_t cp_profile_taker(const struct cp_profile *p, uint32_t location)
{
	uint32_t outermost = cp_profile_outermost(p, location), i;

	if (!p->functions.items[outermost].runtime)
		return outermost;
	for (i = p->location_frames[location]; i < p->location_frames[location + 1]; i++)
		if (!cp_profile_function(p, i)->runtime)
			return p->frames.items[i].function;
	return outermost;
}

/* ---- stacks ---- */

static const uint32_t *stack_of(const struct cp_profile *p, uint32_t stack, size_t *count_ret,
				uint32_t *flags_ret)
{
	*count_ret = 0;
	*flags_ret = 0;
	if (stack >= cp_record_stack_count(p->record))
		return NULL;
	return cp_record_get_stack(p->record, stack, count_ret, flags_ret);
}

static const uint32_t *walk_calls(const struct cp_profile *p, uint32_t node, size_t *count_ret)
{
	const struct cp_call_node *n = &p->call_nodes.items[node];
	size_t at;

	*count_ret = at = n->depth;
	for (p->walk[--at] = n->frame; at; p->walk[at] = n->frame) {
		n = &p->call_nodes.items[n->parent - 1];
		at--;
	}
	return p->walk;
}

const uint32_t *cp_profile_walk(const struct cp_profile *p, uint32_t stack, size_t *count_ret)
{
	size_t locations = cp_record_location_count(p->record), depth, n = 0;
	const uint32_t *at;
	size_t stacks = cp_record_stack_count(p->record);
	uint32_t flags, frame;

	if (stack >= stacks && stack - stacks < p->call_nodes.count)
		return walk_calls(p, (uint32_t)(stack - stacks), count_ret);
	at = stack_of(p, stack, &depth, &flags);
	while (at && depth-- > 0) {
		if (at[depth] >= locations)
			continue;
		frame = p->location_frames[at[depth] + 1];
		while (frame > p->location_frames[at[depth]])
			p->walk[n++] = --frame;
	}
	if (!n)
		p->walk[n++] = p->no_stack;
	*count_ret = n;
	return p->walk;
}

bool cp_profile_truncated(const struct cp_profile *p, uint32_t stack)
{
	uint32_t flags;
	size_t count;

	stack_of(p, stack, &count, &flags);
	return flags & CP_RECORD_STACK_TRUNCATED;
}

const uint32_t *cp_profile_walk_marked(const struct cp_profile *p, uint32_t stack,
				       size_t *count_ret)
{
	const uint32_t *frames = cp_profile_walk(p, stack, count_ret);

	if (!cp_profile_truncated(p, stack) || frames[0] == p->no_stack)
		return frames;
	memmove(p->walk + 1, p->walk, *count_ret * sizeof(*p->walk));
	p->walk[0] = p->cut;
	++*count_ret;
	return p->walk;
}

/* ---- adding up ---- */

void cp_cost_add_total(struct cp_cost *to, const struct cp_hit *hit, bool by_calls, bool begins)
{
	to->weight += hit->cost.weight;
	to->ticks += hit->cost.ticks;
	if (by_calls && begins)
		cp_net_add_sum(&to->sum, &hit->whole);
}

const char *cp_profile_image_name(const struct cp_profile *p, const struct cp_function *f)
{
	return p->images.items[f->image].name;
}
