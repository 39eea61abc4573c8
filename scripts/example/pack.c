/* SPDX-License-Identifier: MIT
 *
 * Packing: a text is compressed by finding repeats through a hash of three
 * letters, then unpacked and compared.
 */
#include <stdlib.h>
#include <string.h>

#include "example.h"

#define SIZE 60000u
#define HEADS 8192u
#define LONGEST 255u
#define TRIES 48

struct packer {
	const uint8_t *text;
	size_t size;
	uint8_t *out;
	size_t packed;
	int32_t heads[HEADS]; /* the last place of a hash, -1: none */
	int32_t before[SIZE + 64]; /* the place before it */
};

static uint32_t hash_three(const uint8_t *p)
{
	return (p[0] * 506832829u ^ p[1] * 2654435761u ^ p[2] * 2246822519u) % HEADS;
}

static unsigned common_length(const struct packer *p, size_t a, size_t b)
{
	unsigned n = 0;

	while (n < LONGEST && b + n < p->size && p->text[a + n] == p->text[b + n])
		n++;
	return n;
}

static unsigned longest_match(const struct packer *p, size_t at, size_t *where_ret)
{
	int32_t place = p->heads[hash_three(p->text + at)];
	unsigned best = 0;
	int tries = TRIES;

	for (; place >= 0 && tries--; place = p->before[place]) {
		unsigned n = common_length(p, (size_t)place, at);

		if (n > best) {
			best = n;
			*where_ret = (size_t)place;
		}
	}
	return best;
}

static void remember(struct packer *p, size_t at)
{
	uint32_t hash = hash_three(p->text + at);

	p->before[at] = p->heads[hash];
	p->heads[hash] = (int32_t)at;
}

/* A token is 0 and a letter, or a length and a distance of three bytes. */
static void compress(struct packer *p)
{
	size_t at = 0, where = 0, distance;

	memset(p->heads, -1, sizeof(p->heads));
	while (at < p->size) {
		unsigned n = at + 3 < p->size ? longest_match(p, at, &where) : 0;

		if (n < 5) {
			p->out[p->packed++] = 0;
			p->out[p->packed++] = p->text[at];
			n = 1;
		} else {
			distance = at - where;
			p->out[p->packed++] = (uint8_t)n;
			p->out[p->packed++] = (uint8_t)distance;
			p->out[p->packed++] = (uint8_t)(distance >> 8);
			p->out[p->packed++] = (uint8_t)(distance >> 16);
		}
		for (; n--; at++)
			if (at + 3 < p->size)
				remember(p, at);
	}
}

static size_t expand(const struct packer *p, uint8_t *to)
{
	const uint8_t *in = p->out, *end = in + p->packed;
	size_t at = 0, distance;
	unsigned n;

	while (in < end) {
		n = *in++;
		if (!n) {
			to[at++] = *in++;
			continue;
		}
		distance = in[0] | (size_t)in[1] << 8 | (size_t)in[2] << 16;
		in += 3;
		for (; n--; at++)
			to[at] = to[at - distance];
	}
	return at;
}

uint64_t pack_text(struct dice *dice)
{
	struct packer *p = calloc(1, sizeof(*p));
	char *text = write_text(dice, SIZE);
	uint8_t *again;
	uint64_t packed;

	if (!p)
		abort();
	p->text = (const uint8_t *)text;
	p->size = strlen(text);
	p->out = malloc(2 * p->size + 4);
	again = malloc(p->size);
	if (!p->out || !again)
		abort();
	compress(p);
	if (expand(p, again) != p->size || memcmp(again, text, p->size))
		abort();
	packed = p->packed;
	free(again);
	free(p->out);
	free(text);
	free(p);
	return packed;
}
