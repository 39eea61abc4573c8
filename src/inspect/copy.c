/* SPDX-License-Identifier: MIT
 *
 * A value that outlives its event: all of it in one block.
 *
 *     value │ items │ items of items ... │ texts
 */
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

struct copying {
	size_t values, texts; /* how many, how many bytes */
	cprof_value *next_value;
	char *next_text;
};

static bool has_text(const cprof_value *v)
{
	return v->kind == CPROF_VALUE_STRING || v->kind == CPROF_VALUE_RAW ||
	       v->kind == CPROF_VALUE_LONG_DOUBLE;
}

/* Trees of values are never deeper than CP_VALUE_DEPTH. */
static void measure(struct copying *c, const cprof_value *v)
{
	uint32_t i;

	c->values++;
	c->texts += has_text(v) ? v->u.text.length : 0;
	c->texts += v->symbol ? strlen(v->symbol) + 1 : 0;
	for (i = 0; v->items && i < v->count; i++)
		measure(c, &v->items[i]);
}

static char *put_text(struct copying *c, const char *text, size_t size)
{
	char *at = c->next_text;

	if (size)
		memcpy(at, text, size);
	c->next_text += size;
	return at;
}

static void copy(struct copying *c, const cprof_value *from, cprof_value *to)
{
	cprof_value *items = c->next_value;
	uint32_t i;

	*to = *from;
	if (has_text(from))
		to->u.text.bytes = put_text(c, from->u.text.bytes, from->u.text.length);
	if (from->symbol)
		to->symbol = put_text(c, from->symbol, strlen(from->symbol) + 1);
	if (!from->items || !from->count)
		return;
	c->next_value += from->count;
	to->items = items;
	for (i = 0; i < from->count; i++)
		copy(c, &from->items[i], &items[i]);
}

cprof_value *cp_value_copy(const cprof_value *value)
{
	struct copying c = { 0 };
	cprof_value *block;

	measure(&c, value);
	block = malloc(c.values * sizeof(*block) + c.texts);
	if (!block)
		return NULL;
	c.next_value = block + 1;
	c.next_text = (char *)(block + c.values);
	copy(&c, value, block);
	return block;
}
