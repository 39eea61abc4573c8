/* SPDX-License-Identifier: MIT
 *
 * Values: where arguments, results and locals are, what types they have, how
 * they read. Three steps, so that a stop costs little:
 *
 *     signature   once for a function: parameters, classes, what to fetch
 *     capture     at each stop, by the tracer: registers and those fetches
 *     values      in the controller: the capture as a tree (cprof/value.h)
 *
 * At a function's first instruction the calling convention tells where
 * arguments are; debug information is often wrong there (-O0: stack slots not
 * yet written). The rule, and when debug information wins nevertheless, is in
 * read.c.
 */
#ifndef CP_INSPECT_INSPECT_H
#define CP_INSPECT_INSPECT_H

#include <cprof/value.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "base/error.h"
#include "image/image.h"
#include "link/sites.h"

struct cp_shape_ops;
/* Limits to how far values are followed, and how much of them is shown. */
struct cp_value_limits {
	uint32_t depth; /* levels of structs, arrays and pointers (3) */
	uint32_t pointers; /* pointers followed in a row (1) */
	uint32_t string; /* bytes of a string (200) */
	uint32_t elements; /* of an array (64) */
	uint32_t value; /* bytes of one value (4096) */
	uint32_t total; /* bytes fetched for one event (65536) */
	/* How stops read what declarations are evaluated for; NULL: they don't. */
	const struct cp_shape_ops *shapes;
};
extern const struct cp_value_limits cp_value_limits_default;
/* How many pointers in a row go with so many levels: one by default, and where more levels
 * are asked for as many as they have room for. */
static inline uint32_t cp_value_limits_pointers(uint32_t depth)
{
	return depth > 3 ? depth : 1;
}

/* The usual ones, but for levels and bytes of a string where they are not 0. */
struct cp_value_limits cp_value_limits_of(uint32_t depth, uint32_t string);

#define CP_SIGNATURE_ARGUMENTS 1u
#define CP_SIGNATURE_RESULT 2u
#define CP_SIGNATURE_LOCALS 4u

/* A function's arguments, result and locals. A signature lives as long as its image. */
struct cp_signature;

/* `address` is the link-time one of the function's entry; `local` and `clone`:
 * the compiler may have changed its convention (values.md). A function
 * without debug information gets a signature, too: raw argument registers.
 * `want` is CP_SIGNATURE_*. */
CP_ERROR cp_signature_read(struct cp_image *image, struct cp_vaddr address,
			   const char *linkage_name, bool local, bool clone, unsigned want,
			   const struct cp_value_limits *limits, struct cp_signature **ret);
/* Reads a signature off a mangled name, where that tells enough (image/mangled.h);
 * else *ret is NULL. */
CP_ERROR cp_signature_read_mangled(struct cp_image *image, const char *linkage_name, unsigned want,
				   const struct cp_value_limits *limits, struct cp_signature **ret);
/* Reads the signature of a function that is called from elsewhere: by the calling
 * convention alone. `image` describes it at `address`, which need not be where its
 * code is. */
CP_ERROR cp_signature_read_declared(struct cp_image *image, struct cp_vaddr address, unsigned want,
				    const struct cp_value_limits *limits,
				    struct cp_signature **ret);
/* Reads a signature for cp_frame_values() alone at `at`, of the function or inlined
 * call that is frame `level` of cp_image_frames(). */
CP_ERROR cp_signature_read_frame(struct cp_image *image, struct cp_vaddr at, size_t level,
				 const struct cp_value_limits *limits, struct cp_signature **ret);
void cp_signature_destroy(struct cp_signature *signature);

/* A site's flags, CP_SITE_REGS | CP_SITE_VECTOR, and fetches (borrowed from the
 * signature). */
struct cp_capture_list {
	unsigned site_flags;
	const struct cp_fetch *fetches;
	size_t fetch_count;
	/* Values hold elements in nodes, or are too many: all of them can be had while the
	 * thread stands. */
	bool beyond;
};
struct cp_capture_list cp_signature_at_entry(const struct cp_signature *signature);
/* What to capture at the `ret` or tail jump at link-time `site` (locals differ by
 * place). */
struct cp_capture_list cp_signature_at_exit(const struct cp_signature *signature,
					    struct cp_vaddr site);

/* The registers that values are made of at the entry, or (`leave`) of the result. */
struct cp_uses {
	uint64_t general; /* bit n: the register with DWARF's number n */
	uint16_t vectors; /* bit n: the low 16 bytes of the nth */
	bool x87; /* the register on top of that unit's stack */
	bool others; /* and such as can't be named */
};
struct cp_uses cp_signature_uses(const struct cp_signature *signature, bool leave);

/* Is the result where the first register of arguments leads at the entry
 * (CP_GROUP_KEEPS)? */
bool cp_signature_result_is_kept(const struct cp_signature *signature);

struct cp_shapes;
/* A capture, as it came in an event. */
struct cp_capture {
	struct cp_regs regs; /* regs.known 0: not captured */
	const struct cp_hit_vector *vector; /* NULL: not captured */
	const uint8_t *fetched; /* struct cp_fetched and bytes, one after the other */
	size_t fetched_size;
	const struct cp_fetch *fetches; /* the list that it was captured by */
	size_t fetch_count;
	const struct cp_reader *memory; /* of a thread that stands still, or a stack copy; NULL */
	/* Declarations of types to read by, wherever that leads to in memory; NULL: those
	 * parts of the shipped ones that types alone tell. Debug information may be read. */
	const struct cp_shapes *shapes;
	bool memory_is_copy; /* what it does not have may still be readable */
	uint64_t bias; /* of the function's image */
	/* Registers when the function was entered, as far as that is known; NULL: not. */
	const struct cp_regs *entry;
	const struct cp_passed *passed; /* by the caller, or NULL; borrowed, as `entry` */
	/* Names an address of the program, for function pointers: [cb] or NULL. */
	const char *(*symbol)(void *ctx, uint64_t address);
	void *symbol_ctx;
};

/* Memory for values; freed or reused all at once. */
struct cp_value_arena;
struct cp_value_arena *cp_value_arena_create(void);
void cp_value_arena_reset(struct cp_value_arena *arena);
void cp_value_arena_destroy(struct cp_value_arena *arena);

/* Turns a capture of an entry into one of later: the arguments as they were
 * passed, what they lead to as `memory` has it. Its `fetched` is the arena's. */
void cp_capture_later(struct cp_capture *capture, const struct cp_reader *memory,
		      struct cp_value_arena *arena);

/* The arguments (`this` first), the result (NULL: void, or not told), the
 * locals. Values live until the arena is reset. Never NULL items: what can't
 * be had is a value of kind ERROR. Without memory: fewer. */
const cprof_value *cp_signature_arguments(const struct cp_signature *signature,
					  const struct cp_capture *capture,
					  struct cp_value_arena *arena, size_t *count_ret);
/* The same, or what was chosen to be told for them (chosen.h). */
const cprof_value *cp_signature_shown(const struct cp_signature *signature,
				      const struct cp_capture *capture,
				      struct cp_value_arena *arena, size_t *count_ret);
/* `entry` is what was captured when the function was entered (may be NULL). */
const cprof_value *cp_signature_result(const struct cp_signature *signature,
				       const struct cp_capture *entry,
				       const struct cp_capture *capture,
				       struct cp_value_arena *arena);
const cprof_value *cp_signature_locals(const struct cp_signature *signature,
				       const struct cp_capture *capture, struct cp_vaddr site,
				       struct cp_value_arena *arena, size_t *count_ret);
bool cp_signature_has_this(const struct cp_signature *signature);
/* Names of parameters; NULL: there is no such one. */
size_t cp_signature_named_count(const struct cp_signature *signature);
const char *cp_signature_name(const struct cp_signature *signature, size_t position);
/* The type of a parameter, or (-1) of the result; NULL: void, or not known. */
const struct cp_type *cp_signature_type(const struct cp_signature *signature, int position);
/* Bytes from the return address to the end of the arguments that are passed on the stack; 0:
 * none are, or that is not known. */
uint32_t cp_signature_pushed(const struct cp_signature *signature);
bool cp_signature_is_described(const struct cp_signature *signature); /* debug information */
/* Are there arguments that debug information says too little of (transparent unions)? */
bool cp_signature_is_vague(const struct cp_signature *signature);
bool cp_signature_is_variadic(const struct cp_signature *signature);
/* Passed by a pointer that the source does not show; position as below. */
bool cp_signature_is_indirect(const struct cp_signature *signature, int position);
struct cp_value_bytes {
	const uint8_t *at;
	size_t size;
	uint64_t address; /* 0: in registers */
};
/* An argument at two times, whose bytes are its `own`: is what it leads to known both times,
 * and not the same? Not of what is in memory itself. */
bool cp_value_leads_elsewhere(const cprof_value *before, const cprof_value *now,
			      const struct cp_value_bytes *own);
/* Bytes of an argument or the result as they were captured, in the arena;
 * false: not there. */
bool cp_signature_bytes(const struct cp_signature *signature, const struct cp_capture *capture,
			int position /* -1: the result */, struct cp_value_arena *arena,
			struct cp_value_bytes *ret);
/* The same of a local at an exit. */
bool cp_signature_local_bytes(const struct cp_signature *signature,
			      const struct cp_capture *capture, struct cp_vaddr site,
			      size_t position, struct cp_value_arena *arena,
			      struct cp_value_bytes *ret);

/* ---- frame.c: variables in the middle of a function ---- */

/* A frame that called, or was interrupted: where debug information says that
 * its variables are. capture->regs has what is known of its registers, the
 * stack pointer among them; capture->memory reads its stack. */
struct cp_value_frame {
	struct cp_vaddr pc; /* of a return address: within the call */
	int64_t cfa_offset; /* canonical frame address - stack pointer */
	bool locals; /* else arguments */
};
const cprof_value *cp_frame_values(const struct cp_signature *signature,
				   const struct cp_capture *capture,
				   const struct cp_value_frame *frame, struct cp_value_arena *arena,
				   size_t *count_ret);
bool cp_frame_bytes(const struct cp_signature *signature, const struct cp_capture *capture,
		    const struct cp_value_frame *frame, size_t position,
		    struct cp_value_arena *arena, struct cp_value_bytes *ret);

/* ---- copy.c ---- */

/* A copy of all of a value, one block to be free()d; NULL without memory.
 * Names and types live as long as the image. */
cprof_value *cp_value_copy(const cprof_value *value);

/* ---- conditions ---- */

/* EXPR of --when: C operators over the arguments by name, members, array
 * elements, "strings", characters, numbers, enumerators. How it is decided for calls of a
 * function says condition_way.h. */
struct cp_condition;
CP_ERROR cp_condition_parse(const char *text, struct cp_condition **ret);
void cp_condition_destroy(struct cp_condition *condition);
/* EXPR of inspect: the same over variables, with casts, addresses and more (thing.h). */
CP_ERROR cp_expression_parse(const char *text, struct cp_condition **ret);
/* The first name in it that must be an argument's and that `has` does not have;
 * NULL: there is none. Not those that may be an enumerator's. */
const char *cp_condition_missing(const struct cp_condition *condition,
				 bool (*has)(void *ctx, const char *name), void *ctx);
/* How many pointers in a row it follows at most: values have to go as far. `is_member`: of
 * what `this` points to; NULL: nothing is. */
unsigned cp_condition_steps(const struct cp_condition *condition,
			    bool (*is_member)(void *ctx, const char *name), void *ctx);
enum cp_truth { CP_FALSE, CP_TRUE, CP_UNKNOWN /* names something that isn't there */ };
enum cp_truth cp_condition_holds(const struct cp_condition *condition, const cprof_value *arguments,
				 size_t count);

/* The condition as tests that a detour can make, all of which have to hold; how many, or
 * -1: not all of it can be decided so. */
int cp_condition_tests(const struct cp_condition *condition, const struct cp_signature *signature,
		       struct cp_detour_test ret[CP_DETOUR_TESTS]);

/* ---- print.c: values as people and machines read them ---- */

struct cp_value_style {
	bool escape_terminal; /* control characters never pass, whatever this says */
	uint32_t width; /* cut texts longer than that, 0: never */
	uint32_t depth; /* levels that are shown, 0: all */
	bool addresses; /* pointers with what they point to: 0x55d0… -> {x=3} */
};
/* Prints a value as a C programmer reads it: {x=3, y=4}, "host", 0x7f…, <optimized
 * out>. */
bool cp_value_is_form(const cprof_value *value); /* `Some(5)` of Rust */
void cp_value_print(struct cp_buf *out, const cprof_value *value,
		    const struct cp_value_style *style);
/* The same in lines of up to `columns` (0: any), the ones that go on indented by four;
 * `used` columns of the first are taken. */
void cp_value_print_lines(struct cp_buf *out, const cprof_value *value,
			  const struct cp_value_style *style, unsigned columns, size_t used);
/* The JSON that stands for `value`: numbers, strings, objects, arrays, null;
 * 64-bit integers beyond 2^53 and non-finite floats are strings. */
void cp_value_json(struct cp_buf *out, const cprof_value *value);
/* The same; pointers are addresses, whatever was found there. */
void cp_value_json_addresses(struct cp_buf *out, const cprof_value *value);
/* What of it is null or not whole in the JSON of either, and why, as an array; nothing: all
 * is there, or nothing of it, as its own error says. */
void cp_value_json_lacks(struct cp_buf *out, const cprof_value *value);
void cp_value_json_addresses_lacks(struct cp_buf *out, const cprof_value *value);
/* The word for an error, as in JSON ("optimized_out"); "" for none. */
const char *cp_value_error_name(unsigned error);
const char *cp_value_source_name(unsigned source);

#endif
