//! Tests that work is charged before it is spent.

use evenhand_budget::{Limits, within};
use evenhand_lp::mip::{MipColumn, MipModel, MipSettings};

#[test]
fn a_programme_of_whole_numbers_is_charged_by_its_size() {
    let mut mip = MipModel::default();
    for _ in 0..100 {
        mip.add_column(MipColumn { cost: 1.0, lower: 0.0, upper: 1.0, is_integer: true }).unwrap();
    }
    let limits = Limits { work: Some(1000), ..Limits::default() };
    assert!(within(&limits, || mip.solve(&MipSettings::default())).is_err());
}
