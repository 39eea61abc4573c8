/* SPDX-License-Identifier: MIT
 *
 * A window: instructions that a jump takes the place of.
 */
#ifndef CP_DETOUR_WINDOW_H
#define CP_DETOUR_WINDOW_H

#include "arch/detour.h"
#include "detour/text.h"

enum cp_detour_how {
	CP_DETOUR_BY_JUMP, /* room for CP_DETOUR_JUMP bytes and perhaps prefixes */
	CP_DETOUR_BY_HOP, /* CP_DETOUR_HOP bytes, and a jump at `hop`: padding, or in a host */
	CP_DETOUR_BY_CHANGE, /* of the displacement of its only instruction */
	CP_DETOUR_BY_PUN, /* of 1 byte; it leads to `hop` */
	CP_DETOUR_HOWS,
};

#define CP_DETOUR_WINDOW_SITES CP_DETOUR_COUNTS /* of one with records: CP_DETOUR_RECORDS */

struct cp_detour_window_site {
	uint32_t number; /* in the probe's plan; of a point (points.h): its own */
	uint8_t before; /* offset in the window of its instruction */
	bool taken; /* a conditional jump: only if it jumps */
	uint8_t way; /* of a point: enum cp_detour_way */
	uint32_t block; /* 1 + number of the block that the way alone leads to, and that is counted
			   instead: they are the same; 0: none */
};

struct cp_detour_window {
	uint64_t address; /* link-time */
	uint64_t hop; /* where its jump leads to, if that is not free */
	uint64_t pun; /* of another window, whose jump's displacement has bytes of this one's
			 jump; 0: none */
	uint8_t behind[CP_DETOUR_JUMP - 1]; /* of that pun, or of this one: its displacement as
					       long as nothing else is replaced */
	uint8_t how; /* enum cp_detour_how */
	uint8_t size; /* bytes of instructions */
	uint8_t room; /* bytes that may be replaced: with padding behind */
	uint8_t site_count;
	uint32_t begins; /* bit n: an instruction but the first begins at offset n */
	uint32_t hop_begins; /* the same behind `hop`, where that is in another window */
	bool is_filled; /* behind the jump are breakpoints, up to `room` */
	bool is_host; /* without sites, but with room for a hop's jump behind `room` */
	struct cp_detour_window_site sites[CP_DETOUR_WINDOW_SITES];
	uint8_t code[CP_DETOUR_WINDOW]; /* its instructions */
};

/* The detour of a window; records are to be added, one for each `before`. */
void cp_detour_of_window(const struct cp_detour_window *window, struct cp_detour *ret);

/* ---- finding one ---- */

enum cp_window_end {
	CP_WINDOW_OK,
	CP_WINDOW_SHORT,
	CP_WINDOW_LEADS,
	CP_WINDOW_FIXED,
	CP_WINDOW_TAKEN
};

/* No window has any of these bytes yet. */
bool cp_window_is_free(const struct cp_detour_text *text, uint64_t at, size_t size);

/* From `address` on, of `want` bytes or more. */
enum cp_window_end cp_window_forward(const struct cp_detour_text *text, uint64_t address,
				     size_t want, struct cp_detour_window *ret);
/* Up to the instruction at `last`, which leaves the function. */
enum cp_window_end cp_window_backward(const struct cp_detour_text *text, uint64_t last, size_t want,
				      struct cp_detour_window *ret);
/* From `address` up to the instruction at `last`. */
enum cp_window_end cp_window_over(const struct cp_detour_text *text, uint64_t address,
				  uint64_t last, size_t want, struct cp_detour_window *ret);
/* Padding for the jump that a hop leads to. */
bool cp_window_find_hop(const struct cp_detour_text *text, struct cp_detour_window *window);

/* Where the instructions end that the window of a function's entry needs, or would
 * need. */
uint64_t cp_window_entry_end(const struct cp_detour_text *text, uint64_t entry);

/* A window from `address` on, of `want` bytes or more, that moves away for that jump,
 * too: instructions that nobody else wants. */
#define CP_WINDOW_HOST (2 * CP_DETOUR_JUMP) /* the least; up to */
#define CP_WINDOW_HOST_MAX (CP_DETOUR_FILLED + CP_DETOUR_JUMP)
bool cp_window_host(const struct cp_detour_text *text, uint64_t address, size_t want,
		    struct cp_detour_window *window, struct cp_detour_window *host_ret);
/* The one instruction at `address`, of which a jump is made by its first byte. `known`: of
 * its displacement, all that is no data. */
bool cp_window_pun(const struct cp_detour_text *text, uint64_t address, size_t known,
		   struct cp_detour_window *ret);

#endif
