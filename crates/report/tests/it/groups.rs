//! What groups hold, in words, tables and the page.

use evenhand_certify::compare::{Comparison, compare};
use evenhand_mechanisms::registry;
use evenhand_problem::Arithmetic;
use evenhand_problem::format::Source;
use evenhand_report::{Form, comparison, document, outcome};

/// Two teams, one promised more memory than it uses though it wants more processors, the other without a promise.
const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "s", "capacity": {"cpu": 12, "memory": "3Ti"}}],
    "groups": [{"name": "<a>", "guarantee": {"memory": "2Ti"}, "limit": {"cpu": 4}}, {"name": "b"}],
    "users": [{"name": "u", "group": "<a>", "demand": {"cpu": 1, "memory": "128Gi"}},
              {"name": "v", "group": "b", "demand": {"cpu": 1}}]}"#;

#[test]
fn what_is_held_stands_beside_what_is_promised() {
    let problem = Source { name: "p", text: PROBLEM }.problem().unwrap();
    let found = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    let page = outcome(&problem, &found, false);
    let csv = page.render(&Form::Csv);
    let half = 1u64 << 39;
    let promised = 1u64 << 41;
    for row in [
        "group,resource,held,of all,guarantee,limit,beside its guarantee\n".to_owned(),
        "<a>,cpu,4,0.3333333333333333,,4,\n".to_owned(),
        format!("<a>,memory,{half},0.16666666666666666,{promised},,1.5 TiB short\n"),
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
    assert!(text.contains("Largest part of a resource that each group holds"), "{text}");
    assert!(text.contains("<a>") && text.contains("33.3 %"), "{text}");
    let html = document(&problem, &columns, false);
    assert!(html.contains("&lt;a&gt; holds 512 GiB, guarantee 2 TiB") && !html.contains("<a>"), "{html}");
    assert!(html.contains("1.5 TiB short"));
}

/// What `tree` gives is due to the groups of every other allocation, as the page says.
#[test]
fn what_is_due_is_what_the_tree_gives() {
    let problem = Source { name: "p", text: PROBLEM }.problem().unwrap();
    let text = r#"{"kind": "allocation", "tasks": {"v": {"s": 10}}}"#;
    let held = || ("held".to_owned(), Source { name: "a", text }.allocation(&problem).unwrap());
    let mechanisms = vec![registry::find("tree").unwrap()];
    let allocations = vec![held()];
    let columns = compare(&problem, &Comparison { mechanisms, allocations, ..Comparison::default() });
    let html = document(&problem, &columns, false);
    for words in [
        "&lt;a&gt; holds 0, due 4, limit 4",
        "&lt;a&gt; holds 0, due 512 GiB, guarantee 2 TiB",
        "b holds 10, due 8<",
        ">4 short<",
        ">512 GiB short<",
        ">2 over<",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    // What is due is not said where nothing says it.
    let (mechanisms, allocations) = (Vec::new(), vec![held()]);
    let alone = compare(&problem, &Comparison { mechanisms, allocations, ..Comparison::default() });
    let html = document(&problem, &alone, false);
    assert!(!html.contains(", due ") && html.contains("2 TiB short"), "{html}");
}
