/* SPDX-License-Identifier: MIT
 *
 * How names and types are written in expressions.
 */
#ifndef CP_INSPECT_SPELLING_H
#define CP_INSPECT_SPELLING_H

#include <stdbool.h>

/* Behind the name that begins at `at`, with all that it is in: a, ::a, ns::A<int>::b,
 * f(int)::c, (anonymous namespace)::d; `at` itself where none does. */
const char *cp_spelling_name(const char *at);
/* Is it a name with something that it is in? */
bool cp_spelling_is_path(const char *at);
/* Behind the type that begins at `at`; NULL: nothing like one does. *certain_ret: it
 * can be nothing else. */
const char *cp_spelling_type(const char *at, bool *certain_ret);
/* Does a declarator in brackets begin at `at`: `(*)[4]`, `(&)[4]`? */
bool cp_spelling_declares(const char *at);
/* Behind the bracket, `(` or `[`, at `at`; NULL: nothing closes it. */
const char *cp_spelling_bracket(const char *at);

#endif
