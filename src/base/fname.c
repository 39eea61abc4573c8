/* SPDX-License-Identifier: MIT */
#include "base/fname.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "base/types.h"

size_t cp_fname_operator(const char *at, char before)
{
	static const char word[] = "operator";
	static const char *const symbols[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==", "!=",
		"+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "&&", "||", "++", "--"
	};
	size_t size = strlen(word), i;

	if ((before && !strchr(": *&(", before)) || !cp_starts_with(at, word))
		return 0;
	for (i = 0; i < CP_ARRAY_SIZE(symbols); i++)
		if (cp_starts_with(at + size, symbols[i]))
			return size + strlen(symbols[i]);
	if (at[size] && strchr("<>=!+-*/%&|^~,", at[size]))
		return size + 1;
	return at[size] == ' ' ? size + strcspn(at + size, "(<") : 0;
}

const char *cp_fname_closing(const char *at)
{
	size_t depth = 0, size;
	char before = 0;

	for (; *at; before = at[-1]) {
		size = cp_fname_operator(at, before);
		if (size) {
			at += size;
			continue;
		}
		if (strchr("<([{", *at))
			depth++;
		else if (strchr(">)]}", *at) && !(*at == '>' && before == '-') && !--depth)
			return at + 1;
		at++;
	}
	return NULL;
}

/* Behind the '*' or '&' of a parenthesis that a declarator is in, not parameters: the names
 * of functions that return pointers to functions, and references to arrays. NULL: none. */
static const char *declarator(const char *at)
{
	const char *end = at + 1;

	if (at[1] != '*' && at[1] != '&') { /* "(n::S::*": a member's */
		end += strcspn(end, "*&() ,");
		if (*end != '*' || end[-1] != ':')
			return NULL;
	}
	end += strspn(end, "*&");
	return *end && !strchr("), ", *end) ? end : NULL;
}

/* Behind "decltype (...)" and "decltype(auto)"; `at` where there is none. */
static const char *behind_decltype(const char *at)
{
	static const char word[] = "decltype";
	const char *open;

	if (!cp_starts_with(at, word))
		return at;
	open = at + strlen(word);
	open += *open == ' ';
	open = *open == '(' ? cp_fname_closing(open) : NULL;
	return open ? open : at;
}

/* Behind what brackets enclose; NULL: the name has begun, and its parameters are next, or it
 * is a broken one. *begin_ret moves where it begins in there. */
static const char *behind_bracket(const char *at, const char **begin_ret)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *inside;

	if (*at != '(' || cp_starts_with(at, anonymous))
		return cp_fname_closing(at);
	inside = at == *begin_ret ? declarator(at) : NULL;
	if (inside)
		*begin_ret = inside;
	return inside;
}

size_t cp_fname_begin(const char *name)
{
	const char *begin = name, *at = name;

	if (*name == '[') /* no name of a function's */
		return 0;
	while (at && *at && !cp_fname_operator(at, at == name ? 0 : at[-1])) {
		if (at == begin && behind_decltype(at) != at)
			at = behind_decltype(at);
		else if (strchr("<([{", *at))
			at = behind_bracket(at, &begin);
		else if (*at == ' ' && strchr(" [", at[1]))
			break;
		else if (*at++ == ' ')
			begin = at;
	}
	return *begin ? (size_t)(begin - name) : 0;
}
