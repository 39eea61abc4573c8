/* SPDX-License-Identifier: MIT
 *
 * Coverage of a made recording, from lines of its text (made_recording.h):
 *
 *     image PATH [build=HEX] [written=SECONDS] [counted] [exact] [nobranches]
 *     fn NAME FILE LINE [partial] [removed] [at=ADDRESS]
 *     b COUNT [ROW...]       the next block of that function; a ROW is
 *                            [FILE:]LINE[e][n][i][c][u]: e empty, n not a
 *                            statement, i inside one, c cut, u unsure;
 *                            >N: it goes on in the function's Nth block;
 *                            !N: an exception leads from it to the Nth;
 *                            =N: it has N bytes
 *     j TAKEN PASSED [>N] [[FILE:]LINE]   a conditional jump at the end of that
 *                            block, to the Nth one
 *     in NAME FILE:LINE      what is declared there is inlined from that block on
 *
 * COUNT, TAKEN and PASSED are numbers, or ? when they can't be told. FILE is -
 * when unknown; a ROW without one is in the function's. NAME may be
 * NAME|LINKAGE; escapes are as in frames. PATH is that of an image of the samples
 * or another one. Addresses follow each other from 0x1000 on.
 */
#ifndef CP_TEST_MADE_COVERAGE_H
#define CP_TEST_MADE_COVERAGE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/coverage.h"

struct made_coverage {
	struct cp_arena strings;
	struct cp_interner files;
	uint32_t image_key; /* of the next one */
	bool open; /* an image is */
	struct cp_record_image image;
	struct cp_coverage_image c;
	uint64_t address; /* of the next block */
	CP_VEC(struct cp_coverage_function) functions;
	CP_VEC(struct cp_coverage_block) blocks;
	CP_VEC(struct cp_coverage_row) rows;
	CP_VEC(struct cp_coverage_branch) branches;
	CP_VEC(struct cp_coverage_inline) inlines;
};

bool made_coverage_is(const char *word);
/* A line; `rest` is cut up. What is complete is written. */
void made_coverage_line(struct made_coverage *m, struct cp_record_writer *w, const char *word,
			char *rest);
/* Writes what is left, frees. */
void made_coverage_end(struct made_coverage *m, struct cp_record_writer *w);

#endif
