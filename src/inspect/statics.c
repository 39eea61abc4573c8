/* SPDX-License-Identifier: MIT
 *
 * Where static variables are: of the program, of a file, a class, a function, a thread.
 * Which of them have no place, and why.
 */
#include "inspect/statics.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "image/copies.h"
#include "image/find.h"
#include "image/jit.h"
#include "image/location.h"
#include "inspect/locate.h"
#include "inspect/made_types.h"
#include "inspect/readable.h"
#include "inspect/signature.h"
#include "inspect/value.h"

#define BYTES_MAX (UINT64_C(1) << 20) /* of a thread-local variable */

struct asked {
	const struct cp_statics *statics;
	const struct cp_placed_image *of;
	bool program;
	uint8_t error;
	bool initial; /* of a file: at `offset` of what threads begin with */
	uint64_t offset;
};

static bool thread_local_address(void *ctx, uint64_t offset, uint64_t *ret)
{
	struct asked *a = ctx;

	if (a->statics->threads) {
		a->error = cp_thread_local(a->statics->threads, a->statics->tid, a->of, a->program,
					   offset, ret);
		return !a->error;
	}
	a->initial = true;
	a->offset = offset;
	return false;
}

static struct cp_thing lacking(const struct cp_type *type, uint8_t error)
{
	return (struct cp_thing){ .type = type, .error = error, .source = CPROF_SOURCE_DWARF };
}

/* What the thread-local variable of a file begins with. */
static struct cp_thing initial_of(const struct asked *a, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	uint64_t size = t && t->size <= BYTES_MAX ? t->size : 0;
	uint8_t *bytes = cp_arena_alloc(a->statics->arena, size);

	if (!bytes || !size)
		return lacking(type, CPROF_VALUE_UNAVAILABLE);
	cp_image_tls_initial(a->of->image, a->offset, bytes, size);
	return (struct cp_thing){
		.type = type, .bytes = bytes, .size = size, .source = CPROF_SOURCE_MEMORY
	};
}

/* A static of a function, in C++, is constructed when the function first gets there. */
static bool is_constructed(const struct asked *a, const struct cp_global *global, uint64_t address)
{
	struct cp_vaddr guard;
	uint8_t done = 1;

	if (!cp_language_is_cplusplus(global->language) || !strchr(global->name, ')') ||
	    !cp_image_guard(a->of->image, (struct cp_vaddr){ address - a->of->bias }, &guard))
		return true;
	cp_read_exact(a->statics->memory, guard.v + a->of->bias, &done, 1);
	return done;
}

struct cp_global cp_static_of(const struct cp_signature *signature,
			      const struct cp_variable *variable, struct cp_arena *arena)
{
	const char *function = signature->function.name ? signature->function.name : "";
	const size_t size = strlen(function) + strlen("()::") + strlen(variable->name) + 1;
	char *name = cp_arena_alloc(arena, size);

	if (name)
		snprintf(name, size, "%s()::%s", function, variable->name);
	return (struct cp_global){ .name = name ? name : variable->name,
				   .line = variable->line,
				   .language = signature->function.language,
				   .variable = *variable };
}

const struct cp_variable *cp_static_in(const struct cp_signature *signature, const char *name)
{
	uint32_t i;

	for (i = 0; signature->described && i < signature->function.static_count; i++)
		if (!strcmp(signature->function.statics[i].name, name))
			return &signature->function.statics[i];
	return NULL;
}

bool cp_static_is_of_threads(const struct cp_global *global)
{
	const struct cp_location *at = global->variable.locations.items;

	return !global->gone && !global->variable.constant &&
	       cp_location_is_of_thread(at->expr, at->size);
}

/* Where it is for everybody: in its image, or where the program has a copy of it. */
static uint64_t copy_of(const struct asked *a, uint64_t address)
{
	const struct cp_placed_image *program = &a->statics->program;
	struct cp_vaddr at = { address - a->of->bias };

	return !a->program && program->image && cp_image_copy(program->image, a->of->image, at, &at)
		       ? at.v + program->bias
		       : address;
}

/* Is it one object in memory, from its first byte on? */
static bool is_whole(const struct cp_located *parts, size_t count, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return count == 1 && parts[0].kind == CP_LOCATED_MEMORY && !parts[0].skip &&
	       !parts[0].skip_bits && !parts[0].size_bits &&
	       (!parts[0].size || (t && parts[0].size >= t->size));
}

/* The value of one that is in pieces, of memory, constants and nothing. */
static struct cp_thing in_pieces(const struct asked *a, const struct cp_location *at,
				 const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_signature signature = { .limits = { .value = BYTES_MAX } };
	const struct cp_capture capture = { .memory = a->statics->memory, .bias = a->of->bias };
	struct cp_value_request request = { .signature = &signature, .capture = &capture };
	struct cp_parameter p = { .type = type, .source = CPROF_SOURCE_DWARF };
	struct cp_thing thing = lacking(type, CPROF_VALUE_UNAVAILABLE);
	struct cp_bytes bytes;

	request.arena = cp_value_arena_create();
	if (!request.arena || !t || !t->size)
		goto out;
	cp_locate_static(at, t->size, &p.place);
	bytes = cp_parameter_known(&request, &p, &thing.error);
	if (!bytes.size)
		goto out;
	thing.error = CPROF_VALUE_OK;
	thing.size = bytes.size;
	thing.bytes = (const uint8_t *)cp_arena_copy(a->statics->arena, bytes.at, bytes.size);
	thing.gaps = cp_gaps_copy(a->statics->arena, bytes.gaps);
	if (!thing.bytes || (bytes.gaps && !thing.gaps))
		thing.error = CPROF_VALUE_UNAVAILABLE;
out:
	cp_value_arena_destroy(request.arena);
	return thing;
}

struct cp_thing cp_static_thing(const struct cp_statics *statics, const struct cp_placed_image *of,
				bool program, const struct cp_global *global)
{
	const struct cp_variable *v = &global->variable;
	const struct cp_location *at = v->locations.items;
	struct asked asked = { .statics = statics, .of = of, .program = program };
	struct cp_location_env env = { .arch = cp_arch_host(),
				       .memory = statics->memory,
				       .bias = of->bias,
				       .thread_local_address = thread_local_address,
				       .ctx = &asked };
	struct cp_located parts[CP_LOCATED_MAX];
	struct cp_vaddr symbol;
	struct cp_thing thing;
	size_t count = 0;

	if (v->constant)
		return (struct cp_thing){ .type = v->type,
					  .bytes = v->value,
					  .size = v->value_size,
					  .source = CPROF_SOURCE_CONST };
	if (global->gone && cp_type_is_empty(v->type))
		return (struct cp_thing){ .type = v->type,
					  .bytes = cp_arena_alloc(statics->arena, 1),
					  .source = CPROF_SOURCE_CONST };
	if (global->gone && global->external && cp_image_variable(of->image, v->name, &symbol))
		return cp_thing_at(v->type, copy_of(&asked, symbol.v + of->bias));
	if (global->gone)
		return lacking(v->type, CPROF_VALUE_OPTIMIZED_OUT);
	if (cp_location_evaluate(&env, at->expr, at->size, parts, &count) != CP_LOCATION_OK)
		return asked.initial ? initial_of(&asked, v->type)
				     : lacking(v->type,
					       asked.error ? asked.error : CPROF_VALUE_UNAVAILABLE);
	if (!is_whole(parts, count, v->type))
		return in_pieces(&asked, at, v->type);
	thing = cp_thing_at(v->type, global->external && !cp_static_is_of_threads(global)
					     ? copy_of(&asked, parts[0].value)
					     : parts[0].value);
	if (cp_type_has_flexible(v->type))
		thing.extent = cp_image_variable_size(of->image, (struct cp_vaddr){ thing.address -
										    of->bias });
	if (!is_constructed(&asked, global, thing.address))
		thing.error = CPROF_VALUE_NOT_CONSTRUCTED;
	return thing;
}

/* Is that the function of a symbol, whatever it takes? */
static bool is_called(const char *symbol, const char *name)
{
	CP_FREE char *plain = NULL;
	size_t size = strlen(name);

	if (!strcmp(symbol, name))
		return true;
	/* A mangled name has the last part in it. */
	if (symbol[0] != '_' || !strstr(symbol, cp_name_last_part(name)))
		return false;
	plain = cp_demangle(symbol);
	return plain && !strncmp(plain, name, size) && (!plain[size] || plain[size] == '(');
}

struct cp_vaddr cp_function_address(struct cp_image *image, const char *name)
{
	const struct cp_symbol *symbols;
	struct cp_vaddr address = { 0 };
	size_t count = 0, i;
	struct cp_error *err = cp_image_symbols(image, &symbols, &count);

	for (i = 0; !err && i < count && !address.v; i++)
		if (symbols[i].kind == CP_SYMBOL_FUNCTION && is_called(symbols[i].name, name))
			address = symbols[i].start;
	cp_error_free(err);
	return address;
}

/* Is `at` in it inside of nothing: of no parameters, of no arguments of a template? */
static bool is_outside(const char *text, const char *at)
{
	int depth = 0;

	for (; text < at; text++)
		depth += *text == '(' || *text == '<' ? 1 : *text == ')' || *text == '>' ? -1 : 0;
	return !depth;
}

/* As is_called(), where the name leaves out what the function is in. */
static bool is_called_within(const char *symbol, const char *name)
{
	CP_FREE char *plain = NULL;
	const size_t size = strlen(name);
	const char *at;

	if (symbol[0] != '_' || !strstr(symbol, cp_name_last_part(name)))
		return false;
	plain = cp_demangle(symbol);
	for (at = plain ? strstr(plain, name) : NULL; at; at = strstr(at + 1, name))
		if (at > plain + 1 && at[-1] == ':' && at[-2] == ':' &&
		    (!at[size] || at[size] == '(') && is_outside(plain, at))
			return true;
	return false;
}

bool cp_function_within(const struct cp_placed_image *in, const char *name, struct cp_arena *arena,
			struct cp_thing *ret)
{
	const struct cp_symbol *symbols;
	size_t count = 0, i;
	struct cp_error *err = *name ? cp_image_symbols(in->image, &symbols, &count) : NULL;

	for (i = 0; !err && i < count; i++)
		if (symbols[i].kind == CP_SYMBOL_FUNCTION && symbols[i].start.v &&
		    is_called_within(symbols[i].name, name))
			return cp_function_pointer(arena, symbols[i].start.v + in->bias, ret);
	cp_error_free(err);
	return false;
}

bool cp_function_pointer(struct cp_arena *arena, uint64_t address, struct cp_thing *ret)
{
	static const struct cp_type function = { .kind = CP_TYPE_FUNCTION,
						 .text = "? (...)",
						 .split = 2 };

	*ret = (struct cp_thing){ .type = cp_type_pointer_to(arena, &function),
				  .bytes = (uint8_t *)cp_arena_copy(arena, &address, 8),
				  .size = 8,
				  .source = CPROF_SOURCE_CONST };
	return ret->type && ret->bytes;
}

bool cp_function_thing(const struct cp_placed_image *in, const char *name, struct cp_arena *arena,
		       struct cp_thing *ret)
{
	struct cp_vaddr address = cp_function_address(in->image, name);

	return address.v && cp_function_pointer(arena, address.v + in->bias, ret);
}
