/* SPDX-License-Identifier: MIT
 *
 * What declarations say of a value, with the program's memory at hand: see shape_terms.c.
 */
#ifndef CP_INSPECT_SHAPE_TERMS_H
#define CP_INSPECT_SHAPE_TERMS_H

#include "inspect/build.h"
#include "inspect/condition.h"
#include "inspect/shapes.h"
#include "inspect/thing.h"

/* A value that a declaration is read for. */
struct cp_shape_scope {
	const struct cp_expression_env *outer; /* whose memory, limits and arenas are used */
	struct cp_expression_env env; /* in which terms are evaluated */
	const struct cp_shapes *shapes; /* or NULL */
	const struct cp_shape_row *row;
	struct cp_condition *parsed[CP_TERMS]; /* once they were needed */
	struct cp_thing self;
	struct cp_thing focus; /* whose members names are first: a node, a pair; type NULL: none */
	struct cp_thing node; /* $node: a pointer to it; type NULL: there is none */
	uint64_t index; /* $i */
	bool endless; /* how many elements there are is not known */
	/* What is forgotten from one element to the next, while `env` makes it here: */
	struct cp_arena step;
	struct cp_value_arena *values; /* owned */
	uint8_t node_address[8];
};

/* `outer`, `shapes` and `row` are borrowed. False without memory. */
bool cp_shape_scope_init(struct cp_shape_scope *scope, const struct cp_expression_env *outer,
			 const struct cp_shapes *shapes, const struct cp_shape_row *row,
			 const struct cp_thing *self);
void cp_shape_scope_deinit(struct cp_shape_scope *scope);
/* What terms are evaluated to lives as long as the value (false), or up to
 * cp_shape_scope_forget(). */
void cp_shape_scope_by_step(struct cp_shape_scope *scope, bool by_step);
void cp_shape_scope_forget(struct cp_shape_scope *scope);
/* The node at `address` is what names are members of, and $node. */
void cp_shape_scope_enter(struct cp_shape_scope *scope, const struct cp_type *pointer,
			  uint64_t address);

/* What a term stands for. CP_ERR_NOT_FOUND, CP_ERR_USAGE: the value is not as the
 * declaration has it; what memory can't give is an error of the thing. */
CP_ERROR cp_shape_term(struct cp_shape_scope *scope, enum cp_shape_term term, struct cp_thing *ret);
/* The same, of a term that is an integer or an address. */
CP_ERROR cp_shape_number(struct cp_shape_scope *scope, enum cp_shape_term term, int64_t *ret,
			 struct cp_thing *thing_ret);
/* The type that a term names: "$1", an argument of the value's template; "$member$2", of
 * that of a member. */
CP_ERROR cp_shape_type(struct cp_shape_scope *scope, const char *name, const struct cp_type **ret);
/* Argument `number`, from 0 on, of the value's template. */
bool cp_shape_argument(struct cp_shape_scope *scope, const struct cp_type *of, uint64_t number,
		       const struct cp_type **ret);

#endif
