//! What the command line asks of a mechanism.

use evenhand::Problem;
use evenhand::mechanisms::{Mechanism, Method, Options};
use evenhand::problem::{Arithmetic, Rational, ServerClass, number};

use crate::arguments::{Common, Solve};
use crate::commands::alpha;
use crate::failure::Failure;
use crate::suggest;

/// The names that `--order` gives are those of server classes.
pub fn check_order(order: Option<&Vec<String>>, problem: &Problem) -> Result<(), Failure> {
    let unknown = order
        .into_iter()
        .flatten()
        .find(|name| !problem.servers().iter().any(|server| server.name() == *name));
    unknown.map_or(Ok(()), |name| {
        Err(suggest::unknown("server class", name, problem.servers().iter().map(ServerClass::name)))
    })
}

/// The value of `--step`; the mechanism says what it may be.
fn step(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    number::parse(text).map(Some).map_err(|error| Failure::input(format!("--step: {error}")))
}

/// The value of `--c-max`; the mechanism says what it may be.
fn c_max(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    number::parse(text).map(Some).map_err(|error| Failure::input(format!("--c-max: {error}")))
}

/// The options, all of which the mechanism takes.
pub fn options(call: &Solve, common: &Common, mechanism: &dyn Mechanism) -> Result<Options, Failure> {
    let (particular, filling) = (&call.particular, &call.filling);
    let trimmed = |names: &Vec<String>| names.iter().map(|name| name.trim().to_owned()).collect();
    let options = Options {
        arithmetic: if call.float { Arithmetic::Float } else { Arithmetic::Exact },
        alpha: alpha(particular.alpha.as_deref())?,
        criterion: particular.criterion,
        select: particular.select,
        reduce: particular.reduce,
        faces: particular.faces,
        score: filling.score,
        server: filling.server,
        ties: filling.ties,
        filter: filling.filter,
        step: step(filling.step.as_deref())?,
        ideal: filling.ideal,
        slots: filling.slots,
        seed: common.seed,
        method: particular.method,
        order: particular.order.as_ref().map(trimmed),
        c_max: c_max(particular.c_max.as_deref())?,
        series: particular.method == Some(Method::Trajectory),
    };
    match options.stated().into_iter().find(|option| !mechanism.options().contains(option)) {
        None => Ok(options),
        Some(option) => {
            let (option, id) = (option.name(), mechanism.info().id);
            Err(Failure::input(format!("--{option} does not go with the mechanism `{id}`")))
        }
    }
}
