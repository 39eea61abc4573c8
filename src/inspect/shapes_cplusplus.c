/* SPDX-License-Identifier: MIT
 *
 * Declarations of what C++'s libraries hold things in: see shapes.c.
 */
#include "inspect/shapes_cplusplus.h"

#define TERM(name) [CP_TERM_##name]
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
#define VALUE(type, term) \
	{ \
		type, CP_SHAPE_VALUE, \
		{ \
			TERM(value) = term \
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
	/* libc++: text, in place or elsewhere by the lowest bit */
	{ "basic_string<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "($1 *)((unsigned long)__r_.__value_.__l.__data_ * "
			     "(__r_.__value_.__s.__size_ & 1) + (unsigned "
			     "long)&__r_.__value_.__s.__data_ * (1 - "
			     "(__r_.__value_.__s.__size_ & 1)))",
		  TERM(length) = "__r_.__value_.__l.__size_ * (__r_.__value_.__s.__size_ & 1) + "
				 "(__r_.__value_.__s.__size_ >> 1) * (1 - "
				 "(__r_.__value_.__s.__size_ & 1))",
	  } },
	{ "basic_string<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "($1 *)((unsigned long)__r_.__value_.__l.__data_ * "
			     "__r_.__value_.__s.__is_long_ + (unsigned "
			     "long)&__r_.__value_.__s.__data_ * (1 - "
			     "__r_.__value_.__s.__is_long_))",
		  TERM(length) = "__r_.__value_.__l.__size_ * __r_.__value_.__s.__is_long_ + "
				 "__r_.__value_.__s.__size_ * (1 - __r_.__value_.__s.__is_long_)",
	  } },
	{ "basic_string_view<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "__data",
		  TERM(length) = "__size",
	  } },
	{ "basic_string_view<*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "__data_",
		  TERM(length) = "__size_",
	  } },
	{ "path",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__pn_",
	  } },
	/* libc++: elements in a row */
	{ "vector<bool,*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "__size_",
		  TERM(value) = "(bool)(__begin_[$i / 64] >> $i % 64 & 1)",
	  } },
	{ "vector<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "__begin_",
		  TERM(end) = "__end_",
	  } },
	{ "array<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__elems_",
	  } },
	{ "span<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "__data",
		  TERM(count) = "__size",
	  } },
	{ "span<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "__data",
		  TERM(count) = "$2",
	  } },
	{ "span<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "__data_",
		  TERM(count) = "__size_",
	  } },
	{ "span<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "__data_",
		  TERM(count) = "$2",
	  } },
	{ "initializer_list<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "__begin_",
		  TERM(count) = "__size_",
	  } },
	{ "deque<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "__size_.__value_",
		  TERM(value) = "__map_.__begin_[(__start_ + $i) / ((sizeof($1) < 256) * (4096 / "
				"sizeof($1)) + (sizeof($1) >= 256) * 16)][(__start_ + $i) % "
				"((sizeof($1) < 256) * (4096 / sizeof($1)) + (sizeof($1) >= 256) "
				"* 16)]",
	  } },
	{ "bitset<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "$1",
		  TERM(value) = "(bool)(((unsigned long *)&__first_)[$i / 64] >> $i % 64 & 1)",
	  } },
	/* libc++: elements in nodes */
	{ "map<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "__tree_.__pair3_.__value_",
		  TERM(root) = "__tree_.__pair1_.__value_.__left_",
		  TERM(left) = "__left_",
		  TERM(right) = "__right_",
		  TERM(behind) = "$__tree_$1",
		  TERM(key) = "__cc.first",
		  TERM(mapped) = "__cc.second",
	  } },
	{ "map<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "__tree_.__pair3_.__value_",
		  TERM(root) = "__tree_.__pair1_.__value_.__left_",
		  TERM(left) = "__left_",
		  TERM(right) = "__right_",
		  TERM(behind) = "$__tree_$1",
		  TERM(key) = "__cc_.first",
		  TERM(mapped) = "__cc_.second",
	  } },
	{ "multimap<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "__tree_.__pair3_.__value_",
		  TERM(root) = "__tree_.__pair1_.__value_.__left_",
		  TERM(left) = "__left_",
		  TERM(right) = "__right_",
		  TERM(behind) = "$__tree_$1",
		  TERM(key) = "__cc.first",
		  TERM(mapped) = "__cc.second",
	  } },
	{ "multimap<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "__tree_.__pair3_.__value_",
		  TERM(root) = "__tree_.__pair1_.__value_.__left_",
		  TERM(left) = "__left_",
		  TERM(right) = "__right_",
		  TERM(behind) = "$__tree_$1",
		  TERM(key) = "__cc_.first",
		  TERM(mapped) = "__cc_.second",
	  } },
	{ "set<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "__tree_.__pair3_.__value_",
		  TERM(root) = "__tree_.__pair1_.__value_.__left_",
		  TERM(left) = "__left_",
		  TERM(right) = "__right_",
		  TERM(behind) = "$1",
	  } },
	{ "multiset<*",
	  CP_SHAPE_TREE,
	  {
		  TERM(count) = "__tree_.__pair3_.__value_",
		  TERM(root) = "__tree_.__pair1_.__value_.__left_",
		  TERM(left) = "__left_",
		  TERM(right) = "__right_",
		  TERM(behind) = "$1",
	  } },
	{ "unordered_map<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__table_.__p2_.__value_",
		  TERM(value) = "{$__table_$1}((unsigned long)$node + 16)",
		  TERM(first) = "__table_.__p1_.__value_.__next_",
		  TERM(next) = "__next_",
		  TERM(key) = "__cc.first",
		  TERM(mapped) = "__cc.second",
	  } },
	{ "unordered_map<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__table_.__p2_.__value_",
		  TERM(value) = "{$__table_$1}((unsigned long)$node + 16)",
		  TERM(first) = "__table_.__p1_.__value_.__next_",
		  TERM(next) = "__next_",
		  TERM(key) = "__cc_.first",
		  TERM(mapped) = "__cc_.second",
	  } },
	{ "unordered_multimap<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__table_.__p2_.__value_",
		  TERM(value) = "{$__table_$1}((unsigned long)$node + 16)",
		  TERM(first) = "__table_.__p1_.__value_.__next_",
		  TERM(next) = "__next_",
		  TERM(key) = "__cc.first",
		  TERM(mapped) = "__cc.second",
	  } },
	{ "unordered_multimap<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__table_.__p2_.__value_",
		  TERM(value) = "{$__table_$1}((unsigned long)$node + 16)",
		  TERM(first) = "__table_.__p1_.__value_.__next_",
		  TERM(next) = "__next_",
		  TERM(key) = "__cc_.first",
		  TERM(mapped) = "__cc_.second",
	  } },
	{ "unordered_set<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__table_.__p2_.__value_",
		  TERM(value) = "{$1}((unsigned long)$node + 16)",
		  TERM(first) = "__table_.__p1_.__value_.__next_",
		  TERM(next) = "__next_",
	  } },
	{ "unordered_multiset<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__table_.__p2_.__value_",
		  TERM(value) = "{$1}((unsigned long)$node + 16)",
		  TERM(first) = "__table_.__p1_.__value_.__next_",
		  TERM(next) = "__next_",
	  } },
	{ "list<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "__size_alloc_.__value_",
		  TERM(end) = "&__end_",
		  TERM(first) = "__end_.__next_",
		  TERM(next) = "__next_",
		  TERM(behind) = "$1",
	  } },
	{ "forward_list<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(value) = "__value_",
		  TERM(first) = "__before_begin_.__value_.__next_",
		  TERM(next) = "__next_",
	  } },
	/* libc++: what stands for something else */
	{ "unique_ptr<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__ptr_.__value_",
	  } },
	{ "shared_ptr<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__ptr_",
	  } },
	{ "weak_ptr<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "__ptr_",
		  TERM(when) = "!__cntrl_ || __cntrl_->__shared_owners_ >= 0",
		  TERM(used) = "__ptr_ && __cntrl_->__shared_owners_ >= 0",
		  TERM(none) = "expired",
	  } },
	{ "optional<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "__val_",
		  TERM(when) = "__engaged_",
		  TERM(none) = "nullopt",
	  } },
	{ "variant<*",
	  CP_SHAPE_VARIANT,
	  {
		  TERM(at) = "&__impl.__data",
		  TERM(none) = "valueless",
		  TERM(index) = "__impl.__index",
	  } },
	{ "variant<*",
	  CP_SHAPE_VARIANT,
	  {
		  TERM(at) = "&__impl_.__data",
		  TERM(none) = "valueless",
		  TERM(index) = "__impl_.__index",
	  } },
	{ "function<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "__f_.__f_",
		  TERM(when) = "__f_.__f_",
		  TERM(none) = "empty",
	  } },
	{ "any",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "__h",
		  TERM(when) = "__h",
		  TERM(none) = "empty",
	  } },
	{ "atomic<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__a_.__a_value",
	  } },
	{ "duration<*",
	  CP_SHAPE_DURATION,
	  {
		  TERM(value) = "__rep_",
	  } },
	{ "time_point<*::system_clock,*",
	  CP_SHAPE_DATE,
	  {
		  TERM(value) = "__d_",
	  } },
	{ "time_point<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__d_",
	  } },
	{ "reference_wrapper<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__f_",
	  } },
};
/* clang-format on */
const size_t cp_shapes_cplusplus_count = CP_ARRAY_SIZE(cp_shapes_cplusplus);
