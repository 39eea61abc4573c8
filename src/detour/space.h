/* SPDX-License-Identifier: MIT
 *
 * Where the code of detours goes in a process: in what its mappings leave free.
 *
 *     far below             near                 the text
 *     ┌──┬──┐          ┌──────────┐          ┌─────────────┐
 *     │st│st│ ───────► │ code     │ ◄─────── │ jmp ...     │ a window without
 *     └──┴──┘          └──────────┘          │ jmp ...     │ later instructions
 *        ▲                                   └──────┬──────┘
 *        └──────────────────────────────────────────┘ one whose displacement has to
 *                                                     have breakpoints in it
 *
 * A stub is a jump to the code, where such a displacement leads to. Memory is used in
 * chunks, which the tracer maps before anything is written there. Pure.
 *
 * A pun's displacement may have another window in it, whose bytes change while threads
 * come by. It has a stub wherever it leads to meanwhile:
 *
 *     c3 │ 55 48 89 e5 ...        e9 as it is             the pun's own stub
 *     e9 │ cc 48 89 e5 ...        a breakpoint behind it  another one of the pun
 *     e9 │ cc d0 d1 d2 d3         and the jump's bytes    \ two of that window's, to where
 *     e9 │ e9 d0 d1 d2 d3         the jump                / the pun's own would be
 *
 * So either comes and goes without the other. Where there is no room for a stub, but for two
 * bytes, these hop to one.
 */
#ifndef CP_DETOUR_SPACE_H
#define CP_DETOUR_SPACE_H

#include "detour/window.h"

#define CP_DETOUR_CHUNK 65536 /* bytes, and what they are aligned to */
#define CP_DETOUR_STUB 14 /* bytes of one, at most */

struct cp_detour_space;
struct cp_detour_space *cp_detour_space_create(void); /* NULL: no memory */
void cp_detour_space_destroy(struct cp_detour_space *space);

/* Nobody else uses what is there, or will: what is added first is taken first. */
bool cp_detour_space_add(struct cp_detour_space *space, uint64_t start, uint64_t end);
/* The same, but only for what can be nowhere else: something may be mapped there soon. */
bool cp_detour_space_add_last(struct cp_detour_space *space, uint64_t start, uint64_t end);
/* Room for code, within reach of an image at `near` and of all other code for it: for
 * what detours share. 0: none. */
uint64_t cp_detour_space_take(struct cp_detour_space *space, uint64_t near, size_t size);
/* Of a window that will come, if it is a pun: nothing else gets the only places that its
 * stubs can have. */
void cp_detour_space_keep(struct cp_detour_space *space, const struct cp_detour_window *window,
			  uint64_t bias);
/* The chunks that are in use, ascending; those from `known` on, which the caller knows
 * the number of, are new. */
size_t cp_detour_space_chunks(const struct cp_detour_space *space, const uint64_t **ret);

struct cp_detour_write {
	uint64_t at;
	uint8_t size;
	uint8_t code[CP_DETOUR_STUB]; /* no less than CP_DETOUR_FILLED */
};

/* A detour with its place, and what has to be written for it, in this order: the code,
 * the stubs, the hop's jump, all of which nobody runs into yet, then the window. */
#define CP_DETOUR_LENT 6
struct cp_detour_placed {
	uint64_t at; /* of the code; */
	uint16_t size;
	struct cp_detour_write stub, hop, window; /* size 0: there is none */
	/* Further stubs: of a pun, or of the one that shares its displacement with the window,
	 * to which those lead. */
	struct cp_detour_write lent[CP_DETOUR_LENT];
	uint8_t code[CP_DETOUR_CODE_MAX];
	uint64_t enter[CP_DETOUR_WINDOW]; /* of cp_detour_make() */
};
/* `detour` is the window's (cp_detour_of_window()) with run-time addresses, `bias` is
 * added to the window's own. False: no room; nothing was taken. */
bool cp_detour_place(struct cp_detour_space *space, const struct cp_arch *arch,
		     const struct cp_detour *detour, const struct cp_detour_window *window,
		     uint64_t bias, const struct cp_detour_rings *rings,
		     struct cp_detour_placed *ret);
/* Its room is free again: no thread is in it, and none has a pc there in a signal's
 * frame. */
void cp_detour_unplace(struct cp_detour_space *space, const struct cp_detour_placed *placed);

#endif
