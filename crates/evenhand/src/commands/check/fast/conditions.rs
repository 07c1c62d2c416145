//! What the command line asks of a certificate.

use evenhand::exact::{Conditions, Requirement};
use evenhand::problem::{Rational, Reservation, Sharing};
use evenhand::{Allocation, Certificate, Problem};

use crate::arguments::Check;
use crate::commands::tolerance;
use crate::failure::Failure;
use crate::files;

/// The reader's copy of a reservation problem; nothing else can be asked of certificates about one.
pub fn reservation(call: &Check) -> Result<Option<Reservation>, Failure> {
    let others = [
        ("allocation", call.allocation.is_some()),
        ("require", !call.require.is_empty()),
        ("max-tolerance", call.max_tolerance.is_some()),
        ("sharing", call.sharing.is_some()),
    ];
    if let Some((option, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::input(format!(
            "--{option} is about certificates of allocations; this is another kind"
        )));
    }
    call.problem.as_ref().map(|path| files::read(path, |source| source.reservation())).transpose()
}

/// What the command line asks of a certificate.
pub fn conditions<'a>(
    call: &Check,
    certificate: &Certificate,
    problem: Option<&'a Problem>,
    allocation: Option<&'a Allocation>,
) -> Result<Conditions<'a>, Failure> {
    let require = call.require.iter().map(|text| {
        Requirement::parse(text, &certificate.problem)
            .map_err(|error| Failure::input(format!("--require {text}: {error}")))
    });
    let require = require.collect::<Result<_, _>>()?;
    let most = tolerance(call.max_tolerance.as_deref(), "max-tolerance")?;
    let default = Conditions::default();
    Ok(Conditions {
        problem,
        allocation,
        require,
        max_tolerance: most.map_or(default.max_tolerance, |most: Rational| Some(most)),
        sharing: match call.sharing.as_deref() {
            Some("tdm") => Some(Sharing::Tdm),
            Some(_) => Some(Sharing::Rdm),
            None => default.sharing,
        },
    })
}
