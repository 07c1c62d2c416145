//! Repeats the papers' simulations, in which tasks arrive, run and finish.

pub(super) mod admission;
pub(super) mod confidence;
pub(super) mod distributed;
pub(super) mod dynamic;
pub(super) mod google;
mod lyapunov;
pub(super) mod priorities;

use crate::error::PaperError;
use evenhand_problem::{Rational, ServerSpec, UserSpec, number};

/// Returns the names of the resources: CPU and memory.
fn resources() -> Vec<String> {
    ["cpu", "memory"].map(str::to_owned).to_vec()
}

/// Returns the servers of DRFH, Table I.
fn table_1() -> Result<Vec<ServerSpec>, PaperError> {
    let class = |(i, (count, capacity)): (usize, &(u32, &[&str]))| {
        Ok(ServerSpec {
            name: format!("class {}", i + 1),
            count: Some(Rational::from(*count)),
            capacity: amounts(capacity)?,
        })
    };
    super::drfh::GOOGLE.iter().enumerate().map(class).collect()
}

/// Returns a user of weight 1.
fn user(name: &str, demand: &[&str]) -> Result<UserSpec, PaperError> {
    Ok(UserSpec { name: name.to_owned(), demand: amounts(demand)?, ..UserSpec::default() })
}

fn amounts(values: &[&str]) -> Result<Vec<(String, Rational)>, PaperError> {
    let amounts = values.iter().map(|text| number::parse(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(resources().into_iter().zip(amounts).collect())
}

/// Formats a fraction as a percentage.
fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}
