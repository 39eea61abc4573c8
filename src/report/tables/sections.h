/* SPDX-License-Identifier: MIT
 *
 * The sections of a report: one row each. Whatever shows several of them goes over the
 * table, so that it also says in which order they stand.
 *
 * A new one is a file with its write(), and json(), a row here, and if it can be asked for
 * alone its enum cp_report_what.
 */
#ifndef CP_REPORT_SECTIONS_H
#define CP_REPORT_SECTIONS_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* The places that a section stands in. */
#define CP_IN_OVERVIEW 1u
#define CP_IN_OVERVIEW_OF_COSTS 2u /* only where the recording has costs */
#define CP_IN_SUMMARY 4u
#define CP_IN_PAGE 8u /* of the format html */

struct cp_report_section {
	enum cp_report_what what; /* as it is asked for alone; OVERVIEW: never */
	const char *names[2]; /* in --reports=LIST: Mono's, ours; NULL: none */
	unsigned in; /* CP_IN_* */
	bool (*holds)(const struct cp_profile *p); /* has the recording any? NULL: always */
	const char *none; /* where it has none, and is asked for: "no call was" recorded; NULL:
			     why there are no costs */
	/* Appends it, as o->what has it; of a recording that holds any. */
	struct cp_error *(*write)(const struct cp_profile *p, const struct cp_report_options *o,
				  const struct cp_look *look, struct cp_buf *out);
	/* Its keys in `report --json`; NULL: others have what it shows. */
	struct cp_error *(*json)(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_json *j);
	/* It as comma-separated values, the titles first; NULL: it has no such form. */
	struct cp_error *(*csv)(const struct cp_profile *p, const struct cp_report_options *o,
				struct cp_buf *out);
};

/* Ends with a row that writes nothing. */
extern const struct cp_report_section cp_report_sections[];

/* The section of a name in --reports=LIST, `size` bytes long; NULL: there is none. */
const struct cp_report_section *cp_report_section_named(const char *name, size_t size);
/* The section that is asked for alone by `what`; NULL: there is none. */
const struct cp_report_section *cp_report_section_of(enum cp_report_what what);

#endif
