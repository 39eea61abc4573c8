/* SPDX-License-Identifier: MIT
 *
 * A condition, or an expression, as a tree: condition_parse.c makes it, condition.c
 * and evaluate.c ask it.
 */
#ifndef CP_INSPECT_CONDITION_H
#define CP_INSPECT_CONDITION_H

#include "base/arena.h"
#include "inspect/inspect.h"

enum cp_operator {
	/* Leaves. */
	CP_OP_INTEGER,
	CP_OP_FLOAT,
	CP_OP_TEXT,
	CP_OP_NAME,
	/* a.name, a->name */
	CP_OP_MEMBER,
	/* One operand. */
	CP_OP_NOT,
	CP_OP_INVERT,
	CP_OP_NEGATE,
	CP_OP_PLUS,
	CP_OP_DEREFERENCE,
	/* Two. */
	CP_OP_INDEX,
	CP_OP_MULTIPLY,
	CP_OP_DIVIDE,
	CP_OP_REMAINDER,
	CP_OP_ADD,
	CP_OP_SUBTRACT,
	CP_OP_SHIFT_LEFT,
	CP_OP_SHIFT_RIGHT,
	CP_OP_LESS,
	CP_OP_GREATER,
	CP_OP_LESS_EQUAL,
	CP_OP_GREATER_EQUAL,
	CP_OP_EQUAL,
	CP_OP_UNEQUAL,
	CP_OP_AND,
	CP_OP_XOR,
	CP_OP_OR,
	CP_OP_BOTH,
	CP_OP_EITHER,
	/* Three. */
	CP_OP_CHOOSE,
	/* Of expressions alone: */
	CP_OP_ADDRESS,
	CP_OP_CAST, /* (text)a, {text}a */
	CP_OP_AT,
	CP_OP_SIZEOF, /* of the type `text`, or of a where there is none */
	CP_OP_OFFSETOF, /* of the member a in the type `text` */
	CP_OP_REPEAT, /* a@b */
	CP_OP_RANGE, /* a[b..c] */
	CP_OP_POINTED, /* a.*b, a->*b */
};

struct cp_condition_node {
	uint8_t op; /* enum cp_operator */
	uint32_t length;
	const char *text; /* TEXT, NAME, MEMBER: `length` bytes and a NUL */
	const char *file; /* NAME: that it is declared in, or NULL */
	uint64_t integer; /* MEMBER: 1: `()` is behind it */
	long double number; /* FLOAT: of a type that is as its suffix says, */
	char suffix; /* 'f', 'l' or 0 */
	const struct cp_condition_node *a, *b, *c;
};

#define CP_CONDITION_DEPTH 100 /* of the tree */

struct cp_condition {
	struct cp_arena arena;
	const struct cp_condition_node *root;
};

#endif
