/* SPDX-License-Identifier: MIT
 *
 * Most numbers of programs have few digits: 0.25, 17, 1999.95. Such a one is a whole number of
 * up to 15 digits, or 6 of a float, over a power of ten; the quotient of the two is rounded as
 * reading their decimal form is, so where it is the number, that form reads back as it. No
 * other of so few digits does, so it is what printf would find, in a tenth of its time.
 */
#include "base/digits.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 4 /* behind the point; beyond 0.0001 another form begins */

/* What is `whole` over 10^places, in text; `places` are at most PLACES_MAX. */
static void put_fixed(char *text, bool negative, uint64_t whole, unsigned places)
{
	char digits[24], *at = digits + sizeof(digits), *end = at;
	unsigned n = 0;

	do {
		if (n && n == places)
			*--at = '.';
		*--at = (char)('0' + whole % 10);
		whole /= 10;
	} while (n++ < places || whole);
	if (negative)
		*--at = '-';
	memcpy(text, at, (size_t)(end - at));
	text[end - at] = '\0';
}

static bool is_quotient(double whole, double power, double size, bool single)
{
	return single ? (float)whole / (float)power == (float)size : whole / power == size;
}

/* False: it has more digits than that. */
static bool put_short(char *text, double value, bool single)
{
	static const double powers[PLACES_MAX + 1] = { 1, 10, 100, 1000, 10000 };
	double size = fabs(value), most = single ? 1e6 : 1e15, whole;
	unsigned places;

	if ((!(size >= 1e-4 && size < most) && value != 0) || (single && (float)size != size))
		return false;
	for (places = 0; places <= PLACES_MAX; places++) {
		whole = nearbyint(size * powers[places]);
		if (whole >= most)
			return false;
		if (is_quotient(whole, powers[places], size, single)) {
			put_fixed(text, signbit(value), (uint64_t)whole, places);
			return true;
		}
	}
	return false;
}

void cp_digits(char text[CP_DIGITS_MAX], double value, bool single)
{
	int precision;

	if (!isfinite(value)) {
		snprintf(text, CP_DIGITS_MAX, "%s",
			 isnan(value) ? "nan"
			 : value < 0  ? "-inf"
				      : "inf");
		return;
	}
	if (put_short(text, value, single))
		return;
	for (precision = single ? 6 : 15; precision < 17; precision++) {
		snprintf(text, CP_DIGITS_MAX, "%.*g", precision, value);
		if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			return;
	}
	snprintf(text, CP_DIGITS_MAX, "%.17g", value);
}
