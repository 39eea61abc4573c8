/* SPDX-License-Identifier: MIT
 *
 * Words: a text is written, split, counted in a hash table, and sorted.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

#define TABLE_SIZE 4096u

struct word {
	struct word *next;
	unsigned count;
	char text[];
};

char *write_text(struct dice *dice, size_t size)
{
	static const char *const syllables[] = {
		"ka", "ri", "mo", "tel", "san", "vi", "lu", "dor",
		"e",  "an", "is", "ber", "go",	"ne", "th", "pra"
	};
	char *text = malloc(size + 16);
	size_t at = 0;

	if (!text)
		abort();
	while (at < size) {
		uint32_t n = 1 + roll(dice, 3);

		while (n--) {
			const char *s = syllables[roll(dice, 1 + roll(dice, 16))];

			while (*s)
				text[at++] = *s++;
		}
		text[at++] = roll(dice, 12) ? ' ' : '\n';
		if (!roll(dice, 9) && at < size)
			text[at - 1] = (char)toupper((unsigned char)text[at - 1]);
	}
	text[at] = 0;
	return text;
}

static uint32_t hash_word(const char *text)
{
	uint32_t hash = 2166136261u;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 16777619u;
	return hash;
}

static struct word *find_word(struct word **table, const char *text)
{
	struct word **slot = &table[hash_word(text) % TABLE_SIZE], *word;
	size_t size = strlen(text) + 1;

	for (word = *slot; word; word = word->next)
		if (!strcmp(word->text, text))
			return word;
	word = calloc(1, sizeof(*word) + size);
	if (!word)
		abort();
	memcpy(word->text, text, size);
	word->next = *slot;
	return *slot = word;
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->text, y->text);
}

static void fold_case(char *text)
{
	for (; *text; text++)
		*text = (char)tolower((unsigned char)*text);
}

static uint64_t rank_words(struct word **table, size_t count)
{
	struct word **all = malloc((count + 1) * sizeof(struct word *)), *word;
	uint64_t sum = 0;
	size_t n = 0, i;

	if (!all)
		abort();
	for (i = 0; i < TABLE_SIZE; i++)
		for (word = table[i]; word; word = word->next)
			all[n++] = word;
	qsort(all, n, sizeof(*all), by_count);
	for (i = 0; i < n; i++) {
		sum += all[i]->count * (i + 1);
		free(all[i]);
	}
	free(all);
	return sum;
}

uint64_t count_words(struct dice *dice)
{
	struct word **table = calloc(TABLE_SIZE, sizeof(struct word *)), *word;
	char *text = write_text(dice, 200000), *piece, *rest = text;
	size_t distinct = 0;
	uint64_t sum;

	if (!table)
		abort();
	fold_case(text);
	while ((piece = strsep(&rest, " \n")) != NULL) {
		word = find_word(table, piece);
		distinct += word->count++ == 0;
	}
	sum = rank_words(table, distinct);
	free(text);
	free(table);
	return sum;
}
