//! What audits find of every mechanism: the axioms that it breaks, each with a small problem.

use evenhand_audit::{Audit, AuditError, Audited, Example, Settings, audit};
use evenhand_certify::Request;
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::Rational;
use evenhand_problem::format::problem_to_json;

/// Problems of an audit for one axiom alone: most that can be violated are so on one in ten.
const FEW: u64 = 200;
/// What mechanisms that need a flag are audited with.
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

    /// The axioms that a mechanism breaks.
    pub(crate) fn broken_by(&self, mechanism: &Mechanism) -> impl Iterator<Item = (&Audited, &Example)> {
        let of = self.all.iter().find(|(each, _)| each.info.id == mechanism.info.id);
        of.into_iter()
            .flat_map(|(_, audit)| &audit.axioms)
            .filter_map(|each| Some((each, each.example.as_ref()?)))
    }

    /// The smallest problem on which a mechanism breaks the axiom, the earliest of the registry among equals. Axioms that
    /// usual audits do not ask for are asked for.
    pub(crate) fn against(&self, axiom: Axiom) -> Option<(&'static Mechanism, String, Example)> {
        let usual = self.all.iter().flat_map(|(mechanism, audit)| {
            let broken = audit.axioms.iter().filter(|each| each.axiom == axiom);
            broken.filter_map(|each| Some((*mechanism, each.name.clone(), each.example.clone()?)))
        });
        usual.min_by_key(|(_, _, example)| size(example)).or_else(|| asked(axiom))
    }
}

/// The flags of an audit on the command line.
pub(crate) fn flags(mechanism: &Mechanism) -> String {
    let set = FLAGS.iter().filter(|(name, _)| mechanism.takes(name));
    set.map(|(name, value)| format!(" --{name} {value}")).collect()
}

/// Settings of the mechanism, with the flags that it cannot do without.
pub(crate) fn settings(mechanism: &'static Mechanism) -> Settings {
    let mut settings = Settings::of(mechanism);
    for (name, value) in FLAGS.iter().filter(|(name, _)| mechanism.takes(name)) {
        settings.flags = settings.flags.with(name, *value);
    }
    settings
}

/// Users, classes and resources, and then how much there is to read.
fn size(example: &Example) -> (usize, usize) {
    let problem = &example.problem;
    (problem.n_users() + problem.n_servers() + problem.n_resources(), problem_to_json(problem).len())
}

/// The first mechanism that breaks an axiom which is asked for by name.
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
