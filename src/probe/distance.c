/* SPDX-License-Identifier: MIT
 *
 * How near a name is to what somebody typed.
 */
#include "probe/distance.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "probe/names.h"

#define MAX_COMPARED 256

static bool same_letter(char a, char b)
{
	return a == b || tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Edits from `a` to `b`: letters left out, put in, exchanged, or swapped with
 * their neighbour; CP_NEAR + 1 when there are more. Another case costs nothing
 * here. */
static unsigned edits(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned rows[3][MAX_COMPARED + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *spare, best;
	size_t i, k, gap = a_size > b_size ? a_size - b_size : b_size - a_size;

	if (gap > CP_NEAR || a_size > MAX_COMPARED || b_size > MAX_COMPARED)
		return CP_NEAR + 1;
	for (k = 0; k <= b_size; k++)
		before[k] = last[k] = (unsigned)k;
	for (i = 1; i <= a_size; i++) {
		best = row[0] = (unsigned)i;
		for (k = 1; k <= b_size; k++) {
			row[k] = least(last[k - 1] + !same_letter(a[i - 1], b[k - 1]),
				       least(last[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && same_letter(a[i - 1], b[k - 2]) &&
			    same_letter(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
			best = least(best, row[k]);
		}
		if (best > CP_NEAR)
			return CP_NEAR + 1;
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return least(last[b_size], CP_NEAR + 1);
}

static unsigned distance_of(const char *wanted, const char *name)
{
	size_t size = strlen(wanted);
	struct cp_name_parts p;
	unsigned distance;

	cp_name_split(name, &p);
	if (strchr(wanted, '('))
		return least(edits(wanted, size, name + p.start, p.end - p.start), CP_NEAR + 1);
	distance = edits(wanted, size, name + p.start, p.plain - p.start);
	/* The scope of the name may have been forgotten. */
	if (p.scope > p.start && p.plain > p.scope + 2)
		distance = least(distance, 1 + edits(wanted, size, name + p.scope + 2,
						     p.plain - p.scope - 2));
	/* Half of a short name is not near. */
	if (distance && 2 * distance > size)
		return CP_NEAR + 1;
	return least(distance ? distance : 1, CP_NEAR + 1);
}

unsigned cp_name_distance(const char *wanted, const char *name)
{
	unsigned distance;
	char *plain;

	if (!strcmp(wanted, name))
		return 0;
	plain = strstr(name, "[abi:") && !strchr(wanted, '[') ? strdup(name) : NULL;
	if (plain)
		plain[cp_name_untag(plain, plain, strlen(plain))] = 0;
	distance = distance_of(wanted, plain ? plain : name);
	free(plain);
	return distance;
}

unsigned cp_name_glob_distance(const char *glob, const char *name)
{
	size_t n = strcspn(glob, "*?[\\");
	unsigned distance;
	char *start;

	if (n < 3)
		return CP_NEAR + 1;
	start = strndup(glob, n);
	if (!start)
		return CP_NEAR + 1;
	distance = edits(start, n, name, strnlen(name, n));
	free(start);
	/* A beginning may differ in less than a whole name. */
	return distance && 4 * distance > n ? CP_NEAR + 1 : distance + 1;
}
