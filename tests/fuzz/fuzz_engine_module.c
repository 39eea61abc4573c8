/* SPDX-License-Identifier: MIT
 *
 * A file that claims to be a profiler module: what its notes say is read before
 * anything of it is trusted.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/api/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_module_file file = { 0 };
	struct cp_error *err = NULL;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		err = cp_module_read(path, &file);
	if (!err)
		err = cp_module_judge(path, &file);
	sink += err ? strlen(err->what) : 0;
	sink += file.summary ? strlen(file.summary) : 0;
	cp_error_free(err);
	cp_module_file_free(&file);
	if (fd >= 0)
		close(fd);
	return 0;
}
