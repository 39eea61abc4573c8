/* SPDX-License-Identifier: MIT
 *
 * A session that is steered while it runs (cprof ctl): its socket, and its commands.
 */
#ifndef CP_CMD_STEERING_H
#define CP_CMD_STEERING_H

#include <cprof/cprof.h>
#include <stdbool.h>

struct cp_steering;

/* A command of cprof's own. */
struct cp_steering_command {
	const char *name;
	const char *argument; /* its name in help; NULL: it takes none */
	const char *help;
};
/* Ends with a row without a name. */
extern const struct cp_steering_command cp_steering_commands[];

/* Listens for commands while the session, which has its target, runs. Where it can't,
 * that is said, and answered by NULL. */
struct cp_steering *cp_steering_begin(cprof_session *s);
/* Ends it; who asked for the session's end is told that it is over. NULL is allowed. */
void cp_steering_end(struct cp_steering *steering, bool good);

#endif
