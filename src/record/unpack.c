/* SPDX-License-Identifier: MIT */
#include "record/unpack.h"

#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "record/format.h"

bool cp_record_unpack(unsigned codec, const uint8_t *payload, size_t stored, size_t raw,
		      struct cp_buf *ret, bool *no_memory_ret)
{
	size_t n;

	if (ret->capacity < raw + 1 &&
	    !cp_vec_grow((void **)&ret->bytes, &ret->capacity, raw + 1, 1)) {
		*no_memory_ret = true;
		return false;
	}
	if (codec == CP_RECORD_CODEC_NONE && stored == raw) {
		memcpy(ret->bytes, payload, raw);
	} else if (codec == CP_RECORD_CODEC_ZSTD) {
		n = ZSTD_decompress(ret->bytes, raw, payload, stored);
		if (ZSTD_isError(n) || n != raw)
			return false;
	} else {
		return false;
	}
	ret->size = raw;
	return true;
}
