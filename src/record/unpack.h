/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_UNPACK_H
#define CP_RECORD_UNPACK_H

#include "base/buf.h"

/* A payload as it is in the file, into `ret`; false when it is broken. */
bool cp_record_unpack(unsigned codec, const uint8_t *payload, size_t stored, size_t raw,
		      struct cp_buf *ret, bool *no_memory_ret);

#endif
