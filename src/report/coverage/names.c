/* SPDX-License-Identifier: MIT
 *
 * Demangled names are not parsed, only their brackets are:
 *
 *     int ns::max<int>(int, int) [clone .cold]        ns::max
 *     Foo<a, b>::operator<< <int>(int) const          Foo::operator<<
 *     main::{lambda(int)#1}::operator()(int) const    main::{lambda(int)#1}::operator()
 *     (anonymous namespace)::f(char)                  (anonymous namespace)::f
 *     <T as core::fmt::Debug>::fmt                    as it is
 */
#include "report/coverage/names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

static const char *const suffixes[] = { ".cold",      ".part.",	     ".constprop.", ".isra.",
					".lto_priv.", ".localalias", ".llvm.",	    ".clone." };

static size_t uncloned(const char *name)
{
	const char *clone = strstr(name, " [clone "), *dot;
	size_t i;

	if (clone)
		return (size_t)(clone - name);
	for (dot = *name ? strchr(name + 1, '.') : NULL; dot; dot = strchr(dot + 1, '.')) {
		for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
			if (cp_starts_with(dot, suffixes[i]))
				return (size_t)(dot - name);
	}
	return strlen(name);
}

void cp_name_unclone(struct cp_buf *out, const char *name)
{
	cp_buf_add(out, name, uncloned(name));
}

bool cp_name_is_piece(const char *name)
{
	return strstr(name, ".cold") || strstr(name, ".part.");
}

/* The last component is the one before it, with or without a '~'. */
static char structor_kind(const char *base)
{
	const char *end = base + strlen(base), *last = end, *before;
	size_t size;

	while (last > base && last[-1] != ':')
		last--;
	if (*last == '~')
		return 'D';
	size = (size_t)(end - last);
	if (last - base < 2 || !size)
		return 0;
	before = last - 2;
	if ((size_t)(before - base) < size || memcmp(before - size, last, size) != 0)
		return 0;
	return before - size == base || before[-(ptrdiff_t)size - 1] == ':' ? 'C' : 0;
}

/* The first "C1" that is neither in an identifier nor in a substitution. */
static char constructor_number(const char *at, const char *end)
{
	unsigned long size;
	char *behind_it;

	while (at + 2 < end) {
		if (isdigit((unsigned char)*at)) {
			size = strtoul(at, &behind_it, 10);
			if (size > (unsigned long)(end - behind_it))
				return 0;
			at = behind_it + size;
		} else if (*at == 'S' &&
			   (isdigit((unsigned char)at[1]) || isupper((unsigned char)at[1]))) {
			while (at < end && *at != '_')
				at++;
		} else if (*at == 'C' && at[1] >= '1' && at[1] <= '5' && strchr("EIB", at[2])) {
			return at[1];
		} else {
			at++;
		}
	}
	return 0;
}

void cp_name_structor(const char *base, const char *linkage, char ret[3])
{
	char kind = structor_kind(base), number = 0;
	size_t size = linkage ? uncloned(linkage) : 0;

	memset(ret, 0, 3);
	if (!kind)
		return;
	if (!linkage)
		number = '4';
	else if (!cp_starts_with(linkage, "_Z"))
		return;
	else if (kind == 'C')
		number = constructor_number(linkage + 2, linkage + size);
	else if (size > 6 && linkage[size - 4] == 'D' && !strncmp(linkage + size - 2, "Ev", 2) &&
		 isdigit((unsigned char)linkage[size - 3]))
		number = linkage[size - 3];
	if (!number)
		return;
	ret[0] = kind;
	ret[1] = number;
}

bool cp_name_is_thunk(const char *name)
{
	static const char *const kinds[] = { "virtual thunk to ", "non-virtual thunk to ",
					     "covariant return thunk to " };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (cp_starts_with(name, kinds[i]))
			return true;
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Behind the bracket that closes the one at `at`; `end` when none does. Angle
 * brackets within round ones may be comparisons. */
static const char *behind(const char *at, const char *end)
{
	static const char opens[] = "({[<", closes[] = ")}]>";
	const char open = *at, close = closes[strchr(opens, open) - opens];
	int round = 0, depth = 0;

	for (; at < end; at++) {
		if (open == '<') {
			round += *at == '(';
			round -= *at == ')';
			if (round || (*at == '-' && at + 1 < end && at[1] == '>')) {
				at += !round;
				continue;
			}
		}
		depth += *at == open;
		depth -= *at == close;
		if (!depth)
			return at + 1;
	}
	return end;
}

/* Behind the operator's characters, when "operator" is at `at`; else `at`. */
static const char *operator_end(const char *name, const char *at, const char *end)
{
	if ((at > name && is_word(at[-1])) || end - at < 9 || strncmp(at, "operator", 8) != 0 ||
	    is_word(at[8]))
		return at;
	at += 8;
	if (end - at >= 2 && (!strncmp(at, "()", 2) || !strncmp(at, "[]", 2)))
		return at + 2;
	while (at < end && strchr("<>=!+-*/%&|^~,", *at))
		at++;
	/* A type or new: up to the parameters. */
	if (at < end && *at == ' ' && at + 1 < end && at[1] != '<')
		while (at < end && *at != '(')
			at++;
	return at;
}

/* Does a template's instance begin here? Not Rust's `<T as Trait>`. */
static bool is_instance(const char *name, const char *at)
{
	return at > name &&
	       (is_word(at[-1]) || at[-1] == ' ' || strchr("<>=!+-*/%&|^~,)]", at[-1]));
}

void cp_name_base(struct cp_buf *out, const char *name)
{
	const char *end = name + uncloned(name), *at = name, *next;
	size_t start = out->size, word = start, before = start; /* behind the last blanks */
	bool instance = false;

	while (at < end) {
		next = operator_end(name, at, end);
		if (next > at) {
			cp_buf_add(out, at, (size_t)(next - at));
			at = next;
		} else if (*at == '<' && is_instance(name, at)) {
			instance = true;
			if (out->size > start && out->size == word) { /* operator<< <int> */
				out->size--;
				word = before;
			}
			at = behind(at, end);
		} else if (strchr("({<[", *at)) {
			next = behind(at, end);
			if (*at == '(' && at > name &&
			    (end - next < 2 || strncmp(next, "::", 2) != 0))
				break; /* parameters */
			if (*at == '(' && at > name && is_word(at[-1]))
				at = next; /* of a function that this one is in */
			for (; at < next; at++)
				cp_buf_u8(out, (uint8_t)*at);
		} else {
			cp_buf_u8(out, (uint8_t)*at);
			if (*at == ' ') {
				before = word;
				word = out->size;
			}
			at++;
		}
	}
	/* Names of instances begin with what they return. */
	if (instance && word > start && word <= out->size && !out->failed) {
		memmove(out->bytes + start, out->bytes + word, out->size - word);
		out->size -= word - start;
	}
	if (!out->failed && out->bytes)
		out->bytes[out->size] = 0;
}
