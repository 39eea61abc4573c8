/* SPDX-License-Identifier: MIT */
#include "image/inflate.h"

#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/vec.h"

/* More than any dictionary that xz makes by itself (64 MiB for -9). */
#define XZ_MEMORY (UINT64_C(128) << 20)

bool cp_inflate(enum cp_compression kind, const void *from, size_t from_size, void *to,
		size_t to_size)
{
	uLongf done = to_size;
	size_t n;

	switch (kind) {
	case CP_COMPRESSION_ZLIB:
		return uncompress(to, &done, from, from_size) == Z_OK && done == to_size;
	case CP_COMPRESSION_ZSTD:
		n = ZSTD_decompress(to, to_size, from, from_size);
		return !ZSTD_isError(n) && n == to_size;
	}
	return false;
}

static bool xz_run(lzma_stream *xz, size_t max, uint8_t **bytes, size_t *size)
{
	size_t capacity = 0;
	lzma_ret got = LZMA_OK;

	while (got == LZMA_OK) {
		if (!xz->avail_out) {
			*size = capacity;
			if (capacity >= max ||
			    !cp_vec_grow((void **)bytes, &capacity, capacity + 65536, 1))
				return false;
			xz->next_out = *bytes + *size;
			xz->avail_out = capacity - *size;
		}
		got = lzma_code(xz, LZMA_FINISH);
	}
	*size = capacity - xz->avail_out;
	return got == LZMA_STREAM_END;
}

bool cp_inflate_xz(const void *from, size_t from_size, size_t max, uint8_t **ret, size_t *size_ret)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	uint8_t *bytes = NULL;
	size_t size = 0;
	bool ok;

	if (lzma_stream_decoder(&xz, XZ_MEMORY, 0) != LZMA_OK)
		return false;
	xz.next_in = from;
	xz.avail_in = from_size;
	ok = xz_run(&xz, max, &bytes, &size);
	lzma_end(&xz);
	if (!ok) {
		free(bytes);
		return false;
	}
	*ret = bytes;
	*size_ret = size;
	return true;
}
