/* SPDX-License-Identifier: MIT
 *
 * `cprof report` for people, and the summary at the end of `run` and `attach`.
 */
#ifndef CP_REPORT_REPORT_H
#define CP_REPORT_REPORT_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

CP_ERROR cp_report_text(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
/* These sections alone, one after the other; no header unless it is one. */
CP_ERROR cp_report_some(const struct cp_profile *p, const struct cp_report_options *o,
			const enum cp_report_what *what, size_t count, const struct cp_look *look,
			struct cp_buf *out);
/* The sections that are meant by a list such as "header,sample,call", Mono's
 * names or ours; at most CP_REPORT_SOME of them. */
#define CP_REPORT_SOME 32
#define CP_REPORT_NAMES \
	"header, sample, call, coverage, annotations, exception, monitor, alloc, maps, counter, " \
	"thread, metadata, domain, tree, lines"
CP_ERROR cp_report_parse(const char *list, enum cp_report_what *what, size_t *count_ret);
/* How long, how much, the hottest functions, what profiling cost, and what to
 * type next. `path`: where the recording is; NULL: nothing to type. */
CP_ERROR cp_report_summary(const struct cp_record *record, const char *path,
			   const struct cp_look *look, struct cp_buf *out);

#endif
