//! Tests of the usage of groups in words, tables and pages.

use evenhand_certify::compare::{Comparison, compare};
use evenhand_mechanisms::registry;
use evenhand_problem::Arithmetic;
use evenhand_problem::format::Source;
use evenhand_report::{Form, comparison, document, outcome};

/// Two teams. The first team has a guarantee of more memory than it uses and wants more processors. The
/// second team has no guarantee.
const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "s", "capacity": {"cpu": 12, "memory": "3Ti"}}],
    "groups": [{"name": "<a>", "guarantee": {"memory": "2Ti"}, "limit": {"cpu": 4}}, {"name": "b"}],
    "users": [{"name": "u", "group": "<a>", "demand": {"cpu": 1, "memory": "128Gi"}},
              {"name": "v", "group": "b", "demand": {"cpu": 1}}]}"#;

#[test]
fn usage_is_shown_next_to_guarantees() {
    let problem = Source { name: "p", text: PROBLEM }.problem().unwrap();
    let found = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    let page = outcome(&problem, &found, false);
    let csv = page.render(&Form::Csv);
    let half = 1u64 << 39;
    let promised = 1u64 << 41;
    for row in [
        "group,resource,uses,of total,guarantee,limit,next to guarantee\n".to_owned(),
        "<a>,cpu,4,0.3333333333333333,,4,\n".to_owned(),
        format!("<a>,memory,{half},0.16666666666666666,{promised},,1.5 TiB lacking\n"),
        "b,cpu,8,0.6666666666666666,,,\n".to_owned(),
    ] {
        assert!(csv.contains(&row), "{row}{csv}");
    }
    assert!(page.to_string().contains("512 GiB"), "{page}");
}

#[test]
fn comparisons_and_their_pages_name_the_groups() {
    let problem = Source { name: "p", text: PROBLEM }.problem().unwrap();
    let mechanisms = ["tree", "drfh"].iter().map(|name| registry::find(name).unwrap()).collect();
    let columns = compare(&problem, &Comparison { mechanisms, ..Comparison::default() });
    let text = comparison(&problem, &columns, false).to_string();
    assert!(text.contains("Largest fraction of a resource that each group uses"), "{text}");
    assert!(text.contains("<a>") && text.contains("33.3 %"), "{text}");
    let html = document(&problem, &columns, false);
    assert!(html.contains("&lt;a&gt; uses 512 GiB, guarantee 2 TiB") && !html.contains("<a>"), "{html}");
    assert!(html.contains("1.5 TiB lacking"));
}

/// The page shows the allocation of `tree` as the fair shares of groups for every other allocation.
#[test]
fn fair_shares_are_the_allocation_of_tree() {
    let problem = Source { name: "p", text: PROBLEM }.problem().unwrap();
    let text = r#"{"kind": "allocation", "tasks": {"v": {"s": 10}}}"#;
    let held = || ("held".to_owned(), Source { name: "a", text }.allocation(&problem).unwrap());
    let mechanisms = vec![registry::find("tree").unwrap()];
    let allocations = vec![held()];
    let columns = compare(&problem, &Comparison { mechanisms, allocations, ..Comparison::default() });
    let html = document(&problem, &columns, false);
    for words in [
        "&lt;a&gt; uses 0, fair share 4, limit 4",
        "&lt;a&gt; uses 0, fair share 512 GiB, guarantee 2 TiB",
        "b uses 10, fair share 8<",
        ">4 lacking<",
        ">512 GiB lacking<",
        ">2 over<",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    // Without `tree` there are no fair shares.
    let (mechanisms, allocations) = (Vec::new(), vec![held()]);
    let alone = compare(&problem, &Comparison { mechanisms, allocations, ..Comparison::default() });
    let html = document(&problem, &alone, false);
    assert!(!html.contains(", fair share ") && html.contains("2 TiB lacking"), "{html}");
}
