/* SPDX-License-Identifier: MIT
 *
 * A user's declarations, as the shipped ones are but in text:
 *
 *     # what it is for
 *     Queue<*: chain
 *         first  items.next
 *         next   next
 *         end    &items
 *         value  *(struct job *)((char *)$node - offsetof(struct job, link))
 *
 * A name of a type and a kind, then terms, one a line, indented.
 */
#include "inspect/shape_file.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "inspect/inspect.h"

#define LINE_MAX 4096

struct reading {
	struct cp_shapes *shapes;
	const char *path;
	unsigned line;
	struct cp_shape_row row; /* that is being read; `type` NULL: none */
	unsigned row_line;
};

static const char *const kind_names[CP_SHAPE_KINDS] = { "text",	   "row",      "value", "choice",
							"variant", "duration", "date",	"held",
							"node",	   "items",    "chain", "tree",
							"btree",   "parts" };

#define NAME(term) #term,
static const char *const term_names[CP_TERMS] = { CP_SHAPE_TERMS(NAME) };
#undef NAME

#define TERM(name) (1u << CP_TERM_##name)
/* Which terms a kind has to have, and which of them one of is enough. */
static const struct {
	unsigned all, any;
} needed[CP_SHAPE_KINDS] = {
	[CP_SHAPE_TEXT] = { TERM(at) | TERM(length), 0 },
	[CP_SHAPE_ROW] = { TERM(at), TERM(count) | TERM(end) },
	[CP_SHAPE_VALUE] = { TERM(value), 0 },
	[CP_SHAPE_CHOICE] = { TERM(when) | TERM(none), TERM(value) | TERM(other) },
	[CP_SHAPE_VARIANT] = { TERM(index) | TERM(at) | TERM(none), 0 },
	[CP_SHAPE_DURATION] = { TERM(value), 0 },
	[CP_SHAPE_DATE] = { TERM(value), 0 },
	[CP_SHAPE_HELD] = { TERM(at) | TERM(code) | TERM(member) | TERM(behind), 0 },
	[CP_SHAPE_NODE] = { TERM(first) | TERM(none), TERM(value) | TERM(behind) },
	[CP_SHAPE_ITEMS] = { TERM(count) | TERM(value), 0 },
	[CP_SHAPE_CHAIN] = { TERM(first) | TERM(next), TERM(value) | TERM(behind) },
	[CP_SHAPE_TREE] = { TERM(root) | TERM(left) | TERM(right), TERM(value) | TERM(behind) },
	[CP_SHAPE_BTREE] = { TERM(root) | TERM(height) | TERM(length) | TERM(edges),
			     TERM(value) | TERM(key) },
	[CP_SHAPE_PARTS] = { TERM(member), 0 },
};

static CP_ERROR wrong(const struct reading *r, unsigned line, const char *what, const char *which)
{
	return cp_error_new(CP_ERR_FORMAT, 0, "%s:%u: %s%s", r->path, line, what, which);
}

/* Adds a bit's name to "first, next". */
static void add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static CP_ERROR finish(struct reading *r)
{
	unsigned has = 0, i, all = needed[r->row.kind].all, any = needed[r->row.kind].any;
	char missing[128] = "";

	if (!r->row.type)
		return NULL;
	for (i = 0; i < CP_TERMS; i++)
		has |= r->row.terms[i] ? 1u << i : 0;
	for (i = 0; i < CP_TERMS; i++)
		if (all & ~has & 1u << i)
			add_name(missing, sizeof(missing), term_names[i]);
	if (*missing)
		return wrong(r, r->row_line, "what is missing is ", missing);
	for (i = 0; i < CP_TERMS; i++)
		if (any & 1u << i)
			add_name(missing, sizeof(missing), term_names[i]);
	if (any && !(has & any))
		return wrong(r, r->row_line, "one is missing of ", missing);
	if (r->row.kind == CP_SHAPE_NODE && has & TERM(next) && !(has & TERM(count)))
		return wrong(r, r->row_line, "a ring needs the count at its head: ", "count");
	if (has & TERM(key) && !(has & TERM(mapped)))
		return wrong(r, r->row_line, "a key needs what it is of: ", "mapped");
	if (!cp_vec_push(&r->shapes->rows, r->row))
		return cp_error_nomem();
	r->row.type = NULL;
	return NULL;
}

static int index_of(const char *const *names, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

/* `Queue<*: chain` */
static CP_ERROR read_type(struct reading *r, char *line)
{
	char *colon = strrchr(line, ':'), *kind = colon ? colon + 1 : NULL;
	int number;

	CP_TRY(finish(r));
	if (!colon || colon == line || colon[-1] == ':')
		return wrong(r, r->line, "a line is 'TYPE: KIND', or an indented 'TERM EXPR'", "");
	kind += strspn(kind, " \t");
	number = index_of(kind_names, CP_SHAPE_KINDS, kind);
	if (number < 0)
		return wrong(r, r->line, "there is no kind ", kind);
	r->row = (struct cp_shape_row){ .type = cp_arena_copy(&r->shapes->arena, line,
							      (size_t)(colon - line)),
					.kind = (enum cp_shape_kind)number };
	r->row_line = r->line;
	return r->row.type ? NULL : cp_error_nomem();
}

/* `next  link->next` */
static CP_ERROR read_term(struct reading *r, char *line)
{
	size_t size = strcspn(line, " \t");
	char *expression = line + size + strspn(line + size, " \t");
	struct cp_condition *parsed = NULL;
	struct cp_error *err, *told;
	int number;

	if (!r->row.type)
		return wrong(r, r->line, "no type comes before ", line);
	line[size] = '\0';
	number = index_of(term_names, CP_TERMS, line);
	if (number < 0)
		return wrong(r, r->line, "there is no term ", line);
	if (!*expression)
		return wrong(r, r->line, "nothing is said of ", line);
	if (number != CP_TERM_none && number != CP_TERM_unit &&
	    (number != CP_TERM_used || r->row.kind != CP_SHAPE_HELD) && number != CP_TERM_behind &&
	    number != CP_TERM_member && strncmp(expression, "..", 2) != 0) {
		err = cp_expression_parse(expression, &parsed);
		cp_condition_destroy(parsed);
		if (err) {
			told = wrong(r, r->line, "", err->what);
			cp_error_free(err);
			return told;
		}
	}
	r->row.terms[number] = cp_arena_copy(&r->shapes->arena, expression, strlen(expression));
	return r->row.terms[number] ? NULL : cp_error_nomem();
}

static CP_ERROR read_line(struct reading *r, const char *from, size_t size)
{
	char line[LINE_MAX], *text = line;

	if (size >= sizeof(line))
		return wrong(r, r->line, "the line is too long", "");
	memcpy(line, from, size);
	line[size] = '\0';
	if (strlen(line) != size)
		return wrong(r, r->line, "this is no text", "");
	while (size && strchr(" \t\r", line[size - 1]))
		line[--size] = '\0';
	text += strspn(text, " \t");
	if (!*text || *text == '#')
		return NULL;
	return text == line ? read_type(r, text) : read_term(r, text);
}

CP_ERROR cp_shapes_parse(struct cp_shapes *shapes, const char *path, const char *text)
{
	struct reading r = { .shapes = shapes, .path = path };
	size_t size;

	while (*text) {
		r.line++;
		size = strcspn(text, "\n");
		CP_TRY(read_line(&r, text, size));
		text += size + (text[size] == '\n');
	}
	return finish(&r);
}

void cp_shapes_free(struct cp_shapes *shapes)
{
	cp_vec_free(&shapes->rows);
	cp_arena_free(&shapes->arena);
}
