//! Tests that two valid certificates about one problem and allocation, with one tolerance, never contradict each other.
//!
//! Evidence that an axiom holds proves a lower bound of the margin. Evidence that it is violated proves an upper bound.
//! If no lower bound is above an upper bound, no tolerance makes both valid.

use evenhand_exact::axiom::max_min::{self, Standing};
use evenhand_exact::axiom::proportional;
use evenhand_exact::{
    Axiom, Claim, Evidence, Instance, Level, Parameters, PriceVector, Prices, Share, ShareCoefficients,
    Tasks, is_feasible,
};
use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_testkit::agreement::{agreed, agreed_claim};
use evenhand_testkit::examples::{self, certificate};
use evenhand_testkit::random::optima::{Optimum, disturbed, filled, mixed, optimum, perturbed};
use evenhand_testkit::{plain, q};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The margins of one axiom that evidence for it (`yes`) and evidence against it (`no`) show.
#[derive(Default)]
struct Shown {
    yes: Vec<Rational>,
    no: Vec<Rational>,
    claims: Vec<Claim>,
}

impl Shown {
    /// Judges evidence with a tolerance that accepts it, if there is such a tolerance, and records the margin.
    fn add(&mut self, axiom: Axiom, parameters: &Parameters, evidence: &Evidence, instance: &Instance<'_>) {
        let judge = |tolerance: &str| {
            Claim::with_evidence(axiom, parameters.clone(), evidence.clone(), instance, &q(tolerance))
        };
        if let Ok(claim) = judge("1e300") {
            self.yes.extend(claim.margin.clone());
            self.claims.push(claim);
        } else if let Ok(claim) = judge("0") {
            self.no.extend(claim.margin.clone());
            self.claims.push(claim);
        }
    }

    /// Fails if a lower bound is above an upper bound, or if the plain checker does not accept a single valid claim.
    fn judge(self, problem: &Problem, allocation: &Allocation) -> Result<(usize, usize), TestCaseError> {
        for yes in &self.yes {
            for no in &self.no {
                prop_assert!(yes <= no, "{} is proven, and {} is shown", yes, no);
            }
        }
        let counts = (self.yes.len(), self.no.len());
        for claim in self.claims {
            let mut certificate = certificate(problem, allocation, vec![claim]);
            for tolerance in ["0", "1/1000", "99/100"] {
                certificate.tolerance = q(tolerance);
                let verdict = agreed(&certificate);
                prop_assert_eq!(verdict.valid, plain::is_true(&certificate), "{:?}", verdict.reason);
            }
        }
        Ok(counts)
    }
}

/// Returns prices near the optimal prices. Some of them prove a bound.
fn all_prices(best: &Prices, rng: &mut Pcg64) -> Vec<Prices> {
    let mut all = vec![best.clone()];
    for part in [1_000_000u32, 100, 3] {
        let scaled = |values: &[Rational], rng: &mut Pcg64| -> Vec<Rational> {
            values.iter().map(|value| value * perturbed(part, rng)).collect()
        };
        let mut prices = best.clone();
        prices.rows = scaled(&best.rows, rng);
        prices.user_weights = scaled(&best.user_weights, rng);
        all.push(prices);
        let mut dearer = best.clone();
        dearer.rows.iter_mut().chain(&mut dearer.users).for_each(|p| *p *= Rational::from((part + 1, part)));
        all.push(dearer);
    }
    all
}

/// Returns allocations that may be better than the judged one.
fn all_better(optimum: &Optimum, instance: &Instance<'_>, rng: &mut Pcg64) -> Vec<Tasks> {
    let judged = instance.tasks();
    let best = &optimum.allocation.tasks;
    let mut all = vec![best.clone(), filled(instance, &judged)];
    for part in [1_000_000u32, 7, 2] {
        all.push(mixed(&judged, best, &Rational::from((1, part))));
    }
    let scaled: Tasks = judged
        .iter()
        .map(|on| {
            let factor = perturbed(5, rng);
            on.iter().map(|(i, x)| (*i, Rational::from(x * &factor))).collect()
        })
        .collect();
    all.push(filled(instance, &scaled));
    all
}

/// Scales prices for Pareto optimality: the weight of every user `n` is at least `1 / g_n`, and for at least one user
/// it is equal.
fn for_pareto(prices: &Prices, instance: &Instance<'_>) -> Prices {
    let users = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n));
    let least = users.map(|n| Rational::from(&prices.user_weights[n] * instance.scale(n))).min();
    let mut prices = prices.clone();
    if let Some(least) = least.filter(|least| *least > 0) {
        let all = prices.user_weights.iter_mut().chain(&mut prices.rows).chain(&mut prices.users);
        all.for_each(|value| *value /= &least);
    }
    prices
}

/// Scales prices for max-min, so that `l_n u_n / w_n` equals the user weights in `prices`.
fn for_max_min(prices: &Prices, problem: &Problem, share: &ShareCoefficients) -> Prices {
    let mut prices = prices.clone();
    for (n, weight) in prices.user_weights.iter_mut().enumerate() {
        if let Some(u) = share.uniform(n).filter(|u| !u.is_zero()) {
            *weight *= problem.users()[n].weight();
            *weight /= u;
        }
    }
    prices
}

fn levels_of(prices: &[Prices], instance: &Instance<'_>, share: &ShareCoefficients) -> Vec<Vec<Level>> {
    let covers = max_min::uncovered(instance, share).unwrap();
    let whole = prices.iter().map(|prices| {
        vec![Level {
            covers: covers.clone(),
            prices: PriceVector::of(&for_max_min(prices, instance.problem(), share)),
        }]
    });
    // Add the best of all vectors for each user.
    let vectors: Vec<PriceVector> = prices
        .iter()
        .map(|prices| PriceVector::of(&for_max_min(prices, instance.problem(), share)))
        .collect();
    let standing = Standing::new(instance, share).unwrap();
    let rises = vectors.iter().filter_map(|vector| {
        let rises: Vec<_> = standing.curve(vector).ok()?.rises().collect();
        Some((vector, rises))
    });
    let rises: Vec<_> = rises.collect();
    let each = covers.iter().filter_map(|&n| {
        let bounds = rises.iter().flat_map(|(vector, rises)| rises.iter().map(move |rise| (rise, *vector)));
        let (_, vector) = bounds.filter(|((m, _), _)| *m == n).min_by(|a, b| a.0.1.cmp(&b.0.1))?;
        Some(Level { covers: vec![n], prices: vector.clone() })
    });
    let each: Vec<Level> = each.collect();
    whole.chain([each]).collect()
}

/// Returns the number of pieces of evidence for Pareto optimality, and the number against it.
fn pareto(seed: u64) -> Result<(usize, usize), TestCaseError> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let optimum = optimum(&mut rng, false);
    let x = disturbed(&optimum, &mut rng);
    let instance = Instance::new(&optimum.problem, &x).unwrap();
    let mut shown = Shown::default();
    let none = Parameters::default();
    for prices in all_prices(&optimum.prices, &mut rng) {
        let evidence = Evidence::Prices(for_pareto(&prices, &instance));
        shown.add(Axiom::ParetoOptimal, &none, &evidence, &instance);
    }
    for better in all_better(&optimum, &instance, &mut rng) {
        shown.add(Axiom::ParetoOptimal, &none, &Evidence::Dominating(better), &instance);
    }
    prop_assert!(!shown.yes.is_empty());
    shown.judge(&optimum.problem, &x)
}

/// Returns the same counts for max-min, over all shares that are defined.
fn max_min_of(seed: u64, one_resource: bool) -> Result<(usize, usize), TestCaseError> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let optimum = optimum(&mut rng, one_resource);
    let (problem, x) = (&optimum.problem, disturbed(&optimum, &mut rng));
    let instance = Instance::new(problem, &x).unwrap();
    let prices = all_prices(&optimum.prices, &mut rng);
    let better = all_better(&optimum, &instance, &mut rng);
    let (mut yes, mut no) = (0, 0);
    for share in [Share::Dominant, Share::TaskShare, Share::Asset, Share::Generic, Share::Resource(0)] {
        let Ok(coefficients) = share.coefficients(problem) else { continue };
        let mut shown = Shown::default();
        for levels in levels_of(&prices, &instance, &coefficients) {
            shown.add(Axiom::MaxMin, &Some(share).into(), &Evidence::Levels(levels), &instance);
        }
        for allocation in &better {
            for user in 0..problem.n_users() {
                let rise = Evidence::Rise { resource: None, user, allocation: allocation.clone() };
                shown.add(Axiom::MaxMin, &Some(share).into(), &rise, &instance);
            }
        }
        let (more_yes, more_no) = shown.judge(problem, &x)?;
        (yes, no) = (yes + more_yes, no + more_no);
    }
    Ok((yes, no))
}

/// The properties below would be empty if evidence of one kind never occurred.
#[test]
fn the_generator_produces_evidence_of_both_kinds() {
    let (mut pareto_both, mut max_min_both) = (0, 0);
    for seed in 0..60 {
        let both = |(yes, no): (usize, usize)| usize::from(yes > 0 && no > 0);
        pareto_both += both(pareto(seed).unwrap());
        max_min_both += both(max_min_of(seed, seed % 2 == 0).unwrap());
    }
    assert!(pareto_both > 15 && max_min_both > 15, "{pareto_both} and {max_min_both} of 60");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pareto_optimality_has_only_one_verdict(seed in any::<u64>()) {
        pareto(seed)?;
    }

    #[test]
    fn max_min_has_only_one_verdict_for_every_share(seed in any::<u64>(), one_resource: bool) {
        max_min_of(seed, one_resource)?;
    }

    #[test]
    fn bottleneck_fairness_has_only_one_verdict(seed in any::<u64>(), one_resource: bool) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let optimum = optimum(&mut rng, one_resource);
        let (problem, x) = (&optimum.problem, disturbed(&optimum, &mut rng));
        let instance = Instance::new(problem, &x).unwrap();
        let prices = all_prices(&optimum.prices, &mut rng);
        let better = all_better(&optimum, &instance, &mut rng);
        for axiom in [Axiom::BottleneckFair, Axiom::GlobalBottleneckFair, Axiom::SingleResourceFair] {
            let Ok(resources) = axiom.bottlenecks(problem) else { continue };
            let mut shown = Shown::default();
            let by_resource: Vec<(usize, Vec<Vec<Level>>)> = resources
                .iter()
                .map(|&r| (r, levels_of(&prices, &instance, &Share::Resource(r).coefficients(problem).unwrap())))
                .collect();
            for at in 0..by_resource[0].1.len() {
                let levels = by_resource.iter().map(|(r, levels)| (*r, levels[at].clone())).collect();
                shown.add(axiom, &Parameters::default(), &Evidence::LevelsByResource(levels), &instance);
            }
            for allocation in &better {
                for (user, r) in (0..problem.n_users()).flat_map(|n| resources.iter().map(move |r| (n, *r))) {
                    let rise = Evidence::Rise { resource: Some(r), user, allocation: allocation.clone() };
                    shown.add(axiom, &Parameters::default(), &rise, &instance);
                }
            }
            shown.judge(problem, &x)?;
        }
    }

    #[test]
    fn proportional_fairness_has_only_one_verdict(seed in any::<u64>(), power in 1u32..4, index in 1u32..3) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let optimum = optimum(&mut rng, false);
        let x = disturbed(&optimum, &mut rng);
        let instance = Instance::new(&optimum.problem, &x).unwrap();
        let alpha = Parameters::alpha(Rational::from((power, index)));
        let mut shown = Shown::default();
        for prices in all_prices(&optimum.prices, &mut rng) {
            let of = alpha.alpha.as_ref().unwrap();
            let lifted = proportional::lift_prices(&instance, of, None, &prices.rows, &prices.users);
            for prices in lifted.into_iter().chain([prices]) {
                shown.add(Axiom::Proportional, &alpha, &Evidence::Prices(prices), &instance);
            }
        }
        for better in all_better(&optimum, &instance, &mut rng) {
            shown.add(Axiom::Proportional, &alpha, &Evidence::Better(better), &instance);
        }
        let nothing = (0..optimum.problem.n_users()).any(|user| {
            let evidence = Evidence::Nothing { user };
            Claim::with_evidence(Axiom::Proportional, alpha.clone(), evidence, &instance, &q("0")).is_ok()
        });
        prop_assert!(!nothing || shown.yes.is_empty(), "somebody has nothing, and prices prove something");
        shown.judge(&optimum.problem, &x)?;
    }

    /// Compares whole tasks of two users on one server with every other placement of whole tasks.
    #[test]
    fn integer_pareto_optimality_has_only_one_verdict(seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (one, two, capacity): (u32, u32, u32) =
            (rng.random_range(1..5), rng.random_range(1..5), rng.random_range(5..14));
        let problem = examples::problem(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu"],
            "servers": [{{"name": "a", "capacity": {{"cpu": "{capacity}/2"}}}}],
            "users": [{{"name": "1", "demand": {{"cpu": {one}}}}}, {{"name": "2", "demand": {{"cpu": {two}}}}}]}}"#
        ));
        let all: Vec<(u32, u32)> = (0..8).flat_map(|a| (0..8).map(move |b| (a, b))).collect();
        let fits: Vec<_> = all.into_iter().filter(|(a, b)| 2 * (a * one + b * two) <= capacity).collect();
        let placed = |(a, b): (u32, u32)| examples::placed(&problem, &[("a", 0, &a.to_string(), &b.to_string())]);
        let x = placed(fits[rng.random_range(0..fits.len())]);
        let instance = Instance::new(&problem, &x).unwrap();
        let mut shown = Shown::default();
        for factor in [q("1"), q("2/3"), q("3"), Rational::from((2, capacity))] {
            let weights = vec![Rational::from(one) * &factor, Rational::from(two) * &factor];
            let prices = Prices { user_weights: weights, rows: vec![factor], users: vec![q("0"), q("0")] };
            shown.add(Axiom::IntegerParetoOptimal, &Parameters::default(), &Evidence::Prices(prices), &instance);
        }
        for y in fits {
            let evidence = Evidence::DominatingPlacements(placed(y).placements.unwrap());
            shown.add(Axiom::IntegerParetoOptimal, &Parameters::default(), &evidence, &instance);
        }
        shown.judge(&problem, &x)?;
    }

    /// A derived axiom has only one verdict. Any evidence for the other verdict is refused.
    #[test]
    fn derived_axioms_have_only_one_verdict(seed in any::<u64>(), exponent in 0u32..13) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let one_resource = rng.random_bool(0.3);
        let optimum = optimum(&mut rng, one_resource);
        let x = disturbed(&optimum, &mut rng);
        let instance = Instance::new(&optimum.problem, &x).unwrap();
        let tolerance = if exponent == 0 { q("0") } else { q(&format!("1e-{exponent}")) };
        let plain = plain::Plain::new(&optimum.problem, &x);
        prop_assert_eq!(instance.repair(), &plain.repair());
        prop_assert_eq!(instance.tasks(), plain.tasks());
        prop_assert_eq!(is_feasible(&instance, &tolerance), plain.is_feasible(&tolerance));
        if !is_feasible(&instance, &tolerance) {
            for axiom in [Axiom::NonWasteful, Axiom::EnvyFree, Axiom::Njc, Axiom::WorkConserving] {
                let claim = Claim::derive(axiom, &instance, &tolerance).unwrap();
                let mut certificate = certificate(&optimum.problem, &x, vec![claim]);
                certificate.tolerance.clone_from(&tolerance);
                prop_assert!(agreed(&certificate).reason.unwrap().contains("the allocation is infeasible"));
            }
        }
        let strict = examples::derived_within(&instance, &q("0"));
        let lax = examples::derived_within(&instance, &q("0.999999"));
        for claim in examples::derived_within(&instance, &tolerance) {
            let mut alone = certificate(&optimum.problem, &x, vec![claim.clone()]);
            alone.tolerance.clone_from(&tolerance);
            let verdict = agreed(&alone);
            prop_assert!(verdict.valid, "{:?}", verdict.reason);
            prop_assert_eq!(plain::fault(&alone), None);
            let others = strict.iter().chain(&lax).chain([&claim]).filter(|other| other.axiom == claim.axiom);
            for other in others {
                let holds = claim.holds.map(|holds| !holds);
                let flipped = Claim { holds, evidence: other.evidence.clone(), ..claim.clone() };
                if holds.is_some() {
                    prop_assert!(!agreed_claim(&optimum.problem, &x, &flipped, &tolerance).valid);
                }
            }
        }
    }
}
