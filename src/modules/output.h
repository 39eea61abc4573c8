/* SPDX-License-Identifier: MIT
 *
 * Where a profiler writes: the value of its `output=`, as Mono's profilers
 * have it.
 *
 *   FILE    a file, made anew      +FILE   FILE.PID
 *   #N      descriptor N           |CMD    the standard input of a shell's CMD
 *   -       standard output
 *
 * In names of files, %p is the process's id, %t date and time (UTC), %% a %.
 */
#ifndef CP_MODULES_OUTPUT_H
#define CP_MODULES_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum output_kind { OUTPUT_FILE, OUTPUT_DESCRIPTOR, OUTPUT_COMMAND };

/* Where an output leads; `file` is owned: a path, or the command. */
struct output {
	enum output_kind kind;
	char *file;
	int descriptor; /* the caller's, not ours to close */
};

/* False: it makes no sense (an empty name, #x), or there is no memory. */
bool output_parse(const char *spec, int32_t pid, struct output *ret);
void output_free(struct output *output);
/* True when the name depends on the process, which is not known in init. */
bool output_needs_pid(const char *spec);

/* A command that reads what is written. */
struct output_pipe {
	int fd; /* to write to; -1: none */
	pid_t pid;
};
/* errno, or 0. */
int output_start(const char *command, struct output_pipe *ret);
/* Waits until it has read all, after `fd` was closed; its status as wait(2)
 * has it, 0 when there is none. */
int output_wait(struct output_pipe *pipe);

/* For those that write text: opens it all. On failure *error_ret is the
 * caller's to free (NULL without memory). */
struct text_output {
	FILE *file;
	struct output_pipe pipe;
};
bool text_output_open(const char *spec, int32_t pid, struct text_output *ret, char **error_ret);
/* False: not everything was written (errno), or the command failed (errno 0). */
bool text_output_close(struct text_output *output);

#endif
