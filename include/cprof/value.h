/* SPDX-License-Identifier: MIT
 *
 * cprof/value.h - values of the program: arguments, results, variables.
 */
#ifndef CPROF_VALUE_H
#define CPROF_VALUE_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_value_kind {
	CPROF_VALUE_ERROR = 0, /* can't be read: see `error`; items: what it points to, where that
				  is known of a pointer that is not */
	/* INT, UINT, FLOAT of times: `symbol` is the unit ("ms"), or the date in UTC, which
	 * begins with a digit; else NULL. */
	CPROF_VALUE_INT, /* signed: u.i */
	CPROF_VALUE_UINT, /* u.u */
	CPROF_VALUE_INT128, /* u.wide, two's complement, low word first */
	CPROF_VALUE_UINT128,
	CPROF_VALUE_BOOL, /* u.u */
	CPROF_VALUE_CHAR, /* a character: u.i */
	CPROF_VALUE_FLOAT, /* u.f */
	CPROF_VALUE_LONG_DOUBLE, /* u.text: its digits, because no double holds it */
	CPROF_VALUE_COMPLEX, /* items: real and imaginary part */
	CPROF_VALUE_ENUM, /* u.i, and `symbol` its name, or names joined by " | "; NULL: none. Of
			     size 0: what could hold something does not, by the word `symbol` */
	CPROF_VALUE_POINTER, /* u.u; items: what it points to, if that was followed;
				`symbol`: the function or variable there, or, of Rust, the
				type that a trait is of. To a member: what it is made of,
				`symbol` the member ("&S::a") or "NULL" */
	CPROF_VALUE_STRING, /* u.text; `address` is where it is */
	CPROF_VALUE_STRUCT, /* items: members and bases. `symbol`: the class that it is a base of,
			       where that was asked for, or NULL */
	CPROF_VALUE_UNION,
	CPROF_VALUE_ARRAY, /* items */
	CPROF_VALUE_RAW, /* u.text: bytes without a type */
	CPROF_VALUE_VOID
} cprof_value_kind;

typedef enum cprof_value_source {
	CPROF_SOURCE_ABI = 0, /* where the calling convention puts it */
	CPROF_SOURCE_DWARF, /* where debug information says it is */
	CPROF_SOURCE_CONST, /* a constant in the debug information */
	CPROF_SOURCE_MEMORY /* read from memory */
} cprof_value_source;

typedef enum cprof_value_error {
	CPROF_VALUE_OK = 0,
	CPROF_VALUE_OPTIMIZED_OUT, /* "optimized_out": not kept anywhere */
	CPROF_VALUE_UNREADABLE, /* "unreadable": `address` can't be read */
	CPROF_VALUE_UNAVAILABLE, /* "unavailable": was not captured, or its type is not supported */
	CPROF_VALUE_CYCLE, /* "cycle": shown further out already */
	CPROF_VALUE_TOO_DEEP, /* "depth": deeper than was asked for */
	CPROF_VALUE_VARIADIC, /* "variadic": any number of arguments that nothing tells of */
	CPROF_VALUE_INCOMPLETE, /* "incomplete": its type is only declared */
	CPROF_VALUE_NOT_CONSTRUCTED, /* "not_constructed": a static of a function not entered yet */
	CPROF_VALUE_NOT_ALLOCATED, /* "not_allocated": a thread's variable that it did not use yet */
	CPROF_VALUE_DESTROYED /* "destroyed": a local variable whose destructor was called */
} cprof_value_error;

/* A value and what it consists of. */
typedef struct cprof_value {
	uint8_t kind; /* cprof_value_kind */
	uint8_t source; /* cprof_value_source */
	uint8_t error; /* cprof_value_error */
	bool cut; /* string or array: there is more of it */
	bool guessed; /* no debug information: raw argument registers */
	uint8_t size; /* bytes of a number */
	bool entry; /* STRUCT: a map's key and value; ARRAY: its items are such */
	bool reference; /* POINTER: of C++, a reference; not of what a recording has */
	uint32_t count; /* of items */
	uint32_t repeats; /* an array's item: how often it stands there in a row; 0 is 1 */
	const char *name; /* of the argument or member; "" none */
	const char *type; /* as C has it; "" unknown */
	const char *symbol; /* see the kinds, or NULL */
	cprof_addr address; /* 0: not in memory */
	union {
		int64_t i;
		uint64_t u;
		double f;
		uint64_t wide[2];
		struct {
			const char *bytes; /* not NUL-terminated */
			uint32_t length;
		} text;
	} u;
	const struct cprof_value *items;
} cprof_value;

#ifdef __cplusplus
}
#endif
#endif
