// SPDX-License-Identifier: MIT
//
// Panics, caught and not, and one line for each in order.
use std::panic;

// What the compiler is not to see through.
fn opaque(n: usize) -> usize {
    unsafe { std::ptr::read_volatile(&n) }
}

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        opaque(0);
    }
}

#[inline(never)]
fn deep(n: usize, v: &[i32]) -> i32 {
    let _g = Guard;
    if n == 0 {
        println!("throw panic throws_rust::deep");
        return v[opaque(7)];
    }
    deep(n - 1, v) + 1
}

#[inline(never)]
fn nothing(x: Option<i32>) -> i32 {
    println!("throw panic throws_rust::nothing");
    x.unwrap()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    for n in 0..3 {
        assert!(panic::catch_unwind(|| deep(n, &[])).is_err());
        println!("catch panic");
    }
    let t = std::thread::spawn(|| nothing(None));
    assert!(t.join().is_err());
    println!("catch panic");
}
