/* SPDX-License-Identifier: MIT
 *
 * Types that read as what they stand for, by declarations: see shapes.c.
 */
#ifndef CP_INSPECT_SHAPES_H
#define CP_INSPECT_SHAPES_H

#include <cprof/value.h>

#include "base/arena.h"
#include "base/vec.h"
#include "image/image.h"
#include "image/types.h"

enum cp_shape_kind {
	CP_SHAPE_TEXT, /* `length` characters at `at` */
	CP_SHAPE_ROW, /* elements in a row at `at`: `count` of them, or up to `end` */
	CP_SHAPE_VALUE, /* it is its `value` */
	/* its `value` when `when` is true, else the word `none`, or `other` under that name; it
	 * is true as an operand where `used` is, which goes without saying where `when` is;
	 * without a `value`, the next declaration says what it is when `when` is true */
	CP_SHAPE_CHOICE,
	CP_SHAPE_VARIANT, /* at `at`, the argument of its template with the number `index` */
	CP_SHAPE_DURATION, /* `value` ticks, of `unit` or what the type's name says */
	CP_SHAPE_DATE, /* so many since 1970-01-01 */
	/* at `at`, of the type that is argument `behind` of the template called `member` that the
	 * function at `code` is made of, if its constant `used` says so; or the word `none` */
	CP_SHAPE_HELD,
	/* A pointer to the value of the node at `first`, or the word `none` at NULL and, where
	 * nodes are a ring by `next`, at its head: the node whose `count` is how many others there
	 * are. Where a value looks like that, the head is the one that is not `used` for sure. */
	CP_SHAPE_NODE,
	/* What holds elements that need not be in a row: */
	CP_SHAPE_ITEMS, /* `value` for each `$i` below `count` for which `used` is true */
	CP_SHAPE_CHAIN, /* nodes from `first` on by `next`, up to NULL or `end` */
	CP_SHAPE_TREE, /* nodes from `root` on, by `left` and `right`, in order */
	CP_SHAPE_BTREE, /* nodes of `length` entries from `root` on, `height` levels of `edges` */
	/* all members called `member` in it or in its `value`, the last first, or (`next` is
	 * up) the first */
	CP_SHAPE_PARTS,
	CP_SHAPE_KINDS
};

/* What a declaration tells of a type, as expressions over its members. */
#define CP_SHAPE_TERMS(X) \
	X(at) \
	X(length) \
	X(count) \
	X(end) \
	X(value) \
	X(when) \
	X(none) \
	X(other) \
	X(used) \
	X(first) \
	X(next) \
	X(root) \
	X(left) \
	X(right) \
	X(edges) \
	X(height) \
	X(behind) \
	X(key) \
	X(mapped) \
	X(index) \
	X(member) \
	X(unit) \
	X(code)
#define CP_SHAPE_TERM(term) CP_TERM_##term,
enum cp_shape_term { CP_SHAPE_TERMS(CP_SHAPE_TERM) CP_TERMS };
#undef CP_SHAPE_TERM

struct cp_shape_row {
	const char *type; /* its name, without what it is in; `*` is any text */
	enum cp_shape_kind kind;
	const char *terms[CP_TERMS]; /* or NULL */
};

struct cp_template;
/* What a user declares besides, and what has to be asked of those who go by all
 * declarations. */
struct cp_shapes {
	struct cp_arena arena;
	CP_VEC(struct cp_shape_row) rows; /* which come first */
	const struct cp_shape_ops *ops;
	/* Types that declarations name: as in struct cp_expression_env. NULL: there are none. */
	struct cp_error *(*find_type)(void *ctx, const char *name, const struct cp_type **ret);
	void *ctx;
	/* What the function at an address was made of: as cp_image_template_of(). NULL: that
	 * can't be told. */
	bool (*template_of)(void *ctx, uint64_t address, const char *constant,
			    struct cp_template *ret);
	/* The class that the object of `type` at an address is a base of, to be free()d; NULL: it
	 * is a whole one, or that can't be told. The function is NULL where nobody asks. */
	char *(*class_of)(void *ctx, const struct cp_type *type, uint64_t address);
	/* The type that a vtable of Rust's at an address was made for; NULL: that can't be told.
	 * *name_ret: its name, which lives as long as these declarations. The function may be
	 * NULL. */
	const struct cp_type *(*type_of_vtable)(void *ctx, uint64_t address, const char **name_ret);
};

struct cp_build;
struct cp_bytes;
struct cp_plan;
struct cp_plan_source;
struct cp_thing;
struct cp_expression_env;
struct cp_shape_ops {
	/* Plans what a stop has to read of `t`, which is `at` bytes in the source; false: it is
	 * not as `row` has it. */
	bool (*plan)(struct cp_plan *p, const struct cp_type *t, const struct cp_shape_row *row,
		     const struct cp_plan_source *source, uint64_t at, unsigned depth,
		     unsigned hops);
	/* Makes the value of `t`, which is at hand; false: it is not as `row` has it. */
	bool (*build)(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		      const struct cp_shape_row *row, const struct cp_bytes *from, unsigned depth,
		      unsigned hops);
	/* What a thing stands for (`value`), one link; *done_ret false: for itself. */
	struct cp_error *(*behind)(const struct cp_expression_env *env,
				   const struct cp_thing *thing, struct cp_thing *ret,
				   bool *done_ret);
	/* Does it hold what it may hold? *done_ret false: it is nothing of the kind. */
	struct cp_error *(*holds)(const struct cp_expression_env *env, const struct cp_thing *thing,
				  bool *ret, bool *done_ret);
	/* An element by its number, its key, or (a thing of type cp_shape_enumerator) the name of
	 * the enumerator that its key is; *done_ret false: it is no container, and
	 * *ret what it stands for. */
	struct cp_error *(*element)(const struct cp_expression_env *env,
				    const struct cp_thing *thing, const struct cp_thing *index,
				    struct cp_thing *ret, bool *done_ret);
	/* The first of its elements, and how many follow in a row; *done_ret as above. */
	struct cp_error *(*row)(const struct cp_expression_env *env, const struct cp_thing *thing,
				struct cp_thing *ret, uint64_t *count_ret, bool *done_ret);
	/* How many there are, or characters of text; *done_ret false: nobody tells. */
	struct cp_error *(*count)(const struct cp_expression_env *env, const struct cp_thing *thing,
				  struct cp_thing *ret, uint64_t *count_ret, bool *done_ret);
	/* The same as of a row, of elements that are apart, none of which has a key: copies of `count` from
	 * number `from` on, as an array. */
	struct cp_error *(*range)(const struct cp_expression_env *env, const struct cp_thing *thing,
				  uint64_t from, uint64_t count, struct cp_thing *ret,
				  bool *done_ret);
};

extern const struct cp_type cp_shape_enumerator;

/* The declaration behind `previous` (NULL: the first) for types of that name; NULL:
 * there is no other. */
const struct cp_shape_row *cp_shape_next(const struct cp_shapes *shapes, const struct cp_type *t,
					 const struct cp_shape_row *previous);

/* Is that text what a declaration has, in which `*` is any? */
bool cp_shape_fits(const char *pattern, const char *name);

/* Is it text, a duration or a date by a shipped declaration: shown in one piece? */
bool cp_shape_is_plain(const struct cp_type *t);

/* Where the parts of a type are, by the type alone. */
struct cp_shape {
	const struct cp_shape_row *row;
	bool ended; /* ROW: `length` is a pointer to the end */
	bool terminated; /* TEXT: with a NUL behind it */
	bool counted; /* what it holds is in nodes, and `length` how many they are */
	uint64_t pointer, length; /* offsets in the value */
	const struct cp_type *type; /* of what is at `pointer` */
};
/* A member by its path from `t` on ("a.b.c", also of bases), or ("..name") the first
 * pointer of that name, wherever it is inside. `image` reads what was not read of the
 * types yet; NULL: don't. */
bool cp_shape_member(struct cp_image *image, const struct cp_type *t, const char *path,
		     uint64_t *offset_ret, const struct cp_type **type_ret);
/* False: the type, or this declaration of it, tells too little. */
bool cp_shape_by_type(struct cp_image *image, const struct cp_type *t,
		      const struct cp_shape_row *row, struct cp_shape *ret);
bool cp_shape_of(struct cp_image *image, const struct cp_type *t, struct cp_shape *ret);

#endif
