/* SPDX-License-Identifier: MIT */
#include "cmd/covering.h"

#include <cprof/coverage.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/create.h"
#include "base/text.h"
#include "cmd/complain.h"
#include "cmd/terminal.h"
#include "report/coverage/coverage.h"
#include "report/coverage/table.h"
#include "report/export/export.h"
#include "report/look/table.h"

#define TABLE_ROWS 20

static const char *const stale_names[] = { "error", "warn", NULL };

#define AT(field) offsetof(struct cp_covering_options, field)

const struct cp_option cp_covering_files[] = {
	{ "lcov", 0, CP_OPTION_TEXT, AT(lcov), .value = "FILE", .completes = CP_COMPLETES_FILES,
	  .help = "a tracefile, for genhtml, Codecov, Coveralls" },
	{ "cobertura", 0, CP_OPTION_TEXT, AT(cobertura), .value = "FILE",
	  .completes = CP_COMPLETES_FILES,
	  .help = "Cobertura's XML, for GitLab, Jenkins, Azure, diff-cover" },
	{ "sonarqube", 0, CP_OPTION_TEXT, AT(sonarqube), .value = "FILE",
	  .completes = CP_COMPLETES_FILES, .help = "SonarQube's generic XML" },
	{ "json", 0, CP_OPTION_TEXT, AT(json), .value = "FILE", .completes = CP_COMPLETES_FILES,
	  .help = "gcovr's JSON, for gcovr -a" },
	{ "html", 0, CP_OPTION_TEXT, AT(html), .value = "DIR",
	  .completes = CP_COMPLETES_DIRECTORIES,
	  .help = "a directory of pages: an index and the source of each file" },
	{ "merge", 0, CP_OPTION_TEXT, AT(merge), .value = "FILE", .completes = CP_COMPLETES_FILES,
	  .help = "add to the recording FILE, which is made when it is not there, and report "
		  "all of it; the run itself is then recorded only with --output" },
	{ "again", 0, CP_OPTION_TRUE, AT(again),
	  .help = "with --merge: look also for what FILE already has, as with --output and "
		  "--name" },
	{ 0 }
};

const struct cp_option cp_covering_thresholds[] = {
	{ "fail-under", 0, CP_OPTION_PERCENT, AT(lines), .value = "PCT",
	  .help = "exit status 3 when less than PCT % of the lines were reached" },
	{ "fail-under-branches", 0, CP_OPTION_PERCENT, AT(branches), .value = "PCT",
	  .help = "the same of the directions of conditional jumps" },
	{ "fail-under-functions", 0, CP_OPTION_PERCENT, AT(functions), .value = "PCT",
	  .help = "the same of functions" },
	{ "fail-under-diff", 0, CP_OPTION_PERCENT, AT(changed), .value = "PCT",
	  .help = "the same of the lines that changed" },
	{ "stale", 0, CP_OPTION_CHOICE, AT(stale), .value = "error|warn", .choices = stale_names,
	  .help = "what sources are that were written after the program: an error (unless "
		  "told), or only worth a warning" },
	{ 0 }
};

struct cp_source_rules cp_source_rules_of(const struct cp_source_options *o)
{
	return (struct cp_source_rules){
		.include = o->include.items,
		.exclude = o->exclude.items,
		.exclude_line = o->exclude_line.items,
		.exclude_region = o->exclude_region.items,
		.path_map = o->path_map.items,
		.diff = o->diff,
	};
}

/* ---- before the run ---- */

#define OUTPUTS 5

/* The outputs that are wanted; returns how many. */
static size_t list_outputs(const struct cp_covering_options *o,
			   struct cp_coverage_output list[OUTPUTS])
{
	const struct cp_coverage_output all[OUTPUTS] = { { "lcov", o->lcov },
							 { "cobertura", o->cobertura },
							 { "sonarqube", o->sonarqube },
							 { "json", o->json },
							 { "html", o->html } };
	size_t i, count = 0;

	for (i = 0; i < OUTPUTS; i++)
		if (all[i].path)
			list[count++] = all[i];
	return count;
}

int cp_covering_check(const struct cp_args *args, const struct cp_collect_options *collect,
		      const struct cp_covering_options *o)
{
	struct cp_coverage_output outputs[OUTPUTS];
	size_t count = list_outputs(o, outputs), i;

	for (i = 0; i < count; i++)
		if (!*outputs[i].path || !strcmp(outputs[i].path, "-"))
			return cp_usage(args,
					"standard output belongs to CMD: name a file for --%s",
					outputs[i].format);
	if (o->changed >= 0 && !collect->sources.diff)
		return cp_usage(args, "--fail-under-diff: since when? Name a revision with --diff");
	if (o->branches >= 0 && collect->coverage.branches == CPROF_COVERAGE_BRANCHES_NONE)
		return cp_usage(args, "--fail-under-branches counts what --branches=none leaves "
				      "out");
	if (o->merge && !*o->merge)
		return cp_usage(args, "--merge needs the name of a file");
	if (o->again && !o->merge)
		return cp_usage(args, "--again is about what --merge=FILE holds");
	return CP_EXIT_OK;
}

CP_ERROR cp_covering_check_files(const struct cp_covering_options *o)
{
	struct cp_coverage_output outputs[OUTPUTS];
	size_t count = list_outputs(o, outputs), i;

	if (o->merge)
		CP_TRY(cp_create_check(CP_CREATE_RECORDING, o->merge));
	for (i = 0; i < count; i++)
		if (outputs[i].path != o->html)
			CP_TRY(cp_create_check(CP_CREATE_OUTPUT, outputs[i].path));
	return NULL;
}

/* ---- what can't be reported ---- */

/* The first image that has no source; NULL: all have. */
static const char *find_bare(const struct cp_record *r)
{
	size_t i;

	for (i = 0; i < cp_record_coverage_count(r); i++)
		if (!cp_record_get_coverage(r, i)->file_count)
			return cp_record_get_image(r, cp_record_get_coverage(r, i)->image)->path;
	return NULL;
}

/* An error when there are no lines. */
static CP_ERROR check_lines(const struct cp_record *r, const struct cp_coverage *c,
			    const struct cp_collect_options *collect,
			    const struct cp_covering_options *o)
{
	const char *bare = find_bare(r);
	bool bare_will_do = c->totals.functions &&
			    (collect->coverage.images.count || o->functions >= 0) && o->lines < 0;

	if (c->totals.lines || (bare_will_do && !c->sources_seen))
		return NULL;
	if (!cp_record_coverage_count(r))
		return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						  "nothing that ran counts for coverage"),
				     "programs and libraries in /usr, /lib and the like do not: "
				     "name those that shall with --image=GLOB");
	if (!c->sources_seen)
		return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						  "no lines: %s has no debug information",
						  bare ? bare : "the program"),
				     "build it with -g, or say where its debug information is "
				     "with --debug-dir; --image=%s counts its functions and "
				     "blocks without",
				     bare ? cp_basename(bare) : "GLOB");
	if (!c->files.count)
		return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						  "no lines: none of the %zu source files counts",
						  c->sources_seen),
				     "sources of the system and of compilers count when --include "
				     "names them");
	return cp_error_new(CP_ERR_NOT_FOUND, 0,
			    "no lines: all of the code is excluded, by markers or by options");
}

/* Says which sources are newer than what was built of them. */
static CP_ERROR check_stale(const struct cp_coverage *c, unsigned stale)
{
	const struct cp_covered_file *f, *first = NULL;
	struct cp_error *err;
	size_t count = 0;

	cp_vec_for_each(&c->files, f) {
		if (!f->newer)
			continue;
		first = first ? first : f;
		count++;
	}
	if (!first)
		return NULL;
	err = cp_error_new(CP_ERR_FORMAT, 0,
			   "%s%s written after the program was built: its lines may be others now",
			   first->name, count > 1 ? " and others were" : " was");
	cp_error_hint(err, "build it again, or go on all the same with --stale=warn");
	if (stale == CP_COVERING_STALE_ERROR)
		return err;
	fprintf(stderr, "cprof: warning: %s\n", err->what);
	cp_error_free(err);
	return NULL;
}

static void warn_missing(const struct cp_coverage *c)
{
	const struct cp_covered_file *f, *first = NULL;
	struct cp_buf name = { 0 };
	size_t count = 0;

	cp_vec_for_each(&c->files, f) {
		if (!f->missing)
			continue;
		first = first ? first : f;
		count++;
	}
	if (!first)
		return;
	cp_escape(&name, CP_ESCAPE_TERMINAL, first->path, strlen(first->path));
	fprintf(stderr,
		"cprof: warning: %zu source file%s can't be read, such as %s: markers in %s are "
		"not seen; --path-map=OLD=NEW says where sources are\n",
		count, count > 1 ? "s" : "", name.bytes ? name.bytes : "",
		count > 1 ? "them" : "it");
	cp_buf_free(&name);
}

/* ---- thresholds ---- */

/* Covered at least `percent` of `of`? In whole numbers where people think so. */
static bool misses(uint64_t covered, uint64_t of, double percent)
{
	return (double)covered * 100 < percent * (double)of - 1e-9 * (double)of;
}

static bool judge(const char *what, const char *option, double percent, uint64_t covered,
		  uint64_t of, uint64_t of_it_unknown)
{
	double wanted = ceil(percent * (double)of / 100 - 1e-9 * (double)of);

	if (percent < 0)
		return true;
	if (!of) {
		fprintf(stderr, "cprof: there are no %s: --%s holds\n", what, option);
		return true;
	}
	if (!misses(covered, of, percent))
		return true;
	fprintf(stderr,
		"cprof: %.2f %% of the %s were reached, --%s asks for %g %%: %" PRIu64
		" of %" PRIu64 ", %.0f too few",
		floor((double)covered * 10000 / (double)of) / 100, what, option, percent, covered,
		of, wanted - (double)covered);
	if (of_it_unknown)
		fprintf(stderr, "; of %" PRIu64 " it is unknown (see --branches)", of_it_unknown);
	fputc('\n', stderr);
	return false;
}

static int check_thresholds(const struct cp_coverage *c, const struct cp_covering_options *o)
{
	const struct cp_coverage_totals *t = &c->totals;
	bool good = judge("lines", "fail-under", o->lines, t->lines_covered, t->lines, 0);

	good &= judge("branches", "fail-under-branches", o->branches, t->branches_covered,
		      cp_branches_all(t), t->branches_unknown);
	good &= judge("functions", "fail-under-functions", o->functions, t->functions_covered,
		      t->functions, 0);
	good &= judge("changed lines", "fail-under-diff", o->changed, c->changed.lines_covered,
		      c->changed.lines, 0);
	return good ? CP_EXIT_OK : CP_EXIT_MISSED;
}

/* ---- the end ---- */

static void print_table(const struct cp_coverage *c)
{
	struct cp_terminal term = cp_terminal_of(STDERR_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_buf out = { 0 };

	cp_report_coverage(c, TABLE_ROWS, &look, &out);
	if (out.size) {
		fputc('\n', stderr); /* apart from what CMD wrote */
		cp_terminal_print(stderr, &out);
	}
	cp_buf_free(&out);
}

/* Processes that were left behind are told of where no table does: files for others have
 * no word for them. */
static void warn_left(const struct cp_coverage *c)
{
	struct cp_buf text = { 0 };

	cp_lefts_add(&text, &c->left);
	if (text.size)
		fprintf(stderr, "cprof: warning: %s; what is reached later is not covered here\n",
			text.bytes);
	cp_buf_free(&text);
}

static CP_ERROR report(const struct cp_record *r, const struct cp_coverage *c,
		       struct cp_sources *sources, const struct cp_collect_options *collect,
		       const struct cp_covering_options *o)
{
	struct cp_coverage_output outputs[OUTPUTS];

	CP_TRY(cp_sources_unmatched(sources));
	CP_TRY(check_lines(r, c, collect, o));
	CP_TRY(check_stale(c, o->stale));
	warn_missing(c);
	if (collect->quiet)
		warn_left(c);
	else
		print_table(c);
	return cp_export_coverage_all(c, outputs, list_outputs(o, outputs));
}

int cp_covering_end(const char *path, struct cp_sources *sources,
		    const struct cp_collect_options *collect, const struct cp_covering_options *o)
{
	struct cp_record *r = NULL;
	struct cp_coverage c = { 0 };
	struct cp_error *err = cp_record_load(path, &r);
	int status = CP_EXIT_OWN_FAILURE;

	if (!err)
		err = cp_coverage_build(r, sources, &c);
	if (!err) {
		err = report(r, &c, sources, collect, o);
		if (!err)
			status = check_thresholds(&c, o);
		cp_coverage_deinit(&c);
	}
	cp_record_destroy(r);
	cp_complain(err);
	return status;
}
