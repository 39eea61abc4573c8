// SPDX-License-Identifier: MIT
//
// What Rust's library holds things in, passed to functions, for tests of values at calls.
// Prints each call as it is to be shown.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

#[cfg(not(old))]
use std::hint::black_box;
#[cfg(old)]
include!("black_box.rs");

#[allow(dead_code)]
pub struct Point {
    x: i32,
    y: i32,
}
#[allow(dead_code)]
pub enum Shape {
    Circle(f64),
    Rect { w: i32, h: i32 },
    Nothing,
}

macro_rules! take {
    ($name:ident, $type:ty) => {
        #[inline(never)]
        #[no_mangle]
        pub fn $name(value: $type) {
            black_box(line!()); // no two of them are the same code
            black_box(&value);
        }
    };
}
take!(take_vec, &Vec<i32>);
take!(take_shapes, &Vec<Shape>);
take!(take_options, &Vec<Option<String>>);
take!(take_string, &String);
take!(take_str, &str);
take!(take_option, &Option<String>);
take!(take_box, Option<Box<Point>>);
take!(take_map, &HashMap<String, i32>);
take!(take_set, &HashSet<u8>);
take!(take_tree, &BTreeMap<i32, i32>);
take!(take_rc, &Rc<Point>);
take!(take_arc, &Arc<Point>);
take!(take_arc_str, &Arc<str>);
take!(take_cell, &RefCell<i32>);
take!(take_result, &Result<i32, String>);
take!(take_slice, &[Point]);

macro_rules! call {
    ($name:ident, $shown:expr, $value:expr) => {
        println!("{}({})", stringify!($name), $shown);
        $name($value);
    };
}

fn main() {
    let text = |s: &str| s.to_string();

    call!(take_vec, "&{1, 2, 3}", &vec![1, 2, 3]);
    call!(take_vec, "&{}", &vec![]);
    let shapes = vec![Shape::Circle(2.5), Shape::Rect { w: 1, h: 2 }, Shape::Nothing];
    call!(take_shapes, "&{Circle(2.5), {Rect={w=1, h=2}}, Nothing}", &shapes);
    call!(take_options, "&{Some(\"a\"), None}", &vec![Some(text("a")), None]);
    call!(take_string, "&\"text\"", &text("text"));
    call!(take_str, "\"a str\"", "a str");
    call!(take_option, "&Some(\"some\")", &Some(text("some")));
    call!(take_option, "&None", &None);
    call!(take_box, "Some(&{x=1, y=2})", Some(Box::new(Point { x: 1, y: 2 })));
    call!(take_box, "None", None);
    call!(take_map, "&{[\"one\"] = 1}", &HashMap::from([(text("one"), 1)]));
    call!(take_set, "&{7}", &HashSet::from([7]));
    call!(take_tree, "&{size=2, ...}", &BTreeMap::from([(1, 2), (3, 4)]));
    call!(take_rc, "&{x=5, y=6}", &Rc::new(Point { x: 5, y: 6 }));
    call!(take_arc, "&{x=7, y=8}", &Arc::new(Point { x: 7, y: 8 }));
    call!(take_arc_str, "&\"counted\"", &Arc::from("counted"));
    call!(take_cell, "&9", &RefCell::new(9));
    call!(take_result, "&Ok(1)", &Ok(1));
    call!(take_result, "&Err(\"bad\")", &Err(text("bad")));
    call!(take_slice, "{{x=1, y=2}}", &[Point { x: 1, y: 2 }]);
}
