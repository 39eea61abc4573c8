/* SPDX-License-Identifier: MIT
 *
 * A walk over the DIEs of all units for variables. What most are, in no function and
 * no class, is looked for first: the rest of a unit is passed over then. A variable
 * that is defined outside of its class has its name where it is declared.
 */
#include "image/globals.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "image/declared.h"
#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/function.h"
#include "image/dwarf/line.h"
#include "image/dwarf/mention.h"
#include "image/dwarf/name.h"
#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"
#include "image/find.h"
#include "image/location.h"

#define STEPS UINT64_C(200000000)
#define FOUND_MAX 65536
#define NAME_MAX 4096

struct search {
	struct cp_image *image;
	struct cp_debuginfo *all;
	const struct cp_global_query *query;
	struct cp_globals *to;
	struct cp_buf wanted, candidate; /* canonical */
	struct cp_buf types[2];
	const char *last; /* in wanted: the name itself */
	const char *functions[CP_DWARF_DEPTH]; /* that the DIE is in, or NULL */
	struct cp_mentions mentioned; /* units that may have such a name */
	bool deep; /* into classes and functions */
	bool declared; /* what is only declared, too, where a symbol tells its place */
	int best; /* how well the name of what was found fits */
	struct cp_text_near near;
	bool failed;
};

/* Of a DIE what decides whether it is looked at. */
struct brief {
	struct cp_attr name, specification, origin, sibling, declaration, location, const_value;
};

static struct cp_attr *slot(void *to, uint16_t name)
{
	struct brief *b = to;

	switch (name) {
	case DW_AT_name:
		return &b->name;
	case DW_AT_specification:
		return &b->specification;
	case DW_AT_abstract_origin:
		return &b->origin;
	case DW_AT_sibling:
		return &b->sibling;
	case DW_AT_declaration:
		return &b->declaration;
	case DW_AT_location:
		return &b->location;
	case DW_AT_const_value:
		return &b->const_value;
	default:
		return NULL;
	}
}

/* ---- names ---- */

static const char *behind_brackets(const char *c)
{
	unsigned depth = 0;

	for (; *c; c++) {
		depth += *c == '(';
		if (*c == ')' && !--depth)
			return c + 1;
	}
	return c;
}

/* A name as someone might have typed it: without blanks, namespaces without a name,
 * and what functions take, or (`bare`) that they are some. */
static void canonical(struct cp_buf *to, const char *name, bool bare)
{
	static const char *const nothing[] = { "(anonymous namespace)::", "{anonymous}::",
					       "[abi:cxx11]" };
	size_t i;

	to->size = 0;
	while (*name && to->size < NAME_MAX) {
		for (i = 0; i < CP_ARRAY_SIZE(nothing) && !cp_starts_with(name, nothing[i]); i++)
			;
		if (i < CP_ARRAY_SIZE(nothing)) {
			name += strlen(nothing[i]);
		} else if (*name == '(') {
			cp_buf_str(to, bare ? "" : "()");
			name = behind_brackets(name);
			if (cp_starts_with(name, " const::"))
				name += strlen(" const");
		} else if (*name++ != ' ') {
			cp_buf_u8(to, (uint8_t)name[-1]);
		}
	}
	cp_buf_u8(to, 0);
}

/* What the last function in a name takes: "int,char*"; *size_ret 0: nothing is told. */
static const char *parameters_of(const char *name, size_t *size_ret)
{
	const char *from = NULL, *end = NULL, *c;

	for (c = strchr(name, '('); c; c = strchr(end, '(')) {
		end = behind_brackets(c);
		if (!cp_starts_with(c, "(anonymous") && end > c + 1 && end[-1] == ')')
			from = c;
		if (from == c)
			*size_ret = (size_t)(end - c) - 2;
	}
	*size_ret = from ? *size_ret : 0;
	return from ? from + 1 : "";
}

static bool ends_so(const struct cp_buf *text, const char *end)
{
	size_t size = strlen(end);

	return text->size >= size && !memcmp(text->bytes + text->size - size, end, size);
}

static bool is_word(uint8_t c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Writes types without blanks, what they are in, and what has more than one spelling. */
static void plain_types(struct cp_buf *to, const char *types, size_t size)
{
	static const char *const nothing[] = { "const", " ", "struct ", "enum ", "class " };
	const char *end = types + size;
	size_t i, n;

	to->size = 0;
	while (types < end) {
		for (i = n = 0; i < CP_ARRAY_SIZE(nothing) && !n; i++)
			n = cp_starts_with(types, nothing[i]) ? strlen(nothing[i]) : 0;
		if (!n && cp_starts_with(types, "int") &&
		    (ends_so(to, "unsigned") || ends_so(to, "long") || ends_so(to, "short")))
			n = strlen("int");
		if (!n && cp_starts_with(types, "::"))
			for (n = 2; to->size && is_word(to->bytes[to->size - 1]);)
				to->size--;
		if (!n)
			cp_buf_u8(to, (uint8_t)*types);
		types += n ? n : 1;
	}
	cp_buf_u8(to, 0);
}

/* "main()::calls": the innermost function that a variable of C is in. */
static char *in_function(const struct search *s, unsigned depth, const char *name)
{
	struct cp_buf text = { 0 };

	while (depth-- > 0) {
		if (!s->functions[depth])
			continue;
		cp_buf_printf(&text, "%s()::", s->functions[depth]);
		break;
	}
	cp_buf_str(&text, name);
	cp_buf_u8(&text, 0);
	if (!text.failed)
		return (char *)text.bytes;
	cp_buf_free(&text);
	return NULL;
}

/* All of a variable's name, to be free()d. */
static char *full_name(const struct search *s, struct cp_unit *unit, uint64_t die, unsigned depth,
		       const char *name)
{
	struct cp_die_name got = cp_unit_function_name(unit, die, 0);
	char *plain;

	if (!got.linkage && cp_language_is_c((uint16_t)unit->language))
		return in_function(s, depth, name);
	if (!got.name)
		return strdup(name);
	if (!got.linkage)
		return strdup(got.name);
	plain = cp_demangle(got.name);
	/* A linkage name that is not mangled says nothing of functions. */
	if (plain && !strcmp(plain, got.name)) {
		free(plain);
		return in_function(s, depth, name);
	}
	return plain;
}

/* What Rust's thread_local! makes of a variable: the name in here, in blocks in one of it. */
static const char *const thread_local_names[] = { "__RUST_STD_INTERNAL_VAL", "__KEY", "VAL" };

static bool is_rust_thread_local(const struct cp_unit *unit, const char *name)
{
	size_t i;

	for (i = 0; unit->language == DW_LANG_Rust && i < CP_ARRAY_SIZE(thread_local_names); i++)
		if (!strcmp(name, thread_local_names[i]))
			return true;
	return false;
}

static bool is_made_part(const char *part)
{
	return *part == '{' || !strcmp(part, "__getit") || !strcmp(part, "__init");
}

/* m::COUNT::{{constant}}::{{closure}}::__RUST_STD_INTERNAL_VAL is m::COUNT. False: the
 * name is its own. */
static bool cut_to_thread_local(char *full)
{
	char *part = full + (cp_name_last_part(full) - full);

	while (part - full > 2) {
		part[-2] = 0;
		part = full + (cp_name_last_part(full) - full);
		if (!is_made_part(part))
			return true;
	}
	return false;
}

enum match { NONE, ENDS_SO, WHOLE, SURELY = 4 /* a flag: not just perhaps */ };

/* Do functions take what the name that is wanted says, if it says so? Perhaps, of types
 * that are written in many ways, as those of libraries are, and where nothing tells it, of
 * a function that is inlined everywhere. */
static int takes_wanted(struct search *s, const char *name)
{
	size_t wanted_size, size;
	const char *wanted = parameters_of(s->query->name, &wanted_size),
		   *has = parameters_of(name, &size);

	if (!wanted_size)
		return SURELY;
	if (!size || memchr(wanted, '<', wanted_size) || memmem(wanted, wanted_size, "std::", 5))
		return ENDS_SO;
	plain_types(&s->types[0], wanted, wanted_size);
	plain_types(&s->types[1], has, size);
	return !s->types[0].failed && !s->types[1].failed &&
			       !strcmp((const char *)s->types[0].bytes,
				       (const char *)s->types[1].bytes)
		       ? SURELY
		       : NONE;
}

static int fits_so(struct search *s, const char *name, bool bare)
{
	const char *wanted = (const char *)s->wanted.bytes, *from;

	canonical(&s->candidate, name, bare);
	if (s->candidate.failed)
		return NONE;
	from = (const char *)s->candidate.bytes;
	if (!strcmp(from, wanted))
		return WHOLE;
	while ((from = strstr(from, "::"))) {
		from += 2;
		if (!strcmp(from, wanted))
			return ENDS_SO;
	}
	return NONE;
}

/* How well the name fits: more is better. */
static int fits(struct search *s, const char *name)
{
	int match, takes;

	if (s->query->glob)
		return fnmatch(s->query->glob, name, 0) ? NONE : WHOLE;
	if (!s->query->name)
		return WHOLE;
	match = fits_so(s, name, false);
	if (match == NONE && strchr(name, '(') && !strchr((const char *)s->wanted.bytes, '('))
		match = fits_so(s, name, true) ? ENDS_SO : NONE; /* f::x */
	takes = match ? takes_wanted(s, name) : NONE;
	return takes ? match | (takes & SURELY) : NONE;
}

static bool is_in_file(const struct search *s, const char *file)
{
	size_t size, wanted = s->query->file ? strlen(s->query->file) : 0;

	if (!wanted)
		return true;
	size = file ? strlen(file) : 0;
	return size >= wanted && !strcmp(file + size - wanted, s->query->file) &&
	       (size == wanted || file[size - wanted - 1] == '/');
}

/* ---- what is found ---- */

/* Is its place a fixed address, or one in each thread? */
static bool is_static(const struct cp_variable *v)
{
	const struct cp_location *at = v->locations.items;

	if (v->constant || v->locations.count != 1 || at->low || at->high != UINT64_MAX ||
	    !at->size)
		return v->constant;
	return cp_location_is_static(at->expr, at->size);
}

static bool is_at_zero(const struct cp_variable *v)
{
	static const uint8_t zero[9] = { DW_OP_addr };
	const struct cp_location *at = v->locations.items;

	return v->locations.count == 1 && at->size == sizeof(zero) &&
	       !memcmp(at->expr, zero, sizeof(zero));
}

/* Begins what each thread has of them, as those seem to that the linker left out. */
static bool is_first_thread_local(const struct cp_variable *v)
{
	static const uint8_t zero[sizeof(uint64_t)] = { 0 };
	const struct cp_location *at = v->locations.items;

	return v->locations.count == 1 && cp_location_is_of_thread(at->expr, at->size) &&
	       ((at->size == 10 && at->expr[0] == DW_OP_const8u) ||
		(at->size == 6 && at->expr[0] == DW_OP_const4u)) &&
	       !memcmp(at->expr + 1, zero, at->size - 2);
}

static bool is_left_out(struct search *s, struct cp_unit *unit, const struct cp_die *die,
			const char *name, const struct cp_variable *v)
{
	struct cp_die_name got;

	if (is_at_zero(v))
		return true;
	if (!is_first_thread_local(v))
		return false;
	got = cp_unit_function_name(unit, die->offset, 0);
	return cp_image_lacks_thread_local(s->image, got.linkage && got.name ? got.name : name);
}

static bool is_same(const struct cp_variable *a, const struct cp_variable *b)
{
	return a->locations.count == 1 && b->locations.count == 1 &&
	       a->locations.items->size == b->locations.items->size &&
	       !memcmp(a->locations.items->expr, b->locations.items->expr,
		       a->locations.items->size);
}

/* Each file that includes a header with an inline variable tells of it; a file that
 * kept nothing of one tells nothing. */
static bool is_known(struct search *s, const struct cp_global *g)
{
	size_t i;

	if (s->query->glob || !s->query->name)
		return false;
	for (i = 0; i < s->to->list.count; i++) {
		struct cp_global *known = &s->to->list.items[i];

		if (strcmp(known->name, g->name))
			continue;
		if (known->gone && !g->gone) {
			*known = *g;
			return true;
		}
		if (g->gone || is_same(&known->variable, &g->variable) ||
		    (known->variable.constant && g->variable.constant))
			return true;
	}
	return false;
}

/* Has what is only declared here a place by its symbol? */
static bool is_placed(struct search *s, struct cp_unit *unit, const struct cp_die *die,
		      const char *full, struct cp_variable *v)
{
	struct cp_die_name got = cp_unit_function_name(unit, die->offset, 0);

	return cp_image_place_declared(s->image, got.linkage ? got.name : NULL, full, &s->to->arena,
				       v);
}

static void add(struct search *s, struct cp_unit *unit, const struct cp_die *die, unsigned depth,
		const char *name)
{
	struct cp_global g = { .language = (uint16_t)unit->language };
	struct cp_arena *arena = &s->to->arena;
	char *full = full_name(s, unit, die->offset, depth, name);
	bool made = full && is_rust_thread_local(unit, name) && cut_to_thread_local(full);
	int match = full ? fits(s, full) : NONE;
	struct cp_die_place place;

	if (match == NONE || match < s->best || s->to->list.count >= FOUND_MAX ||
	    !cp_unit_variable(unit, die->offset, arena, &g.variable, &place) ||
	    (s->declared && !is_placed(s, unit, die, full, &g.variable))) {
		free(full);
		return;
	}
	g.external = place.external;
	g.file = place.file;
	g.line = place.line;
	g.name = cp_arena_copy(arena, full, strlen(full));
	free(full);
	if (!is_in_file(s, g.file) || (s->deep && !is_static(&g.variable)))
		return;
	g.gone = !is_static(&g.variable) || is_left_out(s, unit, die, name, &g.variable);
	s->failed |= !g.name;
	/* There is a second one of each, of which one is used. */
	if (s->failed || (made && g.gone))
		return;
	if (match > s->best && s->query->name) {
		s->best = match;
		s->to->list.count = 0;
	}
	if (!is_known(s, &g))
		s->failed = !cp_vec_push(&s->to->list, g);
}

/* The name of a variable that is defined here and declared elsewhere. */
static const char *name_of(struct cp_unit *unit, const struct brief *b, unsigned links)
{
	const char *name = cp_attr_string(unit, &b->name);
	struct brief next = { 0 };
	struct cp_walk w;
	struct cp_die die;
	uint64_t at;

	if (name || links == 4)
		return name;
	unit = cp_attr_reference(unit, b->specification.form ? &b->specification : &b->origin, &at);
	if (!unit || !cp_unit_root(unit) || !cp_walk_from(unit, at, &w) ||
	    !cp_walk_next(&w, &die) || !die.abbrev)
		return NULL;
	cp_walk_slots(&w, die.abbrev, slot, &next);
	return w.c.bad ? NULL : name_of(unit, &next, links + 1);
}

static void consider(struct search *s, struct cp_unit *unit, const struct cp_die *die,
		     const struct brief *b, unsigned depth)
{
	const char *name;

	/* A declaration may have the value of a constant, nothing else. */
	if (b->declaration.form ? !s->declared && !b->const_value.form : s->declared)
		return;
	/* What is in a function, and no static, is that function's. */
	if (s->deep && !s->declared && !b->const_value.form && !b->location.form)
		return;
	name = name_of(unit, b, 0);
	if (!name)
		return;
	if (s->near.size)
		cp_text_near_try(&s->near, name);
	if (!s->query->name || !strcmp(name, s->last) || is_rust_thread_local(unit, name))
		add(s, unit, die, depth, name);
}

/* ---- the walk ---- */

static bool is_variable(const struct search *s, uint16_t tag)
{
	return tag == DW_TAG_variable || (s->deep && tag == DW_TAG_member);
}

static bool goes_into(const struct search *s, uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return s->deep;
	default:
		return false;
	}
}

static void search_unit(struct search *s, struct cp_unit *unit)
{
	unsigned depth = 0;
	struct cp_walk w;
	struct cp_die die;

	if (!unit || !cp_unit_root(unit) || !cp_walk_from(unit, unit->die, &w) ||
	    !cp_walk_next(&w, &die) || !die.abbrev || !die.abbrev->children)
		return;
	cp_walk_skip_attrs(&w, die.abbrev);
	while (!s->failed && cp_walk_next(&w, &die)) {
		struct brief b = { 0 };
		uint16_t tag;

		if (!die.abbrev) {
			if (!depth--)
				return;
			continue;
		}
		tag = die.abbrev->tag;
		if (!die.abbrev->children && !is_variable(s, tag)) {
			cp_walk_skip_attrs(&w, die.abbrev);
			continue;
		}
		cp_walk_slots(&w, die.abbrev, slot, &b);
		if (w.c.bad)
			return;
		if (is_variable(s, tag))
			consider(s, unit, &die, &b, depth);
		if (!die.abbrev->children)
			continue;
		if (depth < CP_DWARF_DEPTH && goes_into(s, tag))
			s->functions[depth++] =
				tag == DW_TAG_subprogram ? name_of(unit, &b, 0) : NULL;
		else if (!cp_walk_skip_children(&w, &b.sibling))
			return;
	}
}

static void search_all(struct search *s)
{
	struct cp_dwarf *main = s->all->main;
	size_t i;

	cp_dwarf_walk(main);
	for (i = 0; i < main->units.count && !s->failed; i++)
		if (cp_is_mentioned(&s->mentioned, i))
			search_unit(s, cp_unit_with_dies(main->units.items[i]));
}

/* Those that other files see come first; what was left out, last. */
static int by_use(const void *a, const void *b)
{
	const struct cp_global *x = a, *y = b;

	if (x->gone != y->gone)
		return x->gone ? 1 : -1;
	if (x->external != y->external)
		return x->external ? -1 : 1;
	return x->variable.die < y->variable.die ? -1 : x->variable.die > y->variable.die;
}

static bool all_gone(const struct search *s)
{
	const struct cp_global *g;

	cp_vec_for_each(&s->to->list, g)
		if (!g->gone)
			return false;
	return true;
}

/* The unit that has what a function holds has the function. Of names that can be spelled in
 * more than one way nothing follows. */
static void search_function(struct search *s, const char *wanted)
{
	const char *end = strchr(wanted, '('), *at = end;
	char name[256];

	while (at && at > wanted && is_word((uint8_t)at[-1]))
		at--;
	if (!end || at == end || (size_t)(end - at) >= sizeof(name) ||
	    (at > wanted && at[-1] != ':') || !strncmp(at, "operator", strlen("operator")))
		return;
	memcpy(name, at, (size_t)(end - at));
	name[end - at] = '\0';
	cp_dwarf_mentions_function(s->all->main, name, &s->mentioned);
}

static void search(struct search *s)
{
	if (s->query->name) {
		canonical(&s->wanted, s->query->name, false);
		s->failed |= s->wanted.failed;
		if (s->failed)
			return;
		s->last = cp_name_last_part((const char *)s->wanted.bytes);
		cp_dwarf_mentions(s->all->main, s->last, CP_MENTION_OF_VARIABLES, &s->mentioned);
		search_function(s, (const char *)s->wanted.bytes);
	}
	s->mentioned.all |= !s->mentioned.units;
	if (s->query->name && !strchr((const char *)s->wanted.bytes, '('))
		search_all(s);
	if (!s->failed && all_gone(s)) {
		s->deep = true;
		search_all(s);
	}
	if (s->query->name && !s->to->list.count && !s->failed) {
		s->declared = true;
		search_all(s);
		s->declared = false;
	}
	/* What most are is no function's. */
	if (s->query->name && !s->to->list.count && !s->failed &&
	    !strchr((const char *)s->wanted.bytes, '(')) {
		s->deep = false;
		s->mentioned.all = true;
		s->near = cp_text_near(s->last, strlen(s->last));
		search_all(s);
		if (s->near.best)
			s->to->near =
				cp_arena_copy(&s->to->arena, s->near.best, strlen(s->near.best));
	}
	cp_vec_sort(&s->to->list, by_use);
}

CP_ERROR cp_image_find_globals(struct cp_image *image, const struct cp_global_query *query,
			       struct cp_globals *ret)
{
	struct search s = { .image = image, .query = query, .to = ret };

	*ret = (struct cp_globals){ 0 };
	pthread_mutex_lock(&image->debug_lock);
	s.all = cp_debuginfo_begin(image, STEPS);
	if (s.all)
		search(&s);
	pthread_mutex_unlock(&image->debug_lock);
	cp_buf_free(&s.wanted);
	cp_buf_free(&s.candidate);
	cp_buf_free(&s.types[0]);
	cp_buf_free(&s.types[1]);
	cp_mentions_free(&s.mentioned);
	if (!s.failed)
		return NULL;
	cp_globals_free(ret);
	return cp_error_nomem();
}

void cp_globals_free(struct cp_globals *globals)
{
	cp_vec_free(&globals->list);
	cp_arena_free(&globals->arena);
	*globals = (struct cp_globals){ 0 };
}
