/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of values come from: registers, and what was fetched at the
 * stop, which is memory in pieces, found again by address.
 */
#include "inspect/bytes.h"

#include "inspect/locate.h"

/* ---- memory ---- */

/* The longest piece of captured memory at `address`; *tried_ret: somebody
 * wanted to read there. */
static struct cp_bytes captured(const struct cp_capture *c, uint64_t address, bool *tried_ret)
{
	struct cp_bytes best = { .address = address };
	struct cp_fetched block;
	const uint8_t *bytes;
	size_t at = 0;

	*tried_ret = false;
	while (cp_fetched_next(c->fetched, c->fetched_size, &at, &block, &bytes)) {
		if (block.address == address)
			*tried_ret = true;
		if (address - block.address >= block.size ||
		    block.size - (address - block.address) <= best.size)
			continue;
		best.at = bytes + (address - block.address);
		best.size = block.size - (address - block.address);
	}
	return best;
}

struct cp_bytes cp_build_memory(struct cp_build *b, uint64_t address, uint64_t want,
				bool *tried_ret)
{
	const struct cp_capture *c = b->request->capture;
	struct cp_bytes got = captured(c, address, tried_ret);
	uint8_t *copy;

	if (got.size >= want) {
		got.size = want;
		return got;
	}
	if (!c->memory)
		return got;
	copy = cp_arena_alloc(b->arena, want);
	if (!copy)
		return got;
	*tried_ret |= !c->memory_is_copy;
	want = c->memory->read(c->memory->ctx, address, copy, want);
	return want > got.size ? (struct cp_bytes){ copy, want, address } : got;
}

void cp_capture_later(struct cp_capture *c, const struct cp_reader *memory,
		      struct cp_value_arena *arena)
{
	uint8_t *kept = cp_arena_alloc(&arena->memory, c->fetched_size + 1);
	struct cp_fetched block;
	const uint8_t *bytes;
	size_t at = 0, from = 0, size = 0;

	for (; kept && cp_fetched_next(c->fetched, c->fetched_size, &at, &block, &bytes);
	     from = at) {
		if (block.index >= c->fetch_count || at > c->fetched_size ||
		    c->fetches[block.index].from != cp_arch_host()->sp)
			continue;
		memcpy(kept + size, c->fetched + from, at - from);
		size += at - from;
	}
	c->fetched = kept;
	c->fetched_size = size;
	c->memory = memory;
}

/* ---- bytes of a parameter ---- */

static bool read_memory(struct cp_build *b, uint64_t address, uint8_t *to, uint32_t size,
			uint8_t *error_ret)
{
	bool tried;
	struct cp_bytes at = cp_build_memory(b, address, size, &tried);

	*error_ret = tried ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE;
	if (at.size < size)
		return false;
	memcpy(to, at.at, size);
	return true;
}

static bool read_part(struct cp_build *b, const struct cp_piece *piece,
		      const struct cp_located *part, uint8_t *to, uint32_t size,
		      uint64_t *address_ret, uint8_t *error_ret)
{
	const struct cp_regs *regs = &b->request->capture->regs;
	bool at_exit = piece->number & CP_COMPUTED_AT_EXIT;

	*error_ret = CPROF_VALUE_UNAVAILABLE;
	switch ((enum cp_located_kind)part->kind) {
	case CP_LOCATED_VALUE:
		if (size > sizeof(part->value))
			return false;
		memcpy(to, &part->value, size);
		return true;
	case CP_LOCATED_BYTES:
		if (!part->bytes)
			return false;
		memcpy(to, part->bytes, size);
		return true;
	case CP_LOCATED_REGISTER:
		if (at_exit || part->value >= cp_arch_host()->nregs ||
		    !(regs->known >> part->value & 1) || part->skip + size > 8)
			return false;
		memcpy(to, (const uint8_t *)&regs->r[part->value] + part->skip, size);
		return true;
	case CP_LOCATED_MEMORY:
		*address_ret = part->value;
		return !at_exit && read_memory(b, part->value, to, size, error_ret);
	case CP_LOCATED_NOWHERE:
		*error_ret = CPROF_VALUE_OPTIMIZED_OUT;
		return false;
	}
	return false;
}

/* Parts one behind the other, or one that is all of it. */
static bool read_computed(struct cp_build *b, const struct cp_piece *piece, uint8_t *to,
			  uint32_t size, uint64_t *address_ret, uint8_t *error_ret)
{
	struct cp_located parts[CP_LOCATED_MAX];
	size_t count, i;
	uint32_t take, done = 0;

	if (cp_locate_now(piece, b->request->capture, parts, &count) != CP_LOCATION_OK) {
		if (cp_locate_lacks_entry(piece, b->request->capture))
			*error_ret = CPROF_VALUE_OPTIMIZED_OUT;
		return false;
	}
	for (i = 0; i < count && done < size; i++, done += take) {
		take = parts[i].size && parts[i].size < size - done ? parts[i].size : size - done;
		if (!read_part(b, piece, &parts[i], to + done, take, address_ret, error_ret))
			return false;
	}
	if (count > 1)
		*address_ret = 0;
	if (done < size)
		*error_ret = CPROF_VALUE_OPTIMIZED_OUT;
	return done >= size;
}

/* Copies what one piece holds; false with *error_ret when it can't be had. */
static bool read_piece(struct cp_build *b, const struct cp_piece *piece, uint8_t *to, uint32_t size,
		       uint64_t *address_ret, uint8_t *error_ret)
{
	const struct cp_capture *c = b->request->capture;
	unsigned n = piece->number;
	uint64_t sum;

	*error_ret = CPROF_VALUE_UNAVAILABLE;
	switch (piece->where) {
	case CP_PIECE_REGISTER:
		if (n >= CP_REG_MAX || !(c->regs.known >> n & 1) || piece->skip + size > 8)
			return false;
		memcpy(to, (const uint8_t *)&c->regs.r[n] + piece->skip, size);
		return true;
	case CP_PIECE_VECTOR:
		if (n >= CP_ARCH_VECTORS || !c->vector || piece->skip + size > 16)
			return false;
		memcpy(to, c->vector->v[n] + piece->skip, size);
		return true;
	case CP_PIECE_X87:
		if (n >= 2 || !c->vector || size > 16)
			return false;
		memcpy(to, c->vector->x87[n], size);
		return true;
	case CP_PIECE_CONSTANT:
		memcpy(to, piece->bytes, size);
		return true;
	case CP_PIECE_SUM:
		if (n != UINT8_MAX && (n >= CP_REG_MAX || !(c->regs.known >> n & 1)))
			return false;
		sum = (n == UINT8_MAX ? 0 : c->regs.r[n]) + (uint64_t)piece->offset;
		memcpy(to, &sum, size < 8 ? size : 8);
		return true;
	case CP_PIECE_MEMORY:
		if (n >= CP_REG_MAX || !(c->regs.known >> n & 1))
			return false;
		*address_ret = c->regs.r[n] + (uint64_t)piece->offset;
		return read_memory(b, *address_ret, to, size, error_ret);
	case CP_PIECE_COMPUTED:
		return read_computed(b, piece, to, size, address_ret, error_ret);
	default:
		*error_ret = CPROF_VALUE_OPTIMIZED_OUT;
		return false;
	}
}

static struct cp_bytes direct_bytes(struct cp_build *b, const struct cp_parameter *p, uint64_t size,
				    uint8_t *error_ret)
{
	const struct cp_place *place = &p->place;
	const struct cp_piece *piece;
	uint64_t address = 0, take;
	uint8_t *to = cp_arena_alloc(b->arena, size < 16 ? 16 : size);
	struct cp_bytes got = { to, size, 0 };
	unsigned i;

	for (i = 0; to && i < place->count; i++) {
		piece = &place->pieces[i];
		if (piece->at >= size)
			continue;
		take = size - piece->at < piece->size ? size - piece->at : piece->size;
		if (!read_piece(b, piece, to + piece->at, (uint32_t)take, &address, error_ret))
			return (struct cp_bytes){ .address = address };
	}
	if (place->count == 1)
		got.address = address;
	return to ? got : (struct cp_bytes){ 0 };
}

static struct cp_bytes indirect_bytes(struct cp_build *b, const struct cp_parameter *p,
				      uint64_t size, uint8_t *error_ret)
{
	uint8_t pointer[8];
	uint64_t address;
	struct cp_bytes at;
	bool tried;

	if (!read_piece(b, &p->place.pieces[0], pointer, 8, &address, error_ret))
		return (struct cp_bytes){ 0 };
	at = cp_build_memory(b, cp_build_number(pointer, 8), size, &tried);
	*error_ret = tried ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE;
	return at;
}

/* A float that was passed as a double. */
static struct cp_bytes demoted(struct cp_build *b, const struct cp_parameter *p, uint8_t *error_ret)
{
	struct cp_bytes got = direct_bytes(b, p, 8, error_ret);
	uint8_t *to = cp_arena_alloc(b->arena, 8);
	double value;
	float single;

	if (got.size != 8 || !to)
		return (struct cp_bytes){ 0 };
	memcpy(&value, got.at, 8);
	single = (float)value;
	memcpy(to, &single, 4);
	return (struct cp_bytes){ to, 4, 0 };
}

struct cp_bytes cp_build_bytes(struct cp_build *b, const struct cp_parameter *p, uint8_t *error_ret)
{
	const struct cp_type *t = cp_type_strip(p->type);
	uint64_t size = t ? t->size : 8;

	*error_ret = CPROF_VALUE_UNAVAILABLE;
	size = size < b->limits->value ? size : b->limits->value;
	switch (p->place.how) {
	case CP_PLACE_DIRECT:
		return p->place.promoted ? demoted(b, p, error_ret)
					 : direct_bytes(b, p, size, error_ret);
	case CP_PLACE_INDIRECT:
		return indirect_bytes(b, p, size, error_ret);
	case CP_PLACE_DESTROYED:
		*error_ret = CPROF_VALUE_DESTROYED;
		return (struct cp_bytes){ 0 };
	case CP_PLACE_GONE:
		*error_ret = CPROF_VALUE_OPTIMIZED_OUT;
		return (struct cp_bytes){ 0 };
	default:
		return (struct cp_bytes){ 0 };
	}
}
