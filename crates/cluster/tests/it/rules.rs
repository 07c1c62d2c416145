//! The shares of rules are those by which the mechanism `tree` compares.

use crate::common::random;

use evenhand_cluster::{Due, Queues, by_rule};
use evenhand_mechanisms::tree::{self, Rule, Settings};

#[test]
fn what_is_due_by_a_rule_is_what_the_mechanism_gives() {
    let rules: Vec<Rule> = Rule::NAMES.iter().map(|(name, _)| name.parse().unwrap()).collect();
    let mut differ = 0;
    for seed in 0..60 {
        let (problem, _) = random(seed);
        for rule in rules.iter().copied().filter(|rule| rule.per_resource().is_none()) {
            let settings = Settings { rule: Some(rule), ..Settings::default() };
            let expected = tree::allocate(&problem, &settings).unwrap().allocation.totals();
            let changed = by_rule(&problem, Some(rule)).unwrap();
            differ += usize::from(changed.is_some());
            let changed = changed.unwrap_or_else(|| problem.clone());
            let queues = Queues::new(&changed);
            let due = Due::new(&queues, Some(rule)).unwrap();
            assert_eq!(due.tasks.as_ref().unwrap().totals(), expected, "{rule}, seed {seed}");
            let is_known = rule.share_alone(problem.groups().share()).is_some();
            assert_eq!(due.certificate.is_some(), is_known, "{rule}");
        }
    }
    assert!(differ > 60, "{differ}");
}
