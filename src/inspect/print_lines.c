/* SPDX-License-Identifier: MIT
 *
 * Values in lines: what fits its line is on it, of what does not each member has one.
 *
 *     server = {
 *         port = 6379,
 *         clients = 0x55d0… -> {head=0x55d1…, len=3},
 *     }
 */
#include "inspect/inspect.h"

#include <string.h>

#include "base/text.h"

#define INDENT 4
#define DEPTH_MAX 64
#define LEAST_COLUMNS 40u

struct lines {
	struct cp_buf *out;
	const struct cp_value_style *style;
	size_t columns;
};

static void print(struct lines *l, const cprof_value *v, size_t indent, size_t used,
		  unsigned depth);

static bool is_named(const cprof_value *v)
{
	return v->name && *v->name;
}

static const cprof_value *pointee(const cprof_value *v)
{
	return v->kind == CPROF_VALUE_POINTER && v->count && v->items->kind >= CPROF_VALUE_STRUCT &&
			       v->items->kind <= CPROF_VALUE_ARRAY && v->items->count
		       ? v->items
		       : NULL;
}

static bool has_parts(const cprof_value *v)
{
	return (v->kind == CPROF_VALUE_STRUCT || v->kind == CPROF_VALUE_UNION ||
		v->kind == CPROF_VALUE_ARRAY) &&
	       v->count;
}

/* On one line, if it fits. */
static bool print_short(struct lines *l, const cprof_value *v, size_t used)
{
	struct cp_buf line = { 0 };
	bool fits;

	cp_value_print(&line, v, l->style);
	cp_buf_u8(&line, 0);
	fits = line.failed || !l->columns ||
	       used + cp_text_columns((char *)line.bytes) <= l->columns;
	if (!line.failed && (fits || (!has_parts(v) && !pointee(v)))) {
		cp_buf_str(l->out, (char *)line.bytes);
		fits = true;
	}
	cp_buf_free(&line);
	return fits;
}

static void newline(struct lines *l, size_t indent)
{
	cp_buf_u8(l->out, '\n');
	while (indent--)
		cp_buf_u8(l->out, ' ');
}

static bool is_short(const cprof_value *v)
{
	return !has_parts(v) && !pointee(v) && v->kind != CPROF_VALUE_STRING;
}

/* Numbers and their like, many on a line. */
static void print_row(struct lines *l, const cprof_value *v, size_t indent)
{
	struct cp_buf one = { 0 };
	size_t used = 0, width;
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		one.size = 0;
		cp_value_print(&one, &v->items[i], l->style);
		if (v->items[i].repeats > 1)
			cp_buf_printf(&one, " <repeats %u times>", v->items[i].repeats);
		cp_buf_str(&one, i + 1 < v->count || v->cut ? "," : "");
		cp_buf_u8(&one, 0);
		if (one.failed)
			break;
		width = cp_text_columns((char *)one.bytes);
		if (!used || used + 1 + width > l->columns) {
			newline(l, indent);
			used = indent;
		} else {
			cp_buf_u8(l->out, ' ');
			used++;
		}
		cp_buf_str(l->out, (char *)one.bytes);
		used += width;
	}
	cp_buf_free(&one);
}

static bool is_row(const cprof_value *v)
{
	uint32_t i;

	for (i = 0; i < v->count && is_short(&v->items[i]); i++)
		;
	return v->kind == CPROF_VALUE_ARRAY && i == v->count;
}

static bool is_entry(const cprof_value *v)
{
	return v->entry && v->kind == CPROF_VALUE_STRUCT && v->count == 2;
}

/* "[key] = "; answers how many columns that takes. */
static size_t print_key(struct lines *l, const cprof_value *key)
{
	struct cp_buf text = { 0 };
	size_t used = 0;

	cp_buf_u8(&text, '[');
	cp_value_print(&text, key, l->style);
	cp_buf_str(&text, "] = ");
	cp_buf_u8(&text, 0);
	if (!text.failed) {
		cp_buf_str(l->out, (char *)text.bytes);
		used = cp_text_columns((char *)text.bytes);
	}
	cp_buf_free(&text);
	return used;
}

static void print_parts(struct lines *l, const cprof_value *v, size_t indent, unsigned depth)
{
	const cprof_value *item;
	size_t used;
	uint32_t i;

	cp_buf_u8(l->out, '{');
	if (is_row(v)) {
		print_row(l, v, indent + INDENT);
	} else {
		for (i = 0; i < v->count; i++) {
			item = &v->items[i];
			newline(l, indent + INDENT);
			used = indent + INDENT + 1;
			if (v->kind != CPROF_VALUE_ARRAY && is_named(item)) {
				cp_escape(l->out, CP_ESCAPE_TERMINAL, item->name,
					  strlen(item->name));
				cp_buf_str(l->out, " = ");
				used += cp_text_columns(item->name) + 3;
			} else if (is_entry(item)) {
				used += print_key(l, item->items);
				item = &item->items[1];
			}
			print(l, item, indent + INDENT, used, depth + 1);
			if (item->repeats > 1)
				cp_buf_printf(l->out, " <repeats %u times>", item->repeats);
			cp_buf_u8(l->out, ',');
		}
	}
	if (v->cut) {
		newline(l, indent + INDENT);
		cp_buf_str(l->out, "...");
	}
	newline(l, indent);
	cp_buf_u8(l->out, '}');
}

static void print(struct lines *l, const cprof_value *v, size_t indent, size_t used, unsigned depth)
{
	const cprof_value *to = pointee(v);

	if (print_short(l, v, used) || depth > DEPTH_MAX)
		return;
	if (to) {
		if (l->style->addresses)
			cp_buf_printf(l->out, "0x%llx -> ", (unsigned long long)v->u.u);
		else
			cp_buf_u8(l->out, '&');
		v = to;
	}
	if (cp_value_is_form(v)) {
		v = v->items;
		cp_escape(l->out, CP_ESCAPE_TERMINAL, v->name, strlen(v->name));
		used += cp_text_columns(v->name) + 1;
		if (v->count == 1) {
			cp_buf_u8(l->out, '(');
			print(l, v->items, indent, used, depth + 1);
			cp_buf_u8(l->out, ')');
			return;
		}
	}
	print_parts(l, v, indent, depth);
}

void cp_value_print_lines(struct cp_buf *out, const cprof_value *value,
			  const struct cp_value_style *style, unsigned columns, size_t used)
{
	struct lines l = { out, style,
			   columns && columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns };

	print(&l, value, 0, used, 0);
}
