//! What an answer is worth, in rational arithmetic.

use evenhand_exact::axiom::{njc, proportional};
use evenhand_exact::{Instance, Tasks};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use super::contenders::Answer;
use super::reference::{Reference, exact};

/// The verdict on an answer. Numbers are exact ones, rounded once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// `max_i |x_i - x*_i| / x*_i`.
    pub error: f64,
    /// The margin of the axiom `njc`, in tasks; a resource whose use differs from its capacity
    /// counts as used up within that difference. `None` when the numbers cannot be examined.
    pub njc_margin: Option<f64>,
    /// The `eps` that the answer's own prices prove, raised until they prove something; `None` where
    /// a method has no prices or they prove nothing.
    pub gap: Option<f64>,
}

/// Judges by the exact value of every floating-point number.
pub(super) fn judge(problem: &Problem, reference: &Reference, answer: &Answer) -> Judgement {
    let x: Vec<Rational> = answer.x.iter().map(|&x| exact(x)).collect();
    let errors = x.iter().zip(&reference.x).map(|(x, right)| Rational::from(x / right) - 1u32);
    let error = errors.map(Rational::abs).max().unwrap_or_default();
    let tasks: Tasks = x.into_iter().map(|x| if x.is_zero() { Vec::new() } else { vec![(0, x)] }).collect();
    let allocation = Allocation { tasks, ..Allocation::empty(0, Sharing::default()) };
    let Ok(instance) = Instance::new(problem, &allocation) else {
        return Judgement { error: to_f64(&error), njc_margin: None, gap: None };
    };
    let njc_margin = njc::examine(&instance).map(|examined| to_f64(&examined.margin));
    let gap = answer.prices.as_ref().and_then(|(rows, users)| {
        let rational = |prices: &[f64]| prices.iter().map(|&p| exact(p.max(0.0))).collect::<Vec<_>>();
        let one = Rational::from(1);
        let lifted = proportional::lift_prices(&instance, &one, None, &rational(rows), &rational(users))?;
        proportional::gap(&instance, &one, None, &lifted).ok()
    });
    Judgement { error: to_f64(&error), njc_margin, gap: gap.as_ref().map(to_f64) }
}
