//! References are verified by other means than those by which they were computed.

use std::collections::BTreeMap;

use evenhand_accuracy::case::{Case, Kind};
use evenhand_accuracy::references::{self, Reference, bound, planted};
use evenhand_accuracy::suite::{self, SEED, Suite};
use evenhand_exact::{Certificate, Prices, Tasks};
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum};
use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::format::Source;
use evenhand_problem::number::{format, to_f64};
use evenhand_problem::{Arithmetic, Constraints, Integer, Rational, RowKind, Sharing};
use rug::ops::Pow;

fn small_suite() -> Vec<Case> {
    suite::cases(Suite::Small, SEED).collect::<Result<_, _>>().unwrap()
}

fn case_and_reference(kind: Kind, name: &str) -> (Case, Reference) {
    let case = small_suite().into_iter().find(|case| case.kind == kind && case.name == name).unwrap();
    let reference = references::of(&case).unwrap();
    (case, reference)
}

/// The kernel accepts the certificate of every reference. It shares no code with the methods that computed
/// the reference.
#[test]
fn every_reference_has_a_certificate_that_the_kernel_accepts() {
    for case in small_suite() {
        let reference = references::of(&case).unwrap();
        let text = references::certificate(&case, &reference).unwrap().unwrap();
        let verdict = evenhand_exact::check_text(&text, case.problem().map(|_| case.kind.sharing()));
        assert!(
            verdict.valid && verdict.claims > 0 || case.reservation().is_some(),
            "{} {}",
            case.kind,
            case.name
        );
        assert_eq!(verdict.reason, None, "{} {}", case.kind, case.name);
        assert!(reference.error_bound < 1e-100, "{} {}: {:e}", case.kind, case.name, reference.error_bound);
        // A reference that is read back from its certificate equals the written reference, so later runs need
        // not compute it again.
        if case.planted.is_some() || case.reservation().is_some() {
            continue;
        }
        let read = Certificate::parse(&Source { name: "reference", text: &text }).unwrap();
        let read = references::of_certificate(&case, &read).unwrap();
        assert_eq!(read.sha256(), reference.sha256(), "{} {}", case.kind, case.name);
        assert_eq!((read.error_bound, read.proof), (reference.error_bound, reference.proof), "{}", case.name);
    }
}

/// The certificate for the largest number of tasks only proves Pareto optimality. The duality of linear
/// programmes proves that no allocation has more tasks.
#[test]
fn no_allocation_has_more_tasks() {
    for case in small_suite().into_iter().filter(|case| case.kind == Kind::Utilitarian) {
        let problem = case.problem().unwrap();
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let worth: Vec<Rational> = problem.users().iter().map(|user| user.weight().clone()).collect();
        let found = maximise_sum(&constraints, SumGoal::of(&worth)).unwrap();
        assert!(found.prices.iter().chain(&found.user_prices).all(|price| *price >= 0));
        let mut bound: Rational = constraints
            .rows()
            .iter()
            .zip(&found.prices)
            .map(|(row, p)| Rational::from(&row.capacity * p))
            .sum();
        for (n, worth) in worth.iter().enumerate() {
            bound += problem.users()[n]
                .tasks()
                .map_or_else(Rational::new, |t| Rational::from(t * &found.user_prices[n]));
            assert!(problem.users()[n].tasks().is_some() || found.user_prices[n].is_zero());
            for i in problem.classes_of(n) {
                let start = constraints.class_rows(i).start;
                let usage = constraints.usage(n, i).unwrap();
                let cost =
                    usage.entries().map(|(at, amount)| Rational::from(amount * &found.prices[start + at]));
                assert!(cost.sum::<Rational>() + &found.user_prices[n] >= *worth, "{}", case.name);
            }
        }
        assert_eq!(references::of(&case).unwrap().objective, Some(bound), "{}", case.name);
    }
}

#[test]
fn planted_allocations_are_the_only_optimum_nearby() {
    let planted: Vec<Case> = small_suite().into_iter().filter(|case| case.planted.is_some()).collect();
    assert!(planted.len() >= 10);
    for case in planted {
        let problem = case.problem().unwrap();
        let right = case.planted.clone().unwrap();
        assert_eq!(planted::verify(problem, &case.alpha, &right), Ok(()), "{}", case.name);
        let mut less = right.clone();
        less.tasks[0][0].1 *= Rational::from((999_999_999, 1_000_000_000));
        assert!(planted::verify(problem, &case.alpha, &less).is_err(), "{}", case.name);
        let mut dearer = right.clone();
        let priced = dearer.prices.rows.iter().position(|price| *price > 0).unwrap();
        dearer.prices.rows[priced] *= Rational::from((1_000_000_001, 1_000_000_000));
        assert!(planted::verify(problem, &case.alpha, &dearer).is_err(), "{}", case.name);
    }
}

#[test]
fn references_agree_with_limits_of_the_papers() {
    let near = |x: &Rational, p: u32, q: u32| to_f64(&(Rational::from(x * q) / p - 1u32).abs()) < 1e-70;
    for kind in [Kind::Pool, Kind::Njc] {
        let levels = |name: &str| case_and_reference(kind, name).1.levels.unwrap();
        // The levels of all three users are in Q(sqrt 2017).
        let three = levels("three-users");
        let roots = [
            Rational::from(&three[0] * 192u32) - 143u32,
            113u32 - Rational::from(&three[1] * 112u32),
            Rational::from(&three[2] * 336u32) + 1u32,
        ];
        assert!(roots.into_iter().all(|root| root > 0 && near(&root.square(), 2017, 1)));
        assert!(levels("family-z").iter().all(|x| near(x, 1, 2)));
        let free = levels("free-bottleneck");
        assert!(near(&free[0], 2, 3) && near(&free[1], 1, 2));
        // In NJC, Figure 2, only the first resource is scarce, and it is shared equally.
        let figure = levels("figure-2");
        assert!(near(&figure[0], 1, 3) && near(&figure[1], 1, 3) && near(&figure[2], 5, 6));
    }
}

/// Computes the bound directly from the problem, with the `q`-th root by bisection. The computation shares no
/// line with the code that computed the bound of the reference.
#[test]
fn every_irrational_level_is_proven_to_a_hundred_digits() {
    let mut of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    for case in small_suite().into_iter().filter(|case| case.kind.is_sum()) {
        let reference = references::of(&case).unwrap();
        let Some((prices, _)) = &reference.proof else { continue };
        let (problem, allocation) = (case.problem().unwrap(), reference.allocation.unwrap());
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let price = |i: usize, r: usize| {
            let at =
                constraints.class_rows(i).find(|at| constraints.rows()[*at].kind == RowKind::Resource(r));
            at.map_or_else(Rational::new, |at| prices.rows[at].clone())
        };
        let n_resources = problem.resources().len();
        let capacity = |i: usize, r: usize| -> Rational {
            Rational::from(&problem.servers()[i].capacity()[r] * problem.servers()[i].count())
        };
        let mut gap = Rational::new();
        for i in 0..problem.n_servers() {
            for r in 0..n_resources {
                let runs = allocation.tasks.iter().enumerate();
                let on = runs.filter_map(|(n, tasks)| Some((n, &tasks.iter().find(|(at, _)| *at == i)?.1)));
                let used: Rational = on.map(|(n, x)| Rational::from(&problem.demand(n, i)[r] * x)).sum();
                assert!(used <= capacity(i, r) && price(i, r) >= 0, "{}: {i} {r}", case.name);
                gap += price(i, r) * capacity(i, r);
            }
        }
        let mut least: Option<Rational> = None;
        for n in 0..problem.n_users() {
            let (user, total) = (&problem.users()[n], allocation.total(n));
            let [low, high] = enclosed(user.weight(), &total, &case.alpha);
            gap += prices.users[n].clone() * user.tasks().cloned().unwrap_or_default();
            assert!(prices.users[n] >= 0 && user.tasks().map_or(prices.users[n].is_zero(), |t| total <= *t));
            for i in (0..problem.n_servers()).filter(|i| problem.can_run(n, *i)) {
                let cost: Rational = (0..n_resources).map(|r| &problem.demand(n, i)[r] * price(i, r)).sum();
                assert!(cost + &prices.users[n] >= high, "{}: {n} pays too little on {i}", case.name);
            }
            let spent = low * &total;
            gap -= &spent;
            least = Some(least.map_or_else(|| spent.clone(), |least| least.min(spent.clone())));
        }
        // The bound is |t - 1| <= sqrt(c) + c, see docs/accuracy.md.
        let c = gap / least.unwrap() / case.alpha.clone().min(Rational::from(1));
        let bound = Rational::from_f64(reference.error_bound).unwrap();
        assert!(c > 0 && c <= Rational::from(&bound * &bound), "{} {}", case.kind, case.name);
        assert!(Rational::from(&c * Integer::from(10).pow(202u32)) < 1, "{} {}", case.kind, case.name);
        *of_kind.entry(case.kind).or_default() += 1;
        if !matches!(case.kind, Kind::Pool | Kind::Njc) {
            println!("{} {} {:e}", case.kind, case.name, reference.error_bound);
        }
    }
    for (kind, least) in [(Kind::Pool, 4), (Kind::Njc, 2), (Kind::Proportional, 4), (Kind::Alpha, 2)] {
        assert!(of_kind.get(&kind).is_some_and(|count| *count >= least), "{of_kind:?}");
    }
}

/// Returns two numbers with 330 common digits that enclose `w / x^(s/q)`.
fn enclosed(weight: &Rational, level: &Rational, alpha: &Rational) -> [Rational; 2] {
    let (s, q) = (alpha.numer().to_u32().unwrap(), alpha.denom().to_u32().unwrap());
    let power = Rational::from(weight.pow(q)) / Rational::from(level.pow(s));
    if q == 1 {
        return [power.clone(), power];
    }
    let (mut low, mut high) = (Rational::new(), Rational::from(&power + 1u32));
    while Rational::from(&high - &low) * Integer::from(10).pow(330u32) > high {
        // The middle of two numbers needs only one more bit.
        let middle = Rational::from(&low + &high) / 2u32;
        if Rational::from((&middle).pow(q)) <= power { low = middle } else { high = middle }
    }
    [low, high]
}

/// Compares the reference with the mechanism's answer, which has its own gap and is computed in other steps.
#[test]
fn references_by_newton_agree_with_the_mechanism() {
    let mut compared = 0;
    for case in small_suite().into_iter().filter(|case| case.kind.is_sum()) {
        let reference = references::of(&case).unwrap();
        let (Some(levels), true) = (reference.levels, reference.proof.is_some()) else { continue };
        let mechanism = registry::find(case.kind.mechanism().unwrap()).unwrap();
        let flags = Flags::new(Arithmetic::Exact);
        let flags = if case.kind == Kind::Alpha { flags.with("alpha", format(&case.alpha)) } else { flags };
        let other = mechanism.allocate_with(case.problem().unwrap(), &flags).unwrap();
        for (n, level) in levels.iter().enumerate() {
            let off = to_f64(&(other.allocation.total(n) / level - 1u32).abs());
            assert!(off < 1e-9, "{} {}: user {n} by {off:e}", case.kind, case.name);
        }
        compared += 1;
    }
    assert!(compared >= 12, "{compared}");
}

/// Starts from prices with a known relative error. The bound can then be compared with the true distance.
#[test]
fn the_bound_holds_far_from_the_limit() {
    let mut compared = 0;
    for case in small_suite().into_iter().filter(|case| case.kind.is_sum()) {
        let (problem, reference) = (case.problem().unwrap(), references::of(&case).unwrap());
        let Some((prices, _)) = &reference.proof else { continue };
        let (levels, allocation) = (reference.levels.unwrap(), reference.allocation.unwrap());
        for digits in [1, 3, 6, 9] {
            // Every second user has slightly less. Raised prices then still prove a bound.
            let off = Rational::from(1) - Rational::from((1, 10_u64.pow(digits)));
            let mut rough = allocation.clone();
            rough.tasks.iter_mut().step_by(2).flatten().for_each(|(_, x)| *x *= &off);
            let mut raised = prices.clone();
            let factor = Rational::from((&off).pow(3));
            raised.rows.iter_mut().chain(&mut raised.users).for_each(|price| *price /= &factor);
            let tasks = &rough.tasks;
            let bound = bound::prove(problem, Sharing::Rdm, &case.alpha, tasks, &raised).unwrap().error;
            let totals = rough.totals();
            let distance =
                totals.iter().zip(&levels).map(|(x, y)| to_f64(&(Rational::from(y / x) - 1u32).abs()));
            let distance = distance.fold(0.0, f64::max);
            assert!(distance > 0.0 && distance <= bound, "{}: {distance:e} {bound:e}", case.name);
            compared += 1;
        }
    }
    assert!(compared >= 40, "{compared} distances");
}

#[test]
fn evidence_that_proves_nothing_is_refused() {
    let (case, reference) = case_and_reference(Kind::Proportional, "random-5x2");
    let problem = case.problem().unwrap();
    let (tasks, (prices, bound)) = (reference.allocation.unwrap().tasks, reference.proof.unwrap());
    let prove =
        |tasks: &Tasks, prices: &Prices| bound::prove(problem, Sharing::Rdm, &case.alpha, tasks, prices);
    assert_eq!(prove(&tasks, &prices), Ok(bound));
    let change = |tasks: &Tasks, n: usize, factor: Rational| {
        let mut changed = tasks.clone();
        changed[n].iter_mut().for_each(|(_, x)| *x *= &factor);
        changed
    };
    let more = Rational::from(1) + Rational::from((1, Integer::from(10).pow(90u32)));
    let mut cheaper = prices.clone();
    cheaper.rows.iter_mut().for_each(|price| *price /= &more);
    let mut negative = prices.clone();
    negative.rows[0] = Rational::from(-1);
    let mut of_limit = prices.clone();
    of_limit.users[0] = Rational::from(1);
    for (tasks, prices, why) in [
        (&change(&tasks, 0, more), &prices, "the tasks exceed the capacity of a row"),
        (&change(&tasks, 0, Rational::from(-1)), &prices, "a negative number of tasks"),
        (&change(&tasks, 0, Rational::new()), &prices, "a user has no tasks"),
        (&tasks, &cheaper, "a task costs less than it is worth"),
        (&tasks, &negative, "a price is negative"),
        (&tasks, &of_limit, "a price is stated for a limit that does not exist"),
        (&tasks[1..].to_vec(), &prices, "expected one number for every user"),
    ] {
        let found = prove(tasks, prices).unwrap_err();
        assert!(found.contains(why), "{found} instead of {why}");
    }
}
