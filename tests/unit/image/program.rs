// SPDX-License-Identifier: MIT
// Rust names, generics, closures, inlining: for judging src/image.
use std::collections::HashMap;
use std::fmt;

mod shapes {
    pub trait Area {
        fn area(&self) -> f64;
    }
    pub struct Square(pub f64);
    pub struct Circle(pub f64);
    impl Area for Square {
        fn area(&self) -> f64 {
            self.0 * self.0
        }
    }
    impl Area for Circle {
        fn area(&self) -> f64 {
            3.14159 * self.0 * self.0
        }
    }
}

struct Pair<T> {
    a: T,
    b: T,
}

impl<T: fmt::Display> fmt::Display for Pair<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.a, self.b)
    }
}

#[inline(always)]
fn leaf(x: u64) -> u64 {
    x.wrapping_mul(31).rotate_left(5)
}

#[inline(never)]
fn count(words: &[String]) -> u64 {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    for w in words {
        *seen.entry(w.as_str()).or_insert(0) += 1;
    }
    seen.values().map(|v| leaf(*v)).fold(0, |a, b| a ^ b)
}

#[inline(never)]
fn total(all: &[Box<dyn shapes::Area>]) -> f64 {
    all.iter().map(|s| s.area()).sum()
}

fn main() {
    let words: Vec<String> = (0..100).map(|i| format!("w{}", i % 7)).collect();
    let all: Vec<Box<dyn shapes::Area>> = (0..10)
        .map(|i| -> Box<dyn shapes::Area> {
            if i % 2 == 0 {
                Box::new(shapes::Square(i as f64))
            } else {
                Box::new(shapes::Circle(i as f64))
            }
        })
        .collect();
    println!("{} {} {}", count(&words), total(&all), Pair { a: 1, b: 2 });
}
