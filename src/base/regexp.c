/* SPDX-License-Identifier: MIT */
#include "base/regexp.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 10000 /* characters to be matched, in a fifth of a second */
#define MAX_NESTING 200

/* Counts the characters that there are when all repetitions are written out. */
struct count {
	const char *at;
	uint64_t outer[MAX_NESTING]; /* what was counted before each open bracket */
	unsigned depth;
	uint64_t total; /* of the innermost bracket */
	uint64_t last; /* of what a repetition that follows is about */
};

static uint64_t within(uint64_t n)
{
	return n > MAX_SIZE ? MAX_SIZE + 1 : n;
}

static void add(struct count *c, uint64_t size)
{
	c->last = size;
	c->total = within(c->total + size);
}

static void repeat(struct count *c, uint64_t times)
{
	if (times < 2 || !c->last)
		return;
	c->total = within(c->total + c->last * (times - 1));
	c->last = within(c->last * times);
}

/* {3}, {3,}, {3,5}, {,5}; what else begins with a brace is characters. */
static void repeat_interval(struct count *c)
{
	const char *end = c->at + strspn(c->at, "0123456789,");
	unsigned long least = strtoul(c->at, NULL, 10), most = least;
	const char *comma = strchr(c->at, ',');

	if (*end != '}') {
		add(c, 1);
		return;
	}
	if (comma && comma < end) {
		most = strtoul(comma + 1, NULL, 10);
		most = most > least ? most : least + 1;
	}
	c->at = end + 1;
	repeat(c, within(most));
}

/* Behind a [, whose first character may be a ]. */
static void skip_set(struct count *c)
{
	const char *at = c->at;

	at += *at == '^';
	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		if (at[0] == '[' && at[1] && strchr(":.=", at[1])) {
			const char end[] = { at[1], ']', 0 }, *closed = strstr(at + 2, end);

			at = closed ? closed + 1 : at;
		}
	}
	c->at = at + (*at == ']');
	add(c, 1);
}

static bool open_group(struct count *c)
{
	if (c->depth == MAX_NESTING)
		return false;
	c->outer[c->depth++] = c->total;
	c->total = c->last = 0;
	return true;
}

static void close_group(struct count *c)
{
	uint64_t size = c->total ? c->total : 1;

	if (!c->depth) {
		add(c, 1);
		return;
	}
	c->total = c->outer[--c->depth];
	add(c, size);
}

static bool is_small(const char *text)
{
	struct count c = { .at = text };

	while (*c.at && c.total <= MAX_SIZE) {
		switch (*c.at++) {
		case '(':
			if (!open_group(&c))
				return false;
			break;
		case ')':
			close_group(&c);
			break;
		case '[':
			skip_set(&c);
			break;
		case '+':
			repeat(&c, 2);
			break;
		case '{':
			repeat_interval(&c);
			break;
		case '*':
		case '?':
			break;
		case '\\':
			c.at += *c.at != 0;
			add(&c, 1);
			break;
		default:
			add(&c, 1);
		}
	}
	return c.total <= MAX_SIZE;
}

bool cp_regexp_compile(const char *text, int flags, regex_t *ret, char why[CP_REGEXP_WHY])
{
	regex_t regex;
	int bad;

	if (!is_small(text)) {
		snprintf(why, CP_REGEXP_WHY, "it is too large, with what it repeats written out");
		return false;
	}
	bad = regcomp(&regex, text, REG_EXTENDED | flags);
	if (bad) {
		regerror(bad, &regex, why, CP_REGEXP_WHY);
		return false;
	}
	*ret = regex;
	return true;
}
