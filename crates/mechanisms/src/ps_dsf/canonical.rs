//! A canonical order of a problem, which does not depend on the order in its file: resources and users by
//! name, server classes by capacity and then by name.
//!
//! PS-DSF has several answers (docs/theory.md, section 4), and the computed answer depends on the order of
//! users and classes. In canonical order, the answer is the same however the file is sorted.

use std::cmp::Ordering;

use evenhand_problem::{
    Allocation, Constraints, Problem, ProblemError, ProblemSpec, Rational, Row, RowKind, Sharing,
};

/// A problem in canonical order, with the permutations to the order of the file.
#[derive(Debug, Clone)]
pub struct Canonical {
    /// The problem in canonical order.
    pub problem: Problem,
    /// The index in the file of each user in canonical order.
    pub users: Vec<usize>,
    /// The index in the file of each class in canonical order.
    pub classes: Vec<usize>,
    /// The index in the file of each resource in canonical order.
    pub resources: Vec<usize>,
}

impl Canonical {
    /// Puts `problem` into canonical order.
    ///
    /// # Errors
    /// Never, if the problem is valid in the order of its file.
    pub fn new(problem: &Problem) -> Result<Self, ProblemError> {
        let mut resources: Vec<usize> = (0..problem.n_resources()).collect();
        resources.sort_by(|a, b| problem.resources()[*a].cmp(&problem.resources()[*b]));
        let mut users: Vec<usize> = (0..problem.n_users()).collect();
        users.sort_by(|a, b| problem.users()[*a].name().cmp(problem.users()[*b].name()));
        let mut classes: Vec<usize> = (0..problem.n_servers()).collect();
        classes.sort_by(|a, b| by_capacity(problem, &resources, *a, *b));
        let stated = ProblemSpec::from(problem);
        let spec = ProblemSpec {
            name: stated.name,
            resources: resources.iter().map(|r| stated.resources[*r].clone()).collect(),
            servers: classes.iter().map(|i| stated.servers[*i].clone()).collect(),
            users: users.iter().map(|n| stated.users[*n].clone()).collect(),
        };
        Ok(Self { problem: Problem::new(spec)?, users, classes, resources })
    }

    /// Converts rows of the canonical problem to rows of `problem`, in ascending order.
    pub fn rows(&self, problem: &Problem, sharing: Sharing, rows: &[usize]) -> Vec<usize> {
        let (here, there) = (Constraints::new(&self.problem, sharing), Constraints::new(problem, sharing));
        let row = |row: &usize| {
            let Row { server, kind, .. } = &here.rows()[*row];
            let kind = match kind {
                RowKind::Resource(r) => RowKind::Resource(self.resources[*r]),
                RowKind::Time => RowKind::Time,
            };
            there.row_of(self.classes[*server], kind)
        };
        let mut rows: Vec<usize> = rows.iter().filter_map(row).collect();
        rows.sort_unstable();
        rows
    }

    /// Converts an allocation of the canonical problem to the order of the file.
    pub fn in_the_order_of_the_file(&self, allocation: Allocation) -> Allocation {
        let mut tasks = vec![Vec::new(); self.users.len()];
        for (list, user) in allocation.tasks.into_iter().zip(&self.users) {
            tasks[*user] = list.into_iter().map(|(class, x)| (self.classes[class], x)).collect();
            tasks[*user].sort_by_key(|(class, _)| *class);
        }
        Allocation { tasks, ..allocation }
    }
}

/// Compares the total capacities of two classes, resource by resource, and then their names.
fn by_capacity(problem: &Problem, resources: &[usize], a: usize, b: usize) -> Ordering {
    let (a, b) = (&problem.servers()[a], &problem.servers()[b]);
    let total = |class: &evenhand_problem::ServerClass, r: usize| {
        Rational::from(&class.capacity()[r] * class.count())
    };
    let differs = |r: &usize| Some(total(a, *r).cmp(&total(b, *r))).filter(|order| order.is_ne());
    resources.iter().find_map(differs).unwrap_or_else(|| a.name().cmp(b.name()))
}
