//! The basis that is found is optimal: nothing is out of its bounds, and nobody would rather be elsewhere.

use evenhand_exact::Share;
use evenhand_problem::{Constraints, Sharing};
use evenhand_testkit::random::clusters::{Cluster, Eligibility};
use evenhand_testkit::random::static_shares::Noise;

use super::*;
use crate::level::data::LevelData;
use crate::level::start::guess;

/// What a value, or the relative difference of two prices, may be out of its bounds.
const SMALL: f64 = 1e-7;

/// Looks at the optimum of some of the groups of a cluster, of which every other one needs something whatever the level is;
/// whether there was one.
fn examine(cluster: &Cluster, seed: u64, every: usize, is_fixed: bool) -> bool {
    let problem = cluster.problem(&mut Noise::new(seed));
    let share = Share::Dominant.coefficients(&problem).expect("the share applies");
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let data = LevelData::new(&constraints, &share);
    let part = Part::whole(&data);
    let guess = guess(&part);
    if part.groups.is_empty() || !guess.level.is_finite() {
        return false;
    }
    let need = |g: usize| match is_fixed && g % 2 == 1 {
        true => Need { multiple: 0.0, fixed: 0.1 * guess.level },
        false => Need { multiple: 1.0, fixed: 0.0 },
    };
    let needs: Vec<Need> = (0..part.groups.len()).map(need).collect();
    let of = |every| Keys::new(&part, guess.level, &needs, &guess.prices, every);
    let Some(mut keys) = of(every) else { return false };
    let found = keys.solve();
    // What is fixed may have no place.
    assert!(is_fixed || found.is_some(), "seed {seed}");
    let Some(prices) = found else { return false };
    let factors = keys.factors().expect("a basis");
    assert_eq!(keys.leaving(&factors), None, "seed {seed}");
    assert_eq!(keys.larger_than_key(&factors), None, "seed {seed}");
    // What everybody takes of every row, what is left, and who would rather be elsewhere.
    let level = factors.values[factors.level];
    let mut load = vec![0.0; part.capacity.len()];
    for &g in &keys.groups {
        let mut on_key = needs[g].multiple * level + needs[g].fixed / guess.level;
        for (at, column) in keys.basis.iter().enumerate() {
            if let Column::Place(place) = column
                && place.g == g
            {
                on_key -= factors.values[at];
                keys.add_place(*place, factors.values[at], &mut load);
            }
        }
        assert!(on_key >= -SMALL, "seed {seed} group {g}: {on_key}");
        keys.add_place(GroupOnClass { g, c: keys.key[g] }, on_key, &mut load);
        let (mut own, mut least, mut most) = (0.0, f64::INFINITY, 0.0_f64);
        part.for_each_price(g, &prices, |c, price| {
            let price = price * apart(g, c);
            if c == keys.key[g] {
                own = price;
            }
            (least, most) = (least.min(price), most.max(price));
        });
        assert!(own <= least + SMALL * most + 1e-12 * keys.size[g], "seed {seed} group {g}: {own} {least}");
    }
    let worth: Vec<f64> = prices.iter().zip(&part.capacity).map(|(p, c)| p * c).collect();
    let most = worth.iter().copied().fold(0.0, f64::max);
    for (row, load) in load.iter().enumerate() {
        assert!(*load <= 1.0 + SMALL, "seed {seed} row {row}: {load}");
        let is_full = *load >= 1.0 - SMALL;
        assert!(is_full || worth[row] <= SMALL * most, "seed {seed} row {row}: {load}, {}", worth[row]);
    }
    true
}

#[test]
fn the_basis_is_optimal() {
    let mut noise = Noise::new(27);
    let mut n_found = 0;
    for seed in 0..400 {
        let cluster = Cluster { classes: 1 + noise.below(9) as usize, ..Cluster::any(&mut noise) };
        let every = 1 + noise.below(2) as usize;
        n_found += usize::from(examine(&cluster, seed, every, noise.below(2) == 0));
    }
    assert!(n_found > 300, "{n_found}");
}

/// Many groups, most of which may be on several classes at one price: those on which one resource is left.
#[test]
fn many_may_be_on_several_classes() {
    let cluster = Cluster {
        users: 3_000,
        classes: 6,
        resources: 2,
        eligibility: Eligibility::Everywhere,
        zero: 0,
        finite: 0,
        most: 4_096,
        weights: 5,
    };
    for seed in 0..4 {
        assert!(examine(&cluster, seed, 1, false));
    }
}
