/* SPDX-License-Identifier: MIT
 *
 * Functions and types of an image, out of its debug information.
 *
 * Types are a graph of nodes that live as long as their image and are shared
 * by all who ask. A node knows its kind, size and what it leads to; members
 * and enumerators are its details, read when cp_type_complete() is first
 * called for it. What is read never changes, so that values are made of types
 * without a lock, on any thread. Debug information may lie: a type can lead
 * to itself, sizes can be absurd, members can lie outside.
 */
#ifndef CP_IMAGE_TYPES_H
#define CP_IMAGE_TYPES_H

#include <stdatomic.h>

#include "image/image.h"

enum cp_type_kind {
	CP_TYPE_UNKNOWN, /* could not be read, or of no kind that is known here */
	CP_TYPE_VOID,
	CP_TYPE_INT,
	CP_TYPE_UINT,
	CP_TYPE_BOOL,
	CP_TYPE_CHAR, /* signed: CP_TYPE_SIGNED */
	CP_TYPE_FLOAT,
	CP_TYPE_COMPLEX, /* of two FLOATs of half the size; CP_TYPE_SIGNED: integers */
	CP_TYPE_POINTER,
	CP_TYPE_REFERENCE, /* of C++, both kinds */
	CP_TYPE_MEMBER_POINTER, /* size 16: to a member function */
	CP_TYPE_ENUM, /* target: its integer type, or NULL */
	CP_TYPE_STRUCT,
	CP_TYPE_UNION,
	CP_TYPE_ARRAY, /* one dimension: target is the element */
	CP_TYPE_VECTOR,
	CP_TYPE_FUNCTION, /* target: what it returns */
	CP_TYPE_ALIAS, /* typedef, const, ...: target is what it is */
};

/* Flags of a type. */
#define CP_TYPE_SIGNED 1u
#define CP_TYPE_BINARY128 2u /* FLOAT, COMPLEX: IEEE quadruple parts, not x87's */
#define CP_TYPE_DECLARED 4u /* its definition was not found: no size, no members */
#define CP_TYPE_COUNTED 8u /* ARRAY: `count` is known */
#define CP_TYPE_BY_VALUE 16u /* DW_CC_pass_by_value, ..._by_reference */
#define CP_TYPE_BY_REFERENCE 32u
#define CP_TYPE_BITINT 64u /* _BitInt(N) */
#define CP_TYPE_DECIMAL 128u /* FLOAT: decimal */
#define CP_TYPE_CLASSES 256u /* STRUCT, UNION: of a language with classes */
#define CP_TYPE_UNNAMED 512u
#define CP_TYPE_CLASS 1024u /* STRUCT: declared as a class */
#define CP_TYPE_BFLOAT 2048u /* FLOAT of two bytes: the upper half of a float, not IEEE's half */
#define CP_TYPE_ASKED 4096u /* ARRAY: elements asked for, so characters behind a NUL, too */

/* The location of a number, or an expression that makes it. */
struct cp_type_bound;

struct cp_type {
	uint8_t kind; /* enum cp_type_kind */
	uint16_t flags;
	uint16_t language; /* DW_LANG_* of its unit */
	uint32_t align; /* said explicitly, or 0 */
	uint64_t size; /* bytes; 0 also when unknown */
	uint64_t count; /* ARRAY, VECTOR: elements */
	const char *name; /* or NULL */
	const char *text; /* as C has it: "const char *" */
	uint32_t split; /* where in the text a declared name goes: "int (*" | ")(void)" */
	const struct cp_type *target; /* or NULL: void, for those that have one */
	const struct cp_type *containing; /* MEMBER_POINTER: the class; or NULL */
	_Atomic(const struct cp_type_details *) details; /* NULL: not read yet */
	_Atomic(const struct cp_type *) definition; /* of one that is DECLARED, once found */
	_Atomic uint16_t shape; /* what was found for it once (inspect/shapes.c); 0: not asked */
	struct cp_unit *unit; /* where it comes from: for the reader */
	uint64_t die;
	/* ARRAY whose count a frame tells: NULL, or what does. */
	const struct cp_type_bound *bound;
};

#define CP_MEMBER_BASE 1u /* a base class: the name is its type's */
#define CP_MEMBER_VIRTUAL 2u /* a virtual base: each object says where it is; `below` */
#define CP_MEMBER_BITS 4u /* a bit-field: `bit_offset`, `bit_size` */
#define CP_MEMBER_ARTIFICIAL 8u /* the compiler's: _vptr */

struct cp_type_member {
	const char *name; /* "" none */
	const struct cp_type *type;
	uint64_t offset; /* bytes; of a bit-field: of the byte it begins in */
	union {
		struct {
			uint16_t bit_offset; /* 0 to 7, from the lowest bit there */
			uint16_t bit_size;
		};
		/* VIRTUAL: how far below where the object's first word points to its offset is,
		 * of 8 bytes; 0: not told. */
		uint32_t below;
	};
	uint32_t flags; /* CP_MEMBER_* */
};

struct cp_type_enumerator {
	const char *name;
	int64_t value;
};

/* A virtual function that a class declares. */
struct cp_type_method {
	const char *linkage; /* or NULL: what it is called with its parameters */
	const char *name;
	uint64_t slot; /* of the vtable */
};

/* A form that a Rust enum can have. */
struct cp_type_variant {
	bool otherwise; /* for every other value of the discriminant */
	uint64_t value;
	struct cp_type_member member;
};

#define CP_DETAILS_NONTRIVIAL 1u /* of itself: user's copy or move constructor, destructor */
#define CP_DETAILS_VIRTUAL 2u /* has virtual functions or a vptr */
#define CP_DETAILS_CUT 4u /* has more members than are read */
#define CP_DETAILS_DESTRUCTOR 8u /* of itself, the user's; not its members' and bases' */

struct cp_type_details {
	const struct cp_type_member *members;
	const struct cp_type_enumerator *enumerators;
	const struct cp_type_variant *variants;
	const struct cp_type_method *methods; /* the virtual ones, as far as their slots are told */
	const struct cp_type_member *discriminant; /* of the variants, or NULL: there is only one */
	uint32_t member_count, enumerator_count, variant_count, method_count;
	uint32_t flags; /* CP_DETAILS_* */
};

/* Through typedefs and qualifiers, and to the definition of what is declared
 * when that was found; never NULL unless `type` is. */
const struct cp_type *cp_type_strip(const struct cp_type *type);
/* Reads the details of a struct, union or enum, if nobody has yet. A
 * declaration's are those of its definition in another unit, where there is
 * one: then the definition is the answer, else `type`. */
const struct cp_type *cp_type_complete(struct cp_image *image, const struct cp_type *type);
/* The image whose debug information has the type; NULL: none has, it was made. */
struct cp_image *cp_type_image(const struct cp_type *type);
/* NULL: not read (yet). */
static inline const struct cp_type_details *cp_type_details(const struct cp_type *type)
{
	return atomic_load_explicit(&type->details, memory_order_acquire);
}

/* The location of something: an expression for a range of link-time addresses. */
struct cp_location {
	uint64_t low, high; /* 0, UINT64_MAX: everywhere */
	const uint8_t *expr; /* see image/location.h */
	uint32_t size;
};
struct cp_locations {
	const struct cp_location *items;
	uint32_t count;
};

/* Link-time addresses, and more of them. */
struct cp_extent {
	uint64_t low, high; /* high not included */
	const struct cp_extent *next;
};

/* What tells how many elements an array has: the number at a location in the frame that the
 * array is of, or of a variable there. */
struct cp_type_bound {
	struct cp_locations locations; /* none: see `variable` */
	uint64_t variable; /* cp_variable.die of a local */
	int64_t add; /* to that number, which may be the last index */
};

/* The location that goes for link-time address `pc`; NULL: none does. */
static inline const struct cp_location *cp_location_at(const struct cp_locations *list, uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if (pc >= list->items[i].low && pc < list->items[i].high)
			return &list->items[i];
	return NULL;
}

struct cp_variable {
	const char *name; /* "" none */
	const struct cp_type *type;
	bool artificial; /* `this`, and what else the compiler adds */
	bool constant;
	const uint8_t *value; /* constant: `value_size` bytes */
	uint32_t value_size;
	struct cp_locations locations; /* none: optimised out */
	const struct cp_extent *scope; /* locals: their block's; NULL: everywhere */
	uint64_t die; /* tells variables apart */
	uint32_t line; /* where it is declared; 0: not told */
};

#define CP_FUNCTION_PROTOTYPED 1u
#define CP_FUNCTION_EXTERNAL 2u
#define CP_FUNCTION_NOCALL 4u /* DW_CC_nocall: not called as others are */
#define CP_FUNCTION_VARIADIC 8u
#define CP_FUNCTION_SPARING 64u /* who calls it need not pass what it does not use (LLVM) */
#define CP_FUNCTION_UNMARKED 32u /* NOCALL is not told, be it so (rustc before 1.65) */
#define CP_FUNCTION_SPLIT_INT128 16u /* __int128 goes as two longs (clang before 18) */

struct cp_function_info {
	const char *name; /* or NULL */
	uint16_t language; /* DW_LANG_* */
	uint16_t flags; /* CP_FUNCTION_* */
	uint64_t low; /* the entry */
	const struct cp_type *result; /* NULL: void */
	struct cp_variable *parameters, *locals, *statics; /* statics: with a fixed place */
	uint32_t parameter_count, local_count, static_count;
	struct cp_locations frame_base;
};

struct cp_arena;
/* The function whose entry is at `address`. What is read lives in `arena` (and
 * types and names in the image). False: there is no debug information for
 * it. Reads debug information: may be slow at first. */
bool cp_image_function(struct cp_image *image, struct cp_vaddr address, struct cp_arena *arena,
		       struct cp_function_info *ret);
/* The same of frame `level` of those that cp_image_frames() has for `at`: of an
 * inlined call, in the frame of the function that it is in. */
bool cp_image_frame_function(struct cp_image *image, struct cp_vaddr at, size_t level,
			     struct cp_arena *arena, struct cp_function_info *ret);
/* What a pointer leads to whose place is CP_LOCATED_IMPLIED (image/location.h), and how many
 * bytes into that; `implied` is the place's bytes. As above; the type of it may be NULL. */
bool cp_image_implied(struct cp_image *image, const uint8_t *implied, struct cp_arena *arena,
		      struct cp_variable *ret, int64_t *offset_ret);
/* The end of the prologue of the function at `entry`, by the line table: the
 * function's second row; 0: not known. */
uint64_t cp_image_prologue_end(struct cp_image *image, struct cp_vaddr entry);
/* Is it a local variable that the source has, at `pc`? */
bool cp_variable_in_scope(const struct cp_variable *variable, uint64_t pc);

#define CP_LANGUAGE_CPLUSPLUS 0x04
#define CP_LANGUAGE_RUST 0x1c
#define CP_LANGUAGE_ASSEMBLER 0x8001
bool cp_language_is_c(uint16_t language); /* C in one of its editions, or unknown */
bool cp_language_is_cplusplus(uint16_t language);

#endif
