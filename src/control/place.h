/* SPDX-License-Identifier: MIT
 *
 * Where sockets of sessions are: cprof/TARGET-CPROF.sock in $XDG_RUNTIME_DIR, where that
 * is a directory of the user's own; else in /tmp/cprof-UID, where it is. TARGET is the
 * process that the session is about, CPROF the one that profiles it.
 *
 *     TARGET-CPROF.new ──bind, listen, rename──► TARGET-CPROF.sock
 *
 * So who is refused at a .sock has found one whose cprof was killed.
 */
#ifndef CP_CONTROL_PLACE_H
#define CP_CONTROL_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Opens the directory of the user's sockets, and makes it if `make`. Nobody else can
 * write to it, or be led elsewhere by a link: else it is refused, with a hint. *path_ret
 * gets its name, which is to be freed. CP_ERR_NOT_FOUND: there is none. */
CP_ERROR cp_control_open_place(bool make, int *fd_ret, char **path_ret);
/* Makes a socket for a session that listens there; *name_ret, which is to be freed, is
 * its name in the directory. */
CP_ERROR cp_control_bind(int place, pid_t target, int *fd_ret, char **name_ret);
/* Connects to a socket by its name in a directory. Where too many have come before,
 * waits for up to `seconds`; 0: not at all. An errno, or 0. */
int cp_control_connect(int place, const char *name, unsigned seconds, int *fd_ret);
/* Removes what cprofs left that were killed. */
void cp_control_clean(int place);

/* A socket of the directory. */
struct cp_control_socket {
	pid_t target, cprof;
	char name[64];
};
/* Calls `each` for every socket of the directory until it answers false. */
typedef bool (*cp_control_socket_fn)(void *ctx, const struct cp_control_socket *socket);
void cp_control_each_socket(int place, cp_control_socket_fn each, void *ctx);

/* The user at the other end of a socket; (uid_t)-1: not known. */
uid_t cp_control_peer(int fd);

#endif
