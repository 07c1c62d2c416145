//! The statements of a certificate about a reservation problem. All statements are read before any statement is judged.
//! So unreadable text is reported regardless of its position.

use rug::Rational;

use super::problem::{Configuration, Reservation, configuration};
use crate::json::{Json, Kind};
use crate::names::{Amounts, MOST};
use crate::work::Checked;

/// A step of greedy: the servers of a pool that get a configuration; the type that runs out after the step, if any; and
/// the proof that the configuration is the first.
pub type Step = (Placed, Option<usize>, Proof);
/// A pool, a configuration, and the number of servers of the pool with this configuration.
pub type Placed = (usize, Configuration, Rational);
/// The prices of loads, of slots and of servers: `alpha`, `beta` and `pi`.
pub type Prices = [Amounts; 3];
/// The open types, their first configuration, and the proof that it is the first.
pub type First = (Vec<usize>, Configuration, Proof);
/// A claim about an order of types. The claim has the order, whether it is the last claim of its branch, the prices,
/// and a proof.
pub type Claim = (Vec<usize>, bool, Prices, Proof);
/// The multipliers of the resources, and the nodes in depth-first order.
pub type Tree = (Vec<Amounts>, Vec<Node>);

/// A node of a tree. An inner node has a type, and the smallest number of its jobs in the first branch. A leaf has no
/// type, and the position of its multipliers.
pub type Node = (Option<usize>, u64);

/// A proof of a statement about all configurations of a server.
pub enum Proof {
    /// A bound has one tree. A first configuration has two trees: one tree about its worth, and one tree about the
    /// configurations of the same worth.
    Tree(Vec<Tree>),
    /// A dynamic programme with this number of cells.
    Table(u64),
    /// The problem lists all configurations.
    Listed,
    /// An earlier step proves the statement.
    Known,
}

impl Reservation {
    fn placed(&self, [pool, k, servers]: [&Json<'_>; 3]) -> Checked<Placed> {
        Ok((self.pool_names.named(pool)?, configuration(&self.types, k)?, servers.computed()?))
    }

    fn steps(&self, raw: &Json<'_>) -> Checked<Vec<Step>> {
        raw.rows("pool configuration servers exhausted first", |[pool, k, servers, gone, first]| {
            let gone = Some(gone).filter(|gone| !matches!(gone.kind, Kind::Null));
            let gone = gone.map(|gone| self.types.named(gone)).transpose()?;
            Ok((self.placed([pool, k, servers])?, gone, self.proof(first, true)?))
        })
    }

    fn prices(&self, raw: &Json<'_>) -> Checked<Prices> {
        let [load, slot, server] = raw.fields("load slot server")?;
        Ok([self.types.numbers(load)?, self.types.numbers(slot)?, self.pool_names.numbers(server)?])
    }

    pub fn firsts(&self, raw: &Json<'_>) -> Checked<Vec<First>> {
        raw.rows("open configuration first", |[open, k, proof]| {
            Ok((self.types.listed(open)?, configuration(&self.types, k)?, self.proof(proof, true)?))
        })
    }

    pub fn claims(&self, raw: &Json<'_>) -> Checked<Vec<Claim>> {
        raw.rows("order covers prices pricing", |[order, covers, prices, pricing]| {
            let order = order.list()?.iter().map(|name| self.types.named(name)).collect::<Checked<_>>()?;
            let is_last = covers.word(&["end", "all"])? == 1;
            Ok((order, is_last, self.prices(prices)?, self.proof(pricing, false)?))
        })
    }

    /// Reads the proof that a configuration is the first, or that a bound is true.
    fn proof(&self, raw: &Json<'_>, of_first: bool) -> Checked<Proof> {
        match raw.get("method").text().unwrap_or_default() {
            "tree" if of_first => {
                let [_, value, order] = raw.fields("method value order")?;
                let names = "multipliers nodes";
                Ok(Proof::Tree(vec![self.tree(value, names)?, self.tree(order, names)?]))
            }
            "tree" => Ok(Proof::Tree(vec![self.tree(raw, "multipliers nodes method")?])),
            "dynamic-programme" => raw.fields::<2>("method cells")?[1].count(1, MOST).map(Proof::Table),
            "listed" => raw.fields::<0>("method").map(|_| Proof::Listed),
            "known" if of_first => raw.fields::<0>("method").map(|_| Proof::Known),
            _ => raw.wrong("there is no such method of proof"),
        }
    }

    /// Reads a tree. `names` lists the names of its fields.
    fn tree(&self, raw: &Json<'_>, names: &str) -> Checked<Tree> {
        let [multipliers, nodes] = raw.fields(names)?;
        let node = |raw: &Json<'_>| match raw.list() {
            Ok([job, at]) => Ok((Some(self.types.named(job)?), at.count(1, MOST)?)),
            Ok(_) => raw.wrong("expected a job type and a number of jobs"),
            Err(_) => Ok((None, raw.count(0, MOST)?)),
        };
        let multipliers = multipliers.list()?.iter().map(|raw| self.resources.numbers(raw));
        Ok((multipliers.collect::<Checked<_>>()?, nodes.list()?.iter().map(node).collect::<Checked<_>>()?))
    }
}

/// The jobs of each type and the servers of each pool that are packed. If `whole` is true, both are whole numbers.
/// Otherwise they are loads per server and fractions of all servers.
pub struct Amount {
    pub jobs: Vec<Rational>,
    pub servers: Vec<Rational>,
    pub whole: bool,
}

/// The statements about one packing problem: the reward of greedy with its steps, the reward of an assignment, and a
/// bound on the optimum with a proof for every pool. In a worst-load certificate no bound is stated. The reward of the
/// assignment is then used as the bound, and there are no proofs.
pub struct Stated {
    pub greedy: Rational,
    pub steps: Vec<Step>,
    pub reward: Rational,
    pub assignment: Vec<Placed>,
    pub served: Amounts,
    pub bound: Rational,
    pub prices: Prices,
    pub pricing: Vec<(usize, Proof)>,
}

impl Stated {
    pub fn read([greedy, optimum]: [&Json<'_>; 2], problem: &Reservation, bounded: bool) -> Checked<Self> {
        let [greedy, steps] = greedy.fields("reward steps")?;
        let names = "reward assignment served bound prices pricing";
        let names = if bounded { names } else { "reward assignment served" };
        let [reward, assignment, served, bound, prices, proofs] = optimum.fields(names)?;
        let pricing = problem.pool_names.map(proofs, |_, raw| problem.proof(raw, false))?;
        if bounded && pricing.len() < problem.pools.len() {
            return proofs.wrong("the proof for a pool is missing");
        }
        Ok(Self {
            greedy: greedy.computed()?,
            steps: problem.steps(steps)?,
            reward: reward.computed()?,
            assignment: assignment.rows("pool configuration servers", |row| problem.placed(row))?,
            served: problem.types.numbers(served)?,
            bound: bound.given().unwrap_or(reward).computed()?,
            prices: prices.given().map_or(Ok(Prices::default()), |raw| problem.prices(raw))?,
            pricing,
        })
    }

    /// Returns true if all numbers of servers and jobs are whole.
    pub fn is_whole(&self) -> bool {
        let placed = self.steps.iter().map(|(placed, ..)| placed).chain(&self.assignment);
        let amounts = placed.map(|(.., servers)| servers).chain(self.served.iter().map(|(_, jobs)| jobs));
        amounts.into_iter().all(Rational::is_integer)
    }
}
