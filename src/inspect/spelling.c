/* SPDX-License-Identifier: MIT */
#include "inspect/spelling.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "base/types.h"

#define ANONYMOUS "(anonymous namespace)"

static const char *behind_word(const char *at)
{
	if (isdigit((unsigned char)*at))
		return at;
	while (isalnum((unsigned char)*at) || *at == '_' || *at == '$')
		at++;
	return at;
}

/* Behind the bracket that closes the one at `at`; NULL: none does. */
static const char *behind_bracket(const char *at, char open, char close)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && !(close == '>' && at[-1] == '-') && !--depth)
			return at + 1;
	}
	return NULL;
}

static bool is_scope(const char *at)
{
	return at && at[0] == ':' && at[1] == ':';
}

/* Behind one part of a name, arguments with it. */
static const char *behind_part(const char *at, bool arguments)
{
	const char *end, *behind;

	if (cp_starts_with(at, ANONYMOUS))
		return at + strlen(ANONYMOUS);
	end = behind_word(at);
	if (end == at)
		return at;
	behind = *end == '<' ? behind_bracket(end, '<', '>') : NULL;
	if (behind && (is_scope(behind) || arguments))
		end = behind;
	behind = *end == '(' ? behind_bracket(end, '(', ')') : NULL;
	return is_scope(behind) ? behind : end;
}

static const char *behind_name(const char *at, bool arguments)
{
	const char *from = is_scope(at) ? at + 2 : at, *end;

	for (;;) {
		end = behind_part(from, arguments);
		if (end == from)
			return from == at ? at : from - 2;
		if (!is_scope(end) || behind_part(end + 2, arguments) == end + 2)
			return end;
		from = end + 2;
	}
}

const char *cp_spelling_name(const char *at)
{
	const char *end = behind_name(at, false);

	return end < at ? at : end;
}

bool cp_spelling_is_path(const char *at)
{
	const char *end = cp_spelling_name(at), *c;

	for (c = at; c < end; c++)
		if (is_scope(c))
			return true;
	return false;
}

static const char *behind_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static bool is_one_of(const char *at, const char *end, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == (size_t)(end - at) && !memcmp(at, *words, (size_t)(end - at)))
			return true;
	return false;
}

bool cp_spelling_declares(const char *at)
{
	if (*at != '(')
		return false;
	at = behind_blanks(at + 1);
	return *at == '*' || *at == '&' || cp_spelling_declares(at);
}

const char *cp_spelling_bracket(const char *at)
{
	return *at == '(' ? behind_bracket(at, '(', ')') : behind_bracket(at, '[', ']');
}

/* Behind `(*)` and what it is a pointer to, elements or a function; NULL: it is none. */
static const char *behind_declarator(const char *at)
{
	const char *end = cp_spelling_declares(at) ? cp_spelling_bracket(at) : NULL, *next;

	if (!end || end[-2] == '(')
		return NULL;
	next = behind_blanks(end);
	return *next == '(' ? cp_spelling_bracket(next) : *next == '[' ? end : NULL;
}

/* What comes behind a type's name: asterisks, const, a number of elements, `(*)`. */
static const char *behind_marks(const char *at, bool *certain)
{
	static const char *const qualifiers[] = { "const", "volatile", "restrict", NULL };
	const char *next, *end;

	for (;; at = end) {
		next = behind_blanks(at);
		end = behind_word(next);
		if (*next == '*' || *next == '&') {
			end = next + 1;
			*certain = *certain || *behind_blanks(end) == ')' ||
				   *behind_blanks(end) == '}' || *behind_blanks(end) == '*';
		} else if (*next == '[') {
			end = next + 1 + strspn(next + 1, "0123456789");
			if (*end++ != ']')
				return at;
			*certain = true;
		} else if (*next == '(') {
			end = behind_declarator(next);
			if (!end)
				return at;
			*certain = true;
		} else if (end == next || !is_one_of(next, end, qualifiers)) {
			return at;
		}
	}
}

const char *cp_spelling_type(const char *at, bool *certain_ret)
{
	static const char *const before[] = { "const", "volatile", "struct", "class",
					      "union", "enum",	   NULL };
	static const char *const plain[] = { "unsigned", "signed",   "long",	 "short", "int",
					     "char",	 "float",    "double",	 "bool",  "_Bool",
					     "void",	 "__int128", "_Complex", NULL };
	bool certain = false, named = false;
	const char *end, *from = at;

	for (;;) {
		at = behind_blanks(at);
		end = behind_word(at);
		if (end != at && is_one_of(at, end, before)) {
			certain = true;
		} else if (end != at && is_one_of(at, end, plain) && !is_scope(end)) {
			certain = named = true;
		} else {
			break;
		}
		at = end;
	}
	if (!named) {
		end = behind_name(at, true);
		if (end <= at)
			return NULL;
		at = end;
	} else {
		while (at > from && at[-1] == ' ')
			at--;
	}
	end = behind_marks(at, &certain);
	*certain_ret = certain;
	return end;
}
