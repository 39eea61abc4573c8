/* SPDX-License-Identifier: MIT */
#include "report/export/title.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "report/look/table.h"
#include "report/profile/heapstacks.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/unit.h"

void cp_export_title(const struct cp_profile *p, const struct cp_export_options *o,
		     struct cp_buf *out)
{
	if (o->title)
		cp_buf_str(out, o->title);
	else
		cp_report_command(p->record, out);
	if (!out->size)
		cp_buf_str(out, "cprof");
	if (cp_profile_of_heap(p))
		cp_export_amount(p, out);
}

void cp_export_amount(const struct cp_profile *p, struct cp_buf *out)
{
	struct cp_buf caveat CP_CLEANUP(cp_buf_free) = { 0 };

	if (out->size)
		cp_buf_str(out, ": ");
	p->unit->add(out, p->total.weight);
	cp_buf_printf(out, " %s", p->unit->of);
	if (p->of != CP_OF_COUNT) {
		cp_buf_str(out, " in ");
		cp_add_plural(out, p->total.ticks, p->unit->tick, p->unit->ticks);
	}
	cp_profile_caveat(p, &caveat);
	if (caveat.size)
		cp_buf_printf(out, ", %s", caveat.bytes);
}
