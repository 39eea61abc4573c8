/* SPDX-License-Identifier: MIT
 *
 * Declarations of what libraries hold things in: see shapes.c.
 */
#include "inspect/shapes_shipped.h"

#define TERM(name) [CP_TERM_##name]

/* clang-format off: one line a term */
const struct cp_shape_row cp_shapes_shipped[] = {
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
		  TERM(none) = "expired",
	  } },
	{ "optional<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_payload._M_payload._M_value",
		  TERM(when) = "_M_payload._M_engaged",
		  TERM(none) = "nullopt",
	  } },
	{ "variant<*",
	  CP_SHAPE_VARIANT,
	  {
		  TERM(at) = "&_M_u",
		  TERM(none) = "valueless",
		  TERM(index) = "_M_index",
	  } },
	{ "tuple<*",
	  CP_SHAPE_PARTS,
	  {
		  TERM(member) = "_M_head_impl",
	  } },
	{ "function<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(value) = "_M_invoker",
		  TERM(when) = "_M_manager",
		  TERM(none) = "empty",
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
	{ "duration<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__r",
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
	/* Rust: text */
	{ "&str",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "data_ptr",
		  TERM(length) = "length",
	  } },
	{ "&mut str",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "data_ptr",
		  TERM(length) = "length",
	  } },
	{ "*Box<str*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "data_ptr",
		  TERM(length) = "length",
	  } },
	{ "String",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "vec.buf.inner.ptr.pointer.pointer",
		  TERM(length) = "vec.len",
	  } },
	{ "String",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "vec.buf.ptr.pointer.pointer",
		  TERM(length) = "vec.len",
	  } },
	{ "Buf",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "inner.buf.inner.ptr.pointer.pointer",
		  TERM(length) = "inner.len",
	  } },
	{ "Buf",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "inner.buf.ptr.pointer.pointer",
		  TERM(length) = "inner.len",
	  } },
	{ "OsString",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "inner",
	  } },
	{ "PathBuf",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "inner",
	  } },
	/* Rust: elements in a row */
	{ "&[*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "data_ptr",
		  TERM(count) = "length",
	  } },
	{ "&mut [*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "data_ptr",
		  TERM(count) = "length",
	  } },
	{ "*Box<[*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "data_ptr",
		  TERM(count) = "length",
	  } },
	{ "Vec<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "($1 *)buf.inner.ptr.pointer.pointer",
		  TERM(count) = "len",
	  } },
	{ "Vec<*",
	  CP_SHAPE_ROW,
	  {
		  TERM(at) = "($1 *)buf.ptr.pointer.pointer",
		  TERM(count) = "len",
	  } },
	{ "VecDeque<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "len",
		  TERM(value) =
			  "(($1 *)buf.inner.ptr.pointer.pointer)[(head + $i) % buf.inner.cap.__0]",
	  } },
	{ "VecDeque<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "len",
		  TERM(value) = "(($1 *)buf.ptr.pointer.pointer)[(head + $i) % buf.cap.__0]",
	  } },
	{ "BinaryHeap<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "data",
	  } },
	/* Rust: tables without chains, trees of nodes with up to eleven entries, lists */
	{ "HashMap<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(length) = "base.table.table.items",
		  TERM(count) = "base.table.table.bucket_mask + 1",
		  TERM(value) = "(($base$table$1 *)base.table.table.ctrl.pointer)[-$i - 1]",
		  TERM(used) = "!(base.table.table.ctrl.pointer[$i] & 128)",
		  TERM(key) = "__0",
		  TERM(mapped) = "__1",
	  } },
	{ "HashMap<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(length) = "table.table.items",
		  TERM(count) = "table.table.bucket_mask + 1",
		  TERM(value) = "(($table$1 *)table.table.ctrl.pointer)[-$i - 1]",
		  TERM(used) = "!(table.table.ctrl.pointer[$i] & 128)",
		  TERM(key) = "__0",
		  TERM(mapped) = "__1",
	  } },
	{ "HashSet<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(length) = "base.map.table.table.items",
		  TERM(count) = "base.map.table.table.bucket_mask + 1",
		  TERM(value) = "(($1 *)base.map.table.table.ctrl.pointer)[-$i - 1]",
		  TERM(used) = "!(base.map.table.table.ctrl.pointer[$i] & 128)",
	  } },
	{ "BTreeMap<*",
	  CP_SHAPE_BTREE,
	  {
		  TERM(length) = "len",
		  TERM(count) = "length",
		  TERM(root) = "root.Some.__0.node.pointer",
		  TERM(edges) = "($node + 1)",
		  TERM(height) = "root.Some.__0.height",
		  TERM(key) = "{$1}&keys[$i]",
		  TERM(mapped) = "{$2}&vals[$i]",
	  } },
	{ "BTreeSet<*",
	  CP_SHAPE_BTREE,
	  {
		  TERM(length) = "len",
		  TERM(count) = "map.length",
		  TERM(value) = "{$1}&keys[$i]",
		  TERM(root) = "map.root.Some.__0.node.pointer",
		  TERM(edges) = "($node + 1)",
		  TERM(height) = "map.root.Some.__0.height",
	  } },
	{ "LinkedList<*",
	  CP_SHAPE_CHAIN,
	  {
		  TERM(count) = "len",
		  TERM(value) = "element",
		  TERM(first) = "head.Some.__0.pointer",
		  TERM(next) = "next.Some.__0.pointer",
	  } },
	/* Rust: what stands for something else */
	{ "Rc<str,*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "(char *)&ptr.pointer.data_ptr->value",
		  TERM(length) = "ptr.pointer.length",
	  } },
	{ "Arc<str,*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "(char *)&ptr.pointer.data_ptr->data",
		  TERM(length) = "ptr.pointer.length",
	  } },
	{ "Rc<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "ptr.pointer->value",
	  } },
	{ "Arc<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "ptr.pointer->data",
	  } },
	{ "Cell<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "value.value",
	  } },
	{ "RefCell<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "value.value",
	  } },
	{ "UnsafeCell<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "value",
	  } },
	{ "ManuallyDrop<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "value.__0",
	  } },
	{ "ManuallyDrop<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "value",
	  } },
	{ "MaybeDangling<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__0",
	  } },
	{ "Mutex<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "data.value",
	  } },
	{ "RwLock<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "data.value",
	  } },
	{ "Atomic*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "v.value",
	  } },
	{ "NonNull<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "pointer",
	  } },
};
/* clang-format on */
const size_t cp_shapes_shipped_count = CP_ARRAY_SIZE(cp_shapes_shipped);
