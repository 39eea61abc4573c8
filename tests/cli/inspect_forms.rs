// SPDX-License-Identifier: MIT
//
// Rust enums in several forms; up to "ready", then until a character comes.
use std::io::Read;

#[derive(Clone)]
pub struct Point {
    x: i32,
    y: i32,
}
pub enum Shape {
    Dot,
    Circle(f64),
    Line(Point, Point),
    Box { low: Point, high: Point },
    Inner(Point),
}

#[inline(never)]
fn look(five: Option<i32>, none: Option<i32>, point: &Option<Point>) -> i32 {
    five.unwrap_or(0) + none.unwrap_or(0) + point.as_ref().map_or(0, |p| p.x)
}

#[inline(never)]
fn hold(
    five: Option<u8>,
    none: Option<u8>,
    point: Option<Point>,
    nested: Option<Option<u16>>,
    boxed: Option<Box<Point>>,
    no_box: Option<Box<Point>>,
    list: Option<Vec<i32>>,
    text: Result<String, i32>,
    bad: Result<String, i32>,
    shapes: [Shape; 5],
    referred: &Option<Point>,
) -> usize {
    println!("ready");
    std::io::stdin().read(&mut [0]).unwrap()
        + five.is_some() as usize
        + none.is_some() as usize
        + point.is_some() as usize
        + nested.is_some() as usize
        + boxed.is_some() as usize
        + no_box.is_some() as usize
        + list.map_or(0, |l| l.len())
        + text.is_ok() as usize
        + bad.is_ok() as usize
        + shapes.len()
        + referred.is_some() as usize
}

fn main() {
    let p = Point { x: 1, y: 2 };
    let q = Point { x: 3, y: 4 };
    println!("{}", look(Some(5), None, &Some(p.clone())));
    let shapes = [
        Shape::Dot,
        Shape::Circle(2.5),
        Shape::Line(p.clone(), q.clone()),
        Shape::Box { low: p.clone(), high: q.clone() },
        Shape::Inner(q.clone()),
    ];
    hold(
        Some(5),
        None,
        Some(p.clone()),
        Some(Some(7)),
        Some(Box::new(q.clone())),
        None,
        Some(vec![1, 2, 3]),
        Ok("fine".to_string()),
        Err(-3),
        shapes,
        &Some(q.clone()),
    );
}
