/* SPDX-License-Identifier: MIT
 *
 * What a condition needs: names, and how far values go.
 */
#include <string.h>

#include "base/text.h"
#include "inspect/condition.h"

struct needing {
	bool (*has)(void *ctx, const char *name);
	void *ctx;
};

static bool is_there(const struct needing *n, const struct cp_condition_node *node)
{
	static const char *const words[] = { "NULL", "nullptr", "true", "false", NULL };

	return cp_is_any(node->text, words) || n->has(n->ctx, node->text);
}

/* `name` beside `other`, of which one may be an enumerator's name: never beside a
 * number or a text, and not both. */
static bool may_be_enumerator(const struct needing *n, const struct cp_condition_node *name,
			      const struct cp_condition_node *other)
{
	if (name->op != CP_OP_NAME || other->op == CP_OP_INTEGER || other->op == CP_OP_FLOAT ||
	    other->op == CP_OP_TEXT)
		return false;
	return other->op != CP_OP_NAME || is_there(n, other);
}

static const char *missing(const struct needing *n, const struct cp_condition_node *node)
{
	bool compares = node && (node->op == CP_OP_EQUAL || node->op == CP_OP_UNEQUAL ||
				 node->op == CP_OP_AND);
	const char *found = NULL;

	if (!node || node->op == CP_OP_OFFSETOF)
		return NULL;
	if (node->op == CP_OP_NAME)
		return node->file || strstr(node->text, "::") || is_there(n, node) ? NULL
										   : node->text;
	/* Keys may be enumerators, too. */
	if (node->op == CP_OP_INDEX && node->b->op == CP_OP_NAME)
		return missing(n, node->a);
	if (!compares || !may_be_enumerator(n, node->a, node->b))
		found = missing(n, node->a);
	if (!found && (!compares || !may_be_enumerator(n, node->b, node->a)))
		found = missing(n, node->b);
	return found ? found : missing(n, node->c);
}

const char *cp_condition_missing(const struct cp_condition *condition,
				 bool (*has)(void *ctx, const char *name), void *ctx)
{
	const struct needing n = { has, ctx };

	return missing(&n, condition->root);
}

/* A member may be of a structure that is there: then it is one too many. A method's own
 * members are behind `this`. */
static unsigned steps(const struct needing *n, const struct cp_condition_node *node)
{
	unsigned most = 0, of[3], i;
	bool follows;

	if (!node)
		return 0;
	follows = node->op == CP_OP_MEMBER || node->op == CP_OP_INDEX ||
		  node->op == CP_OP_DEREFERENCE ||
		  (node->op == CP_OP_NAME && n->has && n->has(n->ctx, node->text));
	of[0] = steps(n, node->a) + follows;
	of[1] = steps(n, node->b);
	of[2] = steps(n, node->c);
	for (i = 0; i < 3; i++)
		most = of[i] > most ? of[i] : most;
	return most;
}

unsigned cp_condition_steps(const struct cp_condition *condition,
			    bool (*is_member)(void *ctx, const char *name), void *ctx)
{
	const struct needing n = { is_member, ctx };

	return steps(&n, condition->root);
}
