/* SPDX-License-Identifier: MIT
 *
 * Places by both calling conventions, from types made by hand. What is
 * expected is written down from the ABIs' texts. That compilers read these the
 * same way is shown for x86-64 by the programs of test_inspect_values.c; for
 * aarch64 nothing here shows it.
 */
#include "inspect/classify.h"
#include "inspect/classify_rust.h"
#include "inspect/place.h"

#include <stdio.h>

#include "test.h"

#define SCALAR(k, s, ...) \
	{ \
		.kind = (k), .size = (s), __VA_ARGS__ \
	}

static struct cp_type t_char = SCALAR(CP_TYPE_CHAR, 1), t_int = SCALAR(CP_TYPE_INT, 4),
		      t_long = SCALAR(CP_TYPE_INT, 8), t_int128 = SCALAR(CP_TYPE_INT, 16),
		      t_float = SCALAR(CP_TYPE_FLOAT, 4), t_double = SCALAR(CP_TYPE_FLOAT, 8),
		      t_x87 = SCALAR(CP_TYPE_FLOAT, 16),
		      t_quad = SCALAR(CP_TYPE_FLOAT, 16, .flags = CP_TYPE_BINARY128),
		      t_cfloat = SCALAR(CP_TYPE_COMPLEX, 8),
		      t_cdouble = SCALAR(CP_TYPE_COMPLEX, 16), t_cx87 = SCALAR(CP_TYPE_COMPLEX, 32),
		      t_v16 = SCALAR(CP_TYPE_VECTOR, 16), t_v32 = SCALAR(CP_TYPE_VECTOR, 32),
		      t_pointer = SCALAR(CP_TYPE_POINTER, 8),
		      t_bitint = SCALAR(CP_TYPE_INT, 8, .flags = CP_TYPE_BITINT),
		      t_unknown = SCALAR(CP_TYPE_STRUCT, 0, .flags = CP_TYPE_DECLARED);

/* "r5 r4[8..8] v0 m7+8" or "&r5", "none", "no". */
static const char *text(const struct cp_place *p)
{
	static char out[256];
	static const char letters[] = "rvxm?n?";
	size_t n = 0;
	unsigned i;

	if (p->how == CP_PLACE_EMPTY || p->how == CP_PLACE_UNSUPPORTED)
		return p->how == CP_PLACE_EMPTY ? "none" : "no";
	out[0] = '\0';
	for (i = 0; i < p->count; i++) {
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s%c%u", i ? " " : "",
				      p->how == CP_PLACE_INDIRECT ? "&" : "",
				      letters[p->pieces[i].where], p->pieces[i].number);
		if (p->pieces[i].where == CP_PIECE_MEMORY)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "+%d",
					      (int)p->pieces[i].offset);
		n += (size_t)snprintf(out + n, sizeof(out) - n, ":%u", p->pieces[i].size);
	}
	return out;
}

/* A struct (or union) of up to 5 members at these offsets. */
struct made {
	struct cp_type type;
	struct cp_type_details details;
	struct cp_type_member members[5];
};

static const struct cp_type *make(struct made *m, uint8_t kind, uint64_t size)
{
	m->type = (struct cp_type){ .kind = kind, .size = size, .flags = m->type.flags };
	m->details.members = m->members;
	while (m->details.member_count < 5 && m->members[m->details.member_count].type)
		m->details.member_count++;
	atomic_store(&m->type.details, &m->details);
	return &m->type;
}

#define STRUCT(size, ...) make(&(struct made){ .members = { __VA_ARGS__ } }, CP_TYPE_STRUCT, size)
#define UNION(size, ...) make(&(struct made){ .members = { __VA_ARGS__ } }, CP_TYPE_UNION, size)
#define CLASS(size, how, ...) \
	make(&(struct made){ .type.flags = CP_TYPE_CLASSES, \
			     .details.flags = (how), \
			     .members = { __VA_ARGS__ } }, \
	     CP_TYPE_STRUCT, size)
#define M(t, o) \
	{ \
		.name = "m", .type = (t), .offset = (o) \
	}

static void argument_is(int line, const struct cp_convention *c, const struct cp_type *const *types,
			size_t count, const struct cp_type *result, const char *want)
{
	struct cp_place places[16];
	int failed = test_failures;

	c->arguments(types, count, result, CP_FUNCTION_PROTOTYPED, places);
	CHECK_STR(text(&places[count - 1]), want);
	if (test_failures > failed)
		fprintf(stderr, "... of line %d\n", line);
}

/* The last argument's place. */
#define LAST(c, want, ...) \
	do { \
		const struct cp_type *types_[] = { __VA_ARGS__ }; \
		argument_is(__LINE__, &(c), types_, CP_ARRAY_SIZE(types_), NULL, want); \
	} while (0)
#define RESULT(c, want, type) \
	do { \
		struct cp_place place_ = (c).result(type); \
		CHECK_STR(text(&place_), want); \
	} while (0)

#define S cp_convention_sysv
#define A cp_convention_aapcs64

static void sysv_arguments(void)
{
	const struct cp_type *big = STRUCT(24, M(&t_long, 0), M(&t_long, 8), M(&t_long, 16));
	const struct cp_type *pair = STRUCT(16, M(&t_long, 0), M(&t_long, 8));

	LAST(S, "r5:4", &t_int);
	LAST(S, "v0:8", &t_int, &t_double);
	LAST(S, "r1:4", &t_int, &t_double, &t_int, &t_int);
	LAST(S, "r5:8 r4:8", &t_int128);
	LAST(S, "m7+8:16", &t_x87);
	LAST(S, "v0:16", &t_quad);
	LAST(S, "v0:16", &t_v16);
	LAST(S, "no", &t_v32);
	LAST(S, "v0:8", &t_cfloat);
	LAST(S, "v0:8 v1:8", &t_cdouble);
	LAST(S, "m7+8:32", &t_cx87);
	LAST(S, "m7+8:24", big);
	LAST(S, "r5:8 r4:8", pair);
	/* The pair no longer fits; what follows still takes the last register. */
	LAST(S, "m7+8:16", &t_int, &t_int, &t_int, &t_int, &t_int, pair);
	LAST(S, "r9:4", &t_int, &t_int, &t_int, &t_int, &t_int, pair, &t_int);
	LAST(S, "m7+24:16", &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, &t_int128);
	LAST(S, "no", &t_bitint);
	LAST(S, "no", &t_unknown, &t_int);
	LAST(S, "r5:4", STRUCT(0, { 0 }), &t_int);
}

static void sysv_classes(void)
{
	LAST(S, "v0:8", STRUCT(8, M(&t_float, 0), M(&t_float, 4)));
	LAST(S, "r5:8", STRUCT(8, M(&t_float, 0), M(&t_int, 4)));
	LAST(S, "v0:8 r5:8", STRUCT(16, M(&t_double, 0), M(&t_pointer, 8)));
	LAST(S, "v0:8 v1:4", STRUCT(12, M(&t_float, 0), M(&t_float, 4), M(&t_float, 8)));
	LAST(S, "r5:8", UNION(8, M(&t_double, 0), M(&t_long, 0)));
	/* A field that isn't aligned: memory. */
	LAST(S, "m7+8:5", STRUCT(5, M(&t_char, 0), M(&t_int, 1)));
	/* X87UP without X87: memory. */
	LAST(S, "m7+8:16", UNION(16, M(&t_x87, 0), M(&t_long, 0)));
	RESULT(S, "&r0:8", UNION(16, M(&t_x87, 0), M(&t_long, 0)));
	RESULT(S, "r0:4", &t_int);
	RESULT(S, "r0:8 r1:8", &t_int128);
	RESULT(S, "v0:8 r0:8", STRUCT(16, M(&t_double, 0), M(&t_long, 8)));
	RESULT(S, "r0:8 v0:8", STRUCT(16, M(&t_long, 0), M(&t_double, 8)));
	RESULT(S, "x0:10", &t_x87);
	RESULT(S, "x0:10", STRUCT(16, M(&t_x87, 0)));
	RESULT(S, "x0:10 x1:10", &t_cx87);
	RESULT(S, "&r0:8", STRUCT(24, M(&t_long, 0), M(&t_long, 8), M(&t_long, 16)));
	RESULT(S, "no", &t_unknown);
}

static void sysv_cplusplus(void)
{
	const struct cp_type *copied = CLASS(8, CP_DETAILS_NONTRIVIAL, M(&t_int, 0), M(&t_int, 4));
	const struct cp_type *holder = CLASS(16, 0, M(copied, 0), M(&t_int, 8));
	const struct cp_type *types[] = { &t_int };

	LAST(S, "&r5:8", copied);
	LAST(S, "&r5:8", holder);
	LAST(S, "&r5:8", CLASS(8, CP_DETAILS_VIRTUAL, M(&t_pointer, 0)));
	LAST(S, "none", CLASS(1, 0, { 0 }));
	LAST(S, "&m7+8:8", &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, copied);
	RESULT(S, "&r0:8", copied);
	/* The hidden result pointer takes rdi. */
	argument_is(__LINE__, &S, types, 1, copied, "r4:4");
	argument_is(__LINE__, &S, types, 1, &t_unknown, "no");
}

static void aapcs64(void)
{
	const struct cp_type *floats = STRUCT(12, M(&t_float, 0), M(&t_float, 4), M(&t_float, 8));
	const struct cp_type *big = STRUCT(24, M(&t_long, 0), M(&t_long, 8), M(&t_long, 16));
	const struct cp_type *pair = STRUCT(16, M(&t_long, 0), M(&t_long, 8));

	LAST(A, "r0:4", &t_int);
	LAST(A, "v0:8", &t_int, &t_double);
	LAST(A, "v0:4 v1:4 v2:4", floats);
	LAST(A, "v0:4 v1:4", &t_cfloat);
	LAST(A, "v0:8 v1:8", &t_cdouble);
	LAST(A, "v0:16", &t_quad);
	LAST(A, "v0:16", &t_v16);
	LAST(A, "&r0:8", big);
	LAST(A, "r0:8 r1:8", pair);
	/* An even register first. */
	LAST(A, "r2:8 r3:8", &t_int, &t_int128);
	/* Does not fit: to the stack, and nothing after it comes back. */
	LAST(A, "m31+0:16", &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, pair);
	LAST(A, "m31+16:4", &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, &t_int, pair, &t_int);
	LAST(A, "m31+0:12", &t_double, &t_double, &t_double, &t_double, &t_double, &t_double,
	     floats);
	LAST(A, "r0:8", STRUCT(8, M(&t_float, 0), M(&t_int, 4)));
	LAST(A, "&r0:8", STRUCT(20, M(floats, 0), M(&t_float, 12), M(&t_float, 16)));
	LAST(A, "&r0:8", CLASS(4, CP_DETAILS_NONTRIVIAL, M(&t_int, 0)));
	RESULT(A, "v0:4 v1:4 v2:4", floats);
	RESULT(A, "&r8:8", big);
	RESULT(A, "r0:8 r1:8", pair);
	CHECK(A.result_at_entry && !S.result_at_entry);
}

/* Types that lead to themselves, and trees that are wide without end. */
static void hostile(void)
{
	struct made loop = { .members = { M(&loop.type, 0), M(&loop.type, 0) } };
	struct made wide[40];
	size_t i;

	loop.type.flags = CP_TYPE_CLASSES;
	LAST(S, "m7+8:8", make(&loop, CP_TYPE_STRUCT, 8));
	LAST(A, "r0:8", &loop.type);
	memset(wide, 0, sizeof(wide));
	for (i = 0; i < CP_ARRAY_SIZE(wide); i++) {
		wide[i].type.flags = CP_TYPE_CLASSES;
		if (i + 1 < CP_ARRAY_SIZE(wide)) {
			wide[i].members[0] = (struct cp_type_member)M(&wide[i + 1].type, 0);
			wide[i].members[1] = wide[i].members[2] = wide[i].members[0];
		}
		make(&wide[i], CP_TYPE_STRUCT, 8);
	}
	LAST(S, "m7+8:8", &wide[0].type);
	LAST(A, "r0:8", &wide[0].type);
}

int main(void)
{
	sysv_arguments();
	sysv_classes();
	sysv_cplusplus();
	aapcs64();
	hostile();
	TEST_MAIN_END;
}
