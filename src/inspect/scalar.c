/* SPDX-License-Identifier: MIT
 *
 * Numbers and enums.
 */
#include "inspect/scalar.h"

#include <math.h>
#include <stdio.h>

#include "inspect/readable.h"

void cp_build_error(cprof_value *v, uint8_t error, uint64_t address)
{
	v->kind = CPROF_VALUE_ERROR;
	v->error = error;
	v->address = address;
}

static int64_t sign_extended(uint64_t value, unsigned bits)
{
	return bits && bits < 64 ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value;
}

static void set_digits(struct cp_build *b, cprof_value *v, const char *text)
{
	v->u.text.length = (uint32_t)strlen(text);
	v->u.text.bytes = cp_arena_copy(b->arena, text, v->u.text.length);
	if (!v->u.text.bytes)
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
}

/* Sign, exponent with the given bias, and 64 bits of fraction with the
 * integer bit on top: as much as is shown of any format. */
static long double composed(bool negative, int exponent, uint64_t fraction)
{
	long double value = ldexpl((long double)fraction, exponent - 63);

	return negative ? -value : value;
}

static void set_x87(struct cp_build *b, cprof_value *v, const uint8_t *at)
{
	uint64_t fraction = cp_build_number(at, 8);
	unsigned top = (unsigned)cp_build_number(at + 8, 2);
	bool negative = top >> 15;
	char text[64];

	v->kind = CPROF_VALUE_LONG_DOUBLE;
	if ((top & 0x7fff) == 0x7fff)
		snprintf(text, sizeof(text), "%s",
			 fraction << 1 ? "nan"
			 : negative    ? "-inf"
				       : "inf");
	else
		snprintf(text, sizeof(text), "%.18Lg",
			 composed(negative, (int)(top & 0x7fff) - 16383 + !(top & 0x7fff),
				  fraction));
	set_digits(b, v, text);
}

static void set_binary128(struct cp_build *b, cprof_value *v, const uint8_t *at)
{
	uint64_t high = cp_build_number(at + 8, 8), low = cp_build_number(at, 8), fraction;
	int exponent = (int)(high >> 48 & 0x7fff);
	bool negative = high >> 63;
	char text[64];

	fraction = (high << 16 >> 1) | low >> 49;
	v->kind = CPROF_VALUE_LONG_DOUBLE;
	if (exponent == 0x7fff)
		snprintf(text, sizeof(text), "%s",
			 (high << 16) | low ? "nan"
			 : negative	    ? "-inf"
					    : "inf");
	else
		snprintf(text, sizeof(text), "%.18Lg",
			 composed(negative, exponent - 16383 + !exponent,
				  fraction | (exponent ? UINT64_C(1) << 63 : 0)));
	set_digits(b, v, text);
}

static double half(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double fraction = (bits & 1023) / 1024.0, value;

	if (exponent == 31)
		value = bits & 1023 ? (double)NAN : (double)INFINITY;
	else
		value = exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
	return bits >> 15 ? -value : value;
}

/* The upper half of a float. */
static double upper(uint16_t bits)
{
	uint32_t whole = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &whole, sizeof(value));
	return (double)value;
}

static void set_float(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		      const uint8_t *at)
{
	float single;

	v->kind = CPROF_VALUE_FLOAT;
	v->size = (uint8_t)t->size;
	if (t->flags & CP_TYPE_DECIMAL) {
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
		return;
	}
	switch (t->size) {
	case 2:
		v->size = 4;
		v->u.f = t->flags & CP_TYPE_BFLOAT ? upper((uint16_t)cp_build_number(at, 2))
						   : half((uint16_t)cp_build_number(at, 2));
		break;
	case 4:
		memcpy(&single, at, sizeof(single));
		v->u.f = (double)single;
		break;
	case 8:
		memcpy(&v->u.f, at, 8);
		break;
	case 16:
		if (t->flags & CP_TYPE_BINARY128)
			set_binary128(b, v, at);
		else
			set_x87(b, v, at);
		break;
	default:
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
	}
}

static void set_complex(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			const uint8_t *at)
{
	struct cp_type part = { .kind = CP_TYPE_FLOAT, .flags = t->flags, .size = t->size / 2 };
	cprof_value *items = cp_arena_array(b->arena, 2, sizeof(*items));
	unsigned i;

	if (!items) {
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
		return;
	}
	for (i = 0; i < 2; i++) {
		if (t->flags & CP_TYPE_SIGNED) {
			items[i].kind = CPROF_VALUE_INT;
			items[i].u.i = sign_extended(cp_build_number(at + i * part.size, part.size),
						     8 * (unsigned)part.size);
		} else {
			set_float(b, &items[i], &part, at + i * part.size);
		}
	}
	v->kind = CPROF_VALUE_COMPLEX;
	v->items = items;
	v->count = 2;
}

void cp_build_integer(cprof_value *v, const struct cp_type *t, const uint8_t *at, unsigned bits)
{
	bool is_signed = t->flags & CP_TYPE_SIGNED;

	v->size = (uint8_t)t->size;
	if (t->size > 16 || (t->flags & CP_TYPE_BITINT)) {
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
		return;
	}
	if (t->size == 16 && bits > 64) {
		v->kind = is_signed ? CPROF_VALUE_INT128 : CPROF_VALUE_UINT128;
		v->u.wide[0] = cp_build_number(at, 8);
		v->u.wide[1] = cp_build_number(at + 8, 8);
		return;
	}
	v->kind = is_signed ? CPROF_VALUE_INT : CPROF_VALUE_UINT;
	v->u.u = cp_build_number(at, t->size);
	if (is_signed)
		v->u.i = sign_extended(v->u.u, bits);
}

/* ---- enums ---- */

static uint64_t enum_mask(const struct cp_type *t)
{
	return t->size && t->size < 8 ? (UINT64_C(1) << (8 * t->size)) - 1 : UINT64_MAX;
}

/* True when the enumerators are bits to be combined: none has a bit in common
 * with another one, and those that have several have them side by side. */
static bool is_flags(const struct cp_type_details *d, uint64_t mask)
{
	uint64_t seen = 0, value;
	uint32_t i;

	for (i = 0; i < d->enumerator_count; i++) {
		value = (uint64_t)d->enumerators[i].value & mask;
		if (value & seen || (value && (value + (value & -value)) & value))
			return false;
		seen |= value;
	}
	return seen != 0;
}

/* "A | C | 0x40". */
static const char *joined(struct cp_build *b, const struct cp_type_details *d, uint64_t value,
			  uint64_t mask)
{
	struct cp_buf text = { 0 };
	const char *kept = NULL;
	uint64_t bits;
	uint32_t i;

	for (i = 0; i < d->enumerator_count; i++) {
		bits = (uint64_t)d->enumerators[i].value & mask;
		if (!bits || (value & bits) != bits)
			continue;
		cp_buf_str(&text, text.size ? " | " : "");
		cp_buf_str(&text, d->enumerators[i].name);
		value &= ~bits;
	}
	if (text.size && value)
		cp_buf_printf(&text, " | 0x%llx", (unsigned long long)value);
	if (text.size && !text.failed)
		kept = cp_arena_copy(b->arena, text.bytes, text.size);
	cp_buf_free(&text);
	return kept;
}

void cp_build_enum(struct cp_build *b, cprof_value *v, const struct cp_type *t, const uint8_t *at,
		   unsigned bits)
{
	const struct cp_type_details *d = cp_type_details(t);
	const struct cp_type *of = cp_type_strip(t->target);
	uint64_t value = cp_build_number(at, t->size), mask = enum_mask(t);
	bool is_signed = of && of->flags & CP_TYPE_SIGNED;
	uint32_t i;

	v->kind = CPROF_VALUE_ENUM;
	v->size = (uint8_t)t->size;
	v->u.i = is_signed ? sign_extended(value, bits) : (int64_t)value;
	/* An enum without a type of its own is signed if an enumerator is. */
	for (i = 0; d && !of && i < d->enumerator_count; i++) {
		if (d->enumerators[i].value < 0)
			v->u.i = sign_extended(value, bits);
	}
	for (i = 0; d && i < d->enumerator_count; i++) {
		if (!(((uint64_t)d->enumerators[i].value ^ (uint64_t)v->u.i) & mask)) {
			v->symbol = d->enumerators[i].name;
			return;
		}
	}
	if (d && value && is_flags(d, mask))
		v->symbol = joined(b, d, value, mask);
}

/* wchar_t of C++, which is a type, and of C, which is a name of another one; char8_t, which
 * gcc calls a number. */
static bool is_wide(const struct cp_type *type, const struct cp_type *t)
{
	struct cp_type row = { .kind = CP_TYPE_ARRAY, .target = type };

	return cp_type_wide_characters(&row) || (t->name && !strcmp(t->name, "char8_t"));
}

void cp_build_scalar(struct cp_build *b, cprof_value *v, const struct cp_type *type,
		     const struct cp_type *t, const uint8_t *at)
{
	switch (t->kind) {
	case CP_TYPE_BOOL:
		v->kind = CPROF_VALUE_BOOL;
		v->size = (uint8_t)t->size;
		v->u.u = cp_build_number(at, t->size);
		break;
	case CP_TYPE_CHAR:
		cp_build_integer(v, t, at, 8 * (unsigned)t->size);
		if (cp_type_is_character(type) && v->kind != CPROF_VALUE_ERROR) {
			v->kind = CPROF_VALUE_CHAR;
			v->u.i = (t->flags & CP_TYPE_SIGNED) ? v->u.i : (int64_t)v->u.u;
		}
		break;
	case CP_TYPE_FLOAT:
		set_float(b, v, t, at);
		break;
	case CP_TYPE_COMPLEX:
		set_complex(b, v, t, at);
		break;
	case CP_TYPE_ENUM:
		cp_build_enum(b, v, t, at, 8 * (unsigned)t->size);
		break;
	default:
		cp_build_integer(v, t, at, 8 * (unsigned)t->size);
		if (is_wide(type, t) && v->kind != CPROF_VALUE_ERROR)
			v->kind = CPROF_VALUE_CHAR;
	}
}
