/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share: signatures, the plan of what a stop has
 * to read, and making values.
 */
#ifndef CP_INSPECT_INTERNAL_H
#define CP_INSPECT_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "image/location.h"
#include "inspect/inspect.h"
#include "inspect/place.h"

#define CP_VALUE_DEPTH 64 /* of any nesting, whatever the limits say */

struct cp_parameter {
	const char *name;
	const struct cp_type *type; /* NULL: a raw register */
	uint8_t source; /* cprof_value_source */
	bool guessed;
	struct cp_place place;
};

struct cp_fetches {
	CP_VEC(struct cp_fetch) list; /* by level */
};

/* What is captured at one exit, because locals are there that are not
 * elsewhere. */
struct cp_exit {
	uint64_t site;
	struct cp_fetches fetches;
	unsigned flags; /* CP_SITE_* */
	struct cp_parameter *locals;
	size_t local_count;
};

struct cp_signature {
	struct cp_arena arena;
	struct cp_image *image; /* borrowed */
	const struct cp_arch *arch;
	const struct cp_convention *convention; /* NULL: none is known */
	struct cp_value_limits limits;
	struct cp_function_info function;
	bool described; /* there is debug information */
	unsigned want; /* CP_SIGNATURE_* */
	struct cp_parameter *parameters;
	size_t parameter_count;
	struct cp_parameter result; /* type NULL: void */
	bool has_result;
	struct cp_fetches entry, exit;
	unsigned entry_flags, exit_flags; /* CP_SITE_* */
	CP_VEC(struct cp_exit *) exits; /* made when first asked for */
};

/* Nothing but its image and limits; NULL without memory. */
struct cp_signature *cp_signature_new(struct cp_image *image, const struct cp_value_limits *limits);

struct cp_value_arena {
	struct cp_arena memory;
	struct cp_decoder *decoder; /* owned; made when first needed */
};

/* ---- locate.c ---- */

/* Where a COMPUTED piece is, or what, with the registers that were captured. */
enum cp_location_status cp_locate_now(const struct cp_piece *piece,
				      const struct cp_capture *capture,
				      struct cp_located *parts_ret /* CP_LOCATED_MAX */,
				      size_t *count_ret);
/* Would it be known, were the registers of the entry? */
bool cp_locate_lacks_entry(const struct cp_piece *piece, const struct cp_capture *capture);
/* Where debug information says that `v` is at link-time `pc`, where the
 * canonical frame address is the stack pointer + `cfa_offset`. */
void cp_locate(const struct cp_signature *signature, const struct cp_variable *v, uint64_t pc,
	       int64_t cfa_offset, struct cp_place *ret);

/* Do members of a value have bytes from `at` up to `end`, or is that padding? */
bool cp_type_has_bytes(const struct cp_type *type, uint64_t at, uint64_t end);

/* ---- stored.c ---- */

/* Where debug information has parameters at the entry, or what the code stores first
 * where it has them later; `rest`: only those whose place is not known. */
struct cp_error *cp_signature_place_by_code(struct cp_signature *signature, bool rest);

/* ---- rust.c ---- */

/* Where a function of Rust has what it takes and gives. */
struct cp_error *cp_rust_place(struct cp_signature *signature);

/* ---- signature.c ---- */

void cp_signature_set_constant(struct cp_parameter *p, const struct cp_variable *v);
/* Is what is said of `v` so before the first instruction, too? */
bool cp_signature_needs_no_frame(const struct cp_signature *signature, const struct cp_variable *v,
				 const struct cp_place *said);

/* ---- plan.c: what a stop has to read ---- */

/* Adds to `to` what `parameter` needs, and sets the CP_SITE_* flags. Reads
 * details of types. False without memory. */
bool cp_plan_parameter(const struct cp_signature *signature, struct cp_image *image,
		       const struct cp_parameter *parameter, struct cp_fetches *to,
		       unsigned *flags);
/* Adds one fetch; its number, or -1 where there is no room. */
int cp_plan_fetch(const struct cp_signature *signature, struct cp_fetches *to, struct cp_fetch f);
/* Orders the fetches by level. */
bool cp_plan_finish(struct cp_fetches *fetches);
/* The type of characters that a pointer or array of `type` is text of; NULL:
 * it is no text. */
const struct cp_type *cp_type_characters(const struct cp_type *type);
/* True when characters of this type are for reading, not small numbers. */
bool cp_type_is_character(const struct cp_type *type);

/* A struct of C whose name and members are reserved, as those of FILE: what it holds
 * is the C library's own business. */
bool cp_type_is_reserved(const struct cp_type *type);

/* ---- variadic.c: what is behind the ... of printf and its like ---- */

#define CP_VARIADIC_MAX 33
/* Of the family: a format tells what there is. */
bool cp_variadic_is_told(const struct cp_signature *signature);
/* Adds what the stop at the entry needs. False without memory. */
bool cp_variadic_plan(struct cp_signature *signature);
struct cp_value_request;
/* Up to CP_VARIADIC_MAX values; where nobody can tell all of them, the last one says
 * so. */
size_t cp_variadic_values(const struct cp_value_request *request, cprof_value *ret);

/* ---- shapes.c: library types that read as what they stand for ---- */

enum cp_shape_kind {
	CP_SHAPE_TEXT, /* `length` bytes at `pointer` */
	CP_SHAPE_LIST, /* elements there */
	CP_SHAPE_POINTER, /* it is its pointer */
	CP_SHAPE_OPTIONAL, /* `pointer` is where the value is, `length` whether it is */
	CP_SHAPE_COUNT, /* only how many elements there are is shown */
};

struct cp_shape {
	enum cp_shape_kind kind;
	bool ended; /* LIST: `length` is a pointer to the end */
	bool terminated; /* TEXT: with a NUL behind it */
	uint64_t pointer, length; /* offsets in the value */
	const struct cp_type *type; /* of what is at `pointer` */
};
/* `image` reads what was not read of the types yet; NULL: don't. */
bool cp_shape_of(struct cp_image *image, const struct cp_type *t, struct cp_shape *ret);

/* ---- value.c ---- */

/* Where the bytes of a value were found. */
struct cp_value_request {
	const struct cp_signature *signature;
	const struct cp_capture *capture;
	struct cp_value_arena *arena;
};
void cp_value_of_parameter(const struct cp_value_request *request,
			   const struct cp_parameter *parameter, cprof_value *ret);
/* The bytes of a parameter, in the arena; *error_ret and *address_ret (0: in
 * registers) tell why not and where. */
const uint8_t *cp_parameter_bytes(const struct cp_value_request *request,
				  const struct cp_parameter *parameter, size_t *size_ret,
				  uint64_t *address_ret, uint8_t *error_ret);

#endif
