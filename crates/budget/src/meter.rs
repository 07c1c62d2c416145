//! Counts work and memory, and unwinds the stack if a limit is reached.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::{Exceeded, Kind, Limits};

/// The number of steps between two readings of the clock. They take about a millisecond.
const STEPS_BETWEEN_CLOCK_READS: u64 = 100_000;

/// The work and memory that a computation has used, and its limits.
#[derive(Debug)]
struct Meter {
    limits: Limits,
    work: AtomicU64,
    memory: AtomicU64,
    /// The number of bytes of input that have been read.
    input: AtomicU64,
    /// The number of steps after which the clock is read next.
    next_clock_read: AtomicU64,
    end: Option<Instant>,
    /// The meter of the enclosing [`within`]. All charges count for this meter too.
    outer: Option<Arc<Meter>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Meter>>> = const { RefCell::new(None) };
}

fn current() -> Option<Arc<Meter>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Returns the meters in force. The innermost meter comes first.
fn in_force() -> impl Iterator<Item = Arc<Meter>> {
    std::iter::successors(current(), |meter| meter.outer.clone())
}

/// Ends the computation by unwinding the stack. [`within`] catches the unwinding.
fn end(meter: &Arc<Meter>, what: &str, kind: Kind) -> ! {
    resume_unwind(Box::new(Ended {
        meter: Arc::clone(meter),
        exceeded: Exceeded { what: what.to_owned(), kind },
    }))
}

/// Returns the limit that was reached, if this limit is the reason why a thread was unwound. `payload` is the
/// error of [`catch_unwind`].
#[must_use]
pub fn exceeded(payload: &(dyn Any + Send)) -> Option<&Exceeded> {
    payload.downcast_ref::<Ended>().map(|ended| &ended.exceeded)
}

/// The payload with which a thread is unwound.
struct Ended {
    meter: Arc<Meter>,
    exceeded: Exceeded,
}

impl Meter {
    fn work_limit(&self) -> Option<u64> {
        self.limits.work_after(self.input.load(Ordering::Relaxed))
    }

    fn memory_limit(&self) -> Option<u64> {
        self.limits.memory_after(self.input.load(Ordering::Relaxed))
    }

    fn charge(self: &Arc<Self>, steps: u64, what: &str) {
        let before = self.work.fetch_add(steps, Ordering::Relaxed);
        let spent = before.saturating_add(steps);
        if let Some(limit) = self.work_limit()
            && spent > limit
        {
            // A counter that overflows would be within the limit again.
            self.work.store(limit, Ordering::Relaxed);
            end(self, what, Kind::Work { limit });
        }
        if let Some(moment) = self.end
            && spent >= self.next_clock_read.load(Ordering::Relaxed)
        {
            self.next_clock_read.store(spent.saturating_add(STEPS_BETWEEN_CLOCK_READS), Ordering::Relaxed);
            if Instant::now() >= moment {
                end(self, what, Kind::Time);
            }
        }
        if let Some(outer) = &self.outer {
            outer.charge(steps, what);
        }
    }

    fn hold(self: &Arc<Self>, bytes: u64, what: &str) {
        let before = self.memory.fetch_add(bytes, Ordering::Relaxed);
        if let Some(limit) = self.memory_limit() {
            let left = limit.saturating_sub(before);
            if bytes > left {
                self.memory.fetch_sub(bytes, Ordering::Relaxed);
                end(self, what, Kind::Memory { needed: bytes, left });
            }
        }
        if let Some(outer) = &self.outer {
            outer.hold(bytes, what);
        }
    }

    fn release(&self, bytes: u64) {
        self.memory.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(outer) = &self.outer {
            outer.release(bytes);
        }
    }
}

/// Runs `computation` within these limits and within all limits that are already in force.
///
/// # Errors
/// [`Exceeded`] with the limit that was reached first.
pub fn within<T>(limits: &Limits, computation: impl FnOnce() -> T) -> Result<T, Exceeded> {
    let meter = Arc::new(Meter {
        limits: *limits,
        work: AtomicU64::new(0),
        memory: AtomicU64::new(0),
        input: AtomicU64::new(0),
        next_clock_read: AtomicU64::new(0),
        end: limits.time.and_then(|time| Instant::now().checked_add(time)),
        outer: current(),
    });
    let handle = Handle(Some(Arc::clone(&meter)));
    // Unwinding drops all values that the closure owns, so the caller sees no incomplete state.
    match catch_unwind(AssertUnwindSafe(|| handle.enter(computation))) {
        Ok(done) => Ok(done),
        Err(payload) => match payload.downcast::<Ended>() {
            Ok(ended) if Arc::ptr_eq(&ended.meter, &meter) => Err(ended.exceeded),
            // A limit of an enclosing `within` was reached.
            Ok(ended) => resume_unwind(ended),
            Err(panic) => resume_unwind(panic),
        },
    }
}

/// The limits in force. They can be passed to another thread.
#[derive(Debug, Clone)]
pub struct Handle(Option<Arc<Meter>>);

/// Returns the limits in force in this thread.
#[must_use]
pub fn handle() -> Handle {
    Handle(current())
}

impl Handle {
    /// Runs a part of the computation within these limits. The part may run on any thread.
    pub fn enter<T>(&self, part: impl FnOnce() -> T) -> T {
        let _restore = Restore(CURRENT.replace(self.0.clone()));
        part()
    }

    /// Returns the limit of work in steps and the limit of memory in bytes, for the input that has been read
    /// so far. `None` stands for no limit.
    #[must_use]
    pub fn limits(&self) -> (Option<u64>, Option<u64>) {
        let least = |limit: fn(&Meter) -> Option<u64>| {
            let all = std::iter::successors(self.0.clone(), |meter| meter.outer.clone());
            all.filter_map(|meter| limit(&meter)).min()
        };
        (least(Meter::work_limit), least(Meter::memory_limit))
    }

    /// Puts the limits in force permanently in this thread. Only threads that work on no other computation
    /// should call this function.
    pub fn adopt(&self) {
        CURRENT.set(self.0.clone());
    }
}

/// A guard that restores the previous limits, also during unwinding.
struct Restore(Option<Arc<Meter>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Charges steps before they are taken. A step takes some nanoseconds. `what` describes the work.
///
/// Unwinds to [`within`] if fewer steps are left or the time limit is reached.
pub fn charge(steps: u64, what: &str) {
    CURRENT.with_borrow(|meter| {
        if let Some(meter) = meter {
            meter.charge(steps, what);
        }
    });
}

/// Reports that `bytes` bytes of input have been read. Limits that depend on the input grow accordingly.
pub fn read(bytes: u64) {
    for meter in in_force() {
        meter.input.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A charge of memory. Dropping this value releases the memory.
#[must_use = "what is dropped at once is held no longer; `room` says that this is meant"]
#[derive(Debug)]
pub struct Held {
    meter: Option<Arc<Meter>>,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(meter) = &self.meter {
            meter.release(self.bytes);
        }
    }
}

/// Charges the bytes of a table before the table is created. `what` describes the table.
///
/// Unwinds to [`within`] if fewer bytes are left.
pub fn hold(bytes: u64, what: &str) -> Held {
    let meter = current();
    if let Some(meter) = &meter {
        meter.hold(bytes, what);
    }
    Held { meter, bytes }
}

/// Unwinds to [`within`] if fewer than `bytes` bytes are left. The bytes are not charged.
pub fn room(bytes: u64, what: &str) {
    drop(hold(bytes, what));
}

/// Returns the number of steps that have been charged to the innermost limits.
#[must_use]
pub fn spent() -> u64 {
    current().map_or(0, |meter| meter.work.load(Ordering::Relaxed))
}

/// Returns the number of steps that are left under the strictest limit in force. Returns `None` if there is
/// no limit.
///
/// Solvers that count their own work use this number as their limit.
#[must_use]
pub fn work_left() -> Option<u64> {
    let left =
        |meter: Arc<Meter>| Some(meter.work_limit()?.saturating_sub(meter.work.load(Ordering::Relaxed)));
    in_force().filter_map(left).min()
}

/// Returns `true` if the time of any limit in force has passed. Computations that can return a partial result
/// call this function.
#[must_use]
pub fn is_late() -> bool {
    in_force().any(|meter| meter.end.is_some_and(|end| Instant::now() >= end))
}

/// Charges `count` operations on fractions with `words` words of 64 bits. Each operation computes a greatest
/// common divisor, whose cost grows with the square of the width.
pub fn operations(count: u64, words: u64, what: &str) {
    let each = 20 + words.saturating_mul(4).saturating_add(words.saturating_mul(words) / 4);
    charge(count.saturating_mul(each), what);
}

/// Returns the number of 64-bit words that are needed for `bits` bits.
#[must_use]
pub fn words_of_bits(bits: u64) -> u64 {
    bits / 64 + 1
}

/// Charges a dense table before it is created. Its bytes must be available, and one step is charged for each
/// entry.
pub fn table(rows: usize, columns: usize, bytes_each: usize, what: &str) {
    let entries = (rows as u64).saturating_mul(columns as u64);
    room(entries.saturating_mul(bytes_each as u64), what);
    charge(entries, what);
}
