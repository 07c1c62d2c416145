//! The division of one resource by raising the lowest level.

use std::cmp::Reverse;

use evenhand_problem::Rational;

/// A participant of the division.
pub struct Claim {
    /// The amount that counts for the level of the claim before the division. The level is `(base + gain) / weight`.
    pub base: Rational,
    /// The weight of the claim, positive.
    pub weight: Rational,
    /// The maximum gain, or `None` for any amount.
    pub room: Option<Rational>,
}

/// Raises the lowest levels together until `left` is used up or every claim has its maximum. Returns the gain of each
/// claim and the amount that is left.
pub fn raise(claims: &[Claim], mut left: Rational) -> (Vec<Rational>, Rational) {
    // The levels at which a claim starts to grow (`true`) or has its maximum (`false`).
    let mut marks: Vec<(Rational, bool, usize)> = Vec::new();
    for (k, claim) in claims.iter().enumerate() {
        let level = |amount: &Rational| Rational::from(amount / &claim.weight);
        if claim.room.as_ref().is_some_and(|room| *room <= 0) {
            continue;
        }
        marks.push((level(&claim.base), true, k));
        if let Some(room) = &claim.room {
            marks.push((level(&Rational::from(&claim.base + room)), false, k));
        }
    }
    marks.sort_by(|a, b| b.cmp(a));
    let mut growing = Rational::new();
    let mut level = Rational::new();
    while let Some((next, joins, k)) = marks.last() {
        let needed = Rational::from(next - &level) * &growing;
        if needed >= left && growing > 0 {
            break;
        }
        left -= needed;
        level.clone_from(next);
        if *joins {
            growing += &claims[*k].weight;
        } else {
            growing -= &claims[*k].weight;
        }
        marks.pop();
    }
    if growing > 0 {
        level += left / growing;
        left = Rational::new();
    }
    let gain = |claim: &Claim| {
        let gain = Rational::from(&level * &claim.weight) - &claim.base;
        let most = claim.room.clone().into_iter().fold(gain, Rational::min);
        most.max(Rational::new())
    };
    (claims.iter().map(gain).collect(), left)
}

/// Gives whole units to the claims with the largest remainders: one unit each, or the remainder if it is less than a
/// unit. Claims with equal remainders are served in the order of the list.
pub fn by_largest_remainder(
    remainders: Vec<(usize, Rational)>,
    left: &mut Rational,
    mut give: impl FnMut(usize, Rational),
) {
    let mut order = remainders;
    order.sort_by_key(|(k, remainder)| (Reverse(remainder.clone()), *k));
    for (k, _) in order {
        if *left <= 0 {
            return;
        }
        let unit = Rational::from(1).min(left.clone());
        *left -= &unit;
        give(k, unit);
    }
}
