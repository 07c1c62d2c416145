//! Integer feasible: every placed task is whole and on one server. On every single server
//! `sum_n x_ns d_nir <= c_ir` (where time is shared `sum_n x_ns k_i / gamma_ni <= 1`), every `x_ns` is a
//! whole number of at least 0 and where the user can run, and `x_n <= T_n`.
//!
//! The tasks on single servers are the placements of the allocation. Without them the tasks on a class
//! are those on its server, where every class with tasks has only one; else the axiom does not apply.
//! Judged of the allocation as it is stated, before its repair.
//!
//! Margin: the least of `(capacity - load) / capacity` over the rows of the servers with tasks,
//! `(T_n - x_n) / g_n`, and over the entries `-|x_ns| / g_n` where it is negative or misplaced and minus
//! the distance to the next whole number over `g_n` where it is not whole. Loads count no entry that is
//! negative or misplaced.

use std::borrow::Cow;

use evenhand_problem::Placement;
use rug::Rational;

use crate::axiom::feasible;
use crate::instance::Instance;

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleLimit {
    /// A row of [`Constraints`](evenhand_problem::Constraints), on one server of its class.
    Row {
        /// The row.
        row: usize,
        /// The server.
        index: u64,
    },
    /// The tasks of a user.
    Tasks(usize),
    /// The tasks of a user on one server: negative, not whole, or where it cannot run.
    Entry {
        /// The user.
        user: usize,
        /// The server class.
        server: usize,
        /// The server.
        index: u64,
    },
}

/// Whether the tasks stand on single servers.
///
/// # Errors
/// Why not, in words.
pub fn applies(instance: &Instance<'_>) -> Result<(), String> {
    singles(instance).map(|_| ())
}

/// Whether placed tasks fit on the single servers and within the task limits, whole or not.
#[must_use]
pub fn fits(instance: &Instance<'_>) -> bool {
    let Ok(singles) = singles(instance) else { return true };
    let on_server = |single: &Placement| {
        let mut rows = instance.constraints().class_rows(single.server);
        let entries = single.tasks.iter().all(|(n, x)| {
            let may_be =
                *x > 0 && instance.scaled.is_active(*n) && instance.scaled.can_run(*n, single.server);
            x.is_zero() || may_be
        });
        entries && rows.all(|row| of_row(instance, single, row).is_none_or(|(slack, _)| slack >= 0))
    };
    singles.iter().all(on_server)
}

/// Slack and margin of `limit`: the slack in the units of the row or in tasks. `None` when it limits
/// nothing, or the axiom does not apply.
#[must_use]
pub fn slack(instance: &Instance<'_>, limit: SingleLimit) -> Option<(Rational, Rational)> {
    let singles = singles(instance).ok()?;
    let on = |class: usize, at: u64| singles.iter().find(|s| (s.server, s.index) == (class, at));
    match limit {
        SingleLimit::Row { row, index } => {
            let server = instance.constraints().rows().get(row)?.server;
            of_row(instance, on(server, index)?, row)
        }
        SingleLimit::Tasks(n) if n < instance.problem().n_users() => {
            feasible::slack(instance, feasible::Limit::Tasks(n))
        }
        SingleLimit::Tasks(_) => None,
        SingleLimit::Entry { user, server, index } => {
            let tasks = &on(server, index)?.tasks;
            let (_, x) = tasks.iter().find(|(n, _)| *n == user)?;
            of_entry(instance, user, server, x)
        }
    }
}

/// The tightest limit with its slack and margin: the first server, there the first row, else entry, else
/// user among equals; `None` when nothing is limited.
///
/// # Errors
/// Why the axiom does not apply, in words.
pub fn tightest(instance: &Instance<'_>) -> Result<Option<(SingleLimit, Rational, Rational)>, String> {
    let mut least: Option<(SingleLimit, Rational, Rational)> = None;
    let mut look = |limit: SingleLimit, found: Option<(Rational, Rational)>| {
        let Some((slack, margin)) = found else { return };
        if least.as_ref().is_none_or(|(_, _, least)| margin < *least) {
            least = Some((limit, slack, margin));
        }
    };
    for single in singles(instance)?.iter() {
        let (server, index) = (single.server, single.index);
        for row in instance.constraints().class_rows(server) {
            look(SingleLimit::Row { row, index }, of_row(instance, single, row));
        }
        for (user, x) in &single.tasks {
            let found = of_entry(instance, *user, server, x);
            look(SingleLimit::Entry { user: *user, server, index }, found);
        }
    }
    for n in 0..instance.problem().n_users() {
        look(SingleLimit::Tasks(n), feasible::slack(instance, feasible::Limit::Tasks(n)));
    }
    Ok(least)
}

/// The tasks on single servers, those without any left out.
fn singles<'i>(instance: &'i Instance<'_>) -> Result<Cow<'i, [Placement]>, String> {
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
            return Err(format!(
                "the tasks on `{}` are not placed on its {} servers",
                classes[i].name(),
                classes[i].count()
            ));
        }
        singles[i].tasks.push((n, x));
    }
    singles.retain(|single| !single.tasks.is_empty());
    Ok(Cow::Owned(singles))
}

/// Slack and margin of a row on one server; `None` when it limits nothing.
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

/// Minus what is wrong with `x` tasks of a user on a server, in tasks and over `g_n`; `None` when nothing
/// is.
fn of_entry(instance: &Instance<'_>, n: usize, i: usize, x: &Rational) -> Option<(Rational, Rational)> {
    let scaled = &instance.scaled;
    let slack = if x.is_zero() {
        return None;
    } else if *x < 0 || !scaled.is_active(n) || !scaled.can_run(n, i) {
        -Rational::from(x.abs_ref())
    } else if x.is_integer() {
        return None;
    } else {
        let whole = Rational::from(x.round_ref());
        -(x - whole).abs()
    };
    let scale = instance.scale(n);
    let margin = if scale.is_zero() { slack.clone() } else { Rational::from(&slack / scale) };
    Some((slack, margin))
}
