/* SPDX-License-Identifier: MIT
 *
 * Placing what is covered. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_COVER_ARM_H
#define CP_ENGINE_FAMILIES_COVER_ARM_H

#include <cprof/cprof.h>

struct cp_event_opened;
struct engine_cover;

/* Gets them ready, where that is possible while the tracer does something else. */
void engine_cover_make(cprof_image *image, struct engine_cover *cover);
void engine_cover_forget_made(struct engine_cover *cover);
/* Places the sites of the object in the image's area, which has room; an errno, or 0. */
int engine_cover_arm(cprof_image *image, struct engine_cover *cover);
/* A thread came to a block behind which not all is placed. */
void engine_cover_opened(cprof_session *s, cprof_process *p, const struct cp_event_opened *e);

#endif
