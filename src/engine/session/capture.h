/* SPDX-License-Identifier: MIT
 *
 * How samples are taken: by stops, or by the kernel's own interrupt.
 */
#ifndef CP_ENGINE_SESSION_CAPTURE_H
#define CP_ENGINE_SESSION_CAPTURE_H

#include <sys/types.h>

#include "base/error.h"

struct cprof_session;

/* Decides it for the session, whose tracer has hold of `pid`. An error where it was
 * asked for samples without stops, and can't have them. */
CP_ERROR engine_choose_capture(struct cprof_session *s, pid_t pid);
/* The session begins: who samples, and how, is known now. The tracer finds out by itself, by
 * CP_REQUEST_SAMPLE. */
void engine_settle_capture(struct cprof_session *s);

#endif
