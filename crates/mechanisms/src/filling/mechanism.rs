//! The mechanism `fill`.

use evenhand_exact::{Axiom, Parameters};
use evenhand_problem::{Allocation, Problem, Rational};

use super::ideal;
use super::rule::Rule;
use super::run::{fill, prepare};
use crate::mechanism::{Findings, Info, Mechanism, MechanismError, OptionName, Options, Outcome};

/// Progressive filling by whole tasks.
pub struct Fill;

pub(super) static INFO: Info = Info {
    id: "fill",
    aliases: &[],
    title: "Progressive filling",
    equalises: "the score named, by whole tasks: the least is served next",
    guarantees: "whole tasks on single servers; as fair as one task allows where every task fits everywhere",
    reference: "DRFH, section V-A; Kesidis, sections IV and VI; THEORY, sections 5 and 8",
};

/// The rule that the options name.
fn rule(options: &Options) -> Rule {
    Rule {
        score: options.score.unwrap_or_default(),
        server: options.server.unwrap_or_default(),
        ties: options.ties.unwrap_or_default(),
        filter: options.filter,
    }
}

impl Mechanism for Fill {
    fn info(&self) -> &Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        match prepare(problem, Rule::default(), &Rational::from(1)) {
            Err(MechanismError::NotApplicable { why, .. }) => Err(why),
            _ => Ok(()),
        }
    }

    fn options(&self) -> &'static [OptionName] {
        &[
            OptionName::Score,
            OptionName::Server,
            OptionName::Ties,
            OptionName::Filter,
            OptionName::Step,
            OptionName::Ideal,
        ]
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        let rule = rule(options);
        let step = options.step.clone().unwrap_or_else(|| Rational::from(1));
        let allocation = fill(problem, rule, &step, options.seed)?;
        let integrality = options.ideal.then(|| ideal::compare(problem, &allocation, rule.score));
        let findings = Findings { integrality, ..Findings::default() };
        Ok(Outcome { findings, ..Outcome::of(allocation) })
    }

    fn axiom(&self, allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        ideal::whole_tasks(allocation)
    }
}
