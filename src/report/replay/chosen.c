/* SPDX-License-Identifier: MIT */
#include "report/replay/chosen.h"

#include <stdlib.h>

#include "report/profile/profile.h"
#include "report/profile/spans.h"

CP_ERROR cp_chosen_init(struct cp_chosen *c, const struct cp_profile *p,
			const struct cp_replay_options *o)
{
	*c = (struct cp_chosen){ .profile = p, .options = o };
	c->functions = calloc(p->functions.count + 1, 1);
	return c->functions ? NULL : cp_error_nomem();
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
