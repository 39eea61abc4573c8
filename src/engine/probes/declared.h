/* SPDX-License-Identifier: MIT
 *
 * What headers declare of functions. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_DECLARED_H
#define CP_ENGINE_PROBES_DECLARED_H

#include <cprof/cprof.h>

struct cp_declared;
struct cp_signature;

/* What the system's headers declare; NULL: the file of it is not there, which the user
 * was told. */
const struct cp_declared *engine_declared(cprof_session *s);
/* What a stub's call takes and gives: by debug information of what it leads to, else by
 * its declaration. *ret is the caller's; false: nothing is known. */
bool engine_target_signature(const cprof_process *p, const char *symbol, unsigned want,
			     struct cp_signature **ret);
/* What a call of the function with that symbol takes and gives, by its declaration.
 * *ret is the caller's; false: no declaration is known. */
bool engine_declared_signature(cprof_session *s, const char *symbol,
			       unsigned want /* CP_SIGNATURE_* */, struct cp_signature **ret);

#endif
