// SPDX-License-Identifier: MIT
/// What std::hint::black_box is since Rust 1.66; Debian 12 has 1.63.
#[inline(never)]
fn black_box<T>(value: T) -> T {
    unsafe {
        let copy = std::ptr::read_volatile(&value);
        std::mem::forget(value);
        copy
    }
}
