/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share. The locks, in the order in which they may
 * be held together: debug, symbols, files, that of one cp_elf.
 */
#ifndef CP_IMAGE_INTERNAL_H
#define CP_IMAGE_INTERNAL_H

#include <stdatomic.h>

#include "base/vec.h"
#include "image/elffile.h"
#include "image/image.h"

struct cp_symbols;
struct cp_debuginfo;
struct cp_recent;

struct cp_image {
	struct cp_elf *elf; /* what is mapped */
	char *path; /* as the process names it */
	struct cp_recent *recent; /* owned: what was read of it last */
	int root_fd; /* of its process, or -1: the other files are looked for there too */
	char **debug_dirs; /* NULL-terminated, owned */
	struct cp_debuginfod *debuginfod; /* borrowed; NULL: it is not asked */
	char build_id[2 * CP_BUILD_ID_MAX + 1];

	pthread_mutex_t files_lock;
	bool debug_searched, debuginfod_asked; /* under files_lock, as is what they found: */
	struct cp_elf *debug; /* separate debug file, or NULL */
	char *debug_path;

	pthread_mutex_t symbols_lock; /* while the table is built */
	_Atomic(struct cp_symbols *) symbols;
	atomic_bool symbols_stale; /* a debug file with more came over the network */

	pthread_mutex_t debug_lock; /* whenever debug information is read */
	struct cp_debuginfo *debuginfo; /* once made */
	bool debuginfo_tried;
};

/* `elf` is taken over, also on failure. */
CP_ERROR cp_image_create(struct cp_elf *elf, const char *path, int root_fd,
			 const struct cp_image_options *options, struct cp_image **ret);

#endif
