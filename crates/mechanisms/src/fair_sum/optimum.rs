//! The floating-point optimum of a sum of utilities, as a source of evidence about any allocation.

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

/// The largest gap, as a fraction of `sum_n w_n x_n^(1-a)`, at which prices are useful evidence about an allocation.
const CLOSE: (u32, u32) = (1, 1_000_000);

/// Returns the problem with identical users and classes merged, or `None` if some row is not a row of a
/// resource.
fn reduced<'p>(constraints: &Constraints<'p>, alpha: &Rational) -> Option<Reduced<'p>> {
    let is_time = |row: &Row| row.kind == RowKind::Time;
    let equals = if *alpha == 1 { Equals::ByWeight } else { Equals::ByRoot(alpha.clone()) };
    let problem = (!constraints.rows().iter().any(is_time)).then(|| constraints.problem())?;
    Reduced::new(problem, &equals, true)
}

/// The maximum of `sum_n w_n g_a(U_n)` in floating point.
///
/// All optima have the same totals and the same marginal utilities. Therefore the prices of one optimum also
/// prove that every other optimum is optimal.
#[derive(Debug, Clone)]
pub struct FairOptimum<'a> {
    constraints: &'a Constraints<'a>,
    alpha: &'a Rational,
    share: Option<&'a ShareCoefficients>,
    point: FairPoint,
}

impl<'a> FairOptimum<'a> {
    /// Computes the optimum for the exponent `alpha`, of tasks or of a share. Returns `None` if floating point fails.
    #[must_use]
    pub fn find(
        constraints: &'a Constraints<'a>,
        alpha: &'a Rational,
        share: Option<&'a ShareCoefficients>,
    ) -> Option<Self> {
        // The coefficients of a share belong to the original users, so users cannot be merged.
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

    /// Returns the prices of the optimum, raised if rounding made them too low for `instance`.
    #[must_use]
    pub fn prices(&self, instance: &Instance<'_>) -> Option<Prices> {
        prices_of(instance, self.alpha, self.share, &self.point)
    }

    /// Returns the prices of the optimum if they prove that `instance` is close to it.
    #[must_use]
    pub fn close_prices(&self, instance: &Instance<'_>) -> Option<Prices> {
        let prices = self.prices(instance)?;
        let gap = gap(instance, self.alpha, self.share, &prices).ok()?;
        let total = total_worth(instance, self.alpha, self.share).ok()?;
        (gap <= total * Rational::from(CLOSE)).then_some(prices)
    }

    /// Returns the prices of the exact optimum near the point, or else the best exact prices found. The objective
    /// counts tasks and ignores any share.
    #[must_use]
    pub fn exact_prices(&self) -> Option<Prices> {
        // A linear market has no limits on single buyers.
        let is_market = !self.constraints.problem().has_at_most();
        let exact = is_market.then(|| fisher::best(self.constraints, self.alpha, &self.point)).flatten();
        let exact = exact.filter(|found| found.gap.is_zero());
        exact.or_else(|| polish(self.constraints, self.alpha, &self.point)).map(|found| found.prices)
    }

    /// Returns the tasks of the optimum, rounded to a feasible allocation.
    #[must_use]
    pub fn tasks(&self) -> Vec<Vec<(usize, Rational)>> {
        rounding::feasible(self.constraints, self.point.tasks())
    }
}
