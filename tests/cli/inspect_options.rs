// SPDX-License-Identifier: MIT
//! What may hold something. Asked "ready", it calls given() ten times and says what the
//! statics hold by its own account: "name true|false" each.
use std::io::{Read, Write};

pub enum Shape {
    Unit,
    Dot(u32),
}
pub static mut NONE: Option<u32> = None;
pub static mut ZERO: Option<u32> = Some(0);
pub static mut FIVE: Option<u32> = Some(5);
pub static mut NO_BOX: Option<Box<u32>> = None;
pub static mut BOXED: Option<Box<u32>> = None;
pub static mut NO_TEXT: Option<String> = None;
pub static mut NESTED: Option<Option<u32>> = Some(None);
pub static mut NO_NUMBER: Option<std::num::NonZeroU8> = None;
pub static mut UNIT: Shape = Shape::Unit;

#[inline(never)]
#[no_mangle]
pub fn given(number: Option<u32>, reference: Option<&u32>) -> u32 {
    number.unwrap_or(7) + reference.map_or(1, |x| *x)
}

macro_rules! say {
    ($($name:ident)*) => { $( {
        println!("{} {}", stringify!($name), unsafe { (*std::ptr::addr_of!($name)).is_some() });
    } )* };
}

fn main() {
    unsafe { BOXED = Some(Box::new(3)) };
    say!(NONE ZERO FIVE NO_BOX BOXED NO_TEXT NESTED NO_NUMBER);
    println!("ready");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0u8; 1]);
    let n = 3;
    let mut sum = 0;
    for i in 0..10 {
        sum += given(if i % 2 == 0 { None } else { Some(i - 1) }, if i > 6 { Some(&n) } else { None });
    }
    if let Shape::Dot(x) = unsafe { &*std::ptr::addr_of!(UNIT) } {
        sum += x;
    }
    std::process::exit((sum == 0) as i32);
}
