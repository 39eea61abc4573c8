/* SPDX-License-Identifier: MIT
 *
 * SPEC, from text to entries and from entries to an answer. Reading goes in
 * two passes: the first finds which brackets belong together (one that is
 * never closed, as in `vector<*`, is a character like others), the second
 * splits at commas outside of brackets, quotes and regular expressions.
 */
#include "probe/spec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/regexp.h"
#include "base/text.h"
#include "base/types.h"
#include "base/vec.h"
#include "probe/distance.h"
#include "probe/names.h"

#define MAX_SPEC 65536
#define MAX_NESTING 256

enum kind { NAME, REGEX, ALL, PROGRAM, LIBRARY, SOURCE, CLASS, NAMESPACE, STUB };

struct entry {
	char *text; /* owned: as it was written */
	char *pattern; /* owned: what is compared, or NULL */
	char *image; /* owned: behind an @, or NULL: in any image */
	char *spelt; /* owned: the pattern with texts as demanglers have them; NULL: the same */
	char *scoped; /* owned: the pattern, in whatever it may be; NULL: no other one */
	char *word; /* owned: that plain names must have; NULL: none */
	enum kind kind;
	bool exclude;
	bool wild; /* the pattern is a glob */
	bool image_wild;
	bool params; /* the pattern has a parameter list */
	bool typed; /* the pattern may say what is returned: no glob, or one with a type */
	bool matched;
	bool compiled;
	regex_t regex;
};

struct cp_spec {
	CP_VEC(struct entry) entries;
	/* The subject at hand: its name taken apart, and room for a piece of it
	 * without blanks. */
	struct cp_name_parts parts;
	bool split;
	struct cp_buf piece;
};

/* ---- reading: where entries end ---- */

struct text {
	const char *spec;
	size_t size;
	bool *inside; /* for each character: within brackets */
};

static struct cp_error *complain(const char *spec, size_t at, const char *what)
{
	return cp_error_new(CP_ERR_USAGE, 0, "SPEC '%s': %s at character %zu", spec, what, at + 1);
}

/* Offset after the quoted text or regular expression at `at`, which `end`s
 * with that character; 0 when it does not end. */
static size_t after_quoted(const char *spec, size_t at, char end)
{
	for (at++; spec[at]; at++) {
		if (spec[at] == '\\' && spec[at + 1])
			at++;
		else if (spec[at] == end)
			return at + 1;
	}
	return 0;
}

/* Offset after the word "operator" and its symbol, when they are at `at`. */
static size_t after_operator_at(const struct text *t, size_t at)
{
	size_t word = at + strlen("operator");

	if (strncmp(t->spec + at, "operator", 8) != 0)
		return at;
	if (at && (isalnum((unsigned char)t->spec[at - 1]) || t->spec[at - 1] == '_'))
		return at;
	if (t->spec[word] == '"' && t->spec[word + 1] == '"')
		return word + 2; /* of a literal */
	if (t->spec[word] == '*' && (!t->spec[word + 1] || t->spec[word + 1] == ','))
		return word; /* a glob */
	return word + cp_name_operator(t->spec, t->size, word);
}

/* True when a quoted name begins at `at`: not in the middle of one. */
static bool quotes_at(const struct text *t, size_t at)
{
	return (t->spec[at] == '"' || t->spec[at] == '\'') &&
	       (!at || strchr(",-: ", t->spec[at - 1]));
}

/* Marks what is between brackets that belong together. */
static void mark(struct text *t)
{
	static const char opening[] = "<([{", closing[] = ">)]}";
	size_t open[MAX_NESTING], depth = 0, at = 0, after, k;
	const char *bracket;

	while (at < t->size) {
		after = after_operator_at(t, at);
		if (after == at && quotes_at(t, at))
			after = after_quoted(t->spec, at, t->spec[at]);
		if (after > at) {
			at = after;
			continue;
		}
		bracket = strchr(closing, t->spec[at]);
		if (strchr(opening, t->spec[at]) && depth < MAX_NESTING)
			open[depth++] = at;
		if (t->spec[at] == '-' && t->spec[at + 1] == '>') {
			at += 2;
			continue;
		}
		for (k = depth; bracket && k--;) {
			if (t->spec[open[k]] != opening[bracket - closing])
				continue;
			memset(t->inside + open[k], true, at - open[k]);
			depth = k;
			break;
		}
		at++;
	}
}

/* Offset of the comma that ends the entry at `at`, or of the end. */
static CP_ERROR find_end(const struct text *t, size_t at, size_t *ret)
{
	size_t after, start = at + (t->spec[at] == '-');

	if (t->spec[start] == '/') {
		after = after_quoted(t->spec, start, '/');
		if (!after)
			return cp_error_hint(complain(t->spec, start,
						      "a regular expression without its end"),
					     "write /REGEX/");
		if (t->spec[after] && t->spec[after] != ',')
			return cp_error_hint(complain(t->spec, after,
						      "something behind a regular expression"),
					     "a '/' inside it is written \\/");
		*ret = after;
		return NULL;
	}
	while (at < t->size && (t->spec[at] != ',' || t->inside[at])) {
		after = after_operator_at(t, at);
		if (after == at && quotes_at(t, at)) {
			after = after_quoted(t->spec, at, t->spec[at]);
			if (!after)
				return complain(t->spec, at, "a quote without its end");
		}
		if (after == at)
			after += t->spec[at] == '\\' && t->spec[at + 1] ? 2 : 1;
		at = after;
	}
	*ret = at;
	return NULL;
}

/* ---- reading: what an entry says ---- */

static const struct {
	const char *word;
	enum kind kind;
} prefixes[] = {
	{ "lib", LIBRARY }, { "src", SOURCE }, { "class", CLASS }, { "ns", NAMESPACE },
	{ "plt", STUB },    { "M", NAME },     { "T", CLASS },	   { "N", NAMESPACE },
};

/* The kind that a prefix says, "ns:" but not "ns::"; *text is moved behind it. */
static enum kind take_prefix(const char **text)
{
	size_t i, n;

	for (i = 0; i < CP_ARRAY_SIZE(prefixes); i++) {
		n = strlen(prefixes[i].word);
		if (!strncmp(*text, prefixes[i].word, n) && (*text)[n] == ':' &&
		    (*text)[n + 1] != ':') {
			*text += n + 1;
			return prefixes[i].kind;
		}
	}
	return NAME;
}

static CP_ERROR compile(const char *spec, size_t at, struct entry *e)
{
	char *regex = strndup(e->pattern + 1, strlen(e->pattern) - 2);
	char why[CP_REGEXP_WHY];

	if (!regex)
		return cp_error_nomem();
	e->compiled = cp_regexp_compile(regex, REG_NOSUB, &e->regex, why);
	free(regex);
	if (e->compiled)
		return NULL;
	return cp_error_hint(complain(spec, at, "a regular expression that can't be read"),
			     "%s: %s", e->pattern, why);
}

/* "the::name(int, char)" without its quotes: nothing in it is special. */
static bool unquote(char *text)
{
	size_t size = strlen(text), i, n = 0;

	if (size < 2 || (text[0] != '"' && text[0] != '\'') || text[size - 1] != text[0])
		return false;
	for (i = 1; i + 1 < size; i++) {
		if (text[i] == '\\' && i + 2 < size)
			i++;
		text[n++] = text[i];
	}
	text[n] = 0;
	return true;
}

/* A glob, unless it is the name of a function: operator*, operator[]. */
static bool is_wild(const char *pattern)
{
	size_t size = strlen(pattern), at = 0, after;
	struct text t = { pattern, size, NULL };
	const char *close;

	while (at < size) {
		after = after_operator_at(&t, at);
		if (after > at) {
			at = after;
			continue;
		}
		close = strchr(pattern + at, ']');
		if (strchr("*?\\", pattern[at]) ||
		    (pattern[at] == '[' && strncmp(pattern + at, "[abi:", 5) != 0 && close &&
		     close > pattern + at + 1))
			return true;
		at++;
	}
	return false;
}

/* NAME@IMAGE, unless all of it is in quotes; as debuggers write it, NAME@plt is
 * the stub. */
static CP_ERROR take_image(struct entry *e)
{
	char *at = strrchr(e->pattern, '@');

	if (!at || at == e->pattern || !at[1] || (e->kind != NAME && e->kind != STUB) ||
	    (strchr("\"'", *e->pattern) && strchr(at, *e->pattern)))
		return NULL;
	*at++ = 0;
	if (!strcmp(at, "plt")) {
		e->kind = STUB;
		return NULL;
	}
	e->image = strdup(at);
	e->image_wild = is_wild(at);
	return e->image ? NULL : cp_error_nomem();
}

/* Makes the pattern that may have been meant when this one matches nothing. */
static CP_ERROR make_scoped(struct entry *e)
{
	if (e->kind == NAME && e->wild && e->pattern[0] != '*' &&
	    asprintf(&e->scoped, "*::%s", e->pattern) < 0) {
		e->scoped = NULL;
		return cp_error_nomem();
	}
	return NULL;
}

static void squeeze(char *text)
{
	text[cp_name_squeeze(text, text, strlen(text))] = 0;
}

static CP_ERROR read_pattern(const char *spec, size_t at, const char *text, struct entry *e)
{
	struct cp_name_parts parts;

	e->kind = take_prefix(&text);
	if (!*text)
		return complain(spec, at, "an entry that names nothing");
	e->pattern = strdup(text);
	if (!e->pattern)
		return cp_error_nomem();
	CP_TRY(take_image(e));
	if (!unquote(e->pattern))
		e->wild = is_wild(e->pattern);
	cp_name_split(e->pattern, &parts);
	e->params = parts.params < parts.size;
	e->typed = !e->wild || parts.start;
	squeeze(e->pattern);
	e->spelt = strstr(e->pattern, "std::") ? cp_name_spell_texts(e->pattern) : NULL;
	e->word = e->spelt ? NULL : cp_name_word(e->pattern);
	return make_scoped(e);
}

static CP_ERROR read_entry(const char *spec, size_t at, size_t end, struct entry *e)
{
	const char *text;

	while (at < end && isspace((unsigned char)spec[at]))
		at++;
	while (end > at && isspace((unsigned char)spec[end - 1]))
		end--;
	e->text = strndup(spec + at, end - at);
	if (!e->text)
		return cp_error_nomem();
	e->exclude = e->text[0] == '-';
	text = e->text + e->exclude;
	if (!*text)
		return cp_error_hint(complain(spec, at, "an entry that names nothing"),
				     "entries are separated by single commas");
	if (*text == '/') {
		e->kind = REGEX;
		e->pattern = strdup(text);
		return e->pattern ? compile(spec, at + e->exclude, e) : cp_error_nomem();
	}
	if (!strcmp(text, "all") || !strcmp(text, "program")) {
		e->kind = *text == 'a' ? ALL : PROGRAM;
		return NULL;
	}
	return read_pattern(spec, at, text, e);
}

static CP_ERROR read_entries(const struct text *t, struct cp_spec *spec)
{
	bool positive = false;
	size_t at = 0, end = 0;

	for (;; at = end + 1) {
		while (isspace((unsigned char)t->spec[at]))
			at++;
		CP_TRY(find_end(t, at, &end));
		if (!cp_vec_push(&spec->entries, (struct entry){ 0 }))
			return cp_error_nomem();
		CP_TRY(read_entry(t->spec, at, end, &spec->entries.items[spec->entries.count - 1]));
		positive |= !spec->entries.items[spec->entries.count - 1].exclude;
		if (end >= t->size)
			break;
	}
	if (!positive)
		return cp_error_hint(
			cp_error_new(CP_ERR_USAGE, 0,
				     "SPEC '%s' only excludes: it can't match anything", t->spec),
			"say first of what: 'program,%s'", t->spec);
	return NULL;
}

CP_ERROR cp_spec_parse(const char *text, struct cp_spec **ret)
{
	struct text t = { .spec = text, .size = strnlen(text, MAX_SPEC + 1) };
	struct cp_spec *spec;
	struct cp_error *err;

	if (t.size > MAX_SPEC)
		return cp_error_new(CP_ERR_USAGE, 0, "a SPEC of more than %d characters", MAX_SPEC);
	if (!t.size)
		return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0, "an empty SPEC"),
				     "name functions: 'parse_*', or 'program' for all of them");
	spec = calloc(1, sizeof(*spec));
	t.inside = calloc(t.size + 1, sizeof(*t.inside));
	if (!spec || !t.inside) {
		free(spec);
		free(t.inside);
		return cp_error_nomem();
	}
	mark(&t);
	err = read_entries(&t, spec);
	free(t.inside);
	if (err) {
		cp_spec_destroy(spec);
		return err;
	}
	*ret = spec;
	return NULL;
}

void cp_spec_destroy(struct cp_spec *spec)
{
	struct entry *e;

	if (!spec)
		return;
	cp_vec_for_each(&spec->entries, e) {
		free(e->text);
		free(e->pattern);
		free(e->image);
		free(e->spelt);
		free(e->scoped);
		free(e->word);
		if (e->compiled)
			regfree(&e->regex);
	}
	cp_vec_free(&spec->entries);
	cp_buf_free(&spec->piece);
	free(spec);
}

/* ---- matching ---- */

static bool same_text(const char *pattern, bool wild, const char *text, size_t size)
{
	if (wild)
		return cp_glob_match(pattern, text, size);
	return strlen(pattern) == size && !strncmp(pattern, text, size);
}

static bool same(const struct entry *e, const char *text, size_t size)
{
	return same_text(e->pattern, e->wild, text, size) ||
	       (e->spelt && same_text(e->spelt, e->wild, text, size));
}

/* A piece of a name, from `start` to `end`, is what the entry says: without
 * blanks, and with the tags of its ABI or without, "give[abi:cxx11]", which
 * nobody writes in a source. */
static bool same_piece(struct cp_spec *spec, const struct entry *e, const char *name, size_t start,
		       size_t end)
{
	size_t size, less;
	char *piece;

	if (end <= start)
		return false;
	if (!memchr(name + start, ' ', end - start) && !memchr(name + start, '[', end - start))
		return same(e, name + start, end - start);
	cp_buf_clear(&spec->piece);
	cp_buf_add(&spec->piece, name + start, end - start);
	piece = spec->piece.bytes;
	if (spec->piece.failed || !piece)
		return false;
	size = cp_name_squeeze(piece, piece, end - start);
	if (same(e, piece, size))
		return true;
	less = cp_name_untag(piece, piece, size);
	return less < size && same(e, piece, less);
}

static const struct cp_name_parts *parts_of(struct cp_spec *spec, const char *name)
{
	if (!spec->split)
		cp_name_split(name, &spec->parts);
	spec->split = true;
	return &spec->parts;
}

/* To take a name apart takes ten times as long. */
static bool lacks_word(const struct entry *e, const struct cp_spec_subject *subject)
{
	const char *name = subject->name, *linkage = subject->linkage_name;

	return e->word && !strstr(name, e->word) && !strpbrk(name, " [") &&
	       (e->wild || !linkage || strcmp(e->pattern, linkage) != 0);
}

/* Matches by name: with parameters if the entry has them, else without; with the
 * result type or without, which a glob has to spell out: `app::*` would be all that
 * returns something of app's; with the last template arguments or without. A mangled
 * name is one only in full: `_*` would be every function of C++. */
static bool by_name(struct cp_spec *spec, const struct entry *e,
		    const struct cp_spec_subject *subject)
{
	const char *name = subject->name;
	const struct cp_name_parts *p;
	bool typed;

	if (lacks_word(e, subject))
		return false;
	p = parts_of(spec, name);
	typed = p->start && e->typed;
	if (e->params)
		return (typed && same_piece(spec, e, name, 0, p->size)) ||
		       same_piece(spec, e, name, p->start, p->size) ||
		       same_piece(spec, e, name, p->start, p->end);
	return same_piece(spec, e, name, p->start, p->params) ||
	       (p->plain != p->params && same_piece(spec, e, name, p->start, p->plain)) ||
	       (typed && same_piece(spec, e, name, 0, p->params)) ||
	       (subject->linkage_name && !e->wild && !strcmp(e->pattern, subject->linkage_name));
}

/* Offset of the last component of the `size` bytes at `name`. */
static size_t last_component(const char *name, size_t from, size_t size)
{
	struct cp_name_parts p;
	char *copy = strndup(name + from, size - from);
	size_t at = from;

	if (!copy)
		return from;
	cp_name_split(copy, &p);
	if (p.scope > p.start)
		at = from + p.scope + 2;
	free(copy);
	return at;
}

/* Matches some leading part of what the function is in. */
static bool by_namespace(struct cp_spec *spec, const struct entry *e, const char *name)
{
	const struct cp_name_parts *p = parts_of(spec, name);
	size_t end = p->scope, last, rounds;

	for (rounds = 0; end > p->start && rounds < MAX_NESTING; rounds++) {
		if (same_piece(spec, e, name, p->start, end))
			return true;
		last = last_component(name, p->start, end);
		if (last < p->start + 2)
			break;
		end = last - 2;
	}
	return false;
}

/* Compares what the function is directly in, with its own scope or without, with
 * template arguments or without; the function around a lambda is passed over. */
static bool by_class(struct cp_spec *spec, const struct entry *e, const char *name)
{
	const struct cp_name_parts *p = parts_of(spec, name);
	size_t end = p->scope, last = 0, plain, rounds;

	for (rounds = 0; end > p->start && rounds < MAX_NESTING; rounds++) {
		last = last_component(name, p->start, end);
		if (name[last] != '{' && !memchr(name + last, '(', end - last))
			break;
		end = last >= p->start + 2 ? last - 2 : p->start;
	}
	if (end <= p->start)
		return false;
	plain = end;
	if (name[end - 1] == '>' && memchr(name + last, '<', end - last))
		plain = (size_t)((const char *)memchr(name + last, '<', end - last) - name);
	return same_piece(spec, e, name, p->start, end) ||
	       same_piece(spec, e, name, p->start, plain) || same_piece(spec, e, name, last, end) ||
	       same_piece(spec, e, name, last, plain);
}

/* A path: all of it, its end after some '/', so also its file name. */
static bool by_path(const char *pattern, bool wild, const char *path)
{
	const char *at;

	if (same_text(pattern, wild, path, strlen(path)))
		return true;
	for (at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		if (same_text(pattern, wild, at + 1, strlen(at + 1)))
			return true;
	}
	return false;
}

/* Matches the name of an image; libc is libc.so.6, too. */
static bool by_image(const char *pattern, bool wild, const char *path)
{
	const char *name = cp_basename(path), *end = strstr(name, ".so");

	return by_path(pattern, wild, path) ||
	       (end && end > name && same_text(pattern, wild, name, (size_t)(end - name)));
}

static bool in_its_image(const struct entry *e, const char *path)
{
	return !e->image || by_image(e->image, e->image_wild, path);
}

static bool in_either(const char *pattern, bool wild, const struct cp_spec_subject *subject)
{
	return by_image(pattern, wild, subject->image) ||
	       (subject->started_as && by_image(pattern, wild, subject->started_as));
}

static bool by_source(const struct entry *e, const struct cp_spec_subject *subject)
{
	const char *source = subject->source ? subject->source(subject->ctx) : NULL;

	return source && by_path(e->pattern, e->wild, source);
}

static bool names_library(const struct cp_spec *spec, const char *image)
{
	const struct entry *e;

	cp_vec_for_each(&spec->entries, e) {
		if (e->kind == LIBRARY && !e->exclude && by_image(e->pattern, e->wild, image))
			return true;
	}
	return false;
}

/* Stubs are the program's unless an image is named; what is excluded is so
 * everywhere. */
static bool has_stubs_for(const struct cp_spec *spec, const struct entry *e, const char *image,
			  bool program)
{
	return e->exclude || program || e->image || names_library(spec, image);
}

/* Matches a stub by the name of what it leads to. */
static bool by_stub(struct cp_spec *spec, const struct entry *e,
		    const struct cp_spec_subject *subject)
{
	static const char suffix[] = "@plt";
	struct cp_spec_subject target = *subject;
	char *name = strdup(subject->name), *linkage_name = NULL;
	bool answer = false;

	if (subject->linkage_name)
		linkage_name = strdup(subject->linkage_name);
	if (name && cp_ends_with(name, suffix))
		name[strlen(name) - strlen(suffix)] = 0;
	if (linkage_name && cp_ends_with(linkage_name, suffix))
		linkage_name[strlen(linkage_name) - strlen(suffix)] = 0;
	target.name = name;
	target.linkage_name = linkage_name;
	if (name) {
		spec->split = false;
		answer = by_name(spec, e, &target);
		spec->split = false;
	}
	free(name);
	free(linkage_name);
	return answer;
}

static bool matches(struct cp_spec *spec, const struct entry *e,
		    const struct cp_spec_subject *subject)
{
	if (subject->plt != (e->kind == STUB) ||
	    (e->image && !in_either(e->image, e->image_wild, subject)))
		return false;
	switch (e->kind) {
	case NAME:
		return by_name(spec, e, subject);
	case REGEX:
		return !regexec(&e->regex, subject->name, 0, NULL, 0);
	case ALL:
		return true;
	case PROGRAM:
		return subject->program;
	case LIBRARY:
		return in_either(e->pattern, e->wild, subject);
	case SOURCE:
		return by_source(e, subject);
	case CLASS:
		return by_class(spec, e, subject->name);
	case NAMESPACE:
		return by_namespace(spec, e, subject->name);
	case STUB:
		return has_stubs_for(spec, e, subject->image, subject->program) &&
		       by_stub(spec, e, subject);
	}
	return false;
}

enum cp_spec_match cp_spec_match_at(struct cp_spec *spec, const struct cp_spec_subject *subject,
				    size_t *entry_ret)
{
	enum cp_spec_match answer = CP_SPEC_NO;
	struct entry *e;
	size_t i;

	spec->split = false;
	*entry_ret = 0;
	for (i = spec->entries.count; i--;) {
		e = &spec->entries.items[i];
		/* An entry that has matched before and can't decide any more need
		 * not be asked. */
		if ((*entry_ret && e->matched) || !matches(spec, e, subject))
			continue;
		e->matched = true;
		if (*entry_ret)
			continue;
		*entry_ret = i + 1;
		if (!e->exclude)
			answer = (e->kind == NAME || e->kind == STUB) && !e->wild ? CP_SPEC_NAMED
										  : CP_SPEC_YES;
	}
	return answer;
}

enum cp_spec_match cp_spec_match(struct cp_spec *spec, const struct cp_spec_subject *subject)
{
	size_t entry;

	return cp_spec_match_at(spec, subject, &entry);
}

/* ---- what a SPEC is about ---- */

bool cp_spec_wants_image(struct cp_spec *spec, const char *image, bool program)
{
	struct entry *e;
	bool whole;
	size_t i;

	for (i = spec->entries.count; i--;) {
		e = &spec->entries.items[i];
		whole = e->kind == ALL || (e->kind == PROGRAM && program) ||
			(e->kind == LIBRARY && by_image(e->pattern, e->wild, image));
		if (e->exclude && whole) {
			e->matched = true; /* there will be no subject of it */
			return false;
		}
		if (!e->exclude && e->kind == STUB && !has_stubs_for(spec, e, image, program))
			continue;
		if (!e->exclude &&
		    (whole || (e->kind != PROGRAM && e->kind != LIBRARY && in_its_image(e, image))))
			return true;
	}
	return false;
}

bool cp_spec_wants_stubs(const struct cp_spec *spec, const char *image, bool program)
{
	const struct entry *e;

	cp_vec_for_each(&spec->entries, e) {
		if (e->kind == STUB && !e->exclude && has_stubs_for(spec, e, image, program) &&
		    in_its_image(e, image))
			return true;
	}
	return false;
}

bool cp_spec_only_program(const struct cp_spec *spec)
{
	const struct entry *e;

	cp_vec_for_each(&spec->entries, e) {
		if (!e->exclude && e->kind != PROGRAM)
			return false;
	}
	return true;
}

const char *cp_spec_unmatched(const struct cp_spec *spec, size_t n, bool *end_ret)
{
	*end_ret = n >= spec->entries.count;
	if (*end_ret || spec->entries.items[n].matched)
		return NULL;
	return spec->entries.items[n].text;
}

bool cp_spec_wants_names(const struct cp_spec *spec)
{
	const struct entry *e;

	cp_vec_for_each(&spec->entries, e) {
		if (e->kind != ALL && e->kind != PROGRAM && e->kind != LIBRARY && e->kind != SOURCE)
			return true;
	}
	return false;
}

/* ---- names that are near ---- */

unsigned cp_spec_near(const struct cp_spec *spec, const char *name, bool image)
{
	unsigned best = CP_NEAR + 1, distance;
	const struct entry *e;

	cp_vec_for_each(&spec->entries, e) {
		if (e->exclude || e->matched || e->kind != (image ? LIBRARY : NAME))
			continue;
		distance = e->wild ? cp_name_glob_distance(e->pattern, name)
				   : cp_name_distance(e->pattern, name);
		best = distance < best ? distance : best;
	}
	return best;
}

const char *cp_spec_scoped(const struct cp_spec *spec, const char *name)
{
	struct cp_name_parts p;
	const struct entry *e;
	bool split = false;

	cp_vec_for_each(&spec->entries, e) {
		if (e->exclude || e->matched || !e->scoped)
			continue;
		if (!split)
			cp_name_split(name, &p);
		split = true;
		if (p.scope > p.start && cp_glob_match(e->scoped, name + p.start,
						       (e->params ? p.end : p.params) - p.start))
			return e->scoped;
	}
	return NULL;
}
