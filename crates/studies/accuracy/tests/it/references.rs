//! References, verified by other means than those by which they were found.

use evenhand_accuracy::case::{Case, Kind};
use evenhand_accuracy::references::{self, Reference, newton, planted};
use evenhand_accuracy::suite::{self, SEED, Suite};
use evenhand_lp::weighted_sum::{SumGoal, maximise_sum};
use evenhand_mechanisms::registry;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Arithmetic, Constraints, Rational, Sharing};

fn small() -> Vec<Case> {
    suite::cases(Suite::Small, SEED).collect::<Result<_, _>>().unwrap()
}

fn named(kind: Kind, name: &str) -> (Case, Reference) {
    let case = small().into_iter().find(|case| case.kind == kind && case.name == name).unwrap();
    let reference = references::of(&case).unwrap();
    (case, reference)
}

/// The kernel reads the certificate, and shares no code with what found it.
#[test]
fn every_reference_has_a_certificate_that_the_kernel_accepts() {
    for case in small() {
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
        assert!(reference.error_bound < 1e-40, "{} {}: {:e}", case.kind, case.name, reference.error_bound);
    }
}

/// The certificate of the most tasks says that they are Pareto optimal; that there are not more is duality.
#[test]
fn no_allocation_has_more_tasks() {
    for case in small().into_iter().filter(|case| case.kind == Kind::Utilitarian) {
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
fn what_is_planted_is_the_optimum_and_nothing_near_it_is() {
    let planted: Vec<Case> = small().into_iter().filter(|case| case.planted.is_some()).collect();
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
fn the_limits_of_the_papers() {
    let near = |x: &Rational, p: u32, q: u32| to_f64(&(Rational::from(x * q) / p - 1u32).abs()) < 1e-70;
    for kind in [Kind::Pool, Kind::Njc] {
        let levels = |name: &str| named(kind, name).1.levels.unwrap();
        // All three lie in Q(sqrt 2017).
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
        // NJC, Figure 2: the first resource alone is short, and shared equally.
        let figure = levels("figure-2");
        assert!(near(&figure[0], 1, 3) && near(&figure[1], 1, 3) && near(&figure[2], 5, 6));
    }
}

/// The mechanism goes another way (a path in doubles, then its own Newton method).
#[test]
fn the_mechanism_agrees_where_newton_was_used() {
    let mut compared = 0;
    for case in small().into_iter().filter(|case| case.kind.is_sum() && case.planted.is_none()) {
        let problem = case.problem().unwrap();
        if case.kind == Kind::Market || !newton::applies(problem) {
            continue;
        }
        let levels = references::of(&case).unwrap().levels.unwrap();
        let other = registry::find("proportional").unwrap().allocate(problem, Arithmetic::Exact).unwrap();
        for (n, level) in levels.iter().enumerate() {
            let off = to_f64(&(other.allocation.total(n) / level - 1u32).abs());
            assert!(off < 1e-9, "{} {}: user {n} by {off:e}", case.kind, case.name);
        }
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

/// From prices that are wrong by a known part, where the bound can be compared with the true distance.
#[test]
fn the_bound_holds_far_from_the_limit() {
    let mut compared = 0;
    for case in small().into_iter().filter(|case| case.kind == Kind::Pool) {
        let problem = case.problem().unwrap();
        let reference = references::of(&case).unwrap();
        let (levels, allocation) = (reference.levels.unwrap(), reference.allocation.unwrap());
        let (prices, _) = reference.proof.unwrap();
        for digits in [1, 3, 6, 9] {
            // Every second user has a little less, and prices are what then proves something.
            let off = Rational::from(1) - Rational::from((1, 10_u64.pow(digits)));
            let mut rough = allocation.clone();
            rough.tasks.iter_mut().step_by(2).flatten().for_each(|(_, x)| *x *= &off);
            let mut raised = prices.clone();
            raised.rows.iter_mut().chain(&mut raised.users).for_each(|price| *price /= &off);
            let Ok(gap) = references::proven_gap(problem, &rough, &1.into(), &raised) else { continue };
            let bound = references::distance(problem, &rough, &1.into(), &gap);
            let totals = rough.totals();
            let distance =
                totals.iter().zip(&levels).map(|(x, y)| to_f64(&(Rational::from(y / x) - 1u32).abs()));
            let distance = distance.fold(0.0, f64::max);
            assert!(distance <= bound + reference.error_bound, "{}: {distance:e} {bound:e}", case.name);
            compared += usize::from(distance > 1e-12);
        }
    }
    assert!(compared >= 12, "{compared} distances are more than nothing");
}
