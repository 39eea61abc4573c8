/* SPDX-License-Identifier: MIT
 *
 * Several areas with one request (CP_MAP_MANY): `size` bytes at `first` of the plan area
 * say which. Bit n of answer.threads: the nth is there; 0 where something else was.
 */
#ifndef CP_LINK_MAP_H
#define CP_LINK_MAP_H

#include "link/link.h"

#define CP_MAP_PIECES 16u

struct cp_map_piece {
	uint64_t address, size;
	uint32_t joined; /* in one mapping with the one before, behind which it lies */
	uint32_t pad;
};

#endif
