/* SPDX-License-Identifier: MIT
 *
 * The live view as a screen of any size.
 */
#ifndef CP_VIEW_DRAW_H
#define CP_VIEW_DRAW_H

#include "view/frame.h"
#include "view/state.h"
#include "view/view.h"

/* Draws into `f`, which has been begun, what the state says; the state's place in the rows is
 * brought in step with those that there are. `output`: the end of what CMD wrote, or NULL. */
void cp_view_draw(struct cp_view *v, struct cp_view_state *s, const char *output,
		  struct cp_frame *f);

#endif
