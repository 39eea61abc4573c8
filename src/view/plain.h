/* SPDX-License-Identifier: MIT
 *
 * The live view as lines, for who has no terminal or one that can't be drawn on.
 */
#ifndef CP_VIEW_PLAIN_H
#define CP_VIEW_PLAIN_H

#include "base/buf.h"
#include "view/view.h"

/* Appends what is to be known now: two lines on the whole, the hottest functions, the threads
 * that did most, a blank line; each of so many columns at most (0: as many as it takes). */
void cp_view_plain(struct cp_view *v, unsigned columns, struct cp_buf *out);

#endif
