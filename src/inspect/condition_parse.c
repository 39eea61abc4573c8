/* SPDX-License-Identifier: MIT
 *
 * Reading a condition, or an expression: C's without assignment and calls, by precedence
 * climbing.
 */
#include "inspect/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inspect/spelling.h"

#define LENGTH_MAX 4096

enum token_kind { TOKEN_END, TOKEN_INTEGER, TOKEN_FLOAT, TOKEN_TEXT, TOKEN_NAME, TOKEN_MARK };

struct token {
	enum token_kind kind;
	const char *at; /* in the text */
	char mark[4]; /* MARK: "<<" */
	uint64_t integer;
	long double number;
	char suffix; /* of a float: 'f', 'l' or 0 */
	const char *text, *file;
	uint32_t length;
};

struct parser {
	struct cp_arena *arena;
	bool expression; /* of inspect; else a condition */
	const char *begin, *at;
	struct token token; /* the next one */
	struct cp_error *error; /* the first */
};

static void fail(struct parser *p, const char *at, const char *what)
{
	if (!p->error)
		p->error = cp_error_new(CP_ERR_USAGE, 0, "%s '%s': %s at character %zu",
					p->expression ? "expression" : "condition", p->begin, what,
					(size_t)(at - p->begin) + 1);
	p->token.kind = TOKEN_END;
	p->token.mark[0] = '\0';
}

/* ---- tokens ---- */

/* A character of a literal, escapes undone; *at moves behind it. */
static char unescaped(struct parser *p, const char **at)
{
	static const char names[] = "ntrabfv0\\'\"?e", values[] = "\n\t\r\a\b\f\v\0\\'\"?\033";
	const char *found;
	unsigned value = 0, n;

	if (**at != '\\')
		return *(*at)++;
	(*at)++;
	if (**at == 'x') {
		(*at)++;
		for (n = 0; n < 2 && isxdigit((unsigned char)**at); n++, (*at)++) {
			char digit[2] = { **at, '\0' };

			value = value * 16 + (unsigned)strtoul(digit, NULL, 16);
		}
		if (!n)
			fail(p, *at, "no digits after \\x");
		return (char)value;
	}
	if (**at >= '0' && **at <= '7') {
		for (n = 0; n < 3 && **at >= '0' && **at <= '7'; n++, (*at)++)
			value = value * 8 + (unsigned)(**at - '0');
		return (char)value;
	}
	found = **at ? strchr(names, **at) : NULL;
	if (!found) {
		fail(p, *at, "unknown escape");
		return 0;
	}
	(*at)++;
	return values[found - names];
}

static void read_quoted(struct parser *p, struct token *t)
{
	char quote = *p->at, *text = cp_arena_alloc(p->arena, strlen(p->at) + 1);
	uint32_t n = 0;

	if (!text) {
		p->error = cp_error_nomem();
		return;
	}
	p->at++;
	while (*p->at && *p->at != quote && !p->error)
		text[n++] = unescaped(p, &p->at);
	if (!*p->at) {
		fail(p, t->at, "a quote that is not closed");
		return;
	}
	p->at++;
	t->kind = TOKEN_TEXT;
	t->text = text;
	t->length = n;
	if (quote == '"')
		return;
	if (n != 1)
		fail(p, t->at, "not one character");
	t->kind = TOKEN_INTEGER;
	t->integer = (uint64_t)(int64_t)(signed char)text[0];
}

/* A number of the type that its suffix says: 0.1f is none that a double 0.1 is. */
static char *read_float(const char *at, struct token *t)
{
	char *end;

	t->kind = TOKEN_FLOAT;
	t->number = strtod(at, &end);
	t->suffix = (char)(*end | 32);
	if (t->suffix == 'f')
		t->number = strtof(at, &end);
	else if (t->suffix == 'l')
		t->number = strtold(at, &end);
	else
		t->suffix = 0;
	return end + (t->suffix != 0);
}

static void read_number(struct parser *p, struct token *t)
{
	size_t plain = strspn(p->at, "0123456789");
	bool hexadecimal = p->at[0] == '0' && (p->at[1] | 32) == 'x';
	char *end;

	errno = 0;
	if (!hexadecimal &&
	    ((p->at[plain] == '.' && p->at[plain + 1] != '.') || (p->at[plain] | 32) == 'e')) {
		end = read_float(p->at, t);
	} else {
		t->kind = TOKEN_INTEGER;
		if (p->at[0] == '0' && (p->at[1] | 32) == 'b')
			t->integer = strtoull(p->at + 2, &end, 2);
		else
			t->integer = strtoull(p->at, &end, 0);
		if (errno)
			fail(p, t->at, "a number too large");
		end += strspn(end, "uUlL");
	}
	if (isalnum((unsigned char)*end) || *end == '_' || (*end == '.' && end[1] != '.'))
		fail(p, t->at, "not a number");
	p->at = end;
}

/* A name with what it is in, and 'file.c':: before it. */
static void read_path(struct parser *p, struct token *t)
{
	const char *from = p->at;

	if (*from == '\'') {
		from = strchr(from + 1, '\'') + strlen("'::");
		t->file = cp_arena_copy(p->arena, p->at + 1, (size_t)(from - p->at) - 4);
		if (!t->file)
			p->error = cp_error_nomem();
	}
	p->at = cp_spelling_name(from);
	t->kind = TOKEN_NAME;
	t->length = (uint32_t)(p->at - from);
	t->text = cp_arena_copy(p->arena, from, t->length);
	if (!t->text)
		p->error = cp_error_nomem();
	else if (!t->length)
		fail(p, from, "a name is missing");
}

/* Is it 'file.c'::name, and no character? */
static bool begins_file(const struct parser *p)
{
	const char *end = *p->at == '\'' ? strchr(p->at + 1, '\'') : NULL;

	return end && cp_starts_with(end, "'::");
}

static void read_name(struct parser *p, struct token *t)
{
	while (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '$')
		p->at++;
	t->kind = TOKEN_NAME;
	t->length = (uint32_t)(p->at - t->at);
	t->text = cp_arena_copy(p->arena, t->at, t->length);
	if (!t->text)
		p->error = cp_error_nomem();
}

static void read_mark(struct parser *p, struct token *t)
{
	static const char *const marks[] = { "<<", ">>", "<=", ">=", "==", "!=",
					     "&&", "||", "->", "..", ".*" };
	size_t i, n = 1;

	for (i = 0; i < CP_ARRAY_SIZE(marks); i++) {
		if (!strncmp(p->at, marks[i], 2))
			n = 2;
	}
	if (!strncmp(p->at, "->*", 3))
		n = 3;
	if (n == 1 && !strchr("!~-+*/%&|^<>?:()[].", *p->at) && !strchr("@{},", *p->at)) {
		fail(p, p->at,
		     *p->at == '=' ? "'=' (equal is '==')" : "a character that has no meaning");
		return;
	}
	t->kind = TOKEN_MARK;
	memcpy(t->mark, p->at, n);
	p->at += n;
}

/* Is that the dot of `t.1`, a member of a tuple? */
static bool is_tuple_dot(const struct parser *p, const char *at)
{
	return at > p->begin && *at == '.' && isdigit((unsigned char)at[1]) &&
	       (isalnum((unsigned char)at[-1]) || strchr("_)]", at[-1]));
}

/* The digits behind it: debug information calls it `__1`. */
static void read_tuple_member(struct parser *p, struct token *t)
{
	const size_t size = strspn(p->at, "0123456789");
	char *name = cp_arena_alloc(p->arena, size + 3);

	if (!name) {
		p->error = cp_error_nomem();
		return;
	}
	memcpy(name, "__", 2);
	memcpy(name + 2, p->at, size);
	t->kind = TOKEN_NAME;
	t->text = name;
	t->length = (uint32_t)size + 2;
	p->at += size;
}

static void next(struct parser *p)
{
	struct token t = { 0 };

	if (p->error)
		return;
	while (isspace((unsigned char)*p->at))
		p->at++;
	t.at = p->at;
	if (begins_file(p) || cp_spelling_is_path(p->at))
		read_path(p, &t);
	else if (*p->at == '"' || *p->at == '\'')
		read_quoted(p, &t);
	else if (p->at > p->begin && is_tuple_dot(p, p->at - 1))
		read_tuple_member(p, &t);
	else if (is_tuple_dot(p, p->at))
		read_mark(p, &t);
	else if (isdigit((unsigned char)*p->at) ||
		 (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		read_number(p, &t);
	else if (isalpha((unsigned char)*p->at) || *p->at == '_' || *p->at == '$')
		read_name(p, &t);
	else if (*p->at)
		read_mark(p, &t);
	if (!p->error)
		p->token = t;
}

static bool is_mark(const struct parser *p, const char *mark)
{
	return p->token.kind == TOKEN_MARK && !strcmp(p->token.mark, mark);
}

/* Takes the mark if it comes next. */
static bool take(struct parser *p, const char *mark)
{
	if (!is_mark(p, mark))
		return false;
	next(p);
	return true;
}

/* ---- the tree ---- */

static const struct cp_condition_node *expression(struct parser *p, unsigned lowest,
						  unsigned depth);

static struct cp_condition_node *node(struct parser *p, enum cp_operator op,
				      const struct cp_condition_node *a,
				      const struct cp_condition_node *b)
{
	struct cp_condition_node *n = cp_arena_alloc(p->arena, sizeof(*n));

	if (!n) {
		cp_error_free(p->error);
		p->error = cp_error_nomem();
		p->token.kind = TOKEN_END;
		return NULL;
	}
	*n = (struct cp_condition_node){ .op = (uint8_t)op, .a = a, .b = b };
	return n;
}

static void expect(struct parser *p, const char *mark, const char *what)
{
	if (!take(p, mark))
		fail(p, p->token.at ? p->token.at : p->at, what);
}

static const struct cp_condition_node *leaf(struct parser *p, unsigned depth)
{
	static const enum cp_operator ops[] = { [TOKEN_INTEGER] = CP_OP_INTEGER,
						[TOKEN_FLOAT] = CP_OP_FLOAT,
						[TOKEN_TEXT] = CP_OP_TEXT,
						[TOKEN_NAME] = CP_OP_NAME };
	const struct token t = p->token;
	const struct cp_condition_node *inner;
	struct cp_condition_node *n;

	if (take(p, "(")) {
		inner = expression(p, 0, depth + 1);
		expect(p, ")", "')' is missing");
		return inner;
	}
	if (t.kind == TOKEN_END || t.kind == TOKEN_MARK) {
		fail(p, t.at ? t.at : p->at, "a value is missing");
		return NULL;
	}
	n = node(p, ops[t.kind], NULL, NULL);
	if (!n)
		return NULL;
	n->integer = t.integer;
	n->number = t.number;
	n->suffix = t.suffix;
	n->text = t.text;
	n->file = t.file;
	n->length = t.length;
	next(p);
	return n;
}

/* `[b]`, `[b..c]`; the bracket is taken. */
static const struct cp_condition_node *subscript(struct parser *p,
						 const struct cp_condition_node *a, unsigned depth)
{
	const struct cp_condition_node *from = expression(p, 0, depth + 1), *to = NULL;
	struct cp_condition_node *n;
	bool range = take(p, "..");

	if (range)
		to = expression(p, 0, depth + 1);
	expect(p, "]", "']' is missing");
	n = node(p, range ? CP_OP_RANGE : CP_OP_INDEX, a, from);
	if (n)
		n->c = to;
	return n;
}

static const struct cp_condition_node *postfix(struct parser *p, unsigned depth)
{
	const struct cp_condition_node *a = leaf(p, depth);
	struct cp_condition_node *n;
	unsigned links = depth;

	for (; !p->error; links++) {
		if (links > CP_CONDITION_DEPTH) {
			fail(p, p->token.at, "nested too deeply");
		} else if (take(p, "[")) {
			a = subscript(p, a, depth);
		} else if (take(p, ".") || take(p, "->")) {
			if (p->token.kind != TOKEN_NAME) {
				fail(p, p->token.at ? p->token.at : p->at,
				     "the name of a member is missing");
				break;
			}
			n = node(p, CP_OP_MEMBER, a, NULL);
			if (!n)
				break;
			n->text = p->token.text;
			n->length = p->token.length;
			a = n;
			next(p);
			n->integer = take(p, "(");
			if (n->integer)
				expect(p, ")", "functions of the program are not called");
		} else {
			break;
		}
	}
	return a;
}

static const struct cp_condition_node *unary(struct parser *p, unsigned depth);

/* A type that ends at `end` comes next, and then `mark`; its text is the node's. */
static struct cp_condition_node *with_type(struct parser *p, enum cp_operator op, const char *end,
					   const char *mark)
{
	struct cp_condition_node *n = node(p, op, NULL, NULL);
	const char *from = p->token.at;

	if (!n)
		return NULL;
	while (end > from && end[-1] == ' ')
		end--;
	n->text = cp_arena_copy(p->arena, from, (size_t)(end - from));
	n->length = (uint32_t)(end - from);
	p->at = end;
	next(p);
	expect(p, mark,
	       *mark == ')'   ? "')' is missing"
	       : *mark == '}' ? "'}' is missing"
			      : "',' is missing");
	return n;
}

/* Could what comes next be an operand, and not an operator? */
static bool begins_operand(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return isalnum((unsigned char)*at) || (*at && strchr("_$('\"{~!", *at));
}

/* The end of the type that comes next, if `(` or `{` before it makes it one: of a
 * cast, of `sizeof`. A plain name is one only where an operand follows. */
static const char *type_ahead(const struct parser *p, char closing, bool operand)
{
	bool certain = false;
	const char *end = cp_spelling_type(p->token.at, &certain), *behind = end;

	if (p->error || p->token.kind == TOKEN_END || !end)
		return NULL;
	while (isspace((unsigned char)*behind))
		behind++;
	if (*behind != closing || (!certain && operand && !begins_operand(behind + 1)))
		return NULL;
	return end;
}

/* `x[3]`, which is an array of types or an element; NULL: it is no element. */
static const struct cp_condition_node *element_too(struct parser p, unsigned depth)
{
	const struct cp_condition_node *n = postfix(&p, depth + 1);

	if (!p.error && is_mark(&p, ")"))
		return n;
	cp_error_free(p.error);
	return NULL;
}

/* What comes behind `sizeof`. */
static const struct cp_condition_node *size_of(struct parser *p, unsigned depth)
{
	const struct cp_condition_node *element = NULL;
	struct cp_condition_node *n;
	struct parser before = *p;
	const char *end;

	end = take(p, "(") ? type_ahead(p, ')', false) : NULL;
	if (!end) {
		before.error = p->error;
		*p = before;
		return node(p, CP_OP_SIZEOF, unary(p, depth + 1), NULL);
	}
	if (p->expression && p->token.kind == TOKEN_NAME && end[-1] == ']')
		element = element_too(*p, depth);
	n = with_type(p, CP_OP_SIZEOF, end, ")");
	if (n)
		n->a = element;
	return n;
}

/* A cast, `{type} address`, sizeof, offsetof; NULL: it is none of them. */
static const struct cp_condition_node *of_type(struct parser *p, unsigned depth)
{
	bool is_name = p->token.kind == TOKEN_NAME && !p->token.file;
	struct cp_condition_node *n;
	const char *end;
	struct parser before = *p;

	if (take(p, "(") || take(p, "{")) {
		end = type_ahead(p, *before.token.mark == '(' ? ')' : '}',
				 *before.token.mark == '(');
		if (!end && *before.token.mark == '{')
			fail(p, p->token.at, "a type is missing");
		if (!end) {
			before.error = p->error;
			*p = before;
			return NULL;
		}
		n = with_type(p, *before.token.mark == '(' ? CP_OP_CAST : CP_OP_AT, end,
			      *before.token.mark == '(' ? ")" : "}");
		if (n)
			n->a = unary(p, depth + 1);
		return n;
	}
	if (is_name && !strcmp(p->token.text, "sizeof")) {
		next(p);
		return size_of(p, depth);
	}
	if (is_name && !strcmp(p->token.text, "offsetof")) {
		next(p);
		expect(p, "(", "'(' is missing");
		end = p->error ? NULL : type_ahead(p, ',', false);
		if (!end) {
			fail(p, p->token.at ? p->token.at : p->at, "a type and ',' are missing");
			return NULL;
		}
		n = with_type(p, CP_OP_OFFSETOF, end, ",");
		if (n)
			n->a = postfix(p, depth + 1);
		expect(p, ")", "')' is missing");
		return n;
	}
	return NULL;
}

static const struct cp_condition_node *unary(struct parser *p, unsigned depth)
{
	const struct cp_condition_node *n;
	static const struct {
		char mark[2];
		enum cp_operator op;
	} ops[] = { { "!", CP_OP_NOT },
		    { "~", CP_OP_INVERT },
		    { "-", CP_OP_NEGATE },
		    { "+", CP_OP_PLUS },
		    { "*", CP_OP_DEREFERENCE } };
	size_t i;

	if (depth > CP_CONDITION_DEPTH) {
		fail(p, p->token.at ? p->token.at : p->at, "nested too deeply");
		return NULL;
	}
	for (i = 0; i < CP_ARRAY_SIZE(ops); i++) {
		if (take(p, ops[i].mark))
			return node(p, ops[i].op, unary(p, depth + 1), NULL);
	}
	if (take(p, "&"))
		return node(p, CP_OP_ADDRESS, unary(p, depth + 1), NULL);
	n = of_type(p, depth);
	return n || p->error ? n : postfix(p, depth);
}

/* The strength with which the operator that comes next binds; 0: none comes. */
static unsigned binary(const struct parser *p, enum cp_operator *op_ret)
{
	static const struct {
		char mark[4];
		uint8_t strength;
		enum cp_operator op;
	} ops[] = {
		{ "||", 2, CP_OP_EITHER },
		{ "&&", 3, CP_OP_BOTH },
		{ "|", 4, CP_OP_OR },
		{ "^", 5, CP_OP_XOR },
		{ "&", 6, CP_OP_AND },
		{ "==", 7, CP_OP_EQUAL },
		{ "!=", 7, CP_OP_UNEQUAL },
		{ "<", 8, CP_OP_LESS },
		{ ">", 8, CP_OP_GREATER },
		{ "<=", 8, CP_OP_LESS_EQUAL },
		{ ">=", 8, CP_OP_GREATER_EQUAL },
		{ "<<", 9, CP_OP_SHIFT_LEFT },
		{ ">>", 9, CP_OP_SHIFT_RIGHT },
		{ "+", 10, CP_OP_ADD },
		{ "-", 10, CP_OP_SUBTRACT },
		{ "*", 11, CP_OP_MULTIPLY },
		{ "/", 11, CP_OP_DIVIDE },
		{ "%", 11, CP_OP_REMAINDER },
		{ "@", 12, CP_OP_REPEAT },
		{ ".*", 13, CP_OP_POINTED },
		{ "->*", 13, CP_OP_POINTED },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(ops); i++) {
		if (is_mark(p, ops[i].mark)) {
			*op_ret = ops[i].op;
			return ops[i].strength;
		}
	}
	return 0;
}

/* Parses an expression of operators that bind more strongly than `lowest`. */
static const struct cp_condition_node *expression(struct parser *p, unsigned lowest, unsigned depth)
{
	const struct cp_condition_node *a = unary(p, depth), *b;
	unsigned strength, links = depth;
	struct cp_condition_node *n;
	enum cp_operator op = CP_OP_INTEGER;

	for (;; links++) {
		strength = binary(p, &op);
		if (p->error || strength <= lowest)
			break;
		if (links > CP_CONDITION_DEPTH) {
			fail(p, p->token.at, "nested too deeply");
			return NULL;
		}
		next(p);
		b = expression(p, strength, depth + 1);
		a = node(p, op, a, b);
	}
	if (lowest || p->error || !take(p, "?"))
		return a;
	b = expression(p, 0, depth + 1);
	expect(p, ":", "':' is missing");
	n = node(p, CP_OP_CHOOSE, a, b);
	if (n)
		n->c = expression(p, 0, depth + 1);
	return n;
}

static CP_ERROR parse(const char *text, bool is_expression, struct cp_condition **ret)
{
	struct cp_condition *condition;
	struct parser p = { .begin = text, .at = text, .expression = is_expression };

	if (strlen(text) > LENGTH_MAX)
		return cp_error_new(CP_ERR_USAGE, 0, "%s: longer than %d characters",
				    is_expression ? "expression" : "condition", LENGTH_MAX);
	condition = calloc(1, sizeof(*condition));
	if (!condition)
		return cp_error_nomem();
	p.arena = &condition->arena;
	next(&p);
	condition->root = expression(&p, 0, 0);
	if (!p.error && p.token.kind != TOKEN_END)
		fail(&p, p.token.at, "an operator is missing");
	if (p.error) {
		cp_condition_destroy(condition);
		return p.error;
	}
	*ret = condition;
	return NULL;
}

CP_ERROR cp_condition_parse(const char *text, struct cp_condition **ret)
{
	return parse(text, false, ret);
}

CP_ERROR cp_expression_parse(const char *text, struct cp_condition **ret)
{
	return parse(text, true, ret);
}

void cp_condition_destroy(struct cp_condition *condition)
{
	if (!condition)
		return;
	cp_arena_free(&condition->arena);
	free(condition);
}
