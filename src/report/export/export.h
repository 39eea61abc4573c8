/* SPDX-License-Identifier: MIT
 *
 * Profiles and coverage in the formats of other tools. A format is one file,
 * and one row of the lists below.
 */
#ifndef CP_REPORT_EXPORT_H
#define CP_REPORT_EXPORT_H

#include "base/error.h"
#include "report/coverage/coverage.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

/* The material of a format: weights of stacks, or of who calls whom, which sums of calls
 * have, too; weights of stacks, with each sample; or each event for itself. */
enum cp_export_of {
	CP_EXPORT_OF_COVERAGE,
	CP_EXPORT_OF_STACKS,
	CP_EXPORT_OF_SAMPLES,
	CP_EXPORT_OF_EDGES,
	CP_EXPORT_OF_EVENTS
};

struct cp_export_format {
	const char *name, *summary;
	const char *extension; /* of the file it is written to unless told */
	bool binary; /* not for a terminal */
	enum cp_export_of of;
	/* The writers, of profiles and of coverage; NULL: it can't be made of that. */
	struct cp_error *(*write)(const struct cp_profile *p, const struct cp_export_options *o,
				  struct cp_sink *sink);
	struct cp_error *(*cover)(const struct cp_coverage *c, struct cp_sink *sink);
	struct cp_error *(*cover_directory)(const struct cp_coverage *c, const char *directory);
};

/* A format is a row: what stands before its name in a list of all, name, file
 * extension, whether it is binary (not for a terminal), what it is made of, what makes
 * pages of coverage of that name, summary. */
#define CP_EXPORT_FORMATS(X) \
	X("", flamegraph, "svg", false, CP_EXPORT_OF_STACKS, NULL, \
	  "one self-contained SVG, searchable and zoomable") \
	X("|", html, "html", false, CP_EXPORT_OF_SAMPLES, cp_coverage_html, \
	  "one page: time line, flame graph, tables; of coverage, a directory of pages") \
	X("|", folded, "folded", false, CP_EXPORT_OF_STACKS, NULL, \
	  "a line a stack with its nanoseconds or bytes (FlameGraph)") \
	X("|", chrome, "json", false, CP_EXPORT_OF_EVENTS, NULL, \
	  "trace events on a time line (Perfetto, chrome://tracing)") \
	X("|", speedscope, "speedscope.json", false, CP_EXPORT_OF_SAMPLES, NULL, \
	  "a profile a thread (speedscope.app)") \
	X("|", firefox, "json", false, CP_EXPORT_OF_SAMPLES, NULL, \
	  "the Firefox Profiler's processed format (profiler.firefox.com)") \
	X("|", pprof, "pb.gz", true, CP_EXPORT_OF_STACKS, NULL, \
	  "gzipped protobuf (pprof, Pyroscope, Parca)") \
	X("|", callgrind, "callgrind", false, CP_EXPORT_OF_STACKS, NULL, \
	  "cost of functions, lines, calls (KCachegrind)") \
	X("|", dot, "dot", false, CP_EXPORT_OF_EDGES, NULL, \
	  "who calls whom, as a graph (Graphviz)") \
	X("|", mermaid, "mmd", false, CP_EXPORT_OF_EDGES, NULL, \
	  "the same as a flowchart (Mermaid, in Markdown of GitHub and GitLab)") \
	X("|", perfetto, "pftrace", true, CP_EXPORT_OF_EVENTS, NULL, \
	  "calls and samples as protobuf (Perfetto)") \
	X("|", sqlite, "sqlite", true, CP_EXPORT_OF_EVENTS, NULL, \
	  "a database of calls, samples, allocations (sqlite3)")

/* Formats of coverage alone: the same, with what writes them. */
#define CP_EXPORT_COVERAGE_FORMATS(X) \
	X("|", lcov, "info", false, CP_EXPORT_OF_COVERAGE, cp_coverage_lcov, \
	  "coverage: a tracefile (lcov, genhtml, Codecov, Coveralls)") \
	X("|", cobertura, "xml", false, CP_EXPORT_OF_COVERAGE, cp_coverage_cobertura, \
	  "coverage: XML (GitLab, Jenkins, Azure, diff-cover)") \
	X("|", sonarqube, "xml", false, CP_EXPORT_OF_COVERAGE, cp_coverage_sonarqube, \
	  "coverage: SonarQube's generic XML") \
	X("|", json, "json", false, CP_EXPORT_OF_COVERAGE, cp_coverage_gcovr, \
	  "coverage: gcovr's JSON (gcovr -a)")

/* Ends with a row without name. */
extern const struct cp_export_format cp_export_formats[];
const struct cp_export_format *cp_export_find(const char *name);

/* An error where the calls of `p` are not what `format` is made of. */
CP_ERROR cp_export_check(const struct cp_export_format *format, const struct cp_profile *p);
/* Writes `p` as `format`, which can be made of it, to `file` and flushes it. */
CP_ERROR cp_export(const struct cp_export_format *format, const struct cp_profile *p,
		   const struct cp_export_options *o, FILE *file);
/* Writes coverage as `format` to `file` and flushes it. */
CP_ERROR cp_export_coverage(const struct cp_export_format *format, const struct cp_coverage *c,
			    FILE *file);
/* Makes the file, or for html the directory, `path` of coverage in the format
 * called `format`. */
CP_ERROR cp_export_coverage_to(const char *format, const struct cp_coverage *c, const char *path);

/* Makes several outputs at once, each in its thread; the first one's error. */
struct cp_coverage_output {
	const char *format, *path;
};
CP_ERROR cp_export_coverage_all(const struct cp_coverage *c,
				const struct cp_coverage_output *outputs, size_t count);

#endif
