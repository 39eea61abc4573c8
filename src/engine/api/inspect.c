/* SPDX-License-Identifier: MIT
 *
 * Expressions, static variables, objects and layouts, as profilers ask for them.
 */
#include <cprof/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/api/lookup.h"
#include "engine/calls/context.h"
#include "engine/frames/frame.h"
#include "engine/frames/frame_values.h"
#include "engine/probes/sites.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/live.h"
#include "engine/target/memory.h"
#include "engine/target/shapes.h"
#include "engine/target/types.h"
#include "engine/target/variables.h"
#include "image/find.h"
#include "image/globals.h"
#include "inspect/build.h"
#include "inspect/dynamic.h"
#include "inspect/evaluate.h"
#include "inspect/members.h"
#include "inspect/registers.h"
#include "inspect/scope.h"
#include "inspect/shape_layout.h"
#include "inspect/shapes.h"
#include "inspect/statics.h"
#include "inspect/type_names.h"

/* ---- what is asked ---- */

struct asked {
	cprof_session *session;
	cprof_process *process;
	struct engine_context *x; /* NULL: static variables alone */
	int32_t tid; /* whose thread-local variables are meant */
	struct cp_scope scope; /* of a frame's context */
	bool scoped;
	struct cp_arena arena;
	struct cp_reader memory;
	struct cp_expression_env env;
};

/* What was captured of a frame's stack is of that moment. */
static size_t read_now(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct asked *a = ctx;
	const struct cp_reader *stack = a->scoped ? a->scope.capture.memory : NULL;

	if (stack && stack->read(stack->ctx, address, buffer, size) == size)
		return size;
	return a->process->memory.read(a->process->memory.ctx, address, buffer, size);
}

static const char *symbol_at(void *ctx, uint64_t address)
{
	const struct asked *a = ctx;

	return engine_name_of_start(a->session, a->process, address);
}

static CP_ERROR type_named(void *ctx, const char *name, const struct cp_type **ret)
{
	const struct asked *a = ctx;

	return a->env.shapes->find_type(a->env.shapes->ctx, name, ret);
}

/* ---- names ---- */

static bool argument_thing(const struct asked *a, const char *name, struct cp_thing *ret)
{
	struct engine_context *x = a->x;
	size_t count = cp_signature_named_count(x->signature), i;
	struct cp_value_bytes bytes;
	const char *own;

	for (i = 0; i < count; i++) {
		own = cp_signature_name(x->signature, i);
		if (own && !strcmp(own, name))
			break;
	}
	if (i == count)
		return false;
	if (!engine_context_bytes(x, (int)i, &bytes))
		*ret = (struct cp_thing){ .type = cp_signature_type(x->signature, (int)i),
					  .error = CPROF_VALUE_UNAVAILABLE };
	else
		*ret = cp_thing_of(cp_signature_type(x->signature, (int)i), &bytes);
	return true;
}

static bool scoped_thing(const struct asked *a, const char *name, struct cp_thing *ret)
{
	const struct cp_scope_name *names;

	if (!cp_scope_find(&a->scope, a->env.arena, name, &names))
		return false;
	if (names->fixed)
		return engine_own_static(a->process, a->x->signature, names->variable, a->tid,
					 &a->env, ret);
	*ret = cp_scope_thing(&a->scope, &a->env, names);
	return true;
}

/* What `name` is in the call or the frame; false: nothing. */
static bool local_thing(const struct asked *a, const char *name, struct cp_thing *ret)
{
	bool (*find)(const struct asked *, const char *, struct cp_thing *) =
		a->x->frame ? scoped_thing : argument_thing;
	struct cp_register_values values = { .regs = a->x->frame ? &a->x->frame->frame->regs
								 : &a->x->hit->regs };
	struct cp_thing object;

	if (*name == '$')
		return cp_register_thing(&values, name + 1, a->env.arena, ret);
	if ((a->x->frame && !a->scoped) || !a->x->signature)
		return false;
	return find(a, name, ret) ||
	       (!a->x->frame &&
		engine_own_static(a->process, a->x->signature, cp_static_in(a->x->signature, name),
				  a->tid, &a->env, ret)) ||
	       (find(a, "this", &object) && cp_member_of_this(&a->env, &object, name, ret));
}

/* The function of that name, of the program itself or of any image. */
static bool function_thing(const struct asked *a, bool program, const char *name,
			   struct cp_thing *ret)
{
	const char *plain = cp_starts_with(name, "::") ? name + 2 : name;
	size_t i;

	for (i = 0; i < a->process->images.count; i++) {
		const cprof_image *in = a->process->images.items[i];
		const struct cp_placed_image of = { in->assembly->image, in->bias };

		if (in->mapped && of.image && (!program || engine_is_program(in)) &&
		    cp_function_thing(&of, plain, a->env.arena, ret))
			return true;
	}
	return false;
}

/* One of the program, of whose name only the end is said. */
static bool function_within(const struct asked *a, const char *name, struct cp_thing *ret)
{
	size_t i;

	for (i = 0; *name != ':' && i < a->process->images.count; i++) {
		const cprof_image *in = a->process->images.items[i];
		const struct cp_placed_image of = { in->assembly->image, in->bias };

		if (in->mapped && of.image && engine_is_program(in) &&
		    cp_function_within(&of, name, a->env.arena, ret))
			return true;
	}
	return false;
}

static bool enumerator_thing(const struct asked *a, bool program, const char *name,
			     struct cp_thing *ret)
{
	const struct cp_type *type = engine_enumeration(a->process, program, name);

	return type && cp_enumerator_of(&a->env, type, name, ret);
}

static CP_ERROR variable_named(void *ctx, const char *name, const char *file, struct cp_thing *ret)
{
	struct asked *a = ctx;
	struct engine_static found;
	bool is_static;

	if (!file && a->x && local_thing(a, name, ret))
		return NULL;
	is_static = engine_find_static(a->process, NULL, name, file, &found);
	/* A library's variable is not what a function of the program is meant by. */
	if (!file && (!is_static || !engine_is_program(found.image)) &&
	    (function_thing(a, true, name, ret) || enumerator_thing(a, true, name, ret)))
		return NULL;
	if (is_static) {
		*ret = engine_static_thing(a->process, &found, a->tid, a->env.arena);
		return NULL;
	}
	if (!file &&
	    (engine_find_symbol(a->process, name, ret) || function_thing(a, false, name, ret) ||
	     enumerator_thing(a, false, name, ret) || function_within(a, name, ret)))
		return NULL;
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no variable %s%s%s", name,
			    file ? " in " : "", file ? file : "");
}

static char *variable_at(void *ctx, uint64_t address, uint64_t *offset_ret)
{
	const struct asked *a = ctx;
	size_t i;

	for (i = 0; i < a->process->images.count; i++) {
		const cprof_image *image = a->process->images.items[i];

		if (image->mapped && image->assembly->image && address >= image->start &&
		    address < image->last)
			return cp_image_variable_at(image->assembly->image,
						    (struct cp_vaddr){ address - image->bias },
						    offset_ret);
	}
	return NULL;
}

/* ---- beginning and end ---- */

static cprof_status begin(struct asked *a, cprof_call_context *handle)
{
	cprof_session *s = cprof_session_current();

	*a = (struct asked){ .session = s, .process = engine_asked_process(s) };
	a->x = handle ? engine_live(ENGINE_LIVE_CONTEXT, handle) : NULL;
	if (!a->process || (handle && !a->x))
		return handle ? CPROF_E_UNSUPPORTED_CALL_SEQUENCE : CPROF_E_INVALID_ARGUMENT;
	if (a->x && a->x->frame)
		a->process = a->x->frame->thread->process;
	a->tid = a->x && a->x->frame ? a->x->frame->thread->tid
		 : s->current.thread ? s->current.thread->tid
				     : a->process->pid;
	if (!engine_open_memory(a->process))
		return CPROF_E_GONE;
	if (!s->object_arena)
		s->object_arena = cp_value_arena_create();
	if (!s->object_arena || !engine_shapes(a->process))
		return CPROF_E_OUT_OF_MEMORY;
	cp_value_arena_reset(s->object_arena);
	a->scoped = a->x && a->x->frame && a->x->signature && engine_frame_scope(a->x, &a->scope);
	a->memory = (struct cp_reader){ read_now, a };
	a->env = (struct cp_expression_env){ .arena = &s->object_arena->memory,
					     .memory = &a->memory,
					     .variable = variable_named,
					     .type = type_named,
					     .symbol = symbol_at,
					     .variable_at = variable_at,
					     .ctx = a,
					     .values = s->object_arena,
					     .limits = &s->limits,
					     .shapes = engine_shapes(a->process) };
	return CPROF_OK;
}

static void end(struct asked *a)
{
	cp_arena_free(&a->arena);
}

static cprof_status status_of(uint8_t error)
{
	switch ((cprof_value_error)error) {
	case CPROF_VALUE_OK:
		return CPROF_OK;
	case CPROF_VALUE_OPTIMIZED_OUT:
		return CPROF_E_OPTIMIZED_OUT;
	case CPROF_VALUE_UNREADABLE:
		return CPROF_E_UNREADABLE;
	case CPROF_VALUE_NOT_CONSTRUCTED:
	case CPROF_VALUE_NOT_ALLOCATED:
		return CPROF_E_DATA_INCOMPLETE;
	case CPROF_VALUE_UNAVAILABLE:
	case CPROF_VALUE_CYCLE:
	case CPROF_VALUE_TOO_DEEP:
	case CPROF_VALUE_VARIADIC:
	case CPROF_VALUE_INCOMPLETE:
	case CPROF_VALUE_DESTROYED:
		break;
	}
	return CPROF_E_NO_DEBUG_INFO;
}

static cprof_object object_of(const struct cp_thing *thing)
{
	const struct cp_type *t = cp_type_strip(thing->type);

	return (cprof_object){
		.address = thing->in_memory && !thing->bits ? thing->address : 0,
		.type = engine_type_told(thing->type),
		.type_name = thing->type ? cp_type_full_name(thing->type) : NULL,
		.size = t ? t->size : 0,
	};
}

static cprof_status refuse(struct asked *a, struct cp_error *err, cprof_evaluated *ret)
{
	cprof_status status = err->code == CP_ERR_NOMEM	      ? CPROF_E_OUT_OF_MEMORY
			      : err->code == CP_ERR_NOT_FOUND ? CPROF_E_NOT_FOUND
							      : CPROF_E_INVALID_ARGUMENT;

	ret->message =
		cp_arena_copy(&a->session->object_arena->memory, err->what, strlen(err->what));
	cp_error_free(err);
	return status;
}

cprof_status cprof_evaluate(const char *text, cprof_call_context *context, cprof_evaluated *ret)
{
	struct cp_condition *expression = NULL;
	struct cp_thing thing = { 0 };
	struct cp_error *err;
	struct asked a;
	cprof_status status;

	if (!text || !ret)
		return CPROF_E_INVALID_ARGUMENT;
	*ret = (cprof_evaluated){ 0 };
	status = begin(&a, context);
	if (status)
		return status;
	err = cp_expression_parse(text, &expression);
	if (!err)
		err = cp_expression_evaluate(expression, &a.env, &thing);
	if (err) {
		status = refuse(&a, err, ret);
	} else {
		ret->object = object_of(&thing);
		ret->value = thing.type || thing.error ? cp_thing_value(&a.env, &thing) : NULL;
		status = thing.error || !ret->value		 ? status_of(thing.error)
			 : ret->value->kind == CPROF_VALUE_ERROR ? status_of(ret->value->error)
								 : CPROF_OK;
		if (!thing.type && !thing.error)
			status = CPROF_E_NO_DEBUG_INFO;
	}
	cp_condition_destroy(expression); /* a text that it has was the thing */
	end(&a);
	return status;
}

/* ---- static variables ---- */

/* Is what it is in a class? */
static bool is_member(const cprof_assembly *a, const char *name)
{
	const char *last = cp_name_last_part(name);
	char *scope = last >= name + 2 ? strndup(name, (size_t)(last - name) - 2) : NULL;
	bool member = scope && engine_type_named(a, scope);

	free(scope);
	return member;
}

static cprof_static_kind kind_of(const struct engine_static *found)
{
	const char *name = found->global->name, *last = cp_name_last_part(name);

	if (cp_static_is_of_threads(found->global))
		return CPROF_STATIC_THREAD;
	if (last > name + 3 && last[-3] == ')')
		return CPROF_STATIC_FUNCTION;
	return is_member(found->image->assembly, name) ? CPROF_STATIC_MEMBER : CPROF_STATIC_PROCESS;
}

static cprof_status static_status(const struct cp_thing *thing)
{
	return !thing->error && !thing->in_memory ? CPROF_E_LITERALS_HAVE_NO_ADDRESS
						  : status_of(thing->error);
}

cprof_status cprof_static_object(const cprof_image *image, const char *name, cprof_thread *thread,
				 cprof_object *ret, cprof_static_kind *kind_ret)
{
	struct engine_static found;
	struct cp_thing thing;
	struct asked a;
	cprof_status status = name && ret ? begin(&a, NULL) : CPROF_E_INVALID_ARGUMENT;

	if (status)
		return status;
	*ret = (cprof_object){ 0 };
	if (thread || image)
		a.process = thread ? thread->process : image->process;
	if (!engine_open_memory(a.process))
		return CPROF_E_GONE;
	if (!engine_find_static(a.process, image, name, NULL, &found))
		return CPROF_E_NOT_FOUND;
	thing = engine_static_thing(a.process, &found, thread ? thread->tid : a.tid, &a.arena);
	*ret = object_of(&thing);
	if (kind_ret)
		*kind_ret = kind_of(&found);
	end(&a);
	return static_status(&thing);
}

/* False: that is enough. */
static bool tell_static(struct asked *a, const struct engine_static *found, int32_t tid,
			cprof_static_fn fn, void *data)
{
	struct cp_thing thing = engine_static_thing(a->process, found, tid, &a->arena);
	const cprof_static variable = { .name = found->global->name,
					.file = found->global->file,
					.line = found->global->line,
					.kind = kind_of(found),
					.status = static_status(&thing),
					.object = object_of(&thing) };

	return fn(&variable, data);
}

cprof_status cprof_for_each_static(const cprof_image *image, const char *glob, cprof_thread *thread,
				   cprof_static_fn fn, void *data)
{
	const struct cp_global_query query = { .glob = glob };
	struct cp_globals globals;
	struct cp_error *err = NULL;
	bool more = true;
	struct asked a;
	size_t i, n;
	cprof_status status = fn ? begin(&a, NULL) : CPROF_E_INVALID_ARGUMENT;

	if (status)
		return status;
	if (thread || image)
		a.process = thread ? thread->process : image->process;
	if (!engine_open_memory(a.process))
		return CPROF_E_GONE;
	for (i = 0; i < a.process->images.count && more && !err; i++) {
		const cprof_image *in = a.process->images.items[i];

		if (!in->mapped || !in->assembly->image || (image && in != image))
			continue;
		err = cp_image_find_globals(in->assembly->image, &query, &globals);
		for (n = 0; !err && n < globals.list.count && more; n++)
			more = tell_static(&a,
					   &(struct engine_static){ in, &globals.list.items[n] },
					   thread ? thread->tid : a.tid, fn, data);
		if (!err)
			cp_globals_free(&globals);
	}
	status = err ? CPROF_E_OUT_OF_MEMORY : CPROF_OK;
	cp_error_free(err);
	end(&a);
	return status;
}

/* ---- objects ---- */

/* The object as a thing, in what is asked. */
static cprof_status begin_object(struct asked *a, const cprof_object *object, struct cp_thing *ret)
{
	cprof_status status = object ? begin(a, NULL) : CPROF_E_INVALID_ARGUMENT;

	if (status)
		return status;
	if (!object->type)
		return CPROF_E_NO_DEBUG_INFO;
	*ret = cp_thing_at(engine_type_of(object->type), object->address);
	return CPROF_OK;
}

static const struct cp_type *class_named(void *ctx, const char *name)
{
	const struct cp_type *type = NULL;

	cp_error_free(type_named(ctx, name, &type));
	return type;
}

cprof_status cprof_object_dynamic(const cprof_object *object, cprof_object *ret)
{
	static const cprof_status told[] = { [CP_DYNAMIC_FOUND] = CPROF_OK,
					     [CP_DYNAMIC_PLAIN] = CPROF_E_NOT_SUPPORTED,
					     [CP_DYNAMIC_UNREADABLE] = CPROF_E_UNREADABLE,
					     [CP_DYNAMIC_ASTRAY] = CPROF_E_NOT_FOUND };
	struct cp_thing thing;
	struct asked a;
	cprof_status status = ret ? begin_object(&a, object, &thing) : CPROF_E_INVALID_ARGUMENT;
	const struct cp_dynamic_env env = {
		.memory = &a.memory, .variable_at = variable_at, .type = class_named, .ctx = &a
	};

	if (status)
		return status;
	status =
		told[cp_dynamic_type(&env, thing.type, thing.address, &thing.type, &thing.address)];
	if (!status)
		*ret = object_of(&thing);
	end(&a);
	return status;
}

cprof_status cprof_object_held(const cprof_object *object, cprof_object *ret)
{
	struct cp_thing thing, held = { 0 };
	struct asked a;
	cprof_status status = ret ? begin_object(&a, object, &thing) : CPROF_E_INVALID_ARGUMENT;
	struct cp_error *err;
	const uint8_t *bytes;
	bool done = false;

	if (status)
		return status;
	err = a.env.shapes->ops->behind(&a.env, &thing, &held, &done);
	held = done && !err ? held : thing;
	/* A smart pointer stands for a pointer. */
	if (!err && !held.error && held.type && cp_type_strip(held.type)->kind == CP_TYPE_POINTER) {
		bytes = cp_thing_bytes(&a.env, &held);
		held = cp_thing_at(cp_type_strip(held.type)->target,
				   bytes ? cp_build_number(bytes, 8) : 0);
		held.error = !bytes	    ? CPROF_VALUE_UNREADABLE
			     : held.address ? CPROF_VALUE_OK
					    : CPROF_VALUE_NOT_CONSTRUCTED;
		done = true;
	}
	status = err || !done ? CPROF_E_NOT_FOUND : status_of(held.error);
	if (!status)
		*ret = object_of(&held);
	cp_error_free(err);
	end(&a);
	return status;
}

cprof_status cprof_object_elements(const cprof_object *object, cprof_object *first_ret,
				   uint64_t *count_ret)
{
	struct cp_thing thing, first = { 0 };
	struct asked a;
	cprof_status status = first_ret && count_ret ? begin_object(&a, object, &thing)
						     : CPROF_E_INVALID_ARGUMENT;
	const struct cp_type *t;
	struct cp_error *err = NULL;
	bool done = false;

	if (status)
		return status;
	err = a.env.shapes->ops->row(&a.env, &thing, &first, count_ret, &done);
	t = done || err || first.error ? NULL : cp_type_strip(first.type);
	if (t && first.in_memory && (t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR)) {
		first = cp_thing_at(t->target, first.address);
		*count_ret = t->count;
		done = true;
	}
	status = err || !done ? CPROF_E_NOT_FOUND : status_of(first.error);
	if (!status)
		*first_ret = object_of(&first);
	cp_error_free(err);
	end(&a);
	return status;
}

/* ---- layouts ---- */

static cprof_status layout_of(const cprof_type *type, enum cp_shape_kind kind,
			      struct cp_layout *ret)
{
	static const cprof_status told[] = { [CP_LAYOUT_FOUND] = CPROF_OK,
					     [CP_LAYOUT_OTHER] = CPROF_E_NOT_FOUND,
					     [CP_LAYOUT_VARIES] = CPROF_E_NOT_SUPPORTED };

	return told[cp_shape_layout(engine_type_of(type), kind, ret)];
}

_Static_assert(CPROF_NO_OFFSET == CP_LAYOUT_NONE, "offsets are told as they are");

cprof_status cprof_type_box_layout(const cprof_type *type, cprof_box_layout *ret)
{
	struct cp_layout l;
	cprof_status status = ret ? layout_of(type, CP_SHAPE_VALUE, &l) : CPROF_E_INVALID_ARGUMENT;

	if (!status)
		*ret = (cprof_box_layout){ .type = engine_type_told(l.type),
					   .offset = l.offset,
					   .indirect = l.indirect,
					   .behind = l.behind,
					   .flag_offset = l.flag };
	return status;
}

cprof_status cprof_type_string_layout(const cprof_type *type, cprof_string_layout *ret)
{
	struct cp_layout l;
	cprof_status status = ret ? layout_of(type, CP_SHAPE_TEXT, &l) : CPROF_E_INVALID_ARGUMENT;

	if (!status)
		*ret = (cprof_string_layout){ .character = engine_type_told(l.type),
					      .buffer_offset = l.offset,
					      .indirect = l.indirect,
					      .length_offset = l.length,
					      .length = l.count,
					      .terminated = l.terminated };
	return status;
}

cprof_status cprof_type_array_layout(const cprof_type *type, cprof_array_layout *ret)
{
	struct cp_layout l;
	cprof_status status = ret ? layout_of(type, CP_SHAPE_ROW, &l) : CPROF_E_INVALID_ARGUMENT;

	if (!status)
		*ret = (cprof_array_layout){ .element = engine_type_told(l.type),
					     .data_offset = l.offset,
					     .indirect = l.indirect,
					     .count_offset = l.length,
					     .ended = l.ended,
					     .count = l.count };
	return status;
}
