/* SPDX-License-Identifier: MIT */
#include "engine/target/family.h"

#include "engine/target/state.h"

bool engine_family_wanted(const cprof_session *s, enum engine_family_id id)
{
	const struct engine_family *f = s->families[id];

	return s->asked >> id & 1 || (f->enabled && f->enabled(s));
}

bool engine_family_placed(const cprof_session *s, enum engine_family_id id)
{
	return !(s->disarmed >> id & 1) && (s->families[id]->always || engine_family_wanted(s, id));
}

bool engine_families_break(const cprof_session *s)
{
	unsigned id;

	for (id = 1; id < ENGINE_FAMILIES; id++)
		if (s->families[id]->breakpoints && engine_family_wanted(s, id))
			return true;
	return false;
}
