/* SPDX-License-Identifier: MIT
 *
 * The built-in profilers' init functions; modules/builtins.c lists them.
 */
#ifndef CP_MODULES_H
#define CP_MODULES_H

#include <cprof/types.h>
#include <stdbool.h>
#include <stdint.h>

void cp_module_log_init(const char *desc);
/* With the option `follow`: tells `tap` what is recorded, soon; before the session runs. It
 * is borrowed until the session is destroyed. */
struct cp_record_tap; /* record/tap.h */
void cp_module_log_follow(cprof_profiler *log, const struct cp_record_tap *tap);
/* The file that `log` writes, or wrote, to; NULL: it is no file, or there is no such
 * profiler. Until its cleanup. */
const char *cp_module_log_recording(const cprof_profiler *log);
/* What the recorder does now; all 0 of NULL. */
struct cp_log_state {
	bool records;
	const char *recording; /* borrowed; NULL: it is no file */
	bool paused;
	bool closing; /* a recording that was ended is not complete yet */
	uint64_t rotated; /* recordings that were ended */
	const char *failure; /* borrowed: why the last of them is cut short; NULL: it is not */
	uint64_t calls; /* events */
	const char *traced; /* borrowed: SPECs, as one; "": none */
};
void cp_module_log_state(cprof_profiler *log, struct cp_log_state *ret);
void cp_module_coverage_init(const char *desc);
void cp_module_calls_init(const char *desc);
void cp_module_stacks_init(const char *desc);
void cp_module_order_init(const char *desc);

#endif
