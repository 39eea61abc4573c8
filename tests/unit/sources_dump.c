/* SPDX-License-Identifier: MIT
 *
 * What src/report/coverage/sources.c makes of files, for a judge: for each path on the
 * command line "wanted" or "left out", its name and where it lies, then the
 * lines with marks: X excluded, B no branches, C changed.
 */
#include "report/coverage/sources.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX 64

struct lists {
	const char *include[MAX], *exclude[MAX], *lines[MAX], *regions[MAX], *maps[MAX];
};

static bool take(const char *arg, const char *name, const char **list)
{
	size_t size = strlen(name), n = 0;

	if (strncmp(arg, name, size) != 0)
		return false;
	while (list[n])
		n++;
	list[n] = arg + size;
	return true;
}

static void dump(struct cp_sources *s, const char *path)
{
	bool wanted = cp_sources_wanted(s, path);
	const struct cp_source_file *f = cp_sources_file(s, path);
	size_t i;

	printf("%s %s %s %s %zu%s\n", path, wanted ? "wanted" : "left-out", f->name, f->path,
	       f->starts.count, f->all_changed ? " new" : "");
	for (i = 0; i < f->marks.count; i++)
		if (f->marks.items[i])
			printf("%zu%s%s%s\n", i + 1,
			       f->marks.items[i] & CP_LINE_EXCLUDED ? "X" : "",
			       f->marks.items[i] & CP_LINE_NO_BRANCHES ? "B" : "",
			       f->marks.items[i] & CP_LINE_CHANGED ? "C" : "");
}

static int fail(struct cp_error *err)
{
	fprintf(stderr, "%s\n", err->what);
	if (err->hint)
		fprintf(stderr, "%s\n", err->hint);
	cp_error_free(err);
	return 1;
}

int main(int argc, char **argv)
{
	static struct lists l;
	struct cp_source_rules rules = { .include = l.include,
					 .exclude = l.exclude,
					 .exclude_line = l.lines,
					 .exclude_region = l.regions,
					 .path_map = l.maps };
	const char *diff[MAX] = { NULL };
	struct cp_sources *s = NULL;
	struct cp_error *err;
	int i;

	(void)argc;
	for (i = 1; argv[i]; i++)
		if (!take(argv[i], "--include=", l.include) &&
		    !take(argv[i], "--exclude=", l.exclude) &&
		    !take(argv[i], "--exclude-line=", l.lines) &&
		    !take(argv[i], "--exclude-region=", l.regions) &&
		    !take(argv[i], "--path-map=", l.maps) && !take(argv[i], "--diff=", diff))
			break;
	rules.diff = diff[0];
	err = cp_sources_create(&rules, &s);
	if (err)
		return fail(err);
	for (; argv[i]; i++)
		dump(s, argv[i]);
	err = cp_sources_unmatched(s);
	cp_sources_destroy(s);
	return err ? fail(err) : 0;
}
