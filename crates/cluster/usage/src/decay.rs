//! Decay factors: the fraction of a usage that still counts after some time.

use std::collections::HashMap;

use evenhand_problem::Rational;

use crate::formulas::slurm_second;
use crate::power::{Fixed, Powers};
use crate::time::NANOSECONDS;

/// Computes the factor by which usage decays in a time. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Decay {
    pub(crate) bits: u32,
    kind: Kind,
    /// The factors that were computed so far, with the time as the key.
    known: HashMap<i64, Fixed>,
}

#[derive(Debug)]
enum Kind {
    /// The factor is 2^(-t / half-life).
    Half { powers: Box<Powers>, half_life: i64 },
    /// The factor of one second, of two seconds, of four seconds and so on. The factor of any number of seconds is a
    /// product of these factors.
    Second(Vec<Fixed>),
    /// Usage does not decay, so the factor is 1.
    None,
}

impl Decay {
    /// Returns the ideal decay: the factor is a half after every half-life.
    pub(crate) fn half(half_life: i64, bits: u32) -> Self {
        let kind = Kind::Half { powers: Box::new(Powers::new(bits)), half_life };
        Self { bits, kind, known: HashMap::new() }
    }

    /// Returns the decay of Slurm's source: a factor of 1 - .693 / h for each whole second.
    pub(crate) fn second(half_life: i64, bits: u32) -> Self {
        let mut square = Fixed::of(&slurm_second(half_life), bits);
        let mut squares = Vec::new();
        // Times have fewer than 2^34 seconds.
        for _ in 0..34 {
            squares.push(square.clone());
            square = square.times(&square, bits);
        }
        Self { bits, kind: Kind::Second(squares), known: HashMap::new() }
    }

    /// Returns the decay under which usage does not decay.
    pub(crate) fn none(bits: u32) -> Self {
        Self { bits, kind: Kind::None, known: HashMap::new() }
    }

    /// Returns `true` if usage does not decay.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.kind, Kind::None)
    }

    /// Returns the factor after a time of at least 0. Slurm's decay counts only whole seconds.
    pub(crate) fn after(&mut self, time: i64) -> Fixed {
        debug_assert!(time >= 0);
        if let Some(known) = self.known.get(&time) {
            return known.clone();
        }
        let factor = match &self.kind {
            Kind::Half { powers, half_life } => powers.power(&Rational::from((time, *half_life))),
            Kind::Second(squares) => {
                let seconds = time / NANOSECONDS;
                let set = squares.iter().enumerate().filter(|(at, _)| seconds >> at & 1 == 1);
                set.fold(Fixed::one(self.bits), |product, (_, square)| product.times(square, self.bits))
            }
            Kind::None => Fixed::one(self.bits),
        };
        self.known.insert(time, factor.clone());
        factor
    }
}
