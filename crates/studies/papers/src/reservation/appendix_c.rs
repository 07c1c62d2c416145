//! Reservation, Appendix C: the family on which greedy earns the fraction `1 - (1 - 1/n)^n` of the optimum,
//! with `n = J - 1`.

use evenhand_problem::{Rational, number::to_f64};

use super::cases::{Type, certified, problem};
use crate::entry::Entry;
use crate::error::PaperError;

/// The numbers of types `J` for which the family is tested.
const FAMILY: std::ops::RangeInclusive<usize> = 3..=50;

/// Returns `base^exponent`.
fn power(base: &Rational, exponent: usize) -> Rational {
    (0..exponent).fold(Rational::from(1), |product, _| product * base)
}

/// Returns the types of the family. Type `j < J` needs `1/n` of resource `j` and of resource `J`. Type `J`
/// needs `(n-1)/n` of all resources except the last. Rewards fall by the factor `1 - 1/n` from type to type.
/// All loads are 1.
fn types(n_types: usize) -> Vec<Type> {
    let n = n_types - 1;
    let part = Rational::from((1, n));
    let rest = Rational::from(1 - &part);
    let one = Rational::from(1);
    let small = (0..n).map(|j| {
        let mut demand = vec![Rational::new(); n_types];
        demand[j] = part.clone();
        demand[n] = part.clone();
        let reward = &part * power(&rest, j);
        Type { name: format!("type {}", j + 1), demand, reward, load: one.clone() }
    });
    let mut demand = vec![rest.clone(); n];
    demand.push(Rational::new());
    let large = Type { name: format!("type {n_types}"), demand, reward: power(&rest, n), load: one.clone() };
    small.chain([large]).collect()
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut first = Vec::new();
    let mut last = None;
    let mut all = true;
    for n_types in FAMILY {
        let capacity = vec![Rational::from(1); n_types];
        let certificate = certified(&problem(&capacity, &types(n_types))?)?;
        let ratio = certificate.ratio.ok_or("nothing can be earned")?;
        let n = n_types - 1;
        let stated = 1 - power(&Rational::from((n - 1, n)), n);
        all &= ratio == stated;
        if first.len() < 4 {
            first.push(ratio.to_string());
        }
        last = Some(ratio);
    }
    let last = last.ok_or("an empty family")?;
    Ok(vec![Entry {
        id: "reservation.appendix-c".to_owned(),
        source: "Reservation, Appendix C, Proposition 3.10",
        paper: "1 - (1 - 1/n)^n, towards 1 - 1/e".to_owned(),
        ours: format!("{}, ...; {:.6} for 50 types", first.join(", "), to_f64(&last)),
        agrees: Some(all),
        note: format!(
            "every J from {} to {} is computed as an exact rational, and its certificate is checked; 1 - 1/e \
             is 0.632121",
            FAMILY.start(),
            FAMILY.end()
        ),
    }])
}
