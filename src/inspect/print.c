/* SPDX-License-Identifier: MIT
 *
 * Values as people and as machines read them. A value may come from a
 * recording that someone else wrote: nesting is bounded, and so is what
 * repeated elements may grow to.
 */
#include "inspect/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/text.h"

#define DEPTH_MAX 64
#define GROWTH_MAX (1u << 20) /* bytes, after which repeated elements stand once */
#define OBJECT_MAX 10000 /* keys of a map, each compared with those before */
#define EXACT_MAX (INT64_C(1) << 53) /* integers that every reader of JSON has exactly */

const char *cp_value_error_name(unsigned error)
{
	static const char *const names[] = {
		"",	    "optimized_out", "unreadable", "unavailable",     "cycle",
		"depth",    "variadic",	     "incomplete", "not_constructed", "not_allocated",
		"destroyed"
	};

	return error < CP_ARRAY_SIZE(names) ? names[error] : "unavailable";
}

const char *cp_value_source_name(unsigned source)
{
	static const char *const names[] = { "abi", "dwarf", "const", "memory" };

	return source < CP_ARRAY_SIZE(names) ? names[source] : "memory";
}

/* ---- numbers ---- */

static void print_wide(struct cp_buf *out, const uint64_t *words, bool is_signed)
{
	unsigned __int128 v = (unsigned __int128)words[1] << 64 | words[0];
	bool negative = is_signed && words[1] >> 63;
	char text[48], *at = text + sizeof(text);

	if (negative)
		v = -v;
	do {
		*--at = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	if (negative)
		*--at = '-';
	cp_buf_add(out, at, (size_t)(text + sizeof(text) - at));
}

static void print_hex(struct cp_buf *out, uint64_t value)
{
	cp_buf_str(out, "0x");
	cp_buf_hex(out, value);
}

static void print_float(struct cp_buf *out, const cprof_value *v)
{
	char text[CP_DIGITS_MAX];

	cp_digits(text, v->u.f, v->size == 4);
	cp_buf_str(out, text);
}

/* ---- text ---- */

/* Prints bytes as between quotes in C, where a digit would belong to a \0 before it. */
static void print_escaped(struct cp_buf *out, const char *bytes, size_t size, char quote)
{
	static const char special[] = "\n\t\r\a\b\f\v", names[] = "ntrabfv";
	size_t i, plain = 0;
	const char *at;

	for (i = 0; i < size; i++) {
		if ((uint8_t)bytes[i] >= ' ' && bytes[i] != quote && bytes[i] != '\\')
			continue; /* most are so */
		at = bytes[i] ? strchr(special, bytes[i]) : NULL;
		if (!at && bytes[i] != quote && bytes[i] != '\\' && bytes[i])
			continue;
		cp_escape(out, CP_ESCAPE_TERMINAL, bytes + plain, i - plain);
		plain = i + 1;
		cp_buf_u8(out, '\\');
		cp_buf_u8(out, at	  ? (uint8_t)names[at - special]
			       : bytes[i] ? (uint8_t)bytes[i]
					  : '0');
		if (!bytes[i] && i + 1 < size && bytes[i + 1] >= '0' && bytes[i + 1] <= '9')
			cp_buf_str(out, "00");
	}
	cp_escape(out, CP_ESCAPE_TERMINAL, bytes + plain, size - plain);
}

static void print_char(struct cp_buf *out, const cprof_value *v)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t c = (uint32_t)v->u.i;
	char utf8[4];
	size_t n = 1;

	if (v->size > 1 && (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))) {
		cp_buf_signed(out, v->u.i); /* it is no character */
		return;
	}
	cp_buf_u8(out, '\'');
	if (v->size <= 1 && (c & 0xff) >= 0x80) {
		cp_buf_str(out, "\\x");
		cp_buf_u8(out, (uint8_t)digits[c >> 4 & 15]);
		cp_buf_u8(out, (uint8_t)digits[c & 15]);
	} else if (c < 0x80) {
		utf8[0] = (char)c;
		print_escaped(out, utf8, 1, '\'');
	} else {
		if (c < 0x800) {
			utf8[0] = (char)(0xc0 | c >> 6);
		} else if (c < 0x10000) {
			utf8[0] = (char)(0xe0 | c >> 12);
			utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		} else {
			utf8[0] = (char)(0xf0 | (c >> 18 & 7));
			utf8[n++] = (char)(0x80 | (c >> 12 & 0x3f));
			utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		}
		utf8[n++] = (char)(0x80 | (c & 0x3f));
		print_escaped(out, utf8, n, '\'');
	}
	cp_buf_u8(out, '\'');
}

static void print_name(struct cp_buf *out, const char *name)
{
	cp_escape(out, CP_ESCAPE_TERMINAL, name, strlen(name));
}

static bool has_text(const char *text)
{
	return text && *text;
}

/* ---- for people ---- */

static void print(struct cp_buf *out, const cprof_value *v, const struct cp_value_style *style,
		  unsigned depth);

static bool is_entry(const cprof_value *v)
{
	return v->entry && v->kind == CPROF_VALUE_STRUCT && v->count == 2;
}

static void print_string(struct cp_buf *out, const cprof_value *v,
			 const struct cp_value_style *style)
{
	uint32_t length = v->u.text.length;
	bool cut = v->cut;

	if (style && style->width && length > style->width) {
		length = style->width;
		cut = true;
		/* A text is not cut in the middle of a character. */
		while (length && ((uint8_t)v->u.text.bytes[length] & 0xc0) == 0x80)
			length--;
	}
	cp_buf_u8(out, '"');
	print_escaped(out, v->u.text.bytes, length, '"');
	cp_buf_str(out, cut ? "\"..." : "\"");
}

/* `["key"] = value`, as gdb has it. */
static void print_entry(struct cp_buf *out, const cprof_value *v,
			const struct cp_value_style *style, unsigned depth)
{
	cp_buf_u8(out, '[');
	print(out, &v->items[0], style, depth);
	cp_buf_str(out, "] = ");
	print(out, &v->items[1], style, depth);
}

/* Are the fields of a value called __0, __1, ...? */
static bool is_numbered(const cprof_value *v)
{
	char name[16];
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		if (!v->items[i].name || strncmp(v->items[i].name, "__", 2) != 0)
			return false;
		snprintf(name, sizeof(name), "__%" PRIu32, i);
		if (strcmp(v->items[i].name, name) != 0)
			return false;
	}
	return true;
}

/* A form of a Rust enum, which is called as its type, with fields that have no names. */
bool cp_value_is_form(const cprof_value *v)
{
	const cprof_value *form = v->items;

	return v->kind == CPROF_VALUE_STRUCT && v->count == 1 && !v->cut && !v->entry &&
	       form->kind == CPROF_VALUE_STRUCT && form->count && !form->cut &&
	       has_text(form->name) && form->type && !strcmp(form->name, form->type) &&
	       is_numbered(form);
}

/* `Some(5)`, as Rust has it. */
static void print_form(struct cp_buf *out, const cprof_value *form,
		       const struct cp_value_style *style, unsigned depth)
{
	uint32_t i;

	print_name(out, form->name);
	for (i = 0; i < form->count; i++) {
		cp_buf_str(out, i ? ", " : "(");
		print(out, &form->items[i], style, depth + 1);
	}
	cp_buf_u8(out, ')');
}

/* A tuple of Rust's: fields that have numbers. */
static bool is_tuple(const cprof_value *v)
{
	return v->kind == CPROF_VALUE_STRUCT && !v->cut && v->type && v->type[0] == '(' &&
	       (v->count || !strcmp(v->type, "()")) && is_numbered(v);
}

/* `(1, "one")`, `(1,)`, `()`. */
static void print_tuple(struct cp_buf *out, const cprof_value *v,
			const struct cp_value_style *style, unsigned depth)
{
	uint32_t i;

	cp_buf_u8(out, '(');
	for (i = 0; i < v->count; i++) {
		cp_buf_str(out, i ? ", " : "");
		print(out, &v->items[i], style, depth + 1);
	}
	cp_buf_str(out, v->count == 1 ? ",)" : ")");
}

static void print_items(struct cp_buf *out, const cprof_value *v,
			const struct cp_value_style *style, unsigned depth)
{
	const cprof_value *item;
	uint32_t i;

	cp_buf_u8(out, '{');
	for (i = 0; i < v->count; i++) {
		item = &v->items[i];
		if (i)
			cp_buf_str(out, ", ");
		if (v->kind != CPROF_VALUE_ARRAY && has_text(item->name)) {
			print_name(out, item->name);
			cp_buf_u8(out, '=');
		}
		print(out, item, style, depth + 1);
		if (item->repeats > 1)
			cp_buf_printf(out, " <repeats %" PRIu32 " times>", item->repeats);
	}
	if (v->cut)
		cp_buf_str(out, v->count ? ", ..." : "...");
	cp_buf_u8(out, '}');
}

static void print_error(struct cp_buf *out, const cprof_value *v)
{
	switch (v->error) {
	case CPROF_VALUE_OPTIMIZED_OUT:
		cp_buf_str(out, "<optimized out>");
		break;
	case CPROF_VALUE_UNREADABLE:
		cp_buf_str(out, "<unreadable ");
		print_hex(out, v->address);
		cp_buf_u8(out, '>');
		break;
	case CPROF_VALUE_CYCLE:
		cp_buf_str(out, "<cycle>");
		break;
	case CPROF_VALUE_TOO_DEEP:
		cp_buf_str(out, "{...}");
		break;
	case CPROF_VALUE_VARIADIC:
		cp_buf_str(out, "…");
		break;
	case CPROF_VALUE_INCOMPLETE:
		cp_buf_str(out, "<incomplete type>");
		break;
	case CPROF_VALUE_NOT_CONSTRUCTED:
		cp_buf_str(out, "<not constructed>");
		break;
	case CPROF_VALUE_DESTROYED:
		cp_buf_str(out, "<destroyed>");
		break;
	case CPROF_VALUE_NOT_ALLOCATED:
		cp_buf_str(out, "<not allocated>");
		break;
	default:
		cp_buf_str(out, "<unavailable>");
	}
}

static bool is_deep(const struct cp_value_style *style, unsigned depth)
{
	return depth >= DEPTH_MAX || (style && style->depth && depth >= style->depth);
}

static void print_pointer(struct cp_buf *out, const cprof_value *v,
			  const struct cp_value_style *style, unsigned depth)
{
	const cprof_value *to = v->count && !is_deep(style, depth) ? v->items : NULL;

	/* The value behind a pointer says more than that there is one. */
	if (to && to->count && is_deep(style, depth + 1) && to->kind >= CPROF_VALUE_STRUCT)
		to = NULL;

	if (to && to->kind == CPROF_VALUE_ERROR && to->error == CPROF_VALUE_UNREADABLE) {
		print_error(out, to);
	} else if (to && to->kind != CPROF_VALUE_ERROR) {
		if (style && style->addresses) {
			print_hex(out, v->u.u);
			cp_buf_str(out, " -> ");
		} else {
			cp_buf_u8(out, '&');
		}
		if (has_text(v->symbol)) {
			print_name(out, v->symbol);
			cp_buf_u8(out, ' ');
		}
		print(out, to, style, depth + 1);
	} else if (has_text(v->symbol)) {
		print_name(out, v->symbol);
	} else if (!v->u.u) {
		cp_buf_str(out, "NULL");
	} else {
		print_hex(out, v->u.u);
	}
}

static void print_raw(struct cp_buf *out, const cprof_value *v)
{
	uint32_t i;

	cp_buf_str(out, "<bytes");
	for (i = 0; i < v->u.text.length; i++)
		cp_buf_printf(out, " %02x", (uint8_t)v->u.text.bytes[i]);
	cp_buf_str(out, v->cut ? " ...>" : ">");
}

static void print_complex(struct cp_buf *out, const cprof_value *v,
			  const struct cp_value_style *style, unsigned depth)
{
	if (v->count != 2) {
		cp_buf_str(out, "<unavailable>");
		return;
	}
	print(out, &v->items[0], style, depth + 1);
	cp_buf_str(out, " + ");
	print(out, &v->items[1], style, depth + 1);
	cp_buf_u8(out, 'i');
}

static void print_number(struct cp_buf *out, const cprof_value *v)
{
	switch (v->kind) {
	case CPROF_VALUE_UINT:
		if (v->guessed)
			print_hex(out, v->u.u);
		else
			cp_buf_decimal(out, v->u.u);
		break;
	case CPROF_VALUE_INT128:
	case CPROF_VALUE_UINT128:
		print_wide(out, v->u.wide, v->kind == CPROF_VALUE_INT128);
		break;
	case CPROF_VALUE_BOOL:
		if (v->u.u > 1)
			cp_buf_decimal(out, v->u.u);
		else
			cp_buf_str(out, v->u.u ? "true" : "false");
		break;
	case CPROF_VALUE_CHAR:
		print_char(out, v);
		break;
	case CPROF_VALUE_FLOAT:
		print_float(out, v);
		break;
	case CPROF_VALUE_LONG_DOUBLE:
		cp_escape(out, CP_ESCAPE_TERMINAL, v->u.text.bytes, v->u.text.length);
		break;
	case CPROF_VALUE_ENUM:
		if (has_text(v->symbol)) {
			print_name(out, v->symbol);
			break;
		}
		cp_buf_signed(out, v->u.i);
		break;
	case CPROF_VALUE_VOID:
		cp_buf_str(out, "void");
		break;
	default:
		cp_buf_signed(out, v->u.i);
	}
}

/* A number may have its unit behind it (1500ms), or be a date. */
static void print_scalar(struct cp_buf *out, const cprof_value *v)
{
	bool numeric = v->kind == CPROF_VALUE_INT || v->kind == CPROF_VALUE_UINT ||
		       v->kind == CPROF_VALUE_FLOAT;

	if (!numeric || !has_text(v->symbol) || v->symbol[0] < '0' || v->symbol[0] > '9')
		print_number(out, v);
	if (numeric && has_text(v->symbol))
		print_name(out, v->symbol);
}

static void print(struct cp_buf *out, const cprof_value *v, const struct cp_value_style *style,
		  unsigned depth)
{
	bool nests = v->kind == CPROF_VALUE_STRUCT || v->kind == CPROF_VALUE_UNION ||
		     v->kind == CPROF_VALUE_ARRAY;

	if (depth > DEPTH_MAX ||
	    (nests && !is_entry(v) && style && style->depth && depth >= style->depth)) {
		cp_buf_str(out, "{...}");
		return;
	}
	switch (v->kind) {
	case CPROF_VALUE_COMPLEX:
		print_complex(out, v, style, depth);
		break;
	case CPROF_VALUE_ERROR:
		print_error(out, v);
		if (v->count && !is_deep(style, depth)) { /* a pointer that is nowhere */
			cp_buf_str(out, " -> ");
			print(out, v->items, style, depth + 1);
		}
		break;
	case CPROF_VALUE_POINTER:
		print_pointer(out, v, style, depth);
		break;
	case CPROF_VALUE_STRING:
		print_string(out, v, style);
		break;
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
		if (is_entry(v))
			print_entry(out, v, style, depth);
		else if (cp_value_is_form(v))
			print_form(out, v->items, style, depth);
		else if (is_tuple(v))
			print_tuple(out, v, style, depth);
		else
			print_items(out, v, style, depth);
		break;
	case CPROF_VALUE_RAW:
		print_raw(out, v);
		break;
	default:
		print_scalar(out, v);
	}
}

void cp_value_print(struct cp_buf *out, const cprof_value *value,
		    const struct cp_value_style *style)
{
	print(out, value, style, 0);
}

/* ---- for machines ---- */

struct json {
	struct cp_buf *out;
	size_t limit; /* of out->size, from which on nothing is repeated */
	bool addresses; /* pointers are what they are, not what they point to */
};

static void json(struct json *j, const cprof_value *v, unsigned depth);

static void json_string(struct cp_buf *out, const char *text, size_t size)
{
	cp_buf_u8(out, '"');
	cp_escape(out, CP_ESCAPE_JSON, text, size);
	cp_buf_u8(out, '"');
}

static void json_hex(struct cp_buf *out, uint64_t value)
{
	cp_buf_u8(out, '"');
	print_hex(out, value);
	cp_buf_u8(out, '"');
}

static bool is_utf8(const char *bytes, size_t size)
{
	uint32_t c;
	size_t n;

	for (; size; bytes += n, size -= n) {
		n = cp_utf8_decode(bytes, size, &c);
		if (!n)
			return false;
	}
	return true;
}

static void json_base64(struct cp_buf *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t three;
	size_t i, k, n;

	cp_buf_str(out, "{\"b64\":\"");
	for (i = 0; i < size; i += 3) {
		n = size - i < 3 ? size - i : 3;
		three = (uint32_t)bytes[i] << 16 | (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
			(n > 2 ? bytes[i + 2] : 0);
		for (k = 0; k < 4; k++)
			cp_buf_u8(out, k > n ? '=' : (uint8_t)digits[three >> (18 - 6 * k) & 63]);
	}
	cp_buf_str(out, "\"}");
}

static void json_float(struct cp_buf *out, const cprof_value *v)
{
	char text[CP_DIGITS_MAX];

	cp_digits(text, v->u.f, v->size == 4);
	if (!strcmp(text,
		    "-0")) /* many a reader takes that for a whole number, which has no sign */
		cp_buf_str(out, "-0.0");
	else if (isfinite(v->u.f))
		cp_buf_str(out, text);
	else
		json_string(out, text, strlen(text));
}

/* A number if a reader's double holds all of it. */
static void json_long_double(struct cp_buf *out, const cprof_value *v)
{
	uint32_t length = v->u.text.length;
	char text[64], again[CP_DIGITS_MAX];
	double value;

	if (length && length < sizeof(text)) {
		memcpy(text, v->u.text.bytes, length);
		text[length] = '\0';
		value = strtod(text, NULL);
		cp_digits(again, value, false);
		if (isfinite(value) && !strcmp(text, again)) {
			cp_buf_str(out, text);
			return;
		}
	}
	json_string(out, v->u.text.bytes, length);
}

/* Members without a name (anonymous structs) are members of what they are in. */
static void json_members(struct json *j, const cprof_value *v, unsigned depth, bool *comma)
{
	const cprof_value *item;
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		item = &v->items[i];
		if (!has_text(item->name)) {
			if ((item->kind == CPROF_VALUE_STRUCT || item->kind == CPROF_VALUE_UNION) &&
			    depth < DEPTH_MAX)
				json_members(j, item, depth + 1, comma);
			continue;
		}
		if (*comma)
			cp_buf_u8(j->out, ',');
		*comma = true;
		json_string(j->out, item->name, strlen(item->name));
		cp_buf_u8(j->out, ':');
		json(j, item, depth + 1);
	}
}

/* A map is an object where all its keys are texts, each of which once. */
static bool is_object(const cprof_value *v)
{
	const cprof_value *item, *key, *before;
	uint32_t i, k;

	if (!v->entry || v->count > OBJECT_MAX)
		return false;
	for (i = 0; i < v->count; i++) {
		item = &v->items[i];
		key = item->items;
		if (!is_entry(item) || key->kind != CPROF_VALUE_STRING || key->cut ||
		    !is_utf8(key->u.text.bytes, key->u.text.length))
			return false;
		for (k = 0; k < i; k++) {
			before = v->items[k].items;
			if (before->u.text.length == key->u.text.length &&
			    !memcmp(before->u.text.bytes, key->u.text.bytes, key->u.text.length))
				return false;
		}
	}
	return true;
}

static void json_object(struct json *j, const cprof_value *v, unsigned depth)
{
	const cprof_value *pair;
	uint32_t i;

	cp_buf_u8(j->out, '{');
	for (i = 0; i < v->count; i++) {
		pair = v->items[i].items;
		if (i)
			cp_buf_u8(j->out, ',');
		json_string(j->out, pair[0].u.text.bytes, pair[0].u.text.length);
		cp_buf_u8(j->out, ':');
		json(j, &pair[1], depth + 1);
	}
	cp_buf_u8(j->out, '}');
}

static void json_array(struct json *j, const cprof_value *v, unsigned depth)
{
	uint32_t i, k;
	bool comma = false;

	if (is_object(v)) {
		json_object(j, v, depth);
		return;
	}

	cp_buf_u8(j->out, '[');
	for (i = 0; i < v->count; i++) {
		k = 0;
		do {
			if (comma)
				cp_buf_u8(j->out, ',');
			comma = true;
			json(j, &v->items[i], depth + 1);
		} while (++k < v->items[i].repeats && j->out->size < j->limit && !j->out->failed);
	}
	cp_buf_u8(j->out, ']');
}

static void json_pointer(struct json *j, const cprof_value *v, unsigned depth)
{
	if (!j->addresses && v->count && v->items->kind != CPROF_VALUE_ERROR && depth < DEPTH_MAX)
		json(j, v->items, depth + 1);
	else
		json_hex(j->out, v->u.u);
}

/* A text, where not every reader has that number exactly. */
static void json_signed(struct cp_buf *out, int64_t value)
{
	bool exact = value <= EXACT_MAX && value >= -EXACT_MAX;

	if (!exact)
		cp_buf_u8(out, '"');
	cp_buf_signed(out, value);
	if (!exact)
		cp_buf_u8(out, '"');
}

static void json_unsigned(struct cp_buf *out, uint64_t value)
{
	if (value <= EXACT_MAX) {
		cp_buf_decimal(out, value);
		return;
	}
	cp_buf_u8(out, '"');
	cp_buf_decimal(out, value);
	cp_buf_u8(out, '"');
}

static void json_scalar(struct json *j, const cprof_value *v)
{
	if (v->kind == CPROF_VALUE_ENUM && has_text(v->symbol) && !v->size) {
		cp_buf_str(j->out, "null"); /* "nullopt" might be a text that it holds */
		return;
	}
	if (v->kind == CPROF_VALUE_ENUM && has_text(v->symbol)) {
		json_string(j->out, v->symbol, strlen(v->symbol));
		return;
	}
	switch (v->kind) {
	case CPROF_VALUE_UINT:
		if (v->guessed)
			json_hex(j->out, v->u.u);
		else
			json_unsigned(j->out, v->u.u);
		break;
	case CPROF_VALUE_INT128:
	case CPROF_VALUE_UINT128:
		cp_buf_u8(j->out, '"');
		print_wide(j->out, v->u.wide, v->kind == CPROF_VALUE_INT128);
		cp_buf_u8(j->out, '"');
		break;
	case CPROF_VALUE_BOOL:
		print_scalar(j->out, v);
		break;
	case CPROF_VALUE_FLOAT:
		json_float(j->out, v);
		break;
	case CPROF_VALUE_LONG_DOUBLE:
		json_long_double(j->out, v);
		break;
	default:
		json_signed(j->out, v->u.i);
	}
}

static void json(struct json *j, const cprof_value *v, unsigned depth)
{
	bool comma = false;

	if (depth > DEPTH_MAX) {
		cp_buf_str(j->out, "null");
		return;
	}
	switch (v->kind) {
	case CPROF_VALUE_ERROR:
		if (v->count && !j->addresses)
			json(j, v->items, depth + 1);
		else
			cp_buf_str(j->out, "null");
		break;
	case CPROF_VALUE_VOID:
		cp_buf_str(j->out, "null");
		break;
	case CPROF_VALUE_COMPLEX:
	case CPROF_VALUE_ARRAY:
		json_array(j, v, depth);
		break;
	case CPROF_VALUE_POINTER:
		json_pointer(j, v, depth);
		break;
	case CPROF_VALUE_STRING:
	case CPROF_VALUE_RAW:
		if (v->kind == CPROF_VALUE_STRING && is_utf8(v->u.text.bytes, v->u.text.length))
			json_string(j->out, v->u.text.bytes, v->u.text.length);
		else
			json_base64(j->out, (const uint8_t *)v->u.text.bytes, v->u.text.length);
		break;
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
		if (is_entry(v)) {
			json_array(j, v, depth);
			break;
		}
		cp_buf_u8(j->out, '{');
		json_members(j, v, depth, &comma);
		cp_buf_u8(j->out, '}');
		break;
	default:
		json_scalar(j, v);
	}
}

void cp_value_json(struct cp_buf *out, const cprof_value *value)
{
	struct json j = { out, out->size + GROWTH_MAX, false };

	json(&j, value, 0);
}

void cp_value_json_addresses(struct cp_buf *out, const cprof_value *value)
{
	struct json j = { out, out->size + GROWTH_MAX, true };

	json(&j, value, 0);
}
