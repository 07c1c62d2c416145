//! Amounts of few of the resources.

use rug::Integer;

/// `(r, amount)` of the resources of which the amount is not 0, ascending.
pub(crate) type Amounts = Vec<(usize, Integer)>;

/// The amount of resource `r`; `None` where it is 0.
pub(crate) fn amount_of(amounts: &[(usize, Integer)], r: usize) -> Option<&Integer> {
    // Most have all resources, or lack the last ones.
    if let Some((_, amount)) = amounts.get(r).filter(|(at, _)| *at == r) {
        return Some(amount);
    }
    let at = amounts.binary_search_by_key(&r, |(r, _)| *r).ok()?;
    Some(&amounts[at].1)
}
