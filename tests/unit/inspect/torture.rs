// SPDX-License-Identifier: MIT
//
// What Rust passes, in its own way.
include!("../../cli/black_box.rs");
use std::io::Write;

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}
#[derive(Clone, Copy)]
struct Big {
    a: u64,
    b: u64,
    c: u64,
}
#[derive(Clone, Copy)]
struct Three {
    a: i16,
    b: i16,
    c: i16,
}
#[derive(Clone, Copy)]
enum Direction {
    North,
    South,
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

macro_rules! call {
    ($line:literal, $function:ident($($argument:expr),*)) => {
        say(concat!(stringify!($function), $line));
        black_box($function($(black_box($argument)),*));
    };
}

#[no_mangle]
#[inline(never)]
fn t_numbers(a: i32, b: u8, c: f64, d: bool, e: i64) -> i64 {
    a as i64 + b as i64 + c as i64 + d as i64 + e
}
#[no_mangle]
#[inline(never)]
fn t_text(s: &str, n: usize) -> usize {
    s.len() + n
}
#[no_mangle]
#[inline(never)]
fn t_pair(p: (i32, f32), n: u32) -> (i32, f32) {
    (p.0 + n as i32, p.1)
}
#[no_mangle]
#[inline(never)]
fn t_point(p: Point, r: &Point) -> Point {
    Point { x: p.x + r.x, y: p.y + r.y }
}
#[no_mangle]
#[inline(never)]
fn t_big(b: Big, n: u64) -> Big {
    Big { a: b.a + n, b: b.b, c: b.c }
}
#[no_mangle]
#[inline(never)]
fn t_three(t: Three, n: i16) -> Three {
    Three { a: t.a + n, b: t.b, c: t.c }
}
#[no_mangle]
#[inline(never)]
fn t_slice(s: &[i32]) -> i32 {
    s[0] + s.len() as i32
}
#[no_mangle]
#[inline(never)]
fn t_direction(d: Direction, n: i32) -> Direction {
    if n > 0 { d } else { Direction::North }
}
#[no_mangle]
#[inline(never)]
fn t_string(s: String) -> String {
    s + "!"
}
#[no_mangle]
#[inline(never)]
fn t_option(o: Option<u32>, n: u32) -> Option<u32> {
    o.map(|v| v + n)
}
#[no_mangle]
#[inline(never)]
fn t_reference(o: Option<&i32>, n: i32) -> i32 {
    o.copied().unwrap_or(0) + n
}

fn main() {
    let five = 5;

    call!("(-7, 200, 1.5, true, 4) = 199", t_numbers(-7, 200, 1.5, true, 4));
    call!("(\"text\", 3) = 7", t_text("text", 3));
    call!("((1, 1.5), 2) = (3, 1.5)", t_pair((1, 1.5), 2));
    call!("({x=1, y=2}, &{x=3, y=4}) = {x=4, y=6}",
        t_point(Point { x: 1, y: 2 }, &Point { x: 3, y: 4 }));
    call!("({a=1, b=2, c=3}, 9) = {a=10, b=2, c=3}", t_big(Big { a: 1, b: 2, c: 3 }, 9));
    call!("({a=1, b=2, c=3}, 9) = {a=10, b=2, c=3}", t_three(Three { a: 1, b: 2, c: 3 }, 9));
    call!("({4, 5, 6}) = 7", t_slice(&[4, 5, 6]));
    call!("(South, 1) = South", t_direction(Direction::South, 1));
    call!("(\"own\") = \"own!\"", t_string(String::from("own")));
    call!("(Some(3), 4) = Some(7)", t_option(Some(3), 4));
    call!("(None, 4) = None", t_option(None, 4));
    call!("(Some(&5), 4) = 9", t_reference(Some(&five), 4));
    call!("(None, 4) = 4", t_reference(None, 4));
}
