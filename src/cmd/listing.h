/* SPDX-License-Identifier: MIT
 *
 * Instructions of the file that a recording tells of, into a listing.
 */
#ifndef CP_CMD_LISTING_H
#define CP_CMD_LISTING_H

#include "arch/listing.h"
#include "image/image.h"
#include "report/profile/listing.h"

/* Reads the code of the listing's function from `file`, NULL: what the recording encloses,
 * else from where it was recorded. A file with another build-id is refused. Not an error: there is no code to read; then
 * *why_ret says why (static). */
CP_ERROR cp_listing_read(struct cp_listing *l, const char *file, enum cp_syntax syntax,
			 const struct cp_image_options *options, const char **why_ret);

#endif
