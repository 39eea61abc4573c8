/* SPDX-License-Identifier: MIT
 *
 * Does code use what threads' rings are found by, the base of gs? Then it is the program's,
 * and there are no detours in a process that has it mapped.
 */
#ifndef CP_DETOUR_BASE_H
#define CP_DETOUR_BASE_H

#include "arch/arch.h"
#include "arch/decoder.h"
#include "base/types.h"
#include "image/image.h"

/* Looks through code, bad bytes passed over, for an instruction that reads or writes
 * relative to the base, or moves it, or has the kernel do that by the number of
 * arch_prctl(). `names_it`: that is called by its name in there, too. */
bool cp_detour_base_used(struct cp_decoder *decoder, const uint8_t *code, size_t size,
			 bool names_it);
/* The same of an image's section of code. False with *has_ret false: it has none. */
bool cp_detour_base_used_by(struct cp_decoder *decoder, struct cp_image *image, bool *has_ret);

#endif
