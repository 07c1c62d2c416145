//! Certificates of a running cluster (docs/verdict.md): a verdict, and moves. Both are bundles of ordinary certificates of one
//! problem, about what is held, what is due and, of moves, what is held after them. Here these are judged as any other, and
//! what the bundle states beside them is recomputed: what every queue holds and is due, the difference, who is short by a
//! whole task, tasks that fit, every step of the moves, and the least number of moves.

mod moves;
mod queues;

use rug::Rational;

use self::moves::{Gang, Moves, State};
use self::queues::{Queues, Vector};
use crate::case::{Case, Claim};
use crate::certificate::Certificate;
use crate::groups::alone;
use crate::json::{Json, quoted};
use crate::names::Amounts;
use crate::work::{Checked, about, ensure, refuse};
use crate::{File, Options, Report, Unusable, Usable};

/// The axioms that are claimed of what is held, the last two where there are groups.
const NEEDED: [&str; 4] = ["feasible", "work-conserving", "limits", "guarantees"];

/// The rules of schedulers that are hierarchical filling by some share: `of`, `over`, `zero-weight` and `guarantees` of it,
/// where they are not the default. Kueue adds flavours up, and Armada has multipliers.
const SHARES: [(&str, [Option<&str>; 4]); 6] = [
    ("hdrf", [None; 4]),
    ("mesos", [None; 4]),
    ("slurm", [None; 4]),
    ("armada", [None; 4]),
    ("kueue", [Some("surplus"), Some("lendable"), None, None]),
    ("yunikorn", [None, Some("guarantee"), None, Some("compared")]),
];

/// What is stated of a queue: its name, what it holds, is due, is short of, and holds above what it is due, and a user by
/// whose tasks it is short.
type Row<'j> = (&'j str, [Amounts; 4], Option<usize>);

struct Bundle<'j> {
    held: Certificate<'j>,
    due: Option<Certificate<'j>>,
    /// The rule by which fair shares are computed here instead, since it divides every resource alone.
    rule: Option<&'j Json<'j>>,
    tolerance: Rational,
    rows: Vec<Row<'j>>,
    /// Absent where tasks have no servers.
    fits: Option<Vec<Gang>>,
    moves: Option<Moves<'j>>,
}

/// Judges a certificate of either kind.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Usable<Report> {
    let mut bundle = Bundle::read(raw).map_err(|fault| file.unusable(raw, fault))?;
    let (said, verdict) =
        bundle.verify().map_or_else(|fault| (Vec::new(), Err(fault)), |said| (said, Ok(())));
    // The reader's largest tolerance is about all of them.
    let tolerances = bundle.parts().map(|(_, part)| &part.tolerance).chain([&bundle.tolerance]);
    bundle.held.tolerance = tolerances.max().cloned().unwrap_or_default();
    let (of_rules, others) = options.require.iter().cloned().partition(|text| text.starts_with("rule:"));
    let mut unmet = bundle.held.unmet(&Options { require: others, ..options.clone() })?;
    unmet.extend(bundle.unmet_rules(of_rules)?);
    let reason = file.reason(raw, unmet, verdict)?;
    let mut claims = Vec::new();
    for (of, part) in bundle.parts() {
        claims.extend(part.report(None).claims.into_iter().map(|claim| format!("{of}: {claim}")));
    }
    let sentences: Vec<String> = said.iter().filter(|_| reason.is_none()).map(|line| quoted(line)).collect();
    claims.extend(said);
    let mut report = Report { claims, ..bundle.held.report(reason) };
    report.more.push(("queues", format!("[{}]", sentences.join(","))));
    Ok(report)
}

impl<'j> Bundle<'j> {
    fn read(raw: &'j Json<'j>) -> Checked<Self> {
        let [kind, version, tolerance, held, due, rows, fits, moves] =
            raw.fields("kind version tolerance held due queues fits? moves?")?;
        version.count(1, 1)?;
        let held = Certificate::read(held)?;
        let rule = due.get("rule").given();
        let due = match rule {
            Some(rule) => {
                due.fields::<1>("rule")?;
                rule.word(&alone::RULES)?;
                None
            }
            None => Some(Certificate::read(due)?),
        };
        let value = tolerance.number()?;
        if !(0..1).contains(&value) {
            return tolerance.wrong("a tolerance is a number from 0 to below 1");
        }
        if (kind.text() == Ok("moves-certificate")) == moves.given().is_none() {
            return kind.wrong("moves belong to a certificate of moves");
        }
        let problem = &held.problem;
        let row = |[name, held, due, short, above, by]: [&'j Json<'j>; 6]| {
            let amounts = |raw| problem.resources.numbers(raw);
            let by = by.given().map(|by| problem.user_names.named(by)).transpose()?;
            Ok((name.text()?, [amounts(held)?, amounts(due)?, amounts(short)?, amounts(above)?], by))
        };
        let rows = rows.rows("name held due short? above? by?", row)?;
        let fits = fits.given().map(|raw| Gang::list(raw, problem)).transpose()?;
        let moves = moves.given().map(|raw| Moves::read(raw, problem)).transpose()?;
        Ok(Self { held, due, rule, tolerance: value, rows, fits, moves })
    }

    fn parts(&self) -> impl Iterator<Item = (&'static str, &Certificate<'j>)> {
        let after = self.moves.iter().map(|moves| ("after", &moves.after));
        let due = self.due.iter().map(|due| ("due", due));
        [("held", &self.held)].into_iter().chain(due).chain(after)
    }

    /// Returns which of these required rules are not the one that fair shares follow.
    fn unmet_rules(&self, required: Vec<String>) -> Usable<Vec<String>> {
        let own = self.rules();
        let known = || alone::RULES.iter().chain(&["tree"]).chain(SHARES.iter().map(|(name, _)| name));
        let mut unmet = Vec::new();
        for text in required {
            let name = text.trim_start_matches("rule:");
            if !known().any(|known| *known == name) {
                let names = known().copied().collect::<Vec<_>>().join(", ");
                return Err(Unusable::usage(&format!("--require {text}: expected a rule among {names}")));
            }
            if !own.contains(&name) {
                unmet.push(format!(
                    "`{text}` is required, and fair shares are those by `{}`",
                    own.join("`, `")
                ));
            }
        }
        Ok(unmet)
    }

    /// Returns the names of the rule that fair shares follow. Several schedulers have the same one.
    fn rules(&self) -> Vec<&str> {
        if let Some(rule) = self.rule {
            return rule.text().into_iter().collect();
        }
        let share = &self.held.problem.groups.share;
        let is_own = |(name, words): &&(&str, [Option<&str>; 4])| {
            let has_multipliers = !share.multipliers.is_empty() && *name != "armada";
            share.words == *words && share.families == (*name == "kueue") && !has_multipliers
        };
        ["tree"].into_iter().chain(SHARES.iter().filter(is_own).map(|(name, _)| *name)).collect()
    }

    /// Returns by which rule fair shares are, in a sentence.
    fn rule_in_words(&self) -> String {
        match self.rule.map(Json::text) {
            Some(Ok(rule)) => format!("fair shares: by the rule `{rule}`, each resource alone"),
            _ => format!("fair shares: by hierarchical filling, the rule `{}`", self.rules().join("`, `")),
        }
    }

    /// Whether everything that it states is true; what it says of queues, in sentences.
    fn verify(&self) -> Checked<Vec<String>> {
        for (of, part) in self.parts() {
            about(of, part.verify())?;
            ensure(part.hashes().0 == self.held.hashes().0, "the parts are about different problems")?;
            let needed = if part.problem.groups.list.is_empty() { &NEEDED[..2] } else { &NEEDED };
            let is_infeasible = says(part, "feasible", |claim| claim.holds == Some(false));
            let is_whole = is_infeasible || needed.iter().all(|axiom| says(part, axiom, |_| true));
            ensure(of == "due" || is_whole, "an axiom of a verdict is not claimed")?;
        }
        let case = Case::new(&self.held.problem, &self.held.allocation, Rational::new())?;
        let queues = Queues::new(&case)?;
        let mut state = State::new(&queues, &self.held.allocation)?;
        let due = match (&self.due, self.rule) {
            (None, None) => return refuse("fair shares have neither a rule nor a certificate"),
            (None, Some(rule)) => about("due", alone::shares(&self.held.problem, rule))?,
            (Some(due), _) => {
                let is_zero = |claim: &Claim<'_>| claim.margin.iter().all(Rational::is_zero);
                let is_due = says(due, "tree", |claim| claim.holds == Some(true) && is_zero(claim));
                ensure(is_due, "what is due is not what the filling ends with")?;
                // What is judged, and so equal to what the filling ends with, are the tasks after their repair.
                let due = Case::new(&due.problem, &due.allocation, Rational::new())?;
                queues.held(|_, n| &due.total[n])?
            }
        };
        let mut said = self.rows(&queues, &state, &due)?;
        said.push(self.rule_in_words());
        let is_placed = self.held.allocation.placements.is_some();
        ensure(self.fits.is_some() == is_placed, "what fits is about single servers")?;
        for gang in self.fits.iter().flatten() {
            let is_none = says(&self.held, "work-conserving", |claim| claim.holds == Some(true));
            let fits = ensure(is_placed && !is_none, "nothing fits").and_then(|()| state.fits(gang));
            about(&format!("fits: user `{}`", case.user(gang.user)), fits)?;
        }
        let fits = self.fits.as_ref().map_or(0, Vec::len);
        said.extend((fits > 0).then(|| format!("{fits} users could start tasks now")));
        if let Some(moves) = &self.moves {
            ensure(
                is_placed && self.tolerance.is_zero(),
                "moves are about single servers, without tolerance",
            )?;
            said.push(moves.verify(state, &due)?);
        }
        Ok(said)
    }

    /// Whether what is stated of each queue is what it holds and is due; who is short, in sentences.
    fn rows(&self, queues: &Queues<'_>, state: &State<'_, '_>, due: &[Vector]) -> Checked<Vec<String>> {
        let names = self.rows.iter().map(|row| row.0);
        ensure(names.eq(queues.names.iter().copied()), "the queues are not those of the problem")?;
        let mut said = Vec::new();
        for (v, (name, stated, by)) in self.rows.iter().enumerate() {
            let over = |a: &Rational, b: &Rational| Rational::from(a - b).max(Rational::new());
            let (held, due, wanted) = (&state.held[v], &due[v], queues.wanted(v, &state.totals));
            let short = |r: usize| if wanted[r] { over(&due[r], &held[r]) } else { Rational::new() };
            let short: Vector = (0..due.len()).map(short).collect();
            let above = held.iter().zip(due).map(|(held, due)| over(held, due)).collect();
            for (stated, found) in stated.iter().zip([held, due, &short, &above]) {
                let found = found.iter().enumerate().filter(|(_, amount)| !amount.is_zero());
                let is_found = found.eq(stated.iter().map(|(r, amount)| (*r, amount)));
                ensure(is_found, &format!("queue `{name}`: an amount is not what follows"))?;
            }
            let found = queues.short_by(v, held, due, &state.totals, &self.tolerance)?;
            let what = format!("queue `{name}`: whether it is short by a whole task is not what follows");
            ensure(found == *by, &what)?;
            let who = by.map(|n| format!("queue `{name}` is short by a task of `{}`", queues.case.user(n)));
            said.extend(who);
        }
        Ok(if said.is_empty() { vec!["no queue is short by a whole task".to_owned()] } else { said })
    }
}

/// Whether something is claimed of an axiom.
fn says(part: &Certificate<'_>, axiom: &str, what: impl Fn(&Claim<'_>) -> bool) -> bool {
    part.claims.iter().any(|claim| claim.axiom == axiom && what(claim))
}
