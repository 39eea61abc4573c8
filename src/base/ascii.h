/* SPDX-License-Identifier: MIT
 *
 * Text for who can read no more than ASCII.
 */
#ifndef CP_BASE_ASCII_H
#define CP_BASE_ASCII_H

#include <stddef.h>

#include "base/buf.h"

/* Appends `text` in ASCII: signs of ours that look alike there, what else is not in
 * it as \u{...}, bytes that are no UTF-8 as \x... */
void cp_text_to_ascii(struct cp_buf *out, const char *text, size_t size);

#endif
