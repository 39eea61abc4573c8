/* SPDX-License-Identifier: MIT */
#include "report/replay/chosen.h"

#include <stdlib.h>

#include "report/profile/profile.h"
#include "report/profile/spans.h"

static struct cp_error *long_enough(void *ctx, struct cp_span *span,
				    const struct cp_record_call *call)
{
	struct cp_chosen *c = ctx;

	(void)call;
	if (span->net_ns >= c->options->least_ns && span->id / 8 < c->bytes)
		c->spans[span->id / 8] |= (uint8_t)(1u << span->id % 8);
	return NULL;
}

CP_ERROR cp_chosen_init(struct cp_chosen *c, const struct cp_profile *p,
			const struct cp_replay_options *o)
{
	static const struct cp_span_visitor visitor = { .leave = long_enough };

	*c = (struct cp_chosen){ .profile = p, .options = o };
	c->functions = calloc(p->functions.count + 1, 1);
	if (!c->functions)
		return cp_error_nomem();
	if (!o->least_ns)
		return NULL;
	c->bytes = (size_t)cp_record_call_count(p->record) / 8 + 1;
	c->spans = calloc(c->bytes, 1);
	if (!c->spans)
		return cp_error_nomem();
	return cp_spans_walk(p, &visitor, c);
}

void cp_chosen_deinit(struct cp_chosen *c)
{
	free(c->functions);
	free(c->spans);
	c->functions = c->spans = NULL;
}

bool cp_chosen_function(struct cp_chosen *c, uint32_t function)
{
	uint8_t *known = &c->functions[function];

	if (!c->options->wanted)
		return true;
	if (!*known)
		*known = 1 + c->options->wanted(c->options->wanted_ctx, c->profile,
						&c->profile->functions.items[function]);
	return *known == 2;
}

bool cp_chosen_span(struct cp_chosen *c, const struct cp_span *span)
{
	if (c->spans && (span->id / 8 >= c->bytes || !(c->spans[span->id / 8] >> span->id % 8 & 1)))
		return false;
	return cp_chosen_function(c, span->function);
}

bool cp_chosen_moment(struct cp_chosen *c, uint32_t function, const struct cp_record_call *call)
{
	return call->duration_ns >= c->options->least_ns && cp_chosen_function(c, function);
}
