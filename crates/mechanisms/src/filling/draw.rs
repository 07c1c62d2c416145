//! Random choices, the same for the same seed on every machine.

use rand::RngCore;
use rand_pcg::Pcg64;

/// A stream of random choices.
#[derive(Debug, Clone)]
pub struct Draw {
    numbers: Pcg64,
    /// Numbers taken so far.
    taken: u64,
}

impl Draw {
    /// Stream number `stream` of the seed. Both are mixed, so that neighbouring streams have nothing
    /// in common.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let (a, b) = (mix(seed), mix(stream ^ 0x9e37_79b9_7f4a_7c15));
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let state = wide(mix(a ^ b), mix(a.wrapping_add(b)));
        Self { numbers: Pcg64::new(state, wide(mix(b ^ a.rotate_left(32)), b)), taken: 0 }
    }

    /// Numbers that have been taken from the stream.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Goes on in the stream as if so many numbers more had been taken.
    pub fn skip(&mut self, numbers: u64) {
        self.numbers.advance(u128::from(numbers));
        self.taken += numbers;
    }

    /// A number from 0 to below `n`, all with the same probability (Lemire's method); 0 if `n` is 0.
    /// Nothing is drawn where there is no choice.
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        let rejected = n.wrapping_neg() % n;
        loop {
            self.taken += 1;
            let wide = u128::from(self.numbers.next_u64()) * u128::from(n);
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

/// Bits that depend on all bits of `value` (the finaliser of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
