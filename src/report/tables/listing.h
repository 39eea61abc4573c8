/* SPDX-License-Identifier: MIT
 *
 * A function's source and instructions, for people and as JSON.
 */
#ifndef CP_REPORT_TABLES_LISTING_H
#define CP_REPORT_TABLES_LISTING_H

#include "report/coverage/coverage.h"
#include "report/look/table.h"
#include "report/profile/listing.h"

struct cp_listing_options {
	bool source, code; /* what is shown */
	uint32_t context; /* rows around one with time; UINT32_MAX: all */
	const struct cp_coverage *coverage; /* of the recording; NULL: it has none */
	const char *no_code; /* why there are no instructions; NULL: there are */
};

/* How the addresses of a recording's samples came about: "stop", "interrupt", "both" or
 * "unknown". Static. */
const char *cp_listing_pc(const struct cp_record *r);
void cp_listing_text(const struct cp_listing *l, const struct cp_listing_options *o,
		     const struct cp_look *look, struct cp_buf *out);
void cp_listing_json(const struct cp_listing *l, const struct cp_listing_options *o,
		     struct cp_buf *out);

#endif
