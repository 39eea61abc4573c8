/* SPDX-License-Identifier: MIT
 *
 * What a SPEC would find in a program that has not been started: in the file
 * and in the libraries that it names, looked for as the dynamic linker does
 * (RPATH, LD_LIBRARY_PATH, RUNPATH, ld.so.cache, the usual directories).
 * Nothing is executed.
 *
 *     CP_TRY(cp_preview("/usr/bin/app", "prase_line", &options, &preview));
 *     if (!preview.matched && !preview.may_load && !preview.may_start)
 *             nothing will ever match it: say so, with preview.near
 */
#ifndef CP_PROBE_PREVIEW_H
#define CP_PROBE_PREVIEW_H

#include "probe/near.h"

struct cp_preview {
	bool matched; /* it means at least one function that can be traced */
	/* More code may come than was looked at: something imports dlopen or
	 * dlmopen, a library was not found, the file could not be read. */
	bool may_load;
	/* Another program may be started: something imports exec*, posix_spawn*,
	 * system, popen. (A child by fork() alone has the same images.) */
	bool may_start;
	size_t images; /* looked at */
	struct cp_near near; /* names, when nothing matched */
};

/* `path` is the file to be executed, found in PATH already, or /proc/PID/exe of one
 * that runs; of a script its interpreter is looked at. `spec` is parsed anew: errors are those of
 * cp_spec_parse(); a file that can't be read is no error. LD_LIBRARY_PATH and
 * LD_PRELOAD are those of our own environment. */
CP_ERROR cp_preview(const char *path, const char *spec, const struct cp_image_options *options,
		    struct cp_preview *ret);
/* Looks at all files, to the last: tells of each function that is meant, as long as
 * `fn` says that it wants more. */
typedef bool (*cp_preview_fn)(void *ctx, struct cp_image *image,
			      const struct cp_probe_function *function);
CP_ERROR cp_preview_each(const char *path, const char *spec, const struct cp_image_options *options,
			 cp_preview_fn fn, void *ctx, struct cp_preview *ret);
void cp_preview_free(struct cp_preview *preview);

#endif
