/* SPDX-License-Identifier: MIT
 *
 * Coverage as the files that other tools read: what is in them was written
 * down from the formats. Which tools read them, and what they add up, is
 * tested with those tools (tests/cli/export_coverage.bats).
 */
#include "test.h"

#include "base/buf.h"
#include "report/coverage/covered.h"
#include "report/export/export.h"

#define UNKNOWN CP_COVERAGE_UNKNOWN

/* Line 3: a jump with both directions, one with one unknown; line 4: one whose
 * directions are both unknown; line 5: not reached; 6: its count can't be told,
 * 7: excluded, 8: no code is left; 9: its branches are excluded. */
static struct cp_covered_branch branches[] = {
	{ .line = 3, .number = 0, .block = 0, .taken = 1, .passed = 0 },
	{ .line = 3, .number = 1, .block = 1, .taken = UNKNOWN, .passed = 7 },
	{ .line = 4, .number = 0, .block = 2, .taken = UNKNOWN, .passed = UNKNOWN },
	{ .line = 5, .number = 0, .block = 3, .taken = 0, .passed = 0 },
	{ .line = 6, .number = 0, .block = 4, .taken = 1, .passed = 1 },
	{ .line = 7,
	  .number = 0,
	  .block = 5,
	  .taken = 1,
	  .passed = 1,
	  .flags = CP_COVERED_EXCLUDED },
	{ .line = 9, .number = 0, .block = 6, .taken = 1, .passed = 0 },
};
static struct cp_covered_line lines[] = {
	{ .line = 3, .count = 8, .first_branch = 0, .branch_count = 2 },
	{ .line = 4, .count = 1, .first_branch = 2, .branch_count = 1 },
	{ .line = 5, .count = 0, .first_branch = 3, .branch_count = 1 },
	{ .line = 6, .count = UNKNOWN, .first_branch = 4, .branch_count = 1 },
	{ .line = 7,
	  .count = 1,
	  .flags = CP_COVERED_EXCLUDED,
	  .first_branch = 5,
	  .branch_count = 1 },
	{ .line = 8, .count = 0, .flags = CP_COVERED_REMOVED },
	{ .line = 9,
	  .count = 2,
	  .flags = CP_COVERED_NO_BRANCHES,
	  .first_branch = 6,
	  .branch_count = 1 },
};
static struct cp_covered_function functions[] = {
	{ .name = "f(int, char)", .linkage = "_Z1fic", .line = 2, .end_line = 9, .count = 8 },
	{ .name = "g(int, \"x\")", .linkage = "", .line = 5, .end_line = 5, .count = 0 },
	{ .name = "twice", .linkage = "twice", .line = 5, .end_line = 5, .count = 1 },
	{ .name = "twice", .linkage = "twice", .line = 5, .end_line = 5, .count = 1 },
	{ .name = "twice", .linkage = "twice", .line = 5, .end_line = 5, .count = 1 },
	{ .name = "gone", .linkage = "gone", .line = 8, .flags = CP_COVERED_REMOVED },
	{ .name = "what", .linkage = "what", .line = 9, .count = UNKNOWN },
};
static struct cp_covered_line more_lines[] = { { .line = 1, .count = 0 } };
static struct cp_covered_function more_functions[] = {
	{ .name = "e\033\xff\n<&>", .linkage = "e\033\xff\n<&>", .line = 1, .end_line = 1 },
};
static struct cp_covered_line no_lines[] = { { .line = 1, .flags = CP_COVERED_EXCLUDED } };

#define ITEMS(array) \
	{ \
		.items = (array), .count = sizeof(array) / sizeof(*(array)) \
	}

static struct cp_covered_file files[] = {
	{ .path = "/src/a.c",
	  .name = "a.c",
	  .lines = ITEMS(lines),
	  .functions = ITEMS(functions),
	  .branches = ITEMS(branches) },
	{ .path = "/src/lib/\xff\xef\xbf\xbf\n'.c",
	  .name = "lib/\xff\xef\xbf\xbf\n'.c",
	  .lines = ITEMS(more_lines),
	  .functions = ITEMS(more_functions) },
	{ .path = "/src/none.c", .name = "none.c", .lines = ITEMS(no_lines) },
};
static struct cp_coverage coverage = { .files = ITEMS(files),
				       .root = "/src",
				       .timestamp_ns = 1700000000000000000 };

/* What `name` makes of it. */
static char *written(const char *name)
{
	const struct cp_export_format *format = cp_export_find(name);
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	CHECK(file && format && format->cover);
	if (file && format && format->cover)
		CHECK_OK(cp_export_coverage(format, &coverage, file));
	if (file)
		fclose(file);
	return text;
}

static void check_written(const char *name, const char *want)
{
	char *got = written(name);

	CHECK_STR(got, want);
	free(got);
}

static void test_totals(void)
{
	struct cp_coverage_totals t = cp_file_totals(&files[0]);

	CHECK_U64(t.lines, 4);
	CHECK_U64(t.lines_covered, 3);
	CHECK_U64(t.branches, 5);
	CHECK_U64(t.branches_covered, 2);
	CHECK_U64(t.functions, 5);
	CHECK_U64(t.functions_covered, 4);
}

static void test_lcov(void)
{
	check_written("lcov", "TN:\nSF:/src/a.c\n"
			      "FN:2,_Z1fic\nFNDA:8,_Z1fic\n"
			      "FN:5,g(int; \"x\")\nFNDA:0,g(int; \"x\")\n"
			      "FN:5,twice\nFNDA:1,twice\n"
			      "FN:5,twice@5\nFNDA:1,twice@5\n"
			      "FN:5,twice@5#2\nFNDA:1,twice@5#2\n"
			      "FNF:5\nFNH:4\n"
			      "BRDA:3,0,0,1\nBRDA:3,0,1,0\nBRDA:3,1,1,7\n"
			      "BRDA:5,0,0,-\nBRDA:5,0,1,-\n"
			      "BRF:5\nBRH:2\n"
			      "DA:3,8\nDA:4,1\nDA:5,0\nDA:9,2\n"
			      "LF:4\nLH:3\nend_of_record\n"
			      "TN:\nSF:/src/lib/\xff\xef\xbf\xbf\\x0a'.c\n"
			      "FN:1,e\\x1b\\xff\\x0a<&>\nFNDA:0,e\\x1b\\xff\\x0a<&>\n"
			      "FNF:1\nFNH:0\nBRF:0\nBRH:0\nDA:1,0\nLF:1\nLH:0\nend_of_record\n");
}

static void check_test_name(const char *const *names, size_t count, const char *want)
{
	char *got;

	coverage.tests = names;
	coverage.test_count = count;
	got = written("lcov");
	CHECK(!strncmp(got, want, strlen(want)));
	free(got);
	coverage.tests = NULL;
	coverage.test_count = 0;
}

static void test_lcov_name(void)
{
	static const char *const names[] = { "parser/utf-8 2", "other" };

	check_test_name(names, 1, "TN:parser_utf_8_2\nSF:");
	check_test_name(names, 2, "TN:\nSF:");
}

static void test_sonarqube(void)
{
	check_written("sonarqube",
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<coverage version=\"1\">\n"
		      "<file path=\"a.c\">\n"
		      "<lineToCover lineNumber=\"3\" covered=\"true\" branchesToCover=\"3\" "
		      "coveredBranches=\"2\"/>\n"
		      "<lineToCover lineNumber=\"4\" covered=\"true\"/>\n"
		      "<lineToCover lineNumber=\"5\" covered=\"false\" branchesToCover=\"2\" "
		      "coveredBranches=\"0\"/>\n"
		      "<lineToCover lineNumber=\"9\" covered=\"true\"/>\n"
		      "</file>\n<file path=\"lib/\\xff\\u{ffff}\\x0a&#39;.c\">\n"
		      "<lineToCover lineNumber=\"1\" covered=\"false\"/>\n</file>\n</coverage>\n");
}

static bool has(const char *text, const char *piece)
{
	return text && strstr(text, piece);
}

static void test_cobertura(void)
{
	char *got = written("cobertura");

	CHECK(has(got, "<coverage line-rate=\"0.6\" branch-rate=\"0.4\" lines-covered=\"3\" "
		       "lines-valid=\"5\" branches-covered=\"2\" branches-valid=\"5\""));
	CHECK(has(got, "timestamp=\"1700000000000\""));
	CHECK(has(got, "<source>/src</source>"));
	CHECK(has(got, "<package name=\".\" line-rate=\"0.75\" branch-rate=\"0.4\""));
	CHECK(has(got, "<line number=\"3\" hits=\"8\" branch=\"true\" "
		       "condition-coverage=\"66% (2/3)\"><conditions>"
		       "<condition number=\"0\" type=\"jump\" coverage=\"50%\"/>"
		       "<condition number=\"1\" type=\"jump\" coverage=\"100%\"/></conditions>"));
	CHECK(has(got, "<line number=\"4\" hits=\"1\" branch=\"false\"/>"));
	/* f's lines end where g begins. */
	CHECK(has(got, "<method name=\"f(int, char)\" signature=\"\" line-rate=\"1\" "
		       "branch-rate=\"0.6666666667\" complexity=\"0\">"
		       "<lines><line number=\"2\" hits=\"8\"/></lines></method>"));
	CHECK(has(got, "name=\"g(int, &quot;x&quot;)\" signature=\"\" line-rate=\"0\""));
	CHECK(has(got, "filename=\"lib/\\xff\\u{ffff}\\x0a&#39;.c\""));
	CHECK(!has(got, "none.c") && !has(got, "gone") && !has(got, "what"));
	free(got);
}

static void test_gcovr(void)
{
	char *got = written("json");

	CHECK(has(got, "{\"gcovr/format_version\":\"0.3\",\"files\":[{\"file\":\"a.c\","));
	CHECK(has(got, "{\"line_number\":3,\"count\":8,\"gcovr/noncode\":false,"
		       "\"gcovr/excluded\":false,\"branches\":["
		       "{\"count\":1,\"fallthrough\":false,\"throw\":false},"
		       "{\"count\":0,\"fallthrough\":true,\"throw\":false},"
		       "{\"count\":7,\"fallthrough\":true,\"throw\":false}]}"));
	CHECK(has(got, "{\"line_number\":7,\"count\":0,\"gcovr/noncode\":true,"
		       "\"gcovr/excluded\":true,\"branches\":[]}"));
	CHECK(has(got, "{\"name\":\"twice@5#2\",\"lineno\":5,\"execution_count\":1}"));
	CHECK(has(got, "\"file\":\"lib/\\\\xff\\uffff\\u000a'.c\""));
	CHECK(!has(got, "none.c") && !has(got, "\"line_number\":6"));
	free(got);
}

static void test_save(void)
{
	struct cp_error *err = cp_export_coverage_to("lcov", &coverage, "/dev/full");

	CHECK(err && strstr(err->what, "/dev/full"));
	cp_error_free(err);
	err = cp_export_coverage_to("lcov", &coverage, "/nowhere/at/all");
	CHECK(err && strstr(err->what, "/nowhere/at/all"));
	cp_error_free(err);
	err = cp_export_coverage_to("pprof", &coverage, "/dev/null");
	CHECK(err && err->code == CP_ERR_USAGE);
	cp_error_free(err);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		files[i].totals = cp_file_totals(&files[i]);
	test_totals();
	test_lcov();
	test_lcov_name();
	test_sonarqube();
	test_cobertura();
	test_gcovr();
	test_save();
	TEST_MAIN_END;
}
