//! Tests of a filling that continues, against a scan of all users and servers. Both place the same tasks on
//! the same servers in the same order, for every rule, while tasks arrive, leave and finish.

use evenhand_mechanisms::filling::{
    Draw, Policy, Rule, Scheduler, Score, ServerRule, Ties, schedule, schedule_among, slots_of_servers,
};
use evenhand_mechanisms::{MechanismError, filling::fill};
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use evenhand_testkit::plain::filling as naive;
use evenhand_testkit::random::small::{SMALL, Shape, problem};
use proptest::prelude::*;

fn rules() -> impl Iterator<Item = Rule> {
    use Score::{Drf, PsDsf, ResidualPsDsf, Tsf};
    use ServerRule::{BestFit, FirstFit, Iid, Joint, Rrr};
    [Drf, Tsf, PsDsf, ResidualPsDsf].into_iter().flat_map(|score| {
        [Iid, Rrr, FirstFit, BestFit, Joint].into_iter().flat_map(move |server| {
            [Ties::Low, Ties::High, Ties::Random].map(|ties| Rule { score, server, ties, unfiltered: false })
        })
    })
}

/// Runs rounds of random events, each followed by a filling. `by_scan` is the problem for the scan.
fn compare(
    problem: &Problem,
    by_scan: &Problem,
    policy: Policy,
    rule: Rule,
    seed: u64,
    rounds: usize,
) -> usize {
    compare_among([problem, by_scan], [problem, by_scan], policy, rule, seed, rounds)
}

/// Runs rounds in which servers are added and removed too. Shares are fractions of the second pair of problems.
fn compare_among(
    [problem, by_scan]: [&Problem; 2],
    [whole, whole_by_scan]: [&Problem; 2],
    policy: Policy,
    rule: Rule,
    seed: u64,
    rounds: usize,
) -> usize {
    let changes = !std::ptr::eq(problem, whole);
    let mut scan = naive::ongoing_among(by_scan, whole_by_scan, rule, seed);
    let mut events = Draw::new(seed, 99);
    let mut running: Vec<(u32, u32)> = Vec::new();
    let mut total = 0;
    let mut away = vec![false; problem.n_single_servers() as usize];
    let scheduled = schedule_among(problem, whole, policy, seed, |scheduler| {
        let (mut placed, users) = (Vec::new(), problem.n_users());
        for round in 0..rounds {
            if changes && round % 2 == 0 {
                let j = events.position(away.len());
                // Tasks that ran on the server wait again.
                let is_on = |task: &(u32, u32)| task.1 as usize == j;
                for (n, _) in running.extract_if(.., |task| is_on(task)) {
                    scheduler.release(n as usize, j);
                    scheduler.submit(n as usize, 1);
                    scan.release(n as usize, j);
                    scan.submit(n as usize, 1);
                }
                away[j] = !away[j];
                if away[j] {
                    scheduler.close(j);
                } else {
                    scheduler.open(j);
                }
                scan.set_there(j, !away[j]);
            }
            for _ in 0..=events.below(3) {
                match events.below(8) {
                    0..=2 if users > 0 => {
                        let (n, tasks) = (events.position(users), 1 + events.below(4));
                        if scheduler.fits_somewhere(n) {
                            scheduler.submit(n, tasks);
                            scan.submit(n, tasks);
                        }
                    }
                    3 if users > 0 => {
                        let n = events.position(users);
                        assert_eq!(scheduler.waiting(n), scheduler.withdraw(n));
                        scan.withdraw(n);
                    }
                    _ if !running.is_empty() => {
                        let (n, j) = running.swap_remove(events.position(running.len()));
                        scheduler.release(n as usize, j as usize);
                        scan.release(n as usize, j as usize);
                    }
                    _ => {}
                }
            }
            scheduler.fill(&mut placed).unwrap();
            assert_eq!(placed, scan.refill(), "{rule}, seed {seed}, round {round}");
            for n in 0..users {
                assert_eq!(scheduler.running(n), scan.steps[n].iter().sum::<u64>(), "{rule}");
            }
            assert!(placed.iter().all(|(_, j)| !away[*j as usize]), "{rule}: a server that is away");
            total += placed.len();
            running.extend(&placed);
        }
    });
    match scheduled {
        Ok(()) => total,
        Err(MechanismError::NotApplicable { .. }) => 0,
        Err(error) => panic!("{rule}: {error}"),
    }
}

/// Returns the servers in slots: slots are the only resource, and users share them by turns.
fn in_slots(problem: &Problem, slots: u64) -> Problem {
    let largest =
        |r: usize| problem.servers().iter().map(|server| server.capacity()[r].clone()).max().unwrap();
    let one = |amount: Rational| vec![("slots".to_owned(), amount)];
    let counts = slots_of_servers(problem, slots);
    let servers = problem.servers().iter().zip(counts).map(|(server, slots)| ServerSpec {
        name: server.name().to_owned(),
        count: Some(Rational::from(server.count())),
        capacity: one(Rational::from(slots)),
    });
    let users = problem.users().iter().map(|user| {
        let parts = user.base_demand().iter().enumerate().filter(|(r, _)| largest(*r) > 0);
        let most = parts.map(|(r, d)| d / largest(r)).max().unwrap_or_default();
        UserSpec {
            name: user.name().to_owned(),
            weight: Some(user.weight().clone()),
            // A user that demands only resources that no server has fits nowhere and never runs.
            demand: one((most * slots).ceil().max(Rational::from(1))),
            ..UserSpec::default()
        }
    });
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec {
        resources: vec!["slots".to_owned()],
        servers,
        users,
        ..ProblemSpec::default()
    })
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn every_rule_continues_as_the_plain_scan(problem in problem(SMALL), seed in 0_u64..1000) {
        for rule in rules() {
            compare(&problem, &problem, Policy::Fill(rule), rule, seed, 12);
        }
    }

    #[test]
    fn slots_continue_as_the_plain_scan(
        problem in problem(Shape { demand_on: false, gamma: false, placement: false, ..SMALL }),
        slots in 1_u64..8,
        seed in 0_u64..1000,
    ) {
        let by_scan = in_slots(&problem, slots);
        for ties in [Ties::Low, Ties::High, Ties::Random] {
            let rule = Rule { ties, ..Rule::default() };
            compare(&problem, &by_scan, Policy::Slots { slots, ties }, rule, seed, 25);
        }
    }
}

/// Returns a problem with three classes of servers, and a problem with fewer of these servers, which the
/// other servers join later. Unless `is_free` is true, some users may run on only two classes.
fn with_places(seed: u64, is_free: bool) -> [Problem; 2] {
    let mut draw = Draw::new(seed, 8);
    let mut random = |most: u64| 1 + draw.below(most);
    let resources = if seed.is_multiple_of(3) { 3 } else { 2 };
    let names: Vec<String> = (0..resources).map(|r| format!("r{r}")).collect();
    let mut amounts = |least: u64, most: u64| -> Vec<(String, Rational)> {
        names.iter().map(|name| (name.clone(), Rational::from(least + random(most)))).collect()
    };
    let capacities: Vec<_> = (0..3).map(|_| amounts(3, 9)).collect();
    let demands: Vec<_> = (0..5).map(|_| amounts(0, 4)).collect();
    let counts: Vec<u64> = (0..3).map(|_| random(4)).collect();
    let first: Vec<u64> = counts.iter().map(|count| draw.below(count + 1)).collect();
    let problem = |counts: &[u64]| {
        let there: Vec<usize> = (0..3).filter(|i| counts[*i] > 0).collect();
        let servers = there.iter().map(|i| ServerSpec {
            name: format!("class {i}"),
            count: Some(Rational::from(counts[*i])),
            capacity: capacities[*i].clone(),
        });
        let user = |n: usize| {
            let named: Vec<String> =
                there.iter().filter(|i| **i != n % 3).map(|i| format!("class {i}")).collect();
            UserSpec {
                name: format!("user {n}"),
                demand: demands[n].clone(),
                servers: (n % 2 == 1 && !named.is_empty() && !is_free).then_some(named),
                ..UserSpec::default()
            }
        };
        let (servers, users) = (servers.collect(), (0..5).map(user).collect());
        Problem::new(ProblemSpec { resources: names.clone(), servers, users, ..ProblemSpec::default() })
    };
    // Every user needs a server in the second problem.
    let first = if first.iter().sum::<u64>() == 0 { counts.clone() } else { first };
    [problem(&counts).unwrap(), problem(&first).unwrap()]
}

#[test]
fn added_and_removed_servers_are_filled_as_by_the_plain_scan() {
    let (mut placed, mut refused) = (0, 0);
    for seed in 0..40 {
        let [problem, whole] = with_places(seed, false);
        for rule in rules() {
            let policy = Policy::Fill(rule);
            let both = [&problem, &problem];
            match compare_among(both, [&whole, &whole], policy, rule, seed, 24) {
                0 => refused += 1,
                tasks => placed += tasks,
            }
        }
        let [problem, whole] = with_places(seed, true);
        let slots = 1 + seed % 6;
        let (by_scan, whole_by_scan) = (in_slots(&problem, slots), in_slots(&whole, slots));
        for ties in [Ties::Low, Ties::High, Ties::Random] {
            let rule = Rule { ties, ..Rule::default() };
            let policy = Policy::Slots { slots, ties };
            // Slots are compared by their number. The scores of the scan are fractions of one cluster, in the
            // same order.
            let by = if whole_by_scan.total_capacity()[0] > 0 { &whole_by_scan } else { &by_scan };
            placed += compare_among([&problem, &by_scan], [&whole, by], policy, rule, seed, 24);
        }
    }
    assert!(placed > 20_000 && refused < 40 * 60 / 3, "{placed} {refused}");
}

/// Checks clusters on which most events concern one of many servers, as in a long run.
#[test]
fn long_runs_place_the_same_tasks_as_the_plain_scan() {
    let named = |amounts: [u64; 2]| {
        ["cpu", "memory"].map(str::to_owned).into_iter().zip(amounts.map(Rational::from)).collect::<Vec<_>>()
    };
    for seed in 0..4 {
        let mut draw = Draw::new(seed, 5);
        let mut random = |most: u64| 1 + draw.below(most);
        let classes = (0..3).map(|i| ServerSpec {
            name: format!("class {i}"),
            count: Some(Rational::from(random(6))),
            capacity: named([10 + random(20), 10 + random(20)]),
        });
        let servers = classes.collect();
        let users = (0..9).map(|n| UserSpec {
            name: format!("user {n}"),
            weight: Some(Rational::from(random(3))),
            demand: named([random(6), random(6)]),
            ..UserSpec::default()
        });
        let users = users.collect();
        let resources = vec!["cpu".to_owned(), "memory".to_owned()];
        let problem =
            Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() }).unwrap();
        for rule in rules() {
            let placed = compare(&problem, &problem, Policy::Fill(rule), rule, seed, 150);
            assert!(placed > 60, "{rule}: {placed}");
        }
    }
}

/// Checks clusters with so many users and servers that sets of users have several words and servers have
/// several blocks. Complete fillings alternate with single events.
#[test]
fn many_users_and_servers_are_filled_as_by_the_plain_scan() {
    use ServerRule::{BestFit, FirstFit};
    let named = |amounts: [u64; 2]| {
        ["cpu", "memory"].map(str::to_owned).into_iter().zip(amounts.map(Rational::from)).collect::<Vec<_>>()
    };
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    for (seed, is_alike) in [(0, true), (1, false)] {
        let mut draw = Draw::new(seed, 6);
        let mut random = |most: u64| 1 + draw.below(most);
        let servers = (0..3).map(|i| ServerSpec {
            name: format!("class {i}"),
            count: Some(Rational::from(15 + random(10))),
            capacity: named([100 + random(100), 100 + random(100)]),
        });
        let servers = servers.collect();
        let users = (0..70).map(|n| UserSpec {
            name: format!("user {n}"),
            weight: Some(Rational::from(random(3))),
            demand: named([4 + random(40), 4 + random(40)]),
            servers: (!is_alike && n % 3 == 0).then(|| vec!["class 0".to_owned(), "class 2".to_owned()]),
            ..UserSpec::default()
        });
        let users = users.collect();
        let spec = ProblemSpec { resources: resources.clone(), servers, users, ..ProblemSpec::default() };
        let problem = Problem::new(spec).unwrap();
        for (server, ties) in [
            (BestFit, Ties::Low),
            (BestFit, Ties::High),
            (BestFit, Ties::Random),
            (FirstFit, Ties::Low),
            (FirstFit, Ties::Random),
        ] {
            let rule = Rule { server, ties, ..Rule::default() };
            let mut scan = naive::ongoing(&problem, rule, seed);
            let mut events = Draw::new(seed, 7);
            schedule(&problem, Policy::Fill(rule), seed, |scheduler| {
                let (mut placed, mut running) = (Vec::new(), Vec::new());
                for round in 0..8 {
                    if round % 4 == 0 {
                        for n in 0..70 {
                            scheduler.submit(n, 3);
                            scan.submit(n, 3);
                        }
                    }
                    for _ in 0..if round % 4 == 3 { 60 } else { 1 } {
                        if running.is_empty() {
                            break;
                        }
                        let (n, j): (u32, u32) = running.swap_remove(events.position(running.len()));
                        scheduler.release(n as usize, j as usize);
                        scan.release(n as usize, j as usize);
                    }
                    scheduler.fill(&mut placed).unwrap();
                    assert_eq!(placed, scan.refill(), "{rule}, seed {seed}, round {round}");
                    running.extend(&placed);
                }
                assert!(running.len() > 200, "{}", running.len());
            })
            .unwrap();
        }
    }
}

/// Checks that the first filling is the filling of `fill` if all tasks are present from the start.
#[test]
fn the_first_filling_equals_the_mechanism() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "s1", "capacity": {"cpu": 100, "memory": 30}},
                    {"name": "s2", "capacity": {"cpu": 30, "memory": 100}}],
        "users": [{"name": "1", "demand": {"cpu": 5, "memory": 1}},
                  {"name": "2", "demand": {"cpu": 1, "memory": 5}}]}"#;
    let problem = evenhand_problem::format::Source { name: "kesidis", text }.problem().unwrap();
    for rule in rules() {
        let allocation = fill(&problem, rule, &Rational::from(1), 3).unwrap();
        let mut sums = vec![vec![0_u64; 2]; 2];
        schedule(&problem, Policy::Fill(rule), 3, |scheduler| {
            (0..2).for_each(|n| scheduler.submit(n, 1000));
            let mut placed = Vec::new();
            scheduler.fill(&mut placed).unwrap();
            placed.iter().for_each(|&(n, j)| sums[n as usize][j as usize] += 1);
        })
        .unwrap();
        for (n, row) in sums.iter().enumerate() {
            for (i, sum) in row.iter().enumerate() {
                assert_eq!(allocation.on(n, i), *sum, "{rule}: user {n} on server {i}");
            }
        }
    }
}

/// Applies an event `(user, server, tasks)` to a scheduler. With 0 tasks, a task ends.
fn apply(scheduler: &mut dyn Scheduler, event: (usize, usize, u64)) {
    match event {
        (n, j, 0) => scheduler.release(n, j),
        (n, _, tasks) => scheduler.submit(n, tasks),
    }
}

/// Checks that a scheduler that is given the running and waiting tasks of another scheduler continues as the
/// other scheduler does.
#[test]
fn a_scheduler_continues_from_the_tasks_of_another() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "s1", "count": 3, "capacity": {"cpu": 10, "memory": 7}},
                    {"name": "s2", "count": 2, "capacity": {"cpu": 6, "memory": 12}}],
        "users": [{"name": "1", "demand": {"cpu": 3, "memory": 1}},
                  {"name": "2", "demand": {"cpu": 1, "memory": 2}, "weight": 2},
                  {"name": "3", "demand": {"cpu": 2, "memory": 2}}]}"#;
    let problem = evenhand_problem::format::Source { name: "two kinds", text }.problem().unwrap();
    for rule in rules() {
        let policy = Policy::Fill(rule);
        schedule(&problem, policy, 5, |first| {
            let mut events = Draw::new(11, 0);
            let (mut placed, mut running) = (Vec::new(), Vec::new());
            let mut event = |running: &mut Vec<(u32, u32)>| match events.below(3) {
                0 => (events.position(3), 0, 1 + events.below(9)),
                _ if running.is_empty() => (0, 0, 1),
                _ => {
                    let (n, j) = running.swap_remove(events.position(running.len()));
                    (n as usize, j as usize, 0)
                }
            };
            for _ in 0..40 {
                apply(first, event(&mut running));
                first.fill(&mut placed).unwrap();
                running.extend(&placed);
            }
            schedule(&problem, policy, 0, |second| {
                for &(n, j) in &running {
                    assert!(second.occupy(n as usize, j as usize).unwrap());
                }
                (0..3).for_each(|n| second.submit(n, first.waiting(n)));
                second.set_draw(first.draw().clone());
                let mut others = Vec::new();
                second.fill(&mut others).unwrap();
                assert_eq!(others, [], "{rule}: what waits fits nowhere");
                for round in 0..40 {
                    let event = event(&mut running);
                    apply(first, event);
                    apply(second, event);
                    first.fill(&mut placed).unwrap();
                    second.fill(&mut others).unwrap();
                    assert_eq!(placed, others, "{rule}, round {round}");
                    running.extend(&placed);
                }
                assert!(!second.occupy(0, 99).unwrap() && !second.occupy(9, 0).unwrap());
            })
            .unwrap();
        })
        .unwrap();
    }
}
