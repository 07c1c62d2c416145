//! The results of an audit of every mechanism: the axioms that it breaks, each with a small problem.

use evenhand_audit::{Audit, AuditError, Audited, Example, Settings, audit};
use evenhand_certify::Request;
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::Rational;
use evenhand_problem::format::problem_to_json;

/// The number of random problems of an audit for a single axiom. Most axioms that can be violated are violated on one
/// problem in ten.
const FEW: u64 = 200;
/// The flags of mechanisms that cannot be audited without a flag.
const FLAGS: [(&str, &str); 2] = [("alpha", "2"), ("slots", "4")];

/// The audits of all mechanisms, in the order of the registry.
pub struct Audits {
    all: Vec<(&'static Mechanism, Audit)>,
}

impl Audits {
    /// Audits every mechanism by its usual axioms.
    ///
    /// # Errors
    /// A mechanism needs a flag that is not set here.
    pub fn run() -> Result<Self, AuditError> {
        let one = |mechanism| Ok((mechanism, audit(&settings(mechanism), |_| ())?));
        Ok(Self { all: registry::ALL.iter().copied().map(one).collect::<Result<_, AuditError>>()? })
    }

    /// Returns the axioms that a mechanism breaks, each with an example.
    pub(crate) fn broken_by(&self, mechanism: &Mechanism) -> impl Iterator<Item = (&Audited, &Example)> {
        let of = self.all.iter().find(|(each, _)| each.info.id == mechanism.info.id);
        of.into_iter()
            .flat_map(|(_, audit)| &audit.axioms)
            .filter_map(|each| Some((each, each.example.as_ref()?)))
    }

    /// Returns the smallest problem on which a mechanism breaks the axiom, with this mechanism and the axiom's name.
    /// Among equally small problems, the first mechanism of the registry is taken. If the usual audits do not cover the
    /// axiom, audits for this axiom are run.
    pub(crate) fn against(&self, axiom: Axiom) -> Option<(&'static Mechanism, String, Example)> {
        let usual = self.all.iter().flat_map(|(mechanism, audit)| {
            let broken = audit.axioms.iter().filter(|each| each.axiom == axiom);
            broken.filter_map(|each| Some((*mechanism, each.name.clone(), each.example.clone()?)))
        });
        usual.min_by_key(|(_, _, example)| size(example)).or_else(|| asked(axiom))
    }
}

/// Returns the flags for an audit of the mechanism, as they are written on the command line.
pub(crate) fn flags(mechanism: &Mechanism) -> String {
    let set = FLAGS.iter().filter(|(name, _)| mechanism.takes(name));
    set.map(|(name, value)| format!(" --{name} {value}")).collect()
}

/// Returns the settings for an audit of the mechanism, with the flags that it needs.
pub(crate) fn settings(mechanism: &'static Mechanism) -> Settings {
    let mut settings = Settings::of(mechanism);
    for (name, value) in FLAGS.iter().filter(|(name, _)| mechanism.takes(name)) {
        settings.flags = settings.flags.with(name, *value);
    }
    settings
}

/// Returns the number of users, classes and resources together, and the length of the problem's text.
fn size(example: &Example) -> (usize, usize) {
    let problem = &example.problem;
    (problem.n_users() + problem.n_servers() + problem.n_resources(), problem_to_json(problem).len())
}

/// Audits the mechanisms for this axiom, and returns the first mechanism that breaks it.
fn asked(axiom: Axiom) -> Option<(&'static Mechanism, String, Example)> {
    let parameters = match axiom {
        Axiom::MaxMin => Parameters::from(Some(Share::Dominant)),
        Axiom::Proportional => Parameters { alpha: Some(Rational::from(1)), ..Parameters::default() },
        _ => Parameters::default(),
    };
    registry::ALL.iter().copied().find_map(|mechanism| {
        let requests = vec![Request { axiom, parameters: parameters.clone() }];
        let found = audit(&Settings { requests, instances: FEW, ..settings(mechanism) }, |_| ()).ok()?;
        let each = found.axioms.into_iter().find(|each| each.axiom == axiom)?;
        Some((mechanism, each.name, each.example?))
    })
}
