/* SPDX-License-Identifier: MIT
 *
 * Expressions, and what they stand for in memory that may be anything: pointers and nodes
 * that lead anywhere, counts and lengths of any size. The first byte is how long the
 * expression is that follows; the rest is memory, over and over again.
 */
#include <stdlib.h>
#include <string.h>

#include "image/find.h"
#include "inspect/evaluate.h"
#include "inspect/inspect.h"
#include "inspect/shape_file.h"
#include "inspect/shape_ops.h"

#define READ_MAX (UINT64_C(64) << 20) /* of one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char declarations[] = "chain: chain\n"
				   " first first\n"
				   " next next\n"
				   " count count\n"
				   " value key\n"
				   "tree: tree\n"
				   " root root\n"
				   " left left\n"
				   " right right\n"
				   " value *$node\n"
				   "btree: btree\n"
				   " root root\n"
				   " count count\n"
				   " height height\n"
				   " length length\n"
				   " edges edges\n"
				   " value keys[$i]\n"
				   "row: row\n"
				   " at at\n"
				   " end end\n"
				   "text: text\n"
				   " at at\n"
				   " length length\n"
				   "table: items\n"
				   " count count\n"
				   " used slots[$i]\n"
				   " value slots[$i]->name\n"
				   "maybe: choice\n"
				   " when set\n"
				   " value value\n"
				   " none none\n";

struct memory {
	const uint8_t *data;
	size_t size;
	uint64_t left;
};

static size_t read_round(void *ctx, uint64_t address, void *buffer, size_t size)
{
	struct memory *m = ctx;
	uint8_t *to = buffer;
	size_t i;

	/* Some of it can't be read. What reads without an end is the failure. */
	if (!m->size || address >> 44 & 1)
		return 0;
	if (size > m->left)
		abort();
	m->left -= size;
	for (i = 0; i < size; i++)
		to[i] = m->data[(address + i) % m->size];
	return size;
}

/* ---- what names mean ---- */

static struct cp_image *image;

static struct cp_error *find_type(void *ctx, const char *name, const struct cp_type **ret)
{
	struct cp_found found;
	bool is_there;

	(void)ctx;
	CP_TRY(cp_image_find_types(image, name, &found));
	is_there = found.types.count;
	if (is_there)
		*ret = found.types.items[0].type;
	cp_found_free(&found);
	return is_there ? NULL : cp_error_new(CP_ERR_NOT_FOUND, 0, "no type");
}

/* Every type is a variable of that name. */
static struct cp_error *find_variable(void *ctx, const char *name, const char *file,
				      struct cp_thing *ret)
{
	const struct cp_type *type;

	if (file || strlen(name) > 8)
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "no variable");
	CP_TRY(find_type(ctx, name, &type));
	*ret = cp_thing_at(type, 0x1000);
	return NULL;
}

static void show(const struct cp_expression_env *env, const struct cp_thing *thing)
{
	const cprof_value *v;
	struct cp_buf out = { 0 };

	if (!thing->type && !thing->error)
		return;
	v = cp_thing_value(env, thing);
	if (v) {
		cp_value_print(&out, v, NULL);
		cp_value_json(&out, v);
	}
	cp_buf_free(&out);
}

static void ask(const char *text, struct memory *memory)
{
	const struct cp_reader reader = { .read = read_round, .ctx = memory };
	struct cp_value_limits limits = cp_value_limits_default;
	struct cp_shapes shapes = { .ops = &cp_shape_ops, .find_type = find_type };
	struct cp_arena arena = { 0 };
	struct cp_expression_env env = { .arena = &arena,
					 .memory = &reader,
					 .variable = find_variable,
					 .type = find_type,
					 .values = cp_value_arena_create(),
					 .limits = &limits,
					 .shapes = &shapes };
	struct cp_condition *expression = NULL;
	struct cp_error *err;
	struct cp_thing thing;

	err = cp_shapes_parse(&shapes, "here", declarations);
	if (err)
		abort();
	err = cp_expression_parse(text, &expression);
	if (!err)
		err = cp_expression_evaluate(expression, &env, &thing);
	if (!err)
		show(&env, &thing);
	cp_error_free(err);
	cp_condition_destroy(expression);
	cp_value_arena_destroy(env.values);
	cp_arena_free(&arena);
	cp_shapes_free(&shapes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = size && data[0] < size ? data[0] : 0;
	struct memory memory = { data + 1 + length, size ? size - 1 - length : 0, READ_MAX };
	char *text = calloc(1, length + 1);

	if (!image && cp_image_open_file(FUZZ_THINGS, NULL, &image))
		abort();
	if (text && size) {
		memcpy(text, data + 1, length);
		ask(text, &memory);
	}
	free(text);
	return 0;
}
