/* SPDX-License-Identifier: MIT
 *
 * What a function takes, gives and keeps. Its DIE may be a copy of an abstract
 * one (abstract_origin) or the definition of what was declared in a class
 * (specification): names and types are there, places are here.
 */
#include "image/dwarf/function.h"

#include <stdlib.h>
#include <string.h>

#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/line.h"
#include "image/dwarf/location.h"
#include "image/dwarf/ranges.h"
#include "image/dwarf/root.h"
#include "image/dwarf/type.h"

#define STEPS UINT64_C(50000000)
#define MAX_VARIABLES 1024
#define MAX_SCOPES 64
#define REAL SIZE_MAX /* the function itself */

struct reading {
	struct cp_unit *unit;
	struct cp_arena *arena;
	struct cp_function_info *to;
	bool ok; /* false: no memory */
	CP_VEC(struct cp_variable) parameters, locals, statics;
	/* Variables of the abstract function, in its order. */
	CP_VEC(struct cp_variable) abstract;
};

/* ---- through references ---- */

/* Fills what is missing in *a from what the DIE refers to. `name_ret` and
 * others are of the first DIE that has them. *origin_ret: the last DIE. */
struct origin {
	struct cp_unit *unit;
	uint64_t die;
};

static void merge(struct cp_attr *to, const struct cp_attr *from)
{
	if (!to->form)
		*to = *from;
}

/* Attributes of a DIE and of those it refers to. */
struct said {
	const char *name;
	const struct cp_type *type;
	bool typed;
	struct cp_attr external, prototyped, artificial, convention, const_value;
	struct cp_attr decl_file, decl_line;
	struct cp_unit *declared; /* whose number of a file decl_file is */
	struct origin origin; /* the DIE that the first is a copy of, or itself */
};

static void say(struct said *s, struct cp_unit *unit, const struct cp_attrs *a)
{
	if (!s->name)
		s->name = cp_attr_string(unit, &a->name);
	if (!s->typed && a->type.form) {
		s->type = cp_type_referred(unit, &a->type);
		s->typed = true;
	}
	merge(&s->external, &a->external);
	merge(&s->prototyped, &a->prototyped);
	merge(&s->artificial, &a->artificial);
	merge(&s->convention, &a->convention);
	merge(&s->const_value, &a->const_value);
	if (!s->decl_file.form && a->decl_file.form)
		s->declared = unit;
	merge(&s->decl_file, &a->decl_file);
	merge(&s->decl_line, &a->decl_line);
}

static struct said follow(struct cp_unit *unit, uint64_t die_offset, const struct cp_attrs *first)
{
	struct said s = { .origin = { unit, die_offset } };
	struct cp_attrs a = *first;
	struct cp_walk w;
	struct cp_die die;
	uint64_t at;
	unsigned i;

	for (i = 0; i < 16; i++) {
		say(&s, unit, &a);
		if (a.origin.form) {
			unit = cp_attr_reference(unit, &a.origin, &at);
			if (unit)
				s.origin = (struct origin){ unit, at };
		} else {
			unit = cp_attr_reference(unit, &a.specification, &at);
		}
		if (!unit || !cp_die_at(unit, at, &w, &die, &a))
			break;
	}
	return s;
}

/* ---- variables ---- */

/* A constant as bytes. */
static void set_constant(struct reading *r, const struct cp_attr *attr, struct cp_variable *v)
{
	uint64_t number;
	const char *text;

	if (attr->block) {
		v->value = attr->block;
		v->value_size = attr->u < 4096 ? (uint32_t)attr->u : 4096;
	} else if (cp_attr_number(attr, &number)) {
		v->value = (const uint8_t *)cp_arena_copy(r->arena, &number, sizeof(number));
		v->value_size = v->value ? sizeof(number) : 0;
	} else if (attr->form) {
		text = cp_attr_string(r->unit, attr);
		v->value = (const uint8_t *)text;
		v->value_size = text ? (uint32_t)strlen(text) + 1 : 0;
	}
	v->constant = v->value != NULL;
}

static struct cp_variable variable(struct reading *r, const struct cp_die *die,
				   const struct cp_attrs *a, uint64_t *origin_ret)
{
	struct said s = follow(r->unit, die->offset, a);
	struct cp_variable v = { .name = s.name ? s.name : "", .die = die->offset };
	uint64_t line = 0;

	v.type = s.type;
	v.artificial = cp_attr_flag(&s.artificial);
	if (cp_attr_number(&s.decl_line, &line) && line < UINT32_MAX)
		v.line = (uint32_t)line;
	set_constant(r, &s.const_value, &v);
	v.locations = cp_unit_locations(r->unit, &a->location, r->arena);
	*origin_ret = s.origin.unit == r->unit ? s.origin.die : die->offset;
	return v;
}

bool cp_unit_variable(struct cp_unit *unit, uint64_t offset, struct cp_arena *arena,
		      struct cp_variable *ret, struct cp_die_place *place_ret)
{
	struct reading r = { .unit = unit, .arena = arena, .ok = true };
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	struct said s;
	uint64_t ignored, line = 0;

	if (!cp_die_at(unit, offset, &w, &die, &a))
		return false;
	*ret = variable(&r, &die, &a, &ignored);
	s = follow(unit, offset, &a);
	*place_ret = (struct cp_die_place){ .external = cp_attr_flag(&s.external) };
	if (s.declared)
		place_ret->file =
			cp_unit_file(s.declared->skeleton ? s.declared->skeleton : s.declared,
				     s.decl_file.u);
	if (cp_attr_number(&s.decl_line, &line) && line < UINT32_MAX)
		place_ret->line = (uint32_t)line;
	return r.ok;
}

/* Reads the parameters that are children of the DIE just read. */
static void read_parameters(struct reading *r, struct cp_walk *w)
{
	struct cp_variable v;
	struct cp_attrs a;
	struct cp_die die;
	uint64_t origin;

	while (r->ok && cp_walk_next(w, &die) && die.abbrev && cp_attrs_read(w, die.abbrev, &a)) {
		if (die.abbrev->tag == DW_TAG_unspecified_parameters)
			r->to->flags |= CP_FUNCTION_VARIADIC;
		if (die.abbrev->tag == DW_TAG_formal_parameter &&
		    r->parameters.count < MAX_VARIABLES) {
			v = variable(r, &die, &a, &origin);
			v.die = origin;
			r->ok = cp_vec_push(&r->parameters, v);
		}
		if (die.abbrev->children && !cp_walk_skip_children(w, &a.sibling))
			break;
	}
}

/* ---- locals ---- */

/* The addresses of a block; those of what it is in where it has none itself. */
static const struct cp_extent *scope_of(struct reading *r, const struct cp_attrs *a,
					const struct cp_extent *outer)
{
	const struct cp_extent *own =
		cp_unit_extents(r->unit, &a->low, &a->high, &a->ranges, r->arena);

	return own ? own : outer;
}

bool cp_variable_in_scope(const struct cp_variable *v, uint64_t pc)
{
	const struct cp_extent *e;

	if (v->artificial && !strncmp(v->name, "__vla_expr", 10)) /* clang's: an array's size */
		return false;
	for (e = v->scope; e; e = e->next)
		if (pc >= e->low && pc < e->high)
			return true;
	return !v->scope;
}

static bool is_static(const struct cp_variable *v)
{
	const struct cp_location *at = v->locations.items;

	return v->locations.count == 1 && cp_location_is_static(at->expr, at->size);
}

/* One of an abstract function: a copy that tells no place has been taken for a local, and
 * has the block. False: the copy tells all. */
static bool take_copy(struct reading *r, struct cp_variable *v)
{
	size_t i;

	for (i = 0; i < r->statics.count; i++)
		if (r->statics.items[i].die == v->die)
			return false;
	for (i = 0; i < r->locals.count && r->locals.items[i].die != v->die;)
		i++;
	if (i == r->locals.count)
		return true;
	v->scope = r->locals.items[i].scope;
	cp_vec_remove(&r->locals, i);
	return true;
}

static void add_local(struct reading *r, const struct cp_die *die, const struct cp_attrs *a,
		      const struct cp_extent *scope, bool abstract)
{
	struct cp_variable v;
	uint64_t origin;

	if (r->locals.count == MAX_VARIABLES || cp_attr_flag(&a->declaration))
		return;
	v = variable(r, die, a, &origin);
	if (!*v.name)
		return;
	v.scope = scope;
	v.die = origin;
	/* Static ones are the program's, not the call's. */
	if (!is_static(&v))
		r->ok = abstract || cp_attr_flag(&a->external) || cp_vec_push(&r->locals, v);
	else if (r->statics.count < MAX_VARIABLES && (!abstract || take_copy(r, &v)))
		r->ok = cp_vec_push(&r->statics, v);
}

/* Reads the variables among the children of the DIE just read, also those in
 * blocks, not those of inlined calls. Of an abstract function static ones alone. */
static void read_locals(struct reading *r, struct cp_walk *w, bool abstract)
{
	const struct cp_extent *scopes[MAX_SCOPES] = { NULL };
	struct cp_attrs a;
	struct cp_die die;
	unsigned depth = 0;
	uint16_t tag;

	while (r->ok && cp_walk_next(w, &die)) {
		if (!die.abbrev) {
			if (!depth--)
				return;
			continue;
		}
		if (!cp_attrs_read(w, die.abbrev, &a))
			return;
		tag = die.abbrev->tag;
		if (tag == DW_TAG_variable)
			add_local(r, &die, &a, scopes[depth], abstract);
		if (!die.abbrev->children)
			continue;
		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		     tag == DW_TAG_catch_block) &&
		    depth + 1 < MAX_SCOPES) {
			scopes[depth + 1] = scope_of(r, &a, scopes[depth]);
			depth++;
		} else if (!cp_walk_skip_children(w, &a.sibling)) {
			return;
		}
	}
}

/* True for a parameter of an abstract function that a copy without it was never
 * passed: gcc's constructors and destructors are declared with a number (__in_chrg)
 * that no code of them takes, and with a table that only those of bases do. */
static bool is_imaginary(const struct cp_variable *v, size_t position)
{
	return v->artificial && position;
}

/* What is in the abstract function; false: nothing. */
static bool walk_abstract(const struct origin *abstract, struct cp_walk *ret)
{
	struct cp_attrs a;
	struct cp_die die;

	return cp_die_at(abstract->unit, abstract->die, ret, &die, &a) && die.abbrev->children;
}

/* The copy lacks parameters that the compiler dropped; the abstract function
 * has all of them, in their order. */
static void complete_parameters(struct reading *r, const struct origin *abstract)
{
	struct cp_unit *unit = r->unit;
	size_t own = r->parameters.count, kept = own, i, k;
	struct cp_variable *v;
	struct cp_walk w;

	if (!walk_abstract(abstract, &w))
		return;
	r->unit = abstract->unit;
	read_parameters(r, &w);
	r->unit = unit;
	/* Now the copy's come first, then all: each of those takes its place. */
	for (i = own; i < r->parameters.count; i++) {
		v = &r->parameters.items[i];
		for (k = 0; k < own && r->parameters.items[k].die != v->die;)
			k++;
		if (k < own)
			r->parameters.items[kept++] = r->parameters.items[k];
		else if (!is_imaginary(v, i - own))
			r->parameters.items[kept++] = *v;
	}
	r->parameters.count = kept;
	if (r->parameters.count > own && r->parameters.count - own >= own) {
		memmove(r->parameters.items, r->parameters.items + own,
			(r->parameters.count - own) * sizeof(*r->parameters.items));
		r->parameters.count -= own;
	} else {
		r->parameters.count = own;
	}
}

/* The places of statics may be told of the abstract function alone. */
static void complete_statics(struct reading *r, const struct origin *abstract)
{
	struct cp_unit *unit = r->unit;
	struct cp_walk w;

	if (!walk_abstract(abstract, &w))
		return;
	r->unit = abstract->unit;
	read_locals(r, &w, true);
	r->unit = unit;
}

/* The variables that were read, for who asked; NULL without memory. */
static struct cp_variable *kept(struct reading *r, const struct cp_variable *items, size_t count)
{
	struct cp_variable *to = cp_arena_array(r->arena, count, sizeof(*to));

	if (to && count)
		memcpy(to, items, count * sizeof(*to));
	return to;
}

/* ---- the function ---- */

/* clang and what else is made with it, rustc among them. */
static bool is_llvm(const char *producer)
{
	return producer && (strstr(producer, "clang") || strstr(producer, "LLVM"));
}

/* "clang version 14.0.6", "Debian clang version 14.0.6". */
static bool is_older_clang(const char *producer)
{
	const char *at = producer ? strstr(producer, "clang version ") : NULL;

	return at && strtoul(at + strlen("clang version "), NULL, 10) < 18;
}

/* "clang LLVM (rustc version 1.63.0)", which is LLVM 14. */
static bool is_older_rustc(const char *producer)
{
	const char *at = producer ? strstr(producer, "rustc version 1.") : NULL;

	return at && strtoul(at + strlen("rustc version 1."), NULL, 10) < 65;
}

static void fill(struct reading *r, const struct said *s)
{
	struct cp_function_info *to = r->to;
	uint64_t convention = 0;

	to->name = s->name;
	to->language = (uint16_t)r->unit->language;
	to->result = s->type;
	if (cp_attr_flag(&s->external))
		to->flags |= CP_FUNCTION_EXTERNAL;
	if (cp_attr_flag(&s->prototyped) || !cp_language_is_c(to->language))
		to->flags |= CP_FUNCTION_PROTOTYPED;
	if (is_llvm(r->unit->producer))
		to->flags |= CP_FUNCTION_SPARING;
	if (is_older_clang(r->unit->producer))
		to->flags |= CP_FUNCTION_SPLIT_INT128;
	if (is_older_rustc(r->unit->producer))
		to->flags |= CP_FUNCTION_UNMARKED;
	cp_attr_number(&s->convention, &convention);
	if (convention == DW_CC_nocall)
		to->flags |= CP_FUNCTION_NOCALL;
}

static bool read_function(struct reading *r, uint64_t offset)
{
	struct cp_function_info *to = r->to;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	struct said s;

	if (!cp_die_at(r->unit, offset, &w, &die, &a))
		return false;
	s = follow(r->unit, offset, &a);
	fill(r, &s);
	to->frame_base = cp_unit_locations(r->unit, &a.frame_base, r->arena);
	if (die.abbrev->children) {
		struct cp_walk again = w;

		read_parameters(r, &w);
		read_locals(r, &again, false);
	}
	if (s.origin.die != offset || s.origin.unit != r->unit) {
		complete_parameters(r, &s.origin);
		complete_statics(r, &s.origin);
	}
	to->parameters = kept(r, r->parameters.items, r->parameters.count);
	if (!to->parameters)
		return false;
	to->parameter_count = (uint32_t)r->parameters.count;
	to->locals = kept(r, r->locals.items, r->locals.count);
	to->local_count = to->locals ? (uint32_t)r->locals.count : 0;
	to->statics = kept(r, r->statics.items, r->statics.count);
	to->static_count = to->statics ? (uint32_t)r->statics.count : 0;
	return r->ok;
}

/* An inlined call's variables are in the frame of the function that it is in. */
static bool read_frame(struct reading *r, uint64_t function)
{
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;

	if (!cp_die_at(r->unit, function, &w, &die, &a))
		return false;
	cp_attr_address(r->unit, &a.low, &r->to->low);
	r->to->frame_base = cp_unit_locations(r->unit, &a.frame_base, r->arena);
	return true;
}

/* The function at `address`, or what is inlined in it there. */
static bool read_at(struct cp_debuginfo *all, uint64_t address, size_t level,
		    struct cp_arena *arena, struct cp_function_info *ret)
{
	struct cp_unit *unit = cp_debuginfo_unit(all, address);
	struct reading r = { .arena = arena, .to = ret, .ok = true };
	const struct cp_function *function;
	uint64_t inlined;
	bool ok;

	if (!unit || !cp_unit_root(unit))
		return false;
	r.unit = cp_unit_with_dies(unit);
	function = cp_unit_function(r.unit, address);
	if (!function)
		return false;
	ret->low = address;
	if (level == REAL || !cp_unit_inlined(r.unit, function, address, level, &inlined))
		ok = level == REAL && read_function(&r, function->die);
	else
		ok = read_function(&r, inlined) && read_frame(&r, function->die);
	cp_vec_free(&r.parameters);
	cp_vec_free(&r.locals);
	cp_vec_free(&r.statics);
	return ok;
}

static bool read_locked(struct cp_image *image, uint64_t address, size_t level,
			struct cp_arena *arena, struct cp_function_info *ret)
{
	struct cp_function_info got = { 0 };
	struct cp_debuginfo *all;
	bool found;

	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	found = all && read_at(all, address, level, arena, &got);
	pthread_mutex_unlock(&image->debug_lock);
	if (found)
		*ret = got;
	return found;
}

bool cp_image_function(struct cp_image *image, struct cp_vaddr address, struct cp_arena *arena,
		       struct cp_function_info *ret)
{
	return read_locked(image, address.v, REAL, arena, ret);
}

uint64_t cp_image_prologue_end(struct cp_image *image, struct cp_vaddr entry)
{
	struct cp_debuginfo *all;
	struct cp_unit *unit;
	uint64_t end = 0;

	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	unit = all ? cp_debuginfo_unit(all, entry.v) : NULL;
	if (unit && cp_unit_root(unit))
		end = cp_unit_next_row(unit, entry.v);
	pthread_mutex_unlock(&image->debug_lock);
	return end;
}

bool cp_image_frame_function(struct cp_image *image, struct cp_vaddr at, size_t level,
			     struct cp_arena *arena, struct cp_function_info *ret)
{
	return read_locked(image, at.v, level, arena, ret);
}

bool cp_image_implied(struct cp_image *image, const uint8_t *implied, struct cp_arena *arena,
		      struct cp_variable *ret, int64_t *offset_ret)
{
	struct cp_die_place ignored;
	uint64_t words[CP_OP_IMPLIED_BYTES / 8];
	bool found;

	memcpy(words, implied, sizeof(words));
	if (!words[0])
		return false;
	pthread_mutex_lock(&image->debug_lock);
	found = cp_debuginfo_begin(image, STEPS) &&
		cp_unit_variable((struct cp_unit *)(uintptr_t)words[0], words[1], arena, ret,
				 &ignored);
	pthread_mutex_unlock(&image->debug_lock);
	*offset_ret = (int64_t)words[2];
	return found;
}
