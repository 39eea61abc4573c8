/* SPDX-License-Identifier: MIT
 *
 * Making the files that cprof writes. It often runs as root in directories of
 * other people, and what it records is private, so there is one rule for all
 * of them: no link decides where a file lies, and nothing is written over but
 * a regular file.
 *
 *   FILE             made, or as its kind has it (below)
 *   a pipe, device   written to as it is
 *   a link, directory, socket, block device: refused
 *   -, /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N: that descriptor
 *
 * Directories on the way to FILE may be links, as everywhere.
 */
#ifndef CP_BASE_CREATE_H
#define CP_BASE_CREATE_H

#include <stdio.h>

#include "base/error.h"

enum cp_create {
	/* 0600 whatever the umask; an older file is moved to FILE.old; not for
	 * terminals; a pipe must have its reader. */
	CP_CREATE_RECORDING,
	/* A file that is made of a recording: an older one is overwritten, a pipe is
	 * waited for until somebody reads it. */
	CP_CREATE_OUTPUT,
};

/* *fd_ret is the caller's, and was opened for writing only. */
CP_ERROR cp_create(enum cp_create kind, const char *path, int *fd_ret);

/* Creates a CP_CREATE_OUTPUT, as a stream. */
CP_ERROR cp_create_stream(const char *path, FILE **ret);

/* Nothing half written stays: removes the regular file that cp_create_stream() made or emptied,
 * if it is still the one of that name. */
void cp_create_undo(const char *path, FILE *file);

/* The error that cp_create() would have as things are, to be asked where the file is
 * only written after long work. */
CP_ERROR cp_create_check(enum cp_create kind, const char *path);

#endif
