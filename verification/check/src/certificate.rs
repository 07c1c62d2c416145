//! A certificate about an allocation: this module reads the certificate, judges it, and compares it with the
//! requirements of the reader.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::thread;

use rug::Rational;

use crate::allocation::Allocation;
use crate::axioms::{AXIOMS, axiom_named, feasible, proportional, required};
use crate::canonical::{hash, hash_of_tasks, same};
use crate::case::{Case, Claim};
use crate::json::{Json, quoted, record};
use crate::names::of_kind;
use crate::number::{STATED, hashed, parse, short};
use crate::problem::Problem;
use crate::work::{self, Checked, Fault, context, ensure};
use crate::{File, Options, Report, Unusable, Usable};

/// The largest tolerance that is accepted if the reader does not set another tolerance. It is larger than any rounding
/// error.
const MOST_TOLERANCE: (u32, u32) = (1, 1_000_000);
/// The largest number of claims of proportional fairness. Each claim involves all users, and there are many exponents.
const MOST_PROPORTIONAL: usize = 32;

/// A certificate that has been read.
pub struct Certificate<'j> {
    pub problem: Problem,
    pub allocation: Allocation,
    pub tolerance: Rational,
    pub claims: Vec<Claim<'j>>,
    /// The axioms that the certificate says it did not check.
    not_checked: HashSet<&'static str>,
    /// The hash of the problem and the hash of the allocation, computed when they are first used.
    hashes: OnceLock<(String, String)>,
    /// The hash of the problem that the allocation states, if it states one.
    stated_hash: Option<&'j str>,
}

impl<'j> Certificate<'j> {
    pub fn read(raw: &'j Json<'j>) -> Checked<Self> {
        of_kind(raw, "certificate")?;
        let [_, version, problem, allocation, tolerated, stated, unchecked] =
            raw.fields("kind version problem allocation tolerance? claims not_checked")?;
        if version.number()? != 2 {
            return version.wrong("expected version 2: run `evenhand certify` again to convert version 1");
        }
        let problem = Problem::read(problem)?;
        work::has_problem();
        let (allocation, stated_hash) = Allocation::read(allocation, false, &problem)?;
        let tolerance = tolerated.given().map_or(Ok(Rational::new()), Json::number)?;
        if !(0..1).contains(&tolerance) {
            return tolerated.wrong("expected a number of at least 0 and below 1");
        }
        let read = |raw| Claim::read(raw, &problem);
        let claims = stated.list()?.iter().map(read).collect::<Checked<Vec<_>>>()?;
        if claims.iter().filter(|claim| claim.axiom == "proportional").count() > MOST_PROPORTIONAL {
            return stated.wrong(format!(
                "found more than {MOST_PROPORTIONAL} claims of `proportional`, the most that are accepted"
            ));
        }
        let names = unchecked.list()?;
        let axiom = |raw| axiom_named(raw).map(|at| AXIOMS[at].0);
        let not_checked = names.iter().map(axiom).collect::<Checked<HashSet<_>>>()?;
        if not_checked.len() < names.len() {
            return unchecked.wrong("the list names an axiom twice");
        }
        let hashes = OnceLock::new();
        Ok(Self { hashes, problem, allocation, tolerance, claims, not_checked, stated_hash })
    }

    /// Returns the hash of the problem and the hash of the allocation.
    pub fn hashes(&self) -> &(String, String) {
        self.hashes.get_or_init(|| (hash(&self.problem), hash_of_tasks(&self.allocation, &self.problem)))
    }

    /// Checks that all statements of the certificate are true.
    pub fn verify(&self) -> Checked<()> {
        let case = Case::new(&self.problem, &self.allocation, self.tolerance.clone())?;
        // No capacity and no number of tasks may be exceeded by more than the tolerance. On single servers no excess is
        // allowed. Another axiom is about fractions of tasks.
        let is_feasible = feasible::least(&case)?.is_none_or(|margin| margin >= case.least_of_limits());
        let mut first = Ok(());
        // A repeated claim is judged only once. `check_form` rejects the certificate.
        let mut judged = HashSet::new();
        for claim in self.claims.iter().filter(|claim| judged.insert(claim.name(&self.problem))) {
            let judged = context(&format!("claim `{}`", claim.axiom), claim.verify(&case));
            // A claim that cannot be read is the more serious fault. It is reported regardless of the order of the
            // claims.
            if let Err(Fault::Malformed { .. }) = judged {
                return judged;
            }
            let may_be = is_feasible || matches!(claim.axiom, "feasible" | "integer-feasible");
            let may_be =
                ensure(may_be, "the allocation is infeasible, so it may have no claim except `feasible`");
            first = first.and(may_be).and(judged);
        }
        self.check_form(judged.len()).and(first)
    }

    /// Checks the formal conditions of a certificate. `distinct` is the number of different claims.
    fn check_form(&self, distinct: usize) -> Checked<()> {
        ensure(!self.claims.is_empty(), "the certificate has no claims")?;
        let is_its = self.stated_hash.is_none_or(|stated| stated == self.hashes().0);
        ensure(
            is_its,
            "the allocation is for another problem: its `problem_sha256` differs from the hash of `problem`",
        )?;
        ensure(distinct == self.claims.len(), "the certificate has two claims of the same axiom")?;
        let is_not_checked = self.claims.iter().any(|claim| self.not_checked.contains(claim.axiom));
        ensure(!is_not_checked, "an axiom has a claim and is also listed as not checked")
    }

    /// Returns the requirements of the reader that the certificate does not meet.
    pub fn unmet(&self, options: &Options) -> Usable<Vec<String>> {
        let mut unmet = Vec::new();
        // The reader's own problem may list its users and servers in another order. It then has another hash.
        let mut known = vec![self.hashes().0.clone()];
        if let Some(file) = &options.problem {
            let own = file.read(Problem::read)?;
            let is_same = same(&self.problem, &own);
            unmet.extend((!is_same).then(|| "the certificate is about another problem".to_owned()));
            known.extend(is_same.then(|| hash(&own)));
        }
        if let Some(file) = &options.allocation {
            let (is_same, is_of_problem) = file.read(|raw| {
                let (allocation, hash) = Allocation::read(raw, true, &self.problem)?;
                Ok((allocation == self.allocation, hash.is_none_or(|hash| known.iter().any(|of| of == hash))))
            })?;
            unmet.extend((!is_same).then(|| "the certificate is about another allocation".to_owned()));
            let other =
                "the allocation is for another problem than the certificate: its `problem_sha256` differs";
            unmet.extend((!is_of_problem).then(|| other.to_owned()));
        }
        let by_time = self.allocation.by_time;
        if options.sharing.as_ref().map_or(by_time, |sharing| (sharing == "tdm") != by_time) {
            let time = "shared by time (tdm), which the reader did not allow (--sharing tdm)";
            unmet.push(format!("the servers are {}", if by_time { time } else { "divided (rdm)" }));
        }
        let most = match options.max_tolerance.as_ref().map(|text| parse(text, STATED)) {
            None => Rational::from(MOST_TOLERANCE),
            Some(Ok(most)) if (0..1).contains(&most) => most,
            Some(_) => return Err(Unusable::usage("--max-tolerance: expected a number from 0 to below 1")),
        };
        if self.tolerance > most {
            let (stated, most) = (short(&self.tolerance), short(&most));
            unmet.push(format!("the tolerance is {stated}, more than the {most} that is allowed"));
        }
        for text in &options.require {
            let unusable = |fault: Fault| Unusable::usage(&format!("--require {text}: {}", fault.what()));
            let name = required(text, &self.problem).map_err(unusable)?;
            let claim = self.claims.iter().find(|claim| claim.name(&self.problem) == name);
            let instead = match claim.map(|claim| claim.holds) {
                Some(Some(true)) => continue,
                Some(Some(false)) => "the certificate claims that it is violated",
                Some(None) => "the certificate claims that it does not apply",
                None => "the certificate has no claim about it",
            };
            unmet.push(format!("`{text}` is required, but {instead}"));
        }
        Ok(unmet)
    }

    /// Returns the end of a sentence about the bounds on the optimum that the gap of a claim of `proportional` proves.
    /// Returns an empty string if there are no such bounds.
    fn room_in_words(&self, claim: &Claim<'_>) -> String {
        if claim.axiom != "proportional" {
            return String::new();
        }
        let room = Case::new(&self.problem, &self.allocation, self.tolerance.clone())
            .and_then(|case| proportional::room(&case, claim));
        // The sentence is omitted if its computation would take too many steps.
        let Ok(Some((least, most, user))) = room else { return String::new() };
        let (least, most) = (short(&least), short(&most));
        let name = &self.problem.user_names.list[user];
        format!(
            "; in the optimum every user has at least {least} and at most {most} times its level here, and the level \
            of `{name}` is least certain"
        )
    }

    /// Returns the report. `reason` is the reason why the certificate is not valid, or `None` if it is valid.
    pub fn report(&self, reason: Option<String>) -> Report {
        let (problem, (hash, tasks), is_valid) = (&self.problem, self.hashes(), reason.is_none());
        let says = |claim: &Claim<'_>| {
            let says = match (claim.holds, &claim.margin) {
                (None, _) => "does not apply".to_owned(),
                (Some(false), _) => "is violated".to_owned(),
                (Some(true), Some(margin)) if *margin < 0 => {
                    format!("holds within the tolerance of {}", short(&self.tolerance))
                }
                (Some(true), _) => "holds".to_owned(),
            };
            let margin = claim.margin.as_ref().map(|margin| format!(", margin {}", short(margin)));
            let nobody = claim.margin.is_none() && claim.holds == Some(true);
            let margin = margin.or(nobody.then(|| " (there is nothing to compare)".to_owned()));
            // A single saturated class, however small, is enough to remove the complaint of every user whose fraction
            // of that class is at least its entitlement.
            let is_weak = claim.axiom == "njc" && problem.classes.len() > 1;
            let weak = if is_weak { " (weak: on a cluster one full class is enough)" } else { "" };
            let room = if is_valid { self.room_in_words(claim) } else { String::new() };
            format!("{} {says}{}{weak}{room}", claim.name(problem), margin.unwrap_or_default())
        };
        let verdict = |claim: &Claim<'_>| {
            let or_null = |value: Option<String>| Some(value.unwrap_or("null".to_owned()));
            let in_text = |number: &Rational| quoted(&number.to_string());
            let share = claim.share.map(|share| quoted(&share.name(problem)));
            let alpha = claim.alpha.map(|alpha| in_text(&Rational::from(alpha)));
            let holds = or_null(claim.holds.map(|holds| holds.to_string()));
            let margin = or_null(claim.margin.as_ref().map(in_text));
            record("axiom share alpha holds margin", [Some(quoted(claim.axiom)), share, alpha, holds, margin])
        };
        // If the certificate is not valid, its claims are not verdicts.
        let verdicts: Vec<String> = self.claims.iter().filter(|_| reason.is_none()).map(verdict).collect();
        let sharing = if self.allocation.by_time { "tdm" } else { "rdm" };
        let tolerance = hashed(&self.tolerance);
        let (users, classes) = (problem.users.len(), problem.classes.len());
        let problem_json = [quoted(&problem.name), users.to_string(), classes.to_string(), quoted(hash)];
        let problem_json = record("name users classes sha256", problem_json);
        let verdicts = format!("[{}]", verdicts.join(","));
        let fields =
            [quoted(&tolerance), quoted(sharing), problem_json, record("sha256", [quoted(tasks)]), verdicts];
        Report {
            reason,
            claims: self.claims.iter().map(says).collect(),
            subject: vec![
                // The hash comes before all names, because a name could imitate a hash.
                format!("problem sha256 {hash}: `{}`, users {users}, server classes {classes}", problem.name),
                format!("allocation sha256 {tasks}"),
                format!("sharing {sharing}, tolerance {tolerance}"),
            ],
            fields: "tolerance sharing problem allocation verdicts".split_whitespace().zip(fields).collect(),
        }
    }
}

/// Judges a certificate about an allocation.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Usable<Report> {
    let certificate = Certificate::read(raw).map_err(|fault| file.unusable(raw, fault))?;
    let unmet = certificate.unmet(options)?;
    // The computation of the hashes takes as long as judging a few claims. It was charged when the numbers were read.
    // For a file of 16 MB it takes a tenth of a second, which makes a thread worthwhile. If no thread can be started,
    // the hashes are computed later.
    let (is_large, hashes) = (file.text.len() > 1 << 24, || certificate.hashes());
    let verdict = thread::scope(|scope| {
        let _ = is_large.then(|| thread::Builder::new().spawn_scoped(scope, hashes));
        certificate.verify()
    });
    Ok(certificate.report(file.reason(raw, unmet, verdict)?))
}
