/* SPDX-License-Identifier: MIT
 *
 * Declarations of what libc++ holds things in: see shapes.c. Versions 14 to 22; what is
 * the last of several in pairs that take no room for nothing (`__pair1_.__value_`) up to
 * 19 is a member since. Its tuples are in shapes_cplusplus.c, before those in which nothing need be.
 */
#include "inspect/shapes_libcxx.h"

#include "inspect/shape_rows.h"

#define CHOICE(type, condition, term, otherwise) \
	{ \
		type, CP_SHAPE_CHOICE, \
		{ \
			TERM(value) = term, TERM(when) = condition, TERM(none) = otherwise, \
		} \
	}
#define ROW(type, begins, many) \
	{ \
		type, CP_SHAPE_ROW, \
		{ \
			TERM(at) = begins, TERM(count) = many, \
		} \
	}
/* In place, or elsewhere where `is_long` is 1. */
#define STRING(rep, is_long, short_size) \
	{ \
		"basic_string<*", CP_SHAPE_TEXT, \
		{ \
			TERM(at) = "($1 *)((unsigned long)" rep ".__l.__data_ * " is_long \
				   " + (unsigned long)&" rep ".__s.__data_ * (1 - " is_long "))", \
			TERM(length) = rep ".__l.__size_ * " is_long " + " short_size \
					   " * (1 - " is_long ")", \
		} \
	}
/* What the tree has is the first argument of the set's, or of the map's allocator's. */
#define TREE(type, what, many, top, ...) \
	{ \
		type, CP_SHAPE_TREE, \
		{ \
			TERM(count) = "__tree_." many, TERM(root) = "__tree_." top ".__left_", \
			TERM(left) = "__left_", TERM(right) = "__right_", TERM(behind) = what, \
			__VA_ARGS__ \
		} \
	}
#define TABLE(type, what, many, head, ...) \
	{ \
		type, CP_SHAPE_CHAIN, \
		{ \
			TERM(count) = "__table_." many, TERM(first) = "__table_." head ".__next_", \
			TERM(next) = "__next_", \
			TERM(value) = "{" what "}((unsigned long)$node + 16)", __VA_ARGS__ \
		} \
	}
#define PAIRS TERM(key) = "first", TERM(mapped) = "second"
#define TREES(type, what, ...) \
	TREE(type, what, "__pair3_.__value_", "__pair1_.__value_", __VA_ARGS__), \
		TREE(type, what, "__size_", "__end_node_", __VA_ARGS__)
#define TABLES(type, what, ...) \
	TABLE(type, what, "__p2_.__value_", "__p1_.__value_", __VA_ARGS__), \
		TABLE(type, what, "__size_", "__first_node_", __VA_ARGS__)
#define EXPECTED(type, wanted, unexpected, has) \
	{ \
		type, CP_SHAPE_CHOICE, \
		{ \
			TERM(value) = wanted, TERM(when) = has, TERM(none) = "unexpected", \
			TERM(other) = unexpected, \
		} \
	}
/* `function` is one of the class that knows what it holds. */
#define HELD(type, condition, function, of, place) \
	{ \
		type, CP_SHAPE_HELD, \
		{ \
			TERM(when) = condition, TERM(none) = "empty", TERM(code) = function, \
			TERM(member) = of, TERM(behind) = "$1", TERM(at) = place, \
		} \
	}
/* The end of a tree is no node, but the part of the tree that has the root as what is left
 * of it, and as what is right of it the number of nodes, where no program has any; the word
 * before leads to the first node, to the end itself where there is none. */
#define TREE_ITERATOR(type, node, at, of) \
	CHOICE(type, \
	       at " && !((unsigned long)((" node ")" at \
		  ")->__right_ > 0 && (unsigned long)((" node ")" at \
		  ")->__right_ < 0x400000) && ((unsigned long *)" at \
		  ")[-1] != (unsigned long)" at, \
	       "&((" node ")" at ")->__value_" of, "end")
#define MAP_ITERATOR(type, of) TREE_ITERATOR(type, "$1$2", "__i_.__ptr_", of)
#define HASH_ITERATOR(type, node, at, of) \
	CHOICE(type, at, "&((" node ")" at ")->__value_" of, "end")
#define HASH_MAP_ITERATOR(type, of) HASH_ITERATOR(type, "$1$1", "__i_.__node_", of)
/* Blocks of 4096 bytes, or of 16 elements. */
#define IN_BLOCK "((sizeof($1) < 256) * (4096 / sizeof($1)) + (sizeof($1) >= 256) * 16)"
#define DEQUE(many) \
	{ \
		"deque<*", CP_SHAPE_ITEMS, \
		{ \
			TERM(count) = many, \
			TERM(value) = "__map_.__begin_[(__start_ + $i) / " IN_BLOCK \
				      "][(__start_ + $i) % " IN_BLOCK "]", \
		} \
	}
#define LIST(many) \
	{ \
		"list<*", CP_SHAPE_CHAIN, \
		{ \
			TERM(count) = many, TERM(end) = "&__end_", TERM(first) = "__end_.__next_", \
			TERM(next) = "__next_", TERM(behind) = "$1", \
		} \
	}
#define LIST_ITERATOR(of) \
	{ \
		of, CP_SHAPE_NODE, \
		{ \
			TERM(first) = "__ptr_", TERM(next) = "__next_", \
			TERM(count) = "*(unsigned long *)($node + 1)", TERM(behind) = "$1", \
			TERM(used) = \
				"(((unsigned long *)$node)[-1] & -8) == (sizeof($1) + 39 & -16)", \
			TERM(none) = "end", \
		} \
	}
#define FORWARD_LIST(head) \
	{ \
		"forward_list<*", CP_SHAPE_CHAIN, \
		{ \
			TERM(value) = "__value_", TERM(first) = head ".__next_", \
			TERM(next) = "__next_", \
		} \
	}

/* clang-format off: one line a term */
const struct cp_shape_row cp_shapes_libcxx[] = {
	/* Text; the lowest bit of the first byte says where it is. */
	STRING("__r_.__value_", "__r_.__value_.__s.__is_long_", "__r_.__value_.__s.__size_"),
	STRING("__rep_", "__rep_.__s.__is_long_", "__rep_.__s.__size_"),
	STRING("__r_.__value_", "(__r_.__value_.__s.__size_ & 1)",
	       "(__r_.__value_.__s.__size_ >> 1)"),
	{ "basic_string_view<*", CP_SHAPE_TEXT, { TERM(at) = "__data", TERM(length) = "__size" } },
	{ "basic_string_view<*",
	  CP_SHAPE_TEXT,
	  { TERM(at) = "__data_", TERM(length) = "__size_" } },
	VALUE("path", "__pn_"),
	/* elements in a row */
	{ "vector<bool,*",
	  CP_SHAPE_ITEMS,
	  { TERM(count) = "__size_", TERM(value) = "(bool)(__begin_[$i / 64] >> $i % 64 & 1)" } },
	{ "vector<*", CP_SHAPE_ROW, { TERM(at) = "__begin_", TERM(end) = "__end_" } },
	{ "valarray<*", CP_SHAPE_ROW, { TERM(at) = "__begin_", TERM(end) = "__end_" } },
	VALUE("array<*", "__elems_"),
	ROW("span<*", "__data", "__size"),
	ROW("span<*", "__data", "$2"),
	ROW("span<*", "__data_", "__size_"),
	ROW("span<*", "__data_", "$2"),
	ROW("initializer_list<*", "__begin_", "__size_"),
	DEQUE("__size_.__value_"),
	DEQUE("__size_"),
	{ "bitset<*",
	  CP_SHAPE_ITEMS,
	  { TERM(count) = "$1",
	    TERM(value) = "(bool)(((unsigned long *)&__first_)[$i / 64] >> $i % 64 & 1)" } },
	/* elements in nodes */
	TREES("map<*", "$4$1", PAIRS),
	TREES("multimap<*", "$4$1", PAIRS),
	TREES("set<*", "$1", ),
	TREES("multiset<*", "$1", ),
	TABLES("unordered_map<*", "$5$1", PAIRS),
	TABLES("unordered_multimap<*", "$5$1", PAIRS),
	TABLES("unordered_set<*", "$1", ),
	TABLES("unordered_multiset<*", "$1", ),
	LIST("__size_alloc_.__value_"),
	LIST("__size_"),
	FORWARD_LIST("__before_begin_.__value_"),
	FORWARD_LIST("__before_begin_"),
	/* what stands for something else */
	VALUE("unique_ptr<*", "__ptr_.__value_"),
	VALUE("unique_ptr<*", "__ptr_"),
	VALUE("shared_ptr<*", "__ptr_"),
	{ "weak_ptr<*",
	  CP_SHAPE_CHOICE,
	  { TERM(value) = "__ptr_", TERM(when) = "!__cntrl_ || __cntrl_->__shared_owners_ >= 0",
	    TERM(used) = "__ptr_ && __cntrl_->__shared_owners_ >= 0", TERM(none) = "expired" } },
	CHOICE("optional<*", "__engaged_", "__val_", "nullopt"),
	EXPECTED("expected<void,*", "__union_.__empty_", "__union_.__unex_", "__has_val_"),
	EXPECTED("expected<*", "__union_.__val_", "__union_.__unex_", "__has_val_"),
	EXPECTED("expected<void,*", "__repr_.__v.__union_.__v.__empty_",
		 "__repr_.__v.__union_.__v.__unex_", "__repr_.__v.__has_val_"),
	EXPECTED("expected<*", "__repr_.__v.__union_.__v.__val_",
		 "__repr_.__v.__union_.__v.__unex_", "__repr_.__v.__has_val_"),
	VALUE("unexpected<*", "__unex_"),
	{ "variant<*",
	  CP_SHAPE_VARIANT,
	  { TERM(at) = "&__impl.__data", TERM(none) = "valueless",
	    TERM(index) = "__impl.__index" } },
	{ "variant<*",
	  CP_SHAPE_VARIANT,
	  { TERM(at) = "&__impl_.__data", TERM(none) = "valueless",
	    TERM(index) = "__impl_.__index" } },
	HELD("function<*", "__f_.__f_", "((void **)*(void **)__f_.__f_)[2]", "__func<*",
	     "(char *)__f_.__f_ + 8"),
	CHOICE("function<*", "__f_.__f_", "__f_.__f_", "empty"),
	HELD("any", "__h", "__h", "_SmallHandler<*", "&__s.__buf"),
	HELD("any", "__h", "__h", "_LargeHandler<*", "__s.__ptr"),
	CHOICE("any", "__h", "__h", "empty"),
	HELD("any", "__h_", "__h_", "_SmallHandler<*", "&__s_.__buf"),
	HELD("any", "__h_", "__h_", "_LargeHandler<*", "__s_.__ptr"),
	CHOICE("any", "__h_", "__h_", "empty"),
	VALUE("atomic<*", "__a_.__a_value"),
	VALUE("atomic_flag", "__a_.__a_value"),
	{ "duration<*", CP_SHAPE_DURATION, { TERM(value) = "__rep_" } },
	{ "time_point<*::system_clock,*", CP_SHAPE_DATE, { TERM(value) = "__d_" } },
	VALUE("time_point<*", "__d_"),
	VALUE("reference_wrapper<*", "__f_"),
	VALUE("complex<float>", "{_Complex float}&__re_"),
	VALUE("complex<double>", "{_Complex double}&__re_"),
	VALUE("complex<long double>", "{_Complex long double}&__re_"),
	/* iterators */
	VALUE("__wrap_iter<*", "__i"),
	VALUE("__wrap_iter<*", "__i_"),
	VALUE("__deque_iterator<*", "__ptr_"),
	TREE_ITERATOR("__tree_iterator<*", "$2", "__ptr_", ""),
	TREE_ITERATOR("__tree_const_iterator<*", "$2", "__ptr_", ""),
	MAP_ITERATOR("__map_iterator<*", ".__cc"),
	MAP_ITERATOR("__map_iterator<*", ".__cc_"),
	MAP_ITERATOR("__map_iterator<*", ""),
	MAP_ITERATOR("__map_const_iterator<*", ".__cc"),
	MAP_ITERATOR("__map_const_iterator<*", ".__cc_"),
	MAP_ITERATOR("__map_const_iterator<*", ""),
	HASH_ITERATOR("__hash_iterator<*", "$1", "__node_", ""),
	HASH_ITERATOR("__hash_const_iterator<*", "$1", "__node_", ""),
	HASH_MAP_ITERATOR("__hash_map_iterator<*", ".__cc"),
	HASH_MAP_ITERATOR("__hash_map_iterator<*", ".__cc_"),
	HASH_MAP_ITERATOR("__hash_map_iterator<*", ""),
	HASH_MAP_ITERATOR("__hash_map_const_iterator<*", ".__cc"),
	HASH_MAP_ITERATOR("__hash_map_const_iterator<*", ".__cc_"),
	HASH_MAP_ITERATOR("__hash_map_const_iterator<*", ""),
	LIST_ITERATOR("__list_iterator<*"),
	LIST_ITERATOR("__list_const_iterator<*"),
	CHOICE("__forward_list_iterator<*", "__ptr_", "&(($1)__ptr_)->__value_", "end"),
	CHOICE("__forward_list_const_iterator<*", "__ptr_", "&(($1)__ptr_)->__value_", "end"),
	/* words and numbers in classes */
	VALUE("type_index", "*(char **)((unsigned long)__t_ + 8)"),
	CHOICE("exception_ptr", "__ptr_", "__ptr_", "empty"),
	CHOICE("mutex", "__m_.__data.__lock", "__m_.__data.__owner", "unlocked"),
	CHOICE("recursive_mutex", "__m_.__data.__lock", "__m_.__data.__owner", "unlocked"),
	VALUE("strong_ordering", "(int)__value_"),
	VALUE("weak_ordering", "(int)__value_"),
	VALUE("partial_ordering", "(int)__value_"),
	VALUE("year", "(int)__y"),
	VALUE("month", "(int)__m"),
	VALUE("day", "(int)__d"),
	VALUE("year", "(int)__y_"),
	VALUE("month", "(int)__m_"),
	VALUE("day", "(int)__d_"),
};
/* clang-format on */
const size_t cp_shapes_libcxx_count = CP_ARRAY_SIZE(cp_shapes_libcxx);
