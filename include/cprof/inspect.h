/* SPDX-License-Identifier: MIT
 *
 * cprof/inspect.h - what the program holds, by name: expressions as `cprof inspect` takes
 * them, static variables, the types that objects really have, and where in objects of
 * libraries' types that is which they hold.
 *
 *     cprof_evaluated e;
 *     if (!cprof_evaluate("server.clients->head", NULL, &e))
 *             printf("at %#lx: %s\n", e.object.address, cprof_type_name(e.object.type));
 *
 * All is about the process of the event being delivered, or the target, as it is now: what
 * stands still (CPROF_CALL_INSTRUMENTATION_HOLD) is of one moment. Nothing is stopped for it.
 * The first name of an image costs the reading of its debug information.
 */
#ifndef CPROF_INSPECT_H
#define CPROF_INSPECT_H

#include <cprof/calls.h>
#include <cprof/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an expression stands for. */
typedef struct cprof_evaluated {
	cprof_object object; /* address 0: it is in no memory (computed, in registers, bits) */
	const cprof_value *value; /* what it holds; NULL: it makes no sense */
	const char *message; /* why it makes no sense; NULL: it does */
} cprof_evaluated;
/* Evaluates an expression of cprof-inspect(1): `list->head[3].name`, `v[0]`, `m["key"]`,
 * `ns::Foo::count`, `main()::calls`, `'file.c'::counter`, `*(struct node *)0x55d0`, `$rip`,
 * `sizeof(struct node)`. `context`: arguments and variables of that call or frame come
 * first (cprof_frame_info_call_context()), and its thread's thread-local variables are
 * meant; NULL: static variables, and those of the event's thread. *ret is good until the
 * next call. INVALID_ARGUMENT: it makes no sense. NOT_FOUND: a name in it means nothing. Of
 * what makes sense, but can't be had, `value` says so, too: OPTIMIZED_OUT, UNREADABLE,
 * DATA_INCOMPLETE (a thread's variable not yet allocated, a function's not yet constructed),
 * NO_DEBUG_INFO (anything else). GONE: the process is. */
CPROF_API cprof_status cprof_evaluate(const char *expression, cprof_call_context *context,
				      cprof_evaluated *ret);

typedef enum cprof_static_kind {
	CPROF_STATIC_PROCESS = 0, /* of the program or a file: one in each process and namespace */
	CPROF_STATIC_THREAD = 1, /* one in each thread */
	CPROF_STATIC_MEMBER = 2, /* of a class */
	CPROF_STATIC_FUNCTION = 3 /* of a function */
} cprof_static_kind;
/* The static variable of that name, as expressions have it. `image` NULL: the first image that
 * has it. `thread` NULL: the event's thread. *kind_ret may be NULL. NOT_FOUND: there is none.
 * LITERALS_HAVE_NO_ADDRESS: it is a constant (cprof_evaluate() tells which). OPTIMIZED_OUT.
 * DATA_INCOMPLETE: the thread has not allocated it yet, or the function not constructed it
 * yet; of the latter the address is told. */
CPROF_API cprof_status cprof_static_object(const cprof_image *image, const char *name,
					   cprof_thread *thread, cprof_object *ret,
					   cprof_static_kind *kind_ret);

/* A static variable, of those that there are. */
typedef struct cprof_static {
	const char *name; /* with all that it is in, as expressions have it: "main()::calls" */
	const char *file; /* where it is declared; NULL: not told */
	uint32_t line;
	cprof_static_kind kind;
	cprof_status status; /* as cprof_static_object() answers */
	cprof_object object; /* its address is 0 where the status says why */
} cprof_static;
/* Of cprof_for_each_static(); what it is given is good until it returns. False: that is enough. */
typedef bool (*cprof_static_fn)(const cprof_static *variable, void *data);
/* Calls `fn` for each static variable whose name matches `glob` (NULL: any): of `image`, or
 * if that is NULL of all that are mapped; `thread` as above. Reads all debug information. */
CPROF_API cprof_status cprof_for_each_static(const cprof_image *image, const char *glob,
					     cprof_thread *thread, cprof_static_fn fn, void *data);

/* The whole object that a base class of it is at object->address, by its vtable: with its own
 * address and type. NOT_SUPPORTED: its class has no virtual functions. UNREADABLE. NOT_FOUND:
 * no vtable is where it says, or no debug information has that class. */
CPROF_API cprof_status cprof_object_dynamic(const cprof_object *object, cprof_object *ret);
/* What an object holds that stands for something else: what a smart pointer leads to, an
 * optional or a variant has, an atomic is. NOT_FOUND: it stands for itself. DATA_INCOMPLETE:
 * it is empty. UNREADABLE. */
CPROF_API cprof_status cprof_object_held(const cprof_object *object, cprof_object *ret);
/* The first of an object's elements in a row, and how many they are: of arrays, vectors,
 * slices, strings. NOT_FOUND: it has none such. UNREADABLE. */
CPROF_API cprof_status cprof_object_elements(const cprof_object *object, cprof_object *first_ret,
					     uint64_t *count_ret);

/* ---- layouts: where parts are in every object of a type ----
 *
 * NOT_FOUND: it is of another kind. NOT_SUPPORTED: where it is, each object says. */

#define CPROF_NO_OFFSET UINT64_MAX

/* Of what holds one value: optional, unique_ptr, shared_ptr, atomic; Rust's Box, Rc, Cell. */
typedef struct cprof_box_layout {
	const cprof_type *type; /* of the value */
	uint64_t offset; /* of the value, or (indirect) of the pointer that leads to it, */
	bool indirect;
	uint64_t behind; /* so many bytes on from there */
	uint64_t flag_offset; /* of the byte that is 0 where it is empty, or CPROF_NO_OFFSET */
} cprof_box_layout;
CPROF_API cprof_status cprof_type_box_layout(const cprof_type *type, cprof_box_layout *ret);

/* Of text: std::string, string_view; Rust's String, &str; arrays of and pointers to
 * characters. */
typedef struct cprof_string_layout {
	const cprof_type *character;
	uint64_t buffer_offset; /* of the text, or (indirect) of the pointer to it */
	bool indirect;
	uint64_t length_offset; /* of 8 bytes, in characters; CPROF_NO_OFFSET: see `length` */
	uint64_t length; /* at most, in an array; 0: up to a NUL */
	bool terminated; /* a NUL follows */
} cprof_string_layout;
CPROF_API cprof_status cprof_type_string_layout(const cprof_type *type, cprof_string_layout *ret);

/* Of elements in a row: arrays, vector, span; Rust's Vec, slices. */
typedef struct cprof_array_layout {
	const cprof_type *element;
	uint64_t data_offset; /* of the first, or (indirect) of the pointer to it */
	bool indirect;
	uint64_t count_offset; /* of 8 bytes; CPROF_NO_OFFSET: there are `count` */
	bool ended; /* at count_offset is a pointer behind the last instead */
	uint64_t count;
} cprof_array_layout;
CPROF_API cprof_status cprof_type_array_layout(const cprof_type *type, cprof_array_layout *ret);

#ifdef __cplusplus
}
#endif
#endif
