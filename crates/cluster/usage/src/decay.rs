//! Factors by which usage has shrunk after some time.

use std::collections::HashMap;

use evenhand_problem::Rational;

use crate::formulas::slurm_second;
use crate::power::{Fixed, Powers};
use crate::time::NANOSECONDS;

/// The factor by which usage shrinks in a time, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Decay {
    pub(crate) bits: u32,
    kind: Kind,
    /// The factors computed so far, by time.
    known: HashMap<i64, Fixed>,
}

#[derive(Debug)]
enum Kind {
    /// 2^(-t / half-life).
    Half { powers: Box<Powers>, half_life: i64 },
    /// The factor of a second, and its squares, to the power of the seconds.
    Second(Vec<Fixed>),
    /// Nothing decays.
    None,
}

impl Decay {
    /// Returns the ideal decay: a half after every half-life.
    pub(crate) fn half(half_life: i64, bits: u32) -> Self {
        let kind = Kind::Half { powers: Box::new(Powers::new(bits)), half_life };
        Self { bits, kind, known: HashMap::new() }
    }

    /// Returns the decay of Slurm's source: the factor 1 - .693 / h a second, for whole seconds.
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

    /// Returns the decay by which usage stays as it is.
    pub(crate) fn none(bits: u32) -> Self {
        Self { bits, kind: Kind::None, known: HashMap::new() }
    }

    /// Returns whether nothing decays.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.kind, Kind::None)
    }

    /// Returns the factor after a time of at least 0. Slurm's decay counts whole seconds.
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
