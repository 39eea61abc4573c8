/* SPDX-License-Identifier: MIT
 *
 * For targets whose input is a whole ELF file.
 */
#ifndef CP_TESTS_FUZZ_IMAGE_H
#define CP_TESTS_FUZZ_IMAGE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/image.h"

/* The file as an image; NULL: it is none. */
static inline struct cp_image *fuzz_image(const uint8_t *data, size_t size)
{
	static const char *const nowhere[] = { NULL };
	struct cp_image_options options = { .debug_dirs = nowhere };
	struct cp_image *image = NULL;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		cp_error_free(cp_image_open_file(path, &options, &image));
	}
	if (fd >= 0)
		close(fd);
	return image;
}

#endif
