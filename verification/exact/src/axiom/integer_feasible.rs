//! Integer feasible: every placed task is whole and runs on one server. On every single server
//! `sum_n x_ns d_nir <= c_ir` (where time is shared, `sum_n x_ns k_i / gamma_ni <= 1`). Every `x_ns` is a whole
//! number of at least 0, is above 0 only where the user can run, and `x_n <= T_n`.
//!
//! The tasks on single servers are the placements of the allocation. Without placements the tasks on a class are
//! those on its server, if every class with tasks has only one server. Otherwise the axiom does not apply. The
//! allocation is judged as it is stated, before its repair.
//!
//! The margin is the least of three kinds of numbers: `(capacity - load) / capacity` over the rows of the servers
//! with tasks; `(T_n - x_n) / g_n`; and over the entries, `-|x_ns| / g_n` if the entry is negative or misplaced, and
//! -1 if it is not whole. No tolerance reaches -1. Loads do not count negative or misplaced entries.

use std::borrow::Cow;

use evenhand_problem::Placement;
use rug::Rational;

use crate::axiom::feasible;
use crate::axiom::rule::{Found, Rule};
use crate::evidence::Evidence;
pub use crate::evidence::SingleLimit;
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number, string};
use crate::refusal::{Inapplicable, Refusal};

/// Returns an error unless the tasks are assigned to single servers.
///
/// # Errors
/// Returns the reason why they are not, in words.
pub fn applies(instance: &Instance<'_>) -> Result<(), Inapplicable> {
    singles(instance).map(|_| ())
}

/// Returns the limit with the least margin, with its slack and margin. Returns `None` if there is no limit. Among equal
/// limits, limits of servers come before limits of users, lower servers before higher servers, and on one server rows
/// before entries. If `whole` is true, fractional tasks violate a limit.
///
/// # Errors
/// Returns the reason why the axiom does not apply, in words.
pub fn tightest(
    instance: &Instance<'_>,
    whole: bool,
) -> Result<Option<(SingleLimit, Rational, Rational)>, Inapplicable> {
    let mut least: Option<(SingleLimit, Rational, Rational)> = None;
    let mut consider = |limit: SingleLimit, found: Option<(Rational, Rational)>| {
        let Some((slack, margin)) = found else { return };
        if least.as_ref().is_none_or(|(_, _, least)| margin < *least) {
            least = Some((limit, slack, margin));
        }
    };
    for single in singles(instance)?.iter() {
        let (server, index) = (single.server, single.index);
        for row in instance.constraints().class_rows(server) {
            consider(SingleLimit::Row { row, index }, of_row(instance, single, row));
        }
        for (user, x) in &single.tasks {
            let found = of_entry(instance, *user, server, x, whole);
            consider(SingleLimit::Entry { user: *user, server, index }, found);
        }
    }
    for n in 0..instance.problem().n_users() {
        consider(SingleLimit::Tasks(n), feasible::slack(instance, feasible::Limit::Tasks(n)));
        let accelerators = feasible::slack(instance, feasible::Limit::Accelerators(n));
        consider(SingleLimit::Accelerators(n), accelerators);
    }
    Ok(least)
}

/// Returns the tasks on single servers. Servers without tasks are omitted.
fn singles<'i>(instance: &'i Instance<'_>) -> Result<Cow<'i, [Placement]>, Inapplicable> {
    if let Some(placements) = instance.placements() {
        return Ok(Cow::Borrowed(placements));
    }
    let stated = instance.stated();
    let classes = stated.problem().servers();
    let mut singles: Vec<Placement> =
        (0..classes.len()).map(|server| Placement { server, index: 0, tasks: Vec::new() }).collect();
    let placed = stated.tasks.iter().enumerate().flat_map(|(n, on)| on.iter().map(move |(i, x)| (n, *i, x)));
    let placed = placed.map(|(n, i, x)| (n, i, Rational::from((x, &stated.denominator))));
    for (n, i, x) in placed.chain(stated.refused.iter().cloned()) {
        if classes[i].count() > 1 {
            return Err(Inapplicable::new(format!(
                "the tasks on `{}` are not placed on its {} servers",
                classes[i].name(),
                classes[i].count()
            )));
        }
        singles[i].tasks.push((n, x));
    }
    singles.retain(|single| !single.tasks.is_empty());
    Ok(Cow::Owned(singles))
}

/// Returns the slack and margin of a row on one server, or `None` if the row has no effect.
fn of_row(instance: &Instance<'_>, single: &Placement, row: usize) -> Option<(Rational, Rational)> {
    let constraints = instance.constraints();
    let servers = instance.problem().servers()[single.server].count();
    let capacity = Rational::from(&constraints.rows()[row].capacity / servers);
    let offset = row - constraints.class_rows(single.server).start;
    if single.tasks.iter().all(|(_, x)| x.is_zero()) {
        return None;
    }
    let counts = |(n, x): &&(usize, Rational)| *x > 0 && instance.scaled.is_active(*n);
    let used = single.tasks.iter().filter(counts).filter_map(|(n, x)| {
        let usage = constraints.usage(*n, single.server)?;
        Some(Rational::from(&usage[offset] * x))
    });
    if capacity.is_zero() {
        return None;
    }
    let slack = &capacity - used.sum::<Rational>();
    Some((slack.clone(), slack / capacity))
}

/// Returns the slack of an entry in tasks, and its margin. The slack is minus the defect of the entry. Returns `None`
/// if the entry has no defect.
fn of_entry(
    instance: &Instance<'_>,
    n: usize,
    i: usize,
    x: &Rational,
    whole: bool,
) -> Option<(Rational, Rational)> {
    let (scaled, scale) = (&instance.scaled, instance.scale(n));
    if x.is_zero() {
        None
    } else if *x < 0 || !scaled.is_active(n) || !scaled.can_run(n, i) {
        let slack = -Rational::from(x.abs_ref());
        let margin = if scale.is_zero() { slack.clone() } else { Rational::from(&slack / scale) };
        Some((slack, margin))
    } else {
        let part = (x - Rational::from(x.round_ref())).abs();
        (whole && !part.is_zero()).then(|| (-part, Rational::from(-1)))
    }
}

/// The axiom `integer-feasible`.
pub(crate) struct IntegerFeasible;

impl Rule for IntegerFeasible {
    fn name(&self) -> &'static str {
        "integer-feasible"
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        applies(instance)
    }

    fn is_exact_on_servers(&self) -> bool {
        true
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        let found = tightest(instance, true)?;
        Ok(found.map(|(limit, slack, margin)| Found {
            margin,
            yes: Evidence::SingleLimit { limit, slack },
            no: None,
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::SingleLimit { limit, slack } = evidence else { return None };
        let slack = ("slack", number(slack));
        Some(match *limit {
            SingleLimit::Row { row, index } => {
                let (server, kind) = names.row(row);
                let index = ("index", Json::Index(index));
                fields([("server", Json::Text(server)), index, ("resource", Json::Text(kind)), slack])
            }
            SingleLimit::Tasks(n) => fields([("user", names.user_name(n)), slack]),
            SingleLimit::Accelerators(n) => {
                fields([("user", names.user_name(n)), ("limit", string("at_most")), slack])
            }
            SingleLimit::Entry { user, server, index } => {
                let (user, server) = (names.user_name(user), names.server_name(server));
                fields([("user", user), ("server", server), ("index", Json::Index(index)), slack])
            }
        })
    }
}
