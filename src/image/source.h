/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of a mapped file are: see source.c.
 */
#ifndef CP_IMAGE_SOURCE_H
#define CP_IMAGE_SOURCE_H

#include "image/elffile.h"
#include "image/image.h"

CP_ERROR cp_source_open(const struct cp_image_source *source, struct cp_elf **ret);

#endif
