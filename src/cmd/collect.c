/* SPDX-License-Identifier: MIT */
#include "cmd/collect.h"

#include <stddef.h>

#include "base/eventnames.h"
#include "report/replay/fields.h"

/* In the order of cprof_capture. */
static const char *const captures[] = { "ptrace", "auto", "perf", NULL };
static const char *const clocks[] = { "cpu", "wall", NULL };

#define AT(field) offsetof(struct cp_collect_options, field)

const struct cp_option cp_sampling_options[] = {
	{ "sample", 's', CP_OPTION_NUMBER, AT(hz), .value = "HZ", .min = 1, .max = 10000,
	  .help = "sample stacks HZ times a second, up to 10000 (99 unless told; none with "
		  "--trace, --coverage, --allocs, --exceptions, --locks or --maps alone)" },
	{ "clock", 0, CP_OPTION_CHOICE, AT(clock), .value = "cpu|wall", .choices = clocks,
	  .help = "what a tick counts: time on CPU (cpu, unless told; threads that sleep are "
		  "left alone) or elapsed time (wall: every thread, for time spent waiting)" },
	{ "capture", 0, CP_OPTION_CHOICE, AT(capture), .value = "auto|ptrace|perf",
	  .choices = captures,
	  .help = "how samples of CPU time are taken: the kernel's interrupt copies registers and "
		  "stack, which nothing in the program notices (perf), or threads are stopped "
		  "(ptrace); auto, unless told: perf where that is permitted, in the kernel, too" },
	{ "follow", 'f', CP_OPTION_TRUE, AT(follow),
	  .help = "profile children too: fork, vfork, clone, exec (unless told otherwise)" },
	{ "no-follow", 0, CP_OPTION_FALSE, AT(follow), .help = "let children go" },
	{ "duration", 'd', CP_OPTION_DURATION, AT(duration_ns), .value = "TIME",
	  .help = "stop after 10s, 500ms, 2m; the program goes on" },
	{ 0 }
};

#define EVENT(name, words, type, number, period, kernel) name,
static const char *const event_words[] = { CP_EVENTS(EVENT) NULL };

static const struct cp_option sampled_event_options[] = {
	{ "event", 0, CP_OPTION_TEXT, AT(event), .value = "NAME[:N]", .choices = event_words,
	  .help = "samples come with each Nth event of a thread's in the place of CPU time, and "
		  "that is what they weigh: page-faults, context-switches, cpu-migrations; cycles, "
		  "instructions, cache-misses, branch-misses and the like where the processor's "
		  "counters may be used. By the kernel's interrupt, without a stop" },
	{ 0 }
};

/* Values of --wait besides a time. */
static const char *const waits[] = { "all", "none", NULL };

const struct cp_option cp_waiting_options[] = {
	{ "wait", 0, CP_OPTION_WAIT, AT(wait_ns), .value = "all|none|TIME", .choices = waits,
	  .help = "for processes that live on when CMD has ended: to the end of all of them, not "
		  "at all (run, unless told), or for a time (cover, unless told: 10s). Ctrl-C "
		  "ends the waiting; who is left is named" },
	{ 0 }
};

const struct cp_option cp_rotating_options[] = {
	{ "rotate", 0, CP_OPTION_TEXT, AT(rotate), .value = "TIME[:N]",
	  .help = "recordings one after the other: each TIME (60s, 10m) FILE is complete, and "
		  "becomes FILE.1, FILE.2, ...; of these the last N are kept, all unless told" },
	{ 0 }
};

static const struct cp_option enclosing_options[] = {
	{ "keep-source", 0, CP_OPTION_TRUE, AT(keep_source),
	  .help = "the recording holds the source files that samples and calls lead to, so that "
		  "cprof annotate shows them anywhere" },
	{ "keep-code", 0, CP_OPTION_TRUE, AT(keep_code),
	  .help = "the recording holds the code of the functions that were seen, likewise" },
	{ 0 }
};

/* In the order that cp_toggling_begin() has. */
static const char *const signals[] = { "none", "USR1", "USR2", NULL };

static const struct cp_option toggling_options[] = {
	{ "signal", 0, CP_OPTION_CHOICE, AT(signal), .value = "none|USR1|USR2", .choices = signals,
	  .help = "this signal, sent to cprof itself, pauses the recording, and has it go on, as "
		  "cprof ctl PID pause and resume do; the program notices nothing" },
	{ 0 }
};

const struct cp_option cp_events_options[] = {
	{ "annotations", 0, CP_OPTION_TRUE, AT(annotations),
	  .help = "spans, counters and the like that the program announces with cprof/trace.h" },
	{ 0 }
};

#define OTHER_RECORDING \
	{ "profile", \
	  0, \
	  CP_OPTION_TEXTS, \
	  AT(profiles), \
	  .value = "NAME[:ARGS]", \
	  .absent = "default", \
	  .completes = CP_COMPLETES_PROFILERS, \
	  .help = "load a profiler, such as coverage; coverage:help tells its options, 'cprof " \
		  "modules' which there are. Unless one of them is log, the recorder (default, " \
		  "or nothing), there are no samples and no recording; may be repeated" }, \
		{ "plugin-dir", \
		  0, \
		  CP_OPTION_TEXTS, \
		  AT(plugin_dirs), \
		  .value = "DIR", \
		  .completes = CP_COMPLETES_DIRECTORIES, \
		  .help = "look for profilers in DIR first, before the directories of " \
			  "CPROF_PLUGIN_PATH and the installed one; may be repeated" }, \
		{ "quiet", 'q', CP_OPTION_TRUE, AT(quiet), .help = "no summary at the end" }, \
	{ \
		"verbose", 'v', CP_OPTION_COUNT, AT(verbose), \
			.help = "say what is being done; twice: in detail" \
	}

const struct cp_option cp_recording_options[] = {
	{ "output", 'o', CP_OPTION_TEXT, AT(output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES,
	  .help = "the recording: cprof.data unless told; an older one becomes FILE.old" },
	OTHER_RECORDING,
	{ 0 }
};

static const struct cp_option top_recording_options[] = {
	{ "output", 'o', CP_OPTION_TEXT, AT(output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES,
	  .help = "record meanwhile, as attach and run do; an older recording becomes FILE.old" },
	OTHER_RECORDING,
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_stacks_options, field)

/* In the order of enum cp_collect_unwinder. */
static const char *const unwinders[] = { "own", "libunwind", "fp", NULL };
static const char *const held_unwinders[] = { "own", "libunwind", "fp", "libunwind-ptrace", NULL };

#define DEBUG_FILES \
	{ "debug-dir", \
	  0, \
	  CP_OPTION_TEXTS, \
	  AT(debug_dirs), \
	  .value = "DIR", \
	  .completes = CP_COMPLETES_DIRECTORIES, \
	  .help = "look for separate debug files in DIR first; may be repeated" }, \
	{ \
		"no-debuginfod", 0, CP_OPTION_FALSE, AT(debuginfod), \
			.help = "never ask a debuginfod server, even where DEBUGINFOD_URLS names " \
				"one" \
	}

const struct cp_option cp_stacks_options[] = {
	DEBUG_FILES,
	{ "unwinder", 0, CP_OPTION_CHOICE, AT(unwinder), .value = "own|libunwind|fp",
	  .choices = unwinders,
	  .help = "what walks stacks: cprof's tables of call frame information (own, unless "
		  "told), libunwind, or frame pointers alone" },
	{ "no-cache", 0, CP_OPTION_FALSE, AT(cache),
	  .help = "neither use what earlier runs worked out of program files nor keep it" },
	{ 0 }
};

const struct cp_option cp_held_stacks_options[] = {
	DEBUG_FILES,
	{ "unwinder", 0, CP_OPTION_CHOICE, AT(unwinder),
	  .value = "own|libunwind|fp|libunwind-ptrace", .choices = held_unwinders,
	  .help = "what walks stacks: cprof's tables of call frame information (own, unless "
		  "told), libunwind over what was copied, frame pointers alone, or, with --stop, "
		  "libunwind-ptrace, which finds and reads files and memory by itself" },
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_calls_options, field)

/* In the order of cprof_on_full. */
static const char *const on_full[] = { "usual", "drop", "wait", NULL };

const struct cp_option cp_calls_options[] = {
	{ "trace", 't', CP_OPTION_TEXTS, AT(trace), .value = "SPEC",
	  .completes = CP_COMPLETES_FUNCTIONS,
	  .help = "record every call of the functions that match: names and globs (parse_*, "
		  "ns::Foo::*), /regex/, all, program, lib:GLOB, src:GLOB, class:GLOB, ns:GLOB, "
		  "plt:GLOB, separated by commas, -ENTRY to exclude; may be repeated" },
	{ "args", 'a', CP_OPTION_TEXT, AT(args), .value = "EXPR", .absent = "",
	  .help = "with their arguments; with EXPR these instead, members and what pointers lead "
		  "to, separated by commas: 'node->value,length'" },
	{ "result", 'r', CP_OPTION_TRUE, AT(result), .help = "with what they return" },
	{ "locals", 'l', CP_OPTION_TRUE, AT(locals),
	  .help = "with their local variables when they return" },
	{ "changes", 0, CP_OPTION_TRUE, AT(changes),
	  .help = "with what is different behind their pointer arguments when they return" },
	{ "elements", 0, CP_OPTION_TRUE, AT(elements),
	  .help = "with the elements of maps, lists and the like, not just how many they are" },
	{ "depth", 0, CP_OPTION_NUMBER, AT(depth), .value = "N", .min = 1, .max = 16,
	  .help = "follow structures and pointers N levels (3 unless told)" },
	{ "string", 0, CP_OPTION_NUMBER, AT(string), .value = "N", .min = 1, .max = 4096,
	  .help = "bytes of a string (200 unless told)" },
	{ "when", 0, CP_OPTION_TEXT, AT(when), .value = "EXPR",
	  .help = "only calls for which EXPR over the arguments holds: 'len > 4096'",
	  .once = "join what has to hold by '&&': --when='a > 1 && b > 2'" },
	{ "stack", 0, CP_OPTION_TRUE, AT(stack),
	  .help = "with the stack at each call, where exceptions are thrown, locks are waited "
		  "for and memory is freed" },
	{ "cpu-time", 0, CP_OPTION_TRUE, AT(cpu_time),
	  .help = "with the CPU time of each call: one read more at each stop" },
	{ "fast", 0, CP_OPTION_TRUE, AT(fast),
	  .help = "nothing but what costs no stop: calls, times, stacks; refuses what tells more" },
	{ "traps", 0, CP_OPTION_TRUE, AT(traps),
	  .help = "all calls by breakpoints; else those that can be (cprof functions says which) "
		  "are seen without a stop, by a few moved instructions" },
	{ "on-full", 0, CP_OPTION_CHOICE, AT(on_full), .value = "drop|wait", .choices = on_full,
	  .help = "where calls come faster than cprof takes them: drop what finds no room, and "
		  "count it (attach, unless told), or let the program wait (run)" },
	{ "summary", 0, CP_OPTION_TRUE, AT(summary),
	  .help = "no single calls are kept, only for each function and caller how many, how "
		  "long, and how that is distributed: a small recording of any number of them" },
	{ "allocs", 0, CP_OPTION_BYTES, AT(allocs), .value = "BYTES", .absent = "all",
	  .help = "record what malloc, new and their like allocate, move and free, with stacks: "
		  "what is live, what was never freed; with BYTES a sample, one block about "
		  "every so many bytes. With or without --trace" },
	{ "exceptions", 0, CP_OPTION_TRUE, AT(exceptions),
	  .help = "record exceptions thrown and caught (C++, Rust panics, ...), with or without "
		  "--trace" },
	{ "locks", 0, CP_OPTION_TRUE, AT(locks),
	  .help = "record waits for locks: how long, for whom, in what function; locks that are "
		  "free cost nothing. With or without --trace" },
	{ "maps", 0, CP_OPTION_TRUE, AT(maps),
	  .help = "record what mmap, munmap, mremap and brk map and unmap, with stacks: what the "
		  "address space grows by, and since when. With or without --trace" },
	{ "max-rate", 0, CP_OPTION_NUMBER, AT(max_rate), .value = "N", .max = UINT32_MAX,
	  .help = "stop tracing a function that is called more than N times a second, and "
		  "exceptions and locks; allocations are sampled then; 0: never (unless told: "
		  "5000, and never functions named in full or seen without a stop)" },
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_kept_options, field)

const struct cp_option cp_kept_options[] = {
	{ "under", 0, CP_OPTION_TEXT, AT(under), .value = "SPEC",
	  .completes = CP_COMPLETES_FUNCTIONS,
	  .help = "only calls of these functions and all that is called by them" },
	{ "not-under", 0, CP_OPTION_TEXT, AT(not_under), .value = "SPEC",
	  .completes = CP_COMPLETES_FUNCTIONS,
	  .help = "neither calls of these functions nor what is called by them" },
	{ "paths-to", 0, CP_OPTION_TEXT, AT(paths_to), .value = "SPEC",
	  .completes = CP_COMPLETES_FUNCTIONS,
	  .help = "only calls of these functions and those that lead to them" },
	{ "levels", 0, CP_OPTION_NUMBER, AT(levels), .value = "N", .min = 1, .max = UINT32_MAX,
	  .help = "only calls in fewer than N others that --under and --not-under leave" },
	{ "min-duration", 0, CP_OPTION_DURATION, AT(least_ns), .value = "TIME",
	  .help = "only calls that take as long: 50us, 1ms" },
	{ "start-at", 0, CP_OPTION_TEXT, AT(start_at), .value = "SPEC",
	  .completes = CP_COMPLETES_FUNCTIONS,
	  .help = "no calls until one of these functions is called, in any thread; after "
		  "--stop-at, until one is again" },
	{ "stop-at", 0, CP_OPTION_TEXT, AT(stop_at), .value = "SPEC",
	  .completes = CP_COMPLETES_FUNCTIONS, .help = "no calls from one of these functions on" },
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_live_options, field)

static const struct cp_option live_options[] = {
	{ "live", 0, CP_OPTION_TEXT, AT(file), .value = "FILE", .absent = "/dev/stderr",
	  .completes = CP_COMPLETES_FILES,
	  .help = "print calls as they come, as cprof replay does, to FILE or standard error; "
		  "there is no recording then unless --output names one" },
	CP_LINES_OPTIONS,
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_coverage_options, field)

/* In the order of enum cprof_coverage_branches. */
static const char *const branches[] = { "budget", "exact", "none", NULL };

const struct cp_option cp_coverage_options[] = {
	{ "coverage", 'c', CP_OPTION_TRUE, AT(coverage),
	  .help = "lines, functions, blocks and branches that were reached" },
	{ "count", 0, CP_OPTION_TRUE, AT(count),
	  .help = "how often, exactly if code is not optimised; slow where blocks are short, for "
		  "breakpoints then stay there" },
	{ "branches", 0, CP_OPTION_CHOICE, AT(branches), .value = "budget|exact|none",
	  .choices = branches,
	  .help = "how long a conditional jump is watched of which only one direction was seen: "
		  "a number of times (budget, unless told; then the other one is unknown), for "
		  "ever (exact), or not at all (none)" },
	{ "image", 0, CP_OPTION_TEXTS, AT(images), .value = "GLOB",
	  .help = "also such programs and libraries, by path or file name, though they lie in "
		  "/usr or the like or have no debug information; may be repeated" },
	{ "name", 0, CP_OPTION_TEXT, AT(name), .value = "TEST",
	  .help = "which test this is: merged recordings know which tests reached a line" },
	{ 0 }
};

#undef AT
#define AT(field) offsetof(struct cp_source_options, field)

const struct cp_option cp_source_file_options[] = {
	{ "include", 0, CP_OPTION_TEXTS, AT(include), .value = "GLOB",
	  .help = "only source files whose path matches, as compiled or relative to here; '*' "
		  "crosses directories; may be repeated. Unless told: all but those of the system "
		  "and of compilers" },
	{ "exclude", 0, CP_OPTION_TEXTS, AT(exclude), .value = "GLOB",
	  .help = "no such source files; may be repeated" },
	{ "path-map", 0, CP_OPTION_TEXTS, AT(path_map), .value = "OLD=NEW",
	  .help = "sources compiled in OLD are now in NEW; may be repeated, the longest OLD "
		  "that fits wins" },
	{ 0 }
};

const struct cp_option cp_source_line_options[] = {
	{ "exclude-line", 0, CP_OPTION_TEXTS, AT(exclude_line), .value = "REGEX",
	  .help = "no lines that the extended regular expression is found in; may be repeated" },
	{ "exclude-region", 0, CP_OPTION_TEXTS, AT(exclude_region), .value = "START:END",
	  .help = "no lines from one that START is found in up to one with END; may be repeated" },
	{ 0 }
};

const struct cp_option cp_source_diff_options[] = {
	{ "diff", 0, CP_OPTION_TEXT, AT(diff), .value = "REV",
	  .help = "also count the lines alone that changed since the git revision REV: since "
		  "the history parted from its, not committed ones and new files too" },
	{ 0 }
};

#define COLLECT_GROUPS(recording) \
	{ "Sampling", cp_sampling_options, 0 }, \
		{ "Calls", cp_calls_options, offsetof(struct cp_collect_options, calls) }, \
		{ "Coverage", cp_coverage_options, \
		  offsetof(struct cp_collect_options, coverage) }, \
		{ "Events", cp_events_options, 0 }, \
		{ "Source files of coverage", cp_source_file_options, \
		  offsetof(struct cp_collect_options, sources) }, \
		{ "Symbols and stacks", cp_stacks_options, \
		  offsetof(struct cp_collect_options, stacks) }, \
	{ \
		"Recording", recording, 0 \
	}

#define SAMPLED_EVENT \
	{ \
		"Samples of an event", sampled_event_options, 0 \
	}

/* Of what is recorded: a live view shows all. */
#define KEPT_CALLS \
	{ \
		"Which calls are kept", cp_kept_options, \
			offsetof(struct cp_collect_options, calls.kept) \
	}

#define ENCLOSED \
	{ \
		"What the recording holds besides", enclosing_options, 0 \
	}

#define LIVE_CALLS \
	{ \
		"Calls as they come", live_options, offsetof(struct cp_collect_options, live) \
	}

#define TOGGLED \
	{ \
		"Pauses", toggling_options, 0 \
	}

const struct cp_option_group cp_collect_groups[] = { COLLECT_GROUPS(cp_recording_options),
						     SAMPLED_EVENT,
						     ENCLOSED,
						     KEPT_CALLS,
						     LIVE_CALLS,
						     TOGGLED,
						     { "Recordings one after the other",
						       cp_rotating_options, 0 },
						     { 0 } };

const struct cp_option_group cp_run_groups[] = { COLLECT_GROUPS(cp_recording_options),
						 SAMPLED_EVENT,
						 ENCLOSED,
						 KEPT_CALLS,
						 LIVE_CALLS,
						 TOGGLED,
						 { "Children that outlive CMD", cp_waiting_options,
						   0 },
						 { 0 } };

const struct cp_collect_options cp_collect_defaults = {
	.follow = true,
	.capture = CP_COLLECT_NO_CAPTURE,
	.output = "cprof.data",
	.calls = { .max_rate = CP_COLLECT_NO_RATE },
	.stacks = { .debuginfod = true, .cache = true },
};

const struct cp_option_group cp_top_groups[] = { COLLECT_GROUPS(top_recording_options), { 0 } };

const struct cp_collect_options cp_top_defaults = {
	.follow = true,
	.capture = CP_COLLECT_NO_CAPTURE,
	.calls = { .max_rate = CP_COLLECT_NO_RATE },
	.stacks = { .debuginfod = true, .cache = true },
};
