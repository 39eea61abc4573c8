/* SPDX-License-Identifier: MIT
 *
 * Instructions of the file that a recording tells of, into a listing.
 */
#ifndef CP_CMD_LISTING_H
#define CP_CMD_LISTING_H

#include "arch/listing.h"
#include "base/vec.h"
#include "cmd/objects.h"
#include "image/image.h"
#include "report/profile/listing.h"

struct cp_code_file {
	char *path; /* owned */
	struct cp_objects objects; /* one */
};

/* Files that code is read from. */
struct cp_code_files {
	const struct cp_image_options *options; /* borrowed */
	enum cp_syntax syntax;
	const char *instead; /* of where it was recorded; NULL: nothing */
	CP_VEC(struct cp_code_file) list; /* that are open */
};

/* Reads the code of the listing's function from the file that it was recorded in, or
 * `instead`; unless that is said, what the recording encloses comes first. A file with
 * another build-id is refused. Not an error: there is no code to read; then *why_ret says
 * why (static). */
CP_ERROR cp_listing_read(struct cp_code_files *files, struct cp_listing *l, const char **why_ret);
void cp_code_files_free(struct cp_code_files *files);

#endif
