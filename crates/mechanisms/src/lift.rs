//! The loop that lifts floating-point results to exact answers.
//!
//! A floating-point result proves nothing, but it tells which constraints hold with equality at an optimum or a fixed
//! point. Such an active set turns the conditions into equations, which are solved in rational numbers (docs/theory.md,
//! section 3, fact 4; section 4). An exact test of all conditions then decides whether the solution is an answer. The
//! right active set depends on which small numbers count as zero, so several candidates are tried. `njc`, `fisher`,
//! `ps_dsf` and `fair_sum::polish` share this loop, each with its own candidates, solver and exact test.

use evenhand_problem::Rational;

/// The record of a search in which every candidate was refused.
#[derive(Debug)]
pub struct Refused<C, E> {
    /// The distinct candidates, in the order in which they were tried.
    pub candidates: Vec<C>,
    /// The reason why each candidate was refused.
    pub reasons: Vec<E>,
}

/// Solves the candidates in turn and returns the first exact answer, or else the answer with the smallest gap.
///
/// The judge returns an answer with the gap that it proves. A gap of 0 ends the search. Candidates that equal an
/// earlier one are skipped.
///
/// # Errors
/// Returns [`Refused`] if no candidate led to an answer.
pub fn lift<C: PartialEq, S, A, E>(
    candidates: impl IntoIterator<Item = C>,
    mut solve: impl FnMut(&C) -> Result<S, E>,
    mut judge: impl FnMut(S) -> Result<(A, Rational), E>,
) -> Result<A, Refused<C, E>> {
    let mut refused = Refused { candidates: Vec::new(), reasons: Vec::new() };
    let mut best: Option<(A, Rational)> = None;
    for candidate in candidates {
        if refused.candidates.contains(&candidate) {
            continue;
        }
        match solve(&candidate).and_then(&mut judge) {
            Ok((answer, gap)) if gap.is_zero() => return Ok(answer),
            Ok((answer, gap)) => {
                if best.as_ref().is_none_or(|(_, least)| gap < *least) {
                    best = Some((answer, gap));
                }
            }
            Err(reason) => refused.reasons.push(reason),
        }
        refused.candidates.push(candidate);
    }
    best.map(|(answer, _)| answer).ok_or(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least_gap(gaps: &[Result<u32, &'static str>]) -> Result<u32, Vec<&'static str>> {
        let judge = |gap| Ok((gap, Rational::from(gap)));
        lift(gaps.iter().copied(), |candidate| *candidate, judge).map_err(|refused| refused.reasons)
    }

    #[test]
    fn the_first_exact_answer_ends_the_search() {
        assert_eq!(least_gap(&[Err("a"), Ok(3), Ok(0), Ok(1)]), Ok(0));
        assert_eq!(least_gap(&[Ok(3), Ok(2), Err("a"), Ok(2)]), Ok(2));
        assert_eq!(least_gap(&[Err("a"), Err("b"), Err("a")]), Err(vec!["a", "b"]));
    }
}
