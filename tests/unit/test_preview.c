/* SPDX-License-Identifier: MIT
 *
 * test_preview PROGRAM STATIC_PROGRAM: what a SPEC would find in them.
 */
#include "probe/preview.h"

#include <unistd.h>

#include "test.h"

static struct cp_preview look(const char *path, const char *spec)
{
	struct cp_preview preview = { 0 };

	CHECK_OK(cp_preview(path, spec, NULL, &preview));
	return preview;
}

static void found(const char *path, const char *spec)
{
	struct cp_preview p = look(path, spec);

	if (!p.matched)
		fprintf(stderr, "%s: nothing\n", spec);
	CHECK(p.matched);
	cp_preview_free(&p);
}

static void not_found(const char *path, const char *spec, const char *near)
{
	struct cp_preview p = look(path, spec);
	struct cp_buf text = { 0 };

	CHECK(!p.matched && !p.may_load && !p.may_start);
	if (cp_near_text(&p.near, &text) != (near != NULL) || (near && !strstr(text.bytes, near)))
		fprintf(stderr, "%s: near is %s\n", spec, text.bytes ? text.bytes : "nothing");
	CHECK(near ? text.bytes && strstr(text.bytes, near) : !text.size);
	cp_buf_free(&text);
	cp_preview_free(&p);
}

static void test_program(const char *path)
{
	struct cp_preview p;

	found(path, "parse_line");
	found(path, "parse_*");
	found(path, "program");
	found(path, "previewed_in_library");
	found(path, "lib:libpreviewed_library*");
	found(path, "malloc");
	found(path, "plt:previewed_in_library");
	not_found(path, "prase_line", "'parse_line'");
	not_found(path, "previewed_in_libary", "'previewed_in_library'");
	not_found(path, "mallco", "'malloc'");
	not_found(path, "prase_*", "'parse_line'");
	not_found(path, "lib:libpreviewed_libary.so", "'libpreviewed_library.so'");
	not_found(path, "program,-all", NULL);
	not_found(path, "parse_line,-parse_*", NULL);
	p = look(path, "parse_line");
	CHECK_U64(p.images, 1);
	cp_preview_free(&p);
}

/* Scripts, programs that start others, files that are none. */
static void test_others(const char *directory)
{
	struct cp_preview p;
	char path[4096];
	FILE *file;

	p = look("/bin/sh", "no_such_function_at_all");
	CHECK(!p.matched && p.may_start);
	cp_preview_free(&p);
	snprintf(path, sizeof(path), "%s/test_preview.%d", directory, (int)getpid());
	file = fopen(path, "w");
	CHECK(file != NULL);
	if (!file)
		return;
	fputs("#! /bin/sh -e\nexit 0\n", file);
	fclose(file);
	p = look(path, "no_such_function_at_all");
	CHECK(!p.matched && p.may_start && p.images > 1);
	cp_preview_free(&p);
	unlink(path);
	p = look(path, "main");
	CHECK(!p.matched && p.may_load);
	cp_preview_free(&p);
	p = look("/dev/null", "main");
	CHECK(!p.matched && p.may_load);
	cp_preview_free(&p);
}

int main(int argc, char **argv)
{
	struct cp_preview p = { 0 };
	struct cp_error *err = cp_preview("/bin/sh", "a,,", NULL, &p);

	CHECK(err && err->code == CP_ERR_USAGE);
	cp_error_free(err);
	if (argc < 3)
		return 2;
	unsetenv("LD_PRELOAD");
	test_program(argv[1]);
	found(argv[2], "parse_line");
	p = look(argv[2], "prase_line");
	CHECK(!p.matched && p.near.count && !strcmp(p.near.names[0], "parse_line"));
	cp_preview_free(&p);
	test_others(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	TEST_MAIN_END;
}
