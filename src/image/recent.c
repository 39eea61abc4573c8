/* SPDX-License-Identifier: MIT */
#include "image/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/elffile.h"

void cp_recent_init(struct cp_recent *recent)
{
	memset(recent, 0, sizeof(*recent));
	pthread_mutex_init(&recent->lock, NULL);
}

void cp_recent_deinit(struct cp_recent *recent)
{
	size_t i;

	for (i = 0; i < CP_RECENT_PIECES; i++)
		free(recent->pieces[i].bytes);
	pthread_mutex_destroy(&recent->lock);
}

/* NULL without memory. */
static const struct cp_recent_piece *piece_at(struct cp_recent *r, const struct cp_elf *elf,
					      uint64_t offset)
{
	uint64_t number = offset / CP_RECENT_PIECE;
	struct cp_recent_piece *piece = &r->pieces[number % CP_RECENT_PIECES];

	if (piece->number == number + 1)
		return piece;
	if (!piece->bytes)
		piece->bytes = malloc(CP_RECENT_PIECE);
	if (!piece->bytes)
		return NULL;
	piece->number = number + 1;
	piece->size = (uint32_t)cp_pread(elf->fd, piece->bytes, CP_RECENT_PIECE,
					 number * CP_RECENT_PIECE);
	return piece;
}

static bool copy(struct cp_recent *r, const struct cp_elf *elf, uint64_t offset, uint8_t *to,
		 size_t size)
{
	const struct cp_recent_piece *piece;
	size_t within, n;

	for (; size; size -= n, offset += n, to += n) {
		within = offset % CP_RECENT_PIECE;
		n = CP_RECENT_PIECE - within < size ? CP_RECENT_PIECE - within : size;
		piece = piece_at(r, elf, offset);
		if (!piece || within + n > piece->size)
			return false;
		memcpy(to, piece->bytes + within, n);
	}
	return true;
}

bool cp_recent_read(struct cp_recent *recent, const struct cp_elf *elf, uint64_t offset,
		    void *buffer, size_t size)
{
	bool there;

	if (elf->blob || size > CP_RECENT_MOST)
		return cp_elf_read(elf, offset, buffer, size);
	if (offset > elf->size || size > elf->size - offset)
		return false;
	pthread_mutex_lock(&recent->lock);
	there = copy(recent, elf, offset, buffer, size);
	pthread_mutex_unlock(&recent->lock);
	return there;
}
