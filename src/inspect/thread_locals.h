/* SPDX-License-Identifier: MIT
 *
 * Where thread-local variables are, by what the C library tells debuggers.
 */
#ifndef CP_INSPECT_THREAD_LOCALS_H
#define CP_INSPECT_THREAD_LOCALS_H

#include <sys/types.h>

#include "image/image.h"

/* An image in a process. */
struct cp_placed_image {
	struct cp_image *image;
	uint64_t bias;
};

struct cp_thread_library {
	const struct cp_reader *memory;
	/* glibc's; image NULL: there is none. Both are the program that is linked statically. */
	struct cp_placed_image libc, linker;
};

/* Takes note of one of the process's images, if it is one of the library's. */
void cp_thread_library_meet(struct cp_thread_library *library, const struct cp_placed_image *of,
			    const char *path, bool program);

/* The address of the thread-local variable at `offset` of image `of`, whose process
 * `program` began. Answers a cprof_value_error. */
uint8_t cp_thread_local(const struct cp_thread_library *library, pid_t tid,
			const struct cp_placed_image *of, bool program, uint64_t offset,
			uint64_t *ret);

#endif
