//! What amounts of a tree are counted in.

use std::cmp::Ordering;

use evenhand_problem::Rational;

/// Rationals, or numbers that stand for them.
pub trait Amount: Clone + Default + Ord + From<Rational> {
    /// Adds another.
    fn add(&mut self, more: &Self);
    /// What is left of it beyond a part.
    #[must_use]
    fn beyond(&self, part: Rational) -> Self;
    /// So many times as much.
    #[must_use]
    fn times(&self, factor: &Rational) -> Self;
    /// The part that it is of a whole, which is not 0.
    #[must_use]
    fn over(&self, whole: &Rational) -> Self;
    /// Beside a rational.
    fn cmp_to(&self, other: &Rational) -> Ordering;
}

impl Amount for Rational {
    fn add(&mut self, more: &Self) {
        *self += more;
    }

    fn beyond(&self, part: Rational) -> Self {
        self - part
    }

    fn times(&self, factor: &Rational) -> Self {
        Self::from(self * factor)
    }

    fn over(&self, whole: &Rational) -> Self {
        Self::from(self / whole)
    }

    fn cmp_to(&self, other: &Rational) -> Ordering {
        self.cmp(other)
    }
}
