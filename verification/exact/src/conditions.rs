//! What the reader of a certificate asks of it, beyond that it is true.

use evenhand_problem::{Allocation, Placement, Problem, Rational, Sharing, number};

use crate::axiom::Axiom;
use crate::certificate::Certificate;
use crate::parameters::{ParameterError, Parameters};
use crate::refusal::Refusal;
use crate::same::same_problem;

/// Tolerances above this are refused where nothing else is said: a millionth of what a user would have
/// alone is beyond any rounding.
const MAX_TOLERANCE: (u32, u32) = (1, 1_000_000);

/// What the reader of a certificate asks of it, beyond that it is true.
#[derive(Debug, Clone)]
pub struct Conditions<'a> {
    /// It is about this problem: the same by meaning.
    pub problem: Option<&'a Problem>,
    /// It is about this allocation of the problem in the certificate: the same by meaning.
    pub allocation: Option<&'a Allocation>,
    /// These are claimed to hold.
    pub require: Vec<Requirement>,
    /// Its tolerance is at most this; absent: any.
    pub max_tolerance: Option<Rational>,
    /// How servers are shared; absent: any way.
    pub sharing: Option<Sharing>,
}

impl Default for Conditions<'_> {
    /// A tolerance of at most a millionth, servers shared as the problem says.
    fn default() -> Self {
        Self {
            problem: None,
            allocation: None,
            require: Vec::new(),
            max_tolerance: Some(Rational::from(MAX_TOLERANCE)),
            sharing: Some(Sharing::Rdm),
        }
    }
}

/// An axiom that has to be claimed to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The axiom.
    pub axiom: Axiom,
    /// What it is about.
    pub parameters: Parameters,
}

impl Requirement {
    /// `AXIOM` or `AXIOM:PARAMETER`: `max-min:tsf`, `max-min:resource:gpu`, `proportional:2`.
    ///
    /// # Errors
    /// [`ParameterError`]: no such axiom or share, a parameter of an axiom that has none, none of one that
    /// needs one.
    pub fn parse(text: &str, problem: &Problem) -> Result<Self, ParameterError> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let axiom = Axiom::parse(name).ok_or_else(|| Axiom::unknown(name))?;
        let parameters = axiom.parameters(parameter, problem)?;
        match axiom.rule().example().filter(|_| parameter.is_none()) {
            Some(example) => Err(ParameterError::Missing { axiom: axiom.name(), example }),
            None => Ok(Self { axiom, parameters }),
        }
    }
}

impl Conditions<'_> {
    /// No condition at all.
    #[must_use]
    pub fn anything() -> Self {
        Self { max_tolerance: None, sharing: None, ..Self::default() }
    }

    /// Whether the certificate is what is asked for; not whether it is true.
    ///
    /// # Errors
    /// [`Refusal`] that names the condition that is not met.
    pub(crate) fn met_by(&self, certificate: &Certificate) -> Result<(), Refusal> {
        if self.problem.is_some_and(|problem| !same_problem(&certificate.problem, problem)) {
            return Err(Refusal::new("the certificate is about another problem"));
        }
        if self.allocation.is_some_and(|allocation| !same_allocation(&certificate.allocation, allocation)) {
            return Err(Refusal::new("the certificate is about another allocation"));
        }
        self.check_sharing(certificate)?;
        if let Some(most) = self.max_tolerance.as_ref().filter(|most| certificate.tolerance > **most) {
            let (stated, most) = (number::format(&certificate.tolerance), number::format(most));
            return Err(Refusal::new(format!(
                "the tolerance is {stated}, more than the {most} that is allowed"
            )));
        }
        for required in &self.require {
            let claims = &certificate.claims;
            let claim = claims
                .iter()
                .find(|claim| claim.axiom == required.axiom && claim.parameters() == required.parameters);
            let name = required.axiom.name();
            match claim.map(|claim| claim.holds) {
                Some(Some(true)) => {}
                Some(Some(false)) => {
                    return Err(Refusal::new(format!("`{name}` is required, and claimed to be violated")));
                }
                Some(None) => {
                    return Err(Refusal::new(format!("`{name}` is required, and claimed not to apply")));
                }
                None => return Err(Refusal::new(format!("`{name}` is required, and not claimed"))),
            }
        }
        Ok(())
    }

    fn check_sharing(&self, certificate: &Certificate) -> Result<(), Refusal> {
        let stated = certificate.allocation.sharing;
        let is_allowed = self.sharing.is_none_or(|sharing| stated == sharing);
        if is_allowed {
            return Ok(());
        }
        Err(Refusal::new(match stated {
            Sharing::Tdm => {
                "the servers are shared by time (sharing `tdm`), which is accepted only where it is asked for"
            }
            Sharing::Rdm => "the resources of the servers are divided (sharing `rdm`)",
        }))
    }
}

/// Whether two allocations of one problem are the same: tasks, placements and the way of sharing; zeros
/// and orders do not count.
fn same_allocation(a: &Allocation, b: &Allocation) -> bool {
    let tasks = |x: &Allocation| -> Vec<Vec<(usize, Rational)>> {
        let of_user =
            |on: &Vec<(usize, Rational)>| on.iter().filter(|(_, x)| !x.is_zero()).cloned().collect();
        x.tasks.iter().map(of_user).collect()
    };
    let placements = |x: &Allocation| {
        x.placements.as_ref().map(|placements| {
            let kept = |p: &Placement| {
                let tasks: Vec<_> = p.tasks.iter().filter(|(_, x)| !x.is_zero()).cloned().collect();
                (p.server, p.index, tasks)
            };
            let mut list: Vec<_> =
                placements.iter().map(kept).filter(|(_, _, tasks)| !tasks.is_empty()).collect();
            list.sort_by_key(|(server, index, _)| (*server, *index));
            list
        })
    };
    a.sharing == b.sharing && tasks(a) == tasks(b) && placements(a) == placements(b)
}
