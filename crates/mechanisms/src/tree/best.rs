//! How well a task suits what is left of a server.

use evenhand_problem::Rational;

/// The mismatch `H` (DRFH, equation 9) of a task and what is left of a server, both by resource as parts of what all
/// servers have together, over the first resource that the task asks for; `None` where nothing is left of that.
pub fn mismatch(demand: &[Rational], left: &[Rational], total: &[Rational]) -> Option<Rational> {
    let first = demand.iter().position(|d| *d > 0)?;
    if left[first].is_zero() || total[first].is_zero() {
        return None;
    }
    let over_first = |amounts: &[Rational], r: usize| {
        Rational::from(&amounts[r] / &total[r]) * &total[first] / &amounts[first]
    };
    let there = (0..total.len()).filter(|r| !total[*r].is_zero());
    Some(there.map(|r| (over_first(demand, r) - over_first(left, r)).abs()).sum())
}
