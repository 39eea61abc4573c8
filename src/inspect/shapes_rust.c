/* SPDX-License-Identifier: MIT
 *
 * Declarations of what Rust's library holds things in: see shapes.c.
 */
#include "inspect/shapes_rust.h"

#include "inspect/shape_rows.h"

/* clang-format off: one line a term */
const struct cp_shape_row cp_shapes_rust[] = {
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
	/* before 1.67: a power of 2 is free but for one */
	{ "VecDeque<*",
	  CP_SHAPE_ITEMS,
	  {
		  TERM(count) = "(head - tail) & (buf.cap - 1)",
		  TERM(value) = "(($1 *)buf.ptr.pointer.pointer)[(tail + $i) & (buf.cap - 1)]",
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
	/* Rust: what stands for something else; of old libraries debug information has counts alone */
	{ "Rc<str,*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "(char *)&ptr.pointer.data_ptr->value",
		  TERM(length) = "ptr.pointer.length",
	  } },
	{ "Rc<str>",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "(char *)(&ptr.pointer.data_ptr->weak + 1)",
		  TERM(length) = "ptr.pointer.length",
	  } },
	{ "Arc<str,*",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "(char *)&ptr.pointer.data_ptr->data",
		  TERM(length) = "ptr.pointer.length",
	  } },
	{ "Arc<str>",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "(char *)(&ptr.pointer.data_ptr->weak + 1)",
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
	{ "Weak<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "(long)ptr.pointer != -1 && ptr.pointer->strong.value.value",
		  TERM(value) = "ptr.pointer->value",
		  TERM(none) = "dropped",
	  } },
	{ "Weak<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "(long)ptr.pointer != -1 && ptr.pointer->strong.v.value",
		  TERM(value) = "ptr.pointer->data",
		  TERM(none) = "dropped",
	  } },
	{ "NonZero*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__0.__0",
	  } },
	{ "NonZero*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__0",
	  } },
	{ "OnceCell<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "inner.value",
	  } },
	{ "LazyCell<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "state.value",
	  } },
	/* Versions between these two have members of the same names with other numbers (3: it
	 * has a value, 0: not yet), but no MaybeDangling around the value: they fit neither. */
	{ "OnceLock<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "!once.inner.state_and_queued.v.value",
		  TERM(value) = "value.value.value.value.__0",
		  TERM(none) = "uninit",
	  } },
	{ "OnceLock<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "once.inner.state.v.value == 4",
		  TERM(value) = "value.value.value.value",
		  TERM(none) = "uninit",
	  } },
	{ "LazyLock<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "!once.inner.state_and_queued.v.value",
		  TERM(value) = "data.value.value.value.__0",
		  TERM(none) = "uninit",
	  } },
	{ "LazyLock<*",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "once.inner.state.v.value == 4",
		  TERM(value) = "data.value.value.value",
		  TERM(none) = "uninit",
	  } },
	{ "ThreadId",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__0",
	  } },
	/* std::io::Error: which of four it is, say the two lowest bits of a pointer */
	{ "Error",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "repr",
	  } },
	{ "Repr",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "((long)__0.pointer & 3) != 2",
		  TERM(none) = "Os",
		  TERM(other) = "(int)((long)__0.pointer >> 32)",
	  } },
	{ "Repr",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "((long)__0.pointer & 3) != 3",
		  TERM(none) = "Simple",
		  TERM(other) = "(std::io::error::ErrorKind)((long)__0.pointer >> 32)",
	  } },
	{ "Repr",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "((long)__0.pointer & 3) != 1",
		  TERM(none) = "Custom",
		  TERM(other) = "*(std::io::error::Custom *)((long)__0.pointer - 1)",
	  } },
	{ "Repr",
	  CP_SHAPE_CHOICE,
	  {
		  TERM(when) = "(long)__0.pointer & 3",
		  TERM(none) = "SimpleMessage",
		  TERM(other) = "*(std::io::error::SimpleMessage *)(long)__0.pointer",
	  } },
	{ "CString",
	  CP_SHAPE_TEXT,
	  {
		  TERM(at) = "inner.data_ptr",
		  TERM(length) = "inner.length - 1",
	  } },
	{ "Duration",
	  CP_SHAPE_DURATION,
	  {
		  TERM(value) = "secs + nanos.__0 / 1e9",
		  TERM(unit) = "1",
	  } },
	{ "Duration",
	  CP_SHAPE_DURATION,
	  {
		  TERM(value) = "secs + nanos / 1e9",
		  TERM(unit) = "1",
	  } },
	{ "SystemTime",
	  CP_SHAPE_DATE,
	  {
		  TERM(value) = "__0.t.tv_sec * 1000000000 + __0.t.tv_nsec.__0",
		  TERM(unit) = "1/1000000000",
	  } },
	{ "SystemTime",
	  CP_SHAPE_DATE,
	  {
		  TERM(value) = "__0.t.tv_sec * 1000000000 + __0.t.tv_nsec",
		  TERM(unit) = "1/1000000000",
	  } },
	{ "Instant",
	  CP_SHAPE_DURATION,
	  {
		  TERM(value) = "__0.t.tv_sec + __0.t.tv_nsec.__0 / 1e9",
		  TERM(unit) = "1",
	  } },
	{ "Instant",
	  CP_SHAPE_DURATION,
	  {
		  TERM(value) = "__0.t.tv_sec + __0.t.tv_nsec / 1e9",
		  TERM(unit) = "1",
	  } },
	{ "Wrapping<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__0",
	  } },
	{ "Saturating<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "__0",
	  } },
	{ "Ref<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "*value.pointer",
	  } },
	{ "RefMut<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "*value.pointer",
	  } },
	{ "MaybeUninit<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "value",
	  } },
	{ "NonNull<*",
	  CP_SHAPE_VALUE,
	  {
		  TERM(value) = "pointer",
	  } },
};
/* clang-format on */
const size_t cp_shapes_rust_count = CP_ARRAY_SIZE(cp_shapes_rust);
