/* SPDX-License-Identifier: MIT
 *
 * What src/image says of a file, as text for image_judge.sh to compare with
 * what nm and addr2line say.
 *
 *     image_dump FILE info
 *     image_dump FILE symbols              address kind size name
 *     image_dump FILE sample               addresses in every function with a
 *                                          size, the same ones at each run
 *     image_dump FILE lookup < ADDRESSES   address name start size
 *     image_dump FILE frames < ADDRESSES   0xADDRESS, then function and
 *                                          file:line, innermost first
 *     image_dump FILE rows                 address line column discriminator
 *                                          flags file, of the line table
 *     image_dump FILE functions            address line flags name file, of the
 *                                          debug information
 *     image_dump FILE later < ADDRESSES    as lookup, after asking for frames
 *     image_dump - demangle < NAMES
 *
 * IMAGE_DEBUG_DIR names a debug directory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "image/image.h"
#include "image/lines.h"

static int symbols(struct cp_image *image)
{
	static const char kinds[] = "fpiu";
	const struct cp_symbol *s;
	size_t count, i;

	if (cp_image_symbols(image, &s, &count))
		return 1;
	for (i = 0; i < count; i++)
		printf("%016" PRIx64 " %c %" PRIu64 " %s\n", s[i].start.v, kinds[s[i].kind],
		       s[i].size, s[i].name);
	return 0;
}

static int sample(struct cp_image *image)
{
	const struct cp_symbol *s;
	uint64_t seed = 42, at;
	size_t count, i, k;

	if (cp_image_symbols(image, &s, &count))
		return 1;
	for (i = 0; i < count; i++) {
		if (s[i].kind != CP_SYMBOL_FUNCTION || !s[i].size ||
		    (i && s[i - 1].start.v == s[i].start.v))
			continue;
		for (k = 0; k < 6; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			at = k == 0 ? 0 : k == 1 ? s[i].size - 1 : (seed >> 33) % s[i].size;
			printf("0x%" PRIx64 " %s\n", s[i].start.v + at, s[i].name);
		}
	}
	return 0;
}

static void lookup(struct cp_image *image, uint64_t at)
{
	struct cp_symbol s;

	if (cp_image_symbol(image, (struct cp_vaddr){ at }, &s))
		printf("%" PRIx64 " %s %" PRIx64 " %" PRIu64 "\n", at, s.name, s.start.v, s.size);
	else
		printf("%" PRIx64 " ?\n", at);
}

static void frames(struct cp_image *image, uint64_t at)
{
	struct cp_inline_frame f[64];
	size_t n = cp_image_frames(image, (struct cp_vaddr){ at }, f, 64), i;

	printf("0x%" PRIx64 "\n", at);
	for (i = 0; i < n && i < 64; i++)
		printf("%s\n%s:%" PRIu32 "\n", f[i].function ? f[i].function : "??",
		       f[i].file ? f[i].file : "??", f[i].line);
	if (!n)
		printf("??\n??:0\n");
}

static void later(struct cp_image *image, uint64_t at)
{
	struct cp_inline_frame f;

	cp_image_frames(image, (struct cp_vaddr){ at }, &f, 1);
	lookup(image, at);
}

static int each_address(struct cp_image *image, void (*show)(struct cp_image *, uint64_t))
{
	char line[64];

	while (fgets(line, sizeof(line), stdin))
		show(image, strtoull(line, NULL, 16));
	return 0;
}

static int rows(struct cp_image *image)
{
	struct cp_line_table table = { 0 };
	const struct cp_line_row *r;

	if (cp_image_lines(image, &table))
		return 1;
	cp_vec_for_each(&table.rows, r)
		printf("%" PRIx64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %s%s. %s\n", r->address,
		       r->line, r->column, r->discriminator,
		       r->flags & CP_LINE_STATEMENT ? "s" : "", r->flags & CP_LINE_END ? "e" : "",
		       table.files.items[r->file]);
	cp_line_table_free(&table);
	return 0;
}

static int functions(struct cp_image *image)
{
	struct cp_source_functions all = { 0 };
	const struct cp_source_function *f;

	if (cp_image_source_functions(image, &all))
		return 1;
	cp_vec_for_each(&all.items, f)
		printf("%" PRIx64 " %" PRIu32 " %s%s. %s %s\n", f->address, f->line,
		       f->inlined ? "i" : "", f->artificial ? "a" : "", f->name ? f->name : "?",
		       f->file ? f->file : "?");
	cp_source_functions_free(&all);
	return 0;
}

static int info(struct cp_image *image)
{
	printf("build-id %s\n", cp_image_build_id(image));
	printf("debug %s\n", cp_image_debug_path(image));
	printf("machine %u\n", (unsigned)cp_image_machine(image));
	return 0;
}

static int demangle(void)
{
	char line[65536], *text;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		text = cp_demangle(line);
		puts(text);
		free(text);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *dirs[] = { getenv("IMAGE_DEBUG_DIR"), NULL };
	struct cp_debuginfod debuginfod = { .ask = true };
	struct cp_image_options options = { .debug_dirs = dirs[0] ? dirs : NULL,
					    .debuginfod = &debuginfod };
	struct cp_image *image = NULL;
	struct cp_error *err;
	uint64_t began = cp_now();
	int status = 2;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[2], "demangle"))
		return demangle();
	err = cp_image_open_file(argv[1], &options, &image);
	if (err) {
		fprintf(stderr, "%s\n", err->what);
		cp_error_free(err);
		return 1;
	}
	if (!strcmp(argv[2], "info"))
		status = info(image);
	else if (!strcmp(argv[2], "symbols"))
		status = symbols(image);
	else if (!strcmp(argv[2], "sample"))
		status = sample(image);
	else if (!strcmp(argv[2], "lookup"))
		status = each_address(image, lookup);
	else if (!strcmp(argv[2], "frames"))
		status = each_address(image, frames);
	else if (!strcmp(argv[2], "rows"))
		status = rows(image);
	else if (!strcmp(argv[2], "functions"))
		status = functions(image);
	else if (!strcmp(argv[2], "later"))
		status = each_address(image, later);
	cp_image_destroy(image);
	if (getenv("IMAGE_TIMES"))
		fprintf(stderr, "%.2f ms\n", (double)(cp_now() - began) / 1e6);
	return status;
}
