/* SPDX-License-Identifier: MIT
 *
 * Values that are asked for in the place of all arguments: "node->next->value, length". See
 * chosen.c.
 */
#ifndef CP_INSPECT_CHOSEN_H
#define CP_INSPECT_CHOSEN_H

#include "inspect/inspect.h"

struct cp_chosen;

/* EXPRs with commas between them: arguments by name, members, elements by number, and what
 * pointers lead to. */
CP_ERROR cp_chosen_parse(const char *text, struct cp_chosen **ret);
void cp_chosen_destroy(struct cp_chosen *chosen);
size_t cp_chosen_count(const struct cp_chosen *chosen);
const char *cp_chosen_text(const struct cp_chosen *chosen, size_t index);

/* Why one of them means nothing in the function, or can't be had by what its types tell;
 * NULL: it can. */
CP_ERROR cp_chosen_means(const struct cp_chosen *chosen, size_t index,
			 struct cp_signature *signature);
/* Has the signature tell these, as far as they mean something there, for its arguments, and
 * captures made of what they need; with `arguments`, of what those need, too. */
CP_ERROR cp_signature_choose(struct cp_signature *signature, const struct cp_chosen *chosen,
			     bool arguments);

#endif
