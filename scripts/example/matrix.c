/* SPDX-License-Identifier: MIT
 *
 * Matrices: two are multiplied, and a system of equations is solved by
 * elimination.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

#define N 160

typedef double matrix[N][N];

static void fill(struct dice *dice, matrix *m)
{
	int i, j;

	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			(*m)[i][j] = roll(dice, 2000) / 100.0 - 10 + (i == j ? 40 : 0);
}

static __attribute__((noinline)) void multiply(matrix *a, matrix *b, matrix *product)
{
	int i, j, k;

	memset(product, 0, sizeof(*product));
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			for (j = 0; j < N; j++)
				(*product)[i][j] += (*a)[i][k] * (*b)[k][j];
}

static void swap_rows(matrix *m, int a, int b)
{
	double row[N];

	memcpy(row, (*m)[a], sizeof(row));
	memcpy((*m)[a], (*m)[b], sizeof(row));
	memcpy((*m)[b], row, sizeof(row));
}

static int find_pivot(matrix *m, int column)
{
	int best = column, i;

	for (i = column + 1; i < N; i++)
		if (fabs((*m)[i][column]) > fabs((*m)[best][column]))
			best = i;
	return best;
}

static void clear_column(matrix *m, int column)
{
	int i, j;

	for (i = column + 1; i < N; i++) {
		double factor = (*m)[i][column] / (*m)[column][column];

		for (j = column; j < N; j++)
			(*m)[i][j] -= factor * (*m)[column][j];
	}
}

static __attribute__((noinline)) double eliminate(matrix *m)
{
	double determinant = 0;
	int column, pivot;

	for (column = 0; column < N; column++) {
		pivot = find_pivot(m, column);
		if (pivot != column)
			swap_rows(m, pivot, column);
		clear_column(m, column);
		determinant += log(fabs((*m)[column][column]));
	}
	return determinant;
}

uint64_t solve_equations(struct dice *dice)
{
	matrix *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b)), *product = malloc(sizeof(*a));
	double determinant;

	if (!a || !b || !product)
		abort();
	fill(dice, a);
	fill(dice, b);
	multiply(a, b, product);
	determinant = eliminate(product);
	free(a);
	free(b);
	free(product);
	return (uint64_t)fabs(determinant);
}
