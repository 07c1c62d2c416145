//! What a certificate states of a problem: all of it is read before any of it is judged, so that what cannot be
//! read is found wherever it stands.

use rug::Rational;

use super::problem::{Configuration, Reservation, configuration};
use crate::json::{Json, Kind};
use crate::names::{Amounts, MOST};
use crate::work::Checked;

/// A step of greedy: so many servers of a pool get a configuration until a type is exhausted, if one is; and why
/// it is the first.
pub type Step = (Placed, Option<usize>, Proof);
/// A configuration on so many servers of a pool.
pub type Placed = (usize, Configuration, Rational);
/// Prices of loads, of slots and of servers: `alpha`, `beta` and `pi`.
pub type Prices = [Amounts; 3];
/// The first configuration of open types, and why it is.
pub type First = (Vec<usize>, Configuration, Proof);
/// What is claimed of an order of types, and whether it is the last of its branch.
pub type Claim = (Vec<usize>, bool, Prices, Proof);
/// The multipliers of the resources, and the nodes, depth first.
pub type Tree = (Vec<Amounts>, Vec<Node>);

pub enum Node {
    /// The place of its multipliers.
    Leaf(u64),
    /// A type, and the least jobs of it in the first branch.
    Split(usize, u64),
}

/// Why something is true of all configurations of a server.
pub enum Proof {
    /// One tree of a bound; of a first configuration one of its value, and one of those worth as much.
    Tree(Vec<Tree>),
    /// A dynamic programme of so many cells.
    Table(u64),
    /// The problem lists all configurations.
    Listed,
    /// An earlier step has proven it.
    Known,
}

impl Reservation {
    fn placed(&self, [pool, k, servers]: [&Json<'_>; 3]) -> Checked<Placed> {
        Ok((self.pool_names.named(pool)?, configuration(&self.types, k)?, servers.computed()?))
    }

    fn steps(&self, raw: &Json<'_>) -> Checked<Vec<Step>> {
        let step = |[pool, k, servers, gone, first]: [&Json<'_>; 5]| {
            let gone = Some(gone).filter(|gone| !matches!(gone.kind, Kind::Null));
            let gone = gone.map(|gone| self.types.named(gone)).transpose()?;
            Ok((self.placed([pool, k, servers])?, gone, self.proof(first, true)?))
        };
        raw.rows("pool configuration servers exhausted first")?.into_iter().map(step).collect()
    }

    fn prices(&self, raw: &Json<'_>) -> Checked<Prices> {
        let [load, slot, server] = raw.fields("load slot server")?;
        Ok([self.types.numbers(load)?, self.types.numbers(slot)?, self.pool_names.numbers(server)?])
    }

    pub fn firsts(&self, raw: &Json<'_>) -> Checked<Vec<First>> {
        let first = |[open, k, proof]: [&Json<'_>; 3]| {
            Ok((self.types.listed(open)?, configuration(&self.types, k)?, self.proof(proof, true)?))
        };
        raw.rows("open configuration first")?.into_iter().map(first).collect()
    }

    pub fn claims(&self, raw: &Json<'_>) -> Checked<Vec<Claim>> {
        let claim = |[order, covers, prices, pricing]: [&Json<'_>; 4]| {
            let order = order.list()?.iter().map(|name| self.types.named(name)).collect::<Checked<_>>()?;
            let is_last = covers.word(&["end", "all"])? == 1;
            Ok((order, is_last, self.prices(prices)?, self.proof(pricing, false)?))
        };
        raw.rows("order covers prices pricing")?.into_iter().map(claim).collect()
    }

    /// The proof of a first configuration, or of a bound.
    fn proof(&self, raw: &Json<'_>, of_first: bool) -> Checked<Proof> {
        match raw.get("method").text().unwrap_or_default() {
            "tree" if of_first => {
                let [_, value, order] = raw.fields("method value order")?;
                let names = "multipliers nodes";
                Ok(Proof::Tree(vec![self.tree(value, names)?, self.tree(order, names)?]))
            }
            "tree" => Ok(Proof::Tree(vec![self.tree(raw, "multipliers nodes method")?])),
            "dynamic-programme" => {
                let [_, cells] = raw.fields("method cells")?;
                cells.count(1, MOST).map(Proof::Table)
            }
            "listed" => raw.fields::<0>("method").map(|_| Proof::Listed),
            "known" if of_first => raw.fields::<0>("method").map(|_| Proof::Known),
            _ => raw.wrong("there is no such method of proof"),
        }
    }

    /// A tree, by the names of its fields.
    fn tree(&self, raw: &Json<'_>, names: &str) -> Checked<Tree> {
        let [multipliers, nodes] = raw.fields(names)?;
        let node = |raw: &Json<'_>| match raw.list() {
            Ok([job, at]) => Ok(Node::Split(self.types.named(job)?, at.count(1, MOST)?)),
            Ok(_) => raw.wrong("expected a job type and a number of jobs"),
            Err(_) => raw.count(0, MOST).map(Node::Leaf),
        };
        let multipliers = multipliers.list()?.iter().map(|raw| self.resources.numbers(raw));
        Ok((multipliers.collect::<Checked<_>>()?, nodes.list()?.iter().map(node).collect::<Checked<_>>()?))
    }
}

/// What there is to pack: jobs by type, and servers by pool; numbers of both, or parts of all servers.
pub struct Amount {
    pub jobs: Vec<Rational>,
    pub servers: Vec<Rational>,
    pub whole: bool,
}

/// What greedy earns and what an assignment does, as it is stated.
pub struct Stated {
    pub greedy: Rational,
    pub steps: Vec<Step>,
    pub reward: Rational,
    pub assignment: Vec<Placed>,
    pub served: Amounts,
}

impl Stated {
    pub fn read(greedy: &Json<'_>, optimum: [&Json<'_>; 3], problem: &Reservation) -> Checked<Self> {
        let ([greedy, steps], [reward, assignment, served]) = (greedy.fields("reward steps")?, optimum);
        let (greedy, reward, steps) = (greedy.computed()?, reward.computed()?, problem.steps(steps)?);
        let assignment = assignment.rows("pool configuration servers")?.into_iter();
        let assignment = assignment.map(|row| problem.placed(row)).collect::<Checked<_>>()?;
        Ok(Self { greedy, steps, reward, assignment, served: problem.types.numbers(served)? })
    }

    /// Whether numbers of servers and jobs are whole.
    pub fn is_whole(&self) -> bool {
        let placed = self.steps.iter().map(|(placed, ..)| placed).chain(&self.assignment);
        let amounts = placed.map(|(.., servers)| servers).chain(self.served.iter().map(|(_, jobs)| jobs));
        amounts.into_iter().all(Rational::is_integer)
    }
}

/// The same, with a bound of the optimum, and its proof for every pool.
pub struct Bounded {
    pub stated: Stated,
    pub bound: Rational,
    pub prices: Prices,
    pub pricing: Vec<(usize, Proof)>,
}

impl Bounded {
    pub fn read([greedy, optimum]: [&Json<'_>; 2], problem: &Reservation) -> Checked<Self> {
        let [reward, assignment, served, bound, prices, proofs] =
            optimum.fields("reward assignment served bound prices pricing")?;
        let stated = Stated::read(greedy, [reward, assignment, served], problem)?;
        let (bound, prices) = (bound.computed()?, problem.prices(prices)?);
        let pricing = problem.pool_names.map(proofs, |_, raw| problem.proof(raw, false))?;
        if pricing.len() < problem.pools.len() {
            return proofs.wrong("the proof for a pool is missing");
        }
        Ok(Self { stated, bound, prices, pricing })
    }
}
