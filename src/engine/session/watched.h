/* SPDX-License-Identifier: MIT
 *
 * Descriptors that the session's loop waits for on behalf of others. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_SESSION_WATCHED_H
#define CP_ENGINE_SESSION_WATCHED_H

#include <cprof/cprof.h>
#include <poll.h>

#define ENGINE_WATCHED_MAX 8u

/* Puts those that are waited for now behind each other, for poll(); their number. */
nfds_t engine_watched_add(const cprof_session *s, struct pollfd *fds);
/* poll() returned. */
void engine_watched_see(cprof_session *s, const struct pollfd *fds);
/* Between two events: calls who has something to read. */
void engine_watched_tell(cprof_session *s);

#endif
