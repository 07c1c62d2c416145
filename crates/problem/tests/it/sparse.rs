//! Sparse demands, capacities and rows, compared with dense vectors.

use evenhand_problem::{
    Constraints, Problem, ProblemSpec, Quantities, Rational, RowKind, ServerSpec, Sharing, UserSpec,
};
use proptest::prelude::*;
use proptest::{collection, option, sample};

const CLASSES: usize = 4;
const RESOURCES: usize = 5;

/// A problem whose amounts are dense vectors.
#[derive(Debug, Clone)]
struct Dense {
    capacity: Vec<Vec<u32>>,
    count: Vec<u32>,
    users: Vec<DenseUser>,
}

#[derive(Debug, Clone)]
struct DenseUser {
    demand: Vec<u32>,
    servers: Option<Vec<usize>>,
    demand_on: Option<(usize, Vec<u32>)>,
    gamma: Option<(usize, u32)>,
}

fn amounts() -> impl Strategy<Value = Vec<u32>> {
    collection::vec(prop_oneof![3 => Just(0), 2 => 1u32..9], RESOURCES)
}

fn demand() -> impl Strategy<Value = Vec<u32>> {
    amounts().prop_filter("a demand asks for something", |demand| demand.iter().any(|d| *d > 0))
}

fn user() -> impl Strategy<Value = DenseUser> {
    let servers = option::of(sample::subsequence((0..CLASSES).collect::<Vec<_>>(), 1..=CLASSES));
    let gamma = option::weighted(0.1, (0..CLASSES, 1u32..9));
    (demand(), servers, option::of((0..CLASSES, demand())), gamma)
        .prop_map(|(demand, servers, demand_on, gamma)| DenseUser { demand, servers, demand_on, gamma })
}

fn dense() -> impl Strategy<Value = Dense> {
    let (capacity, count) = (collection::vec(amounts(), CLASSES), collection::vec(1u32..4, CLASSES));
    (capacity, count, collection::vec(user(), 0..5)).prop_map(|(capacity, count, users)| Dense {
        capacity,
        count,
        users,
    })
}

impl Dense {
    fn problem(&self) -> Problem {
        // Zeros are stated too. They mean the same as absent entries.
        let named = |amounts: &[u32]| {
            amounts.iter().enumerate().map(|(r, a)| (format!("r{r}"), Rational::from(*a))).rev().collect()
        };
        let server = |(i, capacity): (usize, &Vec<u32>)| ServerSpec {
            name: format!("s{i}"),
            count: Some(Rational::from(self.count[i])),
            capacity: named(capacity),
        };
        let user = |(n, user): (usize, &DenseUser)| UserSpec {
            name: format!("u{n}"),
            demand: named(&user.demand),
            servers: user.servers.as_ref().map(|list| list.iter().rev().map(|i| format!("s{i}")).collect()),
            demand_on: user.demand_on.iter().map(|(i, d)| (format!("s{i}"), named(d))).collect(),
            gamma: user.gamma.iter().map(|(i, g)| (format!("s{i}"), Rational::from(*g))).collect(),
            ..UserSpec::default()
        };
        Problem::new(ProblemSpec {
            name: String::new(),
            resources: (0..RESOURCES).map(|r| format!("r{r}")).collect(),
            servers: self.capacity.iter().enumerate().map(server).collect(),
            users: self.users.iter().enumerate().map(user).collect(),
        })
        .unwrap()
    }

    fn demand(&self, n: usize, i: usize) -> &[u32] {
        let user = &self.users[n];
        user.demand_on.as_ref().filter(|(on, _)| *on == i).map_or(&user.demand, |(_, demand)| demand)
    }

    /// Returns `gamma_ni` by its definition.
    fn gamma(&self, n: usize, i: usize) -> Rational {
        let user = &self.users[n];
        if user.servers.as_ref().is_some_and(|list| !list.contains(&i)) {
            return Rational::new();
        }
        if let Some((_, gamma)) = user.gamma.filter(|(on, _)| *on == i) {
            return Rational::from(gamma);
        }
        let demanded = (0..RESOURCES).filter(|&r| self.demand(n, i)[r] > 0);
        let fits = demanded.map(|r| Rational::from((self.capacity[i][r], self.demand(n, i)[r])));
        fits.min().unwrap() * self.count[i]
    }

    fn is_time_shared(&self, i: usize) -> bool {
        self.users.iter().any(|user| user.gamma.is_some_and(|(on, _)| on == i))
    }
}

fn is_same(sparse: &Quantities, dense: &[u32]) -> bool {
    let entries: Vec<_> =
        dense.iter().enumerate().filter(|(_, a)| **a > 0).map(|(r, a)| (r, Rational::from(*a))).collect();
    sparse.len() == dense.len()
        && sparse.iter().len() == dense.len()
        && sparse.iter().zip(dense).all(|(a, b)| a == b)
        && (0..dense.len()).all(|r| sparse[r] == dense[r] && sparse.has(r) == (dense[r] > 0))
        && sparse[dense.len()] == 0
        && sparse.entries() == entries
        && sparse.is_zero() == entries.is_empty()
        && *sparse == dense.iter().map(|a| Rational::from(*a)).collect::<Quantities>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn amounts_agree_with_the_dense_problem(dense in dense()) {
        let problem = dense.problem();
        for (i, class) in problem.servers().iter().enumerate() {
            prop_assert!(is_same(class.capacity(), &dense.capacity[i]));
        }
        for n in 0..problem.n_users() {
            prop_assert!(is_same(problem.users()[n].base_demand(), &dense.users[n].demand));
            for i in 0..CLASSES {
                prop_assert!(is_same(problem.demand(n, i), dense.demand(n, i)));
            }
        }
        for r in 0..RESOURCES {
            let total: u32 = (0..CLASSES).map(|i| dense.count[i] * dense.capacity[i][r]).sum();
            prop_assert_eq!(&problem.total_capacity()[r], &Rational::from(total));
        }
    }

    #[test]
    fn eligible_classes_agree_with_the_dense_problem(dense in dense()) {
        let problem = dense.problem();
        for n in 0..problem.n_users() {
            let gammas: Vec<Rational> = (0..CLASSES).map(|i| dense.gamma(n, i)).collect();
            let runs: Vec<usize> = (0..CLASSES).filter(|&i| gammas[i] > 0).collect();
            prop_assert_eq!(problem.classes_of(n).collect::<Vec<_>>(), runs.clone());
            prop_assert_eq!(problem.is_active(n), !runs.is_empty());
            for (i, gamma) in gammas.iter().enumerate() {
                prop_assert_eq!(&problem.gamma(n, i), gamma);
                prop_assert_eq!(problem.can_run(n, i), *gamma > 0);
            }
            prop_assert_eq!(problem.total_gamma(n), gammas.iter().sum::<Rational>());
        }
    }

    #[test]
    fn rows_are_the_positive_capacities(dense in dense(), tdm in any::<bool>()) {
        let problem = dense.problem();
        let sharing = if tdm { Sharing::Tdm } else { Sharing::Rdm };
        let constraints = Constraints::new(&problem, sharing);
        let mut expected = Vec::new();
        for i in 0..CLASSES {
            let start = expected.len();
            let timed = tdm || dense.is_time_shared(i);
            if timed {
                expected.push((i, RowKind::Time, Rational::from(1)));
            } else {
                let rows = (0..RESOURCES).filter(|&r| dense.capacity[i][r] > 0);
                expected.extend(rows.map(|r| {
                    (i, RowKind::Resource(r), Rational::from(dense.capacity[i][r] * dense.count[i]))
                }));
            }
            prop_assert_eq!(constraints.class_rows(i), start..expected.len());
            prop_assert_eq!(constraints.is_time_shared(i), timed);
        }
        let rows: Vec<_> =
            constraints.rows().iter().map(|row| (row.server, row.kind, row.capacity.clone())).collect();
        prop_assert_eq!(&rows, &expected);
        let kinds = || (0..RESOURCES).map(RowKind::Resource).chain([RowKind::Time]);
        for (i, kind) in (0..CLASSES).flat_map(|i| kinds().map(move |kind| (i, kind))) {
            let found = expected.iter().position(|(server, of, _)| (*server, *of) == (i, kind));
            prop_assert_eq!(constraints.row_of(i, kind), found);
        }
    }

    #[test]
    fn usage_is_counted_by_row(dense in dense(), tdm in any::<bool>()) {
        let problem = dense.problem();
        let sharing = if tdm { Sharing::Tdm } else { Sharing::Rdm };
        let constraints = Constraints::new(&problem, sharing);
        for (n, i) in (0..problem.n_users()).flat_map(|n| (0..CLASSES).map(move |i| (n, i))) {
            let gamma = dense.gamma(n, i);
            let Some(usage) = constraints.usage(n, i) else {
                prop_assert_eq!(gamma, 0);
                continue;
            };
            let expected: Vec<Rational> = constraints.rows()[constraints.class_rows(i)]
                .iter()
                .map(|row| match row.kind {
                    RowKind::Resource(r) => Rational::from(dense.demand(n, i)[r]),
                    RowKind::Time => gamma.clone().recip(),
                })
                .collect();
            prop_assert_eq!(usage.to_vec(), expected.clone());
            prop_assert_eq!(usage.len(), expected.len());
            let entries: Vec<_> = expected.iter().enumerate().filter(|(_, d)| !d.is_zero()).collect();
            prop_assert_eq!(usage.entries().collect::<Vec<_>>(), entries);
            prop_assert!((0..expected.len()).all(|k| usage[k] == expected[k]));
            prop_assert!(usage[expected.len()].is_zero());
        }
    }
}
