// SPDX-License-Identifier: MIT
//
// What Rust programs look like from outside: modules, generics, traits,
// closures, a caught panic; one thread blocked in them and one computing.
// Options as in tracee.h: --ready=FILE, --until=FILE|-, --ms=N.
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);
static STANDING: AtomicUsize = AtomicUsize::new(0);

/// What std::hint::black_box is since Rust 1.66; Debian 12 has 1.63.
fn keep<T>(value: T) -> T {
    unsafe {
        let kept = std::ptr::read_volatile(&value);
        std::mem::forget(value);
        kept
    }
}

mod shop {
    use super::*;

    pub trait Serve {
        fn serve(&self, orders: &Receiver<u32>) -> u32;
    }

    pub struct Clerk<T> {
        pub base: T,
    }

    impl Serve for Clerk<u32> {
        #[inline(never)]
        fn serve(&self, orders: &Receiver<u32>) -> u32 {
            STANDING.fetch_add(1, Ordering::SeqCst);
            let n = orders.recv().expect("an order");
            keep(self.base + n)
        }
    }

    #[inline(never)]
    pub fn open(who: &dyn Serve, orders: &Receiver<u32>) -> u32 {
        keep(who.serve(orders)) + 1
    }
}

mod work {
    use super::*;

    #[inline(never)]
    pub fn repeat<F: Fn(u32) -> u32>(f: F, n: u32) -> u32 {
        let mut x = 1;
        for _ in 0..n {
            x = keep(f(x));
        }
        x
    }

    #[inline(never)]
    pub fn compute() -> usize {
        let mut words: Vec<String> = Vec::new();
        STANDING.fetch_add(1, Ordering::SeqCst);
        while !STOP.load(Ordering::SeqCst) {
            let x = repeat(|v| v ^ (v << 13) ^ (v >> 7), 10_000);
            words.push(x.to_string());
            if words.len() > 100 {
                words.clear();
            }
        }
        words.len()
    }
}

fn option(name: &str) -> Option<String> {
    std::env::args().find_map(|a| a.strip_prefix(name).map(str::to_string))
}

fn main() {
    let (send, orders) = channel();
    let blocked = std::thread::spawn(move || shop::open(&shop::Clerk { base: 40 }, &orders));
    let computing = std::thread::spawn(work::compute);
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| {
        if option("--no-such=").is_none() {
            panic!("on purpose");
        }
    });
    while STANDING.load(Ordering::SeqCst) < 2 {
        std::thread::yield_now();
    }
    if let Some(path) = option("--ready=") {
        let mut f = std::fs::OpenOptions::new().write(true).create(true).open(path).unwrap();
        writeln!(f, "{}", std::process::id()).unwrap();
    }
    match option("--until=") {
        None => std::thread::sleep(Duration::from_millis(
            option("--ms=").map_or(50, |t| t.parse().unwrap()),
        )),
        Some(file) if file == "-" => {
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        }
        Some(file) => {
            while !Path::new(&file).exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    STOP.store(true, Ordering::SeqCst);
    send.send(1).unwrap();
    if blocked.join().unwrap() == 42 && computing.join().is_ok() && caught.is_err() {
        println!("sample_rust: ok Rust names");
    } else {
        println!("sample_rust: FAILED wrong results");
        std::process::exit(1);
    }
}
