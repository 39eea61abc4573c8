/* SPDX-License-Identifier: MIT
 *
 * What run, attach and stack have in common: a session set up from options,
 * and the end of a recording.
 */
#ifndef CP_CMD_COLLECTING_H
#define CP_CMD_COLLECTING_H

#include <cprof/cprof.h>

#include "cmd/cmd.h"
#include "cmd/collect.h"

/* CP_EXIT_OK, or the status after a complaint about options that make no sense. */
int cp_collecting_check(const struct cp_args *args, const struct cp_collect_options *options);
/* All --trace together, as one list, to be freed; NULL: none, or no memory. */
char *cp_collecting_specs(const struct cp_texts *specs);
/* The SPECs by which calls are kept, below CP_COLLECT_KEPT; NULL: it is not given. */
#define CP_COLLECT_KEPT 5
const char *cp_collecting_kept(const struct cp_kept_options *kept, size_t n);
/* A session with these settings; NULL after a complaint. */
cprof_session *cp_collecting_session(const struct cp_stacks_options *stacks, unsigned verbose);
/* Loads the profilers that were named, the recorder left out: before anything
 * is started or attached to. False after a complaint. */
bool cp_collecting_load(cprof_session *session, const struct cp_collect_options *options);
/* Loads the recorder, which puts an older recording aside: to be done when
 * nothing else is likely to fail. False after a complaint. */
bool cp_collecting_record(cprof_session *session, const struct cp_collect_options *options);
/* --profile=NAME:help: prints what the profiler says of itself; *status_ret is
 * the command's then, `failure` when there is no such profiler. */
bool cp_collecting_helps(const struct cp_collect_options *options, int failure, int *status_ret);
/* Samples a second that are asked for, or are taken unless something else is; 0: none. */
uint32_t cp_collecting_rate(const struct cp_collect_options *options);
/* Is nothing recorded but what is shown as it comes? */
bool cp_collecting_only_shows(const struct cp_collect_options *options);
/* Is there a recording at all? */
bool cp_collecting_records(const struct cp_collect_options *options);
/* Chooses how samples are taken; false: it can't be so, which was said. */
bool cp_collecting_capture(cprof_session *s, const struct cp_collect_options *o);
unsigned cp_collecting_flags(const struct cp_collect_options *options);
/* Prints the session's last failure and its hint. */
void cp_collecting_complain(const cprof_session *session);
/* Says what was recorded; false when the recording is cut short, as by an error
 * of the session. */
bool cp_collecting_end(const struct cp_collect_options *options, const cprof_session *session);

#endif
