//! Tests that compare searches and tables with each other.

use evenhand_problem::{JobSpec, PoolSpec, ReservationSpec};

use super::*;

/// Both methods agree on random problems, with profits of every length.
#[test]
fn the_table_and_the_branches_agree() {
    let mut state = 7u64;
    let mut below = move |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for round in 0..300u32 {
        let names: Vec<String> = (0..=round % 3).map(|r| format!("r{r}")).collect();
        let job = |j: u32, below: &mut dyn FnMut(u64) -> u64| JobSpec {
            name: format!("t{j}"),
            demand: names.iter().map(|r| (r.clone(), Rational::from(1 + below(9)))).collect(),
            ..JobSpec::default()
        };
        let jobs: Vec<JobSpec> = (0..1 + round % 7).map(|j| job(j, &mut below)).collect();
        let capacity = names.iter().map(|r| (r.clone(), Rational::from(9 + below(20)))).collect();
        let pool = PoolSpec { name: "p".to_owned(), count: None, capacity };
        let spec =
            ReservationSpec { resources: names.clone(), pools: vec![pool], jobs, ..Default::default() };
        let problem = Reservation::new(spec).expect("everything fits in 9");
        let knapsack = Knapsack::new(&problem, 0, &SearchLimits::default()).expect("it is small");
        // Use small profits with many ties, long profits, and profits that need GMP.
        let denominator = Integer::from(1) << [0u32, 40, 90, 200][(round % 4) as usize];
        let profits: Vec<Rational> = (0..problem.n_types())
            .map(|_| {
                Rational::from(below(6)) + Rational::from((Integer::from(below(3)), denominator.clone()))
            })
            .collect();
        let types: Vec<usize> = (0..problem.n_types()).collect();
        let table = knapsack.first_by_table(&types, &profits);
        assert_eq!(knapsack.first_by_branching(&types, &profits), table, "round {round}");
        let best = table.expect("a table");
        table_of_rounded_profits(&knapsack, &types, &profits, &best);
        let value: Rational = profits.iter().zip(&best).map(|(p, k)| Rational::from(p * k)).sum();
        assert!(matches!(knapsack.verify(&profits, &value), Ok(Verdict::Proven(_))));
        if !value.is_zero() {
            let less = value - Rational::from((Integer::from(1), denominator));
            assert!(matches!(knapsack.verify(&profits, &less), Ok(Verdict::Refuted(_))));
        }
    }
}

/// Checks that a table in doubles gives the same answers as exact profits, at the best value and one unit below it.
fn table_of_rounded_profits(knapsack: &Knapsack, types: &[usize], profits: &[Rational], best: &[u64]) {
    let (profits, _) = integers(profits);
    let types: Vec<usize> =
        types.iter().copied().filter(|&j| profits[j] > 0 && knapsack.most[j] > 0).collect();
    let value = |k: &[u64]| profits.iter().zip(k).map(|(p, k)| Integer::from(p * k)).sum::<Integer>();
    let most = value(best);
    assert_eq!(knapsack.above(&types, &profits, &most), Some(None));
    if most == 0 {
        return;
    }
    let below = Integer::from(&most - 1u32);
    let found = knapsack.above(&types, &profits, &below).expect("few are as good");
    assert_eq!(found.map(|k| value(&k)), Some(most.clone()));
    // Every returned column is better than the bound, and fits.
    let half = Integer::from(&most / 2u32);
    let better = knapsack.better(&profits, &half);
    assert!(!better.is_empty() && better.iter().all(|k| value(k) > half));
    for k in &better {
        for (r, capacity) in knapsack.capacity.iter().enumerate() {
            let taken =
                k.iter().zip(&knapsack.demand).map(|(k, d)| Integer::from(&d[r] * k)).sum::<Integer>();
            assert!(taken <= *capacity);
        }
    }
    assert!(knapsack.better(&profits, &most).is_empty());
}

/// Compares the columns of a table, and all configurations that reach a value, with loops over all configurations.
#[test]
fn enumerates_all_configurations_that_reach_a_value() {
    let demand: Vec<Vec<Integer>> =
        [[3, 1], [2, 4], [1, 2], [5, 5]].map(|d| d.map(Integer::from).to_vec()).to_vec();
    let (capacity, profits) = ([9, 8].map(Integer::from), [5.0, 7.0, 3.0, 13.0]);
    let grid = Grid::new(&demand, &capacity).expect("90 cells");
    let table = grid.fill(&[0, 1, 2, 3], &profits);
    let mut all = Vec::new();
    for (a, b) in (0..=3u64).flat_map(|a| (0..=2u64).map(move |b| (a, b))) {
        for (c, d) in (0..=4u64).flat_map(|c| (0..=1u64).map(move |d| (c, d))) {
            if 3 * a + 2 * b + c + 5 * d <= 9 && a + 4 * b + 2 * c + 5 * d <= 8 {
                all.push((5 * a + 7 * b + 3 * c + 13 * d, vec![a, b, c, d]));
            }
        }
    }
    let best = all.iter().map(|(value, _)| *value).max().expect("the empty one");
    assert!((*table.largest() - best as f64).abs() < f64::EPSILON);
    for least in 1..=best + 1 {
        let mut expected: Vec<Vec<u64>> =
            all.iter().filter(|(value, _)| *value >= least).map(|(_, k)| k.clone()).collect();
        let mut found = table.reaching(&(least as f64), 10_000).expect("there are not so many");
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{least}");
        // For each type, compute the value of the best configuration that contains it.
        let with = |j: usize| all.iter().filter(|(_, k)| k[j] > 0).map(|(value, _)| *value).max();
        let expected: Vec<u64> = (0..4).filter_map(with).filter(|value| *value >= least).collect();
        let better = table.better(&(least as f64 - 1.0));
        assert!(better.iter().all(|k| all.iter().any(|(value, other)| other == k && *value >= least)));
        let values = |k: &Vec<u64>| all.iter().find(|(_, other)| other == k).map(|(value, _)| *value);
        assert_eq!(better.first().and_then(values), expected.iter().max().copied());
    }
    assert_eq!(table.reaching(&1.0, 3), None);
}
