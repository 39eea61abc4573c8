/* SPDX-License-Identifier: MIT
 *
 * coverage_pages DIRECTORY <DESCRIPTION: the pages of a coverage that is written
 * down, a line each thing, so that a judge can compare both:
 *
 *     command TEXT     version TEXT     root PATH     time SECONDS     counted
 *     no-branches      exact-branches   seen SOURCES
 *     file NAME PATH [missing] [newer]                then what is in it:
 *     f LINE COUNT BLOCKS COVERED FLAGS NAME          a function
 *     l LINE COUNT BLOCKS COVERED FLAGS               a line
 *     b TAKEN PASSED FLAGS                            a branch of the last line
 *     binary NAME PATH                                then functions
 *
 * ? is an unknown count. In names \n, \e and \s stand for newline, escape, blank.
 */
#include "report/coverage/covered.h"
#include "report/export/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct maker {
	struct cp_coverage c;
	struct cp_arena arena;
	struct cp_covered_file *file; /* the last one, or */
	struct cp_covered_binary *binary;
};

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "coverage_pages: %s\n", what);
	exit(2);
}

static char *copied(struct maker *m, const char *raw)
{
	char *copy = cp_arena_copy(&m->arena, raw, strlen(raw)), *to = copy, *from = copy;

	for (; *from; from++) {
		if (*from == '\\' && from[1] && strchr("nes", from[1]))
			*to++ = *++from == 'n' ? '\n' : *from == 'e' ? 27 : ' ';
		else
			*to++ = *from;
	}
	*to = 0;
	return copy;
}

static uint64_t number(char **rest)
{
	char *word = strsep(rest, " ");

	need(word != NULL, "a number is missing");
	return !strcmp(word, "?") ? CP_COVERAGE_UNKNOWN : strtoull(word, NULL, 0);
}

static void add_place(struct maker *m, char *rest, int binary)
{
	char *name = strsep(&rest, " "), *path = strsep(&rest, " "), *word;
	struct cp_covered_binary b = { 0 };
	struct cp_covered_file f = { 0 };

	need(name && path, "NAME PATH");
	f.name = b.name = copied(m, name);
	f.path = b.path = copied(m, path);
	while ((word = strsep(&rest, " "))) {
		f.missing |= !strcmp(word, "missing");
		f.newer |= !strcmp(word, "newer");
	}
	need(binary ? cp_vec_push(&m->c.binaries, b) : cp_vec_push(&m->c.files, f), "no memory");
	m->binary = binary ? &m->c.binaries.items[m->c.binaries.count - 1] : NULL;
	m->file = binary ? NULL : &m->c.files.items[m->c.files.count - 1];
}

static void add_function(struct maker *m, char *rest)
{
	struct cp_coverage_totals *t = m->file ? &m->file->totals : &m->binary->totals;
	struct cp_covered_function f = { .linkage = "" };

	f.line = (uint32_t)number(&rest);
	f.count = number(&rest);
	f.blocks = (uint32_t)number(&rest);
	f.blocks_covered = (uint32_t)number(&rest);
	f.flags = (uint32_t)number(&rest);
	f.name = copied(m, rest ? rest : "");
	t->removed += (f.flags & CP_COVERED_REMOVED) != 0;
	t->blocks += cp_function_counts(&f) ? f.blocks : 0;
	t->blocks_covered += cp_function_counts(&f) ? f.blocks_covered : 0;
	if (m->binary) {
		t->functions += cp_function_counts(&f);
		t->functions_covered += cp_function_counts(&f) && cp_is_covered(f.count);
	}
	need(m->file ? cp_vec_push(&m->file->functions, f) : cp_vec_push(&m->binary->functions, f),
	     "no memory");
}

static void add_line(struct maker *m, char *rest)
{
	struct cp_coverage_totals *t = &m->file->totals, *changed = &m->file->changed;
	struct cp_covered_line l = { 0 };

	l.line = (uint32_t)number(&rest);
	l.count = number(&rest);
	l.blocks = (uint32_t)number(&rest);
	l.blocks_covered = (uint32_t)number(&rest);
	l.flags = (uint32_t)number(&rest);
	l.first_branch = (uint32_t)m->file->branches.count;
	t->removed += (l.flags & CP_COVERED_REMOVED) != 0;
	t->uncertain += (l.flags & CP_COVERED_SHARED) != 0;
	if (l.flags & CP_COVERED_CHANGED && cp_line_counts(&l)) {
		changed->lines++;
		changed->lines_covered += cp_is_covered(l.count);
	}
	need(cp_vec_push(&m->file->lines, l), "no memory");
}

static void add_branch(struct maker *m, char *rest)
{
	struct cp_covered_line *l = &m->file->lines.items[m->file->lines.count - 1];
	struct cp_covered_branch b = { .line = l->line, .number = l->branch_count++ };

	b.taken = number(&rest);
	b.passed = number(&rest);
	b.flags = (uint32_t)number(&rest);
	m->file->totals.branches_unknown +=
		(b.taken == CP_COVERAGE_UNKNOWN) + (b.passed == CP_COVERAGE_UNKNOWN);
	need(cp_vec_push(&m->file->branches, b), "no memory");
}

/* What cp_totals_add() leaves out, as other tools know nothing of it. */
static void add_rest(struct cp_coverage_totals *to, const struct cp_coverage_totals *t)
{
	to->blocks += t->blocks;
	to->blocks_covered += t->blocks_covered;
	to->branches_unknown += t->branches_unknown;
	to->uncertain += t->uncertain;
	to->removed += t->removed;
}

static void read_line(struct maker *m, char *line)
{
	char *rest = line, *word = strsep(&rest, " ");
	struct cp_coverage *c = &m->c;

	if (!strcmp(word, "command"))
		c->command = copied(m, rest);
	else if (!strcmp(word, "version"))
		c->version = copied(m, rest);
	else if (!strcmp(word, "root"))
		c->root = copied(m, rest);
	else if (!strcmp(word, "time"))
		c->timestamp_ns = number(&rest) * 1000000000;
	else if (!strcmp(word, "seen"))
		c->sources_seen = number(&rest);
	else if (!strcmp(word, "counted"))
		c->counted = true;
	else if (!strcmp(word, "no-branches"))
		c->no_branches = true;
	else if (!strcmp(word, "exact-branches"))
		c->exact_branches = true;
	else if (!strcmp(word, "file") || !strcmp(word, "binary"))
		add_place(m, rest, *word == 'b');
	else if (!strcmp(word, "f"))
		add_function(m, rest);
	else if (!strcmp(word, "l"))
		add_line(m, rest);
	else if (!strcmp(word, "b"))
		add_branch(m, rest);
	else
		need(!*word, word);
}

static void finish(struct maker *m)
{
	struct cp_covered_binary *b;
	struct cp_covered_file *f;

	cp_vec_for_each(&m->c.files, f) {
		struct cp_coverage_totals t = cp_file_totals(f);

		add_rest(&t, &f->totals);
		f->totals = t;
		cp_totals_add(&m->c.totals, &t);
		add_rest(&m->c.totals, &t);
		cp_totals_add(&m->c.changed, &f->changed);
	}
	cp_vec_for_each(&m->c.binaries, b) {
		cp_totals_add(&m->c.totals, &b->totals);
		add_rest(&m->c.totals, &b->totals);
	}
}

static void release(struct maker *m)
{
	struct cp_covered_binary *b;
	struct cp_covered_file *f;

	cp_vec_for_each(&m->c.files, f) {
		cp_vec_free(&f->lines);
		cp_vec_free(&f->functions);
		cp_vec_free(&f->branches);
	}
	cp_vec_for_each(&m->c.binaries, b)
		cp_vec_free(&b->functions);
	cp_vec_free(&m->c.files);
	cp_vec_free(&m->c.binaries);
	cp_arena_free(&m->arena);
}

int main(int argc, char **argv)
{
	struct maker m = { .c = { .command = "", .root = "" } };
	struct cp_error *err;
	char *line = NULL;
	size_t room = 0;

	need(argc == 2, "DIRECTORY <DESCRIPTION");
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		read_line(&m, line);
	}
	free(line);
	finish(&m);
	err = cp_coverage_html(&m.c, argv[1]);
	release(&m);
	if (!err)
		return 0;
	fprintf(stderr, "%s%s%s\n", err->what, err->hint ? ": " : "", err->hint ? err->hint : "");
	cp_error_free(err);
	return 1;
}
