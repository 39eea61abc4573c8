/* SPDX-License-Identifier: MIT */
#include "inspect/made_types.h"

#include <stdio.h>
#include <string.h>

/* Spells a pointer by its target and `mark`, which stands before a declared name. */
static struct cp_type *pointer(struct cp_arena *arena, const struct cp_type *target, const char *in,
			       const char *mark)
{
	struct cp_type *t = cp_arena_alloc(arena, sizeof(*t));
	const char *text = target && target->text ? target->text : "void", *blank;
	size_t size = strlen(text), split, room = size + strlen(in) + strlen(mark) + 4;
	char *spelt = cp_arena_alloc(arena, room);

	if (!t || !spelt)
		return NULL;
	*t = (struct cp_type){ .kind = CP_TYPE_POINTER, .size = 8, .target = target };
	split = target && target->text && target->split < size ? target->split : size;
	blank = split && (text[split - 1] == '*' || text[split - 1] == ' ') ? "" : " ";
	t->split = (uint32_t)snprintf(spelt, room, "%.*s%s%s%s%s", (int)split, text, blank,
				      split < size ? "(" : "", in, mark);
	snprintf(spelt + t->split, room - t->split, "%s%s", split < size ? ")" : "", text + split);
	t->text = spelt;
	return t;
}

const struct cp_type *cp_type_pointer_to(struct cp_arena *arena, const struct cp_type *target)
{
	return pointer(arena, target, "", "*");
}

const struct cp_type *cp_type_member_pointer_to(struct cp_arena *arena,
						const struct cp_type *target,
						const struct cp_type *containing)
{
	struct cp_type *t = pointer(arena, target, containing->name ? containing->name : "", "::*");

	if (t) {
		const struct cp_type *to = cp_type_strip(target);

		t->kind = CP_TYPE_MEMBER_POINTER;
		t->size = to && to->kind == CP_TYPE_FUNCTION ? 16 : 8;
		t->containing = containing;
	}
	return t;
}

static struct cp_type *array(struct cp_arena *arena, const struct cp_type *element, uint64_t count)
{
	const struct cp_type *of = cp_type_strip(element);
	struct cp_type *t = cp_arena_alloc(arena, sizeof(*t));
	size_t size = element && element->text ? strlen(element->text) + 32 : 32, split;
	char *text = cp_arena_alloc(arena, size);

	if (!t || !text)
		return NULL;
	if (of && of->flags & CP_TYPE_DECLARED)
		of = cp_type_complete(cp_type_image(of), of);
	*t = (struct cp_type){
		.kind = CP_TYPE_ARRAY, .flags = CP_TYPE_COUNTED, .target = element, .count = count
	};
	if (!of || __builtin_mul_overflow(count, of->size, &t->size) || t->size > INT64_MAX)
		t->size = 0;
	split = element && element->text ? element->split ? element->split : strlen(element->text)
					 : 0;
	snprintf(text, size, "%.*s%s[%llu]%s", (int)split, split ? element->text : "",
		 split && element->text[split - 1] != '*' ? " " : "", (unsigned long long)count,
		 split ? element->text + split : "");
	t->text = text;
	t->split = (uint32_t)(split ? split + (element->text[split - 1] != '*') : 0);
	return t;
}

const struct cp_type *cp_type_array_of(struct cp_arena *arena, const struct cp_type *element,
				       uint64_t count)
{
	return array(arena, element, count);
}

const struct cp_type *cp_type_elements_of(struct cp_arena *arena, const struct cp_type *element,
					  uint64_t count)
{
	struct cp_type *t = array(arena, element, count);

	if (t)
		t->flags |= CP_TYPE_ASKED;
	return t;
}

const struct cp_type *cp_type_function_of(struct cp_arena *arena, const struct cp_type *result,
					  const char *takes, size_t size)
{
	const char *of = result && result->text ? result->text : "void";
	size_t room = strlen(of) + size + 2;
	struct cp_type *t = cp_arena_alloc(arena, sizeof(*t));
	char *text = cp_arena_alloc(arena, room);

	if (!t || !text)
		return NULL;
	t->kind = CP_TYPE_FUNCTION;
	t->target = result;
	t->split = (uint32_t)strlen(of) + 1;
	snprintf(text, room, "%s %.*s", of, (int)size, takes);
	t->text = text;
	return t;
}

bool cp_type_is_empty(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	if (!t || t->size || t->flags & CP_TYPE_DECLARED)
		return false;
	if (t->kind == CP_TYPE_ARRAY)
		return t->flags & CP_TYPE_COUNTED && !t->count && !t->bound;
	return t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION ||
	       (t->name && !strcmp(t->name, "()"));
}
