/* SPDX-License-Identifier: MIT
 *
 * What the tests of breakpoints and the program they trace share: a page of
 * memory, so that each can wait for the other and the program's own counts are
 * what the tracer's are held against.
 */
#ifndef TRACER_BOARD_H
#define TRACER_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#define BOARD_FD 9
#define BOARD_THREADS 8

/* The functions that get breakpoints, and where each ends. */
enum board_function {
	F_PLAIN, /* push, work, pop, ret */
	F_PAD, /* endbr64 */
	F_TINY, /* ret: entry and exit at one address */
	F_TAIL, /* jumps conditionally to F_PLAIN */
	F_BLOCK, /* makes a system call: write(fd, buf, 1) is made inside */
	F_COUNT
};

/* Small functions in a row, each of BULK_SIZE bytes: push, mov, pop, ret. */
#define BULK 2000
#define BULK_SIZE 16
#define BULK_RET 4 /* where the ret is */

struct board {
	_Atomic uint32_t ready; /* the program: go on when `go` is as high */
	_Atomic uint32_t go;
	_Atomic uint32_t stop; /* rounds end */
	_Atomic uint64_t rounds[BOARD_THREADS]; /* so far */
	uint64_t limit; /* rounds to make, 0: until stopped */
	_Atomic uint64_t calls[F_COUNT]; /* made, by everyone, at the end */
	_Atomic uint64_t wrong; /* results that were not what they should be */
	_Atomic uint64_t signals; /* seen by a handler */
	_Atomic uint64_t in_area; /* of them: with a pc in the area */
	_Atomic uint64_t own_traps;
	_Atomic uint64_t area, area_end;
	uint64_t start[F_COUNT], end[F_COUNT];
	_Atomic uint64_t text, text_end;
	uint64_t bulk;
	_Atomic int32_t tracer;
};

#endif
