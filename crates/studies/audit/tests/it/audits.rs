//! Tests of audits: violations are found, reduced and certified, and axioms that are guaranteed are not
//! violated.

use evenhand_audit::{AuditError, Audited, Probed, Property, Settings, Size, audit, document, draw};
use evenhand_certify::Request;
use evenhand_exact::{Axiom, Parameters, Share, check};
use evenhand_mechanisms::guarantees::{Condition, Guarantee};
use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::{Arithmetic, Problem};

fn settings(mechanism: &str) -> Settings {
    Settings { instances: 200, ..Settings::of(registry::find(mechanism).unwrap()) }
}

fn axiom<'a>(axioms: &'a [Audited], name: &str) -> &'a Audited {
    axioms.iter().find(|each| each.name == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn a_violated_axiom_is_found_shrunk_and_certified() {
    let found = audit(&settings("utilitarian"), |_| ()).unwrap();
    for name in ["envy-free", "sharing-incentive"] {
        let each = axiom(&found.axioms, name);
        let example = each.example.as_ref().expect("an example");
        assert!(each.violated > 0 && each.violated <= each.decided, "{each:?}");
        assert!(example.problem.n_users() == 2 && example.problem.n_servers() == 1, "{name}");
        assert!(example.margin.as_ref().unwrap() < &0);
        let certificate = &example.examination.certificate;
        assert!(check(certificate).valid, "{name}");
        assert_eq!(certificate.claims.len(), 1);
        assert_eq!(certificate.claims[0].holds, Some(false), "{name}");
    }
    assert_eq!(axiom(&found.axioms, "pareto-optimal").violated, 0);
}

/// Compares the proven table of guarantees with the results of audits.
#[test]
fn guaranteed_axioms_are_never_violated() {
    let mut held = 0;
    for name in ["drf", "drfh", "tsf", "asset", "utilitarian", "ps-dsf-tdm", "alpha", "fill"] {
        let mut settings = settings(name);
        if settings.mechanism.takes("alpha") {
            settings.flags = settings.flags.with("alpha", "2");
        }
        let found = audit(&settings, |_| ()).unwrap();
        for each in &found.axioms {
            // In the problems that are drawn, demands do not depend on classes, and servers are not shared by time.
            let always = [Condition::Always, Condition::OneDemand, Condition::Resources].map(Guarantee::When);
            if always.contains(&settings.mechanism.guarantee(each.axiom)) {
                assert!(each.violated == 0, "{name}: {each:?}");
                held += each.decided;
            }
        }
    }
    assert!(held > 3_000, "{held}");
}

/// DRF on one server is strategy-proof. It is population monotone if all demands are positive (Ghodsi and
/// others, 2011), but not if demands may be 0. It is not resource monotone. The utilitarian mechanism is not
/// strategy-proof.
#[test]
fn properties_that_fail_are_refuted() {
    let probe = |name: &str| {
        let instances = 150;
        audit(&Settings { properties: Property::ALL.to_vec(), instances, ..settings(name) }, |_| ()).unwrap()
    };
    let drf = probe("drf").properties;
    let of = |all: &[Probed], property| all.iter().find(|each| each.property == property).unwrap().clone();
    assert!(drf.iter().all(|each| each.tried > 40), "{drf:?}");
    for kept in [Property::StrategyProof, Property::ByDemand, Property::SingleServerDrf] {
        assert_eq!(of(&drf, kept).refuted, 0, "{drf:?}");
    }
    let leaving = of(&drf, Property::PopulationMonotone).example.expect("an example with zeros");
    assert!(leaving.after < leaving.before);
    let mut demands = leaving.problem.users().iter().flat_map(|user| user.base_demand().iter());
    assert!(demands.any(|d| d.is_zero()), "{leaving:?}");
    let most = probe("utilitarian").properties;
    let refuted =
        [Property::StrategyProof, Property::ByDemand, Property::ResourceMonotone].map(|p| of(&most, p));
    for each in refuted.iter().chain([&of(&drf, Property::ResourceMonotone)]) {
        let example = each.example.as_ref().unwrap_or_else(|| panic!("{each:?}"));
        assert!(example.problem.n_users() <= 3 && example.problem != example.changed, "{each:?}");
        let is_more = example.after > example.before;
        assert_eq!(is_more, each.property != Property::ResourceMonotone, "{each:?}");
    }
    let unlike = of(&most, Property::SingleServerDrf).example.expect("the most tasks are not fair");
    assert!(unlike.problem == unlike.changed && unlike.before != unlike.after);
}

#[test]
fn audits_can_be_restricted_to_one_axiom() {
    let request = Request { axiom: Axiom::MaxMin, parameters: Parameters::from(Some(Share::TaskShare)) };
    let found = audit(&Settings { requests: vec![request], ..settings("drfh") }, |_| ()).unwrap();
    let [each] = found.axioms.as_slice() else { panic!("{:?}", found.axioms) };
    assert!(each.name == "max-min:tsf" && each.violated > 0, "{each:?}");
}

#[test]
fn the_same_settings_give_the_same_audit() {
    let one = settings("drfh");
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let found = |threads: usize| pool(threads).install(|| document(&one, &audit(&one, |_| ()).unwrap()));
    assert_eq!(found(1), found(3));
    let other = Settings { seed: 1, ..settings("drfh") };
    assert_ne!(document(&other, &audit(&other, |_| ()).unwrap())["axioms"], found(1)["axioms"]);
}

#[test]
fn drawn_problems_are_valid() {
    let size = Size { users: 6, classes: 6, resources: 6 };
    for number in 0..500 {
        let problem = Problem::new(draw(3, number, size)).unwrap_or_else(|error| panic!("{number}: {error}"));
        assert!(problem.n_users() >= 1 && problem.n_resources() <= 6);
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |settings: Settings| audit(&settings, |_| ()).unwrap_err();
    let size = Size { users: 7, classes: 1, resources: 1 };
    assert!(matches!(refused(Settings { size, ..settings("drfh") }), AuditError::Setting { found: 7, .. }));
    let none = Settings { instances: 0, ..settings("drfh") };
    assert!(matches!(refused(none), AuditError::Setting { what: "instances", .. }));
    assert!(matches!(refused(settings("alpha")), AuditError::Mechanism(_)));
    let flags = Flags::new(Arithmetic::Exact).with("alpha", "x");
    assert!(matches!(refused(Settings { flags, ..settings("alpha") }), AuditError::Mechanism(_)));
    let of_resource = Parameters::from(Some(Share::Resource(0)));
    let request = Request { axiom: Axiom::MaxMin, parameters: of_resource };
    let one = Settings { requests: vec![request], ..settings("drfh") };
    assert!(matches!(refused(one), AuditError::Resource));
}
