/* SPDX-License-Identifier: MIT
 *
 * What a mangled name of C++ promises about calls of the function, which is less
 * than it tells. Where integers and pointers are depends on what goes before them:
 *
 *     result of a class     its address goes first; names tell the result of
 *                           templates alone
 *     member function       `this`; ns::f(int) and Class::f(int) are one to a name,
 *                           and static members are as others
 *     base constructor      may take another hidden argument behind `this`
 *     class by value        in registers or in memory, by what is in it
 *
 * So known are: constructors and destructors, operator new and delete, templates
 * in a namespace or of const members, by their result, and what takes floating-point
 * numbers alone, whose registers are others. The rest is as unknown as without a name.
 */
#include "image/mangled.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 1024 /* libiberty recurses */
#define MAX_DEPTH 32

/* ---- types ---- */

#define NUMBER(kind_, size_, flags_, name_) \
	{ \
		.kind = (kind_), .size = (size_), .flags = (flags_), .name = (name_), \
		.text = (name_) \
	}

static const struct cp_type numbers[] = {
	NUMBER(CP_TYPE_BOOL, 1, 0, "bool"),
	NUMBER(CP_TYPE_CHAR, 1, CP_TYPE_SIGNED, "char"),
	NUMBER(CP_TYPE_INT, 1, CP_TYPE_SIGNED, "signed char"),
	NUMBER(CP_TYPE_UINT, 1, 0, "unsigned char"),
	NUMBER(CP_TYPE_INT, 2, CP_TYPE_SIGNED, "short"),
	NUMBER(CP_TYPE_UINT, 2, 0, "unsigned short"),
	NUMBER(CP_TYPE_INT, 4, CP_TYPE_SIGNED, "int"),
	NUMBER(CP_TYPE_UINT, 4, 0, "unsigned int"),
	NUMBER(CP_TYPE_INT, 8, CP_TYPE_SIGNED, "long"),
	NUMBER(CP_TYPE_UINT, 8, 0, "unsigned long"),
	NUMBER(CP_TYPE_INT, 8, CP_TYPE_SIGNED, "long long"),
	NUMBER(CP_TYPE_UINT, 8, 0, "unsigned long long"),
	NUMBER(CP_TYPE_FLOAT, 4, 0, "float"),
	NUMBER(CP_TYPE_FLOAT, 8, 0, "double"),
};
#define COUNT (sizeof(numbers) / sizeof(numbers[0]))

#define TO(kind_, n_, text_) \
	{ \
		.kind = (kind_), .size = 8, .text = (text_), .target = &numbers[n_] \
	}
#define TO_EACH(kind_, sign_) \
	TO(kind_, 0, "bool " sign_), TO(kind_, 1, "char " sign_), \
		TO(kind_, 2, "signed char " sign_), TO(kind_, 3, "unsigned char " sign_), \
		TO(kind_, 4, "short " sign_), TO(kind_, 5, "unsigned short " sign_), \
		TO(kind_, 6, "int " sign_), TO(kind_, 7, "unsigned int " sign_), \
		TO(kind_, 8, "long " sign_), TO(kind_, 9, "unsigned long " sign_), \
		TO(kind_, 10, "long long " sign_), TO(kind_, 11, "unsigned long long " sign_), \
		TO(kind_, 12, "float " sign_), TO(kind_, 13, "double " sign_)

static const struct cp_type pointers[COUNT] = { TO_EACH(CP_TYPE_POINTER, "*") };
static const struct cp_type references[COUNT] = { TO_EACH(CP_TYPE_REFERENCE, "&") };
/* A pointer to what nothing is known of. */
static const struct cp_type pointer = { .kind = CP_TYPE_POINTER, .size = 8, .text = "void *" };

static struct demangle_component *left(struct demangle_component *c)
{
	return c->u.s_binary.left;
}

static struct demangle_component *right(struct demangle_component *c)
{
	return c->u.s_binary.right;
}

static struct demangle_component *without_qualifiers(struct demangle_component *c)
{
	unsigned depth;

	for (depth = 0; c && depth < MAX_DEPTH; depth++) {
		if (c->type != DEMANGLE_COMPONENT_CONST && c->type != DEMANGLE_COMPONENT_VOLATILE &&
		    c->type != DEMANGLE_COMPONENT_RESTRICT)
			return c;
		c = left(c);
	}
	return NULL;
}

/* The name of a type of the language's own; NULL: it is none. To be free()d. */
static char *builtin_name(struct demangle_component *c)
{
	size_t size;

	return c && c->type == DEMANGLE_COMPONENT_BUILTIN_TYPE
		       ? cplus_demangle_print(DMGL_PARAMS | DMGL_ANSI, c, 32, &size)
		       : NULL;
}

static bool is_builtin(struct demangle_component *c, const char *name)
{
	char *text = builtin_name(c);
	bool is = text && !strcmp(text, name);

	free(text);
	return is;
}

/* Its number among those above; COUNT: it is none. */
static size_t number_of(struct demangle_component *c)
{
	char *name = builtin_name(c);
	size_t i = 0;

	while (name && i < COUNT && strcmp(name, numbers[i].name) != 0)
		i++;
	free(name);
	return name ? i : COUNT;
}

/* The type of a component; NULL: how it is passed is not known. */
static const struct cp_type *type_of(struct demangle_component *c)
{
	bool refers;
	size_t to;

	c = without_qualifiers(c);
	if (!c)
		return NULL;
	refers = c->type == DEMANGLE_COMPONENT_REFERENCE ||
		 c->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE;
	if (!refers && c->type != DEMANGLE_COMPONENT_POINTER) {
		to = number_of(c);
		return to < COUNT ? &numbers[to] : NULL;
	}
	to = number_of(without_qualifiers(left(c)));
	if (to == COUNT)
		return &pointer;
	return refers ? &references[to] : &pointers[to];
}

/* ---- the function ---- */

static bool is_number_alone(const struct cp_type *type)
{
	return type && type->kind == CP_TYPE_FLOAT;
}

/* Reads parameters. False: some are passed in ways that are not known. */
static bool read_parameters(struct demangle_component *list, struct cp_mangled *m, bool *floats_ret)
{
	const struct cp_type *type;

	*floats_ret = true;
	for (; list; list = right(list)) {
		if (list->type != DEMANGLE_COMPONENT_ARGLIST)
			return false;
		if (!left(list) || (!m->count && !right(list) && is_builtin(left(list), "void")))
			return true;
		if (is_builtin(left(list), "...")) {
			m->variadic = true;
			return !right(list);
		}
		type = type_of(left(list));
		if (!type || m->count == CP_MANGLED_MAX)
			return false;
		*floats_ret &= is_number_alone(type);
		m->parameters[m->count++] = type;
	}
	return true;
}

/* The last part of a name, what it is called itself. */
static struct demangle_component *own_name(struct demangle_component *c, bool *const_ret)
{
	unsigned depth;

	for (depth = 0; c && depth < MAX_DEPTH; depth++) {
		*const_ret |= c->type == DEMANGLE_COMPONENT_CONST_THIS;
		if (c->type == DEMANGLE_COMPONENT_QUAL_NAME)
			c = right(c);
		else if (c->type == DEMANGLE_COMPONENT_CONST_THIS ||
			 c->type == DEMANGLE_COMPONENT_TEMPLATE ||
			 c->type == DEMANGLE_COMPONENT_TAGGED_NAME)
			c = left(c);
		else
			return c;
	}
	return NULL;
}

/* Reads a function that is known by its kind. False: it is none. */
static bool read_special(const char *name, const struct demangle_component *own,
			 struct cp_mangled *m)
{
	bool news = !strncmp(name, "_Znw", 4) || !strncmp(name, "_Zna", 4);
	bool deletes = !strncmp(name, "_Zdl", 4) || !strncmp(name, "_Zda", 4);

	if (own->type == DEMANGLE_COMPONENT_CTOR || own->type == DEMANGLE_COMPONENT_DTOR) {
		m->has_this = true;
		m->result_known = true;
		if (own->type == DEMANGLE_COMPONENT_DTOR) {
			m->count = 0;
		} else if (own->u.s_ctor.kind != gnu_v3_complete_object_ctor) {
			m->count = 0;
			m->variadic = true;
		}
		return true;
	}
	if (!news && !deletes)
		return false;
	m->result_known = true;
	m->result = news ? &pointer : NULL;
	return true;
}

/* Reads any other function by what it returns, and by whether it is a member. */
static bool read_plain(const char *name, struct demangle_component *result, bool is_const,
		       bool floats, struct cp_mangled *m)
{
	bool is_void = is_builtin(result, "void");

	m->result = result && !is_void ? type_of(result) : NULL;
	m->result_known = result && (is_void || m->result);
	if (name[2] == 'N' && is_const)
		m->has_this = m->result_known;
	if (floats && m->count && !m->variadic)
		return true;
	return m->result_known && name[2] != 'Z' && (name[2] != 'N' || is_const);
}

static bool read_tree(const char *name, struct demangle_component *tree, struct cp_mangled *m)
{
	struct demangle_component *type, *own;
	bool is_const = false, floats, certain;

	if (!tree || tree->type != DEMANGLE_COMPONENT_TYPED_NAME || !right(tree) ||
	    right(tree)->type != DEMANGLE_COMPONENT_FUNCTION_TYPE)
		return false;
	type = right(tree);
	own = own_name(left(tree), &is_const);
	certain = read_parameters(right(type), m, &floats);
	if (!own)
		return false;
	if (read_special(name, own, m)) {
		if (!certain && m->has_this) {
			m->count = 0;
			m->variadic = true;
			return true;
		}
		return certain;
	}
	return certain && read_plain(name, left(type), is_const, floats, m);
}

bool cp_mangled_function(const char *linkage_name, struct cp_mangled *ret)
{
	size_t size = strcspn(linkage_name, "@.");
	struct cp_mangled m = { .count = 0 };
	void *memory = NULL;
	char name[MAX_NAME];
	bool known;

	if (size < 4 || size >= sizeof(name) || strncmp(linkage_name, "_Z", 2) != 0 ||
	    linkage_name[size] == '.')
		return false;
	memcpy(name, linkage_name, size);
	name[size] = 0;
	known = read_tree(name,
			  cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &memory), &m);
	free(memory);
	if (known)
		*ret = m;
	return known;
}

const struct cp_type *cp_mangled_pointer(void)
{
	return &pointer;
}
