//! The number types in which amounts of a tree are counted.

use std::cmp::Ordering;

use evenhand_problem::Rational;

/// A number type for amounts: rational numbers, or a type that represents them.
pub trait Amount: Clone + Default + Ord + From<Rational> {
    /// Adds another amount.
    fn add(&mut self, more: &Self);
    /// Returns the difference from a smaller amount `part`.
    #[must_use]
    fn beyond(&self, part: Rational) -> Self;
    /// Returns the amount multiplied by a factor.
    #[must_use]
    fn times(&self, factor: &Rational) -> Self;
    /// Returns the amount divided by `whole`, which is not 0.
    #[must_use]
    fn over(&self, whole: &Rational) -> Self;
    /// Compares the amount with a rational number.
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
