/* SPDX-License-Identifier: MIT
 *
 * Restartable sequences (rseq(2)): code that the kernel begins anew where a thread was
 * preempted in it. A thread that is led out of one, to another place for a moment, is not
 * seen to be in it: what it does then is no longer as if it was alone on its CPU. So no
 * breakpoint and no jump may stand in one.
 */
#ifndef CP_PROBE_SEQUENCES_H
#define CP_PROBE_SEQUENCES_H

#include "probe/functions.h"

/* Reads where an image's sequences are, by the descriptors in its section __rseq_cs: that
 * is where librseq's macros and whoever does as they do have them. False without memory. */
bool cp_probe_sequences_read(struct cp_image *image, struct cp_probe_functions *to);
/* Has `size` bytes at `address` any of one? `functions` may be NULL. */
bool cp_probe_in_sequence(const struct cp_probe_functions *functions, uint64_t address,
			  uint64_t size);

#endif
