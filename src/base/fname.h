/* SPDX-License-Identifier: MIT
 *
 * Demangled names of functions: what a name begins with before it is one. Templates say
 * what they return:
 *
 *     void std::vector<int>::push_back(int)
 *     decltype (::new ((void*)(0)) int()) std::construct_at<int>(int*)
 *     int (*pick<int>(int))(char)
 */
#ifndef CP_BASE_FNAME_H
#define CP_BASE_FNAME_H

#include <stddef.h>

/* The offset of the name itself, behind the type that it returns; 0: it says none. What
 * libiberty says in words ("vtable for X") goes, too. */
size_t cp_fname_begin(const char *name);

/* Length of "operator<<", "operator()", "operator bool" at the beginning of what is a part
 * of a name; 0: it is something else. `before`: the character before it; 0: none. */
size_t cp_fname_operator(const char *at, char before);

/* Behind the bracket that closes the one at `at`; NULL: none does. */
const char *cp_fname_closing(const char *at);

#endif
