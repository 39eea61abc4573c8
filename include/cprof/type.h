/* SPDX-License-Identifier: MIT
 *
 * cprof/type.h - types, by the program's debug information: the layouts of objects.
 *
 * A type lives as long as the session. What is asked of it is read from debug information
 * at first use, by the file alone: no process is needed, nothing stops.
 *
 *     const cprof_type *type = cprof_type_from_name(NULL, "ns::Widget");
 *     cprof_member member;
 *     for (uint32_t i = 0; cprof_type_member(type, i, &member); i++)
 *             printf("%llu %s\n", member.offset, member.name);
 *
 * All accessors but cprof_type_name(), cprof_type_kind_of() and cprof_type_target() see
 * through typedefs and qualifiers, and from a declaration to the definition that another
 * part of the program has. NULL as a type is fine everywhere: it has nothing. Any thread.
 */
#ifndef CPROF_TYPE_H
#define CPROF_TYPE_H

#include <cprof/events.h>
#include <cprof/functions.h>
#include <cprof/process.h>
#include <cprof/types.h>
#include <cprof/value.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_type_kind {
	CPROF_TYPE_UNKNOWN = 0, /* could not be read, or is of another kind than these */
	CPROF_TYPE_VOID,
	CPROF_TYPE_INT, /* signed */
	CPROF_TYPE_UINT,
	CPROF_TYPE_BOOL,
	CPROF_TYPE_CHAR, /* see CPROF_TYPE_SIGNED */
	CPROF_TYPE_FLOAT,
	CPROF_TYPE_COMPLEX,
	CPROF_TYPE_POINTER,
	CPROF_TYPE_REFERENCE, /* of C++, both kinds */
	CPROF_TYPE_MEMBER_POINTER, /* size 16: to a member function */
	CPROF_TYPE_ENUM,
	CPROF_TYPE_STRUCT, /* also of classes, tuples, Rust's enums with data */
	CPROF_TYPE_UNION,
	CPROF_TYPE_ARRAY,
	CPROF_TYPE_VECTOR, /* of the processor's vector units */
	CPROF_TYPE_FUNCTION,
	CPROF_TYPE_ALIAS /* typedef, const, volatile, ... */
} cprof_type_kind;

/* The type of that name, as `cprof layout` takes names: with all that it is in or the end of
 * that, `Box<int>`, `struct node`, `main()::local`; or a basic type of C. `image` NULL: looks
 * in all that are mapped in the process of the event being delivered, or in the target.
 * NULL: there is none. May read all of the debug information, once. */
CPROF_API const cprof_type *cprof_type_from_name(const cprof_image *image, const char *name);
/* What a function returns; NULL: nothing, or it is not known. */
CPROF_API const cprof_type *cprof_function_result_type(const cprof_function *function);
/* Positions as in cprof_function_argument_name(). NULL: there is no such argument. */
CPROF_API const cprof_type *cprof_function_argument_type(const cprof_function *function,
							 uint32_t position);

/* With all that it is in: "ns::Box<int>", "const char *"; "" if NULL. */
CPROF_API const char *cprof_type_name(const cprof_type *type);
CPROF_API cprof_type_kind cprof_type_kind_of(const cprof_type *type);
CPROF_API uint64_t cprof_type_size(const cprof_type *type); /* bytes; 0 also: not known */
CPROF_API uint32_t cprof_type_alignment(const cprof_type *type); /* bytes; 0: not known */
/* What it is about: of a pointer or reference what that leads to, of an array or vector its
 * element, of an enum its integer type, of a function its result, of an alias what it stands
 * for. NULL: void, or it has none. */
CPROF_API const cprof_type *cprof_type_target(const cprof_type *type);
/* The elements of an array (one dimension: the target of `int[2][3]` is `int[3]`) or vector;
 * 0 also: not known. */
CPROF_API uint64_t cprof_type_count(const cprof_type *type);

#define CPROF_TYPE_SIGNED 1u /* CHAR: it is signed; COMPLEX: of integers */
#define CPROF_TYPE_DECLARED 2u /* only declared: no size, no members */
#define CPROF_TYPE_COUNTED 4u /* ARRAY: cprof_type_count() is known, if it is 0 */
#define CPROF_TYPE_CLASS 8u /* STRUCT: declared as a class */
#define CPROF_TYPE_UNNAMED 16u
#define CPROF_TYPE_POLYMORPHIC 32u /* STRUCT: it has virtual functions or bases of its own */
CPROF_API unsigned cprof_type_flags(const cprof_type *type);

#define CPROF_MEMBER_BASE 1u /* a base class: the name is its type's */
#define CPROF_MEMBER_VIRTUAL 2u /* a virtual base: where it is, each object says */
#define CPROF_MEMBER_BITS 4u /* a bit-field */
#define CPROF_MEMBER_ARTIFICIAL 8u /* the compiler's own: _vptr.Widget */

/* A member of a struct or union, or a base. */
typedef struct cprof_member {
	const char *name; /* "": it has none */
	const cprof_type *type;
	uint64_t offset; /* bytes from the object's beginning; BITS: of the byte it begins in */
	uint16_t bit_offset; /* BITS: from the lowest bit there, 0 to 7 */
	uint16_t bit_size; /* BITS: how many; else 0 */
	uint32_t flags; /* CPROF_MEMBER_* */
} cprof_member;
/* In the order of the source, bases among them. False: there is no such one. */
CPROF_API bool cprof_type_member(const cprof_type *type, uint32_t position, cprof_member *ret);
CPROF_API uint32_t cprof_type_member_count(const cprof_type *type);

typedef struct cprof_enumerator {
	const char *name;
	int64_t value;
} cprof_enumerator;
CPROF_API bool cprof_type_enumerator(const cprof_type *type, uint32_t position,
				     cprof_enumerator *ret);
CPROF_API uint32_t cprof_type_enumerator_count(const cprof_type *type);

/* A form that a Rust enum with data can have. */
typedef struct cprof_variant {
	cprof_member member; /* its data */
	uint64_t value; /* of the discriminant */
	bool otherwise; /* for every value that no other form has */
} cprof_variant;
CPROF_API bool cprof_type_variant(const cprof_type *type, uint32_t position, cprof_variant *ret);
CPROF_API uint32_t cprof_type_variant_count(const cprof_type *type);
/* What tells which form an object has. False: there is only one. */
CPROF_API bool cprof_type_discriminant(const cprof_type *type, cprof_member *ret);

/* An argument of a template. */
typedef struct cprof_type_argument {
	const char *name; /* of the parameter; "": it has none */
	const cprof_type *type; /* or of the value; NULL: void */
	int64_t value;
	bool is_value;
} cprof_type_argument;
CPROF_API bool cprof_type_argument_at(const cprof_type *type, uint32_t position,
				      cprof_type_argument *ret);
CPROF_API uint32_t cprof_type_argument_count(const cprof_type *type);
/* The template that it was made of, "ns::Box" of "ns::Box<int>", as much as has room in
 * `buffer`; how long the whole is without the NUL. 0: it is of none. */
CPROF_API size_t cprof_type_template(const cprof_type *type, char *buffer, size_t size);

/* Reads the object, which has a type and an address, from the memory of the process of the
 * event being delivered, as it is now: with what is in containers, within
 * cprof_profiler_set_value_limits(). What can't be read is said in the value, which is good
 * until the next call. E_NO_DEBUG_INFO: it has no type. */
CPROF_API cprof_status cprof_object_value(const cprof_object *object, const cprof_value **ret);

#ifdef __cplusplus
}
#endif
#endif
