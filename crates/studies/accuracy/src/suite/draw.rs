//! Random whole numbers, which are the same on every machine.

use evenhand_problem::{Integer, Rational};
use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use rug::ops::Pow;

/// A source of random whole numbers.
pub struct Draw(Pcg64);

impl Draw {
    /// Creates a source for a seed and a name. Sources with different names are independent.
    pub fn new(seed: u64, name: &str) -> Self {
        // The FNV-1a hash of the name.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Pcg64::seed_from_u64(seed ^ hash))
    }

    /// Draws a number from 0 to below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws a number from `least` to `most`, including both.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Draws an index below `bound`.
    pub fn index(&mut self, bound: usize) -> usize {
        self.below(bound as u64) as usize
    }

    /// Returns true with probability 1 / `of`.
    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// Returns `value * 10^exponent`.
pub fn scaled(value: impl Into<Rational>, exponent: i32) -> Rational {
    let power = Rational::from(Integer::from(10).pow(exponent.unsigned_abs()));
    if exponent < 0 { value.into() / power } else { value.into() * power }
}
