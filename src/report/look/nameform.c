/* SPDX-License-Identifier: MIT */
#include "report/look/nameform.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fname.h"
#include "base/text.h"

#define DEPTH_MAX 8 /* types in names of types */

/* What is being made of a name. */
struct form {
	struct cp_buf *out;
	bool arguments, parameters;
	unsigned depth;
};

static bool add_name(struct form *f, const char *at, const char *end);

/* ---- scopes ---- */

/* The last `keep` parts of a name; a closure's has the function that it is in, too. */
static const char *last_parts(const char *name, unsigned keep)
{
	const char *begins[4] = { name, name, name, name }, *at = name;
	unsigned i;
	size_t size;

	while (at && *at && !(*at == ' ' && at[1] == ' ')) {
		size = cp_fname_operator(at, at == name ? 0 : at[-1]);
		if (size) {
			at += size;
		} else if (strchr("<([{", *at)) {
			at = cp_fname_closing(at);
		} else if (cp_starts_with(at, "::")) {
			at += 2;
			memmove(begins + 1, begins, 3 * sizeof(begins[0]));
			begins[0] = at;
		} else {
			at++;
		}
	}
	for (i = 0; i < keep && keep < 4; i++)
		keep += *begins[i] == '{';
	return begins[keep - 1];
}

/* ---- Rust's ways to say what a function is of ---- */

/* Where `word` is, outside of brackets; `end` where it is not. */
static const char *outside(const char *at, const char *end, const char *word)
{
	while (at && at < end) {
		if (cp_starts_with(at, word))
			return at;
		at = strchr("<([{", *at) ? cp_fname_closing(at) : at + 1;
	}
	return end;
}

/* Behind what is said of a type before its name. */
static const char *behind_words(const char *at)
{
	static const char *const words[] = { "&", "*const ", "*mut ", "mut ", "dyn ", "impl " };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (cp_starts_with(at, words[i])) {
			at += strlen(words[i]);
			i = (size_t)-1;
		}
	return at;
}

/* "alloc::vec::Vec<T> as core::fmt::Debug": Vec. */
static bool add_type(struct form *f, const char *at, const char *end)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct form inner = { &text, f->arguments, false, f->depth + 1 };
	const char *other = outside(at, end, " for ");

	if (cp_starts_with(at, "impl ") && other < end)
		at = other + strlen(" for ");
	end = outside(at, end, " as ");
	at = behind_words(at);
	if (*at == '[' || *at == '(') {
		cp_buf_add(f->out, at, (size_t)(end - at));
		return true;
	}
	if (f->depth == DEPTH_MAX || at >= end || !add_name(&inner, at, end))
		return false;
	cp_buf_u8(&text, 0);
	cp_buf_str(f->out, text.failed ? "" : last_parts(text.bytes, 1));
	return true;
}

/* ---- a name ---- */

/* Behind what follows parameters. */
static const char *behind_qualifiers(const char *at)
{
	static const char *const words[] = { " const", " volatile", " &&", " &" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (cp_starts_with(at, words[i]))
			at += strlen(words[i]);
	return at;
}

/* What a '<' begins: a type that the function is of, or arguments. NULL: it is broken. */
static const char *add_angle(struct form *f, const char *at, bool first)
{
	const char *behind = cp_fname_closing(at);
	struct cp_buf *out = f->out;

	if (!behind)
		return NULL;
	if (first)
		return add_type(f, at + 1, behind - 1) ? behind : NULL;
	if (f->arguments)
		cp_buf_add(out, at, (size_t)(behind - at));
	else if (out->size >= 2 && !memcmp(out->bytes + out->size - 2, "::", 2))
		out->size -= 2; /* "from_elem::<u8>", "core::slice::<impl [T]>::sort" */
	return behind;
}

static const char *add_parameters(struct form *f, const char *at)
{
	const char *closing = cp_fname_closing(at), *behind;

	if (!closing)
		return NULL;
	behind = behind_qualifiers(closing);
	if (f->parameters)
		cp_buf_add(f->out, at, (size_t)(behind - at));
	return behind;
}

/* False: it is broken. */
static bool add_name(struct form *f, const char *at, const char *end)
{
	static const char anonymous[] = "(anonymous namespace)::";
	const char *begin = at;
	size_t size;

	while (at && at < end) {
		size = cp_fname_operator(at, at == begin ? 0 : at[-1]);
		if (size) {
			cp_buf_add(f->out, at, size);
			at += size;
		} else if (cp_starts_with(at, anonymous)) {
			at += strlen(anonymous);
		} else if (*at == '<') {
			at = add_angle(f, at, at == begin);
		} else if (*at == '(') {
			at = add_parameters(f, at);
		} else if (*at == ')') {
			break; /* of what returns a pointer to a function */
		} else {
			cp_buf_u8(f->out, (uint8_t)*at++);
		}
	}
	return at != NULL;
}

static unsigned parts_of(enum cp_name_form form)
{
	return form == CP_NAME_ARGUMENTS || form == CP_NAME_BARE ? 0
	       : form == CP_NAME_ALONE				 ? 1
								 : 2;
}

void cp_name_form(struct cp_buf *out, const char *name, enum cp_name_form form)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct form f = { .out = &text,
			  .arguments =
				  form == CP_NAME_ARGUMENTS || form >= CP_NAME_OF_TYPE_ARGUMENTS,
			  .parameters = form == CP_NAME_OF_TYPE_WHOLE };
	const char *begin = name + cp_fname_begin(name);
	bool whole = add_name(&f, begin, name + strlen(name));

	while (text.size && text.bytes[text.size - 1] == ' ')
		text.size--;
	cp_buf_u8(&text, 0);
	if (!whole || text.failed || !*text.bytes)
		cp_buf_str(out, name);
	else
		cp_buf_str(out,
			   parts_of(form) ? last_parts(text.bytes, parts_of(form)) : text.bytes);
}
