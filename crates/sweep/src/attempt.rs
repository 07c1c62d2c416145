//! Computing one line within its own limits.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use evenhand_budget::{Limits, exceeded, handle, within};

use crate::fault::Fault;

/// Computes within these limits, which the threads of the pool in which it runs serve too. A panic is a fault of this line.
pub fn attempt<T: Send>(limits: &Limits, work: impl FnOnce() -> Result<T, Fault> + Send) -> Result<T, Fault> {
    let outside = handle();
    let done = catch_unwind(AssertUnwindSafe(|| {
        within(limits, || {
            let inside = handle();
            rayon::broadcast(|_| inside.adopt());
            work()
        })
    }));
    rayon::broadcast(|_| outside.adopt());
    match done {
        Ok(Ok(done)) => done,
        Ok(Err(exceeded)) => Err(exceeded.into()),
        // The limits of somebody further out.
        Err(payload) if exceeded(&*payload).is_some() => resume_unwind(payload),
        Err(payload) => {
            let words = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(Fault::defect(words.unwrap_or_else(|| "it stopped without a word".to_owned())))
        }
    }
}
