/* SPDX-License-Identifier: MIT */
#include "made_coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "made_recording.h"

#define BLOCK_SIZE 4
#define IMAGE_KEY UINT64_C(0x100000000) /* those of samples are small */

bool made_coverage_is(const char *word)
{
	static const char *const words[] = { "image", "fn", "b", "j", "in" };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static const char *copy(struct made_coverage *m, const char *text)
{
	char *got = cp_arena_copy(&m->strings, text, strlen(text));

	if (got)
		made_unescape(got);
	return got ? got : "";
}

static char *word(char **rest)
{
	char *got = strsep(rest, " ");

	return got ? got : (char *)(uintptr_t) "";
}

static uint32_t file_number(struct made_coverage *m, const char *name)
{
	uint32_t n = CP_RECORD_NONE;

	if (strcmp(name, "-"))
		cp_intern(&m->files, copy(m, name), strlen(copy(m, name)), &n, NULL);
	return n;
}

static uint64_t read_count(const char *text)
{
	return *text == '?' ? CP_COVERAGE_UNKNOWN : strtoull(text, NULL, 10);
}

/* [FILE:]LINE and what follows it. */
static const char *read_place(struct made_coverage *m, char *text, uint32_t *file, uint32_t *line)
{
	char *colon = strrchr(text, ':'), *end;

	if (colon) {
		*colon = 0;
		*file = file_number(m, text);
		text = colon + 1;
	}
	*line = (uint32_t)strtoul(text, &end, 10);
	return end;
}

static struct cp_coverage_function *last_function(struct made_coverage *m)
{
	return m->functions.count ? &m->functions.items[m->functions.count - 1] : NULL;
}

static void finish_image(struct made_coverage *m, struct cp_record_writer *w)
{
	CP_VEC(const char *) files = { 0 };
	size_t i;

	if (!m->open)
		return;
	for (i = 0; i < m->files.count; i++)
		cp_vec_push(&files, m->files.items[i].bytes);
	m->c.image = cp_record_image(w, IMAGE_KEY + m->image_key++, &m->image);
	m->c.files = files.items;
	m->c.file_count = files.count;
	m->c.functions = m->functions.items;
	m->c.function_count = m->functions.count;
	m->c.blocks = m->blocks.items;
	m->c.block_count = m->blocks.count;
	m->c.rows = m->rows.items;
	m->c.row_count = m->rows.count;
	m->c.branches = m->branches.items;
	m->c.branch_count = m->branches.count;
	m->c.inlines = m->inlines.items;
	m->c.inline_count = m->inlines.count;
	cp_record_coverage(w, &m->c);
	cp_vec_free(&files);
	m->functions.count = m->blocks.count = m->rows.count = 0;
	m->branches.count = m->inlines.count = 0;
	m->open = false;
}

static void read_image(struct made_coverage *m, char *rest)
{
	char *one;

	m->open = true;
	m->address = 0x1000;
	m->c = (struct cp_coverage_image){ 0 };
	m->image = (struct cp_record_image){ .path = copy(m, word(&rest)),
					     .build_id = "",
					     .debug_path = "" };
	while ((one = strsep(&rest, " "))) {
		if (cp_starts_with(one, "build="))
			m->image.build_id = copy(m, one + 6);
		else if (cp_starts_with(one, "written="))
			m->c.written_ns = strtoull(one + 8, NULL, 10) * CP_NS_PER_S;
		else if (!strcmp(one, "counted"))
			m->c.flags |= CP_COVERAGE_COUNTED;
		else if (!strcmp(one, "exact"))
			m->c.flags |= CP_COVERAGE_EXACT_BRANCHES;
		else if (!strcmp(one, "nobranches"))
			m->c.flags |= CP_COVERAGE_NO_BRANCHES;
	}
}

static void read_function(struct made_coverage *m, char *rest)
{
	char *name = word(&rest), *linkage = strchr(name, '|'), *one;
	struct cp_coverage_function f = {
		.file = file_number(m, word(&rest)),
		.line = (uint32_t)atoi(word(&rest)),
		.first_block = (uint32_t)m->blocks.count,
		.first_row = (uint32_t)m->rows.count,
		.first_branch = (uint32_t)m->branches.count,
		.first_inline = (uint32_t)m->inlines.count,
		.entry = (uint32_t)m->blocks.count,
	};

	if (linkage)
		*linkage++ = 0;
	f.name = copy(m, name);
	f.linkage = copy(m, linkage ? linkage : name);
	m->address = (m->address + 31) / 16 * 16;
	while ((one = strsep(&rest, " "))) {
		if (!strcmp(one, "partial"))
			f.flags |= CP_COVERAGE_FUNCTION_PARTIAL;
		else if (!strcmp(one, "removed"))
			f.flags |= CP_COVERAGE_FUNCTION_REMOVED;
		else if (cp_starts_with(one, "at="))
			m->address = strtoull(one + 3, NULL, 0);
	}
	f.address = f.flags & CP_COVERAGE_FUNCTION_REMOVED ? 0 : m->address;
	cp_vec_push(&m->functions, f);
}

static void read_block(struct made_coverage *m, char *rest)
{
	struct cp_coverage_function *f = last_function(m);
	struct cp_coverage_row row = { .block = (uint32_t)m->blocks.count };
	const char *flags;
	char *one;

	cp_vec_push(&m->blocks,
		    (struct cp_coverage_block){ m->address, BLOCK_SIZE, read_count(word(&rest)) });
	m->address += BLOCK_SIZE;
	f->block_count++;
	while ((one = strsep(&rest, " "))) {
		if (*one == '>') {
			m->blocks.items[m->blocks.count - 1].next = (uint32_t)atoi(one + 1);
			continue;
		}
		if (*one == '!') {
			m->blocks.items[m->blocks.count - 1].landing = (uint32_t)atoi(one + 1);
			continue;
		}
		if (*one == '=') {
			m->address += (uint64_t)atoi(one + 1) - BLOCK_SIZE;
			m->blocks.items[m->blocks.count - 1].size = (uint32_t)atoi(one + 1);
			continue;
		}
		row.file = f->file;
		flags = read_place(m, one, &row.file, &row.line);
		row.flags = strchr(flags, 'n') ? 0 : CP_COVERAGE_ROW_STATEMENT;
		row.flags |= strchr(flags, 'e') ? CP_COVERAGE_ROW_EMPTY : 0;
		row.flags |= strchr(flags, 'i') ? CP_COVERAGE_ROW_INSIDE : 0;
		row.flags |= strchr(flags, 'c') ? CP_COVERAGE_ROW_CUT : 0;
		row.flags |= strchr(flags, 'u') ? CP_COVERAGE_ROW_UNSURE : 0;
		cp_vec_push(&m->rows, row);
		f->row_count++;
	}
}

static void read_branch(struct made_coverage *m, char *rest)
{
	struct cp_coverage_function *f = last_function(m);
	struct cp_coverage_branch b = { .address = m->address - 2,
					.block = (uint32_t)m->blocks.count - 1,
					.file = CP_RECORD_NONE };

	if (!f->block_count)
		return;
	b.taken = read_count(word(&rest));
	b.passed = read_count(word(&rest));
	if (rest && *rest == '>')
		b.target = (uint32_t)atoi(word(&rest) + 1);
	if (rest) {
		b.file = f->file;
		read_place(m, rest, &b.file, &b.line);
	}
	cp_vec_push(&m->branches, b);
	f->branch_count++;
}

static void read_inline(struct made_coverage *m, char *rest)
{
	struct cp_coverage_function *f = last_function(m);
	struct cp_coverage_inline n = { .name = copy(m, word(&rest)),
					.file = f->file,
					.block = (uint32_t)m->blocks.count - 1 };

	if (!rest || !f->block_count)
		return;
	read_place(m, rest, &n.file, &n.line);
	cp_vec_push(&m->inlines, n);
	f->inline_count++;
}

void made_coverage_line(struct made_coverage *m, struct cp_record_writer *w, const char *first,
			char *rest)
{
	if (!strcmp(first, "image")) {
		finish_image(m, w);
		read_image(m, rest);
	} else if (!strcmp(first, "fn") && m->open) {
		read_function(m, rest);
	} else if (last_function(m)) {
		if (*first == 'b')
			read_block(m, rest);
		else if (*first == 'j')
			read_branch(m, rest);
		else
			read_inline(m, rest);
	}
}

void made_coverage_end(struct made_coverage *m, struct cp_record_writer *w)
{
	finish_image(m, w);
	cp_vec_free(&m->functions);
	cp_vec_free(&m->blocks);
	cp_vec_free(&m->rows);
	cp_vec_free(&m->branches);
	cp_vec_free(&m->inlines);
	cp_interner_free(&m->files);
	cp_arena_free(&m->strings);
}
