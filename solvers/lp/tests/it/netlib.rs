//! Tests with the programmes of the Netlib collection, if they are available: exact optima, each accepted by the
//! kernel.

use std::io::BufReader;

use evenhand_check::{File, Options, check};
use evenhand_import::Input;
use evenhand_lp::model::Model;
use evenhand_lp::solve::{Settings, Status, solve};
use evenhand_lp::{json, mps};
use evenhand_testkit::data::data;

/// Optimal values that Netlib's index publishes, for programmes that are solved within a second.
const PUBLISHED: [(&str, f64); 16] = [
    ("afiro", -4.647_531_428_6e2),
    ("adlittle", 2.254_949_631_6e5),
    ("bandm", -1.586_280_184_5e2),
    ("beaconfd", 3.359_248_580_7e4),
    ("blend", -3.081_214_984_6e1),
    ("boeing2", -3.150_187_280_2e2),
    ("bore3d", 1.373_080_394_2e3),
    ("brandy", 1.518_509_896_5e3),
    ("capri", 2.690_012_913_8e3),
    ("e226", -1.875_192_906_6e1),
    ("kb2", -1.749_900_129_9e3),
    ("sc105", -5.220_206_121_2e1),
    ("share2b", -4.157_322_407_4e2),
    ("stocfor1", -4.113_197_621_9e4),
    ("tuff", 2.921_477_650_9e-1),
    ("vtpbase", 1.298_314_624_6e5),
];

fn programme(name: &str) -> Option<Model> {
    let path = data(&format!("netlib/{name}.mps.gz"))?;
    let (_, reader, _) = Input::open(&path).unwrap().parts();
    Some(mps::read(BufReader::new(reader)).unwrap_or_else(|error| panic!("{name}: {error}")))
}

#[test]
fn optima_are_the_published_ones_and_the_kernel_accepts_them() {
    for (name, published) in PUBLISHED {
        let Some(model) = programme(name) else { return };
        let answer = solve(&model, &Settings::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Status::Optimal(optimum) = &answer.status else { panic!("{name}: {:?}", answer.status) };
        let value = optimum.objective.to_f64();
        // The index states eleven digits. It states the value of e226 without its constant.
        let constant = model.constant.to_f64();
        let is_published = |value: f64| ((value - published) / published).abs() < 1e-9;
        assert!(
            is_published(value) || is_published(value - constant),
            "{name}: {value}, published {published}"
        );
        let file = File { name: name.to_owned(), text: json::certificate(&model, &answer).unwrap() };
        let report =
            check(&file, &Options::default()).unwrap_or_else(|fault| panic!("{name}: {}", fault.what));
        assert_eq!(report.reason, None, "{name}");
    }
}
