/* SPDX-License-Identifier: MIT */
#include "record/format.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_SYNC UINT32_C(0x48435043) /* "CPCH" */

const struct cp_record_schema cp_record_schemas[CP_RECORD_TABLE_END] = {
	[CP_RECORD_STRINGS] = { .width = 0 },
	[CP_RECORD_FUNCTIONS] = {
		.width = 4,
		.refers = { CP_RECORD_STRINGS, CP_RECORD_STRINGS, CP_RECORD_STRINGS, 0 },
	},
	[CP_RECORD_FRAMES] = {
		.width = 4,
		.refers = { CP_RECORD_FRAMES, CP_RECORD_FUNCTIONS, 0, 0 },
		.required = 1 << CP_FRAME_FUNCTION,
	},
	[CP_RECORD_IMAGES] = {
		.width = 3,
		.refers = { CP_RECORD_STRINGS, CP_RECORD_STRINGS, CP_RECORD_STRINGS },
	},
	[CP_RECORD_PROCESSES] = {
		.width = 7,
		.refers = { 0, 0, 0, CP_RECORD_STRINGS, CP_RECORD_STRINGS, 0, CP_RECORD_STRINGS },
		.added = 1,
		.replaces = true,
	},
	[CP_RECORD_THREADS] = {
		.width = 5,
		.refers = { CP_RECORD_PROCESSES, 0, 0, CP_RECORD_STRINGS, 0 },
		.required = 1 << CP_THREAD_PROCESS,
		.replaces = true,
	},
	[CP_RECORD_LOCATIONS] = {
		.width = 5,
		.refers = { CP_RECORD_IMAGES, 0, 0, 0, CP_RECORD_FRAMES },
		.replaces = true,
	},
	[CP_RECORD_NODES] = {
		.width = 2,
		.refers = { CP_RECORD_NODES, CP_RECORD_LOCATIONS },
		.required = 1 << CP_NODE_LOCATION,
	},
	[CP_RECORD_STACKS] = {
		.width = 2,
		.refers = { CP_RECORD_NODES, 0 },
	},
	[CP_RECORD_SHAPES] = {
		.width = 5,
		.refers = { 0, 0, 0, CP_RECORD_STRINGS, CP_RECORD_STRINGS },
	},
};

/* Half a byte at a time: 16 constants of the reflected polynomial 0x82f63b78. */
static uint32_t crc_step(uint32_t crc)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	crc = crc >> 4 ^ table[crc & 15];
	return crc >> 4 ^ table[crc & 15];
}

/* Eight bytes at a time, each by a table of what it does to the rest. Making
 * these takes as long as some kilobytes, so they are made where there is more. */
#define CRC_AT_ONCE 8
#define CRC_LARGE ((size_t)16 << 10)

static uint32_t crc_large(uint32_t crc, const uint8_t *p, size_t size)
{
	uint32_t tables[CRC_AT_ONCE][256], next;
	unsigned i, k;

	for (i = 0; i < 256; i++) {
		tables[0][i] = crc_step(i);
		for (k = 1; k < CRC_AT_ONCE; k++)
			tables[k][i] = crc_step(tables[k - 1][i]);
	}
	for (; size >= CRC_AT_ONCE; p += CRC_AT_ONCE, size -= CRC_AT_ONCE) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		       (uint32_t)p[3] << 24;
		next = tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^ tables[0][p[7]];
		crc = next ^ tables[7][crc & 255] ^ tables[6][crc >> 8 & 255] ^
		      tables[5][crc >> 16 & 255] ^ tables[4][crc >> 24];
	}
	return crc;
}

uint32_t cp_record_crc(const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	uint32_t crc = UINT32_MAX;

	if (size >= CRC_LARGE) {
		crc = crc_large(crc, p, size);
		p += size - size % CRC_AT_ONCE;
		size %= CRC_AT_ONCE;
	}
	for (; size; p++, size--)
		crc = crc_step(crc ^ *p);
	return ~crc;
}

void cp_record_id_text(const uint8_t *id, char *ret)
{
	size_t i;

	for (i = 0; i < CP_RECORD_ID_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

static void put_u16(struct cp_buf *out, uint16_t value)
{
	cp_buf_u8(out, (uint8_t)value);
	cp_buf_u8(out, (uint8_t)(value >> 8));
}

/* The checksum of what was appended since `from`. */
static void put_crc(struct cp_buf *out, size_t from)
{
	if (!out->failed)
		cp_buf_u32(out, cp_record_crc(out->bytes + from, out->size - from));
}

void cp_record_put_preamble(struct cp_buf *out, const struct cp_record_preamble *p)
{
	size_t from = out->size;

	cp_buf_add(out, CP_RECORD_MAGIC, 8);
	put_u16(out, p->major);
	put_u16(out, p->minor);
	cp_buf_u32(out, p->holds);
	cp_buf_add(out, p->id, CP_RECORD_ID_SIZE);
	put_crc(out, from);
}

bool cp_record_get_preamble(const uint8_t *bytes, struct cp_record_preamble *ret)
{
	struct cp_cursor c = cp_cursor(bytes, CP_RECORD_PREAMBLE_SIZE);
	struct cp_record_preamble p;

	if (memcmp(cp_cursor_bytes(&c, 8), CP_RECORD_MAGIC, 8) != 0)
		return false;
	p.major = cp_cursor_u16(&c);
	p.minor = cp_cursor_u16(&c);
	p.holds = cp_cursor_u32(&c);
	memcpy(p.id, cp_cursor_bytes(&c, CP_RECORD_ID_SIZE), CP_RECORD_ID_SIZE);
	if (cp_cursor_u32(&c) != cp_record_crc(bytes, CP_RECORD_PREAMBLE_SIZE - 4))
		return false;
	*ret = p;
	return true;
}

void cp_record_put_chunk(struct cp_buf *out, const struct cp_record_chunk *chunk)
{
	size_t from = out->size;

	cp_buf_u32(out, CHUNK_SYNC);
	cp_buf_u8(out, chunk->type);
	cp_buf_u8(out, chunk->codec);
	put_u16(out, 0);
	cp_buf_u32(out, chunk->sequence);
	cp_buf_u32(out, chunk->stored);
	cp_buf_u32(out, chunk->raw);
	cp_buf_u32(out, chunk->payload_crc);
	put_crc(out, from);
}

bool cp_record_get_chunk(const uint8_t *bytes, struct cp_record_chunk *ret)
{
	struct cp_cursor c = cp_cursor(bytes, CP_RECORD_HEADER_SIZE);
	struct cp_record_chunk chunk;

	if (cp_cursor_u32(&c) != CHUNK_SYNC)
		return false;
	chunk.type = cp_cursor_u8(&c);
	chunk.codec = cp_cursor_u8(&c);
	cp_cursor_u16(&c);
	chunk.sequence = cp_cursor_u32(&c);
	chunk.stored = cp_cursor_u32(&c);
	chunk.raw = cp_cursor_u32(&c);
	chunk.payload_crc = cp_cursor_u32(&c);
	if (cp_cursor_u32(&c) != cp_record_crc(bytes, CP_RECORD_HEADER_SIZE - 4) ||
	    chunk.stored > CP_RECORD_STORED_MAX || chunk.raw > CP_RECORD_RAW_MAX)
		return false;
	*ret = chunk;
	return true;
}

void cp_record_put_field(struct cp_buf *out, uint64_t tag, const void *bytes, size_t size)
{
	cp_buf_uleb(out, tag);
	cp_buf_uleb(out, size);
	cp_buf_add(out, bytes, size);
}

static size_t uleb_size(uint64_t value)
{
	/* A byte for each seven bits: 9/64 is near enough. */
	return ((size_t)(64 - __builtin_clzll(value | 1)) * 9 + 64) / 64;
}

void cp_record_put_number(struct cp_buf *out, uint64_t tag, uint64_t value)
{
	cp_buf_uleb(out, tag);
	cp_buf_uleb(out, uleb_size(value));
	cp_buf_uleb(out, value);
}

bool cp_record_get_field(struct cp_cursor *c, uint64_t *tag_ret, struct cp_cursor *body_ret)
{
	uint64_t tag, size;
	const void *body;

	if (c->bad || !cp_cursor_left(c))
		return false;
	tag = cp_cursor_uleb(c);
	size = cp_cursor_uleb(c);
	if (c->bad || size > cp_cursor_left(c)) {
		c->bad = true;
		return false;
	}
	body = cp_cursor_bytes(c, (size_t)size);
	*tag_ret = tag;
	*body_ret = cp_cursor(body, (size_t)size);
	return true;
}

/* Columns: a byte that says how, with COLUMN_SCALED a number by which all were
 * divided, then the LEB128 numbers. */
enum {
	COLUMN_DELTA = 1, /* differences, zigzag */
	COLUMN_SIGNED = 2, /* zigzag */
	COLUMN_SCALED = 4,
	COLUMN_KNOWN = 7,
};

static bool negative(uint64_t v)
{
	return v >> 63;
}

static uint64_t magnitude(uint64_t v)
{
	return negative(v) ? -v : v;
}

/* Without dividing, if that can be: 0 divides nothing. */
static bool divides(uint64_t by, uint64_t value)
{
	return by & (by - 1) ? value % by == 0 : by && !(value & (by - 1));
}

/* The largest number that divides all values: times are in whole microseconds. */
static uint64_t common_divisor(const uint64_t *values, size_t count)
{
	uint64_t divisor = 0, a, rest;
	size_t i;

	for (i = 0; i < count && divisor != 1; i++) {
		a = magnitude(values[i]);
		if (a == divisor || divides(divisor, a))
			continue; /* many columns are nearly constant */
		for (; a; a = rest) {
			rest = divisor % a;
			divisor = a;
		}
	}
	return divisor ? divisor : 1;
}

static uint64_t divide(uint64_t v, uint64_t by)
{
	if (by == 1)
		return v; /* nearly always, and dividing is slow */
	if (!(by & (by - 1))) /* addresses; without rest */
		return (uint64_t)((int64_t)v >> __builtin_ctzll(by));
	return negative(v) ? -(-v / by) : v / by;
}

/* The number that is written for `v` after `last`. */
static uint64_t packed(uint8_t how, uint64_t v, uint64_t last)
{
	if (how & COLUMN_DELTA)
		return cp_record_zigzag(v - last);
	return how & COLUMN_SIGNED ? cp_record_zigzag(v) : v;
}

#define ULEB_MAX 10

static uint64_t any_bits(const uint64_t *values, size_t count)
{
	uint64_t any = 0;
	size_t i;

	for (i = 0; i < count; i++)
		any |= values[i];
	return any;
}

/* Many columns are nothing but zeros. */
static void put_zeros(struct cp_buf *out, size_t count)
{
	static const uint8_t zeros[4096];
	size_t n;

	for (cp_buf_u8(out, 0); count; count -= n) {
		n = count < sizeof(zeros) ? count : sizeof(zeros);
		cp_buf_add(out, zeros, n);
	}
}

/* Most others are of numbers that a byte has room for, which no other way makes shorter. */
static void put_bytes(struct cp_buf *out, const uint64_t *values, size_t count, uint64_t scale)
{
	uint8_t some[512];
	size_t i, n;

	for (; count; count -= n, values += n) {
		n = count < sizeof(some) ? count : sizeof(some);
		for (i = 0; i < n; i++)
			some[i] = (uint8_t)divide(values[i], scale);
		cp_buf_add(out, some, n);
	}
}

static void put_how(struct cp_buf *out, uint8_t how, uint64_t scale)
{
	cp_buf_u8(out, how | (scale > 1 ? COLUMN_SCALED : 0));
	if (scale > 1)
		cp_buf_uleb(out, scale);
}

/* How a column is written takes fewest bytes: of a long one, as far as a quarter of it tells. */
static uint8_t shortest(const uint64_t *values, size_t count, uint64_t scale)
{
	const size_t run = 16, step = count > 1024 ? 61 : run; /* no period of a program's */
	size_t sizes[3] = { 0 }, i, k;
	uint64_t last, v;
	uint8_t how;

	for (i = 0; i < count; i += step) {
		last = i ? divide(values[i - 1], scale) : 0;
		for (k = i; k < count && k < i + run; k++, last = v) {
			v = divide(values[k], scale);
			sizes[0] += uleb_size(v);
			sizes[COLUMN_DELTA] += uleb_size(packed(COLUMN_DELTA, v, last));
			sizes[COLUMN_SIGNED] += uleb_size(packed(COLUMN_SIGNED, v, last));
		}
	}
	how = sizes[COLUMN_DELTA] < sizes[0] ? COLUMN_DELTA : 0;
	return sizes[COLUMN_SIGNED] < sizes[how] ? COLUMN_SIGNED : how;
}

void cp_record_put_column(struct cp_buf *out, const uint64_t *values, size_t count)
{
	uint64_t scale, last = 0, any = any_bits(values, count), v;
	uint8_t some[512], how;
	size_t used = 0, i;

	if (count && !any) {
		put_zeros(out, count);
		return;
	}
	scale = common_divisor(values, count);
	if (any < 0x80) {
		put_how(out, 0, scale);
		put_bytes(out, values, count, scale);
		return;
	}
	how = shortest(values, count, scale);
	put_how(out, how, scale);
	for (i = 0; i < count; i++, last = v) {
		v = divide(values[i], scale);
		if (used > sizeof(some) - ULEB_MAX) {
			cp_buf_add(out, some, used);
			used = 0;
		}
		used = (size_t)(cp_record_put_uleb(some + used, packed(how, v, last)) - some);
	}
	cp_buf_add(out, some, used);
}

/* Many columns are mostly 0, or differences of 0: those at the cursor, eight at a time. */
static size_t get_zeros(struct cp_cursor *c, uint64_t *values, size_t count, uint64_t value)
{
	size_t n = 0, k;
	uint64_t eight;

	while (count - n >= sizeof(eight) && cp_cursor_left(c) >= sizeof(eight)) {
		memcpy(&eight, c->at, sizeof(eight));
		if (eight)
			break;
		for (k = 0; k < sizeof(eight); k++)
			values[n++] = value;
		c->at += sizeof(eight);
	}
	return n;
}

static inline void get_numbers(struct cp_cursor *c, uint64_t *values, size_t count, uint8_t how,
			       uint64_t scale)
{
	uint64_t last = 0, v;
	size_t i = 0;

	while (i < count && !c->bad) {
		if (c->at < c->end && !*c->at) {
			i += get_zeros(c, values + i, count - i, last * scale);
			if (i == count)
				break;
		}
		v = c->at < c->end && *c->at < 0x80 ? *c->at++ : cp_cursor_uleb(c);
		if (how & (COLUMN_DELTA | COLUMN_SIGNED))
			v = cp_record_unzigzag(v);
		if (how & COLUMN_DELTA)
			v = last += v;
		values[i++] = v * scale; /* modulo 2^64, for those below 0 too */
	}
}

void cp_record_get_column(struct cp_cursor *c, uint64_t *values, size_t count)
{
	uint8_t how = cp_cursor_u8(c);
	uint64_t scale = how & COLUMN_SCALED ? cp_cursor_uleb(c) : 1;

	if (how & ~COLUMN_KNOWN)
		c->bad = true;
	if (how & COLUMN_DELTA)
		get_numbers(c, values, count, COLUMN_DELTA, scale);
	else if (how & COLUMN_SIGNED)
		get_numbers(c, values, count, COLUMN_SIGNED, scale);
	else
		get_numbers(c, values, count, 0, scale);
}

#define LAST_BYTES UINT64_C(0x8080808080808080) /* those of eight that end a number have none */
#define LEB_MOST 10 /* bytes */

/* How many of LAST_BYTES are there. */
static size_t count_ends(uint64_t ends)
{
	return (size_t)((ends >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Eight bytes at a time while all of them are needed, then byte by byte. */
void cp_record_pass_numbers(struct cp_cursor *c, size_t count)
{
	unsigned begun = 0; /* bytes of the number under way */
	uint64_t ends;

	while (count && cp_cursor_left(c) >= sizeof(ends)) {
		memcpy(&ends, c->at, sizeof(ends));
		ends = ~le64toh(ends) & LAST_BYTES;
		if (count_ends(ends) > count)
			break;
		begun += ends ? (unsigned)__builtin_ctzll(ends) / 8 : sizeof(ends);
		c->bad |= begun >= LEB_MOST;
		if (c->bad)
			return;
		if (ends)
			begun = (unsigned)__builtin_clzll(ends) / 8;
		count -= count_ends(ends);
		if (!count)
			c->at -= begun; /* that number comes after them */
		c->at += sizeof(ends);
	}
	while (count && !c->bad) {
		if (cp_cursor_u8(c) & 0x80) {
			c->bad |= ++begun >= LEB_MOST;
		} else {
			begun = 0;
			count--;
		}
	}
}

void cp_record_pass_column(struct cp_cursor *c, size_t count)
{
	uint8_t how = cp_cursor_u8(c);

	if (how & COLUMN_SCALED)
		cp_cursor_uleb(c);
	if (how & ~COLUMN_KNOWN)
		c->bad = true;
	if (!c->bad)
		cp_record_pass_numbers(c, count);
}

/* Totals and damage are numbers in a fixed order; more may come at the end. */
#define TOTALS(X) \
	X(end_ns) \
	X(samples) \
	X(samples_lost) \
	X(cpu_ns) \
	X(unsampled_ns) \
	X(stops) \
	X(stopped_ns) \
	X(hold_median_ns) \
	X(hold_p99_ns) \
	X(restarted) \
	X(reads) \
	X(threads) \
	X(processes) \
	X(tracer_cpu_ns) \
	X(controller_cpu_ns)

/* Added later: they follow the wait status. */
#define CALL_TOTALS(X) \
	X(calls) \
	X(calls_lost) \
	X(call_stops) \
	X(call_rejected_inside) \
	X(call_rejected_condition) \
	X(call_rejected_late) \
	X(call_unmatched) \
	X(call_functions) \
	X(call_sites) \
	X(call_disarmed) \
	X(trap_ns) \
	X(annotations) \
	X(annotations_lost) \
	X(waited_ns) \
	X(alloc_pauses) \
	X(alloc_paused_ns) \
	X(alloc_watched_ns) \
	X(finished) \
	X(cut_short) \
	X(trap_low_ns) \
	X(trap_high_ns) \
	X(traps) \
	X(alloc_every) \
	X(alloc_passed) \
	X(call_fast) \
	X(call_records) \
	X(call_records_lost) \
	X(call_fast_sites) \
	X(detour_ns) \
	X(call_records_unread) \
	X(call_conditional) \
	X(perf_samples) \
	X(perf_lost) \
	X(perf_cut) \
	X(perf_throttled) \
	X(perf_left) \
	X(calls_left_out) \
	X(sources) \
	X(source_bytes) \
	X(sources_left_out) \
	X(codes) \
	X(code_bytes) \
	X(codes_left_out) \
	X(event_count) \
	X(event_unsampled) \
	X(paused_ns) \
	X(call_condition_unknown) \
	X(placing_ns) \
	X(left_ns) \
	X(placing_cut) \
	X(strayed)

void cp_record_put_totals(struct cp_buf *out, const struct cp_record_totals *t)
{
#define PUT(field) cp_buf_uleb(out, t->field);
	TOTALS(PUT)
#undef PUT
	cp_buf_u8(out, t->ended);
	cp_buf_uleb(out, (uint32_t)t->wait_status);
#define PUT(field) cp_buf_uleb(out, t->field);
	CALL_TOTALS(PUT)
#undef PUT
}

/* The next number; 0 where there is none any more. */
static uint64_t next_number(struct cp_cursor *c)
{
	return cp_cursor_left(c) ? cp_cursor_uleb(c) : 0;
}

void cp_record_get_totals(struct cp_cursor *c, struct cp_record_totals *ret)
{
	struct cp_record_totals t = { 0 };

#define GET(field) t.field = next_number(c);
	TOTALS(GET)
#undef GET
	t.ended = next_number(c) != 0;
	t.wait_status = (int32_t)(uint32_t)next_number(c);
#define GET(field) t.field = next_number(c);
	CALL_TOTALS(GET)
#undef GET
	if (!c->bad)
		*ret = t;
}

void cp_record_put_damage(struct cp_buf *out, const struct cp_record_damage *d)
{
	cp_buf_u8(out, d->no_end);
	cp_buf_uleb(out, d->bad_chunks);
	cp_buf_uleb(out, d->missing_bytes);
	cp_buf_uleb(out, d->dropped);
	cp_buf_uleb(out, d->lost);
}

void cp_record_get_damage(struct cp_cursor *c, struct cp_record_damage *ret)
{
	struct cp_record_damage d = { 0 };

	d.no_end = next_number(c) != 0;
	d.bad_chunks = next_number(c);
	d.missing_bytes = next_number(c);
	d.dropped = next_number(c);
	d.lost = next_number(c);
	if (!c->bad)
		*ret = d;
}
