/* SPDX-License-Identifier: MIT */
#include "report/look/brief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "base/types.h"

#define NOBODY UINT32_MAX

/* ---- one name ---- */

static void trim(struct cp_buf *name)
{
	static const char constant[] = " const";
	char *at;

	cp_buf_u8(name, 0);
	if (name->failed)
		return;
	name->size--;
	if (cp_ends_with(name->bytes, constant))
		name->size -= strlen(constant);
	while (name->size && name->bytes[name->size - 1] == ' ')
		name->size--;
	name->bytes[name->size] = 0;
	/* The type that it returns goes; another name with blanks in it has a '['. */
	at = strrchr(name->bytes, ' ');
	if (at && at > name->bytes && at[-1] != ' ' && !strchr(name->bytes, '['))
		memmove(name->bytes, at + 1, strlen(at + 1) + 1);
	for (at = name->bytes; *at == ':' || *at == ' '; at++)
		; /* of what had a template's argument before it */
	memmove(name->bytes, at, strlen(at) + 1);
	name->size = strlen(name->bytes);
}

/* Length of "operator<<", "operator()", "operator bool" at the beginning of what is a
 * part of a name; 0: it is something else. */
static size_t operator_size(const char *at, char before)
{
	static const char word[] = "operator";
	static const char *const symbols[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==", "!=",
		"+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "&&", "||", "++", "--"
	};
	size_t size = strlen(word), i;

	if ((before && !strchr(": ", before)) || !cp_starts_with(at, word))
		return 0;
	for (i = 0; i < CP_ARRAY_SIZE(symbols); i++)
		if (cp_starts_with(at + size, symbols[i]))
			return size + strlen(symbols[i]);
	if (at[size] && strchr("<>=!+-*/%&|^~,", at[size]))
		return size + 1;
	return at[size] == ' ' ? size + strcspn(at + size, "(<") : 0;
}

void cp_brief_name(struct cp_buf *out, const char *name)
{
	static const char anonymous[] = "(anonymous namespace)::";
	struct cp_buf bare CP_CLEANUP(cp_buf_free) = { 0 };
	size_t nested = 0, size = 0;
	const char *at;

	for (at = name; *at && !size; at++) {
		while (!nested && cp_starts_with(at, anonymous))
			at += strlen(anonymous);
		size = nested ? 0 : operator_size(at, at == name ? 0 : at[-1]);
		if (!*at || size)
			break;
		nested += *at == '<' || *at == '(';
		if (!nested)
			cp_buf_u8(&bare, (uint8_t)*at);
		nested -= nested && (*at == '>' || *at == ')') && at[-1] != '-';
	}
	if (!nested)
		trim(&bare);
	cp_buf_add(&bare, at, size);
	cp_buf_u8(&bare, 0);
	cp_buf_str(out, !nested && !bare.failed && *bare.bytes ? bare.bytes : name);
}

/* ---- names below each other ---- */

static char *take(struct cp_buf *text)
{
	char *taken = strdup(text->bytes && !text->failed ? text->bytes : "");

	cp_buf_free(text);
	return taken;
}

static char *fitted(const char *name, size_t columns)
{
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text = { 0 };

	if (cp_text_columns(name) <= columns)
		return strdup(name);
	cp_brief_name(&brief, name);
	cp_text_fit(&text, brief.bytes ? brief.bytes : "", columns);
	return take(&text);
}

/* The word in which two names begin to differ. */
static size_t differs_at(const char *a, const char *b)
{
	size_t at = 0, n;

	for (n = 0; a[n] && a[n] == b[n]; n++)
		if (strchr("<(, :", a[n]))
			at = n + 1;
	return at;
}

/* "std::vector::push_back…Point const&)": its beginning, and what another one that looks
 * the same does not have. */
static char *distinct(const char *name, const char *other, size_t columns)
{
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text = { 0 }, tail CP_CLEANUP(cp_buf_free) = { 0 };
	size_t room = columns / 2;

	cp_text_fit(&tail, name + differs_at(name, other), room);
	cp_brief_name(&brief, name);
	room = columns - (tail.bytes ? cp_text_columns(tail.bytes) : 0);
	cp_text_fit(&text, brief.bytes ? brief.bytes : "", room > 1 ? room - 1 : 1);
	cp_buf_str(&text, "…");
	cp_buf_str(&text, tail.bytes ? tail.bytes : "");
	return take(&text);
}

/* The first row that is shown as `shown` and has another name; NOBODY: there is none. */
static uint32_t lookalike(struct cp_interner *seen, struct cp_map *owners, const char *shown,
			  const char *const *names, uint32_t n)
{
	uint64_t *owner;
	uint32_t id;

	if (!cp_intern(seen, shown, strlen(shown), &id, NULL))
		return NOBODY;
	owner = cp_map_get(owners, id);
	if (!owner)
		cp_map_put(owners, id, n);
	return owner && strcmp(names[*owner], names[n]) != 0 ? (uint32_t)*owner : NOBODY;
}

static void tell_apart(struct cp_brief *b, const char *const *names)
{
	struct cp_interner seen = { 0 };
	struct cp_map owners = { 0 }, met = { 0 };
	uint32_t *like = calloc(b->count + 1, sizeof(*like)), i;

	for (i = 0; like && i < b->count; i++) {
		like[i] = lookalike(&seen, &owners, b->shown[i], names, i);
		if (like[i] != NOBODY && !cp_map_get(&met, like[i]))
			cp_map_put(&met, like[i], i);
	}
	for (i = 0; like && i < b->count; i++) {
		const uint64_t *first = cp_map_get(&met, i);
		uint32_t other = like[i] != NOBODY ? like[i] : first ? (uint32_t)*first : NOBODY;
		char *text = other != NOBODY ? distinct(names[i], names[other], b->columns) : NULL;

		if (text) {
			free(b->shown[i]);
			b->shown[i] = text;
		}
	}
	free(like);
	cp_map_free(&met);
	cp_map_free(&owners);
	cp_interner_free(&seen);
}

/* Names that still look the same get numbers. */
static void number(struct cp_brief *b, const char *const *names)
{
	struct cp_interner seen = { 0 };
	struct cp_map owners = { 0 };
	struct cp_buf text = { 0 };
	char suffix[16];
	uint32_t i;

	for (i = 0; i < b->count; i++) {
		if (lookalike(&seen, &owners, b->shown[i], names, i) == NOBODY)
			continue;
		snprintf(suffix, sizeof(suffix), "#%u", i + 1);
		text = (struct cp_buf){ 0 };
		cp_text_fit(&text, b->shown[i],
			    b->columns > strlen(suffix) ? b->columns - strlen(suffix) : 1);
		cp_buf_str(&text, suffix);
		free(b->shown[i]);
		b->shown[i] = take(&text);
		if (!b->shown[i])
			break;
	}
	cp_map_free(&owners);
	cp_interner_free(&seen);
}

void cp_brief_init(struct cp_brief *b, const char *const *names, size_t count, size_t columns)
{
	bool ok;
	size_t i;

	*b = (struct cp_brief){ columns, calloc(count + 1, sizeof(*b->shown)), count };
	ok = b->shown != NULL;
	for (i = 0; ok && i < count; i++)
		ok = (b->shown[i] = fitted(names[i], columns)) != NULL;
	if (!ok) {
		cp_brief_deinit(b);
		return;
	}
	tell_apart(b, names);
	number(b, names);
}

void cp_brief_deinit(struct cp_brief *b)
{
	size_t i;

	for (i = 0; b->shown && i < b->count; i++)
		free(b->shown[i]);
	free(b->shown);
	*b = (struct cp_brief){ 0 };
}
