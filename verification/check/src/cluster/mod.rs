//! Certificates of a running cluster (docs/verdict.md): a verdict, and moves. Both are bundles of ordinary certificates of one
//! problem, about what is held, what is due and, of moves, what is held after them. Here these are judged as any other, and
//! what the bundle states beside them is recomputed: what every queue holds and is due, the difference, who is short by a
//! whole task, tasks that fit, every step of the moves, and the least number of moves.

mod moves;
mod queues;

use rug::Rational;

use self::moves::{Gang, Moves};
use self::queues::{Queues, Vector};
use crate::case::Case;
use crate::certificate::Certificate;
use crate::json::{Json, quoted};
use crate::names::Amounts;
use crate::work::{Checked, ensure, refuse};
use crate::{File, Options, Report, Unusable};

struct Bundle<'j> {
    held: Certificate<'j>,
    due: Certificate<'j>,
    tolerance: Rational,
    /// What is stated of each queue, by position.
    rows: Vec<Row<'j>>,
    /// Absent where tasks have no servers.
    fits: Option<Vec<Gang>>,
    moves: Option<Moves<'j>>,
}

struct Row<'j> {
    name: &'j str,
    /// What it holds, is due, is short of, and holds above what it is due.
    amounts: [Amounts; 4],
    /// A user, a gang of whose tasks is within what is due.
    by: Option<usize>,
}

/// Judges a certificate of either kind.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Result<Report, Unusable> {
    let mut bundle = Bundle::read(raw).map_err(|fault| file.unusable(raw, fault))?;
    let (said, verdict) = match bundle.verify() {
        Ok(said) => (said, Ok(())),
        Err(fault) => (Vec::new(), Err(fault)),
    };
    // The reader's largest tolerance is about all of them.
    for tolerance in [&bundle.due.tolerance, &bundle.tolerance] {
        let most = bundle.held.tolerance.clone().max(tolerance.clone());
        bundle.held.tolerance = most;
    }
    let unmet = bundle.held.unmet(options)?.into_iter().next();
    let reason = file.reason(raw, unmet, verdict)?;
    let after = bundle.moves.iter().map(|moves| ("after", &moves.after));
    let parts = [("held", &bundle.held), ("due", &bundle.due)].into_iter().chain(after);
    let claims = parts.flat_map(|(of, part)| {
        let claims = part.report(None).claims.into_iter();
        claims.map(move |claim| format!("{of}: {claim}"))
    });
    let claims = claims.chain(said.iter().cloned()).collect();
    let said: Vec<String> = said.iter().filter(|_| reason.is_none()).map(|line| quoted(line)).collect();
    let mut report = Report { claims, ..bundle.held.report(reason) };
    report.more.push(("queues", format!("[{}]", said.join(","))));
    Ok(report)
}

impl<'j> Bundle<'j> {
    fn read(raw: &'j Json<'j>) -> Checked<Self> {
        let [kind, version, tolerance, held, due, rows, fits, moves] =
            raw.fields("kind version tolerance held due queues fits? moves?")?;
        version.count(1, 1)?;
        let (held, due) = (Certificate::read(held)?, Certificate::read(due)?);
        let value = tolerance.number()?;
        if !(0..1).contains(&value) {
            return tolerance.wrong("a tolerance is a number from 0 to below 1");
        }
        if (kind.text() == Ok("moves-certificate")) == moves.is_absent() {
            return kind.wrong("moves belong to a certificate of moves");
        }
        let problem = &held.problem;
        let row = |[name, held, due, short, above, by]: [&'j Json<'j>; 6]| {
            let amounts = |raw| problem.resources.numbers(raw);
            let amounts = [amounts(held)?, amounts(due)?, amounts(short)?, amounts(above)?];
            let by = by.given().map(|by| problem.user_names.named(by)).transpose()?;
            Ok(Row { name: name.text()?, amounts, by })
        };
        let rows = rows.rows("name held due short? above? by?")?.into_iter().map(row);
        let rows = rows.collect::<Checked<_>>()?;
        let fits = fits.given().map(|raw| Gang::list(raw, problem)).transpose()?;
        let moves = moves.given().map(|raw| Moves::read(raw, problem)).transpose()?;
        Ok(Self { held, due, tolerance: value, rows, fits, moves })
    }

    /// Whether everything that it states is true; what it says of queues, in sentences.
    fn verify(&self) -> Checked<Vec<String>> {
        let after = self.moves.iter().map(|moves| ("after", &moves.after));
        for (of, part) in [("held", &self.held), ("due", &self.due)].into_iter().chain(after) {
            part.verify().map_err(|fault| fault.about(of))?;
            ensure(part.hash == self.held.hash, "the parts are about different problems")?;
            let groups = !part.problem.groups.list.is_empty();
            let needed: &[&str] = match (of, groups) {
                ("due", _) => &["tree"],
                (_, false) => &["feasible", "work-conserving"],
                (_, true) => &["feasible", "work-conserving", "limits", "guarantees"],
            };
            let is_infeasible =
                part.claims.iter().any(|claim| claim.axiom == "feasible" && claim.holds == Some(false));
            let is_there = |axiom: &&str| part.claims.iter().any(|claim| claim.axiom == *axiom);
            let is_whole = needed.iter().all(is_there) || (is_infeasible && of != "due");
            ensure(is_whole, "it says nothing of an axiom that a verdict is about")?;
        }
        let is_due = self.due.claims.iter().any(|claim| {
            let exactly = claim.margin.as_ref().is_none_or(Rational::is_zero);
            claim.axiom == "tree" && claim.holds == Some(true) && exactly
        });
        ensure(is_due, "what is due is not what the filling ends with")?;
        let case = Case::new(&self.held.problem, &self.held.allocation, Rational::new())?;
        let queues = Queues::new(&case)?;
        let totals = queues.totals(&self.held.allocation.tasks)?;
        let held = queues.held(&totals)?;
        let due = queues.held(&queues.totals(&self.due.allocation.tasks)?)?;
        let mut said = self.rows(&queues, &totals, &held, &due)?;
        let is_placed = self.held.allocation.placements.is_some();
        ensure(self.fits.is_some() == is_placed, "what fits is about single servers")?;
        let fits = self.fits.as_deref().unwrap_or_default();
        ensure(fits.is_sorted_by(|a, b| a.user < b.user), "fits: a user is named twice, or out of order")?;
        fits.iter().try_for_each(|gang| gang.fits(&queues, &totals))?;
        let conserves = |claim: &crate::case::Claim<'_>| {
            claim.axiom == "work-conserving" && claim.holds == Some(true) && is_placed
        };
        let is_contrary = !fits.is_empty() && self.held.claims.iter().any(conserves);
        ensure(!is_contrary, "nothing fits, and something is said to")?;
        said.extend(fits.first().map(|_| format!("{} users could start tasks now", fits.len())));
        if let Some(moves) = &self.moves {
            ensure(self.tolerance.is_zero(), "moves tolerate nothing")?;
            said.extend(moves.verify(&queues, &self.held.allocation, &due)?);
        }
        Ok(said)
    }

    /// Whether what is stated of each queue is what it holds and is due; who is short, in sentences.
    fn rows(
        &self,
        queues: &Queues<'_>,
        totals: &[Rational],
        held: &[Vector],
        due: &[Vector],
    ) -> Checked<Vec<String>> {
        let names = self.rows.iter().map(|row| row.name);
        ensure(names.eq(queues.names.iter().copied()), "the queues are not those of the problem")?;
        let mut said = Vec::new();
        for (v, row) in self.rows.iter().enumerate() {
            let what = format!("queue `{}`", row.name);
            let over = |a: &Rational, b: &Rational| Rational::from(a - b).max(Rational::new());
            let is_wanted = queues.wanted(v, totals);
            let (mut short, mut above) = (Vector::new(), Vector::new());
            for (r, (held, due)) in held[v].iter().zip(&due[v]).enumerate() {
                short.push(if is_wanted[r] { over(due, held) } else { Rational::new() });
                above.push(over(held, due));
            }
            let true_ones = [&held[v], &due[v], &short, &above];
            for ((stated, found), of) in
                row.amounts.iter().zip(true_ones).zip(["held", "due", "short", "above"])
            {
                let found = found.iter().enumerate().filter(|(_, amount)| !amount.is_zero());
                if !found.map(|(r, amount)| (r, amount)).eq(stated.iter().map(|(r, amount)| (*r, amount))) {
                    return refuse(format!("{what}: `{of}` is not what follows"));
                }
            }
            let by = queues.short_by(v, &held[v], &due[v], totals, &self.tolerance)?;
            ensure(
                by == row.by,
                &format!("{what}: whether it is short by a whole task is not what follows"),
            )?;
            let name = |n: usize| &queues.case.problem.user_names.list[n];
            said.extend(by.map(|n| format!("{what} is short by a task of `{}`", name(n))));
        }
        if said.is_empty() {
            said.push("no queue is short by a whole task".to_owned());
        }
        Ok(said)
    }
}
