/* SPDX-License-Identifier: MIT */
#include "report/tables/counters.h"

#include <inttypes.h>

#include "base/types.h"
#include "record/counters.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

CP_ERROR cp_report_counters(const struct cp_profile *p, const struct cp_report_options *o,
			    const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = { { .title = "PROFILER" },
						    { .title = "COUNTER", .give = 20 },
						    { .title = "VALUE", .right = true } };
	struct cp_table t;
	size_t i;

	(void)o;
	cp_report_title(out, look, "Counters", "what profilers counted");
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < cp_record_counter_count(p->record); i++) {
		const struct cp_record_counter *c = cp_record_get_counter(p->record, i);

		cp_table_name(&t, CP_PAINT_NAME, c->module);
		cp_table_name(&t, CP_PAINT_PLAIN, c->name);
		cp_table_cell(&t, CP_PAINT_PLAIN, "%" PRIu64, c->value);
	}
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
	return NULL;
}
