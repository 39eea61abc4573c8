/* SPDX-License-Identifier: MIT
 *
 * A file with what planning detours needs of it.
 */
#ifndef CP_TEST_DETOUR_FILE_H
#define CP_TEST_DETOUR_FILE_H

#include "detour/object.h"

struct detour_file {
	struct cp_image *image;
	struct cp_reader reader;
	struct cp_probe_functions functions;
	struct cp_decoder *decoder;
	struct cp_detour_object *object;
	struct cp_detour_text *text; /* the object's */
};

CP_ERROR detour_file_open(const char *path, struct detour_file *f);
void detour_file_close(struct detour_file *f);
/* For struct cp_detour_frames; ctx is the file. */
bool detour_file_is_gone(void *ctx, uint64_t pc);

#endif
