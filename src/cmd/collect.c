/* SPDX-License-Identifier: MIT */
#include "cmd/collect.h"

#include <stddef.h>

static const char *const clocks[] = { "cpu", "wall", NULL };
static const char *const unwinders[] = { "own", "libunwind", "fp", NULL };

#define AT(field) offsetof(struct cp_collect_options, field)

const struct cp_option cp_sampling_options[] = {
	{ "sample", 's', CP_OPTION_NUMBER, AT(hz), .value = "HZ", .min = 1, .max = 10000,
	  .help = "sample stacks HZ times a second, up to 10000 (99 unless told)" },
	{ "clock", 0, CP_OPTION_CHOICE, AT(clock), .value = "cpu|wall", .choices = clocks,
	  .help = "what a tick counts: time on CPU (cpu, unless told; threads that sleep are "
		  "left alone) or elapsed time (wall: every thread, for time spent waiting)" },
	{ "follow", 'f', CP_OPTION_TRUE, AT(follow),
	  .help = "profile children too: fork, vfork, clone, exec (unless told otherwise)" },
	{ "no-follow", 0, CP_OPTION_FALSE, AT(follow), .help = "let children go" },
	{ "duration", 'd', CP_OPTION_DURATION, AT(duration_ns), .value = "TIME",
	  .help = "stop after 10s, 500ms, 2m; the program goes on" },
	{ 0 }
};

const struct cp_option cp_recording_options[] = {
	{ "output", 'o', CP_OPTION_TEXT, AT(output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES,
	  .help = "the recording: cprof.data unless told; an older one becomes FILE.old" },
	{ "quiet", 'q', CP_OPTION_TRUE, AT(quiet), .help = "no summary at the end" },
	{ "verbose", 'v', CP_OPTION_COUNT, AT(verbose),
	  .help = "say what is being done; twice: in detail" },
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_stacks_options, field)

const struct cp_option cp_stacks_options[] = {
	{ "debug-dir", 0, CP_OPTION_TEXTS, AT(debug_dirs), .value = "DIR",
	  .completes = CP_COMPLETES_DIRECTORIES,
	  .help = "look for separate debug files in DIR first; may be repeated" },
	{ "no-debuginfod", 0, CP_OPTION_FALSE, AT(debuginfod),
	  .help = "never ask a debuginfod server, even where DEBUGINFOD_URLS names one" },
	{ "unwinder", 0, CP_OPTION_CHOICE, AT(unwinder), .value = "own|libunwind|fp",
	  .choices = unwinders,
	  .help = "what walks stacks: cprof's tables of call frame information (own, unless "
		  "told), libunwind, or frame pointers alone" },
	{ 0 }
};

const struct cp_option_group cp_collect_groups[] = {
	{ "Sampling", cp_sampling_options, 0 },
	{ "Symbols and stacks", cp_stacks_options, offsetof(struct cp_collect_options, stacks) },
	{ "Recording", cp_recording_options, 0 },
	{ 0 }
};

const struct cp_collect_options cp_collect_defaults = {
	.follow = true,
	.output = "cprof.data",
	.stacks = { .debuginfod = true },
};
