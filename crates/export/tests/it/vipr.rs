//! Tests of exported files, which the test kit's own checker of VIPR reads.

use evenhand_exact::ratio::{self, PricingProof, TreeNode, worst_load};
use evenhand_exact::{Axiom, Certificate, Evidence, Instance};
use evenhand_export::{ExportError, LeftOut};
use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_testkit::build::ratio::Method;
use evenhand_testkit::certificates::{Kind, accepted_of, rejected_of};
use evenhand_testkit::examples::{self, with};
use evenhand_testkit::random::{optima, reservations};
use evenhand_testkit::vipr::{Checked, Goal, check};
use evenhand_testkit::{build, q};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::written::{Written, of_certificate, of_ratio, of_worst_load};

/// Checks that every file is valid and has the form that the strictest checkers require.
fn checked(export: &Written) -> Vec<(&str, Checked)> {
    let mut names: Vec<&str> = export.files.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let each = export.files.iter().map(|file| {
        let checked =
            check(&file.text).unwrap_or_else(|fault| panic!("{}: {fault}\n{}", file.name, file.text));
        // Each derivation has its own line, no coefficient is 0, and the file has an objective with a bound.
        assert_eq!(checked.zeros, 0, "{}", file.name);
        assert!(!file.text.contains("OBJ max\n0\n"), "{}", file.name);
        let (_, derivations) = file.text.split_once("DER ").expect("derivations");
        assert_eq!(derivations.lines().count(), checked.derivations + 1, "{}", file.name);
        assert!(!checked.variables.is_empty() && !checked.constraints.is_empty());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        assert!(file.name.chars().all(plain), "{}", file.name);
        (file.name.as_str(), checked)
    });
    each.collect()
}

fn range(checked: &Checked) -> (Rational, Option<Rational>) {
    match &checked.goal {
        Goal::Range { lower: Some(lower), upper } => (lower.clone(), upper.clone()),
        other => panic!("{other:?}"),
    }
}

fn source<'a>(name: &'a str, text: &'a str) -> Source<'a> {
    Source { name, text }
}

/// Checks that the bounds that prices prove are those of the claim.
fn assert_margins(certificate: &Certificate, files: &[(&str, Checked)]) {
    for claim in &certificate.claims {
        let (Axiom::ParetoOptimal | Axiom::Proportional, Evidence::Prices(_), Some(margin)) =
            (claim.axiom, &claim.evidence, &claim.margin)
        else {
            continue;
        };
        let name = match (claim.axiom, claim.share, &claim.alpha) {
            (Axiom::ParetoOptimal, ..) => "pareto-optimal.vipr".to_owned(),
            (_, None, Some(alpha)) => format!("proportional-{alpha}.vipr"),
            (_, _, Some(alpha)) => format!("proportional-generic-{alpha}.vipr"),
            _ => panic!("{claim:?}"),
        };
        let Some((_, file)) = files.iter().find(|(of, _)| *of == name) else {
            // Claims with irrational powers have no file, and neither do claims with limits of groups.
            let is_irrational = claim.alpha.as_ref().is_some_and(|alpha| !alpha.is_integer());
            assert!(is_irrational || certificate.problem.groups().have_limits(), "{name}");
            continue;
        };
        let (lower, upper) = range(file);
        let gap = upper.expect("a bound") - &lower;
        // The gap of proportional fairness is a fraction of the worth of the tasks, which is the lower end of
        // the range.
        let proven = if claim.axiom == Axiom::Proportional { gap / lower } else { gap };
        assert_eq!(-proven, *margin, "{name}");
    }
}

#[test]
fn exports_certificates_of_allocations() {
    let mut n_files = 0;
    for fixture in accepted_of(Kind::Allocation) {
        let certificate = Certificate::parse(&source(&fixture.name, &fixture.text)).unwrap();
        let export = of_certificate(&certificate).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let files = checked(&export);
        assert_margins(&certificate, &files);
        n_files += files.len();
        // Every claim has a file, or a reason why it has no file.
        assert!(files.len() + export.left_out.len() >= certificate.claims.len(), "{}", fixture.name);
    }
    assert!(n_files >= 25, "{n_files}");
}

#[test]
fn exports_certificates_of_ratios() {
    let mut trees = 0;
    for fixture in accepted_of(Kind::Ratio) {
        let certificate = ratio::RatioCertificate::parse(&source(&fixture.name, &fixture.text)).unwrap();
        let export = of_ratio(&certificate).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        assert_ratio(&certificate, &export);
        trees += export.files.iter().filter(|file| file.text.contains("{ uns")).count();
    }
    assert!(trees > 5, "{trees}");
}

#[test]
fn exports_certificates_of_worst_loads() {
    let mut n_files = 0;
    for fixture in accepted_of(Kind::WorstLoad) {
        let certificate =
            worst_load::WorstLoadCertificate::parse(&source(&fixture.name, &fixture.text)).unwrap();
        let export = of_worst_load(&certificate).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        n_files += checked(&export).len();
    }
    assert!(n_files > 10, "{n_files}");
}

/// Checks that the files prove the claims of the certificate about the optimum.
fn assert_ratio(certificate: &ratio::RatioCertificate, export: &Written) {
    let files = checked(export);
    let file = |name: &str| &files.iter().find(|(of, _)| *of == name).unwrap_or_else(|| panic!("{name}")).1;
    let optimum = &certificate.optimum;
    let both = (optimum.assignment.reward.clone(), Some(optimum.bound.clone()));
    assert_eq!(range(file("optimum.vipr")), both);
    if let Some(whole) = &certificate.integer {
        let (lower, upper) = range(file("whole-optimum.vipr"));
        let (reward, bound) = (&whole.optimum.assignment.reward, &whole.optimum.bound);
        assert!(file("whole-optimum.vipr").integer.iter().all(|integer| *integer));
        // Values are in units of the greatest common divisor of the rewards.
        assert_eq!(reward * upper.unwrap(), bound * lower);
    }
}

#[test]
fn exported_bounds_equal_random_optima() {
    let mut rng = Pcg64::seed_from_u64(11);
    for round in 0..300 {
        let optimum = optima::optimum(&mut rng, round % 3 == 0);
        let (problem, allocation) = (&optimum.problem, &optimum.allocation);
        let instance = Instance::new(problem, allocation).unwrap();
        // This evidence requires user weights of at least 1/g_n, where g_n is the number of tasks that user n
        // could have alone.
        let mut prices = optimum.prices.clone();
        let active = || (0..problem.n_users()).filter(|&n| instance.is_active(n));
        let least = active().map(|n| Rational::from(&prices.user_weights[n] * instance.scale(n))).min();
        let factor = least.filter(|least| *least > 0).map_or_else(|| q("1"), Rational::recip);
        for price in prices.user_weights.iter_mut().chain(&mut prices.rows).chain(&mut prices.users) {
            *price *= &factor;
        }
        let claims = vec![with(Axiom::ParetoOptimal, None, Evidence::Prices(prices), &instance)];
        let certificate = examples::certificate(problem, allocation, claims);
        let export = of_certificate(&certificate).unwrap();
        let files = checked(&export);
        assert_margins(&certificate, &files);
        let (lower, upper) = range(&files[0].1);
        assert_eq!(Some(lower), upper);
    }
}

#[test]
fn exported_bounds_equal_random_ratios() {
    let mut rng = Pcg64::seed_from_u64(12);
    let mut trees = 0;
    for round in 0..120 {
        let problem = reservations::random(&mut rng);
        let method = if round % 4 == 0 { Method::Tables } else { Method::Trees };
        let certificate = build::ratio::certificate(&problem, method);
        let export = of_ratio(&certificate).unwrap();
        assert_ratio(&certificate, &export);
        let expected = problem.configurations().is_none() && method == Method::Trees;
        assert_eq!(export.files.iter().any(|file| file.name.starts_with("pricing")), expected);
        trees += usize::from(expected);
    }
    assert!(trees > 40, "{trees}");
}

/// Boxes without a configuration: their bounds cross, or their lower bounds do not fit on the server.
#[test]
fn boxes_without_a_configuration_are_proved_infeasible() {
    let fixture = accepted_of(Kind::Ratio).into_iter().find(|fixture| fixture.name == "pools").unwrap();
    let mut certificate = ratio::RatioCertificate::parse(&source(&fixture.name, &fixture.text)).unwrap();
    let PricingProof::Tree { nodes, .. } = &mut certificate.optimum.pricing[0] else { panic!() };
    let [leaf] = nodes[..] else { panic!("{nodes:?}") };
    let split = |at| TreeNode::Split { job: 0, at };
    // 90 jobs do not fit. At least 90 jobs and at most 79 jobs are a contradiction. At least 2 jobs imply at
    // least 1 job.
    *nodes = vec![split(90), split(80), leaf, leaf, split(2), split(1), leaf, leaf, leaf];
    let export = of_ratio(&certificate).unwrap();
    assert_ratio(&certificate, &export);
    let pricing = export.files.iter().find(|file| file.name == "pricing-1.vipr").unwrap();
    assert!(pricing.text.matches("{ lin").count() >= 3, "{}", pricing.text);
}

#[test]
fn claims_without_a_linear_programme_are_listed() {
    let (_, certificate) = examples::good_certificates().swap_remove(0);
    let export = of_certificate(&certificate).unwrap();
    let what: Vec<&str> = export.left_out.iter().map(|left| left.what.as_str()).collect();
    assert!(what.contains(&"feasible") && what.contains(&"envy-free"), "{what:?}");
    let names: Vec<&str> = export.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["pareto-optimal.vipr", "max-min-drfh-level-1.vipr"]);
}

/// The files have no rows for the limits of groups, so claims that depend on such limits have no file.
#[test]
fn optimality_within_limits_has_no_file() {
    for (name, certificate) in examples::good_certificates() {
        if name.starts_with("limits-") {
            let export = of_certificate(&certificate).unwrap();
            assert!(export.files.is_empty(), "{name}");
            let is_said = |left: &LeftOut| left.why.contains("limits of groups");
            assert_eq!(export.left_out.iter().filter(|left| is_said(left)).count(), certificate.claims.len());
        }
    }
}

#[test]
fn invalid_certificates_are_not_exported() {
    let mut refused = 0;
    for fixture in rejected_of(Kind::Allocation) {
        let Ok(certificate) = Certificate::parse(&source(&fixture.name, &fixture.text)) else { continue };
        assert!(matches!(of_certificate(&certificate), Err(ExportError::NotValid(_))), "{}", fixture.name);
        refused += 1;
    }
    for fixture in rejected_of(Kind::Ratio) {
        let Ok(certificate) = ratio::RatioCertificate::parse(&source(&fixture.name, &fixture.text)) else {
            continue;
        };
        assert!(of_ratio(&certificate).is_err(), "{}", fixture.name);
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}
