//! The two kinds of numbers in which sweeps, water filling and Algorithm I run: doubles and rationals.

use std::cmp::Ordering;
use std::fmt::Debug;

use evenhand_problem::Rational;
use evenhand_problem::number::near;

/// A number: `f64`, or [`Rational`] without rounding.
pub trait Scalar: Clone + Debug + PartialEq + PartialOrd {
    /// The minimum number of bytes that a number takes on the heap.
    const HEAP: u64;
    /// Returns 0.
    fn zero() -> Self;
    /// Converts a rational to the number, or to the nearest number.
    fn of(value: &Rational) -> Self;
    /// Returns `self + other`.
    fn plus(&self, other: &Self) -> Self;
    /// Returns `self - other`.
    fn minus(&self, other: &Self) -> Self;
    /// Returns `self * other`.
    fn times(&self, other: &Self) -> Self;
    /// Returns `self / other`, where `other` must not be 0.
    fn over(&self, other: &Self) -> Self;
    /// Returns the length of the number in bits, or 0 if all numbers are equally long.
    fn bits(&self) -> usize;
    /// Returns whether two numbers are equal. Doubles count as equal if they differ by at most `tolerance`
    /// times the larger one.
    fn same(&self, other: &Self, tolerance: f64) -> bool;

    /// Compares two numbers. NaN counts as equal, but no operation here produces it.
    fn order(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).unwrap_or(Ordering::Equal)
    }

    /// Returns whether the number is greater than 0.
    fn is_positive(&self) -> bool {
        *self > Self::zero()
    }

    /// Computes `self += a * b`.
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
    // The numerator and the denominator have one word each, with the allocator's overhead.
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
