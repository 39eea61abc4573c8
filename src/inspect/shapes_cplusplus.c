/* SPDX-License-Identifier: MIT
 *
 * Declarations of what libstdc++ holds things in: see shapes.c.
 */
#include "inspect/shapes_cplusplus.h"

#include "inspect/shape_rows.h"

/* libstdc++'s iterators, constant or not. */
#define TREE_ITERATOR(of) \
	{ \
		of, CP_SHAPE_CHOICE, \
		{ \
			TERM(value) = "($1 *)(_M_node + 1)", \
			TERM(when) = "_M_node && !((int)_M_node->_M_color == 0 && " \
				     "(!_M_node->_M_parent ||" \
				     " _M_node->_M_parent->_M_parent == _M_node))", \
			TERM(none) = "end", \
		} \
	}
#define HASH_ITERATOR(of) \
	{ \
		of, CP_SHAPE_CHOICE, \
		{ \
			TERM(value) = "($1 *)&_M_cur->_M_storage", TERM(when) = "_M_cur", \
			TERM(none) = "end", \
		} \
	}

/* What operator new has of glibc has its size before it, which tells what a list's node is from
 * the head in the list. */
#define LIST_ITERATOR(of) \
	{ \
		of, CP_SHAPE_NODE, \
		{ \
			TERM(first) = "_M_node", TERM(next) = "_M_next", \
			TERM(count) = "*(unsigned long *)($node + 1)", TERM(behind) = "$1", \
			TERM(used) = \
				"(((unsigned long *)$node)[-1] & -8) == (sizeof($1) + 39 & -16)", \
			TERM(none) = "end", \
		} \
	}
#define FORWARD_ITERATOR(of) \
	{ \
		of, CP_SHAPE_NODE, \
		{ \
			TERM(first) = "_M_node", TERM(behind) = "$1", TERM(none) = "end", \
		} \
	}

/* clang-format off: one line a term */
const struct cp_shape_row cp_shapes_cplusplus[] = {
	/* libstdc++: text */
	{ "basic_string<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "_M_dataplus._M_p",
		  TERM(length) = "_M_string_length",
	  } },
	{ "basic_string<char,*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "{char *}&_M_dataplus",
		  TERM(length) = "_M_string_length",
	  } },
	/* before C++11's, with the length before the text */
	{ "basic_string<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "_M_dataplus._M_p",
		  TERM(length) = "((unsigned long *)_M_dataplus._M_p)[-3]",
	  } },
	{ "basic_string_view<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "_M_str",
		  TERM(length) = "_M_len",
	  } },
	{ "path",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_pathname",
	  } },
	/* libstdc++: elements in a row */
	{ "vector<bool,*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "(_M_impl._M_finish._M_p - _M_impl._M_start._M_p) * 64 +"
				" _M_impl._M_finish._M_offset - _M_impl._M_start._M_offset",
		  TERM(value) = "(bool)(_M_impl._M_start._M_p[$i / 64] >> $i % 64 & 1)",
	  } },
	{ "vector<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "_M_impl._M_start",
		  TERM(end) = "_M_impl._M_finish",
	  } },
	{ "array<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_elems",
	  } },
	{ "span<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "_M_ptr",
		  TERM(count) = "_M_extent._M_extent_value",
	  } },
	{ "span<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "_M_ptr",
		  TERM(count) = "$2",
	  } },
	{ "valarray<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "_M_data",
		  TERM(count) = "_M_size",
	  } },
	{ "complex<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_value",
	  } },
	{ "initializer_list<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "_M_array",
		  TERM(count) = "_M_len",
	  } },
	{ "deque<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "(_M_impl._M_finish._M_node - _M_impl._M_start._M_node - 1) *"
				" (_M_impl._M_start._M_last - _M_impl._M_start._M_first) +"
				" (_M_impl._M_finish._M_cur - _M_impl._M_finish._M_first) +"
				" (_M_impl._M_start._M_last - _M_impl._M_start._M_cur)",
		  TERM(value) = "_M_impl._M_start._M_node[(_M_impl._M_start._M_cur - "
				"_M_impl._M_start._M_first"
				" + $i) / (_M_impl._M_start._M_last -"
				" _M_impl._M_start._M_first)][(_M_impl._M_start._M_cur -"
				" _M_impl._M_start._M_first + $i) % (_M_impl._M_start._M_last -"
				" _M_impl._M_start._M_first)]",
	  } },
	{ "bitset<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "$1",
		  TERM(value) = "(bool)(((unsigned long *)&_M_w)[$i / 64] >> $i % 64 & 1)",
	  } },
	{ "stack<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "c",
	  } },
	{ "queue<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "c",
	  } },
	{ "priority_queue<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "c",
	  } },
	/* libstdc++: elements in nodes */
	{ "map<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "_M_t._M_impl._M_node_count",
		  TERM(root) = "_M_t._M_impl._M_header._M_parent",
		  TERM(left) = "_M_left",
		  TERM(right) = "_M_right",
		  TERM(behind) = "$_M_t$2",
		  TERM(key) = "first",
		  TERM(mapped) = "second",
	  } },
	{ "multimap<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "_M_t._M_impl._M_node_count",
		  TERM(root) = "_M_t._M_impl._M_header._M_parent",
		  TERM(left) = "_M_left",
		  TERM(right) = "_M_right",
		  TERM(behind) = "$_M_t$2",
		  TERM(key) = "first",
		  TERM(mapped) = "second",
	  } },
	{ "set<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "_M_t._M_impl._M_node_count",
		  TERM(root) = "_M_t._M_impl._M_header._M_parent",
		  TERM(left) = "_M_left",
		  TERM(right) = "_M_right",
		  TERM(behind) = "$_M_t$2",
	  } },
	{ "multiset<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "_M_t._M_impl._M_node_count",
		  TERM(root) = "_M_t._M_impl._M_header._M_parent",
		  TERM(left) = "_M_left",
		  TERM(right) = "_M_right",
		  TERM(behind) = "$_M_t$2",
	  } },
	{ "unordered_map<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "_M_h._M_element_count",
		  TERM(first) = "_M_h._M_before_begin._M_nxt",
		  TERM(next) = "_M_nxt",
		  TERM(behind) = "$_M_h$2",
		  TERM(key) = "first",
		  TERM(mapped) = "second",
	  } },
	{ "unordered_multimap<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "_M_h._M_element_count",
		  TERM(first) = "_M_h._M_before_begin._M_nxt",
		  TERM(next) = "_M_nxt",
		  TERM(behind) = "$_M_h$2",
		  TERM(key) = "first",
		  TERM(mapped) = "second",
	  } },
	{ "unordered_set<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "_M_h._M_element_count",
		  TERM(first) = "_M_h._M_before_begin._M_nxt",
		  TERM(next) = "_M_nxt",
		  TERM(behind) = "$_M_h$2",
	  } },
	{ "unordered_multiset<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "_M_h._M_element_count",
		  TERM(first) = "_M_h._M_before_begin._M_nxt",
		  TERM(next) = "_M_nxt",
		  TERM(behind) = "$_M_h$2",
	  } },
	{ "list<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "_M_impl._M_node._M_size",
		  TERM(end) = "&_M_impl._M_node",
		  TERM(first) = "_M_impl._M_node._M_next",
		  TERM(next) = "_M_next",
		  TERM(behind) = "$1",
	  } },
	{ "list<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(end) = "&_M_impl._M_node",
		  TERM(first) = "_M_impl._M_node._M_next",
		  TERM(next) = "_M_next",
		  TERM(behind) = "$1",
	  } },
	{ "forward_list<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(first) = "_M_impl._M_head._M_next",
		  TERM(next) = "_M_next",
		  TERM(behind) = "$1",
	  } },
	/* libstdc++: what stands for something else */
	{ "unique_ptr<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = ".._M_head_impl",
	  } },
	{ "shared_ptr<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_ptr",
	  } },
	{ "weak_ptr<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_ptr",
		  TERM(when) = "!_M_refcount._M_pi || _M_refcount._M_pi->_M_use_count > 0",
		  TERM(used) = "_M_ptr && _M_refcount._M_pi->_M_use_count > 0",
		  TERM(none) = "expired",
	  } },
	{ "optional<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_payload._M_payload._M_value",
		  TERM(when) = "_M_payload._M_engaged",
		  TERM(none) = "nullopt",
	  } },
	{ "expected<void,*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_void",
		  TERM(when) = "_M_has_value",
		  TERM(none) = "unexpected",
		  TERM(other) = "_M_unex",
	  } },
	{ "expected<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_val",
		  TERM(when) = "_M_has_value",
		  TERM(none) = "unexpected",
		  TERM(other) = "_M_unex",
	  } },
	{ "unexpected<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_unex",
	  } },
	{ "variant<*",
	  CP_SHAPE_VARIANT,
	  {
		  TERM(at) = "&_M_u",
		  TERM(none) = "valueless",
		  TERM(index) = "_M_index",
	  } },
	/* libc++'s; nothing need be in that of libstdc++ */
	{ "tuple<*",
	  CP_SHAPE_PARTS,
	  {
		  TERM(value) = "__base_",
		  TERM(next) = "up",
		  TERM(member) = "__value_",
	  } },
	{ "tuple<*",
	  CP_SHAPE_PARTS,
	  {
		  TERM(member) = "_M_head_impl",
	  } },
	{ "function<*",
	  CP_SHAPE_HELD,
	  {
		  TERM(when) = "_M_manager",
		  TERM(none) = "empty",
		  TERM(code) = "_M_invoker",
		  TERM(member) = "_Function_handler<*",
		  TERM(behind) = "$2",
		  TERM(used) = "__stored_locally",
		  TERM(at) = "&_M_functor",
	  } },
	{ "function<*",
	  CP_SHAPE_HELD,
	  {
		  TERM(code) = "_M_invoker",
		  TERM(member) = "_Function_handler<*",
		  TERM(behind) = "$2",
		  TERM(used) = "!__stored_locally",
		  TERM(at) = "_M_functor._M_unused._M_object",
	  } },
	{ "function<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_invoker",
		  TERM(when) = "_M_manager",
		  TERM(none) = "empty",
	  } },
	{ "move_only_function<*",
	  CP_SHAPE_HELD,
	  {
		  TERM(when) = "_M_invoke",
		  TERM(none) = "empty",
		  TERM(code) = "_M_manage",
		  TERM(member) = "_S_manage<*",
		  TERM(behind) = "$1",
		  TERM(used) = "24",
		  TERM(at) = "&_M_storage",
	  } },
	{ "move_only_function<*",
	  CP_SHAPE_HELD,
	  {
		  TERM(code) = "_M_manage",
		  TERM(member) = "_S_manage<*",
		  TERM(behind) = "$1",
		  TERM(used) = "!24",
		  TERM(at) = "*(void **)&_M_storage",
	  } },
	{ "any",
	  CP_SHAPE_HELD,
	  {
		  TERM(when) = "_M_manager",
		  TERM(none) = "empty",
		  TERM(code) = "_M_manager",
		  TERM(member) = "_Manager_internal<*",
		  TERM(behind) = "$1",
		  TERM(at) = "&_M_storage",
	  } },
	{ "any",
	  CP_SHAPE_HELD,
	  {
		  TERM(code) = "_M_manager",
		  TERM(member) = "_Manager_external<*",
		  TERM(behind) = "$1",
		  TERM(at) = "_M_storage._M_ptr",
	  } },
	{ "any",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_manager",
		  TERM(when) = "_M_manager",
		  TERM(none) = "empty",
	  } },
	{ "atomic<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_i",
	  } },
	{ "atomic<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_base._M_i",
	  } },
	{ "atomic<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_b._M_p",
	  } },
	{ "atomic<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_fp",
	  } },
	{ "duration<*",
	  CP_SHAPE_DURATION,
	  {
		  TERM(value) = "__r",
	  } },
	{ "time_point<*::system_clock,*",
	  CP_SHAPE_DATE,
	  {
		  TERM(value) = "__d",
	  } },
	{ "time_point<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__d",
	  } },
	{ "reference_wrapper<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "_M_data",
	  } },
	/* libstdc++: iterators; the end of a tree is its head, which is red and its parent's parent */
	VALUE("__normal_iterator<*", "_M_current"),
	VALUE("_Deque_iterator<*", "_M_cur"),
	TREE_ITERATOR("_Rb_tree_iterator<*"),
	TREE_ITERATOR("_Rb_tree_const_iterator<*"),
	LIST_ITERATOR("_List_iterator<*"),
	LIST_ITERATOR("_List_const_iterator<*"),
	FORWARD_ITERATOR("_Fwd_list_iterator<*"),
	FORWARD_ITERATOR("_Fwd_list_const_iterator<*"),
	HASH_ITERATOR("_Node_iterator<*"),
	HASH_ITERATOR("_Node_const_iterator<*"),
	/* libstdc++: words and numbers in classes */
	VALUE("type_index", "*(char **)((unsigned long)_M_target + 8)"),
	{ "exception_ptr",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_exception_object",
		  TERM(when) = "_M_exception_object",
		  TERM(none) = "empty",
	  } },
	{ "mutex",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_mutex.__data.__owner",
		  TERM(when) = "_M_mutex.__data.__lock",
		  TERM(none) = "unlocked",
	  } },
	{ "recursive_mutex",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_mutex.__data.__owner",
		  TERM(when) = "_M_mutex.__data.__lock",
		  TERM(none) = "unlocked",
	  } },
	VALUE("strong_ordering", "(int)_M_value"),
	VALUE("weak_ordering", "(int)_M_value"),
	VALUE("partial_ordering", "(int)_M_value"),
	VALUE("year", "(int)_M_y"),
	VALUE("month", "(int)_M_m"),
	VALUE("day", "(int)_M_d"),
};
/* clang-format on */
const size_t cp_shapes_cplusplus_count = CP_ARRAY_SIZE(cp_shapes_cplusplus);
