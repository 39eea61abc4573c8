/* SPDX-License-Identifier: MIT
 *
 * LeakSanitizer looks for leaks at a program's end by tracing the program's threads.
 * Where cprof traces them, it can't, says so on standard error and ends the program
 * with another status than its own.
 */
#include "engine/session/leaks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"
#include "image/image.h"

#define ENVIRON_MAX (1u << 20)
/* The status that LeakSanitizer ends programs with, as part of AddressSanitizer and by
 * itself. */
#define STATUS_OF_ASAN 1
#define STATUS_OF_LSAN 23

bool engine_leaks_off(const cprof_process *p)
{
	struct cp_buf environment CP_CLEANUP(cp_buf_free) = { 0 };
	static const char off[] = "detect_leaks=0";
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", engine_living_task(p));
	cp_error_free(cp_file_read(AT_FDCWD, path, ENVIRON_MAX, &environment));
	return environment.size &&
	       memmem(environment.bytes, environment.size, off, sizeof(off) - 1);
}

static bool names(struct cp_image *image, const char *section, const char *what)
{
	const uint8_t *bytes;
	struct cp_vaddr at;
	size_t size;

	return cp_image_section(image, section, &bytes, &size, &at) &&
	       memmem(bytes, size, what, strlen(what));
}

/* Is the file linked to the sanitizer's library, or has it inside? */
static bool has_leak_check(const char *path)
{
	const struct cp_image_options options = { 0 };
	struct cp_image *image = NULL;
	bool has;

	cp_error_free(cp_image_open_file(path, &options, &image));
	has = image &&
	      (names(image, ".dynstr", "libasan.so") || names(image, ".dynstr", "liblsan.so") ||
	       names(image, ".dynstr", "__lsan_do_leak_check") ||
	       names(image, ".strtab", "__lsan_do_leak_check"));
	cp_image_destroy(image);
	return has;
}

void engine_leaks_explain(cprof_session *s, const cprof_process *p)
{
	int status = p->wait_status;

	if (p->life.leaks_off || !p->exe || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) != STATUS_OF_ASAN && WEXITSTATUS(status) != STATUS_OF_LSAN) ||
	    !has_leak_check(p->exe))
		return;
	engine_warn(s,
		    "%s ended with status %d, as LeakSanitizer ends every program that is "
		    "traced, for it can't look for leaks then: ASAN_OPTIONS=detect_leaks=0 (or "
		    "LSAN_OPTIONS) switches that off",
		    p->name, WEXITSTATUS(status));
}
