/* SPDX-License-Identifier: MIT
 *
 * What who steers a session says to it, over a socket, and what comes back:
 *
 *     mark the second round\n          a command, a space, its argument; one line
 *     ok 23\nmarked "the second round"  or no; how many bytes follow; the bytes
 *
 * Any number of commands, one after the other. Neither side believes the other: lines
 * and answers have bounds, and what is in them is text to be escaped.
 *
 *     place.c     where sockets are, and whose they are
 *     port.c      a port instead, and whose its connections are
 *     server.c    the session's end: never waits for anybody
 *     client.c    the other one
 */
#ifndef CP_CONTROL_CONTROL_H
#define CP_CONTROL_CONTROL_H

/* Bytes of a command with its argument and newline, and of an answer. */
#define CP_CONTROL_LINE_MAX 4096u
#define CP_CONTROL_ANSWER_MAX (1u << 20)

#define CP_CONTROL_OK "ok"
#define CP_CONTROL_NO "no"

#endif
