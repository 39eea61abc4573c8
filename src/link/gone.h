/* SPDX-License-Identifier: MIT
 *
 * Breakpoints that are not there any more.
 */
#ifndef CP_LINK_GONE_H
#define CP_LINK_GONE_H

#include "link/link.h"

/* Where one stood there is what the program's file has, and nobody took it out. Told once
 * until sites of the process are forgotten. */
#define CP_GONE_AT_EXIT 1u /* in e.flags: the process ends */
struct cp_event_gone {
	struct cp_event e;
	uint64_t address;
};

#endif
