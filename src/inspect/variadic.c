/* SPDX-License-Identifier: MIT
 *
 * Arguments behind the `...` of a function of the printf family: the format says
 * how many there are, and of which types; the calling convention, where.
 *
 *     printf("%s has %*d of %2$s\n", name, width, n)     char *, int, int
 *
 * The format is the program's and may be anything: what it says is taken as far as
 * it makes sense, and what else there is, is not told. At the stop nobody parses
 * it: all registers that may hold such an argument are captured, with text that
 * they may lead to, and a piece of the stack.
 */
#include "inspect/variadic.h"

#include <elf.h>

#include "base/text.h"
#include "inspect/bytes.h"
#include "inspect/plan.h"
#include "inspect/readable.h"
#include "inspect/scalar.h"
#include "inspect/value.h"

#define FORMAT_MAX 1024 /* bytes of a format that are read */
#define MAX_ARGUMENTS (CP_VARIADIC_MAX - 1)
#define CAPTURED 14 /* arguments: registers and slots of the stack; more are not told */

/* ---- types ---- */

enum kind { NOT_SAID, INT, LONG, UINT, ULONG, CHAR, DOUBLE, LONG_DOUBLE, TEXT, POINTER };

static const struct cp_type character = {
	.kind = CP_TYPE_CHAR, .flags = CP_TYPE_SIGNED, .size = 1, .name = "char", .text = "char"
};
static const struct cp_type types[] = {
	[NOT_SAID] = { .kind = CP_TYPE_UINT, .size = 8, .text = "" },
	[INT] = { .kind = CP_TYPE_INT, .flags = CP_TYPE_SIGNED, .size = 4, .text = "int" },
	[LONG] = { .kind = CP_TYPE_INT, .flags = CP_TYPE_SIGNED, .size = 8, .text = "long" },
	[UINT] = { .kind = CP_TYPE_UINT, .size = 4, .text = "unsigned int" },
	[ULONG] = { .kind = CP_TYPE_UINT, .size = 8, .text = "unsigned long" },
	[CHAR] = { .kind = CP_TYPE_CHAR,
		   .flags = CP_TYPE_SIGNED,
		   .size = 1,
		   .name = "char",
		   .text = "char" },
	[DOUBLE] = { .kind = CP_TYPE_FLOAT, .size = 8, .text = "double" },
	[LONG_DOUBLE] = { .kind = CP_TYPE_FLOAT, .size = 16, .text = "long double" },
	[TEXT] = { .kind = CP_TYPE_POINTER,
		   .size = 8,
		   .text = "const char *",
		   .target = &character },
	[POINTER] = { .kind = CP_TYPE_POINTER, .size = 8, .text = "void *" },
};
static const struct cp_type quadruple = {
	.kind = CP_TYPE_FLOAT, .flags = CP_TYPE_BINARY128, .size = 16, .text = "long double"
};

static const struct cp_type *type_of(const struct cp_signature *s, enum kind kind)
{
	bool wide = kind == LONG_DOUBLE && cp_image_machine(s->image) == EM_AARCH64;

	return wide ? &quadruple : &types[kind];
}

/* ---- formats ---- */

struct format {
	uint8_t kinds[MAX_ARGUMENTS]; /* enum kind, by position */
	uint8_t precisions[MAX_ARGUMENTS]; /* of TEXT: argument that has it + 1; 0: none */
	int32_t most[MAX_ARGUMENTS]; /* of TEXT: precision as written; -1: none */
	bool shown[MAX_ARGUMENTS]; /* not only as a width or precision */
	unsigned count;
	bool whole; /* all of it was understood */
};

struct reading {
	const char *at;
	struct format *to;
	unsigned next; /* argument, where positions are not written */
};

/* A number, cut where no real one is; `at` moves behind it. */
static unsigned number(struct reading *r)
{
	unsigned n = 0;

	for (; *r->at >= '0' && *r->at <= '9'; r->at++)
		n = n < 100000 ? n * 10 + (unsigned)(*r->at - '0') : n;
	return n;
}

/* "2$"; 0: there is none. */
static unsigned position(struct reading *r)
{
	const char *begin = r->at;
	unsigned n = number(r);

	if (n && *r->at == '$') {
		r->at++;
		return n;
	}
	r->at = begin;
	return 0;
}

/* Notes the type of an argument; its number + 1, or 0 when there are too many, or it
 * was of another type before. */
static unsigned take(struct reading *r, unsigned where, enum kind kind)
{
	unsigned n = where ? where - 1 : r->next++;

	if (n >= MAX_ARGUMENTS || (r->to->kinds[n] != NOT_SAID && r->to->kinds[n] != kind))
		return 0;
	r->to->kinds[n] = (uint8_t)kind;
	if (n >= r->to->count)
		r->to->count = n + 1;
	return n + 1;
}

/* A width or precision: a number, or a `*` with the argument that has it + 1 in
 * *argument_ret. False: too many arguments. */
static bool size(struct reading *r, int32_t *ret, unsigned *argument_ret)
{
	*argument_ret = 0;
	if (*r->at != '*') {
		*ret = (int32_t)number(r);
		return true;
	}
	r->at++;
	*ret = -1;
	*argument_ret = take(r, position(r), INT);
	return *argument_ret != 0;
}

/* Length modifiers: 0 for what is an int, 1 for a long, 2 or more for more. */
static unsigned length(struct reading *r)
{
	unsigned longs = 0;

	for (; *r->at && strchr("hlqLjzt", *r->at); r->at++)
		longs += *r->at == 'L' || *r->at == 'q' ? 2 : *r->at != 'h';
	return longs;
}

static enum kind kind_of(char conversion, unsigned longs)
{
	switch (conversion) {
	case 'd':
	case 'i':
		return longs ? LONG : INT;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'b':
	case 'B':
		return longs ? ULONG : UINT;
	case 'c':
		return longs ? UINT : CHAR;
	case 'C':
		return UINT;
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
	case 'a':
	case 'A':
		return longs > 1 ? LONG_DOUBLE : DOUBLE;
	case 's':
		return longs ? POINTER : TEXT;
	case 'S':
	case 'p':
	case 'n':
		return POINTER;
	default:
		return NOT_SAID;
	}
}

/* Of two precisions of one argument the one that ends later counts. */
static void set_precision(struct format *f, unsigned n, int32_t most, unsigned argument)
{
	bool again = f->shown[n];

	f->shown[n] = true;
	if (again && (argument || f->precisions[n] || most < 0 || f->most[n] < 0)) {
		most = -1;
		argument = 0;
	} else if (again && most < f->most[n]) {
		most = f->most[n];
	}
	f->precisions[n] = (uint8_t)argument;
	f->most[n] = most;
}

/* Reads a conversion, behind its %. False: it can't be understood. */
static bool conversion(struct reading *r)
{
	unsigned where = position(r), argument = 0, precision = 0, longs, n;
	int32_t most = -1, width;
	enum kind kind;

	while (*r->at && strchr("-+ #0'I", *r->at))
		r->at++;
	if (!size(r, &width, &argument))
		return false;
	if (*r->at == '.') {
		r->at++;
		if (!size(r, &most, &precision))
			return false;
	}
	longs = length(r);
	if (*r->at == '%' || *r->at == 'm') {
		r->at++;
		return true;
	}
	kind = kind_of(*r->at, longs);
	n = kind != NOT_SAID ? take(r, where, kind) : 0;
	if (!n)
		return false;
	r->at++;
	set_precision(r->to, n - 1, most, precision);
	return true;
}

/* `text` ends with a NUL. */
static void read_format(const char *text, struct format *ret)
{
	struct reading r = { .at = text, .to = ret };

	memset(ret, 0, sizeof(*ret));
	ret->whole = true;
	while (ret->whole && (r.at = strchr(r.at, '%'))) {
		r.at++;
		ret->whole = conversion(&r);
	}
}

/* ---- functions ---- */

/* True for the family of printf, by names, without what libraries put around those
 * of their own: debug information does not tell the attribute. */
static bool is_of_family(const char *name)
{
	static const char *const others[] = { "syslog", "err",	 "errx",	  "warn",
					      "warnx",	"error", "error_at_line", "setproctitle" };
	size_t i, size;

	if (!name)
		return false;
	name += strspn(name, "_");
	size = strlen(name) - (cp_ends_with(name, "_chk") ? strlen("_chk") : 0);
	for (i = 0; i < CP_ARRAY_SIZE(others); i++)
		if (strlen(others[i]) == size && !memcmp(name, others[i], size))
			return true;
	return strstr(name, "printf") != NULL;
}

bool cp_variadic_is_told(const struct cp_signature *s)
{
	size_t n = s->parameter_count;

	return cp_signature_is_variadic(s) && s->convention && n &&
	       is_of_family(s->function.name) && cp_type_characters(s->parameters[n - 1].type) &&
	       cp_type_strip(s->parameters[n - 1].type)->kind == CP_TYPE_POINTER;
}

/* Places of what follows the named parameters, of `count` types. False: no memory. */
static bool place(const struct cp_signature *s, struct cp_arena *arena,
		  const struct cp_type *const *more, size_t count, struct cp_place *ret)
{
	size_t n = s->parameter_count, i;
	const struct cp_type **all =
		cp_arena_array(arena, n + count, sizeof(const struct cp_type *));
	struct cp_place *places = cp_arena_array(arena, n + count, sizeof(*places));

	if (!all || !places)
		return false;
	for (i = 0; i < n; i++)
		all[i] = s->parameters[i].type;
	for (i = 0; i < count; i++)
		all[n + i] = more[i];
	s->convention->arguments(all, n + count, s->function.result, s->function.flags, places);
	memcpy(ret, places + n, count * sizeof(*ret));
	return true;
}

/* ---- the plan ---- */

static struct cp_fetch text_fetch(const struct cp_signature *s, uint16_t from, unsigned level)
{
	return (struct cp_fetch){ .from = from,
				  .level = (uint16_t)level,
				  .flags = CP_FETCH_STRING,
				  .size = s->limits.string + 1 };
}

/* The slots of the stack from the first of those places on, and text that they
 * lead to. */
static void plan_stack(const struct cp_signature *s, struct cp_fetches *to,
		       const struct cp_place *places, unsigned count)
{
	const struct cp_piece *first = &places[0].pieces[0];
	struct cp_fetch f = { .from = first->number,
			      .offset = (int32_t)first->offset,
			      .size = count * 8 };
	int block = cp_plan_fetch(s, to, f);
	unsigned i;

	for (i = 0; block >= 0 && i < count; i++) {
		f = text_fetch(s, (uint16_t)(CP_FETCH_BLOCK + block), 1);
		f.at = (uint16_t)(i * 8);
		cp_plan_fetch(s, to, f);
	}
}

static bool is_in(const struct cp_place *place, enum cp_piece_where where)
{
	return place->how == CP_PLACE_DIRECT && place->count == 1 &&
	       place->pieces[0].where == where;
}

bool cp_variadic_plan(struct cp_signature *s)
{
	const struct cp_place *format = &s->parameters[s->parameter_count - 1].place;
	const struct cp_type *more[CAPTURED];
	struct cp_place places[CAPTURED];
	struct cp_fetch f;
	unsigned i;

	for (i = 0; i < CAPTURED; i++)
		more[i] = &types[ULONG];
	if (!place(s, &s->arena, more, CAPTURED, places))
		return false;
	s->entry_flags |= CP_SITE_REGS | CP_SITE_VECTOR;
	if (is_in(format, CP_PIECE_REGISTER)) {
		f = text_fetch(s, format->pieces[0].number, 0);
		f.size = FORMAT_MAX;
		cp_plan_fetch(s, &s->entry, f);
	}
	for (i = 0; i < CAPTURED && is_in(&places[i], CP_PIECE_REGISTER); i++)
		cp_plan_fetch(s, &s->entry, text_fetch(s, places[i].pieces[0].number, 0));
	if (i < CAPTURED && is_in(&places[i], CP_PIECE_MEMORY))
		plan_stack(s, &s->entry, &places[i], CAPTURED - i);
	return true;
}

/* ---- values ---- */

/* The format, as far as it was captured, in `text`. False: it was not. */
static bool find_format(const struct cp_value_request *request, char text[FORMAT_MAX],
			bool *whole_ret)
{
	const struct cp_signature *s = request->signature;
	struct cp_build b = { .request = request,
			      .limits = &s->limits,
			      .arena = &request->arena->memory };
	struct cp_bytes got;
	uint64_t address;
	const uint8_t *at;
	size_t size;
	uint8_t error;
	bool tried;

	at = cp_parameter_bytes(request, &s->parameters[s->parameter_count - 1], &size, &address,
				&error);
	if (!at || size != 8)
		return false;
	got = cp_build_memory(&b, cp_build_number(at, 8), FORMAT_MAX, &tried);
	if (!got.size)
		return false;
	*whole_ret = memchr(got.at, 0, got.size) != NULL;
	if (got.size >= FORMAT_MAX)
		got.size = FORMAT_MAX - 1;
	memcpy(text, got.at, got.size);
	text[got.size] = 0;
	return true;
}

/* A precision ends text that need not end by itself. */
static void cut(const struct format *f, cprof_value *values, unsigned n, unsigned count)
{
	unsigned argument = f->precisions[n];
	cprof_value *v = &values[n];
	int64_t most = f->most[n];

	if (argument && argument <= count && values[argument - 1].kind == CPROF_VALUE_INT)
		most = values[argument - 1].u.i;
	if (v->kind != CPROF_VALUE_STRING || most < 0 || v->u.text.length < (uint64_t)most)
		return;
	v->u.text.length = (uint32_t)most;
	v->cut = false;
}

size_t cp_variadic_values(const struct cp_value_request *request, cprof_value *ret)
{
	const struct cp_signature *s = request->signature;
	const struct cp_type *more[MAX_ARGUMENTS];
	struct cp_place places[MAX_ARGUMENTS];
	struct cp_parameter p = { .name = "", .source = CPROF_SOURCE_ABI };
	char text[FORMAT_MAX];
	struct format f = { .count = 0 };
	bool whole = false;
	unsigned i, n = 0;

	if (cp_variadic_is_told(s) && find_format(request, text, &whole))
		read_format(text, &f);
	for (i = 0; i < f.count; i++)
		more[i] = type_of(s, f.kinds[i]);
	if (f.count && !place(s, &request->arena->memory, more, f.count, places))
		f.count = 0;
	for (n = 0; n < f.count && f.kinds[n] != NOT_SAID; n++) {
		p.type = more[n];
		p.place = places[n];
		cp_value_of_parameter(request, &p, &ret[n]);
	}
	for (i = 0; i < n; i++)
		if (f.kinds[i] == TEXT)
			cut(&f, ret, i, n);
	if (n == f.count && f.whole && whole)
		return n;
	ret[n] = (cprof_value){ .name = "", .type = "", .source = CPROF_SOURCE_ABI };
	cp_build_error(&ret[n], CPROF_VALUE_VARIADIC, 0);
	return n + 1;
}
