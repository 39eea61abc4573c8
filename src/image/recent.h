/* SPDX-License-Identifier: MIT
 *
 * The pieces of a file that were read last. Code is read a few bytes at a time, thousands
 * of times and mostly from front to back; asking the kernel each time took a seventh of
 * what it takes to plan and place the detours of a library. Nothing is mapped: a file that
 * somebody cuts short is read short, without a signal.
 */
#ifndef CP_IMAGE_RECENT_H
#define CP_IMAGE_RECENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_RECENT_PIECE 16384u
#define CP_RECENT_PIECES 8u
#define CP_RECENT_MOST 2048u /* bytes that are worth it at once */

struct cp_elf;

struct cp_recent {
	pthread_mutex_t lock;
	struct cp_recent_piece {
		uint64_t number; /* in the file, + 1; 0: none */
		uint32_t size; /* less than a piece where the file ends */
		uint8_t *bytes; /* owned */
	} pieces[CP_RECENT_PIECES];
};

void cp_recent_init(struct cp_recent *recent);
void cp_recent_deinit(struct cp_recent *recent);

/* As cp_elf_read(), for any thread. What the file has since a piece of it was read is not
 * seen. */
bool cp_recent_read(struct cp_recent *recent, const struct cp_elf *elf, uint64_t offset,
		    void *buffer, size_t size);

#endif
