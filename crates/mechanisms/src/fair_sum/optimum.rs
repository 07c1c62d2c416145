//! The floating-point optimum of a fair sum as a source of evidence about any allocation.

use evenhand_exact::axiom::proportional::{gap, total_worth};
use evenhand_exact::{Instance, Prices, ShareCoefficients};
use evenhand_problem::{Constraints, Rational, Row, RowKind, Sharing};

use super::FairPoint;
use super::ladder::Objective;
use super::polish::polish;
use crate::equals::Equals;
use crate::proportional::prices_of;
use crate::reduced::Reduced;
use crate::{fisher, rounding};

/// Gap, as a part of `sum_n w_n x_n^(1-a)`, up to which prices tell something about an allocation.
const CLOSE: (u32, u32) = (1, 1_000_000);

/// The problem in which users and classes that are alike are one, where all rows are of resources.
fn reduced<'p>(constraints: &Constraints<'p>, alpha: &Rational) -> Option<Reduced<'p>> {
    let is_time = |row: &Row| row.kind == RowKind::Time;
    let equals = if *alpha == 1 { Equals::ByWeight } else { Equals::ByRoot(alpha.clone()) };
    let problem = (!constraints.rows().iter().any(is_time)).then(|| constraints.problem())?;
    Reduced::new(problem, &equals, true)
}

/// The greatest `sum_n w_n g_a(U_n)` that floating point finds. Totals and marginal utilities of an
/// optimum are unique, so that the prices of one prove any other.
#[derive(Debug, Clone)]
pub struct FairOptimum<'a> {
    constraints: &'a Constraints<'a>,
    alpha: &'a Rational,
    share: Option<&'a ShareCoefficients>,
    point: FairPoint,
}

impl<'a> FairOptimum<'a> {
    /// The optimum for the exponent `alpha`, of tasks or of a share; `None` where floating point fails.
    #[must_use]
    pub fn find(
        constraints: &'a Constraints<'a>,
        alpha: &'a Rational,
        share: Option<&'a ShareCoefficients>,
    ) -> Option<Self> {
        // A share has coefficients for users as they are given.
        let reduced = if share.is_none() { reduced(constraints, alpha) } else { None };
        let point = match reduced {
            Some(reduced) => {
                let small = Constraints::new(reduced.problem(), Sharing::Rdm);
                reduced.point(Objective { constraints: &small, alpha, share }.first().ok()?)
            }
            None => Objective { constraints, alpha, share }.first().ok()?,
        };
        Some(Self { constraints, alpha, share, point })
    }

    /// Its prices, raised where rounding has left them too low for `instance`.
    #[must_use]
    pub fn prices(&self, instance: &Instance<'_>) -> Option<Prices> {
        prices_of(instance, self.alpha, self.share, &self.point)
    }

    /// Its prices, if they prove that `instance` is close to the optimum.
    #[must_use]
    pub fn close_prices(&self, instance: &Instance<'_>) -> Option<Prices> {
        let prices = self.prices(instance)?;
        let gap = gap(instance, self.alpha, self.share, &prices).ok()?;
        let total = total_worth(instance, self.alpha, self.share).ok()?;
        (gap <= total * Rational::from(CLOSE)).then_some(prices)
    }

    /// The prices of the exact optimum near it, or of the best that was found; of tasks alone.
    #[must_use]
    pub fn exact_prices(&self) -> Option<Prices> {
        let exact = fisher::best(self.constraints, self.alpha, &self.point);
        let exact = exact.filter(|found| found.gap.is_zero());
        exact.or_else(|| polish(self.constraints, self.alpha, &self.point)).map(|found| found.prices)
    }

    /// Its tasks, rounded so that they fit.
    #[must_use]
    pub fn tasks(&self) -> Vec<Vec<(usize, Rational)>> {
        rounding::feasible(self.constraints, self.point.tasks())
    }
}
