//! The setting of the NJC paper: one pool of resources with capacity 1. Users request fractions of the
//! resources, and are granted a fraction `x_i <= 1` of their requests. Entitlements are the weights.

use crate::entry::list;
use crate::error::PaperError;
use evenhand_certify::{Request, certify};
use evenhand_exact::axiom::njc;
use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_levels::njc::{EnumerationLimits, Tasks, enumerate};
use evenhand_ode::pool::Pool;
use evenhand_problem::number::{parse, to_f64};
use evenhand_problem::{
    Allocation, Arithmetic, Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};

/// Parses numbers separated by blanks.
pub fn row(text: &str) -> Result<Vec<Rational>, PaperError> {
    text.split_whitespace().map(|number| Ok(parse(number)?)).collect()
}

/// Returns a pool. `requests` has one text for each user, and `entitlements` is one text with the
/// entitlements of all users.
pub fn pool(requests: &[&str], entitlements: &str) -> Result<Problem, PaperError> {
    let requests = requests.iter().map(|text| row(text)).collect::<Result<Vec<_>, _>>()?;
    pool_of(&requests, &row(entitlements)?)
}

/// Returns a pool, given the requests (`users x resources`) and positive entitlements.
pub fn pool_of(requests: &[Vec<Rational>], entitlements: &[Rational]) -> Result<Problem, PaperError> {
    let n_resources = requests.first().map_or(0, Vec::len);
    let resources: Vec<String> = (1..=n_resources).map(|r| format!("r{r}")).collect();
    let one = Rational::from(1);
    let capacity = resources.iter().map(|r| (r.clone(), one.clone())).collect();
    let users = requests.iter().zip(entitlements).enumerate().map(|(n, (request, weight))| UserSpec {
        name: format!("user {}", n + 1),
        weight: Some(weight.clone()),
        tasks: Some(one.clone()),
        demand: resources.iter().cloned().zip(request.iter().cloned()).collect(),
        ..UserSpec::default()
    });
    Problem::new(ProblemSpec {
        users: users.collect(),
        servers: vec![ServerSpec { name: "pool".to_owned(), count: None, capacity }],
        resources,
        ..ProblemSpec::default()
    })
    .map_err(PaperError::from)
}

/// Converts the pool to floating point.
pub fn continuous(problem: &Problem) -> Result<Pool, PaperError> {
    let users = 0..problem.n_users();
    let requests = users.clone().flat_map(|n| problem.demand(n, 0).iter().map(to_f64)).collect();
    let entitlements = users.clone().map(|n| to_f64(problem.users()[n].weight())).collect();
    let caps = users.map(|n| problem.users()[n].tasks().map_or(f64::INFINITY, to_f64)).collect();
    Pool::new(problem.n_resources(), requests, entitlements, caps).map_err(PaperError::from)
}

/// Returns the allocation that grants every user the fraction `x` of its request.
pub fn granted(x: &[Rational]) -> Allocation {
    let tasks = x.iter().map(|x| if x.is_zero() { Vec::new() } else { vec![(0, x.clone())] });
    Allocation { arithmetic: Arithmetic::Exact, tasks: tasks.collect(), ..Allocation::default() }
}

/// Returns the claim of the exact crate about one axiom. The certificate of the claim has been checked.
pub fn judge(problem: &Problem, x: &[Rational], axiom: Axiom) -> Result<Claim, PaperError> {
    let examination = certify(problem, &granted(x), &[Request::of(axiom)], &Rational::new())?;
    if let Some((_, why)) = examination.undecided.first() {
        return Err(format!("{} is undecided: {why}", axiom.name()).into());
    }
    if let Some(reason) = evenhand_exact::check(&examination.certificate).reason {
        return Err(format!("the certificate is refused: {reason}").into());
    }
    examination.certificate.claims.into_iter().next().ok_or_else(|| "there is no claim".into())
}

/// Returns `true` if the axiom holds according to the exact crate.
pub fn holds(problem: &Problem, x: &[Rational], axiom: Axiom) -> Result<bool, PaperError> {
    Ok(judge(problem, x, axiom)?.holds == Some(true))
}

/// Returns `true` if no user has a justified complaint by equations (1) and (2).
pub fn is_fair(problem: &Problem, x: &[Rational]) -> Result<bool, PaperError> {
    Ok(holds(problem, x, Axiom::Feasible)? && holds(problem, x, Axiom::Njc)?)
}

/// Returns for each user whether the user has a justified complaint.
pub fn complains(problem: &Problem, x: &[Rational]) -> Result<Vec<bool>, PaperError> {
    let instance = Instance::new(problem, &granted(x))?;
    let complains = |n| njc::margin(&instance, n).is_some_and(|margin| margin < 0);
    Ok((0..problem.n_users()).map(complains).collect())
}

/// Returns the users with justified complaints, in words.
pub fn complaints(problem: &Problem, x: &[Rational]) -> Result<String, PaperError> {
    let complains = complains(problem, x)?;
    let users: Vec<String> =
        (0..x.len()).filter(|&n| complains[n]).map(|n| format!("user {}", n + 1)).collect();
    Ok(match users.as_slice() {
        [] => "no justified complaint".to_owned(),
        [user] => format!("a justified complaint of {user}"),
        _ => format!("justified complaints of {}", users.join(" and ")),
    })
}

/// All allocations without a justified complaint.
pub struct Answers {
    /// The vertices of all polytopes, each once, in ascending order.
    pub points: Vec<Vec<Rational>>,
    /// The vertices of the polytopes whose union is the set of answers. No polytope lies within another
    /// polytope.
    pub polytopes: Vec<Vec<Vec<Rational>>>,
}

impl Answers {
    /// Returns the only answer, if there is exactly one.
    pub fn only(&self) -> Option<&[Rational]> {
        match self.points.as_slice() {
            [point] => Some(point),
            _ => None,
        }
    }

    /// Returns the points as text.
    pub fn show(&self) -> String {
        show_all(&self.points)
    }
}

/// Returns all allocations without a justified complaint. The exact crate has judged every vertex.
pub fn answers(problem: &Problem) -> Result<Answers, PaperError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let set = enumerate(&constraints, &EnumerationLimits::default())?;
    let points: Vec<Vec<Rational>> = set.extreme_points.iter().map(totals).collect();
    for point in &points {
        if !is_fair(problem, point)? {
            return Err(format!("{} was enumerated and leaves a justified complaint", show(point)).into());
        }
    }
    let vertices = |p: &evenhand_levels::njc::Polytope| p.vertices.iter().map(totals).collect();
    Ok(Answers { points, polytopes: set.polytopes.iter().map(vertices).collect() })
}

fn totals(tasks: &Tasks) -> Vec<Rational> {
    tasks.iter().map(|tasks| tasks.iter().map(|(_, x)| x).sum()).collect()
}

/// Returns the used amount of every resource.
pub fn loads(problem: &Problem, x: &[Rational]) -> Vec<Rational> {
    let used =
        |r: usize| x.iter().enumerate().map(|(n, x)| Rational::from(x * &problem.demand(n, 0)[r])).sum();
    (0..problem.n_resources()).map(used).collect()
}

/// Formats a point, such as `(1/2, 1)`.
pub fn show(point: &[Rational]) -> String {
    format!("({})", list(point))
}

/// Formats several points.
pub fn show_all(points: &[Vec<Rational>]) -> String {
    points.iter().map(|point| show(point)).collect::<Vec<_>>().join(", ")
}

/// Formats a point with `digits` decimals, such as `(0.500000, 1.000000)`.
pub fn show_floats(point: &[f64], digits: usize) -> String {
    let values: Vec<String> = point.iter().map(|x| format!("{x:.digits$}")).collect();
    format!("({})", values.join(", "))
}

/// Returns `yes` or `no`.
pub(super) fn yes(holds: bool) -> String {
    if holds { "yes" } else { "no" }.to_owned()
}
