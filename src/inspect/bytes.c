/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of values come from: registers, and what was fetched at the
 * stop, which is memory in pieces, found again by address.
 */
#include "inspect/bytes.h"

#include "inspect/locate.h"

#define ROW_MAX 4 /* pointers that are nowhere, in a row */

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

/* Notes that bits of a value are not known. Without memory for that none of it is. */
static bool lack(struct cp_build *b, struct cp_bytes *of, struct cp_gap gap)
{
	struct cp_gap *kept = cp_arena_alloc(b->arena, sizeof(*kept));

	if (!kept) {
		*of = (struct cp_bytes){ 0 };
		return false;
	}
	gap.next = of->gaps;
	*kept = gap;
	of->gaps = kept;
	return true;
}

/* A variable that has no type, as constants that a compiler put there have none. */
static struct cp_type untyped(struct cp_parameter *p)
{
	const struct cp_piece *piece = &p->place.pieces[0];
	struct cp_type type = { .kind = CP_TYPE_ARRAY, .text = "" };

	if (p->place.how == CP_PLACE_DIRECT && p->place.count == 1 &&
	    piece->where == CP_PIECE_CONSTANT)
		type.size = piece->size;
	return type;
}

/* What a pointer that is nowhere leads to, in the same frame; NULL: that is not known. */
static const struct cp_bytes *implied(struct cp_build *b, const uint8_t *what)
{
	static const struct cp_type any = { .kind = CP_TYPE_ARRAY, .size = 4096, .text = "" };
	const struct cp_value_request *r = b->request;
	struct cp_variable v;
	struct cp_parameter p = { .name = "", .source = CPROF_SOURCE_DWARF };
	struct cp_type made;
	struct cp_bytes got = { 0 };
	bool typed;
	uint64_t skip;
	int64_t offset;
	uint8_t error;

	if (!r->frame || b->implied_depth == ROW_MAX || b->implied++ >= CP_IMPLIED_MAX ||
	    !cp_image_implied(r->signature->image, what, b->arena, &v, &offset))
		return NULL;
	typed = v.type;
	v.type = typed ? v.type : &any;
	p.place = cp_locate_in_frame(r->signature, &v, r->frame);
	made = untyped(&p);
	p.type = typed ? v.type : &made;
	b->implied_depth++;
	if (cp_type_strip(p.type)->size)
		got = cp_build_bytes(b, &p, &error);
	b->implied_depth--;
	skip = (uint64_t)offset;
	if (offset < 0 || skip >= got.size)
		return NULL;
	got.at += skip;
	got.size -= skip;
	got.within += skip;
	got.address += got.address ? skip : 0;
	return (const struct cp_bytes *)cp_arena_copy(b->arena, &got, sizeof(got));
}

/* Which bytes of a value are wanted of a part of it. */
struct wanted {
	uint8_t *to;
	uint32_t size;
	uint64_t address; /* told: where it is in memory */
	uint8_t error; /* told: why not */
};

static bool read_part(struct cp_build *b, const struct cp_piece *piece,
		      const struct cp_located *part, struct wanted *w)
{
	const struct cp_regs *regs = &b->request->capture->regs;
	const uint64_t end = (uint64_t)part->skip + w->size;
	bool at_exit = piece->number & CP_COMPUTED_AT_EXIT;

	w->error = CPROF_VALUE_UNAVAILABLE;
	switch ((enum cp_located_kind)part->kind) {
	case CP_LOCATED_VALUE:
		if (end > sizeof(part->value))
			return false;
		memcpy(w->to, (const uint8_t *)&part->value + part->skip, w->size);
		return true;
	case CP_LOCATED_BYTES:
		if (!part->bytes || end > part->value)
			return false;
		memcpy(w->to, part->bytes + part->skip, w->size);
		return true;
	case CP_LOCATED_REGISTER:
		if (at_exit || part->value >= cp_arch_host()->nregs ||
		    !(regs->known >> part->value & 1) || end > 8)
			return false;
		memcpy(w->to, (const uint8_t *)&regs->r[part->value] + part->skip, w->size);
		return true;
	case CP_LOCATED_MEMORY:
		w->address = part->value + part->skip;
		return !at_exit && read_memory(b, w->address, w->to, w->size, &w->error);
	case CP_LOCATED_NOWHERE:
	case CP_LOCATED_IMPLIED:
		w->error = CPROF_VALUE_OPTIMIZED_OUT;
		return false;
	}
	return false;
}

/* `count` bits of a part, to bit `at` of what is made. */
static bool read_bits(struct cp_build *b, const struct cp_piece *piece,
		      const struct cp_located *part, uint64_t at, uint64_t count, struct wanted *w)
{
	uint8_t whole[16], *const to = w->to;
	struct wanted some = { .to = whole, .size = (uint32_t)((part->skip_bits + count + 7) / 8) };
	uint64_t i, bit;
	bool done;

	if (!(at % 8 || count % 8 || part->skip_bits)) {
		w->to += at / 8;
		w->size = (uint32_t)(count / 8);
		done = read_part(b, piece, part, w);
		w->to = to;
		return done;
	}
	w->error = CPROF_VALUE_UNAVAILABLE;
	if (some.size > sizeof(whole))
		return false;
	done = read_part(b, piece, part, &some);
	w->error = some.error;
	for (i = 0; done && i < count; i++) {
		bit = part->skip_bits + i;
		if (whole[bit / 8] >> bit % 8 & 1)
			to[(at + i) / 8] |= (uint8_t)(1u << (at + i) % 8);
	}
	return done;
}

/* Parts one behind the other, or one that is all of it. `of`: all zero yet. */
static void read_computed(struct cp_build *b, const struct cp_piece *piece, uint8_t *to,
			  struct cp_bytes *of, uint64_t *address_ret)
{
	struct wanted w = { .to = to };
	struct cp_gap gap = { .error = CPROF_VALUE_UNAVAILABLE };
	struct cp_located parts[CP_LOCATED_MAX];
	const uint64_t size = of->size * 8;
	size_t count, i;

	if (cp_locate_now(piece, b->request->capture, parts, &count) != CP_LOCATION_OK) {
		if (cp_locate_lacks_entry(piece, b->request->capture))
			gap.error = CPROF_VALUE_OPTIMIZED_OUT;
		count = 0;
	}
	for (i = 0; i < count && gap.at < size; i++, gap.at += gap.size) {
		gap.size = parts[i].size * UINT64_C(8) + parts[i].size_bits;
		if (!gap.size || gap.size > size - gap.at)
			gap.size = size - gap.at;
		if (read_bits(b, piece, &parts[i], gap.at, gap.size, &w))
			continue;
		gap.error = w.error;
		gap.address = w.address;
		gap.leads = parts[i].kind == CP_LOCATED_IMPLIED ? implied(b, parts[i].bytes) : NULL;
		if (!lack(b, of, gap))
			return;
	}
	*address_ret = count == 1 ? w.address : 0;
	if (gap.at >= size)
		return;
	gap.size = size - gap.at;
	gap.leads = NULL;
	gap.error = count ? CPROF_VALUE_OPTIMIZED_OUT : gap.error;
	lack(b, of, gap);
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
	default:
		*error_ret = CPROF_VALUE_OPTIMIZED_OUT;
		return false;
	}
}

/* Is nothing known of it, and of nothing that it leads to? */
static bool is_unknown(const struct cp_bytes *bytes)
{
	const struct cp_gap *gap;

	for (gap = bytes->gaps; gap; gap = gap->next)
		if (gap->leads)
			return false;
	return cp_gaps_are_all(bytes, bytes->size);
}

static void add_piece(struct cp_build *b, const struct cp_piece *piece, uint8_t *to,
		      struct cp_bytes *got, uint64_t *address_ret)
{
	struct cp_gap gap = { .at = piece->at * UINT64_C(8) };
	uint64_t take = got->size - piece->at;

	if (piece->where == CP_PIECE_COMPUTED) {
		read_computed(b, piece, to, got, address_ret);
		return;
	}
	take = take < piece->size ? take : piece->size;
	if (read_piece(b, piece, to + piece->at, (uint32_t)take, address_ret, &gap.error))
		return;
	gap.size = take * 8;
	gap.address = piece->where == CP_PIECE_MEMORY ? *address_ret : 0;
	gap.leads = piece->where == CP_PIECE_IMPLIED ? implied(b, piece->bytes) : NULL;
	lack(b, got, gap);
}

static struct cp_bytes direct_bytes(struct cp_build *b, const struct cp_parameter *p, uint64_t size,
				    uint8_t *error_ret)
{
	const struct cp_place *place = &p->place;
	uint64_t address = 0;
	uint8_t *to = cp_arena_alloc(b->arena, size < 16 ? 16 : size);
	struct cp_bytes got = { .at = to, .size = to ? size : 0 };
	unsigned i;

	for (i = 0; i < place->count && got.size; i++)
		if (place->pieces[i].at < size)
			add_piece(b, &place->pieces[i], to, &got, &address);
	if (place->count == 1)
		got.address = address;
	if (!got.gaps || !is_unknown(&got))
		return got;
	*error_ret = got.gaps->error;
	return (struct cp_bytes){ .address = address };
}

static struct cp_bytes indirect_bytes(struct cp_build *b, const struct cp_parameter *p,
				      uint64_t size, uint8_t *error_ret)
{
	uint8_t pointer[8];
	uint64_t address;
	struct cp_bytes at;
	bool tried;

	if (p->place.pieces[0].where == CP_PIECE_COMPUTED ||
	    !read_piece(b, &p->place.pieces[0], pointer, 8, &address, error_ret))
		return (struct cp_bytes){ 0 };
	at = cp_build_memory(b, cp_build_number(pointer, 8), size, &tried);
	*error_ret = tried ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE;
	return at;
}

/* What pointers lead to from the one that the place is. */
static struct cp_bytes led_bytes(struct cp_build *b, const struct cp_parameter *p, uint64_t size,
				 uint8_t *error_ret)
{
	struct cp_bytes at = direct_bytes(b, p, 8, error_ret);
	uint64_t pointer, want;
	bool tried;
	unsigned i;

	for (i = 0; i < p->lead_count && at.size == 8 && !at.gaps; i++) {
		want = i + 1u < p->lead_count ? 8 : size;
		pointer = cp_build_number(at.at, 8);
		at = cp_build_memory(b, pointer + (uint64_t)(int64_t)p->leads[i], want, &tried);
		*error_ret = tried || !pointer ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE;
		if (at.size < want)
			at.size = 0;
	}
	return i == p->lead_count ? at : (struct cp_bytes){ .address = at.address };
}

/* A float that was passed as a double. */
static struct cp_bytes demoted(struct cp_build *b, const struct cp_parameter *p, uint8_t *error_ret)
{
	struct cp_bytes got = direct_bytes(b, p, 8, error_ret);
	uint8_t *to = cp_arena_alloc(b->arena, 8);
	double value;
	float single;

	if (got.size != 8 || got.gaps || !to)
		return (struct cp_bytes){ 0 };
	memcpy(&value, got.at, 8);
	single = (float)value;
	memcpy(to, &single, 4);
	return (struct cp_bytes){ to, 4, 0 };
}

struct cp_bytes cp_build_bytes(struct cp_build *b, const struct cp_parameter *p, uint8_t *error_ret)
{
	uint64_t size = cp_parameter_size(p);

	*error_ret = CPROF_VALUE_UNAVAILABLE;
	size = size < b->limits->value ? size : b->limits->value;
	switch (p->place.how) {
	case CP_PLACE_DIRECT:
		if (p->lead_count)
			return led_bytes(b, p, size, error_ret);
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
