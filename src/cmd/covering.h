/* SPDX-License-Identifier: MIT
 *
 * What is made of recorded coverage: the table, files for others, thresholds.
 */
#ifndef CP_CMD_COVERING_H
#define CP_CMD_COVERING_H

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "report/coverage/sources.h"

#define CP_COVERING_ANY (-1.0) /* of a threshold: there is none */

enum cp_covering_stale { CP_COVERING_STALE_ERROR, CP_COVERING_STALE_WARN };

struct cp_covering_options {
	const char *lcov, *cobertura, *sonarqube, *json, *html; /* files; NULL: not asked for */
	double lines, branches, functions, changed; /* thresholds in percent */
	unsigned stale; /* enum cp_covering_stale */
	const char *merge; /* a recording, or NULL */
	bool again; /* what it holds is looked for, too */
};

extern const struct cp_option cp_covering_files[]; /* all in struct cp_covering_options */
extern const struct cp_option cp_covering_thresholds[];

/* Rules from options, borrowing from them. */
struct cp_source_rules cp_source_rules_of(const struct cp_source_options *options);

/* CP_EXIT_OK, or the status after a complaint about options that make no sense. */
int cp_covering_check(const struct cp_args *args, const struct cp_collect_options *collect,
		      const struct cp_covering_options *options);

/* An error if files can't be written where they are wanted: better known before hours of
 * tests than after. */
CP_ERROR cp_covering_check_files(const struct cp_covering_options *options);

/* Reports the recording at `path`. CP_EXIT_OK, CP_EXIT_MISSED when a threshold
 * was missed, else CP_EXIT_OWN_FAILURE, each after it was said. */
int cp_covering_end(const char *path, struct cp_sources *sources,
		    const struct cp_collect_options *collect,
		    const struct cp_covering_options *options);

#endif
