/* SPDX-License-Identifier: MIT
 *
 * Formulas: written at random, parsed by recursive descent, evaluated.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = atom { ("*" | "/") atom }
 *     atom    = number | "(" sum ")" | name "(" sum ")"
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

struct node {
	char kind; /* an operator, 'n' for a number, 'f' for a function */
	double number;
	double (*function)(double);
	struct node *left, *right;
};

struct text {
	char *bytes;
	size_t size, capacity;
};

static const struct {
	const char *name;
	double (*function)(double);
} functions[] = { { "sin", sin }, { "cos", cos }, { "sqrt", sqrt }, { "abs", fabs } };

static void append(struct text *text, const char *piece)
{
	size_t size = strlen(piece);

	if (text->size + size + 1 > text->capacity) {
		text->capacity = 2 * text->capacity + size + 64;
		text->bytes = realloc(text->bytes, text->capacity);
		if (!text->bytes)
			abort();
	}
	memcpy(text->bytes + text->size, piece, size + 1);
	text->size += size;
}

static void write_formula(struct dice *dice, struct text *text, int depth)
{
	static const char *const operators[] = { " + ", " - ", " * ", " / " };
	char number[32];

	if (!depth) {
		snprintf(number, sizeof(number), "%u.%u", roll(dice, 1000), roll(dice, 100));
		append(text, number);
		return;
	}
	if (roll(dice, 3) == 0)
		append(text, functions[roll(dice, 4)].name);
	append(text, "(");
	write_formula(dice, text, depth - 1);
	append(text, operators[roll(dice, 4)]);
	write_formula(dice, text, depth - 1 - (int)roll(dice, 2) * (depth > 2));
	append(text, ")");
}

static struct node *parse_sum(const char **at);

static struct node *new_node(char kind, struct node *left, struct node *right)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		abort();
	node->kind = kind;
	node->left = left;
	node->right = right;
	return node;
}

static void skip_spaces(const char **at)
{
	while (isspace((unsigned char)**at))
		++*at;
}

static struct node *parse_number(const char **at)
{
	struct node *node = new_node('n', NULL, NULL);
	char *end;

	node->number = strtod(*at, &end);
	*at = end;
	return node;
}

static struct node *parse_call(const char **at)
{
	struct node *node = new_node('f', NULL, NULL);
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		size_t size = strlen(functions[i].name);

		if (!strncmp(*at, functions[i].name, size)) {
			node->function = functions[i].function;
			*at += size;
			break;
		}
	}
	node->left = parse_sum(at);
	return node;
}

static struct node *parse_atom(const char **at)
{
	struct node *node;

	skip_spaces(at);
	if (isdigit((unsigned char)**at))
		return parse_number(at);
	if (isalpha((unsigned char)**at))
		return parse_call(at);
	++*at; /* the opening parenthesis */
	node = parse_sum(at);
	skip_spaces(at);
	++*at; /* the closing one */
	return node;
}

static struct node *parse_product(const char **at)
{
	struct node *node = parse_atom(at);

	for (skip_spaces(at); **at == '*' || **at == '/'; skip_spaces(at)) {
		char kind = *(*at)++;

		node = new_node(kind, node, parse_atom(at));
	}
	return node;
}

static struct node *parse_sum(const char **at)
{
	struct node *node = parse_product(at);

	for (skip_spaces(at); **at == '+' || **at == '-'; skip_spaces(at)) {
		char kind = *(*at)++;

		node = new_node(kind, node, parse_product(at));
	}
	return node;
}

static double evaluate(const struct node *node)
{
	double left, right;

	if (node->kind == 'n')
		return node->number;
	left = evaluate(node->left);
	if (node->kind == 'f')
		return node->function ? node->function(left) : left;
	right = evaluate(node->right);
	switch (node->kind) {
	case '+':
		return left + right;
	case '-':
		return left - right;
	case '*':
		return left * right;
	default:
		return right != 0 ? left / right : 0;
	}
}

static void free_tree(struct node *node)
{
	if (!node)
		return;
	free_tree(node->left);
	free_tree(node->right);
	free(node);
}

static double calculate_one(struct dice *dice)
{
	struct text text = { NULL, 0, 0 };
	const char *at;
	struct node *tree;
	double value;

	write_formula(dice, &text, 6);
	at = text.bytes;
	tree = parse_sum(&at);
	value = evaluate(tree);
	free_tree(tree);
	free(text.bytes);
	return value;
}

uint64_t calculate(struct dice *dice)
{
	double value = 0;
	int i;

	for (i = 0; i < 48; i++)
		value += calculate_one(dice);
	return isfinite(value) ? (uint64_t)fabs(value) % 1000 : 0;
}
