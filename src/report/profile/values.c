/* SPDX-License-Identifier: MIT */
#include "report/profile/values.h"

#include <string.h>

#include "base/text.h"
#include "inspect/inspect.h"

struct cp_returned cp_call_returned(const struct cp_record_call *call)
{
	struct cp_returned r = { 0 };
	uint32_t left;

	if (!call || !call->value_count)
		return r;
	left = call->value_count;
	if (call->result_count) {
		r.result = call->values;
		left--;
	}
	r.changed_count = call->changed_count < left ? call->changed_count : left;
	r.local_count = left - r.changed_count;
	r.locals = call->values + (call->value_count - left);
	r.changed = r.locals + r.local_count;
	return r;
}

static void put_lacks(struct cp_json *j, const cprof_value *value)
{
	size_t from = j->out->size, size;

	cp_json_raw(j, "lacks", "", 0);
	size = j->out->size;
	cp_value_json_lacks(j->out, value);
	if (j->out->size == size)
		cp_buf_cut(j->out, from);
}

void cp_value_member(struct cp_json *j, const char *key, const cprof_value *value)
{
	size_t text;

	cp_json_begin(j, key, '{');
	if (value->name && *value->name)
		cp_json_str(j, "name", value->name);
	cp_json_str(j, "type", value->type ? value->type : "");
	cp_buf_str(j->out, ",\"value\":");
	cp_value_json(j->out, value);
	text = cp_json_str_begin(j, "text");
	cp_value_print(j->out, value, NULL);
	cp_json_str_end(j, text);
	cp_json_str(j, "source", cp_value_source_name(value->source));
	if (value->kind == CPROF_VALUE_ERROR)
		cp_json_str(j, "error", cp_value_error_name(value->error));
	if (value->kind == CPROF_VALUE_POINTER && value->count)
		cp_json_hex(j, "pointer", value->u.u); /* `value` is what is there */
	if (value->address)
		cp_json_hex(j, "address", value->address);
	if (value->cut)
		cp_json_bool(j, "cut", true);
	if (value->guessed)
		cp_json_bool(j, "guessed", true);
	put_lacks(j, value);
	cp_json_end(j, '}');
}

void cp_values_json(struct cp_json *j, const char *key, const cprof_value *values, size_t count)
{
	size_t i;

	cp_json_begin(j, key, '[');
	for (i = 0; i < count; i++)
		cp_value_member(j, NULL, &values[i]);
	cp_json_end(j, ']');
}

void cp_values_object(struct cp_buf *out, const cprof_value *values, size_t count)
{
	size_t i;

	cp_buf_u8(out, '{');
	for (i = 0; i < count; i++) {
		const cprof_value *v = &values[i];

		cp_buf_str(out, i ? ",\"" : "\"");
		if (v->name && *v->name)
			cp_escape(out, CP_ESCAPE_JSON, v->name, strlen(v->name));
		else
			cp_buf_decimal(out, i);
		cp_buf_str(out, "\":");
		cp_value_json(out, v);
	}
	cp_buf_u8(out, '}');
}

/* Is it not by its place among the arguments that it is known what it is? */
static bool is_by_path(const cprof_value *v)
{
	return v->name && strpbrk(v->name, ".>[*");
}

void cp_values_text(struct cp_buf *out, const cprof_value *values, size_t count, bool names)
{
	size_t i;

	for (i = 0; i < count; i++)
		names |= is_by_path(&values[i]);
	for (i = 0; i < count; i++) {
		const cprof_value *v = &values[i];

		if (i)
			cp_buf_str(out, ", ");
		if ((names || v->guessed) && v->name && *v->name) {
			cp_escape(out, CP_ESCAPE_TERMINAL, v->name, strlen(v->name));
			cp_buf_u8(out, '=');
		}
		cp_value_print(out, v, NULL);
	}
}
