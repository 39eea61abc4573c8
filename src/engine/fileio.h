/* SPDX-License-Identifier: MIT
 *
 * What the program reads and writes. Private to src/engine.
 */
#ifndef CP_ENGINE_FILEIO_H
#define CP_ENGINE_FILEIO_H

#include "engine/roles.h"

bool engine_fileio_wanted(const cprof_session *s);
void engine_fileio_free(struct engine_calls *c);
/* enum engine_role of a function of the C library. */
uint8_t engine_fileio_role(const char *name, size_t length);

/* See roles.h; true: something was told. */
void engine_fileio_entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
			   struct cp_call *call);
bool engine_fileio_returned(cprof_session *s, uint8_t role, const struct cp_call *call);

#endif
