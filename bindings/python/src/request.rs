//! The axioms and mechanisms that Python names.

use evenhand::certify::Request;
use evenhand::exact::Parameters;
use evenhand::exact::axiom::proportional::check_alpha;
use evenhand::mechanisms::{Flags, Mechanism, registry};
use evenhand::problem::{Arithmetic, Rational, hint};
use evenhand::{Axiom, Problem, Share};

use crate::failure::Failure;
use crate::numbers;

/// The mechanism of that name.
pub fn mechanism(name: &str) -> Result<&'static Mechanism, Failure> {
    let hint = || hint(name, registry::names());
    registry::find(name)
        .ok_or_else(|| Failure::field("mechanism", format!("there is no mechanism `{name}`{}", hint())))
}

/// What is asked of a mechanism, `(name of the setting, text)`.
pub fn flags(
    mechanism: &'static Mechanism,
    exact: bool,
    seed: u64,
    settings: &[(String, String)],
) -> Result<Flags, Failure> {
    let mut flags = Flags::new(if exact { Arithmetic::Exact } else { Arithmetic::Float });
    flags.seed = seed;
    for (name, text) in settings {
        let Some(flag) = mechanism.flags.iter().find(|flag| flag.name == *name) else {
            let known = mechanism.flags.iter().map(|flag| flag.name);
            let what =
                format!("the mechanism `{}` has no setting `{name}`{}", mechanism.info.id, hint(name, known));
            return Err(Failure::field(&name.replace('-', "_"), what));
        };
        flag.check(text)?;
        flags = flags.with(flag.name, text);
    }
    Ok(flags)
}

/// An axiom with its parameter after a colon, where it has one.
pub fn request(text: &str, problem: &Problem) -> Result<Request, Failure> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let hint = || hint(name, Axiom::ALL.map(Axiom::name));
    let unknown = || Failure::field("axioms", format!("there is no axiom `{name}`{}", hint()));
    let axiom = Axiom::parse(name).ok_or_else(unknown)?;
    let parameters = axiom.parameters(parameter, problem);
    let parameters = parameters.map_err(|error| Failure::field("axioms", format!("{text}: {error}")))?;
    Ok(Request { axiom, parameters })
}

pub fn requests(axioms: &[String], problem: &Problem) -> Result<Vec<Request>, Failure> {
    axioms.iter().map(|text| request(text, problem)).collect()
}

/// The share that max-min is about, asked for by name or implied by naming a share at all.
pub fn apply_share(
    requests: &mut Vec<Request>,
    share: Option<&str>,
    is_default: bool,
    problem: &Problem,
) -> Result<(), Failure> {
    let Some(name) = share else { return Ok(()) };
    let share = Share::parse(name, problem).map_err(|error| Failure::field("share", error))?;
    let mut is_about = false;
    for request in requests.iter_mut() {
        let takes = request.axiom == Axiom::MaxMin
            || request.axiom == Axiom::Proportional && share == Share::Generic && !is_default;
        if takes {
            request.parameters.share = Some(share);
            is_about = true;
        }
    }
    match (is_about, is_default) {
        (false, true) => requests.push(Request { axiom: Axiom::MaxMin, parameters: Some(share).into() }),
        (false, false) => {
            let what = "a share goes with the axiom max-min (generic also with proportional)";
            return Err(Failure::field("share", what));
        }
        (true, _) => {}
    }
    Ok(())
}

/// The exponent of proportional fairness, asked for by name or implied by naming an exponent at all.
pub fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Option<Rational>,
    is_default: bool,
) -> Result<(), Failure> {
    let Some(alpha) = alpha else { return Ok(()) };
    match requests.iter_mut().find(|request| request.axiom == Axiom::Proportional) {
        Some(request) => request.parameters.alpha = Some(alpha),
        None if is_default => {
            requests.push(Request { axiom: Axiom::Proportional, parameters: Parameters::alpha(alpha) });
        }
        None => return Err(Failure::field("alpha", "an exponent goes with the axiom proportional")),
    }
    Ok(())
}

/// The exponent that Python wrote down.
pub fn alpha(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let alpha = numbers::parse("alpha", text)?;
    check_alpha(&alpha).map_err(|refusal| Failure::field("alpha", refusal))?;
    Ok(Some(alpha))
}

/// The tolerance that Python wrote down: from 0 to below 1.
pub fn tolerance(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let tolerance = numbers::parse("tolerance", text)?;
    match (0..1).contains(&tolerance) {
        true => Ok(Some(tolerance)),
        false => {
            Err(Failure::field("tolerance", format!("found {text}: expected a number from 0 to below 1")))
        }
    }
}
