/* SPDX-License-Identifier: MIT
 *
 * Units of times. What a tick is stands in the type's name, as the fraction of a second:
 *
 *     duration<long, std::ratio<1, 1000> >      1500 ticks are 1500ms
 *
 * or in its declaration (`unit  1/1000`). Units are written as C++20 writes durations
 * (time.duration.io); dates as ISO 8601 has them, in UTC, with as many digits as a tick
 * tells.
 */
#include "inspect/shape_units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NANO 1000000000
#define DAY 86400
#define DAYS_MAX INT64_C(3652059) /* of the years up to 9999 */

struct tick { /* in seconds */
	int64_t num, den;
};

static bool read_ratio(const char *text, const char *between, struct tick *ret)
{
	char *end;

	ret->num = strtoll(text, &end, 10);
	end += strspn(end, "LlUu ");
	if (strncmp(end, between, strlen(between)) != 0)
		return false;
	ret->den = strtoll(end + strlen(between), NULL, 10);
	return ret->num > 0 && ret->den > 0;
}

/* The last one in the name is the period; without one, seconds are meant. */
static struct tick tick_of(const struct cp_type *t, const struct cp_shape_row *row)
{
	const char *at = t->name, *last = NULL, *unit = row->terms[CP_TERM_unit];
	struct tick tick;

	while ((at = strstr(at, "ratio<")))
		last = at += strlen("ratio<");
	if (unit ? read_ratio(unit, "/", &tick) : last && read_ratio(last, ",", &tick))
		return tick;
	return (struct tick){ 1, 1 };
}

static const char *unit_of(struct tick tick, char *buffer, size_t size)
{
	static const struct {
		struct tick tick;
		const char *name;
	} units[] = {
		{ { 1, 1 }, "s" },
		{ { 1, 1000 }, "ms" },
		{ { 1, 1000000 }, "us" },
		{ { 1, NANO }, "ns" },
		{ { 1, NANO * INT64_C(1000) }, "ps" },
		{ { 1, NANO * INT64_C(1000000) }, "fs" },
		{ { 1, NANO * INT64_C(1000000000) }, "as" },
		{ { 1, 100 }, "cs" },
		{ { 1, 10 }, "ds" },
		{ { 10, 1 }, "das" },
		{ { 100, 1 }, "hs" },
		{ { 1000, 1 }, "ks" },
		{ { 1000000, 1 }, "Ms" },
		{ { NANO, 1 }, "Gs" },
		{ { 60, 1 }, "min" },
		{ { 3600, 1 }, "h" },
		{ { DAY, 1 }, "d" },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(units); i++)
		if (units[i].tick.num == tick.num && units[i].tick.den == tick.den)
			return units[i].name;
	if (tick.den == 1)
		snprintf(buffer, size, "[%" PRId64 "]s", tick.num);
	else
		snprintf(buffer, size, "[%" PRId64 "/%" PRId64 "]s", tick.num, tick.den);
	return buffer;
}

/* The day that is `days` after 1970-01-01 in the calendar of ISO 8601: 400 years are as
 * many days as any other 400, and years that begin in March have their odd day last. */
static void civil(int64_t days, int *year, int *month, int *day)
{
	int64_t since = days + 719468; /* the 1st of March of year 0 */
	int64_t era = (since >= 0 ? since : since - 146096) / 146097;
	int64_t in_era = since - era * 146097;
	int64_t years = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int64_t in_year = in_era - (365 * years + years / 4 - years / 100);
	int64_t from_march = (5 * in_year + 2) / 153;

	*day = (int)(in_year - (153 * from_march + 2) / 5) + 1;
	*month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
	*year = (int)(years + era * 400) + (*month <= 2);
}

/* False: it is no time of the years 0 to 9999. */
static bool date_of(const cprof_value *v, struct tick tick, char *ret, size_t size)
{
	int year, month, day, digits = 0, used;
	int64_t seconds, parts, of_day, den;
	__int128 n;

	if (v->kind == CPROF_VALUE_FLOAT && !(fabs(v->u.f) < 1e18))
		return false;
	n = v->kind == CPROF_VALUE_FLOAT  ? (__int128)floor(v->u.f)
	    : v->kind == CPROF_VALUE_UINT ? (__int128)v->u.u
					  : (__int128)v->u.i;
	if (tick.num > UINT32_MAX)
		return false;
	n *= tick.num;
	parts = (int64_t)(n % tick.den);
	n = n / tick.den - (parts < 0);
	parts += parts < 0 ? tick.den : 0;
	if (n < -719528 * (__int128)DAY || n >= (DAYS_MAX - 719162) * (__int128)DAY)
		return false;
	seconds = (int64_t)n;
	of_day = (seconds % DAY + DAY) % DAY;
	civil((seconds - of_day) / DAY, &year, &month, &day);
	used = snprintf(ret, size, "%04d-%02d-%02d", year, month, day);
	if (tick.den == 1 && tick.num % DAY == 0)
		return true;
	used += snprintf(ret + used, size - (size_t)used, "T%02d:%02d:%02d", (int)(of_day / 3600),
			 (int)(of_day / 60 % 60), (int)(of_day % 60));
	for (den = 1; den < tick.den && digits < 9; den *= 10)
		digits++;
	if (digits)
		used += snprintf(ret + used, size - (size_t)used, ".%0*" PRId64, digits,
				 (int64_t)((__int128)parts * den / tick.den));
	snprintf(ret + used, size - (size_t)used, "Z");
	return true;
}

void cp_shape_put_unit(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		       const struct cp_shape_row *row)
{
	struct tick tick;
	char buffer[64];
	const char *text;

	if (row->kind != CP_SHAPE_DURATION && row->kind != CP_SHAPE_DATE)
		return;
	if (v->kind != CPROF_VALUE_INT && v->kind != CPROF_VALUE_UINT &&
	    v->kind != CPROF_VALUE_FLOAT)
		return;
	tick = tick_of(t, row);
	if (row->kind == CP_SHAPE_DATE && date_of(v, tick, buffer, sizeof(buffer)))
		text = buffer;
	else
		text = unit_of(tick, buffer, sizeof(buffer));
	v->symbol = cp_arena_copy(b->arena, text, strlen(text));
}
