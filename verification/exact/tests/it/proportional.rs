//! Tests of proportional and alpha fairness: known optima, allocations near them, prices that are approximately right,
//! and the bound itself on random instances.

use evenhand_exact::axiom::proportional::{self, MAX_ALPHA_TERM};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Parameters, Prices, Share, Tasks};
use evenhand_problem::{
    Allocation, Constraints, Problem, ProblemSpec, Rational, Row, RowKind, ServerSpec, Sharing, UserSpec,
};
use evenhand_testkit::agreement::assert_shown;
use evenhand_testkit::examples::{self, allocation, certificate, pool, problem, tasks};
use evenhand_testkit::{plain, q};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rug::ops::Pow;

fn judge(
    alpha: &Rational,
    evidence: Evidence,
    instance: &Instance<'_>,
    tolerance: &Rational,
) -> Result<Claim, String> {
    let parameters = Parameters::alpha(alpha.clone());
    Claim::with_evidence(Axiom::Proportional, parameters, evidence, instance, tolerance)
        .map_err(|refusal| refusal.to_string())
}

#[test]
fn figure_2_of_njc_is_proportional() {
    let pool = pool();
    let x = allocation(&pool, r#"{"1": {"pool": "1/3"}, "2": {"pool": "1/3"}, "3": {"pool": "5/6"}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    let mut prices = Prices::zero(&instance);
    prices.rows[0] = q("1");
    assert_eq!(proportional::gap(&instance, &q("1"), None, &prices).unwrap(), 0);
    let worth = proportional::worth(&instance, &q("1"), None).unwrap();
    assert_eq!(worth[2], Some((q("2/5"), q("2/5"))));
    // Lifting does not change correct prices.
    let users = vec![q("0"); 3];
    let lifted = proportional::lift_prices(&instance, &q("1"), None, &prices.rows, &users).unwrap();
    assert_eq!((lifted.rows, lifted.users), (prices.rows, users));
    // If no alpha is stated, it is 1.
    let evidence = Evidence::Prices(Prices { rows: vec![q("1"), q("0")], ..Prices::zero(&instance) });
    let claim = Claim::with_evidence(Axiom::Proportional, None, evidence, &instance, &q("0")).unwrap();
    assert_eq!((claim.alpha, claim.holds, claim.margin), (Some(q("1")), Some(true), Some(q("0"))));
}

#[test]
fn users_without_tasks_refute_proportionality() {
    let pool = pool();
    let x = allocation(&pool, r#"{"1": {"pool": 1}, "2": {"pool": -1}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    let prices = Evidence::Prices(Prices { rows: vec![q("9"), q("9")], ..Prices::zero(&instance) });
    for alpha in ["1", "2", "1/2"].map(q) {
        let refusal = judge(&alpha, prices.clone(), &instance, &q("100")).unwrap_err();
        assert_eq!(refusal, "user `2` has no tasks");
        for (user, expected) in [(0, false), (1, true), (2, true), (3, false)] {
            let claim = judge(&alpha, Evidence::Nothing { user }, &instance, &q("100"));
            assert_eq!(claim.is_ok(), expected);
            if let Ok(claim) = claim {
                assert_eq!((claim.holds, claim.margin), (Some(false), None));
            }
        }
        let users = vec![q("0"); 3];
        assert_eq!(proportional::lift_prices(&instance, &alpha, None, &users[..2], &users), None);
    }
}

#[test]
fn alpha_is_bounded() {
    let pool = pool();
    let x = allocation(&pool, r#"{"1": {"pool": "1/3"}, "2": {"pool": "1/3"}, "3": {"pool": "5/6"}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    for alpha in ["1/1000", "1000", "1000/999", "999/1000"].map(q) {
        let worth = proportional::worth(&instance, &alpha, None).unwrap();
        for (lower, upper) in worth.into_iter().flatten() {
            assert!(lower <= upper);
            assert!(Rational::from(&upper - &lower) * Rational::from(10).pow(50) <= lower);
        }
    }
    assert_eq!(MAX_ALPHA_TERM, 1000);
    for alpha in ["0", "-1", "1001", "1/1001", "1001/1000"].map(q) {
        let refusal = proportional::worth(&instance, &alpha, None).unwrap_err().to_string();
        assert!(refusal.contains("alpha is positive"), "{refusal}");
        assert!(judge(&alpha, Evidence::Nothing { user: 0 }, &instance, &q("0")).is_err());
    }
}

/// Powers of any size are refused before they are computed.
#[test]
fn huge_powers_are_refused() {
    let users = r#"[{"name": "u", "demand": {"cpu": 1e-300}}, {"name": "v", "demand": {"cpu": 1e-300}}]"#;
    let problem = problem(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{{"name": "a", "capacity": {{"cpu": 1}}}}], "users": {users}}}"#
    ));
    let x = allocation(&problem, r#"{"u": {"a": 1e300}, "v": {"a": 1e299}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    for (alpha, refused) in
        [("1", false), ("60", false), ("1000", true), ("1000/999", false), ("999/2", true)]
    {
        let worth = proportional::worth(&instance, &q(alpha), None);
        assert_eq!(worth.is_err_and(|refusal| refusal.is_too_large()), refused, "{alpha}");
    }
}

/// Roots that would take too long for all users together are also refused.
#[test]
fn too_many_roots_are_refused() {
    let user = |n: usize| UserSpec {
        name: format!("u{n}"),
        demand: vec![("cpu".to_owned(), q("1"))],
        ..UserSpec::default()
    };
    let server = ServerSpec { name: "a".to_owned(), count: None, capacity: vec![("cpu".to_owned(), q("1"))] };
    let (resources, servers) = (vec!["cpu".to_owned()], vec![server]);
    let users = (0..300).map(user).collect();
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    let tasks = vec![vec![(0, q("1/300"))]; 300];
    let instance = Instance::new(&problem, &Allocation { tasks, ..Allocation::default() }).unwrap();
    for (alpha, refused) in [("1/1000", true), ("999/1000", true), ("1000", false), ("1/100", false)] {
        assert_eq!(proportional::worth(&instance, &q(alpha), None).is_err(), refused, "{alpha}");
    }
}

#[test]
fn axioms_refuse_parameters_of_other_axioms() {
    let pool = pool();
    let x = allocation(&pool, "{}");
    let instance = Instance::new(&pool, &x).unwrap();
    let refused = |axiom, parameters: Parameters| {
        Claim::with_evidence(axiom, parameters, Evidence::Nothing { user: 0 }, &instance, &q("0"))
            .unwrap_err()
            .to_string()
    };
    let alpha = Parameters::alpha(q("2"));
    assert!(refused(Axiom::ParetoOptimal, alpha.clone()).contains("only proportional takes an alpha"));
    let both = |share| Parameters { share: Some(share), ..alpha.clone() };
    assert!(refused(Axiom::MaxMin, both(Share::Dominant)).contains("only proportional takes an alpha"));
    assert!(refused(Axiom::Proportional, both(Share::Dominant)).contains("proportional the share generic"));
    // The pool states no criterion, so the generic share does not apply.
    let why = Claim::applies(Axiom::Proportional, both(Share::Generic), &pool).unwrap_err();
    let claim = Claim::not_applicable(Axiom::Proportional, Some(Share::Generic), why);
    assert_eq!((claim.holds, claim.alpha.clone()), (None, Some(q("1"))));
    assert_shown(&pool, &x, &claim, &q("0"));
}

/// Kesidis, Corollary 1, for the generic share: the criterion is used instead of the tasks.
#[test]
fn the_generic_share_uses_the_criterion_instead_of_tasks() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}, {"name": "b", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "criterion": {"a": 3, "b": 1}},
                  {"name": "v", "demand": {"cpu": 1}, "criterion": {"a": 1, "b": 1}, "weight": 2}]}"#,
    );
    // The values of the two users are 3 y and 1 + (1 - y). The equation 3/(3 y) = 2/(2 - y) has the solution y = 2/3.
    let x = allocation(&problem, r#"{"u": {"a": "2/3"}, "v": {"a": "1/3", "b": 1}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let share = Share::Generic.coefficients(&problem).unwrap();
    let prices = Prices { rows: vec![q("3/2"), q("3/2")], users: vec![q("0"); 2], user_weights: vec![] };
    assert_eq!(proportional::gap(&instance, &q("1"), Some(&share), &prices).unwrap(), 0);
    let worth = proportional::worth(&instance, &q("1"), Some(&share)).unwrap();
    assert_eq!(worth[0], Some((q("1/2"), q("1/2"))));
    // Without the share, both servers are equally good, and the tasks are proportional to the weights.
    assert_eq!(proportional::gap(&instance, &q("1"), None, &prices).unwrap(), 0);
    let better = tasks(&[&[(0, "1")], &[(1, "1")]]);
    let margin = proportional::margin_of_better(&instance, &q("1"), Some(&share), &better).unwrap();
    assert_eq!(margin, q("0"));
    let margin = proportional::margin_of_better(&instance, &q("2"), Some(&share), &better).unwrap();
    // The margin is a fraction of the sum 1/2 + 3/2.
    assert_eq!(margin, q("1/16"));
}

/// An instance whose optimum is known from its optimality conditions. Prices and tasks are chosen first, then weights
/// and capacities that match them.
struct Known {
    problem: Problem,
    allocation: Allocation,
    prices: Prices,
}

fn known(seed: u64, alpha: i32, one_resource: bool) -> Known {
    let mut rng = Pcg64::seed_from_u64(seed);
    let rng = &mut rng;
    let (n, k, m) = match one_resource {
        true => (rng.random_range(2..7), 1, 1),
        false => (rng.random_range(2..7), rng.random_range(1..4), rng.random_range(1..4)),
    };
    let positive = |rng: &mut Pcg64| Rational::from((rng.random_range(1..20), rng.random_range(1..9)));
    let mut rows: Vec<Rational> =
        (0..k * m).map(|_| if rng.random_bool(0.7) { positive(rng) } else { Rational::new() }).collect();
    // The first resource of every class has a price, so that no task is free.
    (0..k).for_each(|i| rows[i * m] = positive(rng));
    let mut used = vec![Rational::new(); k * m];
    let mut users = Vec::new();
    let mut user_prices = Vec::new();
    let mut x: Tasks = Vec::new();
    for n in 0..n {
        let demand: Vec<Rational> = (0..m)
            .map(|r| if r == 0 || rng.random_bool(0.7) { positive(rng) } else { Rational::new() })
            .collect();
        let cost =
            |i: usize| -> Rational { (0..m).map(|r| Rational::from(&demand[r] * &rows[i * m + r])).sum() };
        let least = (0..k).map(cost).min().unwrap();
        let cheapest: Vec<usize> = (0..k).filter(|&i| cost(i) == least).collect();
        let on: Vec<(usize, Rational)> = cheapest.iter().map(|i| (*i, positive(rng))).collect();
        let total: Rational = on.iter().map(|(_, x)| x).sum();
        for (i, x) in &on {
            (0..m).for_each(|r| used[i * m + r] += Rational::from(&demand[r] * x));
        }
        let satisfied = !one_resource && rng.random_bool(0.3);
        let price = if satisfied { positive(rng) } else { Rational::new() };
        users.push(UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(&least + &price) * Rational::from((&total).pow(alpha))),
            tasks: if satisfied {
                Some(total.clone())
            } else {
                rng.random_bool(0.5).then(|| &total + positive(rng))
            },
            demand: demand.iter().enumerate().map(|(r, d)| (format!("r{r}"), d.clone())).collect(),
            ..UserSpec::default()
        });
        user_prices.push(price);
        x.push(on);
    }
    let servers = (0..k).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: None,
        capacity: (0..m)
            .map(|r| {
                let free = if rows[i * m + r].is_zero() { positive(rng) } else { Rational::new() };
                (format!("r{r}"), free + &used[i * m + r])
            })
            .collect(),
    });
    let servers = servers.collect();
    let resources = (0..m).map(|r| format!("r{r}")).collect();
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    let allocation = Allocation { tasks: x, ..Allocation::default() };
    // A class has rows only for the resources that it has.
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let price_of = |row: &Row| match row.kind {
        RowKind::Resource(r) => rows[row.server * m + r].clone(),
        RowKind::Time => unreachable!(),
    };
    let rows = constraints.rows().iter().map(price_of).collect();
    let prices = Prices { user_weights: vec![], rows, users: user_prices };
    Known { problem, allocation, prices }
}

/// Returns `prices`, each changed at random by a fraction of at most `1 / parts`.
fn nearly(prices: &[Rational], parts: u32, rng: &mut Pcg64) -> Vec<Rational> {
    let off = |rng: &mut Pcg64| Rational::from((rng.random_range(-100i32..=100), 100)) / parts;
    prices.iter().map(|price| price * (off(rng) + 1u32)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_known_optimum_is_proportional(seed in any::<u64>(), alpha in 1i32..4) {
        let Known { problem, allocation, prices } = known(seed, alpha, false);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let alpha = Rational::from(alpha);
        prop_assert_eq!(proportional::gap(&instance, &alpha, None, &prices).unwrap(), 0);
        let claim = judge(&alpha, Evidence::Prices(prices), &instance, &q("0")).unwrap();
        prop_assert_eq!(claim.margin.clone(), Some(q("0")));
        examples::assert_valid(&certificate(&problem, &allocation, vec![claim]));
        // By theory, fact 1, no user has a justified complaint in the proportionally fair allocation.
        if alpha == 1 {
            let njc = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
            prop_assert_eq!(njc.holds, Some(true), "{:?}", njc);
        }
    }

    /// In a pool with one resource, tasks are optimal exactly if they are proportional to weight over demand.
    #[test]
    fn one_resource_is_optimal_if_proportional(seed in any::<u64>(), part in 1u32..100) {
        let Known { problem, allocation, prices } = known(seed, 1, true);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let one = q("1");
        prop_assert_eq!(proportional::gap(&instance, &one, None, &prices).unwrap(), 0);
        let weights: Rational = problem.users().iter().map(evenhand_problem::User::weight).sum();
        let capacity = problem.total_capacity()[0].clone();
        for (n, user) in problem.users().iter().enumerate() {
            let fair = Rational::from(user.weight() * &capacity) / &weights / &user.base_demand()[0];
            prop_assert_eq!(instance.total(n), fair);
        }
        // A fraction of the tasks of the first user goes to the last user.
        let last = problem.n_users() - 1;
        let moved = &allocation.tasks[0][0].1 * Rational::from((part, 200));
        let demand = |n: usize| &problem.users()[n].base_demand()[0];
        let mut other = allocation.clone();
        other.tasks[0][0].1 -= &moved;
        other.tasks[last][0].1 += moved * demand(0) / demand(last);
        let beside = Instance::new(&problem, &other).unwrap();
        let better = Evidence::Better(allocation.tasks.clone());
        let claim = judge(&one, better, &beside, &q("0")).unwrap();
        prop_assert_eq!(claim.holds, Some(false));
        prop_assert!(judge(&one, Evidence::Prices(prices.clone()), &beside, &q("0")).is_err());
        let zero = vec![q("0"); problem.n_users()];
        let lifted = proportional::lift_prices(&beside, &one, None, &prices.rows, &zero).unwrap();
        let gap = proportional::gap(&beside, &one, None, &lifted).unwrap();
        // The bound on the gain of every allocation also bounds the gain of the moved allocation.
        let spent = proportional::total_worth(&beside, &one, None).unwrap();
        prop_assert!(gap >= -claim.margin.unwrap() * spent);
        let njc = Claim::derive(Axiom::Njc, &beside, &q("0")).unwrap();
        prop_assert_eq!(njc.holds, Some(false));
    }

    /// Lifted prices prove a bound that is not much worse than the bound of the exact prices.
    #[test]
    fn lifted_prices_prove(seed in any::<u64>(), alpha in 1i32..4, digits in 1u32..9) {
        let Known { problem, allocation, prices } = known(seed, alpha, false);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let alpha = Rational::from(alpha);
        let mut rng = Pcg64::seed_from_u64(seed);
        let parts = 10u32.pow(digits);
        let rows = nearly(&prices.rows, parts, &mut rng);
        let users = nearly(&prices.users, parts, &mut rng);
        let lifted = proportional::lift_prices(&instance, &alpha, None, &rows, &users).unwrap();
        let gap = proportional::gap(&instance, &alpha, None, &lifted).unwrap();
        let cost: Rational = instance.constraints().rows().iter().zip(&prices.rows)
            .map(|(row, price)| Rational::from(&row.capacity * price)).sum();
        let own: Rational = problem.users().iter().zip(&prices.users)
            .filter_map(|(user, price)| Some(Rational::from(user.tasks()? * price))).sum();
        prop_assert!(gap <= (cost + own) * 3u32 / parts, "{}", gap);
    }

    /// Alpha fairness of the same tasks with rounded powers. The bound is close to the bound with exact powers.
    #[test]
    fn bounds_with_rounded_powers_are_close(seed in any::<u64>(), power in 1u32..12, index in 2u32..12) {
        let Known { problem, allocation, prices } = known(seed, 1, false);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let alpha = Rational::from((power, index));
        let lifted = proportional::lift_prices(&instance, &alpha, None, &prices.rows, &prices.users).unwrap();
        let evidence = Evidence::Prices(lifted);
        // Weights that are right for alpha 1 can be arbitrary for another alpha. An allocation that is far from its
        // optimum is skipped.
        let Ok(claim) = judge(&alpha, evidence, &instance, &q("0.999")) else { return Ok(()) };
        // The plain checker computes the roots by its own method.
        let mut certificate = certificate(&problem, &allocation, vec![claim]);
        certificate.tolerance = q("0.999");
        prop_assert!(plain::is_true(&certificate));
        examples::assert_valid(&certificate);
    }

    /// Tests that no feasible allocation gains more than the bound.
    #[test]
    fn no_feasible_allocation_gains_more_than_the_bound(seed in any::<u64>(), power in 1u32..5, index in 1u32..4) {
        let Known { problem, allocation, prices } = known(seed, 1, false);
        let alpha = Rational::from((power, index));
        let mut rng = Pcg64::seed_from_u64(seed ^ 1);
        // Every user gets a fraction of its tasks, so the allocation stays feasible.
        let part = |rng: &mut Pcg64| Rational::from((rng.random_range(1..=4), 4));
        let shrunk = |rng: &mut Pcg64| -> Tasks {
            let part_of = |on: &Vec<(usize, Rational)>| on.iter().map(|(i, x)| (*i, part(rng) * x)).collect();
            allocation.tasks.iter().map(part_of).collect()
        };
        let x = Allocation { tasks: shrunk(&mut rng), ..Allocation::default() };
        let y = shrunk(&mut rng);
        let instance = Instance::new(&problem, &x).unwrap();
        let lifted = proportional::lift_prices(&instance, &alpha, None, &prices.rows, &prices.users).unwrap();
        let proven = proportional::margin_of_prices(&instance, &alpha, None, &lifted).unwrap().unwrap();
        for y in [&y, &allocation.tasks] {
            let shown = proportional::margin_of_better(&instance, &alpha, None, y).unwrap();
            prop_assert!(proven <= shown);
        }
    }
}
