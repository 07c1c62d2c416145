//! Quotas of cluster queues and cohorts, as guarantees, limits, and amounts to lend.
//!
//! Each quota is for one flavour. The guarantee and the amount to lend are sums over the flavours of a
//! resource, because a workload may run on any flavour. The amount that may be used on the servers of one
//! flavour is a limit on these servers. No queue may use more than the sum of all quotas of its tree.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_budget::charge;
use evenhand_problem::snapshot::{SUMMED_FLAVOURS, Victims};
use rug::Rational;

use super::super::cluster::{LimitOn, ReportedNumber};
use super::super::kube::{Kube, Rule, name};
use super::super::tree::At;
use super::FlavourOf;
use evenhand_import::ImportError;

/// The number by which Kueue represents an infinite share.
const INFINITE: i64 = i64::MAX;

/// A quota of a flavour and resource.
#[derive(Clone, Default)]
struct Quota {
    nominal: Rational,
    borrowing: Option<Rational>,
    lending: Option<Rational>,
}

/// A cluster queue or a cohort.
#[derive(Default)]
struct Node {
    parent: Option<String>,
    weight: Option<Rational>,
    /// The quotas, keyed by resource and flavour.
    quotas: BTreeMap<(String, String), Quota>,
    /// The resource groups, each with the resources that it covers and its flavours.
    groups: Vec<(Vec<String>, Vec<String>)>,
    is_stopped: bool,
    /// The tasks of other queues of the cohort that may be stopped for tasks of this queue. `None` if the
    /// queue does not state this.
    reclaims: Option<Victims>,
    reported: Vec<(&'static str, Option<String>, Option<Rational>)>,
}

#[derive(Default)]
pub(super) struct Quotas {
    queues: BTreeMap<String, Node>,
    cohorts: BTreeMap<String, Node>,
    /// The names of the queues in the order of the dump.
    order: Vec<String>,
}

impl Quotas {
    pub fn cluster_queue(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let name = name(at)?.to_owned();
        let spec = at.need("spec")?;
        let mut node = Node::read(kube, at, spec)?;
        node.parent = spec.first(&["cohortName", "cohort"])?.map(At::text).transpose()?.map(str::to_owned);
        node.parent = node.parent.filter(|name| !name.is_empty());
        if let Some(policy) = spec.path(&["preemption", "reclaimWithinCohort"])? {
            node.reclaims = Some(match policy.text()? {
                "Never" => Victims::Never,
                "LowerPriority" => Victims::LowerPriority,
                _ => Victims::Any,
            });
        }
        node.is_stopped = spec.text_of("stopPolicy")?.is_some_and(|policy| policy != "None");
        if spec.get("admissionScope")?.is_some() {
            kube.cluster.left_out.add("admission by usage over time (admission fair sharing)", &name);
        }
        if spec.list_of("admissionChecks")?.next().is_some() || spec.get("admissionChecksStrategy")?.is_some()
        {
            kube.cluster.left_out.add("admission checks of queues", &name);
        }
        if let Some(status) = at.get("status")? {
            for flavour in status.list_of("flavorsReservation")? {
                let of = flavour.need("name")?.text()?;
                for resource in flavour.list_of("resources")? {
                    let total = match resource.get("total")? {
                        Some(total) => kube.quantities.read(total)?,
                        None => Rational::new(),
                    };
                    let resource = format!("{of}/{}", resource.need("name")?.text()?);
                    node.reported.push(("flavorsReservation", Some(resource), Some(total)));
                }
            }
            for what in ["pendingWorkloads", "admittedWorkloads"] {
                if let Some(count) = status.get(what)? {
                    node.reported.push((what, None, Some(count.number()?)));
                }
            }
        }
        self.order.push(name.clone());
        self.queues.insert(name, node);
        Ok(())
    }

    pub fn cohort(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let name = name(at)?.to_owned();
        let Some(spec) = at.get("spec")? else {
            self.cohorts.insert(name, Node::default());
            return Ok(());
        };
        let mut node = Node::read(kube, at, spec)?;
        node.parent = spec.first(&["parentName", "parent"])?.map(At::text).transpose()?.map(str::to_owned);
        node.parent = node.parent.filter(|name| !name.is_empty());
        self.cohorts.insert(name, node);
        Ok(())
    }

    /// Returns `true` if at least one quota is for a resource.
    pub fn cover(&self, resource: &str) -> bool {
        let mut nodes = self.queues.values().chain(self.cohorts.values());
        nodes.any(|node| node.quotas.keys().any(|(of, _)| of == resource))
    }

    pub fn has(&self, queue: &str) -> bool {
        self.queues.contains_key(queue)
    }

    /// Returns `true` if the status of every queue reports no pending and no admitted workload.
    pub fn report_no_workload(&self) -> bool {
        let counts = ["pendingWorkloads", "admittedWorkloads"];
        let is_zero = |node: &Node, what: &str| {
            let reported = node.reported.iter().find(|(known, ..)| *known == what);
            reported.is_some_and(|(.., value)| value.as_ref().is_some_and(|count| count.is_zero()))
        };
        self.queues.values().all(|node| counts.iter().all(|what| is_zero(node, what)))
    }

    /// Returns the nominal quotas of a flavour, summed over all queues and cohorts, keyed by resource.
    pub fn of_flavour(&self, flavour: &str) -> BTreeMap<&str, Rational> {
        let mut sums: BTreeMap<&str, Rational> = BTreeMap::new();
        for node in self.queues.values().chain(self.cohorts.values()) {
            for ((resource, _), quota) in node.quotas.iter().filter(|((_, of), _)| of == flavour) {
                *sums.entry(resource).or_default() += &quota.nominal;
            }
        }
        sums
    }

    pub fn is_stopped(&self, queue: &str) -> bool {
        self.queues.get(queue).is_some_and(|node| node.is_stopped)
    }

    /// Returns the flavours of each resource group of a queue that covers at least one of these resources.
    pub fn flavours_for<'q>(
        &'q self,
        queue: &str,
        resources: &'q [&'q str],
    ) -> impl Iterator<Item = Vec<&'q str>> + 'q {
        let groups = self.queues.get(queue).into_iter().flat_map(|node| &node.groups);
        let asked =
            groups.filter(|(covered, _)| covered.iter().any(|name| resources.contains(&name.as_str())));
        asked.map(|(_, flavours)| flavours.iter().map(String::as_str).collect())
    }

    /// Returns the name of the group of a cohort: the name of the cohort, with the prefix `cohort` if a queue
    /// has the same name.
    fn group_name(&self, cohort: &str) -> String {
        if self.queues.contains_key(cohort) { format!("cohort {cohort}") } else { cohort.to_owned() }
    }

    /// Adds the groups of all queues and cohorts.
    pub fn groups(
        &mut self,
        kube: &mut Kube,
        flavours: &HashMap<String, FlavourOf>,
    ) -> Result<(), ImportError> {
        // A cohort that queues name but that no object defines has neither a quota nor a parent.
        let nodes = self.queues.values().chain(self.cohorts.values());
        let named: BTreeSet<String> = nodes.filter_map(|node| node.parent.clone()).collect();
        for name in named {
            self.cohorts.entry(name).or_default();
        }
        self.refuse_cycles()?;
        let totals = self.totals();
        let cohorts: Vec<String> = self.cohorts.keys().cloned().collect();
        for name in &cohorts {
            let (group, node) = (self.group_name(name), &self.cohorts[name]);
            self.group(kube, flavours, &group, node, totals.get(name), true);
        }
        for name in &self.order {
            self.group(kube, flavours, name, &self.queues[name], None, false);
        }
        Ok(())
    }

    fn refuse_cycles(&self) -> Result<(), ImportError> {
        for start in self.cohorts.keys() {
            let above = std::iter::successors(Some(start), |name| self.cohorts.get(*name)?.parent.as_ref());
            let levels = above.take(self.cohorts.len() + 1).count();
            charge(levels as u64, "the processing of the cohorts above others");
            if levels > self.cohorts.len() {
                let message =
                    format!("the cohort `{start}` is one of its own parents, perhaps through others");
                return Err(ImportError::Dumps(evenhand_problem::printable(&message)));
            }
        }
        Ok(())
    }

    /// Returns for each cohort the nominal quotas by resource and flavour. They are summed over the cohort
    /// and all queues and cohorts below it.
    fn totals(&self) -> HashMap<String, BTreeMap<(String, String), Rational>> {
        let mut totals: HashMap<String, BTreeMap<(String, String), Rational>> = HashMap::new();
        let nodes = self.queues.values().map(|node| (node.parent.as_ref(), node));
        let nodes = nodes.chain(self.cohorts.iter().map(|(name, node)| (Some(name), node)));
        for (mut above, node) in nodes {
            while let Some(name) = above {
                charge(node.quotas.len() as u64 * 8 + 1, "the processing of the quotas below cohorts");
                let sums = totals.entry(name.clone()).or_default();
                for (key, quota) in &node.quotas {
                    *sums.entry(key.clone()).or_default() += &quota.nominal;
                }
                above = self.cohorts.get(name).and_then(|node| node.parent.as_ref());
            }
        }
        totals
    }

    fn group(
        &self,
        kube: &mut Kube,
        flavours: &HashMap<String, FlavourOf>,
        group: &str,
        node: &Node,
        total: Option<&BTreeMap<(String, String), Rational>>,
        is_cohort: bool,
    ) {
        let v = kube.cluster.group(group);
        kube.cluster.preemption.extend(node.reclaims.map(|across| (v, across)));
        let own: BTreeMap<(String, String), Rational> =
            node.quotas.iter().map(|(key, quota)| (key.clone(), quota.nominal.clone())).collect();
        // The nominal quotas, keyed by resource and flavour. The quotas of a cohort include those of all
        // queues and cohorts below it.
        let nominal = total.unwrap_or(&own);
        let (mut guarantee, mut lent, mut limit): (Sums, Sums, Sums) = Default::default();
        let (mut lends_some, mut is_bounded): (BTreeMap<&str, bool>, BTreeMap<&str, bool>) =
            Default::default();
        let mut n_flavours: BTreeMap<&str, usize> = BTreeMap::new();
        let is_root = node.parent.is_none();
        for ((resource, flavour), promised) in nominal {
            *guarantee.entry(resource).or_default() += promised;
            *n_flavours.entry(resource).or_default() += 1;
            let quota = node.quotas.get(&(resource.clone(), flavour.clone()));
            let lending = quota.and_then(|quota| quota.lending.as_ref()).filter(|_| !is_root);
            *lent.entry(resource).or_default() += lending.map_or(promised, |lending| lending.min(promised));
            *lends_some.entry(resource).or_default() |= lending.is_some();
            let borrowing =
                if is_root { Some(Rational::new()) } else { quota.and_then(|quota| quota.borrowing.clone()) };
            *is_bounded.entry(resource).or_insert(true) &= borrowing.is_some();
            if let Some(borrowing) = borrowing {
                let most = borrowing + promised;
                *limit.entry(resource).or_default() += &most;
                let of = flavours.get(flavour).map(|of| of.flavour.clone()).unwrap_or_default();
                if !of.labels.is_empty() {
                    // The labels of the flavour decide which servers count. Taints concern only pods, so the
                    // rule tolerates all taints.
                    let quota_of = Some(flavour.clone());
                    let rule =
                        Rule { labels: of.labels, tolerations: everything(), quota_of, ..Rule::default() };
                    let rule = kube.rules.place(&rule, || ());
                    kube.cluster.limits_on.push(LimitOn {
                        group: v,
                        rule,
                        limit: vec![(resource.clone(), most)],
                    });
                }
            }
        }
        let several: Vec<&&str> =
            n_flavours.iter().filter(|(_, n)| **n > 1).map(|(resource, _)| resource).collect();
        if !several.is_empty() && !is_cohort {
            kube.cluster.left_out.add(SUMMED_FLAVOURS, group);
        }
        let named = |sums: Sums<'_>, keep: &BTreeMap<&str, bool>| {
            let kept = sums.into_iter().filter(|(resource, _)| keep.get(resource).copied().unwrap_or(true));
            kept.map(|(resource, amount)| (resource.to_owned(), amount)).collect::<Vec<_>>()
        };
        let spec = kube.cluster.groups.at(v);
        spec.parent = node.parent.as_ref().map(|parent| self.group_name(parent));
        spec.weight = node.weight.clone();
        // A cohort without a quota of its own has the sum of its members' guarantees. This sum is the default
        // of the problem.
        if !is_cohort || !node.quotas.is_empty() {
            spec.guarantee = Some(named(guarantee, &BTreeMap::new()));
        }
        spec.lend = named(lent, &lends_some);
        spec.limit = named(limit, &is_bounded);
        kube.cluster.reported.extend(node.reported.iter().map(|(what, resource, value)| ReportedNumber {
            group: Some(group.to_owned()),
            what,
            resource: resource.clone(),
            value: value.clone(),
        }));
    }
}

type Sums<'n> = BTreeMap<&'n str, Rational>;

/// Returns a toleration of all taints.
fn everything() -> BTreeSet<super::Toleration> {
    BTreeSet::from([super::Toleration { key: String::new(), value: None, effect: String::new() }])
}

impl Node {
    fn read(kube: &mut Kube, at: At<'_>, spec: At<'_>) -> Result<Self, ImportError> {
        let mut node = Self::default();
        for group in spec.list_of("resourceGroups")? {
            let covered = group.list_of("coveredResources")?.map(|name| Ok(name.text()?.to_owned()));
            let covered = covered.collect::<Result<Vec<_>, ImportError>>()?;
            let mut flavours = Vec::new();
            for flavour in group.list_of("flavors")? {
                let of = flavour.need("name")?.name()?;
                flavours.push(of.to_owned());
                for resource in flavour.list_of("resources")? {
                    let name = resource.need("name")?.name()?;
                    let mut read =
                        |field: &str| resource.get(field)?.map(|at| kube.quantities.read(at)).transpose();
                    let quota = Quota {
                        nominal: read("nominalQuota")?.unwrap_or_default(),
                        borrowing: read("borrowingLimit")?,
                        lending: read("lendingLimit")?,
                    };
                    if node.quotas.insert((name.to_owned(), of.to_owned()), quota).is_some() {
                        return Err(resource.error(format!("the quota of `{name}` of `{of}` is given twice")));
                    }
                }
            }
            node.groups.push((covered, flavours));
        }
        if let Some(weight) = spec.path(&["fairSharing", "weight"])? {
            node.weight = Some(kube.quantities.read(weight)?);
        }
        if let Some(share) = at.path(&["status", "fairSharing", "weightedShare"])? {
            let value = share.integer()?;
            let value = (value != INFINITE).then(|| Rational::from(value));
            node.reported.push(("weightedShare", None, value));
        }
        Ok(node)
    }
}
