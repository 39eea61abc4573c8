/* SPDX-License-Identifier: MIT */
#include "report/replay/chosen.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/profile.h"
#include "report/profile/spans.h"

CP_ERROR cp_chosen_init(struct cp_chosen *c, const struct cp_profile *p,
			const struct cp_replay_options *o)
{
	*c = (struct cp_chosen){ .profile = p, .options = o };
	return cp_chosen_grow(c);
}

CP_ERROR cp_chosen_grow(struct cp_chosen *c)
{
	size_t count = c->profile->functions.count + 1;
	uint8_t *functions;

	if (c->functions && count <= c->count)
		return NULL;
	functions = realloc(c->functions, count);
	if (!functions)
		return cp_error_nomem();
	memset(functions + c->count, 0, count - c->count);
	c->functions = functions;
	c->count = count;
	return NULL;
}

void cp_chosen_deinit(struct cp_chosen *c)
{
	free(c->functions);
	c->functions = NULL;
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
	return cp_chosen_function(c, span->function);
}
