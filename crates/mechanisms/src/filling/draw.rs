//! Random choices that are the same for the same seed on every machine.

use rand::RngCore;
use rand_pcg::Pcg64;

/// A stream of random choices.
#[derive(Debug, Clone)]
pub struct Draw {
    numbers: Pcg64,
    /// The number of random numbers taken so far.
    taken: u64,
}

impl Draw {
    /// Creates stream number `stream` of the seed. Both numbers are mixed, so that neighbouring streams are
    /// unrelated.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let (a, b) = (mix(seed), mix(stream ^ 0x9e37_79b9_7f4a_7c15));
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let state = wide(mix(a ^ b), mix(a.wrapping_add(b)));
        Self { numbers: Pcg64::new(state, wide(mix(b ^ a.rotate_left(32)), b)), taken: 0 }
    }

    /// Returns how many random numbers have been taken from the stream.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Skips `numbers` random numbers of the stream.
    pub fn skip(&mut self, numbers: u64) {
        self.numbers.advance(u128::from(numbers));
        self.taken += numbers;
    }

    /// Returns a number from 0 to `n - 1`, or 0 if `n` is 0. All numbers have the same probability (Lemire's
    /// method). No random number is taken if `n` is at most 1.
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        let rejected = n.wrapping_neg() % n;
        loop {
            self.taken += 1;
            let wide = u128::from(self.numbers.next_u64()) * u128::from(n);
            // The low half shows whether the number is one of the few numbers that would make the
            // distribution uneven.
            if wide as u64 >= rejected {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Returns a number that is at least 0 and below 1, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        /// 2^53: all multiples of 1 / 2^53 below 1 are exact doubles.
        const STEPS: u64 = 1 << 53;
        self.below(STEPS) as f64 / STEPS as f64
    }

    /// Returns a number from the exponential distribution with mean `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is never 0. `libm` computes the same bits on every machine.
        -libm::log(1.0 - self.unit()) * mean
    }

    /// Returns a random position in a list of length `len`.
    pub fn position(&mut self, len: usize) -> usize {
        // A position is less than a length, so it fits into a usize.
        self.below(len as u64) as usize
    }
}

/// Returns bits that depend on all bits of `value` (the finaliser of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
