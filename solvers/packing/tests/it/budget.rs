//! Tests that the budget is charged before searches begin.

use crate::common;

use common::adversarial;
use evenhand_budget::{Kind, Limits, spent, within};
use evenhand_packing::{MaxReward, configuration_lp, greedy};

#[test]
fn packing_ends_at_its_limits() {
    let problem = adversarial(12);
    let cost = |work| {
        within(&Limits { work, ..Limits::default() }, || {
            let mut best = MaxReward::new(&problem);
            greedy::fluid(&mut best, &problem.loads(), &problem.fractions()).unwrap();
            configuration_lp::solve(&best, &problem.loads(), &problem.fractions()).unwrap();
            spent()
        })
    };
    let needed = cost(None).unwrap();
    assert!(needed > 0);
    assert_eq!(cost(Some(needed)), Ok(needed));
    for limit in [0, needed / 10, needed - 1] {
        assert_eq!(cost(Some(limit)).unwrap_err().kind, Kind::Work { limit });
    }
}
