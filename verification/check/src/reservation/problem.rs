//! The reservation problem (theory, section 6): pools of identical servers, and types of jobs.

use rug::{Integer, Rational};

use crate::json::Json;
use crate::number::floor;
use crate::problem::{Amounts, MOST, Names, amounts, at, names, of_kind};
use crate::work::{self, Checked};

/// Jobs by type, those above 0 alone, types ascending.
pub type Configuration = Vec<(usize, u64)>;

pub struct Reservation {
    pub resources: Names,
    pub pools: Names,
    pub types: Names,
    /// Of one server, by pool.
    pub capacity: Vec<Amounts>,
    /// By pool: the number of its servers, where numbers are stated.
    pub count: Option<Vec<u64>>,
    pub jobs: Vec<Job>,
    /// In place of capacities and demands: the largest sets of jobs that fit on a server of any pool.
    pub configurations: Option<Vec<Configuration>>,
}

pub struct Job {
    pub demand: Amounts,
    pub reward: Rational,
    pub load: Rational,
}

/// A configuration by the names of types.
pub fn configuration(types: &Names, raw: &Json<'_>) -> Checked<Configuration> {
    raw.object()?;
    let mut k = types.map(raw, |_, raw| raw.count(0, MOST))?;
    k.retain(|(_, k)| *k > 0);
    Ok(k)
}

impl Reservation {
    pub fn read(raw: &Json<'_>) -> Checked<Self> {
        let [kind, name, resources, servers, jobs, configurations, _, _] = raw.fields([
            "kind",
            "name?",
            "resources?",
            "servers?",
            "jobs",
            "configurations?",
            "$schema?",
            "description?",
        ])?;
        of_kind(kind, "reservation-problem")?;
        if !name.is_absent() {
            name.text()?;
        }
        let listed = !configurations.is_absent();
        let mut problem = Self {
            resources: if resources.is_absent() {
                Names::new("resource")
            } else {
                names("resource", resources)?
            },
            pools: Names::new("server"),
            types: Names::new("job type"),
            capacity: Vec::new(),
            count: None,
            jobs: Vec::new(),
            configurations: None,
        };
        let mut counts = Vec::new();
        let none = Vec::new();
        for raw in if servers.is_absent() { &none } else { servers.list()? } {
            let [name, count, capacity] = raw.fields(["name", "count?", "capacity?"])?;
            problem.pools.add(name)?;
            problem.capacity.push(problem.amounts(raw, capacity, listed)?);
            if !count.is_absent() {
                counts.push(count.count(1, MOST)?);
            }
        }
        for raw in jobs.list()? {
            let [name, demand, reward, load] = raw.fields(["name", "demand?", "reward?", "load?"])?;
            problem.types.add(name)?;
            let demand = problem.amounts(raw, demand, listed)?;
            if !listed && demand.is_empty() {
                return raw.wrong("a type of jobs that demands nothing");
            }
            let quantity =
                |raw: &Json<'_>| match if raw.is_absent() { Rational::new() } else { raw.number()? } {
                    value if value < 0 => raw.wrong("a negative quantity: expected a number of at least 0"),
                    value => Ok(value),
                };
            let (reward, load) = (quantity(reward)?, quantity(load)?);
            problem.jobs.push(Job { demand, reward, load });
        }
        if !listed && (problem.resources.list.is_empty() || problem.capacity.is_empty()) {
            return raw.wrong("expected at least one resource and one pool of servers");
        }
        if !counts.is_empty() {
            if counts.len() < problem.capacity.len() {
                return servers.wrong("a pool without `count` beside others with one");
            }
            problem.count = Some(counts);
        }
        if problem.capacity.is_empty() {
            problem.pools.add(&Json { at: servers.at, kind: crate::json::Kind::Text("servers".into()) })?;
            problem.capacity.push(Vec::new());
        }
        if listed {
            let list = configurations.list()?.iter();
            let list: Vec<_> = list.map(|raw| configuration(&problem.types, raw)).collect::<Checked<_>>()?;
            if list.is_empty() {
                return configurations.wrong("expected at least one configuration");
            }
            problem.configurations = Some(list);
        }
        problem.check_fits(jobs)?;
        Ok(problem)
    }

    /// Amounts by resource, which stand nowhere beside configurations.
    fn amounts(&self, raw: &Json<'_>, amounts_of: &Json<'_>, listed: bool) -> Checked<Amounts> {
        if amounts_of.is_absent() && !listed {
            return raw.wrong("a capacity or demand is missing");
        }
        if listed && !amounts_of.is_absent() && !amounts_of.object()?.is_empty() {
            return amounts_of.wrong("give configurations, or capacities and demands");
        }
        amounts(&self.resources, amounts_of)
    }

    /// Every type fits somewhere, and nowhere more often than can be counted.
    fn check_fits(&self, jobs: &Json<'_>) -> Checked<()> {
        let entries: usize = self.jobs.iter().map(|job| job.demand.len() + 1).sum();
        work::spend(entries.saturating_mul(self.capacity.len()))?;
        for j in 0..self.jobs.len() {
            let most = (0..self.capacity.len()).map(|i| self.most(i, j)).max().unwrap_or_default();
            if most < 1 || most > MOST {
                return jobs.wrong(format!(
                    "`{}` fits on no server, or more often than 10^12 times",
                    self.types.list[j]
                ));
            }
        }
        Ok(())
    }

    /// Jobs of a type that fit on one server of a pool.
    pub fn most(&self, i: usize, j: usize) -> Integer {
        if let Some(list) = &self.configurations {
            return list.iter().filter_map(|k| at(k, j).copied()).max().unwrap_or(0).into();
        }
        let of = |(r, d): &(usize, Rational)| {
            at(&self.capacity[i], *r).map_or_else(Integer::new, |c| floor(Rational::from(c / d)))
        };
        self.jobs[j].demand.iter().map(of).min().unwrap_or_default()
    }

    /// The pools as parts of all servers: by number, or equal.
    pub fn fractions(&self) -> Vec<Rational> {
        let equal = vec![1; self.capacity.len()];
        let counts = self.count.as_ref().unwrap_or(&equal);
        let all: Integer = counts.iter().map(|count| Integer::from(*count)).sum();
        counts.iter().map(|count| Rational::from((Integer::from(*count), all.clone()))).collect()
    }

    /// Whether this is another problem's types and servers: resources by name in any order, pools and types in
    /// the same order; where `all`, with the same loads and numbers of servers.
    pub fn is_same(&self, other: &Self, all: bool) -> bool {
        let by_name = |problem: &Self, amounts: &Amounts| {
            let mut named: Vec<(String, Rational)> = amounts
                .iter()
                .map(|(r, value)| (problem.resources.list[*r].clone(), value.clone()))
                .collect();
            named.sort_unstable();
            named
        };
        let vectors = |x: &Amounts, y: &Amounts| by_name(self, x) == by_name(other, y);
        let sorted = |problem: &Self| {
            let mut names = problem.resources.list.clone();
            names.sort_unstable();
            names
        };
        let listed = self.configurations.is_some();
        let parts = |some: &[Configuration], of: &[Configuration]| {
            some.iter().all(|k| of.iter().any(|most| is_part(k, most)))
        };
        listed == other.configurations.is_some()
            && (listed || sorted(self) == sorted(other))
            && self.pools.list == other.pools.list
            && self.types.list == other.types.list
            && self.capacity.iter().zip(&other.capacity).all(|(x, y)| vectors(x, y))
            && self
                .jobs
                .iter()
                .zip(&other.jobs)
                .all(|(x, y)| x.reward == y.reward && vectors(&x.demand, &y.demand))
            && self.configurations.iter().zip(&other.configurations).all(|(a, b)| parts(a, b) && parts(b, a))
            && (!all || self.count == other.count)
            && (!all || self.jobs.iter().zip(&other.jobs).all(|(x, y)| x.load == y.load))
    }
}

/// Whether a configuration is a part of another.
pub fn is_part(k: &Configuration, of: &Configuration) -> bool {
    k.iter().all(|(j, k)| at(of, *j).is_some_and(|most| k <= most))
}
