//! The fixed data of the tree of a problem. They do not change during hierarchical filling (docs/theory.md, section 9).

use std::collections::HashMap;

use evenhand_problem::groups::{GroupShare, Guarantees, ShareOf, ShareOver};
use evenhand_problem::{Problem, Promises, Rational};

/// The number of operations of a segment on each resource of a node, in addition to the pairs of resources: two kinds
/// of amounts and their growth.
const PASSES: usize = 4;

/// The root, the groups and the users of a problem.
///
/// Node 0 is the root, node `1 + v` is group `v`, and the users follow. Vectors of amounts are indexed by position in
/// [`resources`](Self::resources). A resource that no server has is left out.
pub struct Forest<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// The settings by which siblings are compared.
    pub share: GroupShare,
    /// True if nodes below their guarantees come first.
    pub guarantees_first: bool,
    /// The resources of the problem that some server has.
    pub resources: Vec<usize>,
    /// The capacity of all servers together, `C_r > 0`.
    pub capacity: Vec<Rational>,
    /// For each resource, true if the demand of every task equals its base demand on every class where the task can
    /// run. Then the sum of the running tasks is the usage of the groups.
    pub is_plain: Vec<bool>,
    /// For each resource, true if the capacity bounds the usage of the root. This is so if the resource is plain, or if
    /// some of it is kept back.
    pub is_bounded: Vec<bool>,
    /// The root, the groups and the users.
    pub nodes: Vec<Node>,
    /// The families of resources: pairs `(position of the resource, multiplier)`. The amounts of a family are
    /// multiplied and summed. A share is the largest such sum.
    pub families: Vec<Vec<(usize, Rational)>>,
    /// The limits of groups on some server classes.
    pub class_limits: ClassLimits,
}

/// A node of the tree.
pub struct Node {
    /// The parent. `None` for the root.
    pub parent: Option<usize>,
    /// The children in the order of the file, subgroups before users.
    pub children: Vec<usize>,
    /// The weight `w_v`, which is 0 only for groups.
    pub weight: Rational,
    /// The priority `p_v`.
    pub priority: i64,
    /// The guarantee `G_v` of each resource that it names. `None` if no guarantee is stated for the group or below it.
    pub guarantee: Option<Vec<Option<Rational>>>,
    /// The limit of each resource. `None` for resources without a limit.
    pub limit: Vec<Option<Rational>>,
    /// The amount `K_v` of each resource that is kept back for the node.
    pub kept: Vec<Rational>,
    /// The divisor of the share for each family. 0 if the family is ignored.
    pub divisor: Vec<Rational>,
    /// The data of a user. `None` for other nodes.
    pub leaf: Option<Leaf>,
}

/// A user, as a leaf of the tree.
pub struct Leaf {
    /// The index of the user in the problem.
    pub user: usize,
    /// The base demand of a task: pairs `(position of the resource, d_nr)`.
    pub demand: Vec<(usize, Rational)>,
    /// The number of tasks, `T_n`. `None` if it is unlimited.
    pub tasks: Option<Rational>,
    /// True if the user can run on some class.
    pub is_able: bool,
    /// True if limits of 0 apply to the user on every class where it can run.
    pub is_barred: bool,
}

impl<'p> Forest<'p> {
    /// Builds the tree of a problem. Resources have to be divided, and every user that can run needs a base demand.
    #[must_use]
    pub fn new(problem: &'p Problem, share: GroupShare) -> Self {
        let total = problem.total_capacity();
        let resources: Vec<usize> = (0..problem.n_resources()).filter(|r| !total[*r].is_zero()).collect();
        let capacity: Vec<Rational> = resources.iter().map(|r| total[*r].clone()).collect();
        let families = families(problem, &share, &resources);
        let class_limits = class_limits(problem);
        let is_plain = are_plain(problem, &resources);
        let mut forest = Self {
            problem,
            guarantees_first: share.guarantees == Guarantees::First,
            share,
            resources,
            capacity,
            is_bounded: is_plain.clone(),
            is_plain,
            nodes: Vec::new(),
            families,
            class_limits,
        };
        forest.add_nodes();
        forest.divide();
        for node in &forest.nodes {
            let kept = node.kept.iter().map(|kept| *kept > 0);
            forest.is_bounded.iter_mut().zip(kept).for_each(|(is_bounded, is_kept)| *is_bounded |= is_kept);
        }
        forest
    }

    /// Returns the number of operations of one segment of filling: every node with every resource, and with every
    /// pair of resources.
    #[must_use]
    pub fn size(&self) -> usize {
        let m = self.resources.len();
        self.nodes.len().saturating_mul(m).saturating_mul(m + PASSES)
    }

    /// Returns the index of the node of user `n`.
    #[must_use]
    pub fn leaf(&self, n: usize) -> usize {
        1 + self.problem.groups().list().len() + n
    }

    /// Returns the nodes above a node, from its parent to the root.
    pub fn above(&self, v: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[v].parent, |v| self.nodes[*v].parent)
    }

    /// Returns the name of a group or a user, and an empty name for the root.
    #[must_use]
    pub fn name(&self, v: usize) -> &str {
        match (&self.nodes[v].leaf, v) {
            (Some(leaf), _) => self.problem.users()[leaf.user].name(),
            (None, 0) => "",
            (None, v) => &self.problem.groups().list()[v - 1].name,
        }
    }

    fn add_nodes(&mut self) {
        let groups = self.problem.groups();
        let place = |r: usize| self.resources.binary_search(&r).ok();
        let by_position = |amounts: &[(usize, Rational)]| -> Vec<Option<Rational>> {
            let mut all = vec![None; self.resources.len()];
            for (r, amount) in amounts {
                if let Some(position) = place(*r) {
                    all[position] = Some(amount.clone());
                }
            }
            all
        };
        let plain = |parent: Option<usize>, weight: Rational| Node {
            parent,
            children: Vec::new(),
            weight,
            priority: 0,
            guarantee: None,
            limit: vec![None; self.resources.len()],
            kept: vec![Rational::new(); self.resources.len()],
            divisor: Vec::new(),
            leaf: None,
        };
        let mut nodes = vec![plain(None, Rational::from(1))];
        let Promises { guarantee, kept } = Promises::new(groups);
        for ((group, guarantee), kept) in groups.list().iter().zip(guarantee).zip(kept) {
            nodes.push(Node {
                priority: group.priority,
                guarantee: guarantee.as_deref().map(by_position),
                limit: by_position(&group.limit),
                kept: by_position(&kept).into_iter().map(Option::unwrap_or_default).collect(),
                ..plain(Some(group.parent.map_or(0, |v| 1 + v)), group.weight.clone())
            });
        }
        for (n, user) in self.problem.users().iter().enumerate() {
            let demand = user.base_demand().entries().iter();
            let leaf = Leaf {
                user: n,
                demand: demand.filter_map(|(r, d)| Some((place(*r)?, d.clone()))).collect(),
                tasks: user.tasks().cloned(),
                is_able: self.problem.is_active(n),
                is_barred: self.class_limits.allowed(self.problem, n).next().is_none(),
            };
            let parent = groups.member(n).group.map_or(0, |v| 1 + v);
            nodes.push(Node { leaf: Some(leaf), ..plain(Some(parent), user.weight().clone()) });
        }
        for v in 1..nodes.len() {
            let parent = nodes[v].parent.unwrap_or(0);
            nodes[parent].children.push(v);
        }
        self.nodes = nodes;
    }

    /// Returns all nodes, each after its children.
    pub fn upwards(&self) -> impl Iterator<Item = usize> + use<> {
        (self.leaf(0)..self.nodes.len()).chain(self.groups_upwards())
    }

    /// Returns the groups from the leaves up, with the root at the end.
    fn groups_upwards(&self) -> Vec<usize> {
        self.problem.groups().from_the_leaves().into_iter().map(|v| 1 + v).chain([0]).collect()
    }

    /// Computes the divisors of shares.
    fn divide(&mut self) {
        let lendable = self.lendable();
        let divisors: Vec<Vec<Rational>> = self
            .nodes
            .iter()
            .zip(&lendable)
            .map(|(node, lendable)| self.families.iter().map(|of| self.divisor(node, of, lendable)).collect())
            .collect();
        self.nodes.iter_mut().zip(divisors).for_each(|(node, divisor)| node.divisor = divisor);
    }

    /// Returns the divisor of the share of a node, for a family of resources.
    fn divisor(&self, node: &Node, family: &[(usize, Rational)], lendable: &[Rational]) -> Rational {
        let cluster = || family.iter().map(|(r, _)| &self.capacity[*r]).sum::<Rational>();
        let promised = || {
            let of = |(r, _): &(usize, Rational)| node.guarantee.as_ref()?[*r].clone();
            family.iter().filter_map(of).sum::<Rational>()
        };
        match (self.share.over, self.share.of) {
            (ShareOver::Cluster, _) => cluster(),
            (ShareOver::Lendable, _) => family.iter().map(|(r, _)| &lendable[*r]).sum(),
            (ShareOver::Guarantee, ShareOf::Surplus) => promised(),
            // Without a guarantee, usage is compared with the capacity of the cluster.
            (ShareOver::Guarantee, ShareOf::Usage) => {
                Some(promised()).filter(|promised| *promised > 0).unwrap_or_else(cluster)
            }
        }
    }

    /// Returns for each node and resource the amount that can be lent at its position. It is `pot_parent` minus the
    /// amounts kept back for all children of the parent, where `pot_root = C`, and `pot_v` is the lesser of `limit_v`
    /// and `K_v` plus this amount.
    fn lendable(&self) -> Vec<Vec<Rational>> {
        let mut pot = vec![self.capacity.clone(); self.nodes.len()];
        let mut lendable = pot.clone();
        let mut from_the_root = self.groups_upwards();
        from_the_root.reverse();
        for parent in from_the_root {
            for position in 0..self.resources.len() {
                let children = &self.nodes[parent].children;
                let kept: Rational = children.iter().map(|k| &self.nodes[*k].kept[position]).sum();
                let there = Rational::from(&pot[parent][position] - &kept);
                for k in children {
                    let most = Rational::from(&there + &self.nodes[*k].kept[position]);
                    let limit = self.nodes[*k].limit[position].clone();
                    pot[*k][position] = limit.into_iter().fold(most, Rational::min);
                    lendable[*k][position].clone_from(&there);
                }
            }
        }
        lendable
    }
}

/// Returns for each resource true if the demand of every user equals its base demand on all classes where it can run.
fn are_plain(problem: &Problem, resources: &[usize]) -> Vec<bool> {
    let mut are_plain = vec![true; resources.len()];
    for (n, user) in problem.users().iter().enumerate() {
        let runs = user.demand_overrides().iter().filter(|(i, _)| problem.can_run(n, *i));
        for (_, demand) in runs {
            let same = resources.iter().map(|r| demand[*r] == user.base_demand()[*r]);
            are_plain.iter_mut().zip(same).for_each(|(is_plain, is_same)| *is_plain &= is_same);
        }
    }
    are_plain
}

/// Returns the limits of groups on some server classes, with the users below each group.
fn class_limits(problem: &Problem) -> ClassLimits {
    let groups = problem.groups();
    if !groups.limit_classes() {
        return ClassLimits::default();
    }
    let mut list = Vec::new();
    let mut of_group = Vec::new();
    for (v, group) in groups.list().iter().enumerate() {
        let from = list.len();
        for on in &group.on {
            list.extend(on.limit.iter().map(|(resource, most)| ClassLimit {
                group: v,
                servers: on.servers.clone(),
                resource: *resource,
                most: most.clone(),
            }));
        }
        of_group.push(from..list.len());
    }
    let above = |n: usize| groups.above(groups.member(n).group).flat_map(|v| of_group[v].clone());
    let of_user = (0..problem.n_users()).map(|n| above(n).collect()).collect();
    ClassLimits { list, of_user }
}

/// Returns the families of resources: each resource alone, or all resources `flavour/name` with the same name.
fn families(problem: &Problem, share: &GroupShare, resources: &[usize]) -> Vec<Vec<(usize, Rational)>> {
    let multiplier = |r: usize| {
        let stated = share.multipliers.iter().find(|(named, _)| *named == r);
        stated.map_or_else(|| Rational::from(1), |(_, m)| m.clone())
    };
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut families: Vec<Vec<(usize, Rational)>> = Vec::new();
    for (position, r) in resources.iter().enumerate() {
        let name = problem.resources()[*r].as_str();
        let name = if share.families { name.rsplit('/').next().unwrap_or(name) } else { name };
        let family = *known.entry(name).or_insert(families.len());
        if family == families.len() {
            families.push(Vec::new());
        }
        families[family].push((position, multiplier(*r)));
    }
    families
}

/// A limit on the usage of a resource by some users together, on some server classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassLimit {
    /// The group that has the limit.
    pub group: usize,
    /// The classes, ascending.
    pub servers: Vec<usize>,
    /// The index of the resource.
    pub resource: usize,
    /// The limit.
    pub most: Rational,
}

/// All limits on server classes, and the limits of each user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassLimits {
    /// The limits.
    pub list: Vec<ClassLimit>,
    /// For each user, the positions of the limits that count its tasks.
    pub of_user: Vec<Vec<usize>>,
}

impl ClassLimits {
    /// Returns the limits that count the tasks of user `n`, each with its position.
    pub fn of(&self, n: usize) -> impl Iterator<Item = (usize, &ClassLimit)> {
        self.of_user.get(n).into_iter().flatten().map(|at| (*at, &self.list[*at]))
    }

    /// Returns `(position of the limit, amount)` for each limit of which a task of user `n` on class `i` uses an
    /// amount.
    pub fn counts<'l>(
        &'l self,
        problem: &'l Problem,
        n: usize,
        i: usize,
    ) -> impl Iterator<Item = (usize, &'l Rational)> {
        let here = self.of(n).filter(move |(_, limit)| limit.servers.binary_search(&i).is_ok());
        let counted = here.map(move |(at, limit)| (at, &problem.demand(n, i)[limit.resource]));
        counted.filter(|(_, d)| !d.is_zero())
    }

    /// Returns the classes where user `n` can run and to which no limit of 0 applies.
    pub fn allowed<'l>(&'l self, problem: &'l Problem, n: usize) -> impl Iterator<Item = usize> + 'l {
        let bars = move |i: usize| self.counts(problem, n, i).any(|(at, _)| self.list[at].most.is_zero());
        problem.classes_of(n).filter(move |i| !bars(*i))
    }
}
