/* SPDX-License-Identifier: MIT
 *
 * Profiles in the formats of other tools. Each format is one file and one row
 * of the table in export.c.
 */
#ifndef CP_REPORT_EXPORT_H
#define CP_REPORT_EXPORT_H

#include "report/profile.h"
#include "report/sink.h"
#include "report/tree.h"

struct cp_export_options {
	enum cp_tree_roots roots; /* formats that merge threads: what stands below */
	const char *title; /* NULL: the command */
	const struct cp_profile *old; /* flamegraph: color by the difference; or NULL */
};

struct cp_export_format {
	const char *name, *summary;
	const char *extension; /* of the file it is written to unless told */
	bool binary; /* not for a terminal */
	struct cp_error *(*write)(const struct cp_profile *p, const struct cp_export_options *o,
				  struct cp_sink *sink);
};

/* One row a format: what stands before its name in a list of all, name, file
 * extension, whether it is binary (not for a terminal), summary. */
#define CP_EXPORT_FORMATS(X) \
	X("", flamegraph, "svg", false, "one self-contained SVG, searchable and zoomable") \
	X("|", html, "html", false, "one self-contained page: flame graph and tables") \
	X("|", folded, "folded", false, "a line a stack with its nanoseconds (FlameGraph)") \
	X("|", chrome, "json", false, "trace events on a time line (Perfetto, chrome://tracing)") \
	X("|", speedscope, "speedscope.json", false, "a profile a thread (speedscope.app)") \
	X("|", pprof, "pb.gz", true, "gzipped protobuf (pprof, Pyroscope, Parca)") \
	X("|", callgrind, "callgrind", false, "cost of functions, lines, calls (KCachegrind)") \
	X("|", perfetto, "pftrace", true, "calls and samples as protobuf (Perfetto)") \
	X("|", sqlite, "sqlite", true, "a database of calls, arguments, samples (sqlite3)")

/* Ends with a row without name. */
extern const struct cp_export_format cp_export_formats[];
const struct cp_export_format *cp_export_find(const char *name);

/* Writes `p` as `format` to `file` and flushes it. */
CP_ERROR cp_export(const struct cp_export_format *format, const struct cp_profile *p,
		   const struct cp_export_options *o, FILE *file);

/* ---- the writers ---- */

#define CP_EXPORT_WRITER(name) \
	CP_ERROR cp_export_##name(const struct cp_profile *p, const struct cp_export_options *o, \
				  struct cp_sink *sink)
#define CP_EXPORT_DECLARE(between, name, extension, binary, summary) CP_EXPORT_WRITER(name);
CP_EXPORT_FORMATS(CP_EXPORT_DECLARE)
#undef CP_EXPORT_DECLARE

/* ---- shared by writers ---- */

/* Samples that the filter lets through, by thread, then time. *ret holds
 * indices into cp_record_samples(), the caller's to free. */
CP_ERROR cp_export_by_thread(const struct cp_profile *p, uint32_t **ret, size_t *count_ret);
/* `title`, or the command, or "cprof"; raw. */
void cp_export_title(const struct cp_profile *p, const struct cp_export_options *o,
		     struct cp_buf *out);

#endif
