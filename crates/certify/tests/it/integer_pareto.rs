//! Compares Pareto optimality among whole tasks with an enumeration of all placements.

use evenhand_certify::{Request, certify};
use evenhand_exact::Axiom;
use evenhand_problem::{Allocation, Placement, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use evenhand_testkit::agreement::agreed;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Returns a random problem with two users, up to three single servers and two resources.
fn problem(rng: &mut Pcg64) -> Problem {
    let amounts = |rng: &mut Pcg64, from: i32, to: i32| -> Vec<(String, Rational)> {
        ["cpu", "memory"].map(|r| (r.to_owned(), Rational::from((rng.random_range(from..to), 2)))).into()
    };
    let servers = (0..rng.random_range(1..3)).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: Some(Rational::from(if i == 0 { rng.random_range(1..3) } else { 1 })),
        capacity: amounts(rng, 3, 13),
    });
    let servers = servers.collect();
    let users = (0..2).map(|n| UserSpec {
        name: format!("u{n}"),
        demand: amounts(rng, 2, 7),
        tasks: rng.random_bool(0.3).then(|| Rational::from(rng.random_range(1..4))),
        ..UserSpec::default()
    });
    let users = users.collect();
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap()
}

/// Returns all pairs of totals that fit, each with its tasks on every single server.
fn feasible_totals(problem: &Problem) -> Vec<([i32; 2], Vec<[i32; 2]>)> {
    let mut found: Vec<([i32; 2], Vec<[i32; 2]>)> = vec![([0, 0], Vec::new())];
    for (i, server) in problem.servers().iter().enumerate() {
        let fits = |x: [i32; 2]| {
            (0..2).all(|r| {
                let used: Rational = (0..2).map(|n| problem.demand(n, i)[r].clone() * x[n]).sum();
                used <= server.capacity()[r]
            })
        };
        let here: Vec<[i32; 2]> =
            (0..8).flat_map(|a| (0..8).map(move |b| [a, b])).filter(|&x| fits(x)).collect();
        for _ in 0..server.count() {
            let extend = |(total, on): &([i32; 2], Vec<[i32; 2]>)| {
                let (total, on) = (*total, on.clone());
                let more = here.iter().map(move |x| {
                    let mut on = on.clone();
                    on.push(*x);
                    ([total[0] + x[0], total[1] + x[1]], on)
                });
                more.collect::<Vec<_>>()
            };
            found = found.iter().flat_map(extend).collect();
            found.sort();
            found.dedup_by_key(|(total, _)| *total);
        }
    }
    let enough = |n: usize, x: i32| problem.users()[n].tasks().is_none_or(|tasks| *tasks >= x);
    found.retain(|(x, _)| enough(0, x[0]) && enough(1, x[1]));
    found
}

#[test]
fn verdicts_agree_with_enumeration() {
    let mut rng = Pcg64::seed_from_u64(11);
    let (mut proven, mut refuted, mut open) = (0, 0, 0);
    for _ in 0..150 {
        let problem = problem(&mut rng);
        let all = feasible_totals(&problem);
        // One pair of totals is random. No other pair dominates the second.
        for at in [rng.random_range(0..all.len()), all.len() - 1] {
            let (x, on) = &all[at];
            let dominated = all.iter().any(|(y, _)| y != x && y[0] >= x[0] && y[1] >= x[1]);
            let singles =
                problem.servers().iter().enumerate().flat_map(|(i, s)| (0..s.count()).map(move |k| (i, k)));
            let placements = singles.zip(on).map(|((server, index), x)| Placement {
                server,
                index,
                tasks: vec![(0, Rational::from(x[0])), (1, Rational::from(x[1]))],
            });
            let placements: Vec<Placement> = placements.collect();
            let tasks = (0..2).map(|n| {
                let on =
                    |i: usize| placements.iter().filter(move |p| p.server == i).map(|p| &p.tasks[n].1).sum();
                (0..problem.n_servers()).map(|i| (i, on(i))).collect()
            });
            let tasks = tasks.collect();
            let allocation =
                Allocation { tasks, placements: Some(placements.clone()), ..Allocation::default() };
            let request = [Request::of(Axiom::IntegerParetoOptimal)];
            let found = certify(&problem, &allocation, &request, &Rational::new()).unwrap();
            assert!(found.certificate.claims.is_empty() || agreed(&found.certificate).valid);
            match found.certificate.claims.first().map(|claim| claim.holds) {
                Some(Some(true)) => {
                    assert!(!dominated);
                    proven += 1;
                }
                Some(Some(false)) => {
                    assert!(dominated);
                    refuted += 1;
                }
                Some(None) => panic!("it applies"),
                None => {
                    assert!(!dominated, "{:?}", found.undecided);
                    open += 1;
                }
            }
        }
    }
    println!("{proven} proven, {refuted} refuted, {open} optimal and not proven");
    assert!(proven > 20 && refuted > 20 && open > 5);
}
