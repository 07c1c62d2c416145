//! Proportional and alpha fairness, with a second computation of roots.

use evenhand_exact::{Claim, Evidence, Share};
use evenhand_problem::Rational;
use rug::Integer;
use rug::ops::Pow;

use super::{Matrix, Plain, zero};

/// The number of decimal digits of the roots.
const DIGITS: u32 = 200;

fn whole_root(value: &Integer, index: u32) -> Option<Integer> {
    let (root, rest) = value.clone().root_rem(Integer::new(), index);
    rest.is_zero().then_some(root)
}

impl Plain<'_> {
    /// Returns `u_ni` by user and class. Without a share, all of them are 1.
    fn values(&self, share: Option<Share>) -> Option<Matrix> {
        match share {
            None => Some(vec![vec![Rational::from(1); self.p().n_servers()]; self.p().n_users()]),
            Some(share) => self.coefficients(share),
        }
    }

    /// Returns `U_n`, not divided by the weight.
    fn plain_level(&self, u: &Matrix, x: &Matrix, n: usize) -> Rational {
        u[n].iter().zip(&x[n]).map(|(u, x)| Rational::from(u * x)).sum()
    }

    /// Returns bounds of `w_n / U_n^alpha`, which are equal if alpha is whole. Returns `None` if `U_n` is 0.
    fn worth(&self, u: &Matrix, alpha: &Rational, n: usize) -> Option<[Rational; 2]> {
        if !self.cluster.active[n] {
            return Some([zero(), zero()]);
        }
        let level = self.plain_level(u, &self.x, n);
        (level > 0).then_some(())?;
        let (power, index) = (alpha.numer().to_u32()?, alpha.denom().to_u32()?);
        let weight = self.p().users()[n].weight();
        let of_level = Rational::from((&level).pow(i32::try_from(power).ok()?));
        if index == 1 {
            let exact = weight.clone() / of_level;
            return Some([exact.clone(), exact]);
        }
        // `w / U^(p/q) = (w^q / U^p)^(1/q)`. If the roots of numerator and denominator are whole, this number
        // is their quotient. Otherwise it is computed in integers, scaled by a power of ten.
        let inside = Rational::from(weight.pow(i32::try_from(index).ok()?)) / of_level;
        if let Some(exact) = whole_root(inside.numer(), index).zip(whole_root(inside.denom(), index)) {
            let exact = Rational::from(exact);
            return Some([exact.clone(), exact]);
        }
        let scale = Integer::from(10).pow(DIGITS);
        let inside = inside * Integer::from((&scale).pow(index));
        let (floor, ceil) = (inside.clone().floor(), inside.ceil());
        let low = floor.numer().clone().root(index);
        let (root, rest) = ceil.numer().clone().root_rem(Integer::new(), index);
        let high = if rest.is_zero() { root } else { root + 1u32 };
        Some([Rational::from((low, scale.clone())), Rational::from((high, scale))])
    }

    pub fn proportional(&self, claim: &Claim, holds: bool, tolerance: &Rational) -> Option<bool> {
        if claim.share.is_some_and(|share| share != Share::Generic) {
            return Some(false);
        }
        let alpha = claim.alpha.as_ref().filter(|alpha| **alpha > 0)?;
        let u = self.values(claim.share)?;
        if let Evidence::Nothing { user } = &claim.evidence {
            let has_nothing = self.cluster.active[*user] && self.plain_level(&u, &self.x, *user) <= 0;
            let nothing = has_nothing && self.leaves(*user);
            return Some(nothing && !holds && claim.margin.is_none());
        }
        let values = if let Evidence::Enclosed { values, .. } = &claim.evidence { &values[..] } else { &[] };
        let mut worths = self.users().map(|n| self.worth(&u, alpha, n)).collect::<Option<Vec<_>>>()?;
        let whole = *alpha.denom() == 1;
        for n in self.active() {
            match values.iter().find(|(of, _)| *of == n) {
                // The bounds computed here have some 200 digits.
                Some((_, ends)) => {
                    let is_so = ends[0] > 0 && ends[0] <= worths[n][1] && worths[n][0] <= ends[1];
                    is_so.then_some(())?;
                    worths[n] = ends.clone();
                }
                None => whole.then_some(())?,
            }
        }
        let spent = |end: usize| -> Rational {
            self.users().map(|n| &worths[n][end] * self.plain_level(&u, &self.x, n)).sum()
        };
        let (margin, yes) = match claim.evidence.bare() {
            Evidence::Prices(prices) => {
                let most = |n: usize, i: usize| Rational::from(&worths[n][1] * &u[n][i]);
                let gap = self.gap(&prices.rows, &prices.users, &most, &spent(0))?;
                ((!self.active().is_empty()).then(|| -(gap / spent(0))), true)
            }
            Evidence::Better(tasks) => {
                let y = self.other(tasks)?;
                let gain = |n: usize| {
                    let more = self.plain_level(&u, &y.x, n) - self.plain_level(&u, &self.x, n);
                    let end = usize::from(more < 0);
                    more * &worths[n][end]
                };
                let gain: Rational = self.users().map(gain).sum();
                let end = usize::from(gain > 0);
                (Some(-(gain / spent(end))), false)
            }
            _ => return None,
        };
        let within = margin.as_ref().is_none_or(|margin| *margin >= Rational::from(-tolerance));
        Some(margin == claim.margin && within == holds && yes == holds)
    }
}
