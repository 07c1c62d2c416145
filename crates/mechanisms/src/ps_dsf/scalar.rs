//! The two kinds of numbers in which sweeps, water filling and Algorithm I run: doubles and rationals.

use std::cmp::Ordering;
use std::fmt::Debug;

use evenhand_problem::Rational;
use evenhand_problem::number::near;

/// A number: `f64`, or [`Rational`] without rounding.
pub trait Scalar: Clone + Debug + PartialEq + PartialOrd {
    /// Bytes that a number takes elsewhere, at the least.
    const HEAP: u64;
    /// 0.
    fn zero() -> Self;
    /// The number itself, or the nearest that there is.
    fn of(value: &Rational) -> Self;
    /// `self + other`
    fn plus(&self, other: &Self) -> Self;
    /// `self - other`
    fn minus(&self, other: &Self) -> Self;
    /// `self * other`
    fn times(&self, other: &Self) -> Self;
    /// `self / other`; `other` is not 0.
    fn over(&self, other: &Self) -> Self;
    /// Length of the number, 0 where all are equally long.
    fn bits(&self) -> usize;
    /// Equal: exactly, or but for `tolerance` of the larger one.
    fn same(&self, other: &Self, tolerance: f64) -> bool;

    /// Order; NaN, which no step makes, counts as equal.
    fn order(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).unwrap_or(Ordering::Equal)
    }

    /// Whether it exceeds 0.
    fn is_positive(&self) -> bool {
        *self > Self::zero()
    }

    /// `self += a * b`
    fn add_product(&mut self, a: &Self, b: &Self) {
        *self = self.plus(&a.times(b));
    }
}

impl Scalar for f64 {
    const HEAP: u64 = 0;
    fn zero() -> Self {
        0.0
    }
    fn of(value: &Rational) -> Self {
        near(value)
    }
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    fn minus(&self, other: &Self) -> Self {
        self - other
    }
    fn times(&self, other: &Self) -> Self {
        self * other
    }
    fn over(&self, other: &Self) -> Self {
        self / other
    }
    fn bits(&self) -> usize {
        0
    }
    fn same(&self, other: &Self, tolerance: f64) -> bool {
        (self - other).abs() <= tolerance * self.abs().max(other.abs())
    }
}

impl Scalar for Rational {
    // Two words of their own, each with what the allocator adds.
    const HEAP: u64 = 64;
    fn zero() -> Self {
        Self::new()
    }
    fn of(value: &Rational) -> Self {
        value.clone()
    }
    fn plus(&self, other: &Self) -> Self {
        Self::from(self + other)
    }
    fn minus(&self, other: &Self) -> Self {
        Self::from(self - other)
    }
    fn times(&self, other: &Self) -> Self {
        Self::from(self * other)
    }
    fn over(&self, other: &Self) -> Self {
        Self::from(self / other)
    }
    fn bits(&self) -> usize {
        (self.numer().significant_bits() + self.denom().significant_bits()) as usize
    }
    fn same(&self, other: &Self, _tolerance: f64) -> bool {
        self == other
    }
}
