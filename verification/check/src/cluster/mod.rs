//! Certificates of a running cluster (docs/verdict.md): verdicts and moves.
//!
//! Both are bundles of ordinary certificates of one problem. One certificate is about the current usage, and one is
//! about the fair shares. A bundle of moves also has a certificate about the usage after the moves. These certificates
//! are judged like any other. The remaining statements of the bundle are recomputed. These are the usage, the fair
//! share and their difference for every queue, the queues that are below their fair share by a whole task, and the
//! tasks that could start. For moves, every step and the smallest number of moves are also recomputed.

mod migrations;
mod moves;
mod queues;
mod starts;

use rug::Rational;

use self::moves::Moves;
use self::queues::{Queues, Vector};
use self::starts::{Gang, Rules, State};
use crate::allocation::Allocation;
use crate::canonical::same;
use crate::case::{Case, Claim};
use crate::certificate::Certificate;
use crate::groups::alone;
use crate::json::{Json, quoted};
use crate::names::Amounts;
use crate::problem::Problem;
use crate::work::{Checked, context, ensure, refuse};
use crate::{File, Options, Report, Unusable, Usable};

/// The axioms that the certificates about usage have to claim. The last two are needed only if there are groups.
const NEEDED: [&str; 4] = ["feasible", "work-conserving", "limits", "guarantees"];

/// The names of schedulers whose rule is hierarchical filling by some share. Each has the words `of`, `over`,
/// `zero-weight` and `guarantees` of the share that differ from the default. In addition, Kueue sums flavours, and
/// Armada has multipliers.
const SHARES: [(&str, [Option<&str>; 4]); 6] = [
    ("hdrf", [None; 4]),
    ("mesos", [None; 4]),
    ("slurm", [None; 4]),
    ("armada", [None; 4]),
    ("kueue", [Some("surplus"), Some("lendable"), None, None]),
    ("yunikorn", [None, Some("guarantee"), None, Some("compared")]),
];

/// The statements about a queue: its name; its usage, its fair share, the amounts that it lacks and the amounts over
/// its fair share; and a user whose gang would still be within the fair share.
type Row<'j> = (&'j str, [Amounts; 4], Option<usize>);

/// A bundle that has been read.
struct Bundle<'j> {
    held: Certificate<'j>,
    due: Option<Certificate<'j>>,
    /// The rule by which fair shares are computed here. `None` if the fair shares have a certificate. They have none if
    /// the rule divides each resource separately.
    rule: Option<&'j Json<'j>>,
    tolerance: Rational,
    rows: Vec<Row<'j>>,
    rules: Rules,
    /// True if servers of the cluster may have more capacity than the problem states.
    is_rounded: bool,
    /// The name and hash of each dump to which the bundle refers.
    sources: Vec<(&'j str, &'j str)>,
    /// The starts that are possible. `None` if tasks are not assigned to servers.
    fits: Option<Vec<Vec<Gang>>>,
    moves: Option<Moves<'j>>,
}

/// Judges a certificate of either kind.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Usable<Report> {
    let mut bundle = Bundle::read(raw).map_err(|fault| file.unusable(raw, fault))?;
    let (said, verdict) =
        bundle.verify().map_or_else(|fault| (Vec::new(), Err(fault)), |said| (said, Ok(())));
    // The largest tolerance that the reader allows applies to all certificates of the bundle.
    let tolerances = bundle.parts().map(|(_, part)| &part.tolerance).chain([&bundle.tolerance]);
    bundle.held.tolerance = tolerances.max().cloned().unwrap_or_default();
    let (of_rules, others) = options.require.iter().cloned().partition(|text| text.starts_with("rule:"));
    let mut unmet = Vec::new();
    let mut asked = Options { require: others, ..options.clone() };
    let is_snapshot = |file: &&File| file.parsed().is_ok_and(|raw| raw.get("kind").text() == Ok("snapshot"));
    if let Some(snapshot) = options.problem.as_ref().filter(is_snapshot) {
        asked.problem = None;
        let is_same = snapshot.read(|snapshot| bundle.is_about(raw, snapshot))?;
        unmet.extend((!is_same).then(|| "the certificate is about another snapshot".to_owned()));
    }
    unmet.extend(bundle.held.unmet(&asked)?);
    unmet.extend(bundle.unmet_rules(of_rules)?);
    let reason = file.reason(raw, unmet, verdict)?;
    let mut claims = Vec::new();
    for (of, part) in bundle.parts() {
        claims.extend(part.report(None).claims.into_iter().map(|claim| format!("{of}: {claim}")));
    }
    let sentences: Vec<String> = said.iter().filter(|_| reason.is_none()).map(|line| quoted(line)).collect();
    // If a sentence says that a fact was not checked or not claimed, the sentence is not a proven claim.
    let is_claim = |line: &String| !["not checked", "not claimed"].iter().any(|word| line.starts_with(word));
    let (proven, rest): (Vec<String>, Vec<String>) = said.into_iter().partition(is_claim);
    claims.extend(proven);
    let mut report = Report { claims, ..bundle.held.report(reason) };
    report.subject.splice(0..0, rest.into_iter().filter(|_| report.reason.is_none()));
    report.subject.extend(bundle.sources.iter().map(|(file, hash)| format!("dump sha256 {hash}: `{file}`")));
    report.fields.push(("queues", format!("[{}]", sentences.join(","))));
    Ok(report)
}

impl<'j> Bundle<'j> {
    fn read(raw: &'j Json<'j>) -> Checked<Self> {
        let [kind, version, tolerance, held, due, rows, constraints, closed, rounded, sources, fits, moves] =
            raw.fields(
                "kind version tolerance held due queues constraints? closed? rounded? sources? fits? moves?",
            )?;
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
            return tolerance.wrong("expected a number of at least 0 and below 1");
        }
        if (kind.text() == Ok("moves-certificate")) == moves.given().is_none() {
            return kind.wrong(
                "the field `moves` is for certificates of the kind `moves-certificate`, which need it",
            );
        }
        let problem = &held.problem;
        if problem.has_rates() {
            return raw.wrong("users state `rates`, which certificates of a running cluster do not support");
        }
        let row = |[name, held, due, short, above, by]: [&'j Json<'j>; 6]| {
            let amounts = |raw| problem.resources.numbers(raw);
            let by = by.given().map(|by| problem.user_names.named(by)).transpose()?;
            Ok((name.text()?, [amounts(held)?, amounts(due)?, amounts(short)?, amounts(above)?], by))
        };
        let rows = rows.rows("name held due short? above? by?", row)?;
        let start = |raw| Gang::start(raw, problem);
        let fits = fits.given().map(|raw| raw.list()?.iter().map(start).collect()).transpose()?;
        let moves = moves.given().map(|raw| Moves::read(raw, problem)).transpose()?;
        let closed = closed.given().map_or(Ok(Vec::new()), |closed| problem.class_names.listed(closed))?;
        let rules = Rules::read(constraints, closed, problem)?;
        let sources = Self::sources(sources)?;
        let is_rounded = rounded.given().map_or(Ok(false), Json::boolean)?;
        Ok(Self { held, due, rule, tolerance: value, rows, rules, is_rounded, sources, fits, moves })
    }

    /// Reads the files and hashes of dumps. A dump without a hash is ignored.
    fn sources<'s>(raw: &'s Json<'s>) -> Checked<Vec<(&'s str, &'s str)>> {
        let mut found = Vec::new();
        for raw in raw.given().map_or(Ok(&[][..]), Json::list)? {
            let [file, _, _, hash] = raw.fields("file version? time? sha256?")?;
            if hash.given().is_some() {
                let text = hash.text()?;
                let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
                if !is_hash {
                    return hash.wrong("expected 64 hexadecimal digits");
                }
                found.push((file.text()?, text));
            }
        }
        Ok(found)
    }

    /// Returns true if the bundle is about a snapshot. The problem (except for the share, which a rule replaces), the
    /// running tasks, the constraints and the dumps have to be the same.
    fn is_about(&self, raw: &Json<'_>, snapshot: &Json<'_>) -> Checked<bool> {
        let mut problem = Problem::read(snapshot.get("problem"))?;
        let (allocation, _) = Allocation::read(snapshot.get("allocation"), false, &problem)?;
        let mut closed = Vec::new();
        for [server, _] in snapshot.get("closed").rows("server reason?", Ok)? {
            closed.push(problem.class_names.named(server)?);
        }
        closed.sort_unstable();
        let is_same_rules = Rules::read(snapshot.get("constraints"), closed, &problem)? == self.rules;
        let is_same_allocation = allocation == self.held.allocation;
        problem.groups.share = Problem::read(raw.get("held").get("problem"))?.groups.share;
        // The same positions have the same meaning only if both problems are the same.
        let is_same_problem =
            same(&self.held.problem, &problem) && self.held.hashes().0 == crate::canonical::hash(&problem);
        let is_same_dump = Self::sources(snapshot.get("sources"))? == self.sources;
        let rounded = snapshot.get("rounded").given().map_or(Ok(&[][..]), Json::list)?;
        let is_same_rounding = rounded.is_empty() != self.is_rounded;
        Ok(is_same_problem && is_same_rules && is_same_allocation && is_same_dump && is_same_rounding)
    }

    fn parts(&self) -> impl Iterator<Item = (&'static str, &Certificate<'j>)> {
        let after = self.moves.iter().map(|moves| ("after", &moves.after));
        let due = self.due.iter().map(|due| ("due", due));
        [("held", &self.held)].into_iter().chain(due).chain(after)
    }

    /// Returns a message for each required rule that is not the rule of the fair shares.
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
                    "`{text}` is required, but the fair shares are by the rule `{}`",
                    own.join("`, `")
                ));
            }
        }
        Ok(unmet)
    }

    /// Returns the names of the rule of the fair shares. Several schedulers have the same rule.
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

    /// Returns a sentence that names the rule of the fair shares.
    fn rule_in_words(&self) -> String {
        match self.rule.map(Json::text) {
            Some(Ok(rule)) => {
                format!("fair shares: by the rule `{rule}`, which divides each resource separately")
            }
            _ => format!("fair shares: by hierarchical filling, the rule `{}`", self.rules().join("`, `")),
        }
    }

    /// Checks that all statements of the bundle are true, and returns sentences about the queues.
    fn verify(&self) -> Checked<Vec<String>> {
        for (of, part) in self.parts() {
            context(of, part.verify())?;
            ensure(
                part.hashes().0 == self.held.hashes().0,
                "the certificates in this file are about different problems",
            )?;
            let needed = if part.problem.groups.list.is_empty() { &NEEDED[..2] } else { &NEEDED };
            let is_infeasible = says(part, "feasible", |claim| claim.holds == Some(false));
            let is_whole = is_infeasible || needed.iter().all(|axiom| says(part, axiom, |_| true));
            ensure(of == "due" || is_whole, "a claim that every verdict needs is missing")?;
        }
        let case = Case::new(&self.held.problem, &self.held.allocation, Rational::new())?;
        let queues = Queues::new(&case, &self.rules)?;
        let mut state = State::new(&queues, &self.rules, &self.held.allocation)?;
        let due = match (&self.due, self.rule) {
            (None, None) => return refuse("the fair shares have neither a rule nor a certificate"),
            (None, Some(rule)) => context("due", alone::shares(&self.held.problem, rule))?,
            (Some(due), _) => {
                let is_zero = |claim: &Claim<'_>| claim.margin.iter().all(Rational::is_zero);
                let is_due = says(due, "tree", |claim| claim.holds == Some(true) && is_zero(claim));
                ensure(is_due, "the fair shares are not proven to be the result of hierarchical filling")?;
                // The judged tasks are the tasks after their repair. Therefore they equal the tasks at the end of the
                // filling.
                let due = Case::new(&due.problem, &due.allocation, Rational::new())?;
                queues.held(|_, n| &due.total[n])?
            }
        };
        let mut said = self.rows(&queues, &state, &due)?;
        said.push(self.rule_in_words());
        let is_placed = self.held.allocation.placements.is_some();
        ensure(
            self.fits.is_some() == is_placed,
            "the field `fits` is needed if the allocation has placements, and only then",
        )?;
        if let Some(fits) = &self.fits {
            said.extend(self.starts(&queues, &mut state, fits)?);
            let rounded = "free capacity of servers is rounded down: starts that need the rest of it are not \
                considered";
            said.extend(self.is_rounded.then(|| rounded.to_owned()));
        }
        if let Some(moves) = &self.moves {
            ensure(
                is_placed && self.tolerance.is_zero(),
                "moves need placements on single servers and the tolerance 0",
            )?;
            if let Some(job) = &moves.job {
                said.push(job.verify(&state, &moves.steps)?);
            }
            said.push(moves.verify(state, &due, &self.held)?);
            let policy = "not checked: whether the scheduler's policy allows these stops, and whether whole gangs stop";
            said.extend(moves.stops_tasks().then(|| policy.to_owned()));
        }
        Ok(said)
    }

    /// Returns sentences about the tasks that could start. Every stated start is replayed. For every other waiting
    /// user, either a bound shows that the user cannot start, or the sentence says that this was not checked.
    fn starts(
        &self,
        queues: &Queues<'_>,
        state: &mut State<'_, '_>,
        fits: &[Vec<Gang>],
    ) -> Checked<Vec<String>> {
        let case = queues.case;
        let mut could = vec![false; case.problem.users.len()];
        for gangs in fits {
            let Some(first) = gangs.first() else { return refuse("a start lists no gangs") };
            let is_waiting = queues.waits(first.user, &state.totals) && !could[first.user];
            let stated = ensure(is_waiting, "the user has no waiting gang, or has two starts")
                .and_then(|()| {
                    let is_modelled = !self.rules.is_not_modelled(first.user);
                    ensure(is_modelled, "whether it could start depends on a condition that is not modelled")
                })
                .and_then(|()| state.start(gangs));
            context(&format!("fits: user `{}`", case.user(first.user)), stated)?;
            gangs.iter().try_for_each(|gang| state.change(gang, true))?;
            gangs.iter().for_each(|gang| could[gang.user] = true);
        }
        let (mut not_checked, mut not_modelled) = (Vec::new(), Vec::new());
        for (n, could) in could.iter().enumerate() {
            let leads = self.rules.start(n)[0] == n;
            if *could || !leads || !queues.waits(n, &state.totals) || state.cannot_start(n)? {
                continue;
            }
            let list = if self.rules.is_not_modelled(n) { &mut not_modelled } else { &mut not_checked };
            list.push(format!("`{}`", case.user(n)));
        }
        let mut said = vec![match fits.len() {
            0 => "could start now, by this certificate: no waiting user".to_owned(),
            1 => "could start now: a gang of 1 waiting user".to_owned(),
            count => format!("could start now: gangs of {count} waiting users"),
        }];
        said.push(match not_checked.len() {
            0 => "no other waiting user could start a gang".to_owned(),
            _ => format!("not checked whether they could start: {}", not_checked.join(", ")),
        });
        if !not_modelled.is_empty() {
            let names = not_modelled.join(", ");
            said.push(format!(
                "not claimed: whether {names} could start, which depends on conditions that are not modelled"
            ));
        }
        Ok(said)
    }

    /// Checks that the statements about each queue follow from its usage and its fair share. Returns a sentence for
    /// each queue that is below its fair share by a whole task.
    fn rows(&self, queues: &Queues<'_>, state: &State<'_, '_>, due: &[Vector]) -> Checked<Vec<String>> {
        let names = self.rows.iter().map(|row| row.0);
        ensure(
            names.eq(queues.names.iter().copied()),
            "the listed queues differ from the queues of the problem",
        )?;
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
                ensure(is_found, &format!("queue `{name}`: an amount differs from the computed amount"))?;
            }
            let found = queues.short_by(v, held, due, &state.totals, &self.tolerance)?;
            let what = format!(
                "queue `{name}`: the field `by` is wrong: it says which user is below the fair share by a whole task"
            );
            ensure(found == *by, &what)?;
            let user = |n| {
                format!(
                    "queue `{name}` is below its fair share by a whole task of user `{}`",
                    queues.case.user(n)
                )
            };
            let who = by.map(user);
            said.extend(who);
        }
        Ok(if said.is_empty() {
            vec!["no queue is below its fair share by a whole task".to_owned()]
        } else {
            said
        })
    }
}

/// Returns true if a certificate has a claim about this axiom that `what` accepts.
fn says(part: &Certificate<'_>, axiom: &str, what: impl Fn(&Claim<'_>) -> bool) -> bool {
    part.claims.iter().any(|claim| claim.axiom == axiom && what(claim))
}
