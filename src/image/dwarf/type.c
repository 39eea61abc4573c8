/* SPDX-License-Identifier: MIT
 *
 * Types: one node for each DIE, made when something first refers to it, and
 * what it leads to with it; members come later (members.c).
 */
#include "image/dwarf/type.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/location.h"

#define MAX_TEXT 400 /* of a type */
#define MAX_DIMENSIONS 16
#define MAX_MARK 200 /* of a pointer to a member: "ns::Box<int>::*" */
#define MAX_PARAMETERS 32 /* of a function type, in its text */
#define MAX_MEMORY (UINT64_C(512) << 20) /* all types of an image */

static const struct cp_type *type_at(struct cp_unit *unit, uint64_t offset, unsigned depth);

static const struct cp_type *type_of(struct cp_unit *unit, const struct cp_attr *attr,
				     unsigned depth)
{
	uint64_t at;
	struct cp_unit *in = attr->form ? cp_attr_reference(unit, attr, &at) : NULL;

	return in ? type_at(in, at, depth + 1) : NULL;
}

bool cp_language_is_cplusplus(uint16_t language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++17 */
	case 0x2c: /* C++20 */
		return true;
	default:
		return false;
	}
}

bool cp_language_is_c(uint16_t language)
{
	switch (language) {
	case 0:
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2d: /* C17 */
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

const struct cp_type *cp_type_strip(const struct cp_type *type)
{
	static const struct cp_type void_type = { .kind = CP_TYPE_VOID, .text = "void" };
	unsigned i;

	for (i = 0; type && type->kind == CP_TYPE_ALIAS; i++) {
		if (i == CP_DWARF_DEPTH || !type->target)
			return &void_type;
		type = type->target;
	}
	if (type && (type->flags & CP_TYPE_DECLARED)) {
		const struct cp_type *definition =
			atomic_load_explicit(&type->definition, memory_order_acquire);

		return definition ? definition : type;
	}
	return type;
}

/* ---- what it is called ---- */

/* A text in the making: what stands before a declared name, and behind it. */
struct spelling {
	struct cp_buf before, after;
};

static void spell_target(struct spelling *s, const struct cp_type *target)
{
	const char *text = target && target->text ? target->text : target ? "?" : "void";
	size_t split = target && target->text ? target->split : strlen(text);

	cp_buf_add(&s->before, text, split);
	cp_buf_str(&s->after, text + split);
}

static void space(struct cp_buf *buf)
{
	char last = buf->size ? buf->bytes[buf->size - 1] : ' ';

	if (last != '*' && last != '&' && last != '(' && last != ' ')
		cp_buf_u8(buf, ' ');
}

/* True when a name declared with this type would need parentheses. */
static bool is_suffixed(const struct cp_type *type)
{
	return type && (type->kind == CP_TYPE_FUNCTION || type->kind == CP_TYPE_ARRAY);
}

static void keep_spelling(struct cp_unit *unit, struct cp_type *t, struct spelling *s)
{
	struct cp_arena *arena = &unit->dwarf->all->types;

	t->text = NULL; /* one that is read again has had one */
	t->split = (uint32_t)s->before.size;
	cp_buf_str(&s->before, s->after.bytes ? s->after.bytes : "");
	if (!s->before.failed && !s->after.failed && s->before.bytes && s->before.size < MAX_TEXT)
		t->text = cp_arena_copy(arena, s->before.bytes, s->before.size);
	if (!t->text) {
		t->text = t->name ? t->name : "?";
		t->split = (uint32_t)strlen(t->text);
	}
	cp_buf_free(&s->before);
	cp_buf_free(&s->after);
}

/* "struct point", "point" where the language has classes, "union {...}". */
static void spell_named(struct cp_unit *unit, struct cp_type *t, const char *keyword)
{
	struct spelling s = { 0 };

	if (cp_language_is_c((uint16_t)unit->language) || !t->name) {
		cp_buf_str(&s.before, keyword);
		cp_buf_u8(&s.before, ' ');
	}
	cp_buf_str(&s.before, t->name ? t->name : "{...}");
	keep_spelling(unit, t, &s);
}

static void spell_plain(struct cp_unit *unit, struct cp_type *t, const char *name)
{
	struct spelling s = { 0 };

	cp_buf_str(&s.before, name ? name : "?");
	keep_spelling(unit, t, &s);
}

/* A pointer or reference: "int *", "int (*" ")(void)". */
static void spell_pointer(struct cp_unit *unit, struct cp_type *t, const char *mark)
{
	struct spelling s = { 0 };

	spell_target(&s, t->target);
	space(&s.before);
	if (is_suffixed(t->target)) {
		struct cp_buf tail = { 0 };

		cp_buf_u8(&s.before, '(');
		cp_buf_u8(&tail, ')');
		cp_buf_str(&tail, s.after.bytes ? s.after.bytes : "");
		cp_buf_free(&s.after);
		s.after = tail;
	}
	cp_buf_str(&s.before, mark);
	keep_spelling(unit, t, &s);
}

/* Is it an array whose elements say that word? gcc has a constant array of constants. */
static bool has_qualified(const struct cp_type *array, const char *word)
{
	const struct cp_type *e = array;
	size_t size = strlen(word), length;

	while (e && e->kind == CP_TYPE_ARRAY)
		e = e->target;
	if (e == array || !e || e->kind != CP_TYPE_ALIAS || e->name || !e->text)
		return false;
	length = e->split ? e->split : strlen(e->text);
	if (e->target && e->target->kind == CP_TYPE_POINTER)
		return length > size && !strncmp(e->text + length - size, word, size);
	return !strncmp(e->text, word, size);
}

static void spell_qualified(struct cp_unit *unit, struct cp_type *t, const char *word)
{
	struct spelling s = { 0 };
	const struct cp_type *target = t->target;

	if (has_qualified(target, word)) {
		spell_target(&s, target);
	} else if (!target ||
		   (target->kind != CP_TYPE_POINTER && target->kind != CP_TYPE_REFERENCE)) {
		cp_buf_str(&s.before, word);
		cp_buf_u8(&s.before, ' ');
		spell_target(&s, target);
	} else {
		spell_target(&s, target);
		space(&s.before);
		cp_buf_str(&s.before, word);
	}
	keep_spelling(unit, t, &s);
}

/* ---- kinds ---- */

static bool is_quadruple(const struct cp_unit *unit, const char *name, uint64_t size)
{
	return size >= 16 && (unit->dwarf->all->image->elf->machine == EM_AARCH64 ||
			      (name && (strstr(name, "128") || strstr(name, "quad"))));
}

static void read_base(struct cp_unit *unit, struct cp_type *t, const struct cp_attrs *a)
{
	uint64_t encoding = 0;

	cp_attr_number(&a->encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		t->kind = CP_TYPE_BOOL;
		break;
	case DW_ATE_signed:
		t->kind = CP_TYPE_INT;
		t->flags |= CP_TYPE_SIGNED;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_address:
		t->kind = CP_TYPE_UINT;
		break;
	case DW_ATE_signed_char:
		t->flags |= CP_TYPE_SIGNED;
		t->kind = CP_TYPE_CHAR;
		break;
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		t->kind = CP_TYPE_CHAR;
		break;
	case DW_ATE_decimal_float:
		t->flags |= CP_TYPE_DECIMAL;
		t->kind = CP_TYPE_FLOAT;
		break;
	case DW_ATE_float:
		t->kind = CP_TYPE_FLOAT;
		break;
	case 0x80: /* gcc's complex integers */
		t->flags |= CP_TYPE_SIGNED;
		t->kind = CP_TYPE_COMPLEX;
		break;
	case DW_ATE_complex_float:
		t->kind = CP_TYPE_COMPLEX;
		break;
	default:
		break;
	}
	if (is_quadruple(unit, t->name, t->size))
		t->flags |= CP_TYPE_BINARY128;
	if (t->name && t->size == 2 && strstr(t->name, "bf16")) /* __bf16, std::bfloat16_t's */
		t->flags |= CP_TYPE_BFLOAT;
	if (t->name && (strstr(t->name, "_BitInt") || strstr(t->name, "_ExtInt")))
		t->flags |= CP_TYPE_BITINT;
	spell_plain(unit, t, t->name);
}

static void read_named(struct cp_unit *unit, struct cp_type *t, const struct cp_attrs *a,
		       uint16_t tag)
{
	uint64_t convention = 0;

	t->kind = tag == DW_TAG_union_type	   ? CP_TYPE_UNION
		  : tag == DW_TAG_enumeration_type ? CP_TYPE_ENUM
						   : CP_TYPE_STRUCT;
	if (cp_attr_flag(&a->declaration))
		t->flags |= CP_TYPE_DECLARED;
	if (!cp_language_is_c((uint16_t)unit->language))
		t->flags |= CP_TYPE_CLASSES;
	if (tag == DW_TAG_class_type || tag == DW_TAG_interface_type)
		t->flags |= CP_TYPE_CLASS;
	cp_attr_number(&a->convention, &convention);
	if (convention == DW_CC_pass_by_value)
		t->flags |= CP_TYPE_BY_VALUE;
	else if (convention == DW_CC_pass_by_reference)
		t->flags |= CP_TYPE_BY_REFERENCE;
	spell_named(unit, t,
		    t->kind == CP_TYPE_UNION  ? "union"
		    : t->kind == CP_TYPE_ENUM ? "enum"
					      : "struct");
}

/* ---- bounds ---- */

/* An expression computes the number itself, which is no place. */
static struct cp_locations as_value(struct cp_locations list, struct cp_arena *arena)
{
	struct cp_location *one = list.count == 1 ? cp_arena_alloc(arena, sizeof(*one)) : NULL;
	uint8_t *expr = one ? cp_arena_alloc(arena, list.items->size + 1u) : NULL;

	if (!expr || !list.items->size)
		return (struct cp_locations){ 0 };
	memcpy(expr, list.items->expr, list.items->size);
	expr[list.items->size] = DW_OP_stack_value;
	*one = *list.items;
	one->expr = expr;
	one->size++;
	return (struct cp_locations){ one, 1 };
}

/* What tells a bound that is no number; NULL: nothing that is known does. */
static const struct cp_type_bound *read_bound(struct cp_unit *unit, const struct cp_attr *attr,
					      int64_t add)
{
	struct cp_arena *arena = &unit->dwarf->all->types;
	struct cp_type_bound *bound = cp_arena_alloc(arena, sizeof(*bound));
	struct cp_unit *in;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;

	if (!bound || !attr->form)
		return NULL;
	bound->add = add;
	if (attr->block) {
		bound->locations = as_value(cp_unit_locations(unit, attr, arena), arena);
		return bound->locations.count ? bound : NULL;
	}
	in = cp_attr_reference(unit, attr, &bound->variable);
	if (in != unit || !cp_die_at(unit, bound->variable, &w, &die, &a))
		return NULL;
	bound->locations = cp_unit_locations(unit, &a.location, arena);
	return bound;
}

struct bounds {
	size_t dimensions; /* the outermost first */
	uint64_t counts[MAX_DIMENSIONS];
	bool open[MAX_DIMENSIONS]; /* the count is not known */
	const struct cp_type_bound *told[MAX_DIMENSIONS]; /* but by this; or NULL */
};

static void read_dimension(struct cp_unit *unit, const struct cp_attrs *a, struct bounds *to)
{
	size_t n = to->dimensions++;
	uint64_t upper, lower = 0;

	cp_attr_number(&a->lower, &lower);
	if (cp_attr_number(&a->upper, &upper)) {
		to->counts[n] = upper - lower + 1; /* an empty one's is -1 */
	} else if (!cp_attr_number(&a->count, &to->counts[n])) {
		to->counts[n] = 0;
		to->open[n] = true;
		to->told[n] = a->count.form ? read_bound(unit, &a->count, 0)
					    : read_bound(unit, &a->upper, 1 - (int64_t)lower);
	}
}

static void read_bounds(struct cp_unit *unit, struct cp_walk *w, const struct cp_die *die,
			struct bounds *to)
{
	struct cp_attrs a;
	struct cp_die child;

	while (die->abbrev->children && to->dimensions < MAX_DIMENSIONS &&
	       cp_walk_next(w, &child) && child.abbrev && cp_attrs_read(w, child.abbrev, &a)) {
		if (child.abbrev->tag == DW_TAG_subrange_type)
			read_dimension(unit, &a, to);
		if (child.abbrev->children && !cp_walk_skip_children(w, &a.sibling))
			break;
	}
}

static void spell_array(struct cp_unit *unit, struct cp_type *t)
{
	struct spelling s = { 0 };
	char bound[32] = "[]";

	if (t->flags & CP_TYPE_COUNTED)
		snprintf(bound, sizeof(bound), "[%llu]", (unsigned long long)t->count);
	spell_target(&s, t->target);
	space(&s.before);
	if (s.after.size) {
		struct cp_buf tail = { 0 };

		cp_buf_str(&tail, bound);
		cp_buf_str(&tail, s.after.bytes);
		cp_buf_free(&s.after);
		s.after = tail;
	} else {
		cp_buf_str(&s.after, bound);
	}
	keep_spelling(unit, t, &s);
}

static void set_array(struct cp_unit *unit, struct cp_type *t, const struct cp_type *element,
		      const struct bounds *bounds, size_t dimension)
{
	const uint64_t count = bounds->counts[dimension];
	uint64_t size;

	t->kind = CP_TYPE_ARRAY;
	t->target = element;
	t->flags |= bounds->open[dimension] ? 0 : CP_TYPE_COUNTED;
	t->count = count;
	t->bound = bounds->told[dimension];
	if (!element || __builtin_mul_overflow(count, element->size, &size) || size > INT64_MAX)
		size = 0;
	t->size = size;
	spell_array(unit, t);
}

static void read_array(struct cp_unit *unit, struct cp_type *t, const struct cp_attrs *a,
		       struct cp_walk *w, const struct cp_die *die)
{
	struct cp_debuginfo *all = unit->dwarf->all;
	const struct cp_type *element = t->target;
	struct bounds bounds = { 0 };
	uint64_t said = t->size;
	struct cp_type *inner;
	size_t n;

	read_bounds(unit, w, die, &bounds);
	n = bounds.dimensions;

	/* Elements that lie otherwise than in a row are not of C. */
	if (a->byte_stride.form || a->bit_stride.form || !n) {
		spell_plain(unit, t, "array");
		return;
	}
	if (cp_attr_flag(&a->vector)) {
		t->kind = CP_TYPE_VECTOR;
		t->count = bounds.counts[0];
		if (!element || __builtin_mul_overflow(t->count, element->size, &t->size))
			t->size = 0;
		t->size = said ? said : t->size;
		spell_array(unit, t);
		return;
	}
	while (n-- > 1) {
		inner = cp_arena_alloc(&all->types, sizeof(*inner));
		if (!inner)
			return;
		inner->language = t->language;
		set_array(unit, inner, element, &bounds, n);
		element = inner;
	}
	set_array(unit, t, element, &bounds, 0);
}

/* "int (" "int, char *)": the parameters are children. */
static void read_function(struct cp_unit *unit, struct cp_type *t, const struct cp_attrs *a,
			  struct cp_walk *w, const struct cp_die *die, unsigned depth)
{
	const struct cp_type *parameter;
	struct spelling s = { 0 };
	struct cp_buf tail = { 0 };
	struct cp_attrs b;
	struct cp_die child;
	uint64_t at;
	struct cp_unit *in;
	unsigned n = 0;

	t->kind = CP_TYPE_FUNCTION;
	spell_target(&s, t->target);
	space(&s.before);
	cp_buf_u8(&tail, '(');
	while (die->abbrev->children && n < MAX_PARAMETERS && cp_walk_next(w, &child) &&
	       child.abbrev && cp_attrs_read(w, child.abbrev, &b)) {
		if (n++)
			cp_buf_str(&tail, ", ");
		in = child.abbrev->tag == DW_TAG_formal_parameter
			     ? cp_attr_reference(unit, &b.type, &at)
			     : NULL;
		parameter = in ? type_at(in, at, depth + 1) : NULL;
		cp_buf_str(&tail, parameter && parameter->text ? parameter->text : "...");
		if (child.abbrev->children && !cp_walk_skip_children(w, &b.sibling))
			break;
	}
	cp_buf_str(&tail, n || !cp_attr_flag(&a->prototyped) ? ")" : "void)");
	cp_buf_str(&tail, s.after.bytes ? s.after.bytes : "");
	cp_buf_free(&s.after);
	s.after = tail;
	keep_spelling(unit, t, &s);
}

static void read_pointer(struct cp_unit *unit, struct cp_type *t, const struct cp_attrs *a,
			 uint16_t tag, unsigned depth)
{
	const struct cp_type *target = cp_type_strip(t->target);
	char mark[MAX_MARK] = "::*";

	t->size = t->size ? t->size : unit->address_size;
	switch (tag) {
	case DW_TAG_pointer_type:
		t->kind = CP_TYPE_POINTER;
		if (t->name) /* Rust's are named */
			spell_plain(unit, t, t->name);
		else
			spell_pointer(unit, t, "*");
		break;
	case DW_TAG_ptr_to_member_type:
		t->kind = CP_TYPE_MEMBER_POINTER;
		t->size = target && target->kind == CP_TYPE_FUNCTION ? 16 : 8;
		t->containing = type_of(unit, &a->containing, depth);
		if (t->containing && t->containing->name &&
		    strlen(t->containing->name) < sizeof(mark) - sizeof("::*"))
			snprintf(mark, sizeof(mark), "%s::*", t->containing->name);
		spell_pointer(unit, t, mark);
		break;
	default:
		t->kind = CP_TYPE_REFERENCE;
		spell_pointer(unit, t, tag == DW_TAG_reference_type ? "&" : "&&");
	}
}

static void read_alias(struct cp_unit *unit, struct cp_type *t, uint16_t tag)
{
	t->kind = CP_TYPE_ALIAS;
	t->size = t->target ? t->target->size : 0;
	switch (tag) {
	case DW_TAG_const_type:
		spell_qualified(unit, t, "const");
		break;
	case DW_TAG_volatile_type:
		spell_qualified(unit, t, "volatile");
		break;
	case DW_TAG_restrict_type:
		spell_qualified(unit, t, "restrict");
		break;
	case DW_TAG_atomic_type:
		spell_qualified(unit, t, "_Atomic");
		break;
	default:
		spell_plain(unit, t, t->name);
	}
}

static void read_unspecified(struct cp_unit *unit, struct cp_type *t)
{
	if (t->name && strstr(t->name, "nullptr")) {
		t->kind = CP_TYPE_POINTER;
		t->size = unit->address_size;
	} else {
		t->kind = CP_TYPE_VOID;
	}
	spell_plain(unit, t, t->name);
}

static void read_kind(struct cp_unit *unit, struct cp_type *t, const struct cp_attrs *a,
		      struct cp_walk *w, const struct cp_die *die, unsigned depth)
{
	uint16_t tag = die->abbrev->tag;

	switch (tag) {
	case DW_TAG_base_type:
		read_base(unit, t, a);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		read_named(unit, t, a, tag);
		break;
	case DW_TAG_array_type:
		read_array(unit, t, a, w, die);
		break;
	case DW_TAG_subroutine_type:
		read_function(unit, t, a, w, die, depth);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_ptr_to_member_type:
		read_pointer(unit, t, a, tag, depth);
		break;
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_template_alias:
	case DW_TAG_subrange_type:
		read_alias(unit, t, tag);
		break;
	case DW_TAG_unspecified_type:
		read_unspecified(unit, t);
		break;
	default:
		spell_plain(unit, t, t->name);
	}
}

static void read_node(struct cp_unit *unit, uint64_t offset, struct cp_type *t, unsigned depth)
{
	struct cp_unit *other;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	uint64_t at, n = 0;

	t->text = "?";
	t->split = 1;
	if (depth > CP_DWARF_DEPTH || !cp_die_at(unit, offset, &w, &die, &a))
		return;
	t->language = (uint16_t)unit->language;
	t->name = cp_attr_string(unit, &a.name);
	if (t->name && !*t->name)
		t->name = NULL;
	t->size = cp_attr_number(&a.byte_size, &n) && n <= INT64_MAX ? n : 0;
	n = 0;
	if (cp_attr_number(&a.alignment, &n) && n <= 4096)
		t->align = (uint32_t)n;
	if (die.abbrev->tag == DW_TAG_subrange_type && !a.type.form)
		return;
	other = cp_attr_reference(unit, &a.type, &at);
	if (other)
		t->target = type_at(other, at, depth + 1);
	read_kind(unit, t, &a, &w, &die, depth);
}

/* The type in a unit of its own that the DIE declares; NULL: it is none of those. */
static const struct cp_type *signed_type(struct cp_unit *unit, uint64_t offset, unsigned depth)
{
	struct cp_unit *in;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	uint64_t at;

	if (depth > CP_DWARF_DEPTH || !unit->dwarf->all->has_type_units ||
	    !cp_die_at(unit, offset, &w, &die, &a) || !a.signature.form)
		return NULL;
	in = cp_attr_reference(unit, &a.signature, &at);
	return in && (in != unit || at != offset) ? type_at(in, at, depth + 1) : NULL;
}

static const struct cp_type *type_at(struct cp_unit *unit, uint64_t offset, unsigned depth)
{
	struct cp_debuginfo *all = unit->dwarf->all;
	const uint64_t *known = cp_map_get(&unit->dwarf->nodes, offset);
	const struct cp_type *elsewhere;
	struct cp_type *t;

	if (known)
		return (const struct cp_type *)(uintptr_t)*known;
	if (all->types.total > MAX_MEMORY)
		return NULL;
	elsewhere = signed_type(unit, offset, depth);
	if (elsewhere) {
		cp_map_put(&unit->dwarf->nodes, offset, (uintptr_t)elsewhere);
		return elsewhere;
	}
	t = cp_arena_alloc(&all->types, sizeof(*t));
	/* Known before it is read: a type may lead to itself. */
	if (!t || !cp_map_put(&unit->dwarf->nodes, offset, (uintptr_t)t))
		return NULL;
	t->unit = unit;
	t->die = offset;
	read_node(unit, offset, t, depth);
	return t;
}

const struct cp_type *cp_type_referred(struct cp_unit *unit, const struct cp_attr *attr)
{
	static const struct cp_type unknown = { .text = "?", .split = 1 };
	const struct cp_type *got = NULL;
	struct cp_unit *in;
	uint64_t at;

	if (!attr->form)
		return NULL;
	in = cp_attr_reference(unit, attr, &at);
	if (in)
		got = type_at(in, at, 0);
	return got ? got : &unknown;
}

const struct cp_type *cp_unit_type(struct cp_unit *unit, uint64_t offset)
{
	return type_at(unit, offset, 0);
}
