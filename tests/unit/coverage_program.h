/* SPDX-License-Identifier: MIT
 *
 * What coverage_program.c shares with the test that profiles it.
 */
#ifndef COVERAGE_PROGRAM_H
#define COVERAGE_PROGRAM_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Shared with who watches a program that goes on whatever becomes of cprof. */
struct board {
	_Atomic uint64_t rounds, stop, ended, wrong;
};

static inline struct board *open_board(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	return at;
}

#endif
