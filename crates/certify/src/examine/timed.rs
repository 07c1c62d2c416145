//! Examination of an allocation within a time limit.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evenhand_budget::{Limits, handle, within};
use evenhand_exact::Axiom;
use evenhand_problem::{Allocation, Problem, Rational};

use super::{
    CertifyError, Examination, Optima, Request, Results, Undecided, certificate, examine, is_about_limits,
};
use crate::self_test::self_test_within;

/// The stack size of the thread that searches for evidence: 64 MiB. It is large because the proofs of whole tasks are
/// trees that are walked recursively.
const STACK: usize = 1 << 26;
/// The fraction of the time that is reserved for the kernel. The kernel takes less time than the search for the
/// evidence that it checks.
const KERNEL_FRACTION: f64 = 0.25;

/// Examines an allocation like [`certify`](super::certify), but within a time limit. Axioms that are still undecided
/// when the time is up are reported as not checked.
///
/// The search runs on a separate thread. If a solver does not notice that the time is up, this thread keeps running
/// until the process ends. The kernel judges the results in the remaining time, which is at least a quarter. If the
/// kernel has no verdict in time, [`Examination::unchecked`] says so.
///
/// # Errors
/// The same errors as [`certify`](super::certify).
pub fn certify_within(
    time: Duration,
    problem: &Arc<Problem>,
    allocation: &Arc<Allocation>,
    requests: &[Request],
    tolerance: &Rational,
) -> Result<Examination, CertifyError> {
    let begun = Instant::now();
    let search_time = time.mul_f64(1.0 - KERNEL_FRACTION);
    let found = Arc::new(Mutex::new(Results::default()));
    let (sender, receiver) = channel();
    let run = {
        let (problem, allocation, found) = (Arc::clone(problem), Arc::clone(allocation), Arc::clone(&found));
        let (requests, tolerance, limits) = (requests.to_vec(), tolerance.clone(), handle());
        move || {
            let search = || examine(&problem, &allocation, &requests, &tolerance, &Optima::default(), &found);
            let timed = Limits { time: Some(search_time), ..Limits::default() };
            let ended = catch_unwind(AssertUnwindSafe(|| limits.enter(|| within(&timed, search))));
            // The receiver no longer exists if the time has run out.
            let _ = sender.send(ended);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.map_err(|error| CertifyError::Thread(error.to_string()))?;
    match receiver.recv_timeout(search_time) {
        Ok(Ok(Ok(examined))) => examined?,
        // A limit of the whole command was reached, or the search panicked.
        Ok(Err(payload)) => resume_unwind(payload),
        // The time was up. The search may have noticed it or not.
        Ok(Ok(Err(_))) | Err(_) => {}
    }
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let late = late(&found, requests).into_iter();
    let late = late.map(|axiom| (usize::MAX, axiom, Undecided::Late { seconds: time.as_secs_f64() }));
    found.undecided.extend(late);
    let examination = certificate(problem, allocation, tolerance, found);
    let left = time.saturating_sub(begun.elapsed());
    Ok(examination.tested(|text, sharing| self_test_within(text, sharing, left))?)
}

/// Returns the requested axioms that have no answer.
fn late(found: &Results, requests: &[Request]) -> Vec<Axiom> {
    let answered = found.answers.iter().map(|answer| answer.claim.axiom);
    let answered: Vec<Axiom> = answered.chain(found.undecided.iter().map(|(_, axiom, _)| *axiom)).collect();
    let asked = requests.iter().map(|request| request.axiom);
    asked
        .filter(|axiom| !answered.contains(axiom))
        .filter(|axiom| !found.infeasible || is_about_limits(*axiom))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examine::Answer;
    use evenhand_exact::Claim;

    #[test]
    fn axioms_without_an_answer_are_listed_as_late() {
        let asked = [Axiom::Feasible, Axiom::EnvyFree, Axiom::ParetoOptimal].map(Request::of);
        let claim = Claim::not_applicable(Axiom::EnvyFree, None, "for this test");
        let answers = vec![Answer { position: 0, claim, in_tasks: None }];
        let undecided = vec![(1, Axiom::ParetoOptimal, Undecided::NoShare)];
        let mut found = Results { answers, ..Results::default() };
        assert_eq!(late(&found, &asked), [Axiom::Feasible, Axiom::ParetoOptimal]);
        found.undecided = undecided;
        assert_eq!(late(&found, &asked), [Axiom::Feasible]);
        // For an infeasible allocation, no other axiom is examined.
        let infeasible = Results { infeasible: true, ..Results::default() };
        assert_eq!(late(&infeasible, &asked), [Axiom::Feasible]);
    }
}
