/* SPDX-License-Identifier: MIT */
#include "report/look/brief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "base/types.h"
#include "report/look/nameform.h"

#define NOBODY UINT32_MAX

void cp_brief_name(struct cp_buf *out, const char *name)
{
	cp_name_form(out, name, CP_NAME_BARE);
}

/* ---- names below each other ---- */

static char *take(struct cp_buf *text)
{
	char *taken = strdup(text->bytes && !text->failed ? text->bytes : "");

	cp_buf_free(text);
	return taken;
}

/* The first of some forms, which end with CP_NAME_FORMS, that has room; NULL: none has. */
static char *first_fitting(const char *name, const enum cp_name_form *forms, size_t columns)
{
	for (; *forms != CP_NAME_FORMS; forms++) {
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

		cp_name_form(&text, name, *forms);
		if (text.bytes && cp_text_columns(text.bytes) <= columns)
			return take(&text);
	}
	return NULL;
}

static char *fitted(const char *name, size_t columns)
{
	static const enum cp_name_form forms[] = { CP_NAME_ARGUMENTS, CP_NAME_BARE, CP_NAME_OF_TYPE,
						   CP_NAME_ALONE, CP_NAME_FORMS };
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text = { 0 };
	char *whole;

	if (cp_text_columns(name) <= columns)
		return strdup(name);
	whole = first_fitting(name, forms, columns);
	if (whole)
		return whole;
	cp_name_form(&brief, name, CP_NAME_OF_TYPE);
	cp_text_fit(&text, brief.bytes ? brief.bytes : "", columns);
	return take(&text);
}

void cp_brief_add(struct cp_buf *out, const char *name, size_t columns)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	CP_FREE char *shown = NULL;

	cp_escape(&text, CP_ESCAPE_TERMINAL, name, strlen(name));
	if (text.failed || !text.bytes)
		return;
	shown = columns ? fitted(text.bytes, columns) : NULL;
	cp_buf_str(out, shown ? shown : text.bytes);
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

/* A form that has room, and that the other one's differs from; NULL: none is. */
static char *distinct_form(const char *name, const char *other, size_t columns)
{
	static const enum cp_name_form forms[][2] = { { CP_NAME_OF_TYPE_ARGUMENTS, CP_NAME_FORMS },
						      { CP_NAME_OF_TYPE_WHOLE, CP_NAME_FORMS } };
	char *shown;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(forms); i++) {
		struct cp_buf theirs CP_CLEANUP(cp_buf_free) = { 0 };

		shown = first_fitting(name, forms[i], columns);
		cp_name_form(&theirs, other, forms[i][0]);
		if (shown && theirs.bytes && strcmp(shown, theirs.bytes) != 0)
			return shown;
		free(shown);
	}
	return NULL;
}

/* What tells a name from another one that looks the same: arguments, or, where those have no
 * room, its beginning and what the other does not have:
 * "std::vector::push_back…Point const&)". */
static char *distinct(const char *name, const char *other, size_t columns)
{
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text = { 0 }, tail CP_CLEANUP(cp_buf_free) = { 0 };
	char *shown = distinct_form(name, other, columns);
	size_t room = columns / 2;

	if (shown)
		return shown;
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
