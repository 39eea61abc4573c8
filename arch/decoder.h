/* SPDX-License-Identifier: MIT
 *
 * What decodes many instructions with one handle of capstone's, which is opened
 * when it is first needed; not for several threads at once.
 */
#ifndef CP_ARCH_DECODER_H
#define CP_ARCH_DECODER_H

#include "arch/arch.h"

struct cp_decoder *cp_decoder_create(const struct cp_arch *arch); /* NULL: no memory, no support */
void cp_decoder_destroy(struct cp_decoder *decoder);

#endif
