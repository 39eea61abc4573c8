/* SPDX-License-Identifier: MIT
 *
 * A core file: its threads, what was mapped, and its memory.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct cp_core *core)
{
	const struct cp_core_part *part;
	volatile uint8_t sum = 0;
	const struct cp_core_thread *t;
	uint8_t bytes[256];
	size_t n = 0, i;

	cp_vec_for_each(&core->threads, t) {
		for (i = 0; i < t->size; i++)
			sum = (uint8_t)(sum + t->registers[i]);
		for (i = 0; t->vectors && i < t->vectors_size; i++)
			sum = (uint8_t)(sum + t->vectors[i]);
	}
	cp_vec_for_each(&core->parts, part) {
		cp_core_read(core, part->start, bytes, sizeof(bytes));
		cp_core_read(core, part->end - 8, bytes, sizeof(bytes));
		if (++n == 100)
			break;
	}
	cp_core_read(core, 0, bytes, sizeof(bytes));
	cp_core_read(core, UINT64_MAX - 8, bytes, sizeof(bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_core *core = NULL;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		cp_error_free(cp_core_open(path, &core));
	}
	if (fd >= 0)
		close(fd);
	if (core)
		look_at(core);
	cp_core_destroy(core);
	return 0;
}
