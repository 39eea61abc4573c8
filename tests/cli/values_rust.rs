// SPDX-License-Identifier: MIT
//
// What Rust passes and returns, of all kinds: each function with its first argument
// and result as they read.
#![allow(improper_ctypes_definitions, dead_code)]
use std::io::Write;

#[inline(always)]
fn keep<T>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&*std::mem::ManuallyDrop::new(value)) }
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    out.write_all(line.as_bytes()).unwrap();
    out.write_all(b"\n").unwrap();
    out.flush().unwrap();
}

pub struct W(u64);
pub struct F(f64);
pub struct Meters { m: f32 }
#[repr(C)]
pub struct Cw(f64);
pub struct Unit;
pub struct Point { x: i32, y: i32 }
#[repr(C)]
pub struct CPoint { x: i32, y: i32 }
pub struct Vec3 { x: f32, y: f32, z: f32 }
pub struct Mixed { a: u64, b: f64 }
pub struct Big { a: u64, b: u64, c: u64, d: u64 }
#[repr(C, packed)]
pub struct Packed { a: u8, b: u32 }
#[repr(align(16))]
pub struct Aligned(u64);
#[repr(C)]
pub struct Twelve { a: u32, b: u32, c: u32 }
pub enum Way { North, South }
pub enum Shape { Dot, Circle(f32), Rect(f32, f32) }
pub enum Id { None, Number(u64), Name(u64) }
#[repr(u8)]
pub enum Tagged { A(u32), B }

macro_rules! table {
    ($($name:ident: $type:ty = $value:expr, $text:literal;)*) => {
        $(mod $name {
            use super::*;
            #[inline(never)]
            pub fn first(a: $type, b: u8, c: f32, d: u64) -> $type {
                keep(b); keep(c); keep(d); keep(stringify!($name).as_ptr());
                keep(a)
            }
            #[inline(never)]
            pub fn last(b: u8, c: f32, d: u64, _: u16, a: $type) -> $type {
                keep(b); keep(c); keep(d); keep(stringify!($name).as_ptr());
                keep(a)
            }
            #[inline(never)]
            pub fn only(a: $type) -> $type { keep(concat!("o", stringify!($name)).as_ptr()); keep(a) }
            #[inline(never)]
            pub fn none() -> $type { keep(concat!("n", stringify!($name)).as_ptr()); keep(keep($value)) }
            #[inline(never)]
            pub extern "C" fn c_first(a: $type, d: u64) -> $type { keep(concat!("c", stringify!($name)).as_ptr()); keep(d); keep(a) }
            #[inline(never)]
            pub extern "C" fn c_none() -> $type { keep(concat!("cn", stringify!($name)).as_ptr()); keep(keep($value)) }
        })*
        fn main() {
            alone();
            $(
                say(concat!(stringify!($name), "\t", $text));
                keep($name::first(keep($value), keep(8), keep(2.5), keep(77)));
                keep($name::last(keep(8), keep(2.5), keep(77), keep(9), keep($value)));
                keep($name::only(keep($value)));
                keep($name::none());
                keep($name::c_first(keep($value), keep(77)));
                keep($name::c_none());
                // Called where nothing is done with what they return.
                let _ = std::mem::ManuallyDrop::new($name::first(keep($value), 8, 2.5, 77));
            )*
        }
    };
}

#[derive(Debug, Clone, Copy)]
pub struct Turned { a: u64, b: u64, c: u64, d: u64 }
// Alone, so that the compiler may do with them what it likes.
#[inline(never)]
fn turn(r: &Turned) -> Turned { Turned { a: r.d, b: r.c, c: r.b, d: r.a } }
#[inline(never)]
fn after(t: (i32, &str), c: char, z: u8, k: u64) -> u64 {
    keep(t.0 as u64 + t.1.len() as u64 + c as u64 + z as u64 + k)
}
#[inline(never)]
fn array(n: i32) -> [u64; 2] { [n as u64, 2] }
#[inline(never)]
fn constant(p: &mut u32) -> u32 { *p += keep(1); 5 }
#[inline(never)]
fn half(p: &mut u64) -> (u64, u64) { *p += keep(1); (*p, 7) }
#[inline(never)]
fn unused(p: &mut u64) -> u64 { *p += keep(1); *p + keep(9) }
#[inline(never)]
fn deep(n: u32) -> Turned {
    if n == 0 { return Turned { a: 0, b: 2, c: 3, d: 4 }; }
    let mut t = deep(n - 1);
    t.a += 1;
    t
}
fn alone() {
    let (mut x, mut y) = (keep(0), keep(0));
    turn(&keep(Turned { a: 1, b: 2, c: 3, d: 4 }));
    keep(turn(&keep(Turned { a: 1, b: 2, c: 3, d: 4 })));
    after((5, "five"), '\u{e9}', 8, 77);
    keep(array(6));
    keep(constant(&mut x) + constant(&mut x));
    keep(half(&mut y).1);
    unused(&mut y);
    keep(deep(keep(20)));
    // More of them than are kept in mind.
    keep(deep(keep(40)));
}

static FIVE: i32 = 5;

table! {
    t_u32: u32 = 41, "41";
    t_i8: i8 = -3, "-3";
    t_bool: bool = true, "true";
    t_char: char = 'Q', "'Q'";
    t_f32: f32 = 1.5, "1.5";
    t_f64: f64 = -2.5, "-2.5";
    t_i128: i128 = -170141183460469231731687303715884105, "-170141183460469231731687303715884105";
    t_ref: &'static i32 = &FIVE, "&5";
    t_str: &'static str = "five", "\"five\"";
    t_slice: &'static [u16] = &[1, 2, 3], "{1, 2, 3}";
    t_string: String = String::from("own"), "\"own\"";
    t_unit: () = (), "()";
    t_unit_struct: Unit = Unit, "{}";
    t_newtype: W = W(9), "{__0=9}";
    t_newfloat: F = F(9.5), "{__0=9.5}";
    t_meters: Meters = Meters { m: 9.5 }, "{m=9.5}";
    t_cfloat: Cw = Cw(9.5), "{__0=9.5}";
    t_single: (f64,) = (9.5,), "(9.5,)";
    t_pair: (u32, u64) = (11, 12), "(11, 12)";
    t_pair32: (u32, u32) = (11, 12), "(11, 12)";
    t_pair_b: (u8, u64) = (11, 12), "(11, 12)";
    t_pair_f: (f32, f32) = (1.5, 2.5), "(1.5, 2.5)";
    t_pair_d: (f64, f64) = (1.5, 2.5), "(1.5, 2.5)";
    t_pair_m: (i32, f32) = (11, 2.5), "(11, 2.5)";
    t_pair_c: (char, bool) = ('Q', true), "('Q', true)";
    t_pair_s: (i32, &'static str) = (11, "abc"), "(11, \"abc\")";
    t_pair_w: (u64, u128) = (11, 12), "(11, 12)";
    t_pair_n: (W, u32) = (W(11), 12), "({__0=11}, 12)";
    t_three: (u8, u8, u8) = (1, 2, 3), "(1, 2, 3)";
    t_three_w: (u32, u32, u32) = (1, 2, 3), "(1, 2, 3)";
    t_array1: [u64; 1] = [5], "{5}";
    t_array2: [u64; 2] = [5, 6], "{5, 6}";
    t_array_f: [f32; 2] = [1.5, 2.5], "{1.5, 2.5}";
    t_array_b: [u8; 4] = [1, 2, 3, 4], "{1, 2, 3, 4}";
    t_array_5: [u8; 5] = [1, 2, 3, 4, 5], "{1, 2, 3, 4, 5}";
    t_array_l: [u64; 5] = [1, 2, 3, 4, 5], "{1, 2, 3, 4, 5}";
    t_point: Point = Point { x: 3, y: -4 }, "{x=3, y=-4}";
    t_cpoint: CPoint = CPoint { x: 3, y: -4 }, "{x=3, y=-4}";
    t_vec3: Vec3 = Vec3 { x: 1.5, y: 2.5, z: 3.5 }, "{x=1.5, y=2.5, z=3.5}";
    t_mixed: Mixed = Mixed { a: 7, b: 0.5 }, "{a=7, b=0.5}";
    t_big: Big = Big { a: 1, b: 2, c: 3, d: 4 }, "{a=1, b=2, c=3, d=4}";
    t_packed: Packed = Packed { a: 1, b: 2 }, "{a=1, b=2}";
    t_aligned: Aligned = Aligned(5), "{__0=5}";
    t_twelve: Twelve = Twelve { a: 1, b: 2, c: 3 }, "{a=1, b=2, c=3}";
    t_way: Way = Way::South, "South";
    t_shape: Shape = Shape::Rect(1.5, 2.5), "Rect(1.5, 2.5)";
    t_circle: Shape = Shape::Circle(1.5), "Circle(1.5)";
    t_dot: Shape = Shape::Dot, "Dot";
    t_id: Id = Id::Name(8), "Name(8)";
    t_tagged: Tagged = Tagged::A(6), "A(6)";
    t_option: Option<u32> = Some(6), "Some(6)";
    t_option_n: Option<u32> = None, "None";
    t_option_8: Option<u8> = Some(6), "Some(6)";
    t_option_r: Option<&'static i32> = Some(&FIVE), "Some(&5)";
    t_option_o: Option<&'static i32> = None, "None";
    t_option_b: Option<bool> = Some(true), "Some(true)";
    t_option_c: Option<char> = Some('Q'), "Some('Q')";
    t_option_s: Option<&'static str> = Some("abc"), "Some(\"abc\")";
    t_option_t: Option<String> = Some(String::from("own")), "Some(\"own\")";
    t_option_p: Option<(u32, u32)> = Some((1, 2)), "Some((1, 2))";
    t_option_f: Option<f64> = Some(1.5), "Some(1.5)";
    t_option_a: Option<[u64; 2]> = Some([5, 6]), "Some({5, 6})";
    t_option_z: Option<std::num::NonZeroU32> = std::num::NonZeroU32::new(7), "Some(7)";
    t_result: Result<u32, String> = Ok(2), "Ok(2)";
    t_result_e: Result<u32, String> = Err(String::from("bad")), "Err(\"bad\")";
    t_result_u: Result<(), u8> = Err(4), "Err(4)";
    t_result_i: Result<u32, i32> = Ok(5), "Ok(5)";
    t_result_l: Result<u32, u64> = Ok(5), "Ok(5)";
    t_result_f: Result<u32, f32> = Ok(5), "Ok(5)";
    t_result_p: Result<usize, &'static i32> = Ok(5), "Ok(5)";
    t_result_q: Result<u64, u64> = Err(5), "Err(5)";
    t_box: Box<u32> = Box::new(4), "&4";
    t_duration: std::time::Duration = std::time::Duration::new(3, 4), "3.000000004s";
    t_ordering: std::cmp::Ordering = std::cmp::Ordering::Less, "Less";
}
