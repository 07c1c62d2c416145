//! How a user looks at bundles: their worth to it in integers.

use evenhand_problem::Problem;
use rug::ops::DivRounding;
use rug::{Integer, Rational};

use crate::instance::Instance;
use crate::quotient::{Quotient, absorb, scaled};

/// `(margin L, user, envied)`: the least of them is what is looked for.
pub(super) type Candidate = (Quotient, usize, usize);

/// `1 / w_m` in integers.
pub(super) struct InverseWeights {
    pub values: Vec<Integer>,
    /// Their common denominator, `Wl`.
    pub scale: Integer,
}

impl InverseWeights {
    pub fn new(problem: &Problem) -> Self {
        let inverse: Vec<Rational> =
            problem.users().iter().map(|user| user.weight().clone().recip()).collect();
        let mut scale = Integer::from(1);
        for value in &inverse {
            absorb(&mut scale, value.denom());
        }
        Self { values: inverse.iter().map(|value| scaled(value, &scale)).collect(), scale }
    }
}

/// How a user counts: bundle values are integers `S` with `v L = S / scale`.
///
/// Values, task limits and margins all carry the common denominator `L` of the allocation, which is
/// the wide number of an exact answer and cancels from every comparison.
pub(super) struct Viewer {
    /// `Wl Lcm / w_n`.
    scale: Rational,
    /// `x_n L`.
    total: Integer,
    /// `T_n L`.
    pub tasks: Option<Quotient>,
    /// `g_n`.
    unit: Rational,
}

impl Viewer {
    /// `lcm`: what the user's inverse demands are multiplied by.
    pub fn new(instance: &Instance<'_>, weights: &InverseWeights, n: usize, lcm: &Integer) -> Self {
        let user = &instance.problem().users()[n];
        let scale = Integer::from(&weights.scale * lcm);
        let limit = |tasks: &Rational| {
            Quotient::new(Integer::from(tasks.numer() * &instance.denominator), tasks.denom().clone())
        };
        Self {
            scale: Rational::from(user.weight().recip_ref()) * scale,
            total: instance.totals[n].clone(),
            tasks: user.tasks().map(limit),
            unit: instance.scale(n).clone(),
        }
    }

    /// `S / scale`.
    pub fn value(&self, sum: &Integer) -> Quotient {
        Quotient::new(Integer::from(sum * self.scale.denom()), self.scale.numer().clone())
    }

    /// The largest integer `S` with `S / scale <= value`.
    pub fn floor(&self, value: &Quotient) -> Integer {
        let numerator = Integer::from(&value.numerator * self.scale.numer());
        numerator.div_floor(Integer::from(&value.denominator * self.scale.denom()))
    }

    /// The least integer `S` with `S / scale >= value`.
    pub fn ceil(&self, value: &Quotient) -> Integer {
        let numerator = Integer::from(&value.numerator * self.scale.numer());
        numerator.div_ceil(Integer::from(&value.denominator * self.scale.denom()))
    }

    /// `(x_n - other) L`, given `other L`.
    pub fn lead(&self, other: &Quotient) -> Quotient {
        let numerator = Integer::from(&self.total * &other.denominator) - &other.numerator;
        Quotient::new(numerator, other.denominator.clone())
    }

    /// A margin in tasks, times whatever it is multiplied by.
    pub fn in_tasks(&self, margin: &Quotient) -> Quotient {
        let Quotient { numerator, denominator } = margin;
        Quotient::new(
            Integer::from(numerator * self.unit.numer()),
            Integer::from(denominator * self.unit.denom()),
        )
    }

    /// `(x_n - min(T_n, v)) L / g_n`, given `v L`.
    pub fn margin(&self, value: &Quotient) -> Quotient {
        let Quotient { numerator, denominator } = match &self.tasks {
            Some(tasks) if tasks < value => self.lead(tasks),
            _ => self.lead(value),
        };
        Quotient::new(numerator * self.unit.denom(), denominator * self.unit.numer())
    }
}
