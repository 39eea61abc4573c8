/* SPDX-License-Identifier: MIT
 *
 * The classes that objects of C++ really are of: the one that is asked for, and those that
 * its parts lead to, each by an expression that leads there.
 */
#include "cmd/inspect_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/bases.h"

#define PARTS_MOST 8 /* that are noted */
#define DEPTH_MOST 32

struct parts {
	struct cp_inspect *i;
	struct cp_buf path; /* no NUL behind it */
	unsigned count;
};

/* Of an object of C++, or what leads to one: of which class it really is. */
static char *class_of(const struct cp_inspect *i, const struct cp_thing *thing,
		      const cprof_value *v)
{
	const struct cp_type *t = cp_type_strip(thing->type);

	if (!t || v->kind == CPROF_VALUE_ERROR)
		return NULL;
	/* What stands for a pointer reads as one. */
	if (v->kind == CPROF_VALUE_POINTER && v->count && v->items->kind == CPROF_VALUE_STRUCT &&
	    v->items->symbol)
		return strdup(v->items->symbol);
	if (t->kind == CP_TYPE_STRUCT && thing->in_memory && !thing->error)
		return cp_base_class_of(&i->in.env, t, thing->address);
	if ((t->kind == CP_TYPE_POINTER || t->kind == CP_TYPE_REFERENCE) && t->target &&
	    v->kind == CPROF_VALUE_POINTER && v->u.u &&
	    cp_type_strip(t->target)->kind == CP_TYPE_STRUCT)
		return cp_base_class_of(&i->in.env, t->target, v->u.u);
	return NULL;
}

static void push(struct cp_inspect *i, char *note)
{
	if (!cp_vec_push(&i->in.notes, note))
		free(note);
}

static void note_part(struct parts *p, const char *class)
{
	char *note;

	if (p->count++ < PARTS_MOST && !p->path.failed &&
	    asprintf(&note, "%.*s is a %s", (int)p->path.size, (char *)p->path.bytes, class) >= 0)
		push(p->i, note);
}

static void walk(struct parts *p, const cprof_value *v, bool pointed, unsigned depth);

/* The key of a map's entry, or the number of an element. */
static void walk_elements(struct parts *p, const cprof_value *v, unsigned depth)
{
	const size_t size = p->path.size;
	const cprof_value *item;
	uint64_t number = 0;
	uint32_t n;

	for (n = 0; n < v->count; n++) {
		item = &v->items[n];
		cp_buf_u8(&p->path, '[');
		if (item->entry && item->kind == CPROF_VALUE_STRUCT && item->count == 2) {
			cp_value_print(&p->path, &item->items[0], NULL);
			item = &item->items[1];
		} else {
			cp_buf_printf(&p->path, "%llu", (unsigned long long)number);
		}
		number += item->repeats ? item->repeats : 1;
		cp_buf_u8(&p->path, ']');
		walk(p, item, false, depth + 1);
		p->path.size = size;
	}
}

static void walk_members(struct parts *p, const cprof_value *v, bool pointed, unsigned depth)
{
	const size_t size = p->path.size;
	uint32_t n;

	for (n = 0; n < v->count; n++) {
		if (*v->items[n].name)
			cp_buf_printf(&p->path, "%s%s", pointed ? "->" : ".", v->items[n].name);
		walk(p, &v->items[n], pointed && !*v->items[n].name, depth + 1);
		p->path.size = size;
	}
}

static void walk(struct parts *p, const cprof_value *v, bool pointed, unsigned depth)
{
	if (depth > DEPTH_MOST)
		return;
	switch (v->kind) {
	case CPROF_VALUE_ARRAY:
		walk_elements(p, v, depth);
		break;
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
		if (depth > 1 && pointed && v->symbol)
			note_part(p, v->symbol);
		walk_members(p, v, pointed, depth);
		break;
	case CPROF_VALUE_POINTER:
		if (v->count)
			walk(p, v->items, true, depth + 1);
		break;
	default:
		break;
	}
}

void cp_inspect_note_classes(struct cp_inspect *i, const char *expression,
			     const struct cp_thing *thing, const cprof_value *v)
{
	struct parts p = { .i = i };
	char *class, *note;

	if (i->rehearsing)
		return;
	class = class_of(i, thing, v);
	if (class && asprintf(&note, "it is a %s", class) >= 0)
		push(i, note);
	free(class);
	cp_buf_str(&p.path, expression);
	walk(&p, v, false, 0);
	cp_buf_free(&p.path);
	if (p.count > PARTS_MOST &&
	    asprintf(&note, "and so on: %u more are of derived classes", p.count - PARTS_MOST) >= 0)
		push(i, note);
}
