/* SPDX-License-Identifier: MIT
 *
 * Text for a reader who may be slow, or gone: a thread of its own writes it. Who has more
 * than there is room for waits a little, if it may; what finds no room is left out, which
 * is counted, and said in its place.
 */
#ifndef CP_CMD_OUTLET_H
#define CP_CMD_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cp_outlet;

/* Takes `fd` over, also when it fails. `waits`: putting may wait, a second at most, and
 * not again before something was read. */
CP_ERROR cp_outlet_open(int fd, bool waits, struct cp_outlet **ret);
/* Whole lines. 0, or the errno of a write that failed: nothing more is written then. */
int cp_outlet_put(struct cp_outlet *o, const char *text, size_t size);
/* Waits until all is written, as long as somebody reads. How many lines were left out;
 * NULL is allowed. */
uint64_t cp_outlet_close(struct cp_outlet *o);

#endif
