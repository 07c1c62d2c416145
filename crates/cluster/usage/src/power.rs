//! Powers of 1/2 with rational exponents, enclosed by rationals.
//!
//! Bounds are whole multiples of a power of two, and every product is rounded down for the lower bound and up for the
//! upper bound. The proof uses only that powers are monotone, and that the square root of a whole number can be rounded
//! exactly.

use evenhand_problem::Rational;
use rug::Integer;

/// A number that is at least `low` and at most `high`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Enclosure {
    /// A lower bound.
    pub low: Rational,
    /// An upper bound.
    pub high: Rational,
}

impl Enclosure {
    /// Returns the enclosure of a number that is known exactly. Both bounds equal the number.
    #[must_use]
    pub fn of(value: Rational) -> Self {
        Self { low: value.clone(), high: value }
    }

    /// Returns the number if it is known exactly. Returns `None` otherwise.
    #[must_use]
    pub fn exact(&self) -> Option<&Rational> {
        (self.low == self.high).then_some(&self.low)
    }

    /// Returns the difference between the two bounds.
    #[must_use]
    pub fn width(&self) -> Rational {
        Rational::from(&self.high - &self.low)
    }

    /// Returns the middle of the enclosure.
    #[must_use]
    pub fn middle(&self) -> Rational {
        Rational::from(&self.low + &self.high) / 2
    }

    /// Returns the sum of two numbers.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { low: Rational::from(&self.low + &other.low), high: Rational::from(&self.high + &other.high) }
    }

    /// Returns the product with a number of at least 0.
    #[must_use]
    pub fn times(&self, factor: &Rational) -> Self {
        debug_assert!(*factor >= 0);
        Self { low: Rational::from(&self.low * factor), high: Rational::from(&self.high * factor) }
    }

    /// Returns the quotient of two numbers that are at least 0. Returns `None` if the divisor may be 0.
    #[must_use]
    pub fn over(&self, divisor: &Self) -> Option<Self> {
        (divisor.low > 0).then(|| Self {
            low: Rational::from(&self.low / &divisor.high),
            high: Rational::from(&self.high / &divisor.low),
        })
    }
}

/// Bounds of a number as multiples of 2^-bits. The number of bits is not stored in this type, but passed to
/// each function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) low: Integer,
    pub(crate) high: Integer,
}

impl Fixed {
    pub(crate) fn one(bits: u32) -> Self {
        let one = Integer::from(1) << bits;
        Self { low: one.clone(), high: one }
    }

    pub(crate) fn zero() -> Self {
        Self { low: Integer::new(), high: Integer::new() }
    }

    /// Returns bounds of a rational of at least 0.
    pub(crate) fn of(value: &Rational, bits: u32) -> Self {
        let scaled = Rational::from(value << bits);
        Self { low: Integer::from(scaled.floor_ref()), high: Integer::from(scaled.ceil_ref()) }
    }

    pub(crate) fn enclosure(&self, bits: u32) -> Enclosure {
        let rational = |value: &Integer| Rational::from(value) >> bits;
        Enclosure { low: rational(&self.low), high: rational(&self.high) }
    }

    /// Returns the product of two numbers of at least 0.
    pub(crate) fn times(&self, other: &Self, bits: u32) -> Self {
        let mut low = Integer::from(&self.low * &other.low);
        low >>= bits;
        let mut high = Integer::from(&self.high * &other.high);
        shift_up(&mut high, bits);
        Self { low, high }
    }

    /// Returns the difference of this number and a smaller or equal number.
    pub(crate) fn minus(&self, smaller: &Self) -> Self {
        let low = Integer::from(&self.low - &smaller.high);
        Self {
            low: if low < 0 { Integer::new() } else { low },
            high: Integer::from(&self.high - &smaller.low),
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { low: Integer::from(&self.low + &other.low), high: Integer::from(&self.high + &other.high) }
    }
}

/// Divides a number by 2^bits and rounds up.
fn shift_up(value: &mut Integer, bits: u32) {
    let is_exact = value.is_divisible_2pow(bits);
    *value >>= bits;
    if !is_exact {
        *value += 1;
    }
}

/// The number of binary digits of an exponent that one table covers.
const DIGITS: u32 = 8;

/// Computes powers of 1/2 with bounds. The number of bits must be a multiple of 8.
#[derive(Debug)]
pub(crate) struct Powers {
    bits: u32,
    /// Bounds of 2^-(d / 256^group) for d from 0 to 255. There is a table for each group of 8 binary digits of the
    /// exponent, in the order of the digits after the point.
    tables: Vec<Vec<Fixed>>,
    /// A lower bound of 2^-(2^-bits), the factor for one unit of the last digit.
    last: Integer,
}

impl Powers {
    pub(crate) fn new(bits: u32) -> Self {
        let one = Integer::from(1) << bits;
        let half = Fixed { low: Integer::from(&one >> 1_u32), high: one >> 1_u32 };
        let mut root = half;
        let mut tables = Vec::new();
        for _ in 0..bits / DIGITS {
            // The repeated square roots of this group. The first root belongs to the highest digit of the group.
            let mut roots = Vec::new();
            for _ in 0..DIGITS {
                let low = (root.low << bits).sqrt();
                let (mut high, rest) = (root.high << bits).sqrt_rem(Integer::new());
                if rest != 0 {
                    high += 1;
                }
                root = Fixed { low, high };
                roots.push(root.clone());
            }
            let mut table = vec![Fixed::one(bits)];
            for digits in 1..1_usize << DIGITS {
                // The entry is the product of the entry without its lowest digit, and the root of this digit.
                let lowest = digits.trailing_zeros();
                let root = &roots[(DIGITS - 1 - lowest) as usize];
                table.push(table[digits & (digits - 1)].times(root, bits));
            }
            tables.push(table);
        }
        Self { bits, tables, last: root.low }
    }

    /// Returns bounds of 2^-exponent, for an exponent of at least 0.
    pub(crate) fn power(&self, exponent: &Rational) -> Fixed {
        let bits = self.bits;
        let scaled = Rational::from(exponent << bits);
        let floor = Integer::from(scaled.floor_ref());
        let is_exact = scaled.is_integer();
        let whole = Integer::from(&floor >> bits);
        let mut power = Fixed::one(bits);
        for (group, table) in self.tables.iter().enumerate() {
            let shifted = Integer::from(&floor >> (bits - DIGITS * (group as u32 + 1)));
            let digits = shifted.mod_u(1 << DIGITS) as usize;
            if digits != 0 {
                power = power.times(&table[digits], bits);
            }
        }
        if !is_exact {
            // The rest of the exponent is below 2^-bits. So the power decreases by a factor between `last`
            // and 1.
            power.low *= &self.last;
            power.low >>= bits;
        }
        match whole.to_u32() {
            Some(halvings) if halvings <= 2 * bits => {
                power.low >>= halvings;
                shift_up(&mut power.high, halvings);
                power
            }
            // The power is far smaller than 2^-bits.
            _ => Fixed { low: Integer::new(), high: Integer::from(1) },
        }
    }
}

/// Returns an enclosure of 2^-exponent whose bounds differ by at most `width`. For a whole exponent it is
/// exact.
///
/// # Panics
/// If the exponent is negative or the width is not above 0.
///
/// # Examples
/// ```
/// use evenhand_usage::power_of_half;
/// use rug::Rational;
///
/// let half = Rational::from((1, 2));
/// let root = power_of_half(&half, &Rational::from((1, 1_000_000)));
/// assert!(root.low.clone().square() <= half && root.high.clone().square() >= half);
/// assert_eq!(power_of_half(&Rational::from(3), &half).exact(), Some(&Rational::from((1, 8))));
/// ```
#[must_use]
pub fn power_of_half(exponent: &Rational, width: &Rational) -> Enclosure {
    assert!(*exponent >= 0 && *width > 0, "an exponent of at least 0 and a width above 0");
    let whole = exponent.numer().to_u32().filter(|halvings| exponent.is_integer() && *halvings <= 1 << 20);
    if let Some(halvings) = whole {
        return Enclosure::of(Rational::from(1) >> halvings);
    }
    let (numerator, denominator) = (width.numer().significant_bits(), width.denom().significant_bits());
    // The bounds differ by less than 10 (bits + 1) units of the last bit.
    let mut bits = (denominator.saturating_sub(numerator) + 24).next_multiple_of(DIGITS);
    loop {
        let found = Powers::new(bits).power(exponent).enclosure(bits);
        if found.width() <= *width {
            return found;
        }
        bits *= 2;
    }
}

/// Returns bounds of ln 2, computed as the sum of 1 / (k 2^k).
fn ln_2(bits: u32) -> Fixed {
    let one = Integer::from(1) << bits;
    let mut low = Integer::new();
    for k in 1..=bits {
        low += Integer::from(&one >> k) / k;
    }
    // Rounding lowers each term by less than 2 units of the last bit, and the sum of all later terms is less
    // than 1 unit.
    let high = Integer::from(&low + (2 * bits + 2));
    Fixed { low, high }
}

/// Returns an enclosure of 1 / ln 2 = 1.4426950... whose bounds differ by about 2^-bits.
#[must_use]
pub fn inverse_of_ln_2(bits: u32) -> Enclosure {
    let bits = bits + 16;
    let bounds = ln_2(bits).enclosure(bits);
    Enclosure { low: bounds.high.recip(), high: bounds.low.recip() }
}
