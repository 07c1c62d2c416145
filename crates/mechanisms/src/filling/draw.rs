//! Random choices, the same for the same seed on every machine.

use rand::RngCore;
use rand_pcg::Pcg64;

/// A stream of random choices.
#[derive(Debug, Clone)]
pub struct Draw(Pcg64);

impl Draw {
    /// Stream number `stream` of the seed; streams are independent.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), u128::from(stream)))
    }

    /// A number from 0 to below `n`, all with the same probability (Lemire's method); 0 if `n` is 0.
    /// Nothing is drawn where there is no choice.
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        let rejected = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            // The low half decides whether the draw is one of the few that would count twice.
            if wide as u64 >= rejected {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A position in a list of `len`.
    pub fn position(&mut self, len: usize) -> usize {
        // A position is below a length, which is a usize.
        self.below(len as u64) as usize
    }
}
