//! The reservation problem (docs/theory.md, section 6): pools of identical servers, and types of jobs.

use rug::{Integer, Rational};

use crate::canonical::{by_name, number, numbers};
use crate::json::{self, Json, quoted, record};
use crate::names::{Amounts, MOST, Names, at, of_kind};
use crate::number::floor;
use crate::problem::{Class, classes, most_tasks};
use crate::sha256::sha256;
use crate::work::{self, Checked};

/// The number of jobs of each type, ascending by type. Types without jobs are omitted.
pub type Configuration = Vec<(usize, u64)>;

/// A reservation problem.
pub struct Reservation {
    pub name: String,
    /// The resources. Their order has no effect.
    pub resources: Names,
    pub pool_names: Names,
    /// One server of each pool, with the number of servers of the pool. The number is 1 if no pool states its number of
    /// servers.
    pub pools: Vec<Class>,
    /// True if the pools state their numbers of servers.
    pub states_counts: bool,
    /// The names of the job types.
    pub types: Names,
    pub jobs: Vec<Job>,
    /// The maximal sets of jobs that fit on a server of any pool. `None` if the problem states capacities and demands.
    pub configurations: Option<Vec<Configuration>>,
}

/// A job type.
pub struct Job {
    pub demand: Amounts,
    pub reward: Rational,
    /// The load: the number of jobs per server of all pools.
    pub load: Rational,
}

/// Reads a configuration: an object of numbers of jobs by name of the type.
pub fn configuration(types: &Names, raw: &Json<'_>) -> Checked<Configuration> {
    let mut k = types.map(raw, |_, raw| raw.count(0, MOST))?;
    k.retain(|(_, k)| *k > 0);
    Ok(k)
}

impl Reservation {
    pub fn read(raw: &Json<'_>) -> Checked<Self> {
        of_kind(raw, "reservation-problem")?;
        let [_, name, resources, servers, jobs, configurations] =
            raw.fields("kind name? resources? servers? jobs configurations? $schema? description?")?;
        let name = name.given().map_or(Ok(""), Json::text)?.to_owned();
        let is_listed = configurations.given().is_some();
        let resources = Names::new("resource", resources.given().map_or(Ok(&[][..]), Json::list)?)?;
        // If the problem lists configurations, it may state no servers.
        let one = json::read(r#"[{"name": "servers"}]"#)?;
        let is_none = servers.given().map_or(Ok(&[][..]), Json::list)?.is_empty();
        if !is_listed && (resources.list.is_empty() || is_none) {
            return raw.wrong("expected at least one resource and one pool of servers");
        }
        let servers = if is_none { &one } else { servers };
        let (pool_names, pools) = classes(servers, &resources)?;
        let with_counts = servers.list()?.iter().filter(|raw| raw.get("count").given().is_some()).count();
        if with_counts > 0 && with_counts < pools.len() {
            return servers.wrong("`count` is missing: expected it for all pools or for none");
        }
        let rows = jobs.rows("name demand? reward? load?", Ok)?;
        let types = Names::new("job type", rows.iter().map(|row| row[0]))?;
        let job = |[_, demand, reward, load]: &[&Json<'_>; 4]| {
            let number = |raw: &Json<'_>| raw.given().map_or(Ok(Rational::new()), Json::amount);
            Ok(Job { demand: resources.amounts(demand)?, reward: number(reward)?, load: number(load)? })
        };
        let jobs: Vec<Job> = rows.iter().map(job).collect::<Checked<_>>()?;
        let capacities = servers.list()?.iter().map(|raw| raw.get("capacity"));
        let is_wrong = |of: &Json<'_>| of.object().map_or(!is_listed, |of| is_listed && !of.is_empty());
        if capacities.chain(rows.iter().map(|row| row[1])).any(is_wrong) {
            return raw.wrong("expected configurations, or all capacities and demands");
        }
        let read = |list: &Json<'_>| match list.list()? {
            [] => list.wrong("expected at least one configuration"),
            list => list.iter().map(|raw| configuration(&types, raw)).collect::<Checked<Vec<_>>>(),
        };
        let configurations = configurations.given().map(read).transpose()?;
        let states_counts = with_counts > 0;
        let problem = Self { name, resources, pool_names, pools, states_counts, types, jobs, configurations };
        // Every type has to fit on some server. No server may have capacity for more than [`MOST`](crate::names::MOST)
        // jobs of a type.
        work::spend(problem.size().saturating_mul(problem.pools.len()))?;
        for (j, name) in problem.types.list.iter().enumerate() {
            let most = (0..problem.pools.len()).map(|i| problem.most(i, j)).max().unwrap_or_default();
            if most < 1 || most > MOST {
                return rows[j][0].wrong(format!(
                    "job type `{name:.60}` fits on no server, or more than 10^12 of its jobs fit on one"
                ));
            }
        }
        Ok(problem)
    }

    /// Returns the hash that identifies the problem.
    pub fn hash(&self) -> String {
        sha256(&self.canonical(true, &self.resources.list, self.configurations.as_deref()))
    }

    /// Returns the canonical form: pools and types in their order, amounts by name in alphabetical order. Loads and
    /// numbers of servers are included only if `all` is true.
    fn canonical(&self, all: bool, resources: &[String], configurations: Option<&[Configuration]>) -> String {
        let amounts = |of: &Amounts| Some(numbers(&self.resources, of, true));
        let list = |items: Vec<String>| Some(format!("[{}]", items.join(",")));
        let pool = |(name, pool): (&String, &Class)| {
            let count = (all && self.states_counts).then(|| pool.count.to_string());
            record("name count capacity", [Some(quoted(name)), count, amounts(&pool.capacity)])
        };
        let job = |(name, job): (&String, &Job)| {
            let (demand, load) = (amounts(&job.demand), number(&job.load).filter(|_| all));
            record("name demand reward load", [Some(quoted(name)), demand, number(&job.reward), load])
        };
        let configuration = |k: &Configuration| {
            by_name(&self.types, k.iter().map(|(j, count)| (*j, Some(count.to_string()))), false)
        };
        let kind = Some(quoted("reservation-problem"));
        let mut resources: Vec<&String> = resources.iter().collect();
        resources.sort();
        let resources = list(resources.into_iter().map(|name| quoted(name)).collect());
        let servers = list(self.pool_names.list.iter().zip(&self.pools).map(pool).collect());
        let jobs = list(self.types.list.iter().zip(&self.jobs).map(job).collect());
        let listed = configurations.and_then(|all| list(all.iter().map(configuration).collect()));
        record("kind resources servers jobs configurations", [kind, resources, servers, jobs, listed])
    }

    /// Returns a canonical form that is the same for all equivalent problems. If configurations are stated, the form
    /// has only the maximal configurations, and no resources.
    pub fn meaning(&self, all: bool) -> Checked<String> {
        let Some(list) = &self.configurations else {
            return Ok(self.canonical(all, &self.resources.list, None));
        };
        work::steps(100 * (list.len() as u64).saturating_mul(list.len() as u64))?;
        let is_largest = |k: &&Configuration| !list.iter().any(|of| of != *k && is_part(k, of));
        let mut largest: Vec<Configuration> = list.iter().filter(is_largest).cloned().collect();
        largest.sort();
        largest.dedup();
        Ok(self.canonical(all, &[], Some(&largest)))
    }

    /// Returns the reward for these numbers of served jobs.
    pub fn earned(&self, served: impl Iterator<Item = (usize, Rational)>) -> Checked<Rational> {
        work::sum(served.map(|(j, served)| served * &self.jobs[j].reward).collect())
    }

    /// Returns the number of demands, for the budget.
    pub fn size(&self) -> usize {
        let listed: usize = self.configurations.iter().flatten().map(Vec::len).sum();
        self.jobs.iter().map(|job| job.demand.len() + 1 + listed).sum()
    }

    /// Returns the number of jobs of a type that fit on one server of a pool.
    pub fn most(&self, i: usize, j: usize) -> Integer {
        if let Some(list) = &self.configurations {
            return list.iter().map(|k| count(k, j)).max().unwrap_or(0).into();
        }
        floor(most_tasks(&self.jobs[j].demand, &self.pools[i].capacity))
    }
}

/// Returns the number of jobs of a type in a configuration.
pub fn count(k: &Configuration, j: usize) -> u64 {
    at(k, j).copied().unwrap_or(0)
}

/// Returns true if a configuration `k` is contained in the configuration `of`.
pub fn is_part(k: &Configuration, of: &Configuration) -> bool {
    k.iter().all(|(j, k)| *k <= count(of, *j))
}
