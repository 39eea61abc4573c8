/* SPDX-License-Identifier: MIT
 *
 * Uncompressing sections: the only place of this room that knows zlib, zstd
 * and lzma.
 */
#ifndef CP_IMAGE_INFLATE_H
#define CP_IMAGE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cp_compression { CP_COMPRESSION_ZLIB, CP_COMPRESSION_ZSTD };

/* Uncompresses all of `from` into exactly `to_size` bytes; false when it does
 * not come to that. */
bool cp_inflate(enum cp_compression kind, const void *from, size_t from_size, void *to,
		size_t to_size);

/* An xz stream; *ret is malloc()ed. False when it is broken or would need
 * more than `max` bytes. */
bool cp_inflate_xz(const void *from, size_t from_size, size_t max, uint8_t **ret, size_t *size_ret);

#endif
