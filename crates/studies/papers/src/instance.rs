//! Problems stated as tables of numbers, and their certified allocations.

use evenhand_certify::{certify, default_requests};
use evenhand_mechanisms::registry;
use evenhand_problem::{
    Allocation, Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec, number,
};

use crate::error::PaperError;

/// A problem as tables of numbers: capacities by class and resource, and demands by user and resource.
pub(crate) struct ProblemTable<'a> {
    pub(crate) servers: &'a [(u32, &'a [&'a str])],
    pub(crate) users: &'a [TableUser<'a>],
}

/// A user of a [`ProblemTable`].
#[derive(Clone, Copy)]
pub(crate) struct TableUser<'a> {
    pub(crate) weight: &'a str,
    pub(crate) tasks: Option<&'a str>,
    pub(crate) demand: &'a [&'a str],
    /// The indices of the classes that the user may use. Empty if the user may use all classes.
    pub(crate) servers: &'a [usize],
}

impl<'a> TableUser<'a> {
    pub(crate) const fn new(demand: &'a [&'a str]) -> Self {
        Self { weight: "1", tasks: None, demand, servers: &[] }
    }
}

impl ProblemTable<'_> {
    pub(crate) fn problem(&self) -> Result<Problem, PaperError> {
        let exact = |text: &str| number::parse(text).map_err(PaperError::from);
        let vector = |values: &[&str]| {
            values
                .iter()
                .enumerate()
                .map(|(r, text)| Ok((format!("r{}", r + 1), exact(text)?)))
                .collect::<Result<Vec<_>, PaperError>>()
        };
        let n_resources = self.servers.first().map_or(0, |(_, capacity)| capacity.len());
        let server_name = |i: usize| format!("s{}", i + 1);
        let mut spec = ProblemSpec {
            resources: (0..n_resources).map(|r| format!("r{}", r + 1)).collect(),
            ..ProblemSpec::default()
        };
        for (i, (count, capacity)) in self.servers.iter().enumerate() {
            let count = Some(Rational::from(*count));
            spec.servers.push(ServerSpec { name: server_name(i), count, capacity: vector(capacity)? });
        }
        for (n, user) in self.users.iter().enumerate() {
            spec.users.push(UserSpec {
                name: format!("user {}", n + 1),
                weight: Some(exact(user.weight)?),
                tasks: user.tasks.map(exact).transpose()?,
                demand: vector(user.demand)?,
                servers: (!user.servers.is_empty())
                    .then(|| user.servers.iter().map(|&i| server_name(i)).collect()),
                ..UserSpec::default()
            });
        }
        Problem::new(spec).map_err(PaperError::from)
    }
}

/// Returns the exact allocation of a mechanism. The axioms that define the mechanism are certified and checked.
pub(crate) fn solve(problem: &Problem, mechanism: &str) -> Result<Allocation, PaperError> {
    let mechanism = registry::find(mechanism).ok_or("no such mechanism")?;
    let allocation = mechanism.allocate(problem, Arithmetic::Exact)?.allocation;
    let requests = default_requests(problem, &allocation);
    let examination = certify(problem, &allocation, &requests, &Rational::new())?;
    let verdict = evenhand_exact::check(&examination.certificate);
    match verdict.reason {
        None => Ok(allocation),
        Some(reason) => Err(format!("the certificate is refused: {reason}").into()),
    }
}
