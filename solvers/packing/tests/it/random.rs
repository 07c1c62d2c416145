//! Compares reservation with the enumeration of all configurations of small random problems.

use crate::common;

use common::{configurations, prove, verify, verify_worst};
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense};
use evenhand_lp::mip::MipSettings;
use evenhand_packing::monotone::{Monotone, monotone};
use evenhand_packing::worst_load::worst_load;
use evenhand_packing::{MaxReward, configuration_lp, greedy, integer};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};
use rug::Integer;

/// A small deterministic random generator.
pub struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn quotient(&mut self, most: u64, denominators: u64) -> Rational {
        Rational::from((self.below(most + 1), self.below(denominators) + 1))
    }
}

fn random(seed: u64) -> Reservation {
    let mut dice = Dice(seed * 7919 + 3);
    let n_resources = 1 + dice.below(3) as usize;
    let n_types = 1 + dice.below(4) as usize;
    let n_pools = 1 + dice.below(2) * dice.below(2);
    // Whole sizes, quotients, or sizes so fine that no table is possible.
    let fine = dice.below(3);
    let size = |dice: &mut Dice, low: u64, high: u64| {
        let base = Rational::from(low + dice.below(high - low + 1));
        match fine {
            0 => base,
            1 => base + Rational::from((dice.below(6), 6)),
            _ => base + Rational::from((dice.below(1_000_003), 1_000_003)),
        }
    };
    let names: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
    let jobs = (0..n_types)
        .map(|j| {
            let mut demand: Vec<_> =
                names.iter().map(|r| (r.clone(), size(&mut dice, 0, 7))).filter(|d| !d.1.is_zero()).collect();
            if demand.is_empty() {
                demand.push(("r0".to_owned(), Rational::from(2)));
            }
            JobSpec {
                name: format!("t{j}"),
                demand,
                reward: Some(dice.quotient(9, 3)),
                load: Some(dice.quotient(5, 3)),
            }
        })
        .collect();
    let pools = (0..n_pools)
        .map(|i| PoolSpec {
            name: format!("p{i}"),
            count: Some(Rational::from(1 + dice.below(9))),
            capacity: names.iter().map(|r| (r.clone(), size(&mut dice, 9, 17))).collect(),
        })
        .collect();
    let spec = ReservationSpec { resources: names, pools, jobs, ..Default::default() };
    Reservation::new(spec).expect("everything fits in 9")
}

/// The best configuration of every subset of types is the first of all its configurations in the order of Definition
/// 2.2.
#[test]
fn the_best_configuration_is_the_first_in_order() {
    for seed in 0..400 {
        let problem = random(seed);
        let mut best = MaxReward::new(&problem);
        for i in 0..problem.n_pools() {
            let all = configurations(&problem, i);
            for subset in 0..1u32 << problem.n_types() {
                let types: Vec<usize> = (0..problem.n_types()).filter(|j| subset >> j & 1 == 1).collect();
                let inside = all.iter().filter(|k| (0..k.len()).all(|j| k[j] == 0 || types.contains(&j)));
                let expected = inside.map(|k| (problem.reward(k), k)).max().expect("the empty one");
                let found = best.first(i, &types).unwrap();
                assert_eq!((&found.reward, &found.configuration), (&expected.0, expected.1), "seed {seed}");
            }
        }
    }
}

/// Computes the optimum of the programme over all configurations at once.
fn enumerated(problem: &Reservation, loads: &[Rational], sizes: &[Rational]) -> Rational {
    let n_types = loads.len();
    let mut lp = ExactLp::default();
    lp.rows.extend((0..n_types).map(|_| (Sense::AtMost, Rational::new())));
    lp.rows.extend(loads.iter().map(|load| (Sense::AtMost, load.clone())));
    lp.rows.extend(sizes.iter().map(|size| (Sense::Equal, size.clone())));
    let one = || Rational::from(1);
    for (j, job) in problem.jobs().iter().enumerate() {
        let entries = vec![(j, one()), (n_types + j, one())];
        lp.columns.push(ExactColumn { cost: job.reward().clone(), entries });
    }
    for i in 0..sizes.len() {
        for k in configurations(problem, i) {
            let jobs = k.iter().enumerate().filter(|(_, k)| **k > 0);
            let entries = jobs.map(|(j, k)| (j, -Rational::from(*k))).chain([(2 * n_types + i, one())]);
            lp.columns.push(ExactColumn { cost: Rational::new(), entries: entries.collect() });
        }
    }
    let x = lp.optimise(&[], 100_000).unwrap().x;
    x.iter().zip(problem.jobs()).map(|(y, job)| Rational::from(y * job.reward())).sum()
}

#[test]
fn the_optimum_agrees_with_all_configurations() {
    let mut trees = 0;
    for seed in 0..250 {
        let problem = random(seed);
        let (loads, sizes) = (problem.loads(), problem.fractions());
        let mut best = MaxReward::new(&problem);
        let optimum = configuration_lp::solve(&best, &loads, &sizes).unwrap();
        verify(&problem, &loads, &sizes, &optimum);
        assert_eq!(optimum.value, enumerated(&problem, &loads, &sizes), "seed {seed}");
        trees += usize::from(!matches!(&optimum.proofs[0],
            evenhand_packing::PricingProof::Tree { nodes, .. } if nodes.len() < 2));

        let greedy = greedy::fluid(&mut best, &loads, &sizes).unwrap();
        assert!(greedy.reward <= optimum.value, "seed {seed}");
        if problem.n_pools() == 1 {
            assert!(Rational::from(&greedy.reward * 2) >= optimum.value, "Theorem 3.7, seed {seed}");
        }
        let served = loads.iter().zip(&greedy.left).zip(problem.jobs());
        let served: Rational =
            served.map(|((all, left), job)| Rational::from(all - left) * job.reward()).sum();
        assert_eq!(served, greedy.reward, "every slot of the fluid assignment holds a job");
    }
    assert!(trees > 20, "the proofs need branches");
}

/// A proof with a bound that is too small is rejected.
#[test]
fn damaged_proofs_are_rejected() {
    let mut refused = 0;
    for seed in 0..60 {
        let problem = random(seed);
        let (loads, sizes) = (problem.loads(), problem.fractions());
        let optimum = configuration_lp::solve(&MaxReward::new(&problem), &loads, &sizes).unwrap();
        if optimum.pi[0].is_zero() {
            continue;
        }
        let less = Rational::from(&optimum.pi[0] * &Rational::from((999, 1000)));
        let outcome = prove(&problem, 0, &optimum.beta, &less, &optimum.proofs[0]);
        assert!(outcome.is_err(), "seed {seed}: a used configuration is worth pi");
        refused += 1;
    }
    assert!(refused > 30);
}

/// Compares whole jobs on two servers with all assignments.
#[test]
fn whole_jobs_agree_with_all_assignments() {
    let mut open = 0;
    for seed in 0..60 {
        let problem = random(seed);
        if problem.n_pools() > 1 {
            continue;
        }
        let mut best = MaxReward::new(&problem);
        let all = configurations(&problem, 0);
        if all.len() > 400 {
            continue;
        }
        let servers = 2;
        let jobs: Vec<Integer> =
            problem.loads().iter().map(|load| load.clone().ceil().into_numer_denom().0).collect();
        let value = |a: &[u64], b: &[u64]| -> Rational {
            let served = (0..a.len()).map(|j| Integer::from(a[j] + b[j]).min(jobs[j].clone()));
            served.zip(problem.jobs()).map(|(served, job)| Rational::from(job.reward() * served)).sum()
        };
        let exact = all.iter().flat_map(|a| all.iter().map(move |b| (a, b))).map(|(a, b)| value(a, b)).max();
        let exact = exact.expect("the empty one");
        let bracket =
            integer::bracket(&mut best, &jobs, &[Integer::from(servers)], &MipSettings::default()).unwrap();
        assert!(bracket.lower <= exact && exact <= bracket.upper, "seed {seed}: {bracket:?} {exact}");
        let used: Integer = bracket.servers.iter().map(|(_, _, x)| x).sum();
        assert!(used <= servers && bracket.servers.iter().all(|(i, k, _)| problem.is_feasible(*i, k)));
        let greedy = greedy::whole(&mut best, &jobs, &[Integer::from(servers)]).unwrap();
        assert!(greedy.reward <= greedy.slot_reward && greedy.reward <= bracket.lower);
        open += u32::from(bracket.lower != bracket.upper);
    }
    println!("{open} of 60 brackets are open");
}

/// No loads have a smaller ratio than the worst loads, and greedy earns less from more load only if the monotone
/// property fails.
#[test]
fn no_load_is_worse_than_the_worst_load() {
    let (mut below_one, mut falling) = (0, 0);
    for seed in 0..150 {
        let problem = random(seed);
        if problem.n_pools() > 1 {
            assert!(worst_load(&mut MaxReward::new(&problem), &mut |_, _| {}).is_err());
            continue;
        }
        let mut best = MaxReward::new(&problem);
        let is_monotone = match monotone(&mut best, &mut |_| {}).unwrap() {
            Monotone::Holds { .. } => true,
            Monotone::Fails { smaller, larger, reward_of_smaller, reward_of_larger } => {
                assert!(reward_of_larger < reward_of_smaller, "seed {seed}");
                assert!(smaller.iter().zip(&larger).all(|(a, b)| a <= b));
                false
            }
        };
        assert!(is_monotone || problem.n_types() > 2, "two types are always monotone");
        falling += u32::from(!is_monotone);
        let Some(worst) = worst_load(&mut best, &mut |_, _| {}).unwrap() else { continue };
        verify_worst(&problem, &worst);
        below_one += u32::from(worst.ratio_lower < 1);
        assert!(worst.ratio_lower >= Rational::from((1, 2)));

        let mut dice = Dice(seed + 99);
        let one = [Rational::from(1)];
        for _ in 0..30 {
            let loads: Vec<Rational> = (0..problem.n_types())
                .map(|j| Rational::from((dice.below(13) * problem.most(0, j), 12)))
                .collect();
            let greedy = greedy::fluid(&mut best, &loads, &one).unwrap().reward;
            let optimum = configuration_lp::solve(&best, &loads, &one).unwrap().value;
            assert!(greedy >= optimum * &worst.ratio_lower, "seed {seed}: {loads:?}");
            let more: Vec<Rational> = loads.iter().map(|load| load + dice.quotient(2, 3)).collect();
            let with_more = greedy::fluid(&mut best, &more, &one).unwrap().reward;
            assert!(!is_monotone || with_more >= greedy, "seed {seed}: {loads:?} {more:?}");
        }
    }
    println!("{below_one} worst ratios below 1, {falling} problems that are not monotone");
    assert!(below_one > 30);
}
