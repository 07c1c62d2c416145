//! Sums of rationals that are reduced only at the end.
//!
//! Most denominators of one answer divide the same number. Few terms therefore need a greatest common
//! divisor, which takes many times as long as adding the term.

use rug::{Integer, Rational};

/// Several sums over one common denominator.
#[derive(Debug, Clone)]
pub struct Sums {
    numerators: Vec<Integer>,
    denominator: Integer,
}

impl Sums {
    /// Creates `count` sums with the value 0.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { numerators: vec![Integer::new(); count], denominator: Integer::from(1) }
    }

    /// Creates one sum for each number, with the value of the number.
    #[must_use]
    pub fn of(numbers: &[Rational]) -> Self {
        let denominator = numbers.iter().fold(Integer::from(1), |all, number| all.lcm(number.denom()));
        let over_all = |x: &Rational| Integer::from(denominator.div_exact_ref(x.denom())) * x.numer();
        Self { numerators: numbers.iter().map(over_all).collect(), denominator }
    }

    /// Returns all sums multiplied by a factor.
    #[must_use]
    pub fn times(mut self, factor: &Rational) -> Self {
        self.numerators.iter_mut().for_each(|numerator| *numerator *= factor.numer());
        self.denominator *= factor.denom();
        self
    }

    /// Makes the common denominator a multiple of `denominator`. Returns the factor for a numerator over
    /// `denominator`, or `None` if the factor is 1.
    fn include(&mut self, denominator: &Integer) -> Option<Integer> {
        if self.denominator == *denominator {
            return None;
        }
        if !self.denominator.is_divisible(denominator) {
            let multiple = Integer::from(self.denominator.lcm_ref(denominator));
            let times = Integer::from(multiple.div_exact_ref(&self.denominator));
            self.numerators.iter_mut().for_each(|numerator| *numerator *= &times);
            self.denominator = multiple;
        }
        Some(self.denominator.div_exact_ref(denominator).into())
    }

    /// Adds `long * short` to the first sum. The denominator of `short`, such as a user's rate, often divides the
    /// numerator of `long`. Common factors are cancelled first, since otherwise the common denominator would become
    /// a multiple of all these denominators.
    pub fn add_product(&mut self, long: &Rational, short: &Rational) {
        if *short.denom() == 1 {
            return self.add_over(long.numer(), short.numer(), long.denom());
        }
        let shared = Integer::from(long.numer().gcd_ref(short.denom()));
        let denominator = Integer::from(short.denom().div_exact_ref(&shared)) * long.denom();
        self.add_over(&Integer::from(long.numer().div_exact_ref(&shared)), short.numer(), &denominator);
    }

    /// Adds `a * b / denominator` to the first sum.
    pub fn add_over(&mut self, a: &Integer, b: &Integer, denominator: &Integer) {
        let times = self.include(denominator);
        if let Some(sum) = self.numerators.first_mut() {
            match times {
                Some(times) => *sum += &(times * a) * b,
                None => *sum += a * b,
            }
        }
    }

    /// Adds every sum of `more` to the sum at the same position.
    pub fn add(&mut self, more: &Self) {
        let times = self.include(&more.denominator);
        for (sum, more) in self.numerators.iter_mut().zip(&more.numerators) {
            match &times {
                Some(times) => *sum += times * more,
                None => *sum += more,
            }
        }
    }

    /// Returns the number of bits of the longest numerator and of the denominator together, before they are
    /// reduced.
    #[must_use]
    pub fn bits(&self) -> u32 {
        let longest = self.numerators.iter().map(Integer::significant_bits).max().unwrap_or(0);
        longest + self.denominator.significant_bits()
    }

    /// Returns the first sum.
    #[must_use]
    pub fn first(self) -> Rational {
        self.rationals().next().unwrap_or_default()
    }

    /// Returns all sums, reduced.
    pub fn rationals(self) -> impl Iterator<Item = Rational> {
        let Self { numerators, denominator } = self;
        numerators.into_iter().map(move |numerator| Rational::from((numerator, denominator.clone())))
    }
}
