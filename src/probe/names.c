/* SPDX-License-Identifier: MIT */
#include "probe/names.h"

#include <string.h>

#include "base/buf.h"
#include "base/types.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- operators ---- */

size_t cp_name_operator(const char *text, size_t size, size_t at)
{
	static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>",
					       "<=",  ">=",  "->",  "==",  "!=", "&&", "||", "++",
					       "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=",
					       "|=",  "<",   ">",   ",",   "+",	 "-",  "*",  "/",
					       "%",   "^",   "&",   "|",   "~",	 "!",  "=" };
	size_t i, n;

	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		n = strlen(symbols[i]);
		if (n <= size - at && !strncmp(text + at, symbols[i], n))
			return n;
	}
	return 0;
}

/* True when the word "operator" ends at `at`. */
static bool after_operator(const char *text, size_t at)
{
	return at >= 8 && !strncmp(text + at - 8, "operator", 8) &&
	       (at == 8 || !is_word(text[at - 9]));
}

/* ---- brackets ---- */

/* A walk over a name: `at` is its place, `depth` how many brackets are open there.
 * Symbols of operators and the arrow are no brackets. */
struct walk {
	const char *text;
	size_t size, at, depth;
};

static void step(struct walk *w)
{
	size_t n = after_operator(w->text, w->at) ? cp_name_operator(w->text, w->size, w->at) : 0;
	char c = w->text[w->at];

	if (n) {
		w->at += n;
		return;
	}
	if (c == '-' && w->at + 1 < w->size && w->text[w->at + 1] == '>')
		w->at++;
	else if (strchr("<([{", c))
		w->depth++;
	else if (strchr(">)]}", c) && w->depth)
		w->depth--;
	w->at++;
}

/* Offset after the bracket that closes the one at `at`, or `size`. */
static size_t closing(const char *text, size_t size, size_t at)
{
	struct walk w = { text, size, at, 0 };

	do
		step(&w);
	while (w.at < size && w.depth);
	return w.at;
}

/* True when what follows a parenthesis at `at` shows that it was not the
 * parameter list of the whole: "f(int) const::{lambda()#1}", "(anonymous
 * namespace)::x", "decltype (y) f". */
static bool goes_on(const char *text, size_t size, size_t at)
{
	static const char *const tails[] = { " const", " volatile", " &&", " &" };
	size_t i, n;

	for (i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		n = strlen(tails[i]);
		if (n <= size - at && !strncmp(text + at, tails[i], n))
			at += n;
	}
	if (at < size && text[at] == '[') /* an ABI tag or clone */
		at = closing(text, size, at);
	return size - at >= 2 && text[at] == ':' && text[at + 1] == ':';
}

static bool after_decltype(const char *text, size_t at)
{
	if (at && text[at - 1] == ' ')
		at--;
	return at >= 8 && !strncmp(text + at - 8, "decltype", 8);
}

/* "void (*pick<int>(char))(int)": what gives a pointer to a function, or a reference to an
 * array, has its result type around it. */
static bool is_around(const char *name, size_t at)
{
	return at && name[at - 1] == ' ' && (name[at + 1] == '*' || name[at + 1] == '&') &&
	       !after_decltype(name, at);
}

static void find_params(const char *name, struct cp_name_parts *p)
{
	struct walk w = { name, p->size, 0, 0 };
	size_t end;

	p->start = 0;
	p->params = p->end = p->size;
	while (w.at < w.size) {
		if (w.depth || name[w.at] != '(' ||
		    (after_operator(name, w.at) && cp_name_operator(name, w.size, w.at))) {
			step(&w);
			continue;
		}
		if (!p->start && is_around(name, w.at)) {
			p->start = w.at += 2;
			continue;
		}
		end = closing(name, p->size, w.at);
		if (!goes_on(name, p->size, end) && !after_decltype(name, w.at)) {
			p->params = w.at;
			p->end = end;
			return;
		}
		w.at = end;
	}
}

/* True when the blank at `at` ends a result type: not in "f() const::g", but behind
 * "decltype(x)", nor in what libiberty says in words, "vtable for X", "virtual thunk to X". */
static bool ends_type(const char *name, size_t at, bool *words)
{
	static const char computed[] = "decltype";

	if ((at >= 3 && !strncmp(name + at - 3, " to", 3)) ||
	    (at >= 4 && !strncmp(name + at - 4, " for", 4)))
		*words = true;
	return at && !*words && name[at + 1] != '(' &&
	       (name[at - 1] != ')' || !strncmp(name, computed, strlen(computed)));
}

/* Finds the parts before the parameters: the result type, the scope, the template
 * arguments. */
static void find_scope(const char *name, struct cp_name_parts *p)
{
	struct walk w = { name, p->params, p->start, 0 };
	size_t open = 0;
	bool words = false;

	p->scope = p->start;
	p->plain = p->params;
	while (w.at < p->params) {
		if (after_operator(name, w.at)) {
			/* A conversion's type, a literal's suffix: to the end. */
			if (name[w.at] == ' ' || name[w.at] == '"')
				break;
			step(&w);
			/* "operator< <int>" */
			w.at += w.at + 1 < p->params && !w.depth && name[w.at] == ' ' &&
				name[w.at + 1] == '<';
			continue;
		}
		if (!w.depth && name[w.at] == ' ') {
			if (ends_type(name, w.at, &words))
				p->scope = p->start = w.at + 1;
		} else if (!w.depth && name[w.at] == ':' && name[w.at + 1] == ':') {
			p->scope = w.at++;
		} else if (!w.depth && name[w.at] == '<') {
			open = w.at;
		}
		step(&w);
		if (w.at == p->params && !w.depth && name[w.at - 1] == '>' && open > p->start &&
		    (p->scope == p->start || open > p->scope + 2))
			p->plain = open - (name[open - 1] == ' ');
	}
	if (words)
		p->start = 0;
}

void cp_name_split(const char *name, struct cp_name_parts *ret)
{
	ret->size = strlen(name);
	find_params(name, ret);
	find_scope(name, ret);
}

size_t cp_name_squeeze(char *to, const char *from, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < size; i++) {
		if (from[i] == ' ' && (!n || i + 1 == size || !is_word(to[n - 1]) ||
				       (!is_word(from[i + 1]) && from[i + 1] != ' ')))
			continue;
		if (from[i] == ' ' && from[i + 1] == ' ')
			continue;
		to[n++] = from[i];
	}
	return n;
}

size_t cp_name_untag(char *to, const char *from, size_t size)
{
	static const char tag[] = "[abi:";
	size_t n = 0, i = 0;
	const char *end;

	while (i < size) {
		end = size - i >= strlen(tag) && !strncmp(from + i, tag, strlen(tag))
			      ? memchr(from + i, ']', size - i)
			      : NULL;
		if (end)
			i = (size_t)(end + 1 - from);
		else
			to[n++] = from[i++];
	}
	return n;
}

/* What a source calls a text, and what demanglers do. */
static const struct {
	const char *alias, *type;
} texts[] = {
	{ "std::string", "std::__cxx11::basic_string<char,std::char_traits<char>,"
			 "std::allocator<char>>" },
	{ "std::wstring", "std::__cxx11::basic_string<wchar_t,std::char_traits<wchar_t>,"
			  "std::allocator<wchar_t>>" },
	{ "std::string_view", "std::basic_string_view<char,std::char_traits<char>>" },
};

char *cp_name_spell_texts(const char *pattern)
{
	struct cp_buf spelt = { 0 };
	size_t i, n;

	while (*pattern) {
		for (i = n = 0; i < CP_ARRAY_SIZE(texts) && !n; i++) {
			n = strlen(texts[i].alias);
			if (strncmp(pattern, texts[i].alias, n) != 0 || is_word(pattern[n]))
				n = 0;
			else
				cp_buf_str(&spelt, texts[i].type);
		}
		if (!n)
			cp_buf_u8(&spelt, (uint8_t)*pattern);
		pattern += n ? n : 1;
	}
	cp_buf_u8(&spelt, 0);
	if (!spelt.failed)
		return (char *)spelt.bytes;
	cp_buf_free(&spelt);
	return NULL;
}

char *cp_name_word(const char *pattern)
{
	const char *word = pattern;
	size_t size = 0, n;

	if (strpbrk(pattern, "[\\")) /* sets, or what they are */
		return strdup("");
	for (; *pattern; pattern += n ? n : 1) {
		for (n = 0; is_word(pattern[n]); n++)
			;
		if (n > size) {
			word = pattern;
			size = n;
		}
	}
	return strndup(word, size);
}

/* ---- globs ---- */

/* The set at `glob`: its length with both brackets, 0 when it is none;
 * *has_ret: `c` is in it. */
static size_t set_at(const char *glob, char c, bool *has_ret)
{
	bool negated = glob[1] == '!' || glob[1] == '^', has = false;
	const unsigned char *s = (const unsigned char *)glob + 1 + negated;
	unsigned char u = (unsigned char)c;
	const unsigned char *first = s;

	for (; *s && (*s != ']' || (negated && s == first)); s++) {
		if (s[1] == '-' && s[2] && s[2] != ']') {
			has |= u >= s[0] && u <= s[2];
			s += 2;
		} else {
			has |= u == *s;
		}
	}
	if (!*s || s == first || !strncmp(glob, "[abi:", 5))
		return 0;
	*has_ret = has != negated;
	return (size_t)(s + 1 - (const unsigned char *)glob);
}

/* Bytes of the glob that match `c`; 0 when it does not. */
static size_t one(const char *glob, char c)
{
	bool has = false;
	size_t n;

	if (*glob == '?')
		return 1;
	if (*glob == '\\' && glob[1])
		return glob[1] == c ? 2 : 0;
	if (*glob == '[') {
		n = set_at(glob, c, &has);
		if (n)
			return has ? n : 0;
	}
	return *glob && *glob == c;
}

bool cp_glob_match(const char *glob, const char *text, size_t size)
{
	const char *end = text + size, *star = NULL, *retry = NULL;
	size_t n;

	while (text < end) {
		if (*glob == '*') {
			star = ++glob;
			retry = text;
			continue;
		}
		n = one(glob, *text);
		if (n) {
			glob += n;
			text++;
		} else if (star) {
			glob = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}
