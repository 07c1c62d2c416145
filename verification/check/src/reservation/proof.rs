//! What ratio and worst-load certificates hold, read.

use rug::Rational;

use super::problem::{Configuration, Reservation, configuration};
use crate::json::{Json, Kind};
use crate::problem::{Amounts, MOST};
use crate::work::Checked;

/// Why no configuration is worth more than a bound, or why one is the first.
pub enum Proof {
    /// Of a bound.
    Tree(Tree),
    /// Of a first configuration.
    Trees { value: Tree, order: Tree },
    /// A dynamic programme over so many cells decides.
    Table { cells: u64 },
    /// The stated configurations decide.
    Listed,
    /// An earlier step has proven it.
    Known,
}

/// A branch tree, its nodes in preorder.
pub struct Tree {
    pub multipliers: Vec<Amounts>,
    pub nodes: Vec<Node>,
}

pub enum Node {
    /// First `k_job >= at`, then `k_job < at`.
    Split { job: usize, at: u64 },
    /// A box whose value these multipliers bound.
    Leaf { multipliers: u64 },
}

pub struct Greedy {
    pub reward: Rational,
    pub steps: Vec<Step>,
}

pub struct Step {
    pub pool: usize,
    pub configuration: Configuration,
    pub servers: Rational,
    pub exhausted: Option<usize>,
    pub first: Proof,
}

/// Servers of configurations, and the jobs that are served on them.
pub struct Assignment {
    pub reward: Rational,
    pub servers: Vec<(usize, Configuration, Rational)>,
    pub served: Amounts,
}

/// Prices of loads, of slots and of servers.
pub struct Prices {
    pub load: Amounts,
    pub slot: Amounts,
    pub server: Amounts,
}

pub struct Optimum {
    pub assignment: Assignment,
    pub bound: Rational,
    pub prices: Prices,
    /// By pool.
    pub pricing: Vec<Proof>,
}

/// Reads the parts of one certificate; numbers of servers and jobs are whole where it is told so.
pub struct Reader<'a> {
    pub problem: &'a Reservation,
    pub whole: bool,
}

impl Reader<'_> {
    /// An amount of servers or jobs.
    fn amount(&self, raw: &Json<'_>) -> Checked<Rational> {
        let value = raw.computed()?;
        if self.whole && !value.is_integer() { raw.wrong("expected a whole number") } else { Ok(value) }
    }

    /// A number, or null.
    pub fn ratio(&self, raw: &Json<'_>) -> Checked<Option<Rational>> {
        if raw.is_null() { Ok(None) } else { raw.computed().map(Some) }
    }

    pub fn by_type(&self, raw: &Json<'_>) -> Checked<Amounts> {
        raw.object()?;
        let mut values = self.problem.types.map(raw, |_, raw| raw.computed())?;
        values.retain(|(_, value)| !value.is_zero());
        Ok(values)
    }

    pub fn configuration(&self, raw: &Json<'_>) -> Checked<Configuration> {
        configuration(&self.problem.types, raw)
    }

    pub fn greedy(&self, raw: &Json<'_>) -> Checked<Greedy> {
        let [reward, steps] = raw.fields(["reward", "steps"])?;
        let step = |raw: &Json<'_>| {
            let [pool, configuration, servers, exhausted, first] =
                raw.fields(["pool", "configuration", "servers", "exhausted", "first"])?;
            Ok(Step {
                pool: self.problem.pools.named(pool)?,
                configuration: self.configuration(configuration)?,
                servers: self.amount(servers)?,
                exhausted: if exhausted.is_null() {
                    None
                } else {
                    Some(self.problem.types.named(exhausted)?)
                },
                first: self.proof(first, true)?,
            })
        };
        let steps = steps.list()?.iter().map(step).collect::<Checked<_>>()?;
        Ok(Greedy { reward: reward.computed()?, steps })
    }

    pub fn assignment(
        &self,
        reward: &Json<'_>,
        servers: &Json<'_>,
        served: &Json<'_>,
    ) -> Checked<Assignment> {
        let on = |raw: &Json<'_>| {
            let [pool, configuration, servers] = raw.fields(["pool", "configuration", "servers"])?;
            let pool = self.problem.pools.named(pool)?;
            Ok((pool, self.configuration(configuration)?, self.amount(servers)?))
        };
        served.object()?;
        Ok(Assignment {
            reward: reward.computed()?,
            servers: servers.list()?.iter().map(on).collect::<Checked<_>>()?,
            served: self.problem.types.map(served, |_, raw| self.amount(raw))?,
        })
    }

    pub fn prices(&self, raw: &Json<'_>) -> Checked<Prices> {
        let [load, slot, server] = raw.fields(["load", "slot", "server"])?;
        server.object()?;
        let server = self.problem.pools.map(server, |_, raw| raw.computed())?;
        Ok(Prices { load: self.by_type(load)?, slot: self.by_type(slot)?, server })
    }

    pub fn optimum(&self, raw: &Json<'_>) -> Checked<Optimum> {
        let [reward, assignment, served, bound, prices, pricing] =
            raw.fields(["reward", "assignment", "served", "bound", "prices", "pricing"])?;
        pricing.object()?;
        let proofs = self.problem.pools.map(pricing, |_, raw| self.proof(raw, false))?;
        if proofs.len() < self.problem.capacity.len() {
            return pricing.wrong("the proof for a pool is missing");
        }
        Ok(Optimum {
            assignment: self.assignment(reward, assignment, served)?,
            bound: bound.computed()?,
            prices: self.prices(prices)?,
            pricing: proofs.into_iter().map(|(_, proof)| proof).collect(),
        })
    }

    /// A proof of a bound, or that a configuration is the first.
    pub fn proof(&self, raw: &Json<'_>, first: bool) -> Checked<Proof> {
        raw.object()?;
        let method = raw.get("method");
        match if method.is_absent() { "" } else { method.text()? } {
            "dynamic-programme" => {
                let [_, cells] = raw.fields(["method", "cells"])?;
                Ok(Proof::Table { cells: cells.count(1, MOST)? })
            }
            "listed" => raw.fields(["method"]).map(|[_]| Proof::Listed),
            "known" if first => raw.fields(["method"]).map(|[_]| Proof::Known),
            "tree" if first => {
                let [_, value, order] = raw.fields(["method", "value", "order"])?;
                let tree = |raw: &Json<'_>| {
                    let [multipliers, nodes] = raw.fields(["multipliers", "nodes"])?;
                    self.tree(multipliers, nodes)
                };
                Ok(Proof::Trees { value: tree(value)?, order: tree(order)? })
            }
            "tree" => {
                let [_, multipliers, nodes] = raw.fields(["method", "multipliers", "nodes"])?;
                self.tree(multipliers, nodes).map(Proof::Tree)
            }
            _ => raw.wrong("there is no such method of proof"),
        }
    }

    fn tree(&self, multipliers: &Json<'_>, nodes: &Json<'_>) -> Checked<Tree> {
        let set = |raw: &Json<'_>| {
            raw.object()?;
            self.problem.resources.map(raw, |_, raw| raw.computed())
        };
        let node = |raw: &Json<'_>| {
            let Kind::List(pair) = &raw.kind else {
                return Ok(Node::Leaf { multipliers: raw.count(0, MOST)? });
            };
            let [job, at] = pair.as_slice() else {
                return raw.wrong("expected a job type and a number of jobs");
            };
            Ok(Node::Split { job: self.problem.types.named(job)?, at: at.count(1, MOST)? })
        };
        Ok(Tree {
            multipliers: multipliers.list()?.iter().map(set).collect::<Checked<_>>()?,
            nodes: nodes.list()?.iter().map(node).collect::<Checked<_>>()?,
        })
    }
}
