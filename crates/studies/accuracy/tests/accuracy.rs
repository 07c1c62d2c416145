//! What the measurements say. Times are never judged.
#![allow(missing_docs)]

use std::sync::OnceLock;

use evenhand_accuracy::accuracy::{self, Accuracy, Measured, Run};
use evenhand_accuracy::contenders::{Contender, RungeKutta, TRAJECTORY_TOLERANCES};
use evenhand_accuracy::{Effort, instances, pictures, reference};
use evenhand_exact::{Instance, Prices, axiom::feasible, axiom::proportional};
use evenhand_problem::{Allocation, Rational};

fn measured(seed: u64) -> Accuracy {
    accuracy::run(seed, Effort::of_runs(1), |_| ()).unwrap()
}

/// Seed 0, measured once for all tests.
fn first() -> &'static Accuracy {
    static FIRST: OnceLock<Accuracy> = OnceLock::new();
    FIRST.get_or_init(|| measured(0))
}

fn of_method<'a>(measured: &'a Measured, method: &'a str) -> impl Iterator<Item = &'a Run> {
    measured.results.iter().filter(move |outcome| outcome.contender.method() == method)
}

fn at(measured: &Measured, tolerance: f64, c_max: f64) -> &Run {
    let wanted = Contender::Trajectory { method: RungeKutta::Dop853, tolerance, c_max };
    measured.results.iter().find(|outcome| outcome.contender == wanted).unwrap()
}

#[test]
fn references_are_feasible_and_proven() {
    for seed in 0..10 {
        for instance in instances::all(seed) {
            let problem = instance.problem().unwrap();
            let reference = reference::of(&instance, &problem).unwrap();
            let mut allocation = Allocation::empty(instance.n_users(), Default::default());
            for (tasks, x) in allocation.tasks.iter_mut().zip(&reference.x) {
                tasks.push((0, x.clone()));
            }
            let judged = Instance::new(&problem, &allocation).unwrap();
            assert!(feasible::holds_exactly(&judged), "{}", instance.name);
            let (rows, users) = (reference.prices.clone(), reference.user_prices.clone());
            let prices = Prices { user_weights: Vec::new(), rows, users };
            let gap = proportional::gap(&judged, &Rational::from(1), None, &prices).unwrap();
            assert_eq!(gap, reference.gap);
            assert!(evenhand_problem::number::to_f64(&gap) < 1e-100 && reference.error_bound < 1e-45);
        }
    }
}

#[test]
fn references_of_the_papers() {
    let near = |x: &Rational, p: u32, q: u32| {
        let off = Rational::from(x * q) / p - 1u32;
        evenhand_problem::number::to_f64(&off.abs()) < 1e-70
    };
    let named = |name: &str| {
        let instance = instances::all(0).into_iter().find(|instance| instance.name == name).unwrap();
        reference::of(&instance, &instance.problem().unwrap()).unwrap().x
    };
    // All three lie in Q(sqrt 2017).
    let three = named("three-users");
    let roots = [
        Rational::from(&three[0] * 192u32) - 143u32,
        113u32 - Rational::from(&three[1] * 112u32),
        Rational::from(&three[2] * 336u32) + 1u32,
    ];
    assert!(roots.into_iter().all(|root| root > 0 && near(&root.square(), 2017, 1)));
    assert!(named("family-z").iter().all(|x| near(x, 1, 2)));
    let free = named("free-bottleneck");
    assert!(near(&free[0], 2, 3) && near(&free[1], 1, 2));
    // NJC, Figure 2: the first resource alone is short, and shared equally.
    let figure = named("figure-2");
    assert!(near(&figure[0], 1, 3) && near(&figure[1], 1, 3) && near(&figure[2], 5, 6));
}

#[test]
fn the_path_follower_is_right_to_rounding() {
    for accuracy in [first(), &measured(1)] {
        for measured in &accuracy.instances {
            let name = &measured.instance.name;
            let solved = of_method(measured, "path follower").filter(|outcome| outcome.status == "solved");
            let mut count = 0;
            for outcome in solved {
                let judgement = outcome.judgement;
                assert!(judgement.error < 1e-13, "{name}: {outcome:?}");
                assert!(judgement.njc_margin.unwrap() > -1e-12, "{name}: {outcome:?}");
                assert!(judgement.gap.unwrap() < 1e-10, "{name}: {outcome:?}");
                count += 1;
            }
            assert!(count >= 3, "{name}: {count} of the settings solve it");
        }
    }
}

#[test]
fn the_trajectory_nears_its_limit_as_one_over_c() {
    for measured in &first().instances {
        let name = &measured.instance.name;
        // Where slack and price of a resource both tend to 0 the distance is 1 / sqrt(c).
        let expected = if name == "free-bottleneck" { 1e-2 } else { 1e-4 };
        for tolerance in TRAJECTORY_TOLERANCES {
            let (near, far) = (at(measured, tolerance, 1e12), at(measured, tolerance, 1e8));
            assert_eq!((near.status.as_str(), far.status.as_str()), ("reached c", "reached c"), "{name}");
            let ratio = near.judgement.error / far.judgement.error;
            assert!((0.5..2.0).contains(&(ratio / expected)), "{name}, tolerance {tolerance:e}: {ratio:e}");
        }
        let drift = |tolerance: f64| at(measured, tolerance, 1e4).drift.unwrap();
        assert!(drift(1e-4) < 1e-1 && drift(1e-12) < 1e-8, "{name}");
        assert!(drift(1e-12) < 1e-2 * drift(1e-4), "{name}: a smaller tolerance drifts less");
    }
}

#[test]
fn others_end_where_their_methods_do() {
    let measured = measured(3);
    for instance in &measured.instances {
        let name = &instance.instance.name;
        for outcome in &instance.results {
            assert!(outcome.judgement.error.is_finite() && outcome.seconds > 0.0, "{name}: {outcome:?}");
            assert!(outcome.judgement.gap.is_none_or(|gap| gap >= 0.0), "{name}: {outcome:?}");
        }
        let least = |method| {
            of_method(instance, method).map(|outcome| outcome.judgement.error).fold(f64::MAX, f64::min)
        };
        assert!(least("interior point") < 1e-7, "{name}");
        assert!(least("clarabel") < 1e-4, "{name}");
        assert!(least("highs") < 1e-2, "{name}");
    }
    for figure in [pictures::work_precision(&measured), pictures::trajectory(&measured)] {
        let svg = figure.to_svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
