//! Tests that the basis of the dual simplex method with keys is optimal: all values are within their bounds, and no
//! group has a cheaper class.

use evenhand_exact::Share;
use evenhand_problem::{Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
use evenhand_testkit::random::clusters::{Cluster, Eligibility};
use evenhand_testkit::random::problems::build;
use evenhand_testkit::random::static_shares::Noise;

use super::*;
use crate::level::data::LevelData;
use crate::level::start::guess;

/// The allowed violation of the bounds of a value, or of the relative difference of two prices.
const SMALL: f64 = 1e-7;

/// Checks the optimum of a sample of the groups of a problem. If `is_fixed`, every other group has a fixed level.
///
/// Returns the number of groups that have several classes of equal price. Returns `None` if there is no optimum.
fn examine(problem: &Problem, seed: u64, every: usize, is_fixed: bool) -> Option<usize> {
    let share = Share::Dominant.coefficients(problem).expect("the share applies");
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let data = LevelData::new(&constraints, &share);
    let part = Part::whole(&data);
    let guess = guess(&part);
    if part.groups.is_empty() || !guess.level.is_finite() {
        return None;
    }
    let need = |g: usize| match is_fixed && g % 2 == 1 {
        true => Need { multiple: 0.0, fixed: 0.1 * guess.level },
        false => Need { multiple: 1.0, fixed: 0.0 },
    };
    let needs: Vec<Need> = (0..part.groups.len()).map(need).collect();
    let of = |every| Keys::new(&part, guess.level, &needs, &guess.prices, every);
    let mut keys = of(every)?;
    let found = keys.solve();
    // The fixed levels may be infeasible.
    assert!(is_fixed || found.is_some(), "seed {seed}");
    found?;
    let factors = keys.factors().expect("a basis");
    let prices: Vec<f64> = factors.prices.iter().zip(&keys.capacity).map(|(p, c)| p / c).collect();
    assert_eq!(keys.leaving(&factors), None, "seed {seed}");
    assert_eq!(keys.larger_than_key(&factors), None, "seed {seed}");
    // Compute the load of every row, including its free capacity, and count the groups with several cheapest classes.
    let level = factors.values[factors.level];
    let mut load = vec![0.0; part.capacity.len()];
    let mut n_indifferent = 0;
    for &g in &keys.groups {
        let mut on_key = needs[g].multiple * level + needs[g].fixed / guess.level;
        for (at, column) in keys.basis.iter().enumerate() {
            if let Column::Placement(place) = column
                && place.g == g
            {
                on_key -= factors.values[at];
                keys.add_placement_load(*place, factors.values[at], &mut load);
            }
        }
        assert!(on_key >= -SMALL, "seed {seed} group {g}: {on_key}");
        keys.add_placement_load(GroupOnClass { g, c: keys.key[g] }, on_key, &mut load);
        let (mut own, mut least, mut most, mut n_cheap) = (0.0, f64::INFINITY, 0.0_f64, 0);
        part.for_each_price(g, &prices, |c, price| {
            let price = price + keys.extra(g, c);
            if c == keys.key[g] {
                own = price;
            }
            (least, most) = (least.min(price), most.max(price));
        });
        part.for_each_price(g, &prices, |_, price| n_cheap += usize::from(price <= least * (1.0 + 1e-4)));
        n_indifferent += usize::from(n_cheap > 1);
        assert!(own <= least + SMALL * most + 1e-12 * keys.size[g], "seed {seed} group {g}: {own} {least}");
    }
    let worth = &factors.prices;
    let most = worth.iter().copied().fold(0.0, f64::max);
    for (row, load) in load.iter().enumerate() {
        assert!(*load <= 1.0 + SMALL, "seed {seed} row {row}: {load}");
        let is_full = *load >= 1.0 - SMALL;
        assert!(is_full || worth[row] <= SMALL * most, "seed {seed} row {row}: {load}, {}", worth[row]);
    }
    Some(n_indifferent)
}

#[test]
fn the_basis_is_optimal() {
    let mut noise = Noise::new(27);
    let mut n_found = 0;
    for seed in 0..400 {
        let cluster = Cluster { classes: 1 + noise.below(9) as usize, ..Cluster::any(&mut noise) };
        let every = 1 + noise.below(2) as usize;
        let problem = cluster.problem(&mut Noise::new(seed));
        n_found += usize::from(examine(&problem, seed, every, noise.below(2) == 0).is_some());
    }
    assert!(n_found > 300, "{n_found}");
}

/// Three of four classes have free memory, and only their processors have a price. A group on one of these three
/// classes may use all three.
#[test]
fn indifferent_groups_use_several_classes() {
    let amounts = |amounts: [u64; 2]| {
        ["cpu", "memory"].map(str::to_owned).into_iter().zip(amounts.map(Rational::from)).collect::<Vec<_>>()
    };
    let servers = [[16, 400], [8, 100], [32, 900], [10, 5]].into_iter().enumerate().map(|(i, capacity)| {
        ServerSpec { name: format!("s{i}"), count: Some(Rational::from(50)), capacity: amounts(capacity) }
    });
    let mut noise = Noise::new(31);
    let users = (0..2_000).map(|n| UserSpec {
        name: format!("u{n}"),
        demand: amounts([1 + noise.below(4_096), 1 + noise.below(4_096)].map(u64::from)),
        ..UserSpec::default()
    });
    let problem = build(ProblemSpec {
        name: String::new(),
        resources: vec!["cpu".to_owned(), "memory".to_owned()],
        servers: servers.collect(),
        users: users.collect(),
    });
    let n_indifferent = examine(&problem, 31, 1, false).expect("an optimum");
    assert!(n_indifferent > 1_000, "{n_indifferent}");
}

/// Fixed levels beyond the capacity have no basis, and neither have numbers that doubles cannot
/// represent. The search ends in both cases.
#[test]
fn infeasible_levels_have_no_basis() {
    let cluster = Cluster {
        users: 200,
        classes: 4,
        resources: 2,
        eligibility: Eligibility::Everywhere,
        zero: 0,
        finite: 0,
        most: 64,
        weights: 1,
    };
    let problem = cluster.problem(&mut Noise::new(32));
    let share = Share::Dominant.coefficients(&problem).expect("the share applies");
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let data = LevelData::new(&constraints, &share);
    let part = Part::whole(&data);
    let guess = guess(&part);
    let start = |fixed: f64, unit: f64| {
        let need = |g: usize| Need {
            multiple: f64::from(u8::from(g == 0)),
            fixed: if g == 0 { 0.0 } else { fixed },
        };
        let needs: Vec<Need> = (0..part.groups.len()).map(need).collect();
        start(&part, unit, &needs, &guess.prices)
    };
    assert!(start(0.5 * guess.level, guess.level).is_some());
    assert!(start(2.0 * guess.level, guess.level).is_none());
    for unit in [0.0, f64::INFINITY, f64::NAN, 1e300, 1e-300] {
        let level = start(0.5 * guess.level, unit).map(|(_, level)| level);
        assert!(level.is_none_or(|level| level > 0.0 && level.is_finite()), "{unit}: {level:?}");
    }
}
