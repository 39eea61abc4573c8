/* SPDX-License-Identifier: MIT
 *
 * Where a profiler writes: the value of its `output=`, as Mono's profilers
 * have it.
 *
 *   FILE    a file (create.h)      +FILE   FILE.PID
 *   #N      descriptor N           |CMD    the standard input of a shell's CMD
 *   -       standard output
 *
 * In names of files, %p is the process's id, %t date and time (UTC), %% a %.
 */
#ifndef CP_BASE_OUTPUT_H
#define CP_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum cp_output_kind { CP_OUTPUT_FILE, CP_OUTPUT_DESCRIPTOR, CP_OUTPUT_COMMAND };

/* The target of an output; `file` is owned: a path, or the command. */
struct cp_output {
	enum cp_output_kind kind;
	char *file;
	int descriptor; /* the caller's, not ours to close */
};

/* Parses a spec. False: it makes no sense (an empty name, #x), or there is no
 * memory. */
bool cp_output_parse(const char *spec, int32_t pid, struct cp_output *ret);
void cp_output_free(struct cp_output *output);
/* True when the name depends on the process, which is not known in init. */
bool cp_output_needs_pid(const char *spec);

/* A command that reads what is written. */
struct cp_output_pipe {
	int fd; /* to write to; -1: none */
	pid_t pid;
};
/* errno, or 0. */
int cp_output_start(const char *command, struct cp_output_pipe *ret);
/* Waits until it has read all, after `fd` was closed; its status as wait(2)
 * has it, 0 when there is none. */
int cp_output_wait(struct cp_output_pipe *pipe);

/* An output of text: opened with all that it needs. On failure *error_ret is the
 * caller's to free (NULL without memory). */
struct cp_text_output {
	FILE *file;
	struct cp_output_pipe pipe;
	int error; /* errno of the first write that failed; 0: none did */
};
bool cp_text_output_open(const char *spec, int32_t pid, struct cp_text_output *ret,
			 char **error_ret);
/* Notes a failure after something was written to `file`: the stream itself forgets
 * why. */
void cp_text_output_check(struct cp_text_output *output);
/* Closes it. False: not everything was written (errno), or the command failed (errno
 * 0). */
bool cp_text_output_close(struct cp_text_output *output);

#endif
