/* SPDX-License-Identifier: MIT
 *
 * One field of a structure, and not all that an argument consists of and leads to: what an
 * expression stands for is worked out once, from types, as a place and pointers that lead on
 * from there:
 *
 *     node->value          rdi ─► 8 bytes at 16
 *     node->next->name     rdi ─► 8 bytes at 0 ─► 8 bytes at 8 ─► text
 *     point.y              4 bytes of rdi, behind the first 4
 *
 * So it is a parameter like those that the function has, and is captured, told and recorded
 * as they are. What takes more than types, as an element of a std::map does, is refused.
 */
#include "inspect/chosen.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inspect/condition.h"
#include "inspect/members.h"
#include "inspect/read.h"
#include "inspect/readable.h"
#include "inspect/shapes.h"

#define SOMEWHERE 0x10000u /* an address that is not NULL */
#define LEVELS 16 /* that stand for one another */
#define CHOSEN_MAX 64

struct choice {
	char *text; /* owned */
	struct cp_condition *expression; /* owned */
};

struct cp_chosen {
	CP_VEC(struct choice) all;
};

/* ---- the list ---- */

/* Behind an entry: brackets and quotes have commas of their own. */
static const char *entry_end(const char *text)
{
	unsigned depth = 0;

	for (; *text && (*text != ',' || depth); text++) {
		if (strchr("([<", *text) && !(*text == '<' && text[1] == '<'))
			depth++;
		else if (*text == '-' && text[1] == '>')
			text++;
		else if (strchr(")]>", *text) && depth)
			depth--;
	}
	return text;
}

static CP_ERROR add_choice(struct cp_chosen *c, const char *text, size_t size)
{
	struct choice choice = { 0 };
	struct cp_error *err;

	while (size && strchr(" \t", *text)) {
		text++;
		size--;
	}
	while (size && strchr(" \t", text[size - 1]))
		size--;
	choice.text = strndup(text, size);
	if (!choice.text)
		return cp_error_nomem();
	err = size ? cp_expression_parse(choice.text, &choice.expression)
		   : cp_error_new(CP_ERR_USAGE, 0, "nothing stands beside a comma");
	if (!err && c->all.count == CHOSEN_MAX)
		err = cp_error_new(CP_ERR_USAGE, 0, "more than %d values of a call", CHOSEN_MAX);
	if (!err && !cp_vec_push(&c->all, choice))
		err = cp_error_nomem();
	if (err) {
		cp_condition_destroy(choice.expression);
		free(choice.text);
	}
	return err;
}

CP_ERROR cp_chosen_parse(const char *text, struct cp_chosen **ret)
{
	struct cp_chosen *c = calloc(1, sizeof(*c));
	struct cp_error *err = NULL;
	const char *end;

	if (!c)
		return cp_error_nomem();
	for (;; text = end + 1) {
		end = entry_end(text);
		err = add_choice(c, text, (size_t)(end - text));
		if (err || !*end)
			break;
	}
	if (err)
		cp_chosen_destroy(c);
	else
		*ret = c;
	return err;
}

void cp_chosen_destroy(struct cp_chosen *chosen)
{
	size_t i;

	if (!chosen)
		return;
	for (i = 0; i < chosen->all.count; i++) {
		cp_condition_destroy(chosen->all.items[i].expression);
		free(chosen->all.items[i].text);
	}
	cp_vec_free(&chosen->all);
	free(chosen);
}

size_t cp_chosen_count(const struct cp_chosen *chosen)
{
	return chosen->all.count;
}

const char *cp_chosen_text(const struct cp_chosen *chosen, size_t index)
{
	return chosen->all.items[index].text;
}

/* ---- what one stands for ---- */

/* `at[0]` bytes into the argument, or `at[n]` into what the nth pointer leads to. */
struct where {
	const struct cp_parameter *argument;
	unsigned count; /* pointers */
	uint64_t at[CP_LEADS_MAX + 1];
	const struct cp_type *type; /* with its aliases */
	const struct cp_type_member *bits;
};

struct look {
	const struct cp_signature *signature;
	const struct cp_expression_env *env;
};

static CP_ERROR look(const struct look *l, const struct cp_condition_node *n, struct where *ret);

static const struct cp_type *completed(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t ? cp_type_complete(cp_type_image(t), t) : NULL;
}

static const char *text_of(const struct cp_type *t)
{
	return t && t->text ? t->text : "(unknown)";
}

static bool is_of_kind(const struct where *w, uint8_t kind)
{
	const struct cp_type *t = cp_type_strip(w->type);

	return !w->bits && t && t->kind == kind;
}

static CP_ERROR follow(struct where *w)
{
	const struct cp_type *t = cp_type_strip(w->type);

	if (!t->target || t->size != 8)
		return cp_error_new(CP_ERR_USAGE, 0, "what a %s leads to is not known",
				    text_of(w->type));
	if (w->count == CP_LEADS_MAX)
		return cp_error_new(CP_ERR_USAGE, 0, "more than %d pointers", CP_LEADS_MAX);
	w->at[++w->count] = 0;
	w->type = t->target;
	return NULL;
}

/* What stands for something else (references, std::unique_ptr) is what it stands for, where
 * types tell that. */
static CP_ERROR see_through(struct where *w)
{
	const struct cp_shape_row *row;
	const struct cp_type *t;
	struct cp_shape shape;
	unsigned i;

	for (i = 0; i < LEVELS; i++) {
		if (is_of_kind(w, CP_TYPE_REFERENCE)) {
			CP_TRY(follow(w));
			continue;
		}
		t = completed(w->type);
		row = is_of_kind(w, CP_TYPE_STRUCT) ? cp_shape_next(NULL, t, NULL) : NULL;
		if (!row || row->kind != CP_SHAPE_VALUE ||
		    !cp_shape_by_type(cp_type_image(t), t, row, &shape))
			return NULL;
		w->at[w->count] += shape.pointer;
		w->type = shape.type;
	}
	return NULL;
}

static CP_ERROR member(const struct look *l, struct where *w, const char *name)
{
	struct cp_thing of, found;

	CP_TRY(see_through(w));
	if (is_of_kind(w, CP_TYPE_POINTER)) {
		CP_TRY(follow(w));
		CP_TRY(see_through(w));
	}
	of = cp_thing_at(w->type, SOMEWHERE);
	completed(w->type);
	CP_TRY(cp_member_find(l->env, &of, name, &found));
	if (!found.type || found.error)
		return cp_error_new(CP_ERR_USAGE, 0, "where %s of %s is, not its type tells", name,
				    text_of(w->type));
	w->at[w->count] += found.address - SOMEWHERE;
	w->type = found.type;
	w->bits = found.bits;
	if (w->bits)
		w->at[w->count] += w->bits->offset;
	return NULL;
}

static CP_ERROR element(struct where *w, uint64_t index)
{
	const struct cp_type *of;

	CP_TRY(see_through(w));
	if (is_of_kind(w, CP_TYPE_POINTER)) {
		CP_TRY(follow(w));
	} else if (is_of_kind(w, CP_TYPE_ARRAY) && cp_type_strip(w->type)->target) {
		w->type = cp_type_strip(w->type)->target;
	} else {
		return cp_error_new(CP_ERR_USAGE, 0,
				    "no pointer and no array of C: it is of type %s",
				    text_of(w->type));
	}
	of = completed(w->type);
	if (!of || !of->size || index > INT32_MAX / of->size)
		return cp_error_new(CP_ERR_USAGE, 0, "there is no element [%llu] of type %s",
				    (unsigned long long)index, text_of(w->type));
	w->at[w->count] += index * of->size;
	return NULL;
}

/* An argument, or what a method calls by its name alone. */
static CP_ERROR named(const struct look *l, const struct cp_condition_node *n, struct where *ret)
{
	const struct cp_signature *s = l->signature;
	size_t i;

	for (i = 0; s->described && !n->file && i < s->parameter_count; i++) {
		const struct cp_parameter *p = &s->parameters[i];

		*ret = (struct where){ .argument = p, .type = p->type };
		if (p->type && !strcmp(p->name, n->text))
			return NULL;
	}
	*ret = (struct where){ .argument = s->parameters };
	if (!n->file && cp_signature_has_this(s)) {
		struct cp_error *err;

		ret->type = s->parameters[0].type;
		err = member(l, ret, n->text);
		if (!err || err->code != CP_ERR_NOT_FOUND)
			return err;
		cp_error_free(err);
	}
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no argument %s", n->text);
}

static CP_ERROR look(const struct look *l, const struct cp_condition_node *n, struct where *ret)
{
	switch (n->op) {
	case CP_OP_NAME:
		return named(l, n, ret);
	case CP_OP_DEREFERENCE:
		CP_TRY(look(l, n->a, ret));
		return element(ret, 0);
	case CP_OP_INDEX:
		if (n->b->op != CP_OP_INTEGER)
			break;
		CP_TRY(look(l, n->a, ret));
		return element(ret, n->b->integer);
	case CP_OP_MEMBER:
		if (n->integer)
			break;
		CP_TRY(look(l, n->a, ret));
		return member(l, ret, n->text);
	default:
		break;
	}
	return cp_error_new(CP_ERR_USAGE, 0,
			    "of a call, arguments and what members, elements by number and "
			    "pointers lead to can be had, and nothing that is worked out");
}

/* ---- as a parameter ---- */

/* The part of a place from `at` on; false: not all of it is in what is copied as it is. */
static bool cut_place(const struct cp_place *from, uint64_t at, uint64_t size, struct cp_place *ret)
{
	unsigned i;

	*ret = (struct cp_place){ .how = from->how };
	if (from->how != CP_PLACE_DIRECT)
		return true;
	if (from->promoted)
		return false;
	for (i = 0; i < from->count; i++) {
		struct cp_piece p = from->pieces[i];
		uint64_t end = (uint64_t)p.at + p.size, skip = at > p.at ? at - p.at : 0;

		if (end <= at || p.at >= at + size)
			continue;
		if (skip && p.where != CP_PIECE_REGISTER && p.where != CP_PIECE_VECTOR &&
		    p.where != CP_PIECE_MEMORY)
			return false;
		p.size = (uint32_t)((end < at + size ? end : at + size) - p.at - skip);
		if (p.where == CP_PIECE_MEMORY)
			p.offset += (int64_t)skip;
		else
			p.skip = (uint16_t)(p.skip + skip);
		p.at = (uint32_t)(p.at + skip - at);
		ret->pieces[ret->count++] = p;
	}
	return ret->count != 0;
}

static bool put_leads(const struct where *w, unsigned from, struct cp_parameter *ret)
{
	unsigned i;

	for (i = from; i <= w->count; i++) {
		if (w->at[i] > INT32_MAX || ret->lead_count == CP_LEADS_MAX)
			return false;
		ret->leads[ret->lead_count++] = (int32_t)w->at[i];
	}
	return true;
}

/* The parameter that is `w`; false: it can't be had. */
static bool place(const struct where *w, struct cp_arena *arena, struct cp_parameter *ret)
{
	const struct cp_parameter *of = w->argument;
	const struct cp_type *t = completed(w->type);
	struct cp_type_member bits;

	*ret = (struct cp_parameter){ .type = w->type, .source = of->source };
	if (!t)
		return false;
	if (w->bits) {
		bits = *w->bits;
		bits.offset = 0;
		ret->bits =
			(const struct cp_type_member *)cp_arena_copy(arena, &bits, sizeof(bits));
		if (!ret->bits)
			return false;
	}
	if (!w->count && !w->at[0] && !w->bits && t == completed(of->type)) {
		ret->place = of->place;
		return true;
	}
	if (of->place.how == CP_PLACE_INDIRECT) {
		ret->source = CPROF_SOURCE_MEMORY;
		ret->place = of->place;
		ret->place.how = CP_PLACE_DIRECT;
		ret->place.pieces[0].size = 8;
		return put_leads(w, 0, ret);
	}
	if (w->count)
		ret->source = CPROF_SOURCE_MEMORY;
	return cut_place(&of->place, w->at[0], w->count ? 8 : cp_parameter_size(ret),
			 &ret->place) &&
	       put_leads(w, 1, ret);
}

static CP_ERROR find(const struct choice *choice, struct cp_signature *s, struct cp_parameter *ret)
{
	struct cp_arena arena = { 0 };
	const struct cp_expression_env env = { .arena = &arena,
					       .memory = &cp_no_memory,
					       .limits = &s->limits };
	const struct look l = { s, &env };
	struct where where = { 0 };
	struct cp_error *err = look(&l, choice->expression->root, &where);

	cp_arena_free(&arena);
	if (!err && !place(&where, &s->arena, ret))
		err = cp_error_new(CP_ERR_USAGE, 0, "%s is not passed in one piece", choice->text);
	return err;
}

CP_ERROR cp_chosen_means(const struct cp_chosen *chosen, size_t index, struct cp_signature *s)
{
	struct cp_parameter unused;

	return find(&chosen->all.items[index], s, &unused);
}

CP_ERROR cp_signature_choose(struct cp_signature *s, const struct cp_chosen *chosen, bool arguments)
{
	const struct choice *choice;
	struct cp_error *err;

	s->chosen = true;
	s->shown_count = 0;
	s->shown = cp_arena_array(&s->arena, chosen->all.count, sizeof(*s->shown));
	if (!s->shown)
		return cp_error_nomem();
	cp_vec_for_each(&chosen->all, choice) {
		struct cp_parameter *p = &s->shown[s->shown_count];

		err = find(choice, s, p);
		p->name = cp_arena_copy(&s->arena, choice->text, strlen(choice->text) + 1);
		s->shown_count += !err && p->name;
		cp_error_free(err);
	}
	s->arguments_too = arguments;
	return cp_signature_plan_entry(s) ? NULL : cp_error_nomem();
}
