/* SPDX-License-Identifier: MIT
 *
 * A signal that pauses the recording and has it go on.
 */
#ifndef CP_CMD_TOGGLING_H
#define CP_CMD_TOGGLING_H

#include <cprof/session.h>

/* From here on SIGUSR1 (1) or SIGUSR2 (2) does so; 0: none. False: it can't, which was said. */
bool cp_toggling_begin(cprof_session *s, unsigned which);

#endif
