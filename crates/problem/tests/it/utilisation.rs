//! Utilisation of servers and usage of groups, compared with plain sums.

use evenhand_problem::format::Source;
use evenhand_problem::utilisation::{by_group, held, time};
use evenhand_problem::{Allocation, Arithmetic, Rational};

/// Checks that time-shared classes count once for each of their servers, and that a class that divides its
/// resources does not count.
#[test]
fn time_utilisation_counts_every_time_shared_server() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "t", "count": 2}, {"name": "u"}, {"name": "divided", "capacity": {"cpu": 9}}],
        "users": [{"name": "a", "demand": {"cpu": 1}, "gamma": {"t": 10}},
                  {"name": "b", "demand": {"cpu": 1}, "gamma": {"t": "20/3", "u": 4}}]}"#;
    let problem = Source { name: "-", text }.problem().unwrap();
    let tasks = |text: [&[(usize, (u32, u32))]; 2]| {
        text.map(|list| list.iter().map(|(i, x)| (*i, Rational::from(*x))).collect()).to_vec()
    };
    let of = |tasks| Allocation { arithmetic: Arithmetic::Exact, tasks, ..Allocation::default() };
    // `a` uses 2/10 and `b` 5/(20/3) of the time on the two servers `t`, and `b` 1/4 on `u`: (2 (1/5 + 3/4) + 1/4)
    // / 3.
    let allocation = of(tasks([&[(0, (2, 1)), (2, (1, 1))], &[(0, (5, 1)), (1, (1, 1))]]));
    assert_eq!(time(&problem, &allocation), Some(Rational::from((43, 60))));
    assert_eq!(time(&problem, &of(tasks([&[], &[]]))), Some(Rational::new()));
    let divided = r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 9}}], "users": [{"name": "a", "demand": {"cpu": 1}}]}"#;
    let divided = Source { name: "-", text: divided }.problem().unwrap();
    assert_eq!(time(&divided, &of(vec![Vec::new()])), None);
}

/// Checks that a group's usage is the sum over the users below it, with and without a class that is shared by
/// time.
#[test]
fn group_usage_is_the_sum_over_its_users() {
    for gamma in ["", r#", "gamma": {"t": 7}"#] {
        let user = |n: u32, group: &str| {
            let (cpu, gpu) = (n % 5 + 1, n % 3);
            format!(
                r#"{{"name": "u{n}"{group}, "demand": {{"cpu": "{cpu}/7", "gpu": "{gpu}/{}"}}{gamma}}}"#,
                n + 2
            )
        };
        let groups = ["", r#", "group": "a""#, r#", "group": "b""#, r#", "group": "c""#];
        let users: Vec<String> = (0..12).map(|n| user(n, groups[n as usize % 4])).collect();
        let text = format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
                "groups": [{{"name": "a", "parent": "b"}}, {{"name": "b"}}, {{"name": "c", "parent": "a"}}],
                "servers": [{{"name": "t", "count": 3, "capacity": {{"cpu": 40, "gpu": 40}}}}],
                "users": [{}]}}"#,
            users.join(", ")
        );
        let problem = Source { name: "-", text: &text }.problem().unwrap();
        let tasks = (0..12).map(|n| vec![(0, Rational::from((n + 1, 11 + n % 4)))]).collect();
        let allocation = Allocation { arithmetic: Arithmetic::Exact, tasks, ..Allocation::default() };
        let mut expected = vec![vec![Rational::new(); 2]; 3];
        for n in 0..12 {
            let total = allocation.total(n);
            let base = problem.users()[n].base_demand();
            let of = if gamma.is_empty() {
                (0..2).map(|r| Rational::from(&base[r] * &total)).collect()
            } else {
                held(&problem, &allocation, n)
            };
            for v in problem.groups().above(problem.groups().member(n).group) {
                expected[v].iter_mut().zip(&of).for_each(|(sum, of)| *sum += of);
            }
        }
        assert!(expected[1][0] > expected[0][0] && expected[0][0] > expected[2][0]);
        assert_eq!(by_group(&problem, &allocation), expected);
    }
}
