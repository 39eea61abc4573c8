// SPDX-License-Identifier: MIT
//
// A thread that waits for a Mutex which the first thread holds, for certain: it
// is let go when the kernel says that the waiter sleeps on it. Says how often.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::{fs, thread};

static TID: AtomicU32 = AtomicU32::new(0);

#[inline(never)]
fn waits_for_it(m: &Mutex<u64>) {
    *m.lock().unwrap() += 1;
}

fn tid() -> u32 {
    let path = fs::read_link("/proc/thread-self").unwrap();
    path.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

// Until it sleeps in futex(), on something within the Mutex.
fn await_sleep(m: &Mutex<u64>) {
    let path = format!("/proc/self/task/{}/syscall", TID.load(Ordering::SeqCst));
    let start = m as *const _ as u64;
    loop {
        let text = fs::read_to_string(&path).unwrap();
        let mut words = text.split(' ');
        if words.next() == Some("202") {
            let at = words.next().unwrap().trim_start_matches("0x");
            let at = u64::from_str_radix(at, 16).unwrap();
            if at >= start && at < start + std::mem::size_of::<Mutex<u64>>() as u64 {
                return;
            }
        }
        thread::yield_now();
    }
}

fn main() {
    let mutex = Arc::new(Mutex::new(0));
    let shared = mutex.clone();
    let (go, gone) = mpsc::channel::<()>();
    let (done, over) = mpsc::channel::<()>();
    let waiter = thread::spawn(move || {
        TID.store(tid(), Ordering::SeqCst);
        done.send(()).unwrap();
        while gone.recv().is_ok() {
            waits_for_it(&shared);
            done.send(()).unwrap();
        }
    });
    over.recv().unwrap();
    for _ in 0..20 {
        let held = mutex.lock().unwrap();
        go.send(()).unwrap();
        await_sleep(&mutex);
        drop(held);
        over.recv().unwrap();
    }
    drop(go);
    waiter.join().unwrap();
    println!("waits {}", mutex.lock().unwrap());
}
