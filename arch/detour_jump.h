/* SPDX-License-Identifier: MIT
 *
 * The jump of a detour (arch/detour.h) in the place of the program's instructions, and
 * what those say of where they lead.
 */
#ifndef CP_ARCH_DETOUR_JUMP_H
#define CP_ARCH_DETOUR_JUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_arch;

#define CP_DETOUR_JUMP 5 /* bytes of a jump to anywhere */
#define CP_DETOUR_HOP 2 /* of one to within 127 bytes */
#define CP_DETOUR_PREFIXES 3
#define CP_DETOUR_FILLED 14 /* bytes of a jump with breakpoints behind it, at most */

/* A jump in the place of instructions. A thread may still come to the beginning of a
 * later one of them: by the return from a signal's handler. It has to find a
 * breakpoint there, so the jump's displacement has that byte in these places.
 * With prefixes that mean nothing the displacement moves. */
struct cp_detour_landing {
	uint8_t prefixes; /* before the jump */
	/* There is no breakpoint, but what is no instruction (SIGILL): below a program that
	 * is linked low there is no room for others. Who is there when cprof is killed has
	 * no handler. */
	bool illegal;
	uint32_t mask, value; /* the displacement, as far as it is given */
};
#define CP_DETOUR_LANDINGS 16
/* The ways for a window whose later instructions begin at the offsets with a bit in
 * `begins`; the replaced bytes are `room`. The better ones first. How many. */
size_t cp_detour_landings(uint32_t begins, size_t room,
			  struct cp_detour_landing ret[CP_DETOUR_LANDINGS]);
/* The jump; false: `to` is out of reach, or not where `landing` wants it. */
bool cp_detour_jump(const struct cp_detour_landing *landing, uint64_t at, uint64_t to,
		    uint8_t code[CP_DETOUR_JUMP + CP_DETOUR_PREFIXES]);
/* A jump to anywhere at all, 14 bytes; returns how many. */
size_t cp_detour_far_jump(uint64_t to, uint8_t *code);
/* What the conditional jump of 32 bits (cp_detour_displacement()) does, but to anywhere at
 * all, and else on to `next`, by code at `at`; the address to go to stands `kept` bytes from
 * its beginning. How many bytes it has besides, 13; 0: `next` is out of reach. */
#define CP_DETOUR_BRANCH 6 /* bytes of such an instruction */
size_t cp_detour_far_branch(const uint8_t *branch, uint64_t to, uint64_t next, uint64_t at,
			    size_t kept, uint8_t *code);
/* Where one of these jumps leads to, hops too; 0: it is none. `code` has
 * CP_DETOUR_FILLED bytes. */
uint64_t cp_detour_jump_target(const uint8_t *code, uint64_t at);
/* May a hop be at `at`, with room for a jump at `to`, and does a thread that comes to
 * a later instruction find a breakpoint? */
bool cp_detour_hop(uint32_t begins, uint64_t at, uint64_t to, uint8_t code[CP_DETOUR_HOP]);
/* A direct jump, conditional or not, of 32 bits: the offset of its displacement in
 * `code`, which may be changed in place. 0: it is something else. */
size_t cp_detour_displacement(const uint8_t *code, size_t size);

/* Are these three instructions, of `size` bytes together, a jump by a table of distances?
 * movslq (B,I,4),R; add B,R; jmp *R. */
bool cp_detour_by_distance(const struct cp_arch *arch, const uint8_t *code, size_t size);

/* What the instruction says that could be the address of code, and to which it does
 * not go itself. 0: nothing. */
uint64_t cp_detour_said(const struct cp_arch *arch, const uint8_t *code, size_t size, uint64_t pc);

#endif
