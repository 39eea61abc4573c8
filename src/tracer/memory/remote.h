/* SPDX-License-Identifier: MIT
 *
 * Memory of a thread that stopped, where nobody knows what a pointer leads to.
 */
#ifndef CP_TRACER_REMOTE_H
#define CP_TRACER_REMOTE_H

#include <sys/uio.h>

#include "tracer/memory/space.h"

/* Reads `n` pieces, each as far as there is memory that nobody has to be waited for; `to`
 * and `from` become as short. */
void remote_read(struct space *space, pid_t tid, struct iovec *to, struct iovec *from,
		 uint32_t *got, size_t n);
/* One piece; the bytes that were read. */
size_t remote_read_one(struct space *space, pid_t tid, uint64_t address, void *to, size_t size);

#endif
