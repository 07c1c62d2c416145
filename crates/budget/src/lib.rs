//! Limits on the cost of computations.
//!
//! A small file can state a problem that would occupy a solver for days or fill the memory. Code whose cost
//! may be out of proportion to the length of its input charges the cost *before* it does the work. [`charge`]
//! charges steps of work, whose number is the same on every machine. [`hold`] charges the bytes of a table.
//! [`within`] sets the limits, and returns [`Exceeded`] if a charge exceeds one of them.
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
//! Outside [`within`] there are no limits, and charges have no effect.
//!
//! A charge that exceeds a limit unwinds the stack up to [`within`] without printing a panic message.
//! Incremental compilers cancel queries in the same way. The many modules between [`charge`] and [`within`]
//! therefore need no errors for limits. As for any panic, code between the two must not leave a shared state
//! that would be wrong after unwinding.
//!
//! The limits belong to the thread that called [`within`]. Code that runs work on other threads passes a
//! [`handle`] to them, or charges all of the work before it starts. [`each`] runs work on other threads if
//! this saves time.

#![forbid(unsafe_code)]

mod limits;
mod meter;

use rayon::prelude::*;

pub use limits::{Exceeded, Kind, Limits};
pub use meter::{
    Handle, Held, charge, exceeded, handle, hold, is_late, operations, read, room, spent, table, within,
    words_of_bits, work_left,
};

/// The number of visits above which work is split across threads. A visit of a class, a row or a similar
/// entry takes 0.1 to a few microseconds. Passing work to another thread takes about 50 microseconds, and
/// about the same time again while that thread waits for more work. The first time, the threads must also be
/// started.
const FOR_THREADS: usize = 4096;

/// Returns the number of items (mostly users) above which another thread saves time, if each item takes
/// `visits` visits.
#[must_use]
pub const fn for_a_thread(visits: usize) -> usize {
    FOR_THREADS.div_ceil(if visits == 0 { 1 } else { visits })
}

/// Calls `of` for each index below `count`, and returns the results in order. The work is split across
/// threads if all items together take many visits. `of` must not charge.
pub fn each<T: Send>(count: usize, visits: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count < for_a_thread(visits) {
        (0..count).map(of).collect()
    } else {
        (0..count).into_par_iter().map(&of).collect()
    }
}

/// Calls `of` for each item of a list as [`each`] does. Items are passed by value.
pub fn each_of<I: Send, T: Send>(given: Vec<I>, visits: usize, of: impl Fn(I) -> T + Sync) -> Vec<T> {
    if given.len() < for_a_thread(visits) {
        given.into_iter().map(of).collect()
    } else {
        given.into_par_iter().map(&of).collect()
    }
}

/// Calls both functions, and returns their results. The second function runs on another thread if it takes
/// many visits. Neither function may charge.
pub fn both<A: Send, B: Send>(
    visits: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if visits < FOR_THREADS { (a(), b()) } else { rayon::join(a, b) }
}

/// Defines structs of settings. Each struct has a constant with its defaults: `Name as CONSTANT { field: type
/// = default; }`.
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

        /// The default settings.
        pub const $defaults: $name = $name { $($field: $value,)* };
    )*};
}
