//! Fractions from their residues.

use rug::{Assign, Integer};

use super::modular::Fractions;

/// Fractions over one denominator that are these numbers modulo `modulus`, where numerators and the
/// denominator are small beside it; `None` where there are none.
pub fn fractions(residues: &[Integer], modulus: &Integer) -> Option<Fractions> {
    let bits = modulus.significant_bits();
    // What is accepted is half as long as the modulus, but for some bits against chance.
    let most = bits / 2 - bits.min(64) / 8;
    let mut denominator = Integer::from(1);
    let mut numerators: Vec<Integer> = Vec::with_capacity(residues.len());
    let mut value = Integer::new();
    for residue in residues {
        value.assign(residue * &denominator);
        reduce(&mut value, modulus);
        if value.significant_bits() > most {
            let factor = denominator_of(&value, modulus, most)?;
            denominator *= &factor;
            if denominator.significant_bits() > most {
                return None;
            }
            for numerator in &mut numerators {
                *numerator *= &factor;
            }
            value *= &factor;
            reduce(&mut value, modulus);
        }
        numerators.push(value.clone());
    }
    Some(Fractions { numerators, denominator })
}

/// To the least absolute residue.
fn reduce(value: &mut Integer, modulus: &Integer) {
    *value %= modulus;
    let twice = Integer::from(&*value << 1);
    if twice.cmp_abs(modulus).is_gt() {
        if *value > 0 {
            *value -= modulus;
        } else {
            *value += modulus;
        }
    }
}

/// The least denominator, positive, of a fraction with a numerator of at most so many bits that is this
/// number modulo `modulus`: Euclid's algorithm until the remainder is short.
fn denominator_of(value: &Integer, modulus: &Integer, most: u32) -> Option<Integer> {
    let (mut a, mut b) = (modulus.clone(), value.clone());
    if b < 0 {
        b += modulus;
    }
    let (mut x, mut y) = (Integer::new(), Integer::from(1));
    while b.significant_bits() > most {
        let (quotient, rest) = a.div_rem(b.clone());
        a = std::mem::replace(&mut b, rest);
        x -= &quotient * &y;
        std::mem::swap(&mut x, &mut y);
    }
    let y = y.abs();
    (y.significant_bits() <= most && !y.is_zero()).then_some(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_found_again() {
        let modulus = Integer::from((1_u64 << 61) - 1).square();
        let inverse = |n: u32| Integer::from(n).invert(&modulus).unwrap();
        let residues = vec![Integer::from(5) * inverse(7), Integer::from(-3) * inverse(14), Integer::from(2)];
        let found = fractions(&residues, &modulus).unwrap();
        assert_eq!(found.denominator, 14);
        assert_eq!(found.numerators, [10, -3, 28]);
    }
}
