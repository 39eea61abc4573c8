/* SPDX-License-Identifier: MIT
 *
 * Static variables of a process by their names: see variables.c. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_VARIABLES_H
#define CP_ENGINE_TARGET_VARIABLES_H

#include <cprof/cprof.h>

#include "inspect/thing.h"

struct cp_global;
struct cp_outer_name;
struct cp_signature;
struct engine_variables;
/* A static variable, which lives as long as its object. */
struct engine_static {
	const cprof_image *image;
	const struct cp_global *global;
};

/* The variable of that name, declared in `file` (NULL: any), in `image` or (NULL) the first
 * image of the process that has it. False: there is none. */
bool engine_find_static(cprof_process *p, const cprof_image *image, const char *name,
			const char *file, struct engine_static *ret);
/* Where it is, for that thread. */
struct cp_thing engine_static_thing(cprof_process *p, const struct engine_static *found,
				    int32_t tid, struct cp_arena *arena);
/* The place of a variable that only a symbol tells of: without a type. */
bool engine_find_symbol(const cprof_process *p, const char *name, struct cp_thing *ret);
/* What a name outside of functions is in an object: a variable, a function, an enumerator;
 * in `function` (its linkage name; or NULL) first one of what that is in. NULL: nothing. It
 * lives as long as the object. */
const struct cp_outer_name *engine_outer_name(cprof_assembly *assembly, const char *function,
					      const char *name, const char *file);
/* The same, in an image of the process, for that thread. False: nothing. */
bool engine_outer_thing(cprof_process *p, const cprof_image *image, const char *function,
			const char *name, const char *file, int32_t tid,
			const struct cp_expression_env *env, struct cp_thing *ret);
/* A static of the function itself, for that thread. False: its object is not mapped, or `own`
 * is NULL. */
bool engine_own_static(cprof_process *p, const struct cp_signature *signature,
		       const struct cp_variable *own, int32_t tid,
		       const struct cp_expression_env *env, struct cp_thing *ret);
/* The enum with an enumerator of that name, of the program or of its libraries; NULL: there is
 * none, or it names something else. */
const struct cp_type *engine_enumeration(const cprof_process *p, bool program, const char *name);
void engine_variables_free(struct engine_variables *variables);

#endif
