/* SPDX-License-Identifier: MIT
 *
 * The bundled example: a workshop of four trades, each a kind of work that
 * real programs do, for `./scripts/try` to look at. Each trade does one piece
 * of work a call and answers a number that depends on all of it.
 */
#ifndef CP_EXAMPLE_H
#define CP_EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* A private source of numbers, the same ones at every run. */
struct dice {
	uint64_t state;
};

static inline uint32_t roll(struct dice *dice, uint32_t sides)
{
	dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice->state >> 33) % sides;
}

uint64_t calculate(struct dice *dice); /* write a formula, parse it, evaluate it */
uint64_t count_words(struct dice *dice); /* write a text, count and sort its words */
uint64_t pack_text(struct dice *dice); /* compress a text, unpack it, compare */
uint64_t solve_equations(struct dice *dice); /* multiply matrices, eliminate */

/* A text of at least `size` letters, in words and lines; free() it. */
char *write_text(struct dice *dice, size_t size);

#endif
