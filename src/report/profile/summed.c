/* SPDX-License-Identifier: MIT */
#include "report/profile/summed.h"

#include "record/annotations.h"

CP_ERROR cp_profile_check_sums(const struct cp_profile *p)
{
	const struct cp_profile_filter *f = &p->filter;
	const struct cp_call_choice *c = &f->calls;
	const char *by = f->thread		  ? "thread"
			 : f->from_ns || f->to_ns ? "time"
			 : f->image		  ? "image"
			 : c->under || c->not_under || c->paths_to || c->levels
				 ? "the calls around them"
			 : c->least_ns ? "duration"
				       : NULL;

	if (!by || !cp_record_sum_count(p->record))
		return NULL;
	return cp_error_new(CP_ERR_UNSUPPORTED, 0,
			    "calls that were recorded with --summary can't be chosen by %s: the "
			    "recording has what all of them add up to",
			    by);
}

bool cp_profile_accepts_sum(const struct cp_profile *p, const struct cp_record_sum *row)
{
	uint32_t number =
		cp_record_sum_is_of_thread(row) ? cp_profile_process(p, row->thread) : row->process;
	const struct cp_record_process *process = NULL;

	if (number < cp_record_process_count(p->record))
		process = cp_record_get_process(p->record, number);
	return !p->filter.pid || (process && process->pid == p->filter.pid);
}

static struct cp_cost cost_of(uint64_t ticks, const struct cp_net_sum *sum)
{
	return (struct cp_cost){ .weight = sum->likely_ns > 0 ? (uint64_t)sum->likely_ns : 0,
				 .ticks = ticks,
				 .sum = *sum };
}

static void add_thread(struct cp_profile *p, const struct cp_record_sum *row)
{
	struct cp_cost cost = cost_of(row->calls, &row->outermost);
	uint32_t process = cp_profile_process(p, row->thread);

	cp_cost_add(&p->threads[row->thread], &cost);
	if (process != CP_RECORD_NONE)
		cp_cost_add(&p->processes[process], &cost);
	p->total.ticks += cost.ticks;
	cp_net_add_sum(&p->total.sum, &cost.sum);
}

/* A function inside of itself, and an image inside of itself, count once. */
static void add_edge(struct cp_profile *p, const struct cp_record_sum *row)
{
	struct cp_cost self = cost_of(row->sum.calls, &row->sum.self);
	struct cp_cost total = cost_of(row->sum.calls, &row->sum.whole);
	uint32_t callee = cp_profile_outermost(p, row->callee);
	uint32_t caller = row->caller == CP_RECORD_NONE ? CP_RECORD_NONE
							: cp_profile_outermost(p, row->caller);
	struct cp_function *f = &p->functions.items[callee];

	cp_cost_add(&f->self, &self);
	cp_cost_add(&p->images.items[f->image].self, &self);
	p->total.weight += self.weight;
	if (caller != callee)
		cp_cost_add(&f->total, &total);
	if (caller == CP_RECORD_NONE || p->functions.items[caller].image != f->image)
		cp_cost_add(&p->images.items[f->image].total, &total);
}

CP_ERROR cp_profile_add_sums(struct cp_profile *p)
{
	size_t count = cp_record_sum_count(p->record), i;

	CP_TRY(cp_profile_check_sums(p));
	for (i = 0; i < count; i++) {
		const struct cp_record_sum *row = cp_record_get_sum(p->record, i);

		if (!cp_profile_accepts_sum(p, row))
			continue;
		if (cp_record_sum_is_of_thread(row))
			add_thread(p, row);
		else
			add_edge(p, row);
	}
	return NULL;
}

static struct cp_error *no_single_calls(void)
{
	return cp_error_hint(cp_error_new(CP_ERR_UNSUPPORTED, 0,
					  "the recording has what calls add up to, and none by "
					  "itself: it was made with --summary"),
			     "cprof report shows it, cprof report -F FUNCTION callers and callees");
}

CP_ERROR cp_profile_need_stacks(const struct cp_profile *p)
{
	return p->by_sums ? no_single_calls() : NULL;
}

CP_ERROR cp_profile_need_events(const struct cp_profile *p)
{
	const struct cp_record *r = p->record;

	if (!cp_record_sum_count(r) || cp_record_info(r)->holds & CP_RECORD_HAS_CALLS ||
	    cp_record_sample_count(r) || cp_record_annotation_count(r) ||
	    cp_record_exception_count(r) || cp_record_wait_count(r) || cp_record_heap_count(r) ||
	    cp_record_map_count(r))
		return NULL;
	return no_single_calls();
}
