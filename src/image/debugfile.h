/* SPDX-License-Identifier: MIT
 *
 * The other files of an image: see debugfile.c.
 */
#ifndef CP_IMAGE_DEBUGFILE_H
#define CP_IMAGE_DEBUGFILE_H

#include "image/internal.h"

/* The separate debug file, searched for on this machine at the first call;
 * with `network`, debuginfod too. NULL when there is none. */
struct cp_elf *cp_debug_file(struct cp_image *image, bool network);
/* The dwz file that `of` shares debug information with; owned by the caller. */
struct cp_elf *cp_debug_alternate(struct cp_image *image, struct cp_elf *of);
/* A split DWARF file by name; owned by the caller. */
struct cp_elf *cp_debug_split(struct cp_image *image, const char *comp_dir, const char *name);
/* The package of split DWARF, PROGRAM.dwp; owned by the caller. */
struct cp_elf *cp_debug_package(struct cp_image *image);
/* The ELF file in .gnu_debugdata; owned by the caller. */
struct cp_elf *cp_debug_mini(struct cp_elf *elf);

#endif
