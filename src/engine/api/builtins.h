/* SPDX-License-Identifier: MIT
 *
 * The profilers that are part of cprof. The table is defined by what links the engine
 * (modules/builtins.c).
 */
#ifndef CP_ENGINE_API_BUILTINS_H
#define CP_ENGINE_API_BUILTINS_H

struct cp_builtin {
	const char *name;
	void (*init)(const char *desc);
	const char *summary; /* what it does, for lists */
};

/* Ends with a NULL name. */
extern const struct cp_builtin cp_builtins[];

#endif
