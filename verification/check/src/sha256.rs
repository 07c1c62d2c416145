//! The hash function SHA-256 (FIPS 180-4).

use rug::Integer;
use rug::ops::Pow;

/// Returns the first 32 bits of the fractional parts of the roots of the first primes, which the standard uses as
/// constants. They are the lowest 32 bits of the floor of the root of `p * 2^(32 degree)`.
fn roots<const N: usize>(degree: u32) -> [u32; N] {
    let mut primes = (2..).filter(|n: &u32| !(2..*n).any(|d| n.is_multiple_of(d)));
    let scale = Integer::from(2).pow(32 * degree);
    std::array::from_fn(|_| (scale.clone() * primes.next().unwrap_or(2)).root(degree).to_u32_wrapping())
}

/// Returns the hash of a text in hexadecimal.
pub fn sha256(text: &str) -> String {
    let constants: [u32; 64] = roots(3);
    let mut state: [u32; 8] = roots(2);
    let blocks = text.as_bytes().chunks_exact(64);
    let mut end = blocks.remainder().to_vec();
    end.push(0x80);
    end.resize((end.len() + 8).next_multiple_of(64) - 8, 0);
    end.extend((text.len() as u64 * 8).to_be_bytes());
    for block in blocks.chain(end.chunks_exact(64)) {
        let mut w = [0_u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (k, w) in constants.iter().zip(w) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(*k).wrapping_add(w);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            [h, g, f, e, d, c, b, a] = [g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2)];
        }
        for (sum, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(word);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}
