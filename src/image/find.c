/* SPDX-License-Identifier: MIT
 *
 * One walk over the DIEs of all units, with the names of what each is in on a
 * stack. Types in functions are looked for only when there are no others: that
 * takes the DIEs of all code.
 */
#include "image/find.h"

#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/text.h"
#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/context.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/members.h"
#include "image/dwarf/mention.h"
#include "image/dwarf/name.h"
#include "image/dwarf/root.h"
#include "image/dwarf/scope.h"
#include "image/dwarf/type.h"
#include "image/dwarf/type_unit.h"
#include "image/dwarf/unit.h"

#define STEPS UINT64_C(200000000)
#define FOUND_MAX 256
#define NAME_MAX 4096

struct scope {
	const char *name;
	bool function; /* "name()" */
	bool omitted; /* may be: an inline namespace, or one without a name */
};

enum match { NONE, LOOSELY, WITH_DEFAULTS, ENDS_SO, WHOLE };

struct search {
	struct cp_debuginfo *all;
	struct cp_found *to;
	struct cp_buf wanted; /* canonical */
	const char *last; /* in it: the name itself */
	struct scope scopes[CP_DWARF_DEPTH];
	unsigned depth;
	bool functions; /* go into them */
	bool enumerators; /* these are wanted, and the enums that they are of found */
	bool library; /* only what is in std, core or alloc */
	enum match best; /* that was found */
	struct cp_mentions mentioned; /* units that may have such a name */
	bool done; /* nothing more can be found */
	struct cp_text_near near;
	struct cp_buf full, brief, scratch;
	bool failed;
	/* Where all are wanted: those that were met, by name, size and line; by the hash of
	 * their names the last that was found, from 1; and for each the one before it. */
	bool every;
	struct cp_map met, named;
	CP_VEC(size_t) before;
};

/* ---- names ---- */

/* Writes a name as someone might have typed it: without blanks and namespaces
 * without a name, integers by one of their names. */
static void canonical(struct cp_buf *to, const char *name)
{
	static const struct {
		const char *one, *other;
	} same[] = {
		{ "(anonymous namespace)::", "" },
		{ "{anonymous}::", "" },
		{ "long long unsigned int", "unsigned long long" },
		{ "long unsigned int", "unsigned long" },
		{ "short unsigned int", "unsigned short" },
		{ "long long int", "long long" },
		{ "long int", "long" },
		{ "short int", "short" },
	};
	const char *c;
	size_t i;

	to->size = 0;
	while (*name && to->size < NAME_MAX) {
		for (i = 0; i < CP_ARRAY_SIZE(same) && !cp_starts_with(name, same[i].one); i++)
			;
		c = i < CP_ARRAY_SIZE(same) ? same[i].other : NULL;
		for (; c && *c; c++)
			if (*c != ' ')
				cp_buf_u8(to, (uint8_t)*c);
		if (c) {
			name += strlen(same[i].one);
		} else if (*name++ != ' ') {
			cp_buf_u8(to, (uint8_t)name[-1]);
		}
	}
	cp_buf_u8(to, 0);
}

/* Compares the beginnings of names, up to their arguments. */
static bool begins_alike(const char *name, const char *wanted)
{
	while (*name && *name != '<' && *name == *wanted) {
		name++;
		wanted++;
	}
	return (!*name || *name == '<' || *name == ' ') && (!*wanted || *wanted == '<');
}

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Behind what arguments' names begin with: "a::b::Part" is Part there. */
static const char *without_path(const char *name)
{
	const char *c, *from = name;

	for (c = name; is_word(*c); c++)
		;
	while (c > from && c[0] == ':' && c[1] == ':') {
		from = c + 2;
		for (c = from; is_word(*c); c++)
			;
	}
	return from;
}

#define NESTED_MAX 64

static size_t word_size(const char *name)
{
	size_t n = 0;

	while (is_word(name[n]))
		n++;
	return n;
}

/* Behind the bracket that closes the template's arguments that begin at `name`. */
static const char *behind_arguments(const char *name)
{
	unsigned depth = 0;

	for (; *name; name++) {
		if (*name == '<')
			depth++;
		else if (*name == '>' && name[-1] != '-' && !--depth)
			return name + 1;
	}
	return name;
}

static const struct {
	const char *alias, *type;
} texts[] = {
	{ "string", "basic_string<char" },
	{ "wstring", "basic_string<wchar_t" },
	{ "u16string", "basic_string<char16_t" },
	{ "u32string", "basic_string<char32_t" },
	{ "string_view", "basic_string_view<char" },
	{ "wstring_view", "basic_string_view<wchar_t" },
};

/* The type that an alias stands for, up to its first argument; NULL: it is no alias. */
static const char *text_type(const char *alias, size_t size)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(texts); i++)
		if (strlen(texts[i].alias) == size && !memcmp(texts[i].alias, alias, size))
			return texts[i].type;
	return NULL;
}

/* "string" for "basic_string<char,...>" and its like: what that is behind. */
static const char *behind_text(const char *name, const char *wanted, size_t size)
{
	const char *type = text_type(wanted, size);

	return type && cp_starts_with(name, type) && strchr(",>", name[strlen(type)])
		       ? behind_arguments(name + strcspn(name, "<"))
		       : NULL;
}

static bool fits_part(const char **name, const char **wanted, unsigned depth);

/* Compares the arguments of names that are both at a "<": each argument that is
 * wanted is there; others may follow, as those that nobody writes do. */
static bool fit_arguments(const char **name, const char **wanted, unsigned depth)
{
	const char *end = behind_arguments(*name);

	do {
		++*name;
		++*wanted;
		if (!fits_part(name, wanted, depth + 1))
			return false;
	} while (**name == ',' && **wanted == ',');
	if (**wanted != '>' || (**name != '>' && **name != ','))
		return false;
	++*wanted;
	*name = end;
	return true;
}

/* Compares names up to the end of an argument, or of all: they fit if they are the
 * same but for what the names in arguments are in, arguments that are left out at
 * the end, and std::string. */
static bool fits_part(const char **name, const char **wanted, unsigned depth)
{
	unsigned brackets = 0;
	const char *n = *name, *w = *wanted, *text;
	size_t size;

	while (depth < NESTED_MAX && *n && *w) {
		if (!brackets && (*n == ',' || *n == '>'))
			break;
		n = depth && is_word(*n) ? without_path(n) : n;
		w = depth && is_word(*w) ? without_path(w) : w;
		size = word_size(w);
		text = depth && size ? behind_text(n, w, size) : NULL;
		if (text) {
			n = text;
			w += size;
			continue;
		}
		size = size ? size : 1;
		if (strncmp(n, w, size) || (is_word(*w) && is_word(n[size])))
			return false;
		brackets += *w == '(' || *w == '[';
		brackets -= brackets && (*w == ')' || *w == ']');
		/* "->" closes nothing. */
		size += *w == '-' && w[1] == '>' && n[1] == '>';
		n += size;
		w += size;
		if (*n == '<' && *w == '<' && !fit_arguments(&n, &w, depth))
			return false;
	}
	*name = n;
	*wanted = w;
	return depth < NESTED_MAX && (depth || *n == *w);
}

static bool fits_loosely(const char *name, const char *wanted)
{
	return fits_part(&name, &wanted, 0);
}

/* "vector<int>" is what "vector<int,std::allocator<int>>" is written as, too. */
static enum match compare(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);

	if (!strcmp(name, wanted))
		return WHOLE;
	if (size && wanted[size - 1] == '>' && !strncmp(name, wanted, size - 1) &&
	    name[size - 1] == ',')
		return WITH_DEFAULTS;
	return strchr(wanted, '<') && fits_loosely(name, wanted) ? LOOSELY : NONE;
}

const char *cp_name_last_part(const char *name)
{
	const char *last = name;
	unsigned depth = 0;
	char before = 0;

	for (; *name; before = *name++) {
		if (*name == '<' || *name == '(')
			depth++;
		else if (((*name == '>' && before != '-') || *name == ')') && depth)
			depth--;
		else if (!depth && name[0] == ':' && name[1] == ':')
			last = name + 2;
	}
	return last;
}

static void spell(const struct search *s, const char *name, bool brief, struct cp_buf *to)
{
	unsigned i;

	to->size = 0;
	for (i = 0; i < s->depth; i++) {
		if (brief && s->scopes[i].omitted)
			continue;
		cp_buf_str(to, s->scopes[i].name);
		cp_buf_str(to, s->scopes[i].function ? "()::" : "::");
	}
	cp_buf_str(to, name);
	cp_buf_u8(to, 0);
}

/* Judges how well a name fits what is wanted. */
static enum match fits(struct search *s, const struct cp_buf *spelt)
{
	const char *wanted = (const char *)s->wanted.bytes, *from;
	enum match best, got;

	canonical(&s->scratch, (const char *)spelt->bytes);
	if (s->scratch.failed)
		return NONE;
	from = (const char *)s->scratch.bytes;
	best = compare(from, wanted);
	while (best != WHOLE && (from = strstr(from, "::"))) {
		from += 2;
		got = compare(from, wanted);
		if (got == WHOLE)
			got = ENDS_SO;
		best = got > best ? got : best;
	}
	return best;
}

/* ---- what is found ---- */

static const struct cp_type_details *details_of(const struct cp_type *type)
{
	const struct cp_type_details *d = cp_type_details(type);

	if (!d && (type->kind == CP_TYPE_STRUCT || type->kind == CP_TYPE_UNION ||
		   type->kind == CP_TYPE_ENUM))
		d = cp_type_read_details(type);
	return d;
}

bool cp_enumerators_are_same(const struct cp_type_details *x, const struct cp_type_details *y)
{
	uint32_t i;

	if (x->enumerator_count != y->enumerator_count)
		return false;
	for (i = 0; i < x->enumerator_count; i++)
		if (x->enumerators[i].value != y->enumerators[i].value ||
		    strcmp(x->enumerators[i].name, y->enumerators[i].name) != 0)
			return false;
	return true;
}

/* A header's type has a DIE in each unit; but files have types of one name, too. */
static bool is_same(const struct cp_type *a, const struct cp_type *b)
{
	const struct cp_type_details *x, *y;
	uint32_t i;

	if (a->size != b->size || a->kind != b->kind)
		return false;
	x = details_of(a);
	y = details_of(b);
	if (!x || !y)
		return !x == !y;
	if (x->member_count != y->member_count)
		return false;
	for (i = 0; i < x->member_count; i++)
		if (x->members[i].offset != y->members[i].offset ||
		    strcmp(x->members[i].name, y->members[i].name))
			return false;
	return cp_enumerators_are_same(x, y);
}

static bool is_known(const struct search *s, const char *name, const struct cp_type *type)
{
	const struct cp_found_type *f;

	cp_vec_for_each(&s->to->types, f) {
		if (strcmp(f->name, name))
			continue;
		if (type->flags & CP_TYPE_DECLARED || is_same(f->type, type))
			return true;
	}
	return false;
}

/* A definition takes the place of declarations. */
static void drop_declarations(struct search *s, const char *name)
{
	size_t i, kept = 0;

	for (i = 0; i < s->to->types.count; i++) {
		const struct cp_found_type *f = &s->to->types.items[i];

		if (!(f->type->flags & CP_TYPE_DECLARED) || strcmp(f->name, name))
			s->to->types.items[kept++] = *f;
	}
	s->to->types.count = kept;
}

static void add(struct search *s, struct cp_unit *unit, uint64_t die, enum match match)
{
	const char *name = (const char *)s->full.bytes;
	const struct cp_type *type = cp_unit_type(unit, die);
	struct cp_found_type found = { .type = type };

	if (!type || match < s->best || s->to->types.count >= FOUND_MAX)
		return;
	if (match > s->best)
		s->to->types.count = 0;
	s->best = match;
	if (is_known(s, name, type))
		return;
	if (!(type->flags & CP_TYPE_DECLARED))
		drop_declarations(s, name);
	found.name = cp_arena_copy(&s->to->arena, name, strlen(name));
	s->failed |= !found.name || !cp_vec_push(&s->to->types, found);
}

#define OWN_FILE 1 /* and below: of a unit, by compilers' custom */

/* A header's type is met in unit after unit: then it need not be read again. */
static bool was_met(struct search *s, const struct cp_attrs *a, uint64_t name)
{
	uint64_t size = 0, line = 0, file = 0, key;

	cp_attr_number(&a->byte_size, &size);
	cp_attr_number(&a->decl_line, &line);
	cp_attr_number(&a->decl_file, &file);
	key = cp_hash_u64(name ^ cp_hash_u64(size << 24 ^ line));
	if (!line || file <= OWN_FILE)
		return false;
	if (cp_map_get(&s->met, key))
		return true;
	s->failed |= !cp_map_put(&s->met, key, 1);
	return false;
}

/* Is it a structure, union or enumeration, or the name of one that has no other? */
static bool is_laid_out(const struct cp_type *type)
{
	const struct cp_type *own = cp_type_strip(type);

	if (!own || own->flags & CP_TYPE_DECLARED || (own != type && own->name))
		return false;
	return own->kind == CP_TYPE_STRUCT || own->kind == CP_TYPE_UNION ||
	       own->kind == CP_TYPE_ENUM;
}

static void add_every(struct search *s, struct cp_unit *unit, const struct cp_die *die,
		      const struct cp_attrs *a, const char *name)
{
	struct cp_found_type found = { 0 };
	uint64_t hash, *last;
	size_t at;

	if (die->abbrev->tag == DW_TAG_base_type || cp_attr_flag(&a->declaration))
		return;
	spell(s, name, false, &s->full);
	s->failed |= s->full.failed;
	if (s->failed)
		return;
	name = (const char *)s->full.bytes;
	hash = cp_hash_bytes(name, strlen(name));
	if (was_met(s, a, hash))
		return;
	found.type = cp_unit_type(unit, die->offset);
	if (!found.type || !is_laid_out(found.type))
		return;
	last = cp_map_get(&s->named, hash);
	for (at = last ? *last : 0; at; at = s->before.items[at - 1])
		if (!strcmp(s->to->types.items[at - 1].name, name) &&
		    is_same(cp_type_strip(s->to->types.items[at - 1].type),
			    cp_type_strip(found.type)))
			return;
	found.name = cp_arena_copy(&s->to->arena, name, strlen(name));
	s->failed |= !found.name || !cp_vec_push(&s->before, last ? *last : 0) ||
		     !cp_vec_push(&s->to->types, found) ||
		     !cp_map_put(&s->named, hash, s->to->types.count);
}

static bool is_library(const char *name)
{
	return cp_starts_with(name, "std::") || cp_starts_with(name, "core::") ||
	       cp_starts_with(name, "alloc::");
}

static void consider(struct search *s, struct cp_unit *unit, const struct cp_die *die,
		     const char *name)
{
	enum match match, brief;

	if (s->near.size)
		cp_text_near_try(&s->near, name);
	/* Integers have several names. */
	if (die->abbrev->tag != DW_TAG_base_type && !begins_alike(name, s->last))
		return;
	spell(s, name, false, &s->full);
	spell(s, name, true, &s->brief);
	s->failed |= s->full.failed || s->brief.failed || s->scratch.failed;
	if (s->failed || (s->library && !is_library((const char *)s->full.bytes)))
		return;
	match = fits(s, &s->full);
	brief = fits(s, &s->brief);
	match = brief > match ? brief : match;
	if (match)
		add(s, unit, die->offset, match);
	/* Nearly all units have it. */
	s->done = match == WHOLE && die->abbrev->tag == DW_TAG_base_type;
}

/* An enumerator is in what its enum is in, but for that of an `enum class`, and in the
 * enum. */
static void consider_enum(struct search *s, struct cp_unit *unit, const struct cp_die *die,
			  const char *name, bool scoped)
{
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die in;

	if (!die->abbrev->children || !cp_die_at(unit, die->offset, &w, &in, &a))
		return;
	while (cp_walk_next(&w, &in) && in.abbrev && cp_attrs_read(&w, in.abbrev, &a)) {
		const char *enumerator = cp_attr_string(unit, &a.name);

		if (in.abbrev->tag == DW_TAG_enumerator && enumerator &&
		    !strcmp(enumerator, s->last))
			break;
		if (in.abbrev->children && !cp_walk_skip_children(&w, &a.sibling))
			return;
	}
	if (!in.abbrev || w.c.bad)
		return;
	if (!scoped)
		consider(s, unit, die, s->last);
	if (!name || s->depth == CP_DWARF_DEPTH)
		return;
	s->scopes[s->depth++] = (struct scope){ .name = name };
	consider(s, unit, die, s->last);
	s->depth--;
}

/* ---- the walk ---- */

static bool is_type(uint16_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
	       tag == DW_TAG_typedef || tag == DW_TAG_base_type;
}

/* The part that a DIE has in the names of what is in it; false: none. */
static bool scope_of(const struct search *s, uint16_t tag, const char *name,
		     const struct cp_attrs *a, struct scope *ret)
{
	*ret = (struct scope){ .name = name };
	switch (tag) {
	case DW_TAG_namespace:
		ret->omitted = !name || cp_attr_flag(&a->export_symbols);
		ret->name = name ? name : "(anonymous namespace)";
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return name != NULL;
	case DW_TAG_subprogram:
		ret->function = true;
		return s->functions && name;
	default:
		return false;
	}
}

static bool is_block(const struct search *s, uint16_t tag)
{
	return s->functions && (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
				tag == DW_TAG_catch_block);
}

/* A definition apart from its declaration is in what that is in. */
static void enter_context(struct search *s, struct cp_unit *unit, const struct cp_attrs *type)
{
	struct cp_type_context context;
	struct scope scope;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	unsigned i;

	if (!cp_type_context(unit, &type->specification, &context))
		return;
	s->depth = 0;
	for (i = 0; i < context.count; i++)
		if (cp_die_at(context.unit, context.dies[i], &w, &die, &a) &&
		    scope_of(s, die.abbrev->tag, cp_attr_string(context.unit, &a.name), &a, &scope))
			s->scopes[s->depth++] = scope;
}

static void search_unit(struct search *s, struct cp_unit *unit)
{
	unsigned before[CP_DWARF_DEPTH], nested = 0, outer;
	struct scope scope;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	const char *name;

	s->depth = 0;
	if (!cp_unit_root(unit) || !cp_walk_from(unit, unit->die, &w) || !cp_walk_next(&w, &die) ||
	    !die.abbrev || !die.abbrev->children)
		return;
	cp_walk_skip_attrs(&w, die.abbrev);
	while (!s->failed && !s->done && cp_walk_next(&w, &die)) {
		if (!die.abbrev) {
			if (!nested)
				return;
			s->depth = before[--nested];
			continue;
		}
		if (!cp_attrs_read(&w, die.abbrev, &a))
			return;
		name = cp_attr_string(unit, &a.name);
		outer = s->depth;
		if (a.specification.form && is_type(die.abbrev->tag))
			enter_context(s, unit, &a);
		if (s->every && name && is_type(die.abbrev->tag))
			add_every(s, unit, &die, &a, name);
		else if (s->every)
			;
		else if (s->enumerators && die.abbrev->tag == DW_TAG_enumeration_type)
			consider_enum(s, unit, &die, name, cp_attr_flag(&a.enum_class));
		else if (!s->enumerators && name && is_type(die.abbrev->tag))
			consider(s, unit, &die, name);
		if (!die.abbrev->children) {
			s->depth = outer;
			continue;
		}
		if (nested < CP_DWARF_DEPTH && s->depth < CP_DWARF_DEPTH &&
		    (scope_of(s, die.abbrev->tag, name, &a, &scope) ||
		     is_block(s, die.abbrev->tag))) {
			before[nested++] = outer;
			if (!is_block(s, die.abbrev->tag))
				s->scopes[s->depth++] = scope;
			continue;
		}
		s->depth = outer;
		if (!cp_walk_skip_children(&w, &a.sibling))
			return;
	}
}

static void search_all(struct search *s)
{
	struct cp_dwarf *main = s->all->main;
	struct cp_unit *unit;
	size_t i;

	cp_dwarf_walk(main);
	for (i = 0; i < main->units.count && !s->failed && !s->done; i++)
		if (cp_is_mentioned(&s->mentioned, i))
			search_unit(s, cp_unit_with_dies(main->units.items[i]));
	for (i = 0; !s->failed && !s->done && (unit = cp_debuginfo_type_unit(s->all, i)); i++)
		search_unit(s, unit);
}

/* Searches units that have the very name, which is better than any that is alike. */
static void search_mentioned(struct search *s)
{
	if (!s->last[word_size(s->last)])
		cp_dwarf_mentions(s->all->main, s->last, CP_MENTION_OF_ALL, &s->mentioned);
	if (s->mentioned.units && !s->mentioned.all)
		search_all(s);
	s->mentioned.all = true;
}

/* Rewords a wanted name that is no type's: an alias that no debug information has, a
 * place that Rust's std has of what is elsewhere. False: it is neither. */
static bool reword(struct search *s)
{
	const char *type = text_type(s->last, strlen(s->last));
	struct cp_buf other = { 0 };

	if (type)
		cp_buf_printf(&other, "%s>", type);
	else if (cp_starts_with((const char *)s->wanted.bytes, "std::"))
		cp_buf_str(&other, s->last);
	s->library = other.size;
	if (other.size) {
		cp_buf_u8(&other, 0);
		cp_buf_free(&s->wanted);
		s->wanted = other;
		s->failed |= other.failed;
	}
	return other.size && !other.failed;
}

static void search(struct search *s)
{
	s->last = cp_name_last_part((const char *)s->wanted.bytes);
	search_mentioned(s);
	if (!s->to->types.count && !s->failed)
		search_all(s);
	if (!s->to->types.count && !s->failed && reword(s)) {
		s->last = cp_name_last_part((const char *)s->wanted.bytes);
		search_all(s);
	}
	if (!s->to->types.count && !s->failed) {
		s->functions = true;
		search_all(s);
	}
	/* Names of dozens of thousands of types are compared only when it is over. */
	if (!s->to->types.count && !s->failed) {
		s->functions = s->library = false;
		s->near = cp_text_near(s->last, strlen(s->last));
		search_all(s);
		if (s->near.best)
			s->to->near =
				cp_arena_copy(&s->to->arena, s->near.best, strlen(s->near.best));
	}
}

/* Those in functions, too, when there are no others. */
static void search_enumerators(struct search *s)
{
	s->enumerators = true;
	s->last = cp_name_last_part((const char *)s->wanted.bytes);
	cp_dwarf_mentions(s->all->main, s->last, CP_MENTION_OF_ALL, &s->mentioned);
	s->mentioned.all |= !s->mentioned.units;
	search_all(s);
	s->functions = true;
	if (!s->to->types.count && !s->failed)
		search_all(s);
}

static void search_every(struct search *s)
{
	s->every = s->mentioned.all = true;
	search_all(s);
}

/* "struct node" is node. */
static const char *without_keyword(const char *name)
{
	static const char *const keywords[] = { "struct ", "class ", "union ", "enum " };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(keywords); i++)
		if (cp_starts_with(name, keywords[i]))
			return name + strlen(keywords[i]);
	return name;
}

static CP_ERROR find(struct cp_image *image, const char *name, void (*look)(struct search *s),
		     struct cp_found *ret)
{
	struct search s = { .to = ret };

	*ret = (struct cp_found){ 0 };
	canonical(&s.wanted, name);
	pthread_mutex_lock(&image->debug_lock);
	s.all = s.wanted.failed ? NULL : cp_debuginfo_begin(image, STEPS);
	if (s.all)
		look(&s);
	pthread_mutex_unlock(&image->debug_lock);
	cp_buf_free(&s.full);
	cp_buf_free(&s.brief);
	cp_buf_free(&s.scratch);
	cp_mentions_free(&s.mentioned);
	cp_map_free(&s.met);
	cp_map_free(&s.named);
	cp_vec_free(&s.before);
	s.failed |= s.wanted.failed;
	cp_buf_free(&s.wanted);
	if (!s.failed && s.all)
		return NULL;
	cp_found_free(ret);
	return s.failed ? cp_error_nomem()
			: cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						     "there is no debug information"),
					"build with -g, or name the directory of debug files with "
					"--debug-dir");
}

CP_ERROR cp_image_find_types(struct cp_image *image, const char *name, struct cp_found *ret)
{
	return find(image, without_keyword(name), search, ret);
}

CP_ERROR cp_image_find_enumerators(struct cp_image *image, const char *name, struct cp_found *ret)
{
	return find(image, name, search_enumerators, ret);
}

void cp_found_free(struct cp_found *found)
{
	cp_vec_free(&found->types);
	cp_arena_free(&found->arena);
	*found = (struct cp_found){ 0 };
}

CP_ERROR cp_image_all_types(struct cp_image *image, struct cp_found *ret)
{
	return find(image, "", search_every, ret);
}
