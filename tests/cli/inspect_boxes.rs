// SPDX-License-Identifier: MIT
//
// What Rust's library holds things in, for tests of `cprof inspect`. Says of each what it
// holds, as JSON but for the parentheses, then "ready", and ends when its standard input
// does.
#![allow(dead_code)]
use std::cell::{Cell, RefCell};
use std::collections::*;
use std::rc::Rc;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, RwLock};

struct Point {
    x: i32,
    y: i32,
}

struct Held {
    text: String,
    no_text: String,
    slice: &'static str,
    numbers: Vec<i32>,
    no_numbers: Vec<i32>,
    part: &'static [u16],
    texts: Vec<String>,
    ring: VecDeque<i32>,
    ring_of_texts: VecDeque<String>,
    names: HashMap<String, u32>,
    chosen: HashSet<i32>,
    no_names: HashMap<String, u32>,
    tree: BTreeMap<i32, String>,
    big: BTreeMap<u32, u64>,
    ordered: BTreeSet<String>,
    no_tree: BTreeMap<i32, i32>,
    boxed_slice: Box<[i32]>,
    boxed_text: Box<str>,
    rc: Rc<Point>,
    rc_text: Rc<str>,
    arc: Arc<String>,
    cell: Cell<i32>,
    refcell: RefCell<Vec<i32>>,
    mutex: Mutex<i32>,
    lock: RwLock<String>,
    atomic: AtomicU32,
    none: Option<i32>,
    no_box: Option<Box<Point>>,
    chain: LinkedList<i32>,
    heap: BinaryHeap<i32>,
    os: std::ffi::OsString,
    path: std::path::PathBuf,
    nested: HashMap<String, Vec<BTreeMap<String, String>>>,
}

static mut HELD: Option<Held> = None;

fn say(held: &Held) {
    println!("text\t{:?}", held.text);
    println!("no_text\t{:?}", held.no_text);
    println!("slice\t{:?}", held.slice);
    println!("numbers\t{:?}", held.numbers);
    println!("no_numbers\t{:?}", held.no_numbers);
    println!("part\t{:?}", held.part);
    println!("texts\t{:?}", held.texts);
    println!("ring\t{:?}", held.ring);
    println!("ring_of_texts\t{:?}", held.ring_of_texts);
    println!("names\t{:?}", held.names);
    println!("chosen\t{:?}", held.chosen.iter().collect::<Vec<_>>());
    println!("no_names\t{:?}", held.no_names);
    println!("tree\t{:?}", held.tree.iter().collect::<Vec<_>>());
    println!("big\t{:?}", held.big.iter().take(64).collect::<Vec<_>>());
    println!("ordered\t{:?}", held.ordered.iter().collect::<Vec<_>>());
    println!("no_tree\t{:?}", held.no_tree);
    println!("boxed_slice\t{:?}", held.boxed_slice);
    println!("boxed_text\t{:?}", held.boxed_text);
    println!("rc_text\t{:?}", held.rc_text);
    println!("arc\t{:?}", held.arc);
    println!("cell\t{:?}", held.cell.get());
    println!("refcell\t{:?}", held.refcell.borrow());
    println!("mutex\t{:?}", held.mutex.lock().unwrap());
    println!("lock\t{:?}", held.lock.read().unwrap());
    println!("atomic\t{:?}", held.atomic);
    println!("chain\t{:?}", held.chain);
    println!("heap\t{:?}", held.heap);
    println!("os\t{:?}", held.os);
    println!("path\t{:?}", held.path);
    println!("nested\t{:?}", held.nested);
    println!("ready");
}

fn main() {
    static PART: [u16; 3] = [7, 8, 9];
    let mut ring: VecDeque<i32> = (0..10).collect();
    for i in 0..6 {
        ring.pop_front();
        ring.push_back(100 + i);
    }
    let held = Held {
        text: "hello".to_string(),
        no_text: String::new(),
        slice: "a slice",
        numbers: vec![1, 2, 3],
        no_numbers: vec![],
        part: &PART,
        texts: vec!["one".into(), "two".into()],
        ring,
        ring_of_texts: ["p".to_string(), "q".to_string()].into_iter().collect(),
        names: [("alpha".to_string(), 1), ("beta".to_string(), 2), ("gamma".to_string(), 3)]
            .into_iter()
            .collect(),
        chosen: (0..50).map(|i| i * 3).collect(),
        no_names: HashMap::new(),
        tree: (0..5).map(|i| (i, format!("v{i}"))).collect(),
        big: (0..1000).map(|i| (i, i as u64 * 2)).collect(),
        ordered: ["b".to_string(), "a".to_string()].into_iter().collect(),
        no_tree: BTreeMap::new(),
        boxed_slice: vec![4, 5, 6].into_boxed_slice(),
        boxed_text: "boxed".into(),
        rc: Rc::new(Point { x: 3, y: 4 }),
        rc_text: Rc::from("shared"),
        arc: Arc::new("counted".into()),
        cell: Cell::new(5),
        refcell: RefCell::new(vec![6]),
        mutex: Mutex::new(8),
        lock: RwLock::new("locked".to_string()),
        atomic: AtomicU32::new(9),
        none: None,
        no_box: None,
        chain: [1, 2, 3].into_iter().collect(),
        heap: [3, 9, 4].into_iter().collect(),
        os: "os".into(),
        path: "/usr/share".into(),
        nested: [("k".to_string(), vec![BTreeMap::from([("a".to_string(), "b".to_string())])])]
            .into_iter()
            .collect(),
    };
    unsafe {
        HELD = Some(held);
        say((*std::ptr::addr_of!(HELD)).as_ref().unwrap());
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    unsafe {
        HELD = None;
    }
}
