//! Tests of usage over time through the interface of the library.

mod golden;
mod karma;
mod powers;
mod random;
mod reading;
mod speed;
mod window;

use evenhand_problem::Rational;
use evenhand_usage::{History, Law, NANOSECONDS, Settings, UsageError, parse_duration};

/// Returns the number that a text states.
fn q(text: &str) -> Rational {
    text.parse().unwrap()
}

/// Returns a history from the text of a table.
fn read(text: &str) -> Result<History, UsageError> {
    History::read(
        evenhand_import::Input::new("history.csv", std::io::Cursor::new(text.to_owned().into_bytes()))
            .unwrap(),
    )
}

fn settings(law: &str, half_life: &str, at: i64) -> Settings {
    let mut settings = Settings::new(law.parse::<Law>().unwrap(), parse_duration(half_life).unwrap());
    settings.at = Some(at * NANOSECONDS);
    settings
}
