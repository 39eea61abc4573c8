/* SPDX-License-Identifier: MIT
 *
 * A port at which commands are taken, for who can't connect to the session's own socket:
 * of the loopback device alone, and of the session's user and root alone.
 */
#ifndef CP_CONTROL_PORT_H
#define CP_CONTROL_PORT_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Listens there; the socket is the caller's. */
CP_ERROR cp_control_listen_at(uint16_t port, int *ret);

/* The user of the other end of a connection to such a port; (uid_t)-1: not known, as of one
 * that was closed, which the kernel tells no owner of. */
uid_t cp_control_port_peer(int fd);

#endif
