/* SPDX-License-Identifier: MIT */
#include "report/coverage/sources.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/regexp.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "report/coverage/changes.h"
#include "report/look/source.h"

struct region {
	regex_t start, stop;
};

struct cp_sources {
	struct cp_source_paths paths; /* its root and notes are owned, its lists borrowed */
	CP_VEC(regex_t) lines;
	CP_VEC(struct region) regions;
	struct cp_changes *changes; /* NULL: not asked for */
	struct cp_interner recorded; /* paths; `found` is by their numbers */
	CP_VEC(struct cp_source_file *) found; /* owned by `files` */
	struct cp_interner settled; /* where they lie; `files` is by their numbers */
	CP_VEC(struct cp_source_file *) files; /* owned */
	char *seen; /* owned; a source, for a hint */
	bool asked; /* of any source */
};

/* ---- rules ---- */

static CP_ERROR compile(const char *what, const char *text, regex_t *ret)
{
	char why[CP_REGEXP_WHY];

	if (cp_regexp_compile(text, REG_NEWLINE, ret, why))
		return NULL;
	return cp_error_new(CP_ERR_USAGE, 0, "--%s: '%s' is no regular expression: %s", what, text,
			    why);
}

static CP_ERROR add_line_rule(struct cp_sources *s, const char *text)
{
	regex_t regex;

	CP_TRY(compile("exclude-line", text, &regex));
	if (cp_vec_push(&s->lines, regex))
		return NULL;
	regfree(&regex);
	return cp_error_nomem();
}

/* Splits at the first colon that has no backslash before it, which it loses. */
static char *split_region(const char *text, char **stop_ret)
{
	char *start = strdup(text), *from = start, *to = start;

	for (; start && *from && *from != ':'; *to++ = *from++)
		if (*from == '\\' && from[1] == ':')
			from++;
	if (!start || !*from || from == start || !from[1]) {
		free(start);
		return NULL;
	}
	*stop_ret = from + 1;
	*to = 0;
	return start;
}

static CP_ERROR add_region(struct cp_sources *s, const char *text)
{
	char *stop = NULL;
	CP_FREE char *start = split_region(text, &stop);
	struct region r;
	struct cp_error *err;

	if (!start)
		return cp_error_new(CP_ERR_USAGE, 0,
				    "--exclude-region takes START:END, two regular expressions, "
				    "not '%s'",
				    text);
	CP_TRY(compile("exclude-region", start, &r.start));
	err = compile("exclude-region", stop, &r.stop);
	if (err) {
		regfree(&r.start);
		return err;
	}
	if (cp_vec_push(&s->regions, r))
		return NULL;
	regfree(&r.start);
	regfree(&r.stop);
	return cp_error_nomem();
}

static bool *make_notes(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return calloc(n + 1, sizeof(bool));
}

static CP_ERROR set_paths(struct cp_sources *s, const struct cp_source_rules *rules)
{
	const char *broken = cp_path_map_broken(rules->path_map);

	if (broken)
		return cp_error_new(CP_ERR_USAGE, 0, "--path-map takes OLD=NEW, not '%s'", broken);
	s->paths = (struct cp_source_paths){
		.root = realpath(rules->root ? rules->root : ".", NULL),
		.include = rules->include,
		.exclude = rules->exclude,
		.path_map = rules->path_map,
		.include_used = make_notes(rules->include),
		.exclude_used = make_notes(rules->exclude),
	};
	if (!s->paths.root)
		return cp_error_new(CP_ERR_IO, errno, "the directory %s",
				    rules->root ? rules->root : ".");
	return s->paths.include_used && s->paths.exclude_used ? NULL : cp_error_nomem();
}

static CP_ERROR set_rules(struct cp_sources *s, const struct cp_source_rules *rules)
{
	const char *const *text;

	CP_TRY(set_paths(s, rules));
	for (text = rules->exclude_line; text && *text; text++)
		CP_TRY(add_line_rule(s, *text));
	for (text = rules->exclude_region; text && *text; text++)
		CP_TRY(add_region(s, *text));
	return rules->diff ? cp_changes_create(s->paths.root, rules->diff, &s->changes) : NULL;
}

CP_ERROR cp_sources_create(const struct cp_source_rules *rules, struct cp_sources **ret)
{
	struct cp_sources *s = calloc(1, sizeof(*s));
	struct cp_error *err = s ? set_rules(s, rules) : cp_error_nomem();

	if (err)
		cp_sources_destroy(s);
	else
		*ret = s;
	return err;
}

static void free_file(struct cp_source_file *f)
{
	if (!f)
		return;
	free(f->path);
	free(f->name);
	free(f->text);
	cp_vec_free(&f->starts);
	cp_vec_free(&f->marks);
	free(f);
}

void cp_sources_destroy(struct cp_sources *s)
{
	struct cp_source_file **f;
	struct region *r;
	regex_t *regex;

	if (!s)
		return;
	cp_vec_for_each(&s->lines, regex)
		regfree(regex);
	cp_vec_for_each(&s->regions, r) {
		regfree(&r->start);
		regfree(&r->stop);
	}
	cp_vec_for_each(&s->files, f)
		free_file(*f);
	cp_vec_free(&s->lines);
	cp_vec_free(&s->regions);
	cp_vec_free(&s->files);
	cp_vec_free(&s->found);
	cp_interner_free(&s->recorded);
	cp_interner_free(&s->settled);
	cp_changes_destroy(s->changes);
	free((char *)(uintptr_t)s->paths.root);
	free(s->paths.include_used);
	free(s->paths.exclude_used);
	free(s->seen);
	free(s);
}

/* ---- which count ---- */

const char *cp_sources_root(const struct cp_sources *s)
{
	return s->paths.root;
}

bool cp_sources_wanted(struct cp_sources *s, const char *recorded)
{
	s->asked = true;
	if (!s->seen && !cp_path_is_system(recorded))
		s->seen = strdup(recorded);
	return cp_source_wanted(&s->paths, recorded);
}

static CP_ERROR unmatched(const struct cp_sources *s, const char *option, const char *const *globs,
			  const bool *used)
{
	struct cp_error *err;

	for (; globs && *globs; globs++, used++) {
		if (*used)
			continue;
		err = cp_error_new(CP_ERR_USAGE, 0, "--%s=%s matches no source file", option,
				   *globs);
		if (s->seen)
			cp_error_hint(err,
				      "globs are compared with whole paths, '*' crosses "
				      "directories; one of the sources is %s",
				      s->seen);
		return err;
	}
	return NULL;
}

CP_ERROR cp_sources_unmatched(const struct cp_sources *s)
{
	if (!s->asked)
		return NULL;
	CP_TRY(unmatched(s, "include", s->paths.include, s->paths.include_used));
	return unmatched(s, "exclude", s->paths.exclude, s->paths.exclude_used);
}

/* ---- marks of lines ---- */

static bool split_lines(struct cp_source_file *f)
{
	const char *end = f->text + f->size, *at = f->text;

	while (at && at < end) {
		if (!cp_vec_push(&f->starts, (uint32_t)(at - f->text)) ||
		    !cp_vec_push(&f->marks, 0))
			return false;
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return true;
}

static size_t line_of(const struct cp_source_file *f, size_t offset)
{
	size_t low = 0, high = f->starts.count, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (f->starts.items[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Is a line in a region? They go from the line of START on, but without that of
 * STOP, as lcov and gcovr have it. */
static bool step(bool *inside, bool start, bool stop)
{
	bool excluded = *inside ? !stop : start;

	*inside = *inside ? !stop : start && !stop;
	return excluded;
}

/* The markers that a comment on a line may have. */
enum marker { LINE = 1, START = 2, STOP = 4, BR_LINE = 8, BR_START = 16, BR_STOP = 32 };

static unsigned read_marker(const char *text, const char *at)
{
	static const struct {
		const char *word;
		enum marker marker;
	} words[] = { { "LINE", LINE },	      { "START", START },	{ "STOP", STOP },
		      { "BR_LINE", BR_LINE }, { "BR_START", BR_START }, { "BR_STOP", BR_STOP } };
	size_t before = (size_t)(at - text), i;

	if (!(before >= 4 && (!memcmp(at - 4, "LCOV", 4) || !memcmp(at - 4, "GCOV", 4))) &&
	    !(before >= 5 && !memcmp(at - 5, "GCOVR", 5)))
		return 0;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (cp_starts_with(at + strlen("_EXCL_"), words[i].word))
			return words[i].marker;
	return 0;
}

/* The lines from `from` up to the next marker are as the one before. */
static void fill(struct cp_source_file *f, size_t from, size_t to, uint8_t mark)
{
	for (; mark && from < to; from++)
		f->marks.items[from] |= mark;
}

static void apply(struct cp_source_file *f, size_t line, unsigned markers, bool inside[2])
{
	uint8_t *mark = &f->marks.items[line];

	if (step(&inside[0], markers & START, markers & STOP) || markers & LINE)
		*mark |= CP_LINE_EXCLUDED;
	if (step(&inside[1], markers & BR_START, markers & BR_STOP) || markers & BR_LINE)
		*mark |= CP_LINE_NO_BRANCHES;
}

/* Few lines have markers: only they are looked at. */
static void mark_comments(struct cp_source_file *f)
{
	static const char word[] = "_EXCL_";
	const char *end = f->text + f->size, *at = f->text;
	size_t next = 0, line = 0;
	bool inside[2] = { false, false };
	unsigned markers = 0;
	uint8_t within;

	while (f->starts.count &&
	       (at = memmem(at, (size_t)(end - at), word, sizeof(word) - 1)) != NULL) {
		line = line_of(f, (size_t)(at - f->text));
		within = (uint8_t)((inside[0] ? CP_LINE_EXCLUDED : 0) |
				   (inside[1] ? CP_LINE_NO_BRANCHES : 0));
		fill(f, next, line, within);
		for (markers = 0; at && line_of(f, (size_t)(at - f->text)) == line;
		     at = memmem(at + 1, (size_t)(end - at - 1), word, sizeof(word) - 1))
			markers |= read_marker(f->text, at);
		apply(f, line, markers, inside);
		next = line + 1;
		if (!at)
			break;
	}
	within = (uint8_t)((inside[0] ? CP_LINE_EXCLUDED : 0) |
			   (inside[1] ? CP_LINE_NO_BRANCHES : 0));
	fill(f, next, f->marks.count, within);
}

static bool found_in(const regex_t *regex, const char *line, size_t size)
{
	regmatch_t m = { .rm_so = 0, .rm_eo = (regoff_t)size };

	return !regexec(regex, line, 1, &m, REG_STARTEND);
}

static void mark_rules(const struct cp_sources *s, struct cp_source_file *f)
{
	const struct region *r;
	const regex_t *regex;
	const char *line;
	size_t size, i;
	bool inside;

	cp_vec_for_each(&s->lines, regex) {
		for (i = 0; i < f->marks.count; i++) {
			line = cp_sources_line(f, (uint32_t)i + 1, &size);
			if (found_in(regex, line, size))
				f->marks.items[i] |= CP_LINE_EXCLUDED;
		}
	}
	cp_vec_for_each(&s->regions, r) {
		for (i = 0, inside = false; i < f->marks.count; i++) {
			line = cp_sources_line(f, (uint32_t)i + 1, &size);
			if (step(&inside, !inside && found_in(&r->start, line, size),
				 found_in(&r->stop, line, size)))
				f->marks.items[i] |= CP_LINE_EXCLUDED;
		}
	}
}

/* ---- files ---- */

static bool load(struct cp_sources *s, struct cp_source_file *f)
{
	f->text = cp_source_read(f->path, &f->size, &f->written_ns);
	if (!f->text)
		return true;
	if (!split_lines(f))
		return false;
	mark_comments(f);
	mark_rules(s, f);
	if (s->changes)
		f->all_changed = cp_changes_mark(s->changes, f->path, CP_LINE_CHANGED,
						 f->marks.items, f->marks.count);
	return true;
}

/* Takes `path` over. */
static struct cp_source_file *add_file(struct cp_sources *s, char *path)
{
	struct cp_source_file *f = calloc(1, sizeof(*f));

	if (!f) {
		free(path);
		return NULL;
	}
	f->path = path;
	f->name = strdup(cp_source_name(&s->paths, path));
	if (f->name && load(s, f) && cp_vec_push(&s->files, f))
		return f;
	free_file(f);
	return NULL;
}

const struct cp_source_file *cp_sources_file(struct cp_sources *s, const char *recorded)
{
	struct cp_source_file *f;
	uint32_t number, place;
	bool fresh = false;
	char *path;

	if (!cp_intern(&s->recorded, recorded, strlen(recorded), &number, &fresh))
		return NULL;
	if (!fresh && number < s->found.count)
		return s->found.items[number];
	path = cp_source_path(&s->paths, recorded);
	if (!path || !cp_intern(&s->settled, path, strlen(path), &place, &fresh)) {
		free(path);
		return NULL;
	}
	if (place < s->files.count) {
		free(path);
		f = s->files.items[place];
	} else {
		f = add_file(s, path);
	}
	/* Numbers and arrays in step, even after memory had run out. */
	return f && s->found.count == number && cp_vec_push(&s->found, f) ? f : NULL;
}

const char *cp_sources_line(const struct cp_source_file *f, uint32_t n, size_t *size_ret)
{
	const char *line, *end;

	*size_ret = 0;
	if (!n || n > f->starts.count)
		return "";
	line = f->text + f->starts.items[n - 1];
	end = n < f->starts.count ? f->text + f->starts.items[n] : f->text + f->size;
	while (end > line && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	*size_ret = (size_t)(end - line);
	return line;
}
