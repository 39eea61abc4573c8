/* SPDX-License-Identifier: MIT
 *
 * Opening and reading files that someone else may have put there.
 */
#ifndef CP_BASE_FILE_H
#define CP_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Appends all of the file to `out`, reading until its end: files of /proc
 * don't know their size. Over `max` bytes it is CP_ERR_FORMAT. A process that
 * is gone is CP_ERR_GONE. `dir_fd` as in openat(). */
CP_ERROR cp_file_read(int dir_fd, const char *path, size_t max, struct cp_buf *out);

/* A field of a thread's stat file, from the third on as proc(5) counts them.
 * False: the thread is gone. Of this thread alone, whereas the times in a
 * process's own stat file are added up over all of its threads. */
bool cp_file_stat_field(pid_t tid, unsigned field, char *word, size_t size);

/* A descriptor that only names a file: opening it has no effect. `root_fd` as below;
 * -1: not found, or not allowed. */
int cp_file_open_path(int root_fd, const char *path);

/* Opens a regular file for reading; anything else (a device, a pipe, a
 * socket) is refused before opening it could have an effect. With `root_fd`
 * >= 0, `path` and every link in it are resolved as if that directory were
 * "/", and never through a magic link of /proc. */
CP_ERROR cp_file_open_regular(int root_fd, const char *path, int *fd_ret);

/* pread() until `size` bytes are there; how many were (less at the end of
 * the file or after an error). */
size_t cp_pread(int fd, void *buffer, size_t size, uint64_t offset);

#endif
