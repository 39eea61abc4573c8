/* SPDX-License-Identifier: MIT
 *
 * The live view on a terminal: a thread that draws and takes keys.
 */
#ifndef CP_CMD_SHOWING_H
#define CP_CMD_SHOWING_H

#include <cprof/session.h>

#include "cmd/keeping.h"
#include "view/view.h"

struct cp_showing;

/* Takes the terminal that `keeping` has kept free and shows the view there, until q is pressed,
 * which stops the session, or cp_showing_end(). All are borrowed until then. NULL: it can't. */
struct cp_showing *cp_showing_begin(struct cp_view *view, const struct cp_keeping *keeping,
				    cprof_session *session);
/* There is something new to be seen. Any thread. */
void cp_showing_tick(struct cp_showing *s);
/* Gives the terminal back as it was. NULL is fine. */
void cp_showing_end(struct cp_showing *s);

#endif
