//! Compares greedy and optimal reservation with published numbers and with other methods.

use crate::common;

use common::{Small, adversarial, small, verify, verify_worst};
use evenhand_lp::mip::MipSettings;
use evenhand_packing::greedy::critical_loads;
use evenhand_packing::integer::bracket;
use evenhand_packing::monotone::{Monotone, monotone};
use evenhand_packing::worst_load::worst_load;
use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::{Rational, Reservation};
use rug::ops::Pow;

/// Returns the reward of greedy and the verified optimum.
#[track_caller]
fn greedy_and_optimum(problem: &Reservation) -> (Rational, Rational) {
    let mut best = MaxReward::new(problem);
    let greedy = greedy::fluid(&mut best, &problem.loads(), &problem.fractions()).unwrap();
    let optimum = configuration_lp::solve(&best, &problem.loads(), &problem.fractions()).unwrap();
    verify(problem, &problem.loads(), &problem.fractions(), &optimum);
    (greedy.reward, optimum.value)
}

/// The ratios of Proposition 3.10, Appendix C.
#[test]
fn the_family_of_appendix_c_has_the_published_ratios() {
    for n_types in (3..=16).chain([24, 32, 50]) {
        let (greedy, optimum) = greedy_and_optimum(&adversarial(n_types));
        let n = n_types - 1;
        let power = Rational::from((n - 1, n)).pow(n);
        assert_eq!(greedy / optimum, Rational::from(1) - power, "J = {n_types}");
    }
}

/// The examples of section 1.
#[test]
fn the_examples_of_the_introduction_have_the_published_rewards() {
    let with = |loads: [(i64, i64); 3]| {
        small(
            &[10, 10],
            &[(&[6, 6], (4, 1), loads[0]), (&[7, 1], (3, 1), loads[1]), (&[1, 7], (3, 1), loads[2])],
        )
    };
    for (loads, reward) in [
        ([(1, 1), (1, 1), (1, 1)], (6, 1)),
        ([(1, 2), (1, 2), (1, 2)], (5, 1)),
        ([(1, 1), (1, 2), (1, 4)], (9, 2)),
        ([(1, 1), (0, 1), (3, 4)], (4, 1)),
        ([(3, 5), (3, 10), (4, 5)], (9, 2)),
    ] {
        assert_eq!(greedy_and_optimum(&with(loads)), (Rational::from(reward), Rational::from(reward)));
    }
}

/// Builds the types of section 7.1 with rewards vCPU + GB/8 on servers of 80 vCPU and 640 GB.
fn virtual_machines(sizes: &[(i64, i64)]) -> Reservation {
    let demands: Vec<[i64; 2]> = sizes.iter().map(|(cpu, memory)| [*cpu, *memory]).collect();
    let types: Vec<Small<'_>> = demands.iter().map(|d| (&d[..], (8 * d[0] + d[1], 8), (1, 1))).collect();
    small(&[80, 640], &types)
}

/// Golden cases vm.worst4.infimum and vm.table1.infimum.
#[test]
fn worst_loads_of_virtual_machines_have_the_golden_ratios() {
    let quotient = |p: i64, q: i64| Rational::from((p, q));
    for (sizes, expected) in [
        (&[(1, 1), (4, 16), (2, 32), (32, 256)][..], quotient(449, 515)),
        (&[(2, 32), (4, 16), (1, 1), (32, 256)], quotient(449, 515)),
        // The order of types decides ties: .87128.
        (&[(4, 16), (1, 1), (2, 32), (32, 256)], quotient(11047, 12679)),
        (&[(8, 64), (2, 2), (8, 32), (32, 256), (64, 64), (32, 128)], quotient(21, 25)),
        (&[(4, 32), (2, 2), (4, 16), (32, 512), (64, 64), (32, 128)], quotient(21, 25)),
        (&[(8, 64), (4, 4), (2, 8), (32, 512), (64, 128), (64, 256)], quotient(21, 25)),
        (&[(8, 64), (8, 8), (4, 16), (32, 256), (32, 32), (64, 256)], quotient(21, 25)),
        (&[(8, 128), (8, 8), (4, 16), (64, 512), (64, 64), (32, 128)], quotient(19, 25)),
    ] {
        let problem = virtual_machines(sizes);
        let worst = worst_load(&mut MaxReward::new(&problem), &mut |_, _| {}).unwrap().unwrap();
        verify_worst(&problem, &worst);
        assert_eq!(worst.ratio_lower, expected);
    }
}

/// Golden cases vm.loadsweep: the types of the worst case in the paper's text.
#[test]
fn critical_multiples_agree_with_golden_cases() {
    let problem = virtual_machines(&[(1, 1), (4, 16), (2, 32), (32, 256)]);
    let mut best = MaxReward::new(&problem);
    for (loads, first, second) in [
        ([3692, 1385, 3000, 2000], 0.863068749742191, 4.333694474539545),
        ([800, 400, 700, 1000], 1.8604651182125471, 20.0),
        ([3000, 2000, 3000, 3000], 0.600938967772003, 5.333333333333333),
    ] {
        let loads: Vec<Rational> = loads.iter().map(|load| Rational::from((*load, 1000))).collect();
        let critical = critical_loads(&mut best, &loads).unwrap();
        let (served, full) = (critical.all_served.unwrap(), critical.all_best.unwrap());
        assert!((served.to_f64() - first).abs() < 1e-6 && (full.to_f64() - second).abs() < 1e-9);
        // Test at the multiples themselves, and slightly above the first.
        let at = |t: Rational| -> (Rational, Rational) {
            let scaled: Vec<Rational> = loads.iter().map(|load| Rational::from(load * &t)).collect();
            let mut best = MaxReward::new(&problem);
            let all =
                scaled.iter().zip(problem.jobs()).map(|(load, job)| Rational::from(load * job.reward()));
            (greedy::fluid(&mut best, &scaled, &[Rational::from(1)]).unwrap().reward, all.sum())
        };
        let (reward, all) = at(served.clone());
        assert_eq!(reward, all);
        let (reward, all) = at(served * Rational::from((1001, 1000)));
        assert!(reward < all);
        assert_eq!(at(full).0, 160);
    }
    let none = critical_loads(&mut best, &vec![Rational::new(); 4]).unwrap();
    assert_eq!((none.all_served, none.all_best), (None, None));
}

/// Golden case vm.gpa.limit: Proposition 3.5 and Corollary 3.6.
#[test]
fn whole_servers_approach_the_fluid_assignment() {
    use rug::Integer;
    let problem = virtual_machines(&[(1, 1), (4, 16), (2, 32), (32, 256)]);
    let mut best = MaxReward::new(&problem);
    let configurations = [[16, 3, 10, 1], [0, 8, 8, 1], [0, 4, 0, 2], [0, 0, 0, 2]];
    for (n_servers, counts, slots, served) in [
        (20, [4, 3, 1, 12], (2808, 20), (277_950, 2000)),
        (100, [19, 14, 8, 59], (14048, 100), (1_402_550, 10_000)),
        (10_000, [1875, 1407, 780, 5938], (1_403_744, 10_000), (14_037_020, 100_000)),
    ] {
        let jobs: Vec<Integer> = [3, 2, 3, 3].iter().map(|load| Integer::from(load * n_servers)).collect();
        let whole = greedy::whole(&mut best, &jobs, &[Integer::from(n_servers)]).unwrap();
        let found: Vec<_> =
            whole.steps.iter().map(|s| (s.best.configuration.clone(), s.servers.clone())).collect();
        let expected: Vec<_> =
            configurations.iter().zip(counts).map(|(k, x)| (k.to_vec(), Integer::from(x))).collect();
        assert_eq!(found, expected);
        assert_eq!(whole.slot_reward / n_servers, Rational::from(slots));
        assert_eq!(whole.reward / n_servers, Rational::from(served));
    }
    let loads: Vec<Rational> = [3, 2, 3, 3].iter().map(|load| Rational::from(*load)).collect();
    let fluid = greedy::fluid(&mut best, &loads, &[Rational::from(1)]).unwrap();
    assert_eq!(fluid.reward, Rational::from((1123, 8)));
}

/// The number of servers may be huge, since only the last servers of each configuration are searched.
#[test]
fn a_million_million_servers_are_solved() {
    use rug::Integer;
    let problem = virtual_machines(&[(1, 1), (4, 16), (2, 32), (32, 256)]);
    let mut best = MaxReward::new(&problem);
    for exponent in [3, 6, 9, 12] {
        let n_servers = Integer::from(10).pow(exponent);
        let jobs: Vec<Integer> =
            [37, 255, 3, 40].iter().map(|load| Integer::from(&n_servers * load) / 10).collect();
        let found =
            bracket(&mut best, &jobs, std::slice::from_ref(&n_servers), &MipSettings::default()).unwrap();
        assert!(found.lower <= found.upper);
        // A server earns at most 160.
        assert!(Rational::from(&found.upper - &found.lower) <= 160, "10^{exponent}");
        let used: Integer = found.servers.iter().map(|(_, _, x)| x).sum();
        assert!(used <= n_servers);
    }
}

/// Golden case vm.monotone: Definition 3.8 fails for three types, and holds for any two.
#[test]
fn more_load_can_earn_less() {
    let problem = small(
        &[16, 10],
        &[(&[9, 3], (18, 1), (1, 1)), (&[9, 1], (16, 1), (1, 1)), (&[1, 3], (5, 1), (1, 1))],
    );
    let mut best = MaxReward::new(&problem);
    let Monotone::Fails { smaller, larger, reward_of_smaller, reward_of_larger } =
        monotone(&mut best, &mut |_| {}).unwrap()
    else {
        panic!("the golden case refutes it")
    };
    assert!(smaller.iter().zip(&larger).all(|(a, b)| a <= b));
    let one = [Rational::from(1)];
    assert_eq!(greedy::fluid(&mut best, &smaller, &one).unwrap().reward, reward_of_smaller);
    assert_eq!(greedy::fluid(&mut best, &larger, &one).unwrap().reward, reward_of_larger);
    assert!(reward_of_larger < reward_of_smaller);
    for sizes in [[(4, 16), (32, 256)], [(1, 1), (2, 32)], [(8, 64), (64, 64)]] {
        let problem = virtual_machines(&sizes);
        assert!(matches!(
            monotone(&mut MaxReward::new(&problem), &mut |_| {}).unwrap(),
            Monotone::Holds { .. }
        ));
    }
}

/// Stated configurations give the same answers, and a problem may have no reward at all.
#[test]
fn stated_configurations_and_zero_rewards_are_solved() {
    use evenhand_problem::format::Source;
    let read = |text: &str| Source { name: "r.json", text }.reservation().unwrap();
    let listed = read(
        r#"{"kind": "reservation-problem", "jobs": [{"name": "a", "reward": 4, "load": 1},
            {"name": "b", "reward": 3, "load": "1/2"}, {"name": "c", "reward": 3, "load": "1/4"}],
            "configurations": [{"a": 1}, {"b": 1, "c": 1}]}"#,
    );
    let stated = greedy_and_optimum(&listed);
    assert_eq!(stated, (Rational::from((9, 2)), Rational::from((9, 2))));
    let mut best = MaxReward::new(&listed);
    verify_worst(&listed, &worst_load(&mut best, &mut |_, _| {}).unwrap().unwrap());

    let nothing = small(&[4], &[(&[1], (0, 1), (1, 1)), (&[2], (0, 1), (0, 1))]);
    assert_eq!(greedy_and_optimum(&nothing), (Rational::new(), Rational::new()));
    assert_eq!(worst_load(&mut MaxReward::new(&nothing), &mut |_, _| {}).unwrap(), None);
    let no_types = small(&[4], &[]);
    assert_eq!(greedy_and_optimum(&no_types), (Rational::new(), Rational::new()));
}

/// Numbers of hundreds of digits, and capacities for a trillion jobs.
#[test]
fn solves_numbers_of_any_size() {
    let huge = Rational::from(10).pow(300u32);
    let tiny = Rational::from((7, 3)) / &huge;
    let whole = |v: i64| Rational::from(v);
    let problem = common::problem(
        &[vec![Rational::from(&tiny * 17u32), huge.clone()]],
        &[
            (vec![tiny.clone(), Rational::from(&huge / 5u32)], huge.clone(), whole(2)),
            (
                vec![Rational::from(&tiny * 3u32), Rational::from(&huge / 1_000_003u32)],
                tiny.clone(),
                huge.clone(),
            ),
            (
                vec![whole(0), Rational::from(&huge / 1_000_000_000_000u64)],
                whole(1),
                Rational::from(&tiny * 2u32),
            ),
        ],
    );
    let (greedy, optimum) = greedy_and_optimum(&problem);
    assert!(greedy <= optimum && Rational::from(&greedy * 2u32) >= optimum);
}
