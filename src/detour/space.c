/* SPDX-License-Identifier: MIT */
#include "detour/space.h"

#include <string.h>

#include "base/map.h"
#include "base/vec.h"

/* Of code: what is that near to one place is in reach of each other. */
#define REACH ((UINT64_C(1) << 30) - (UINT64_C(64) << 20))
#define MAX_TRIES 65536
#define ALIGNMENT 16 /* of code */
/* Intel's processors know a jump by the low 24 bits of its address, give or take a line: where
 * a window and the code that it leads to had these in common, each jump was expected at the
 * other's place as well, which took ten times what the code does. So of what is told apart by
 * this bit alone, the other half is taken. */
#define OTHER_HALF (UINT32_C(1) << 23)

struct gap {
	uint64_t start, end;
	bool last;
};

struct chunk {
	uint64_t at;
	size_t refused; /* the least code that found no room here; SIZE_MAX: none */
	size_t longest; /* no more than that is free in a row; exactly so, unless it is stale */
	bool stale;
	uint64_t used[CP_DETOUR_CHUNK / 64]; /* a bit a byte */
};

/* Where bytes at addresses of this kind were found last. */
struct found {
	uint32_t mask, value;
	uint64_t at;
};
#define FOUND 64

struct cp_detour_space {
	CP_VEC(struct gap) gaps;
	CP_VEC(struct chunk *) chunks; /* owned; by address */
	CP_VEC(struct chunk *) order; /* the same, as they came, */
	CP_VEC(uint64_t) addresses; /* and where they are */
	struct found found[FOUND];
	bool last; /* what is last may be taken */
	struct cp_map kept; /* address -> bytes that are in use for what comes there */
};

struct cp_detour_space *cp_detour_space_create(void)
{
	return calloc(1, sizeof(struct cp_detour_space));
}

void cp_detour_space_destroy(struct cp_detour_space *space)
{
	size_t i;

	if (!space)
		return;
	for (i = 0; i < space->chunks.count; i++)
		free(space->chunks.items[i]);
	cp_vec_free(&space->chunks);
	cp_vec_free(&space->order);
	cp_vec_free(&space->addresses);
	cp_vec_free(&space->gaps);
	cp_map_free(&space->kept);
	free(space);
}

static bool add_gap(struct cp_detour_space *s, uint64_t start, uint64_t end, bool last)
{
	start = (start + CP_DETOUR_CHUNK - 1) & ~(uint64_t)(CP_DETOUR_CHUNK - 1);
	end &= ~(uint64_t)(CP_DETOUR_CHUNK - 1);
	return start >= end || cp_vec_push(&s->gaps, (struct gap){ start, end, last });
}

bool cp_detour_space_add(struct cp_detour_space *space, uint64_t start, uint64_t end)
{
	return add_gap(space, start, end, false);
}

bool cp_detour_space_add_last(struct cp_detour_space *space, uint64_t start, uint64_t end)
{
	return add_gap(space, start, end, true);
}

size_t cp_detour_space_chunks(const struct cp_detour_space *space, const uint64_t **ret)
{
	*ret = space->addresses.items;
	return space->addresses.count;
}

/* ---- bytes ---- */

static struct chunk *find_chunk(const struct cp_detour_space *s, uint64_t at)
{
	size_t i = cp_vec_partition(&s->chunks, c, (*c)->at + CP_DETOUR_CHUNK <= at);

	return i < s->chunks.count && s->chunks.items[i]->at <= at ? s->chunks.items[i] : NULL;
}

static struct chunk *make_chunk(struct cp_detour_space *s, uint64_t at)
{
	size_t i = cp_vec_partition(&s->chunks, c, (*c)->at < at);
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk || !cp_vec_reserve(&s->order, s->order.count + 1) ||
	    !cp_vec_reserve(&s->addresses, s->addresses.count + 1) ||
	    !cp_vec_insert(&s->chunks, i, chunk)) {
		free(chunk);
		return NULL;
	}
	chunk->at = at;
	chunk->refused = SIZE_MAX;
	chunk->longest = CP_DETOUR_CHUNK;
	s->order.items[s->order.count++] = chunk;
	s->addresses.items[s->addresses.count++] = at;
	return chunk;
}

/* The last byte in use of from ... to in a chunk, + 1; 0: none is. */
static uint64_t last_used(const struct chunk *c, uint64_t from, uint64_t to)
{
	uint64_t word, i;

	for (i = to; i > from; i -= (i - 1) % 64 + 1) {
		word = c->used[(i - 1) / 64] << (63 - (i - 1) % 64);
		if (i - from < 64)
			word &= ~UINT64_C(0) << (64 - (i - from));
		if (word)
			return i - (uint64_t)__builtin_clzll(word);
	}
	return 0;
}

/* The same of `size` bytes at an address, whatever they are in. */
static uint64_t end_of_used(const struct cp_detour_space *s, uint64_t at, size_t size)
{
	uint64_t end = at + size, first, used;
	const struct chunk *c;

	while (end > at) {
		first = (end - 1) & ~(uint64_t)(CP_DETOUR_CHUNK - 1);
		c = find_chunk(s, end - 1);
		used = c ? last_used(c, at > first ? at - first : 0, end - first) : 0;
		if (used)
			return first + used;
		end = first;
	}
	return 0;
}

static bool use(struct cp_detour_space *s, uint64_t at, size_t size)
{
	uint64_t first = at & ~(uint64_t)(CP_DETOUR_CHUNK - 1), i;
	struct chunk *c;
	size_t n;

	for (; first < at + size; first += CP_DETOUR_CHUNK) {
		if (!find_chunk(s, first) && !make_chunk(s, first))
			return false;
	}
	for (; size; at += n, size -= n) {
		c = find_chunk(s, at);
		for (i = at - c->at, n = 0; n < size && i < CP_DETOUR_CHUNK; i++, n++)
			c->used[i / 64] |= UINT64_C(1) << (i % 64);
		c->stale = true;
	}
	return true;
}

static void unuse(struct cp_detour_space *s, uint64_t at, size_t size)
{
	struct chunk *c;
	uint64_t i;

	for (; size; at++, size--) {
		c = find_chunk(s, at);
		i = at % CP_DETOUR_CHUNK;
		if (!c)
			continue;
		c->used[i / 64] &= ~(UINT64_C(1) << (i % 64));
		c->refused = SIZE_MAX;
		c->longest = CP_DETOUR_CHUNK;
		c->stale = true;
	}
}

/* Bytes that are free in a row, at most. */
static size_t longest_free(const struct chunk *c)
{
	size_t longest = 0, run = 0, i, n;
	uint64_t word, left;

	for (i = 0; i < CP_ARRAY_SIZE(c->used); i++) {
		word = c->used[i];
		for (left = 64; word; left -= n, word = n < 64 ? word >> n : 0) {
			n = (size_t)__builtin_ctzll(word); /* free, then in use */
			longest = run + n > longest ? run + n : longest;
			run = 0;
			left -= n;
			word >>= n;
			n = ~word ? (size_t)__builtin_ctzll(~word) : 64;
		}
		run += left;
	}
	return run > longest ? run : longest;
}

/* Is there nowhere so much in a row? `exactly`: else it may seem that there is. */
static bool is_full(struct chunk *c, size_t size, bool exactly)
{
	if (exactly && c->stale && size <= c->longest) {
		c->longest = longest_free(c);
		c->stale = false;
	}
	return size > c->longest;
}

/* ---- places ---- */

/* How much has to be added to `r` until the bits in `mask` are those of `value`;
 * UINT64_MAX: it would have to begin anew. */
static uint64_t until_matches(uint32_t r, uint32_t mask, uint32_t value)
{
	uint32_t above, to;
	unsigned i;

	if ((r & mask) == value)
		return 0;
	/* The lowest bit that can become one, with all above as they are. */
	for (i = 0; i < 32; i++) {
		above = i == 31 ? 0 : ~UINT32_C(0) << (i + 1);
		if (r >> i & 1 || ((r ^ value) & mask & above) ||
		    (mask >> i & 1 && !(value >> i & 1)))
			continue;
		to = (r & above) | UINT32_C(1) << i | (value & ((UINT32_C(1) << i) - 1));
		return to - r;
	}
	return UINT64_MAX;
}

/* How often it is looked where in a chunk there is room before it is asked if there is any. */
#define LOOKS 16

/* Where something may be that lies in this chunk at its end only, which is full. 0: it is not. */
static uint64_t end_of_full(const struct cp_detour_space *s, uint64_t at, size_t size, bool exactly)
{
	struct chunk *c = find_chunk(s, at);
	uint64_t last = c ? c->at + CP_DETOUR_CHUNK - (size - 1) : 0;

	return at < last && is_full(c, size, exactly) ? last : 0;
}

/* `size` free bytes in low ... high, at an address which, counted from `base`, has the
 * bits of `value` in `mask`. */
static uint64_t search(struct cp_detour_space *s, uint64_t low, uint64_t high, size_t size,
		       uint64_t base, uint32_t mask, uint32_t value)
{
	unsigned tries = 0;
	const struct gap *g;

	cp_vec_for_each(&s->gaps, g) {
		uint64_t at = g->start > low ? g->start : low;
		uint64_t end = g->end < high ? g->end : high, more;

		if (g->last && !s->last)
			continue;
		while (at < end && end - at >= size && tries++ < MAX_TRIES) {
			more = until_matches((uint32_t)(at - base), mask, value);
			if (more > end - at || end - at - more < size)
				break;
			at += more;
			more = end_of_full(s, at, size, tries % LOOKS == 0);
			if (!more)
				more = end_of_used(s, at, size);
			if (!more)
				return at;
			at = more;
		}
	}
	return 0;
}

static uint64_t take(struct cp_detour_space *s, uint64_t low, uint64_t high, size_t size,
		     uint64_t base, uint32_t mask, uint32_t value)
{
	struct found *f = &s->found[(mask ^ mask >> 15 ^ value >> 24) % FOUND];
	uint64_t at = 0;

	if (f->mask == mask && f->value == value && f->at > low && f->at < high)
		at = search(s, f->at, high, size, base, mask, value);
	if (!at)
		at = search(s, low, high, size, base, mask, value);
	if (!at || !use(s, at, size))
		return 0;
	*f = (struct found){ mask, value, at + size };
	return at;
}

/* The same, if that can be where no jump at `base` is expected. */
static uint64_t take_apart(struct cp_detour_space *s, uint64_t low, uint64_t high, size_t size,
			   uint64_t base, uint32_t mask, uint32_t value)
{
	uint64_t at = 0;

	if (!(mask & OTHER_HALF))
		at = take(s, low, high, size, base, mask | OTHER_HALF, value | OTHER_HALF);
	return at ? at : take(s, low, high, size, base, mask, value);
}

/* Code in a chunk, where no jump at `base` is expected. */
static uint64_t take_within(struct cp_detour_space *s, struct chunk *c, size_t size, uint64_t base)
{
	const uint64_t end = c->at + CP_DETOUR_CHUNK;
	uint64_t at;

	if (size >= c->refused)
		return 0;
	at = take(s, c->at, end, size, base, (ALIGNMENT - 1) | OTHER_HALF, OTHER_HALF);
	if (!at && (c->at - base) & (end - base) & OTHER_HALF) /* it was not for the half */
		c->refused = size;
	return at;
}

uint64_t cp_detour_space_take(struct cp_detour_space *space, uint64_t near, size_t size)
{
	/* What was begun is filled before something new is begun. */
	uint64_t low = near > REACH ? near - REACH : 0, base = near & ~(uint64_t)(ALIGNMENT - 1),
		 at;
	size_t i;

	for (i = space->order.count; i-- > 0;) {
		at = space->addresses.items[i];
		if (at < low || at >= near + REACH)
			continue;
		at = take_within(space, space->order.items[i], size, base);
		if (at)
			return at;
	}
	return take_apart(space, low, near + REACH, size, base, ALIGNMENT - 1, 0);
}

/* ---- detours ---- */

/* Bytes of a stub somewhere in low ... high. */
static size_t stub_size(uint64_t low, uint64_t high, uint64_t to)
{
	int64_t back = (int64_t)(to - high - CP_DETOUR_JUMP), on = (int64_t)(to - low);

	return back > INT32_MIN && on < INT32_MAX ? CP_DETOUR_JUMP : CP_DETOUR_STUB;
}

static void put_stub(struct cp_detour_write *stub, uint64_t at, uint64_t to, size_t size)
{
	static const struct cp_detour_landing anywhere;

	stub->at = at;
	stub->size = (uint8_t)size;
	if (!cp_detour_jump(&anywhere, at, to, stub->code))
		cp_detour_far_jump(to, stub->code);
}

/* A place for a stub, from which a jump at `at` gets the displacement it needs. */
static bool place_stub(struct cp_detour_space *s, const struct cp_detour_landing *landing,
		       uint64_t at, struct cp_detour_placed *ret, struct cp_detour_write *jump)
{
	uint64_t base = at + landing->prefixes + CP_DETOUR_JUMP, low, high, stub;
	size_t size;

	low = base > UINT64_C(1) << 31 ? base - (UINT64_C(1) << 31) : 0;
	high = base + INT32_MAX;
	if (landing->mask >> 24) {
		low = base + (uint64_t)(int64_t)(int32_t)(landing->value & 0xff000000);
		high = low + (UINT64_C(1) << 24) - 1;
		if (low > base + INT32_MAX) /* below 0 */
			return false;
	}
	size = stub_size(low, high, ret->at);
	stub = take_apart(s, low, high, size, base, landing->mask, landing->value);
	if (!stub)
		return false;
	put_stub(&ret->stub, stub, ret->at, size);
	jump->at = at;
	jump->size = (uint8_t)(landing->prefixes + CP_DETOUR_JUMP);
	return cp_detour_jump(landing, at, stub, jump->code);
}

/* A jump to the code, or to a stub, at `at`, where `room` bytes may be replaced. */
static bool place_jump(struct cp_detour_space *s, uint32_t begins, size_t room, uint64_t at,
		       struct cp_detour_placed *ret, struct cp_detour_write *jump)
{
	struct cp_detour_landing ways[CP_DETOUR_LANDINGS];
	size_t count = cp_detour_landings(begins, room, ways), i;

	for (i = 0; i < count; i++) {
		if (cp_detour_jump(&ways[i], at, ret->at, jump->code)) {
			jump->at = at;
			jump->size = (uint8_t)(ways[i].prefixes + CP_DETOUR_JUMP);
			return true;
		}
		if (place_stub(s, &ways[i], at, ret, jump))
			return true;
	}
	return false;
}

/* Breakpoints up to a hop's jump, or to where they are wanted: instructions began there, too. */
static bool fill(const struct cp_detour_window *w, struct cp_detour_write *jump)
{
	while ((w->is_host || w->is_filled) && jump->size < w->room)
		jump->code[jump->size++] = 0xcc;
	return true;
}

static void give_back(struct cp_detour_space *s, struct cp_detour_write *stub)
{
	if (stub->size)
		unuse(s, stub->at, stub->size);
	stub->size = 0;
}

static bool place_hop(struct cp_detour_space *s, const struct cp_detour_window *w, uint64_t at,
		      uint64_t bias, struct cp_detour_placed *ret)
{
	ret->window.at = at;
	ret->window.size = CP_DETOUR_HOP;
	return cp_detour_hop(w->begins, at, w->hop + bias, ret->window.code) &&
	       place_jump(s, w->hop_begins, CP_DETOUR_JUMP, w->hop + bias, ret, &ret->hop);
}

static bool place_change(const struct cp_detour_window *w, uint64_t at,
			 struct cp_detour_placed *ret)
{
	size_t offset = cp_detour_displacement(w->code, w->size);
	int64_t distance = (int64_t)(ret->at - (at + w->size));
	int32_t displacement = (int32_t)distance;

	ret->window.at = at + offset;
	ret->window.size = sizeof(displacement);
	memcpy(ret->window.code, &displacement, sizeof(displacement));
	return displacement == distance;
}

/* ---- puns ---- */

#define LENT (CP_DETOUR_JUMP - 1)
#define TRAP 0xccu
#define HOPS 120 /* how far a hop leads, and a little less */

/* Where a pun leads to whose displacement that is. */
static uint64_t target_of(uint64_t pun, const uint8_t displacement[LENT])
{
	int32_t distance;

	memcpy(&distance, displacement, sizeof(distance));
	return pun + CP_DETOUR_JUMP + (uint64_t)(int64_t)distance;
}

static struct cp_detour_write *next_lent(struct cp_detour_placed *ret)
{
	struct cp_detour_write *w = ret->lent;

	while (w->size)
		w++;
	return w;
}

static bool put_hop(struct cp_detour_space *s, uint64_t at, uint64_t to,
		    struct cp_detour_write *stub)
{
	if (!cp_detour_hop(0, at, to, stub->code) ||
	    !take(s, at, at + CP_DETOUR_HOP, CP_DETOUR_HOP, 0, 0, 0))
		return false;
	stub->at = at;
	stub->size = CP_DETOUR_HOP;
	return true;
}

/* A stub at `at` itself, or what leads to one near by, which is put there if it has to be. */
static bool try_stub_at(struct cp_detour_space *s, uint64_t at, uint64_t to, uint64_t near,
			struct cp_detour_placed *ret, struct cp_detour_write *stub)
{
	size_t size = stub_size(at - HOPS, at + HOPS, to);
	struct cp_detour_write *body;
	uint64_t place;

	if (near && put_hop(s, at, near, stub))
		return true;
	if (take(s, at, at + size, size, 0, 0, 0)) {
		put_stub(stub, at, to, size);
		return true;
	}
	place = take(s, at - HOPS, at + HOPS, size, 0, 0, 0);
	if (!place)
		return false;
	if (!put_hop(s, at, place, stub)) {
		unuse(s, place, size);
		return false;
	}
	body = next_lent(ret);
	put_stub(body, place, to, size);
	return true;
}

static bool place_stub_at(struct cp_detour_space *s, uint64_t at, uint64_t to, uint64_t near,
			  struct cp_detour_placed *ret, struct cp_detour_write *stub)
{
	bool ok;

	s->last = true;
	ok = try_stub_at(s, at, to, near, ret, stub);
	s->last = false;
	return ok;
}

/* Where the pun leads to with its displacement as it is, and with a breakpoint there. */
static void targets_of(uint64_t pun, const struct cp_detour_window *w, uint64_t ret[2])
{
	uint8_t bytes[LENT];

	memcpy(bytes, w->behind, sizeof(bytes));
	bytes[0] = TRAP;
	ret[0] = target_of(pun, w->behind);
	ret[1] = target_of(pun, bytes);
}

static void keep(struct cp_detour_space *s, uint64_t at, size_t size)
{
	bool ok;

	s->last = true;
	ok = take(s, at, at + size, size, 0, 0, 0) != 0;
	s->last = false;
	if (ok && !cp_map_put(&s->kept, at, size))
		unuse(s, at, size);
}

static void come_to_kept(struct cp_detour_space *s, uint64_t at)
{
	const uint64_t *size = cp_map_get(&s->kept, at);

	if (size)
		unuse(s, at, *size);
	cp_map_remove(&s->kept, at);
}

void cp_detour_space_keep(struct cp_detour_space *space, const struct cp_detour_window *window,
			  uint64_t bias)
{
	uint64_t targets[2];

	if (window->how != CP_DETOUR_BY_PUN)
		return;
	targets_of(window->address + bias, window, targets);
	keep(space, targets[0], CP_DETOUR_JUMP);
	keep(space, targets[1], CP_DETOUR_HOP);
}

static bool place_pun(struct cp_detour_space *s, const struct cp_detour_window *w, uint64_t at,
		      struct cp_detour_placed *ret)
{
	uint64_t targets[2];

	ret->window.at = at;
	ret->window.size = 1;
	ret->window.code[0] = 0xe9;
	targets_of(at, w, targets);
	come_to_kept(s, targets[0]);
	if (!place_stub_at(s, targets[0], ret->at, 0, ret, &ret->stub))
		return false;
	come_to_kept(s, targets[1]);
	return targets[1] == targets[0] ||
	       place_stub_at(s, targets[1], ret->at, targets[0], ret, next_lent(ret));
}

#define STEPS 3 /* of a jump that comes or goes */

/* Stubs for all that the displacement of the pun before the window is while its jump comes
 * and goes. */
static bool place_lent(struct cp_detour_space *s, const struct cp_detour_window *w, uint64_t bias,
		       struct cp_detour_placed *ret)
{
	const uint64_t pun = w->pun + bias, to = target_of(pun, w->behind);
	const size_t offset = (size_t)(w->address - w->pun - 1);
	size_t size = ret->window.size < LENT - offset ? ret->window.size : LENT - offset, i;
	uint8_t bytes[STEPS][LENT];
	uint64_t near = 0;
	bool ok = true;

	for (i = 0; i < STEPS; i++)
		memcpy(bytes[i], w->behind, LENT);
	memcpy(bytes[0] + offset, ret->window.code, size);
	memcpy(bytes[1] + offset, ret->window.code, size);
	bytes[1][offset] = TRAP;
	bytes[2][offset] = TRAP;
	for (i = 0; ok && i < STEPS; i++) {
		/* A breakpoint where the displacement begins is the pun's own to serve. */
		if (!memcmp(bytes[i], w->behind, LENT) || (i == 2 && !offset) ||
		    (i == 2 && !memcmp(bytes[2], bytes[1], LENT)))
			continue;
		ok = place_stub_at(s, target_of(pun, bytes[i]), to, near, ret, next_lent(ret));
		near = near ? near : target_of(pun, bytes[i]);
	}
	for (i = 0; !ok && i < CP_DETOUR_LENT; i++)
		give_back(s, &ret->lent[i]);
	return ok;
}

static bool any_gap(const struct cp_detour_space *s, uint64_t low, uint64_t size)
{
	const struct gap *g;

	cp_vec_for_each(&s->gaps, g)
		if (!g->last && g->start < low + size && g->end > low)
			return true;
	return false;
}

#define SHARED_TRIES 24 /* each may begin a chunk */

/* With these bytes of the displacement given, too, which are among the pun's. */
static bool place_given(struct cp_detour_space *s, const struct cp_detour_window *w, uint64_t bias,
			const struct cp_detour_landing *landing, unsigned *tries,
			struct cp_detour_placed *ret)
{
	if (*tries >= SHARED_TRIES || !place_stub(s, landing, w->address + bias, ret, &ret->window))
		return false;
	if (place_lent(s, w, bias, ret))
		return true;
	++*tries;
	give_back(s, &ret->stub);
	return false;
}

/* The pun's highest byte says where its stubs are: within 16 MB, of which `high` is the number.
 * The jump has that byte as the one number `top` of its own displacement; those below are
 * chosen alike for all, so that what is side by side has its stubs side by side. */
static bool place_high(struct cp_detour_space *s, const struct cp_detour_window *w, uint64_t bias,
		       struct cp_detour_landing landing, unsigned top, uint8_t high,
		       unsigned *tries, struct cp_detour_placed *ret)
{
	static const uint8_t fills[] = { 0x80, 0x9a, 0xb4, 0xd8, 0x40, 0x20 };
	const uint64_t from = w->pun + bias + (uint64_t)((int64_t)(int8_t)high * (1 << 24));
	struct cp_detour_landing l;
	unsigned i, k;

	if (!any_gap(s, from, UINT64_C(1) << 25) ||
	    (landing.mask >> (8 * top) & 0xff && (uint8_t)(landing.value >> (8 * top)) != high))
		return false;
	for (k = 0; k < CP_ARRAY_SIZE(fills); k++) {
		l = landing;
		for (i = 0; i <= top; i++) {
			if (l.mask >> (8 * i) & 0xff)
				continue;
			l.mask |= UINT32_C(0xff) << (8 * i);
			l.value |= (uint32_t)(i == top ? high : fills[k]) << (8 * i);
		}
		if (place_given(s, w, bias, &l, tries, ret))
			return true;
	}
	return false;
}

/* A jump that is a part of a pun's displacement. */
static bool place_shared(struct cp_detour_space *s, const struct cp_detour_window *w, uint64_t bias,
			 struct cp_detour_placed *ret)
{
	struct cp_detour_landing ways[CP_DETOUR_LANDINGS];
	size_t count = cp_detour_landings(w->begins, w->room, ways), i;
	const int last = (int)(LENT - (w->address - w->pun)); /* of the jump's bytes */
	unsigned tries = 0, n;

	for (i = 0; i < count; i++) {
		int top = last - ways[i].prefixes - 1;

		if (top < 0) {
			if (place_given(s, w, bias, &ways[i], &tries, ret))
				return true;
			continue;
		}
		/* From 1 GB below it downwards, up to it, and above. */
		for (n = 0; n < 256; n++)
			if (place_high(s, w, bias, ways[i], (unsigned)top,
				       (uint8_t)(n < 64 ? 0xbf - n : 0xc0 + (n - 64)), &tries, ret))
				return true;
	}
	return false;
}

bool cp_detour_place(struct cp_detour_space *space, const struct cp_arch *arch,
		     const struct cp_detour *detour, const struct cp_detour_window *window,
		     uint64_t bias, const struct cp_detour_rings *rings,
		     struct cp_detour_placed *ret)
{
	uint64_t at = window->address + bias;
	bool ok = false;

	memset(ret, 0, offsetof(struct cp_detour_placed, code));
	ret->at = at;
	/* The size does not depend on the place, if all is in reach of it. */
	ret->size = (uint16_t)cp_detour_make(arch, detour, rings->slow ? rings->slow : at, rings,
					     ret->code, NULL);
	if (!ret->size)
		return false;
	ret->at = cp_detour_space_take(space, at, ret->size);
	if (!ret->at)
		return false;
	ret->size = (uint16_t)cp_detour_make(arch, detour, ret->at, rings, ret->code, ret->enter);
	switch (ret->size ? (enum cp_detour_how)window->how : CP_DETOUR_HOWS) {
	case CP_DETOUR_BY_JUMP:
		if (window->pun)
			ok = place_shared(space, window, bias, ret);
		else
			ok = place_jump(space, window->begins, window->room, at, ret,
					&ret->window) &&
			     fill(window, &ret->window);
		break;
	case CP_DETOUR_BY_HOP:
		ok = place_hop(space, window, at, bias, ret) &&
		     (!window->pun || place_lent(space, window, bias, ret));
		break;
	case CP_DETOUR_BY_CHANGE:
		ok = place_change(window, at, ret);
		break;
	case CP_DETOUR_BY_PUN:
		ok = place_pun(space, window, at, ret);
		break;
	case CP_DETOUR_HOWS:
		break;
	}
	if (!ok)
		cp_detour_unplace(space, ret);
	return ok;
}

void cp_detour_unplace(struct cp_detour_space *space, const struct cp_detour_placed *placed)
{
	size_t i;

	unuse(space, placed->at, placed->size);
	if (placed->stub.size)
		unuse(space, placed->stub.at, placed->stub.size);
	for (i = 0; i < CP_DETOUR_LENT; i++)
		if (placed->lent[i].size)
			unuse(space, placed->lent[i].at, placed->lent[i].size);
}
