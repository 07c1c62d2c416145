//! The commands. Each command has its own file.

mod admission;
pub mod audit;
pub mod bench;
pub mod certify;
pub mod check;
pub mod cluster;
pub mod compare;
mod course;
pub mod explain;
pub mod export;
mod half_life;
pub mod hunt;
pub mod import;
pub mod lp;
mod migrations;
pub mod plan;
pub mod ratio;
pub mod reproduce;
mod rounds;
pub mod shell;
pub mod simulate;
pub mod solve;
pub mod sweep;
pub mod usage;
mod waits;
pub mod watch;
pub mod window;

use std::path::Path;

use evenhand::certify::{self as examine, Request, RequestError};
use evenhand::exact::axiom::proportional::check_alpha;
use evenhand::mechanisms::tree::Rule;
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::{Allocation, Problem, Rational, number};
use evenhand::report;
use evenhand::{Axiom, Share};

use crate::arguments::Common;
use crate::failure::{Failure, unknown};
use crate::{files, output};

/// Parses the value of `--alpha`.
fn alpha(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let alpha = number::parse(text).map_err(|error| Failure::input(format!("--alpha: {error}")))?;
    check_alpha(&alpha).map_err(|refusal| Failure::input(format!("--alpha: {refusal}")))?;
    Ok(Some(alpha))
}

/// Parses the value of `--tolerance` or of a similar option. It must be at least 0 and below 1.
fn tolerance(text: Option<&str>, option: &str) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let value = number::parse(text).map_err(|error| Failure::input(format!("--{option}: {error}")))?;
    if !(0..1).contains(&value) {
        return Err(Failure::input(format!(
            "--{option}: expected a number of at least 0 and below 1, found `{text}`"
        )));
    }
    Ok(Some(value))
}

/// Writes a note with the fields of the problem's `share` that the rule ignores.
fn note_rule(rule: Option<Rule>, problem: &Problem, common: &Common) {
    let Some(rule) = rule else { return };
    let left_out = rule.leaves_out(problem.groups().share());
    if !left_out.is_empty() {
        let fields = left_out.join("` and `");
        output::note(common, format!("--rule {rule} ignores `{fields}` of the problem's `share`"));
    }
}

/// Returns the mechanism with this name.
fn mechanism(name: &str) -> Result<&'static Mechanism, Failure> {
    registry::find(name).ok_or_else(|| unknown("mechanism", name, registry::names()))
}

/// Draws each user's share of every server class. Returns `true` if the picture went to standard output.
fn draw_holdings(path: &Path, problem: &Problem, allocation: &Allocation) -> Result<bool, Failure> {
    let bars = report::holdings(problem, allocation);
    let bars =
        bars.ok_or_else(|| Failure::input("--plot: nothing to draw: no server class has any capacity"))?;
    files::write(path, &bars.to_svg().map_err(Failure::solver)?)
}

/// Parses the value of `--axiom`: the name of an axiom, followed by a colon and a parameter if the axiom has
/// a parameter.
fn request(text: &str, problem: &Problem) -> Result<Request, Failure> {
    Request::parse(text, problem).map_err(|error| match error {
        RequestError::Unknown(name) => unknown("axiom", &name, Axiom::ALL.map(Axiom::name)),
        error => Failure::input(format!("--axiom {error}")),
    })
}

/// Parses the value of `--share`.
fn share(name: &str, problem: &Problem) -> Result<Share, Failure> {
    Share::parse(name, problem).map_err(|error| Failure::input(format!("--share: {error}")))
}

/// Applies the value of `--share` to the requests.
fn apply_share(requests: &mut Vec<Request>, share: Option<Share>, by_default: bool) -> Result<(), Failure> {
    let Some(share) = share else { return Ok(()) };
    examine::apply_share(requests, share, by_default).map_err(|_| {
        Failure::input("--share needs --axiom max-min (with --share generic also --axiom proportional)")
    })
}

/// Applies the value of `--alpha` to the requests.
fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Option<Rational>,
    by_default: bool,
) -> Result<(), Failure> {
    let Some(alpha) = alpha else { return Ok(()) };
    examine::apply_alpha(requests, alpha, by_default)
        .map_err(|_| Failure::input("--alpha needs --axiom proportional"))
}
