/* SPDX-License-Identifier: MIT
 *
 * What an allocation is for stands in no register and no debug information: `operator new`
 * is given a size. But the templates of C++'s library that allocate, and Rust's monomorphised
 * functions (where they are mangled the new way), have the type in their names:
 *
 *     malloc
 *     operator new(unsigned long)
 *     std::__new_allocator<node>::allocate(unsigned long, void const*)     node
 *     std::vector<node, std::allocator<node> >::reserve(unsigned long)
 *     main
 *
 * The innermost that tells counts, among those of languages' runtimes alone: behind the
 * program's own function its callers are about something else. So `new T` by itself is not
 * told, and what is told is a guess by names.
 */
#include "base/heaptype.h"

#include <string.h>

#include "base/text.h"

/* The first template argument behind `at`, which is behind the '<'. */
static size_t argument_size(const char *at)
{
	size_t depth = 0, i;

	for (i = 0; at[i]; i++) {
		bool arrow = at[i] == '>' && i && at[i - 1] == '-';

		if (at[i] == '<' || at[i] == '(' || at[i] == '[')
			depth++;
		else if (!depth && (at[i] == ',' || (at[i] == '>' && !arrow)))
			break;
		else if (at[i] == ')' || at[i] == ']' || (at[i] == '>' && !arrow))
			depth -= depth != 0;
	}
	while (i && at[i - 1] == ' ')
		i--;
	return i;
}

/* A parameter's own name, as old manglings of Rust have it: Vec<T,A>. */
static bool is_placeholder(const char *type, size_t size)
{
	return size == 1 && *type >= 'A' && *type <= 'Z';
}

/* Behind `begin` in a name, the last of several; NULL: it is not there, or in what the
 * function is given. */
static const char *behind(const char *name, const char *begin)
{
	const char *at = strstr(name, begin), *last = NULL;

	for (; at; at = strstr(at + 1, begin))
		if (at == name || at[-1] == ' ' || at[-1] == '<' || at[-1] == ':')
			last = last ? last : at + strlen(begin);
	return last;
}

const char *cp_heap_type_in(const char *name, size_t *size_ret)
{
	/* What has to follow the argument's end; "": anything. */
	static const struct {
		const char *begin, *end;
	} forms[] = {
		{ "std::__new_allocator<", ">::allocate(" },
		{ "__gnu_cxx::new_allocator<", ">::allocate(" },
		{ "std::allocator<", ">::allocate(" },
		{ "std::__1::allocator<", ">::allocate" },
		{ "std::make_unique<", "" },
		{ "std::__1::make_unique<", "" },
		{ "<alloc::boxed::Box<", "" },
		{ "<alloc::vec::Vec<", "" },
		{ "<alloc::raw_vec::RawVec<", "" },
		{ "<alloc::rc::Rc<", "" },
		{ "<alloc::sync::Arc<", "" },
		{ "<alloc::collections::vec_deque::VecDeque<", "" },
		{ "<hashbrown::raw::RawTable<", "" },
	};
	size_t i, size;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *at = forms[i].begin[0] == '<' ? (cp_starts_with(name, forms[i].begin)
								     ? name + strlen(forms[i].begin)
								     : NULL)
							  : behind(name, forms[i].begin);
		const char *rest;

		size = at ? argument_size(at) : 0;
		if (!size || is_placeholder(at, size))
			continue;
		for (rest = at + size; *rest == ' '; rest++)
			;
		if (!cp_starts_with(rest, forms[i].end))
			continue;
		*size_ret = size;
		return at;
	}
	return NULL;
}
