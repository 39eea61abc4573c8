/* SPDX-License-Identifier: MIT
 *
 * Recordings made from text, so that tests of reports say what is in them
 * where one can see it. A line each, in any order but `thread` before its
 * samples:
 *
 *     command prog --fast          clock cpu|wall       hz 99       length 2000000 (us)
 *     process PID NAME EXE         thread PID TID NAME
 *     totals KEY=NUMBER...         (fields of struct cp_record_totals)
 *     s TID MICROSECONDS TICKS FRAME;FRAME;...       outermost first
 *     w TID MICROSECONDS TICKS FRAME;FRAME;...       the same of a thread that waits
 *
 *     c TID MICROSECONDS FRAME[ VALUE]...    so much later the thread enters a function
 *     r TID MICROSECONDS OVERHEAD[ VALUE]    so much later it returns; of the time since
 *                                            its enter, OVERHEAD us were tracing's;
 *                                            A~B: A, and up to B more
 *     t TID MICROSECONDS OVERHEAD[ FRAME]    it jumps to another function
 *     x TID MICROSECONDS OVERHEAD[ ended]    it is left otherwise
 *     d TID FRAME RATE                       it is no longer traced
 *
 * These count from the last such line, whatever its thread. `summary`: they are added up,
 * and no events kept of them; `beat`: what was added up so far is written; `summary open`:
 * the end is not, as if cprof had been killed. VALUE is [NAME:]
 * and a number, one with a dot, "text" (\_ as a blank), {VALUE,VALUE}, 0x..., or
 * ? for what was optimized out.
 *
 * FRAME is NAME[|IMAGE[|FILE[|LINE[|FLAGS]]]]; flags: i inlined into the frame
 * before it, g guessed, s signal, t (first frame) the stack is truncated.
 * Empty fields are as in the frame before. In names \n, \e, \s, \p and \_
 * stand for newline, escape, semicolon, bar and blank; an empty NAME is unknown.
 *
 * Lines of coverage are in made_coverage.h, of annotations in made_annotations.h.
 */
#ifndef CP_TEST_MADE_RECORDING_H
#define CP_TEST_MADE_RECORDING_H

#include <stddef.h>

#include "record/record.h"

/* Writes the recording that `text` describes to `fd` (taken over). */
CP_ERROR made_write(const char *text, int fd);
/* The same, loaded again. */
CP_ERROR made_load(const char *text, struct cp_record **ret);

/* Of a name, in place. */
void made_unescape(char *text);

#endif
