/* SPDX-License-Identifier: MIT
 *
 * What the tests of detours by the tracer and the program that they trace share.
 */
#ifndef DETOUR_BOARD_H
#define DETOUR_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#define DETOUR_BOARD_FD 9

struct detour_board {
	_Atomic uint32_t ready, go; /* stages of the program, and which it may enter */
	_Atomic uint32_t stop;
	uint64_t limit; /* rounds of each thread; 0: until `stop` */
	_Atomic uint64_t rounds; /* so far, of all */
	_Atomic uint64_t calls; /* of functions d_*, by all who have ended */
	_Atomic uint64_t wrong; /* results that were not what they should be */
	_Atomic uint64_t signals, cut, strange; /* handlers; whose backtrace did not reach the
						   root; that saw a pc outside of all text */
	_Atomic int32_t tracer;
	_Atomic uint32_t armed; /* by the controller, how often */
	_Atomic uint64_t text, text_end, bias; /* of the program */
};

#endif
