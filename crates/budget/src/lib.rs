//! What a computation may cost.
//!
//! A small file can state a problem that would keep a solver busy for days or fill the memory. Whatever may cost
//! much more than its place in the file is charged here *before* it is done: [`charge`] takes steps, which are the
//! same on every machine, and [`hold`] takes the bytes of a table. [`within`] says how much there is; what exceeds
//! it ends there as an [`Exceeded`].
//!
//! ```
//! use evenhand_budget::{Limits, charge, within};
//!
//! let limits = Limits { work: Some(1_000), ..Limits::default() };
//! let sum = |most: u64| (0..most).inspect(|_| charge(1, "the sum")).sum::<u64>();
//! assert_eq!(within(&limits, || sum(1_000)), Ok(499_500));
//! let error = within(&limits, || sum(1_001)).unwrap_err();
//! assert!(error.to_string().starts_with("the sum is too large"));
//! ```
//!
//! Outside [`within`] charging does nothing, so that a library's user who sets no limits has none.
//!
//! A charge that exceeds a limit unwinds the stack up to [`within`] without a panic's message, as incremental
//! compilers cancel queries: seventy files need no error of their own for it, and no state survives that was half
//! built inside. Code between the two must therefore hold nothing that would be wrong after an unwinding, as with
//! any panic.
//!
//! The limits belong to the thread that called [`within`]. Whoever hands parts of the work to other threads takes a
//! [`handle`] along, or charges all of it before. [`each`] hands on what is worth it.

#![forbid(unsafe_code)]

mod limits;
mod meter;

use rayon::prelude::*;

pub use limits::{Exceeded, Kind, Limits};
pub use meter::{
    Handle, Held, charge, exceeded, handle, hold, is_late, operations, read, room, spent, table, within,
    words_of_bits, work_left,
};

/// Looks at a class, a row or the like, of some tenths of a microsecond to some microseconds each, from which threads share
/// them: handing work to another thread takes some 50 microseconds, as much again while that waits for more, and the first
/// time threads have to be made.
const FOR_THREADS: usize = 4096;

/// How many places (users, mostly) are worth handing to another thread, where each takes so many looks.
#[must_use]
pub const fn for_a_thread(looks: usize) -> usize {
    FOR_THREADS.div_ceil(if looks == 0 { 1 } else { looks })
}

/// What is found of each place by so many looks, in their order; threads share it where together these are many. It may not
/// charge.
pub fn each<T: Send>(count: usize, looks: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count < for_a_thread(looks) {
        (0..count).map(of).collect()
    } else {
        (0..count).into_par_iter().map(&of).collect()
    }
}

/// [`each`] of what is given away.
pub fn each_of<I: Send, T: Send>(given: Vec<I>, looks: usize, of: impl Fn(I) -> T + Sync) -> Vec<T> {
    if given.len() < for_a_thread(looks) {
        given.into_iter().map(of).collect()
    } else {
        given.into_par_iter().map(&of).collect()
    }
}

/// Both, the second by another thread where it takes so many looks. Neither may charge.
pub fn both<A: Send, B: Send>(
    looks: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if looks < FOR_THREADS { (a(), b()) } else { rayon::join(a, b) }
}

/// Structs of settings, each with a constant of its defaults: `Name as CONSTANT { field: type = default; }`.
#[macro_export]
macro_rules! settings {
    ($($(#[$about:meta])* $name:ident as $defaults:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $value:expr;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        /// The defaults.
        pub const $defaults: $name = $name { $($field: $value,)* };
    )*};
}
