//! What is left, and who counts it.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::{Exceeded, Kind, Limits};

/// Steps between two looks at the clock: about a millisecond.
const STEPS_BETWEEN_LOOKS: u64 = 100_000;

/// What a computation has spent of its limits.
#[derive(Debug)]
struct Meter {
    limits: Limits,
    work: AtomicU64,
    memory: AtomicU64,
    /// Bytes that have been read.
    input: AtomicU64,
    /// Work at which the clock is looked at again.
    next_look: AtomicU64,
    end: Option<Instant>,
    /// The meter around it, which pays too.
    outer: Option<Arc<Meter>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Meter>>> = const { RefCell::new(None) };
}

fn current() -> Option<Arc<Meter>> {
    CURRENT.with_borrow(Clone::clone)
}

/// The innermost limits first.
fn in_force() -> impl Iterator<Item = Arc<Meter>> {
    std::iter::successors(current(), |meter| meter.outer.clone())
}

/// Ends the computation: [`within`] catches it.
fn end(meter: &Arc<Meter>, what: &str, kind: Kind) -> ! {
    resume_unwind(Box::new(Ended {
        meter: Arc::clone(meter),
        exceeded: Exceeded { what: what.to_owned(), kind },
    }))
}

/// Which limit was reached, if that is what unwound a thread or was caught on the way to [`within`].
#[must_use]
pub fn exceeded(payload: &(dyn Any + Send)) -> Option<&Exceeded> {
    payload.downcast_ref::<Ended>().map(|ended| &ended.exceeded)
}

/// What unwinds.
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
            // A sum that has gone round would begin to grant again.
            self.work.store(limit, Ordering::Relaxed);
            end(self, what, Kind::Work { limit });
        }
        if let Some(moment) = self.end
            && spent >= self.next_look.load(Ordering::Relaxed)
        {
            self.next_look.store(spent.saturating_add(STEPS_BETWEEN_LOOKS), Ordering::Relaxed);
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

/// Runs `computation` within the limits, and within those that are in force already.
///
/// # Errors
/// [`Exceeded`] with the limit that was reached first.
pub fn within<T>(limits: &Limits, computation: impl FnOnce() -> T) -> Result<T, Exceeded> {
    let meter = Arc::new(Meter {
        limits: *limits,
        work: AtomicU64::new(0),
        memory: AtomicU64::new(0),
        input: AtomicU64::new(0),
        next_look: AtomicU64::new(0),
        end: limits.time.and_then(|time| Instant::now().checked_add(time)),
        outer: current(),
    });
    let handle = Handle(Some(Arc::clone(&meter)));
    // What an unwinding leaves behind is dropped with the closure: the caller sees none of it.
    match catch_unwind(AssertUnwindSafe(|| handle.enter(computation))) {
        Ok(done) => Ok(done),
        Err(payload) => match payload.downcast::<Ended>() {
            Ok(ended) if Arc::ptr_eq(&ended.meter, &meter) => Err(ended.exceeded),
            // The limits of somebody further out, or a panic.
            Ok(ended) => resume_unwind(ended),
            Err(panic) => resume_unwind(panic),
        },
    }
}

/// The limits in force, to be carried into another thread.
#[derive(Debug, Clone)]
pub struct Handle(Option<Arc<Meter>>);

/// The limits in force in this thread.
#[must_use]
pub fn handle() -> Handle {
    Handle(current())
}

impl Handle {
    /// Runs a part of the computation, in whatever thread, on the same limits.
    pub fn enter<T>(&self, part: impl FnOnce() -> T) -> T {
        let _restore = Restore(CURRENT.replace(self.0.clone()));
        part()
    }

    /// The steps and the bytes that may be taken after what has been read so far; `None` is no limit.
    #[must_use]
    pub fn limits(&self) -> (Option<u64>, Option<u64>) {
        let least = |limit: fn(&Meter) -> Option<u64>| {
            let all = std::iter::successors(self.0.clone(), |meter| meter.outer.clone());
            all.filter_map(|meter| limit(&meter)).min()
        };
        (least(Meter::work_limit), least(Meter::memory_limit))
    }

    /// Puts them in force in this thread for good: for threads that serve this computation alone.
    pub fn adopt(&self) {
        CURRENT.set(self.0.clone());
    }
}

/// Puts back what was in force, also when it is unwound.
struct Restore(Option<Arc<Meter>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Charges steps, some nanoseconds each, before they are taken; `what` is what they are taken for.
///
/// Unwinds to [`within`] where there are not so many left, or the time is up.
pub fn charge(steps: u64, what: &str) {
    CURRENT.with_borrow(|meter| {
        if let Some(meter) = meter {
            meter.charge(steps, what);
        }
    });
}

/// Says that so many bytes of input have been read: limits that grow with the input grow.
pub fn read(bytes: u64) {
    for meter in in_force() {
        meter.input.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Memory that is held, until it is dropped.
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

/// Holds so many bytes for a table that is about to be made; `what` is the table.
///
/// Unwinds to [`within`] where there are not so many left.
pub fn hold(bytes: u64, what: &str) -> Held {
    let meter = current();
    if let Some(meter) = &meter {
        meter.hold(bytes, what);
    }
    Held { meter, bytes }
}

/// Unwinds to [`within`] where so many bytes are more than are left; holds none of them.
pub fn room(bytes: u64, what: &str) {
    drop(hold(bytes, what));
}

/// Steps that have been charged to the innermost limits.
#[must_use]
pub fn spent() -> u64 {
    current().map_or(0, |meter| meter.work.load(Ordering::Relaxed))
}

/// Steps that are left, of all limits in force; `None` where there is no limit.
///
/// For solvers that count themselves: they get what is left as their own limit.
#[must_use]
pub fn work_left() -> Option<u64> {
    let left =
        |meter: Arc<Meter>| Some(meter.work_limit()?.saturating_sub(meter.work.load(Ordering::Relaxed)));
    in_force().filter_map(left).min()
}

/// Whether the time of any limits in force is up, for computations that can end with what they have.
#[must_use]
pub fn is_late() -> bool {
    in_force().any(|meter| meter.end.is_some_and(|end| Instant::now() >= end))
}

/// Charges so many operations on fractions of so many words of 64 bits: common factors are looked for, which grows
/// with the square of the width.
pub fn operations(count: u64, words: u64, what: &str) {
    let each = 20 + words.saturating_mul(4).saturating_add(words.saturating_mul(words) / 4);
    charge(count.saturating_mul(each), what);
}

/// Words of 64 bits that hold so many bits.
#[must_use]
pub fn words_of_bits(bits: u64) -> u64 {
    bits / 64 + 1
}

/// Charges a dense table before it is made: its bytes have to be free, and filling it takes a step an entry.
pub fn table(rows: usize, columns: usize, bytes_each: usize, what: &str) {
    let entries = (rows as u64).saturating_mul(columns as u64);
    room(entries.saturating_mul(bytes_each as u64), what);
    charge(entries, what);
}
