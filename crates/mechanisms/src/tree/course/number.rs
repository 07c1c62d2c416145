//! Numbers of the course: pairs of doubles, with the exact values only where they are needed.
//!
//! The numbers of a long course have thousands of digits, and few decisions depend on all of these digits.
//! Doubles usually show which event is next, and a number on which no decision depends is never computed
//! exactly. A number stores its operation and the two operands until its exact value is computed.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};
use std::rc::Rc;

use evenhand_budget::{charge, words_of_bits};
use evenhand_exact::tree::Amount;
use evenhand_problem::Rational;

use super::approx::Approx;
use super::fraction::Fraction;

/// The budget steps of an operation for each word of its operands. The value was measured on products of some
/// hundred words. Sums need fewer steps, because only products search for common factors.
const STEPS_OF_A_WORD: u64 = 30;
/// The total bits of numerator and denominator up to which results are computed at once, because storing the
/// operands would take as long. The value is small in tests, which have few long numbers.
const SHORT: u32 = if cfg!(test) { 16 } else { 256 };

/// A number. A copy shares its value.
#[derive(Clone)]
pub(super) struct Number(Rc<Inner>);

struct Inner {
    /// The approximate value. It is always present while the exact value is not.
    approx: Cell<Option<Approx>>,
    /// The exact value, or empty until it is computed.
    exact: OnceCell<ExactValue>,
    /// The operation and its operands, or `None` once the exact value is computed.
    made: Cell<Option<(Operation, Number, Number)>>,
}

/// An exact value.
enum ExactValue {
    /// A value of few bits, in lowest terms.
    Short(Rational),
    /// A value of many bits, not necessarily in lowest terms.
    Long(Fraction),
}

/// An operation on two numbers.
#[derive(Clone, Copy)]
enum Operation {
    Sum,
    Difference,
    Product,
    Quotient,
}

/// Returns the number of bits of a rational.
fn width(x: &Rational) -> u32 {
    x.numer().significant_bits() + x.denom().significant_bits()
}

impl Operation {
    fn approx(self, a: Approx, b: Approx) -> Approx {
        match self {
            Self::Sum => a + b,
            Self::Difference => a - b,
            Self::Product => a * b,
            Self::Quotient => a / b,
        }
    }

    fn exactly(self, a: &Rational, b: &Rational) -> Rational {
        match self {
            Self::Sum => Rational::from(a + b),
            Self::Difference => Rational::from(a - b),
            Self::Product => Rational::from(a * b),
            Self::Quotient => Rational::from(a / b),
        }
    }

    fn of_long(self, a: &Fraction, b: &Fraction) -> ExactValue {
        match self {
            Self::Sum => a.plus(b).into(),
            Self::Difference => a.minus(b).into(),
            Self::Product => ExactValue::Long(a.times(b)),
            Self::Quotient => ExactValue::Long(a.times(&b.inverse())),
        }
    }
}

impl ExactValue {
    fn fraction(&self) -> Cow<'_, Fraction> {
        match self {
            Self::Short(x) => Cow::Owned(x.clone().into()),
            Self::Long(x) => Cow::Borrowed(x),
        }
    }

    fn width(&self) -> u32 {
        match self {
            Self::Short(x) => width(x),
            Self::Long(x) => x.width(),
        }
    }

    fn approx(&self) -> Approx {
        match self {
            Self::Short(x) => Approx::of(x),
            Self::Long(x) => x.approx(),
        }
    }

    fn cmp0(&self) -> Ordering {
        match self {
            Self::Short(x) => x.cmp0(),
            Self::Long(x) => x.cmp0(),
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        Self::of(Operation::Difference, self, other).cmp0()
    }

    fn of(how: Operation, a: &Self, b: &Self) -> Self {
        match (a, b) {
            (Self::Short(a), Self::Short(b)) => how.exactly(a, b).into(),
            _ => how.of_long(&a.fraction(), &b.fraction()),
        }
    }
}

impl From<Result<Rational, Fraction>> for ExactValue {
    fn from(exact: Result<Rational, Fraction>) -> Self {
        exact.map_or_else(Self::Long, Self::from)
    }
}

impl From<Rational> for ExactValue {
    fn from(x: Rational) -> Self {
        if width(&x) <= SHORT { Self::Short(x) } else { Self::Long(x.into()) }
    }
}

impl Number {
    /// Returns the approximate value.
    pub fn approx(&self) -> Approx {
        self.0.approx.get().unwrap_or_else(|| {
            let approx = self.exact().approx();
            self.0.approx.set(Some(approx));
            approx
        })
    }

    /// Returns the exact value, computing it if necessary.
    fn exact(&self) -> &ExactValue {
        self.evaluate(true);
        self.0.exact.get_or_init(|| ExactValue::Short(Rational::new()))
    }

    /// Returns the exact value as a rational.
    pub fn exactly(&self) -> Rational {
        match self.exact() {
            ExactValue::Short(x) => x.clone(),
            ExactValue::Long(x) => x.reduced(),
        }
    }

    /// Returns the exact value without charging the budget, for a caller whose time may be up.
    pub fn exactly_uncharged(&self) -> Rational {
        self.evaluate(false);
        self.exactly()
    }

    /// Computes the exact value, after the exact values of all numbers on which it depends. An explicit stack
    /// replaces recursion, which could be too deep.
    fn evaluate(&self, is_charged: bool) {
        if self.0.exact.get().is_some() {
            return;
        }
        let mut open = vec![self.clone()];
        while let Some(number) = open.last() {
            let Some((how, a, b)) = number.0.made.take() else {
                open.pop();
                continue;
            };
            if let (Some(x), Some(y)) = (a.0.exact.get(), b.0.exact.get()) {
                let (exact, words) =
                    (ExactValue::of(how, x, y), words_of_bits(u64::from(x.width() + y.width())));
                number.0.approx.set(Some(exact.approx()));
                number.0.exact.get_or_init(|| exact);
                open.pop();
                // Charging may end the computation, so it comes after the value is stored.
                if is_charged {
                    charge(words.saturating_mul(STEPS_OF_A_WORD), "hierarchical filling");
                }
            } else {
                let of = [a.clone(), b.clone()];
                number.0.made.set(Some((how, a, b)));
                open.extend(of.into_iter().filter(|of| of.0.exact.get().is_none()));
            }
        }
    }

    /// Replaces the approximate value by a more accurate value, if the new value is finite.
    pub fn refine_approx(&self, approx: Approx) {
        if self.0.exact.get().is_none() && approx.range().0.is_finite() {
            self.0.approx.set(Some(approx));
        }
    }

    /// Returns whether two numbers share their value. Equal numbers need not share it.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Compares the number with 0.
    pub fn cmp0(&self) -> Ordering {
        self.approx().cmp0().unwrap_or_else(|| self.exact().cmp0())
    }

    /// Returns whether the exact value is already known to be 0.
    pub fn is_nothing(&self) -> bool {
        self.short().is_some_and(Rational::is_zero)
    }

    /// Returns the exact value if it is already known and short.
    pub fn short(&self) -> Option<&Rational> {
        if let ExactValue::Short(x) = self.0.exact.get()? { Some(x) } else { None }
    }

    fn times_short(&self, factor: Rational) -> Self {
        if factor == 1 { self.clone() } else { self * &factor.into() }
    }

    /// Compares two numbers that are known multiples of the same number, without exact values.
    fn cmp_multiple(&self, other: &Self) -> Option<Ordering> {
        let own = |x: &Self| x.multiple().unwrap_or_else(|| (x.clone(), Rational::from(1)));
        let ((of, times), (of_other, other)) = (own(self), own(other));
        of.is(&of_other).then(|| match times.cmp(&other) {
            Ordering::Equal => Ordering::Equal,
            Ordering::Greater => of.cmp0(),
            Ordering::Less => of.cmp0().reverse(),
        })
    }

    /// Returns the number of which this number is a short multiple, and the factor. Returns `None` if the
    /// exact value is computed already.
    fn multiple(&self) -> Option<(Self, Rational)> {
        let made = self.0.made.take()?;
        let of = match &made {
            (Operation::Product, of, times) => times.short().map(|times| (of.clone(), times.clone())),
            _ => None,
        };
        self.0.made.set(Some(made));
        of
    }

    fn of(how: Operation, a: &Self, b: &Self) -> Self {
        match how {
            Operation::Sum if a.is_nothing() => return b.clone(),
            Operation::Sum | Operation::Difference if b.is_nothing() => return a.clone(),
            Operation::Product if b.is_nothing() => return b.clone(),
            Operation::Product | Operation::Quotient if a.is_nothing() => return a.clone(),
            _ => {}
        }
        if let (Some(x), Some(y)) = (a.short(), b.short()) {
            return how.exactly(x, y).into();
        }
        let approx = how.approx(a.approx(), b.approx());
        let made = Cell::new(Some((how, a.clone(), b.clone())));
        Self(Rc::new(Inner { approx: Cell::new(Some(approx)), exact: OnceCell::new(), made }))
    }
}

impl Drop for Inner {
    /// Drops the operands iteratively. A number may be the last owner of a chain of thousands of numbers, for
    /// which recursion would be too deep.
    fn drop(&mut self) {
        let mut open: Vec<_> = self.made.take().into_iter().collect();
        while let Some((_, a, b)) = open.pop() {
            open.extend([a, b].into_iter().filter_map(|of| Rc::into_inner(of.0)?.made.take()));
        }
    }
}

impl From<Rational> for Number {
    fn from(x: Rational) -> Self {
        let (approx, made) = (Cell::new(None), Cell::new(None));
        Self(Rc::new(Inner { approx, exact: OnceCell::from(ExactValue::from(x)), made }))
    }
}

thread_local! {
    /// The shared 0 of a thread. Most numbers of a course are 0, and allocating each 0 would cost more than
    /// computing with it.
    static NOTHING: Number = Rational::new().into();
}

impl Default for Number {
    fn default() -> Self {
        NOTHING.with(Clone::clone)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is(other) {
            return Ordering::Equal;
        }
        if let (Some(x), Some(y)) = (self.short(), other.short()) {
            return x.cmp(y);
        }
        let order = self.approx().cmp(other.approx()).or_else(|| self.cmp_multiple(other));
        order.unwrap_or_else(|| self.exact().cmp(other.exact()))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

macro_rules! operators {
    ($($trait:ident $name:ident $how:ident;)*) => {$(
        impl $trait for &Number {
            type Output = Number;

            fn $name(self, other: Self) -> Number {
                Number::of(Operation::$how, self, other)
            }
        }
    )*};
}

operators! {
    Add add Sum;
    Sub sub Difference;
    Mul mul Product;
    Div div Quotient;
}

impl Amount for Number {
    fn add(&mut self, more: &Self) {
        *self = &*self + more;
    }

    fn beyond(&self, part: Rational) -> Self {
        if part.is_zero() { self.clone() } else { self - &part.into() }
    }

    fn times(&self, factor: &Rational) -> Self {
        if *factor == 1 || self.is_nothing() {
            return self.clone();
        }
        if let Some(x) = self.short() {
            return Rational::from(x * factor).into();
        }
        // A multiple of a multiple is stored as one multiple, so that `cmp_multiple` can compare them.
        match self.multiple() {
            Some((of, times)) if times != 0 => of.times_short(Rational::from(&times * factor)),
            _ => self.times_short(factor.clone()),
        }
    }

    fn over(&self, whole: &Rational) -> Self {
        self.short().map_or_else(|| self.times(&whole.clone().recip()), |x| Rational::from(x / whole).into())
    }

    fn cmp_to(&self, other: &Rational) -> Ordering {
        if let Some(x) = self.short() {
            return x.cmp(other);
        }
        self.approx().cmp(Approx::of(other)).unwrap_or_else(|| self.exact().cmp(&other.clone().into()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns numbers of which each is computed from earlier numbers, with the same values in rationals.
    fn made(first: &[(i64, u64, u32)], steps: &[(usize, usize, usize)]) -> Vec<(Number, Rational)> {
        let given = |(of, over, more): &(i64, u64, u32)| {
            let x = (Rational::from(*of) << *more) / *over + Rational::from((1, 3));
            (Number::from(x.clone()), x)
        };
        let mut all: Vec<(Number, Rational)> = first.iter().map(given).collect();
        for (how, i, j) in steps {
            let ((a, x), (b, y)) = (&all[i % all.len()], &all[j % all.len()]);
            all.push(match how % 5 {
                0 => (a + b, Rational::from(x + y)),
                1 => (a - b, Rational::from(x - y)),
                2 => (a * b, Rational::from(x * y)),
                3 => (a.times(&Rational::from((7, 5))), x * Rational::from((7, 5))),
                _ if y.is_zero() => continue,
                _ => (a / b, Rational::from(x / y)),
            });
        }
        all
    }

    proptest! {
        #[test]
        fn numbers_agree_with_rationals(
            first in prop::collection::vec((-1_000_000_i64..1_000_000, 1_u64..1_000_000, 0..400_u32), 1..6),
            steps in prop::collection::vec((0..5_usize, 0..40_usize, 0..40_usize), 0..40),
            asked in prop::collection::vec((0..40_usize, 0..40_usize), 1..20),
        ) {
            let all = made(&first, &steps);
            for (a, x) in &all {
                let (least, most) = a.approx().range();
                prop_assert!(Rational::from_f64(least).is_none_or(|least| least <= *x));
                prop_assert!(Rational::from_f64(most).is_none_or(|most| *x <= most));
            }
            for (i, j) in asked {
                let ((a, x), (b, y)) = (&all[i % all.len()], &all[j % all.len()]);
                prop_assert_eq!(a.cmp(b), x.cmp(y));
                prop_assert_eq!(a.cmp0(), x.cmp0());
                prop_assert_eq!(a.cmp_to(y), x.cmp(y));
                prop_assert!(&(a + b) - b == *a);
            }
            for (a, x) in &all {
                prop_assert_eq!(&a.exactly(), x);
                prop_assert_eq!(&a.exactly_uncharged(), x);
            }
        }
    }

    /// Checks that long chains of operations are evaluated and dropped without deep recursion.
    #[test]
    fn long_chains_are_evaluated_and_dropped() {
        let third = Number::from(Rational::from((1, 3)) << 300);
        let long = |steps: u32| (0..steps).fold(third.clone(), |sum, _| &sum + &third);
        drop(long(1_000_000));
        assert_eq!(long(100_000).exactly(), Rational::from((100_001, 3)) << 300);
    }
}
