/* SPDX-License-Identifier: MIT
 *
 * The session's end of a socket. Nothing here waits: who says nothing, or does not read
 * what it is answered, is left alone after a time, and more than a few at once wait in
 * the kernel's queue.
 */
#ifndef CP_CONTROL_SERVER_H
#define CP_CONTROL_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct cp_control_server;

enum cp_control_answer {
	CP_CONTROL_DONE,
	CP_CONTROL_REFUSED,
	CP_CONTROL_AT_THE_END, /* cp_control_destroy() answers */
	CP_CONTROL_LATER, /* `out` is the answer, once cp_control_settled_fn says so */
};

/* Is what was answered by LATER so by now? *failed_ret: not so; why is to be appended to
 * `out`, which is empty. */
typedef bool (*cp_control_settled_fn)(void *ctx, bool *failed_ret, struct cp_buf *out);

/* Does what it is told, and appends the answer to `out`. Both texts are as they came. */
typedef enum cp_control_answer (*cp_control_fn)(void *ctx, const char *command,
						const char *argument, struct cp_buf *out);

/* Listens for who steers the session about process `target`. */
CP_ERROR cp_control_create(pid_t target, struct cp_control_server **ret);
/* Listens at a port of the loopback device, and takes one command alone (static): another one
 * ends the connection, so that nobody's browser says it further down in a request. */
CP_ERROR cp_control_create_at(uint16_t port, const char *command, struct cp_control_server **ret);
/* The socket's path; borrowed; NULL: it is a port. */
const char *cp_control_path(const struct cp_control_server *server);
/* A descriptor that is readable when cp_control_serve() has something to do. */
int cp_control_fd(const struct cp_control_server *server);
/* Reads commands and answers them, some of them at a time. */
void cp_control_serve(struct cp_control_server *server, cp_control_fn fn,
		      cp_control_settled_fn settled, void *ctx);
/* Ends it, and gives those who wait for that their answer; `failed`: it is a refusal.
 * NULL is allowed. */
void cp_control_destroy(struct cp_control_server *server, const char *last, int failed);

#endif
