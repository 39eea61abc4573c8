/* SPDX-License-Identifier: MIT
 *
 * What the commands that read recordings share: the operand's default, the
 * options that choose samples, loading.
 */
#ifndef CP_CMD_REPORTS_H
#define CP_CMD_REPORTS_H

#include "cmd/choosing.h"
#include "cmd/options.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"

#define CP_RECORDING_NAME "cprof.data" /* unless told */

/* The choice of samples. */
struct cp_filter_options {
	const char *thread, *image, *time;
	uint64_t pid;
	unsigned state;
	struct cp_choice_options calls;
	/* no options: see struct cp_profile_filter */
	enum cp_profile_of of;
	bool no_costs;
	bool with_calls; /* the table of calls will be asked for */
	bool lenient; /* a SPEC that no call of the recording matches is no error by itself */
};
extern const struct cp_option cp_filter_options[];
extern const struct cp_option cp_call_filter_options[]; /* of calls, for the same struct */
extern const struct cp_option cp_call_choice_options[]; /* of single ones, likewise */

/* Words for enum cp_tree_roots. */
extern const char *const cp_roots_names[];

/* A loaded recording and what is made of it. */
struct cp_loaded {
	struct cp_record *record;
	struct cp_profile *profile;
	struct cp_error *unmet; /* owned; lenient: that there is such a SPEC; NULL: there is none */
};

CP_ERROR cp_load(const char *path, const struct cp_filter_options *filter, struct cp_loaded *ret);
void cp_unload(struct cp_loaded *loaded);

/* Complains and answers the exit status for it. */
int cp_reports_fail(struct cp_error *err);

/* The first operand, or the name that run and attach give. */
const char *cp_recording_operand(const struct cp_args *args);

/* Writes `out` to standard output, through a pager on a terminal; frees it. Text for
 * a person is in the locale's characters, JSON in UTF-8. Answers the exit status. */
int cp_print_report(struct cp_buf *out, bool json);
/* cp_print_report(), or what went wrong instead, with the status of that; frees both. */
int cp_end_report(struct cp_error *err, struct cp_buf *out, bool json);

/* The summary at the end of run and attach, on standard error: what is in the
 * recording at `path`, and what to type next; nothing for what is no file. */
void cp_print_summary(const char *path);

/* The report of the recording at `path`, as cprof report shows it, on standard
 * output. False after a complaint. */
bool cp_print_whole_report(const char *path);

#endif
