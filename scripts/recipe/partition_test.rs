//! The static partition.

use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Rational};

#[test]
fn every_user_gets_its_fraction_up_to_its_task_limit() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 12}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "weight": 2, "tasks": 3, "demand": {"cpu": 2}}]}"#;
    let problem = Source { name: "p.json", text }.problem().unwrap();
    let outcome = registry::find("partition").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    assert_eq!(outcome.allocation.totals(), [4, 3].map(Rational::from));
}
