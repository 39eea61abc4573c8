/* SPDX-License-Identifier: MIT
 *
 * Notes of the classes that objects really are of: see inspect_classes.c.
 */
#ifndef CP_CMD_INSPECT_CLASSES_H
#define CP_CMD_INSPECT_CLASSES_H

#include "cmd/inspect_show.h"

/* Notes what a value is, or leads to, and which of its parts do, where that is of a class
 * derived from what the type says. */
void cp_inspect_note_classes(struct cp_inspect *i, const char *expression,
			     const struct cp_thing *thing, const cprof_value *v);

#endif
