/* SPDX-License-Identifier: MIT
 *
 * What the system's headers declare: types for functions of libraries whose
 * debug information is not there. It is a file of debug information that is
 * made with cprof and installed (declared/make.py): each function that a header
 * declares is described there, with an address that means nothing.
 */
#ifndef CP_INSPECT_DECLARED_H
#define CP_INSPECT_DECLARED_H

#include "inspect/inspect.h"

struct cp_declared;

CP_ERROR cp_declared_open(const char *path, struct cp_declared **ret);
/* Signatures, and types of values, may not be used any more. */
void cp_declared_destroy(struct cp_declared *declared);
/* The file itself, and where in it a symbol (a version or @plt behind it does not
 * count) is described. False: no header declares it. */
struct cp_image *cp_declared_image(const struct cp_declared *declared);
bool cp_declared_find(const struct cp_declared *declared, const char *symbol, struct cp_vaddr *ret);
/* The signature of `symbol`, by its declaration and the calling convention; *ret is
 * NULL when it is not declared. `want` is CP_SIGNATURE_ARGUMENTS |
 * CP_SIGNATURE_RESULT. */
CP_ERROR cp_declared_signature(const struct cp_declared *declared, const char *symbol,
			       unsigned want, const struct cp_value_limits *limits,
			       struct cp_signature **ret);

#endif
