//! The evidence of a claim as a term of Coq: a `claim` of `verification/proof/theories/Certificate.v`.

use evenhand_exact::{
    Axiom, Claim, Evidence, Level, Limit, PriceVector, Prices, Share, Short, SingleLimit, Standing, Tasks,
    Witness,
};
use evenhand_problem::{Placement, Rational, RowKind};

use super::Writer;
use super::literal::{dense, index, list, number, option, row, spread, table};

/// Most bits of all `U_n^alpha` together of which the kernel computes exact margins.
const EXACT_BITS: u64 = 1 << 16;

impl Writer<'_, '_> {
    /// The term; `Err`: why the checker that is proved does not read this claim.
    pub(super) fn evidence(&self, claim: &Claim) -> Result<String, &'static str> {
        if claim.axiom == Axiom::WorkConserving && self.problem.groups().hold_back() {
            return Err("what groups hold back is not among what is proved");
        }
        let of_groups = matches!(claim.axiom, Axiom::Limits | Axiom::Guarantees);
        if of_groups && self.problem.groups().limit_classes() {
            return Err("limits on server classes are not among what is proved");
        }
        if claim.axiom.is_about_optima() && self.problem.groups().have_limits() {
            return Err("limits of groups are not among the rows of what is proved");
        }
        if matches!(claim.axiom, Axiom::GroupSharingIncentive | Axiom::GroupEnvyFree) {
            return Err("what parties gain is not among what is proved");
        }
        if claim.axiom == Axiom::Tree {
            return Err("what hierarchical filling ends with is not among what is proved");
        }
        let Some(holds) = claim.holds else { return self.not_applicable(claim) };
        let Some(margin) = &claim.margin else { return self.without_margin(claim, holds) };
        let m = number(margin);
        Ok(match &claim.evidence {
            Evidence::None => "NonWasteful".to_owned(),
            Evidence::Limit { limit, slack } => {
                format!("Feasible ({}) {}", self.limit(*limit), number(slack))
            }
            Evidence::SingleLimit { limit, slack } => {
                format!("Integer ({}) {}", self.single_limit(*limit), number(slack))
            }
            Evidence::Entitlement { user, .. } if claim.axiom == Axiom::SharingIncentive => {
                format!("Sharing {user}")
            }
            Evidence::Entitlement { user, .. } => format!("Guaranteed {user}"),
            Evidence::GroupLimit { group, resource, slack, .. } => {
                format!("Limited {group} {resource} {}", number(slack))
            }
            Evidence::Envy { user, envied, .. } => format!("Envy no_hints {user} {envied}"),
            Evidence::EnvyUpToOne { user, envied, removed, .. } => {
                format!("Ef1 no_hints {user} {envied} ({})", option(removed.map(index)))
            }
            Evidence::Prices(prices) if claim.axiom == Axiom::Proportional => {
                let (share, alpha) = self.exponent(claim)?;
                format!(
                    "Proportional {share} ({}) {alpha} {}",
                    self.worths(&share, &alpha),
                    self.prices(prices)
                )
            }
            Evidence::Prices(prices) => {
                let of = if claim.axiom == Axiom::ParetoOptimal { "Pareto" } else { "WholePrices" };
                format!("{of} (row {}) {}", row(&prices.user_weights), self.prices(prices))
            }
            Evidence::Dominating(better) => format!("Dominated {}", self.tasks(better)),
            Evidence::DominatingPlacements(better) => {
                let servers = self.servers(&single_servers(better));
                format!("better_placing the_problem {} {servers}", self.tables)
            }
            Evidence::Short(short) => self.short(short),
            Evidence::ShortOrStopped { .. } => {
                return Err("what groups hold back is not among what is proved");
            }
            Evidence::PartyPrices(_) | Evidence::PartyGains { .. } | Evidence::Filling { .. } => {
                return Err("the evidence is not among what is proved");
            }
            Evidence::Room(room) => match (self.servers.is_some(), room.index) {
                (false, _) => format!("Free {} {}", room.user, room.server),
                (true, at) => {
                    let at = at.and_then(|at| self.server_at(room.server, at));
                    format!("PlacedFree {} {} ({})", room.user, room.server, option(at.map(index)))
                }
            },
            Evidence::Levels(levels) => {
                let share = self.share(claim.share)?;
                format!(
                    "max_min_of the_problem {} {} {share} {m} {}",
                    self.x,
                    self.tables,
                    self.levels(levels)
                )
            }
            Evidence::LevelsByResource(by_resource) => {
                let kind = bottleneck(claim.axiom).ok_or("it has the evidence of another axiom")?;
                let of =
                    |(r, levels): &(usize, Vec<Level>)| format!("({}, {})", index(*r), self.levels(levels));
                let of = list(by_resource.iter().map(of));
                format!("bottlenecks_of the_problem {} {} {kind} {m} {of}", self.x, self.tables)
            }
            Evidence::Rise { resource, user, allocation } => {
                let y = self.tasks(allocation);
                match (resource, bottleneck(claim.axiom)) {
                    (Some(r), Some(kind)) => {
                        let alone = self.alone(&format!("(Resource {r})"));
                        format!("Fallen {kind} {r} {alone} {user} {y}")
                    }
                    _ => {
                        let share = self.share(claim.share)?;
                        format!("Rise {share} {} {user} {y}", self.alone(&share))
                    }
                }
            }
            Evidence::Witnesses(witnesses) => {
                let of = |witness: &Option<Witness>| match witness {
                    Some(Witness::Row(at)) => {
                        let (i, r) = self.place(*at);
                        format!("Some ({}, {})", index(i), index(r))
                    }
                    Some(Witness::Satisfied) | None => "None".to_owned(),
                };
                format!("Njc (options {})", list(witnesses.iter().map(of)))
            }
            Evidence::Complaint(complaint) => {
                let part = |(at, share): &(usize, Rational)| {
                    let (i, r) = self.place(*at);
                    format!("({}, {}, {})", index(i), index(r), number(share))
                };
                let parts = list(complaint.shares.iter().map(part));
                format!("Complaint {} {} (at_pair {parts})", complaint.user, number(&complaint.entitlement))
            }
            Evidence::Bottlenecks(standings) => {
                let of = |standing: &Option<Standing>| match standing {
                    Some(Standing::Bottlenecks(rows)) => {
                        let rows: Vec<_> = rows.iter().map(|at| self.place(*at)).collect();
                        option(Some(self.by_class(&rows)))
                    }
                    Some(Standing::Satisfied) | None => "None".to_owned(),
                };
                let of = list(standings.iter().map(of));
                format!("PsDsf (levels_at the_problem {}) (for_classes 0%nat {of})", self.tables)
            }
            Evidence::Unblocked(unblocked) => {
                let lack =
                    |(at, q): &(usize, Rational)| format!("({}, {})", index(self.place(*at).1), number(q));
                let lacks = list(unblocked.lacks.iter().map(lack));
                let (n, i) = (unblocked.user, unblocked.server);
                format!("Without (levels_at the_problem {}) {n} {i} (named_row {lacks})", self.tables)
            }
            Evidence::Better(better) => {
                let (share, alpha) = self.exponent(claim)?;
                format!("Better {share} ({}) {alpha} {}", self.worths(&share, &alpha), self.tasks(better))
            }
            Evidence::Nothing { .. } => return Err("it has a margin"),
        })
    }

    fn not_applicable(&self, claim: &Claim) -> Result<String, &'static str> {
        match (claim.axiom, claim.share) {
            (Axiom::MaxMin | Axiom::Proportional, Some(share)) => {
                let share = self.share(Some(share))?;
                Ok(format!("Undefined {share} (worth_of_one the_problem (Some {share}))"))
            }
            (Axiom::IntegerFeasible, _) => Ok("NotSingle".to_owned()),
            (Axiom::Limits, _) => Ok("NotAbout false".to_owned()),
            (Axiom::Guarantees, _) => Ok("NotAbout true".to_owned()),
            (Axiom::Ef1 | Axiom::IntegerParetoOptimal, _) => Ok("NotWhole".to_owned()),
            (axiom, _) => match bottleneck(axiom) {
                Some(kind) => Ok(format!("NoBottleneck {kind}")),
                None => Err("that it does not apply is not among what is proved"),
            },
        }
    }

    fn without_margin(&self, claim: &Claim, holds: bool) -> Result<String, &'static str> {
        let idle = self.is_idle() && holds;
        Ok(match (claim.axiom, &claim.evidence) {
            (Axiom::EnvyFree, _) => "NoPair".to_owned(),
            (Axiom::Ef1, _) => "NoPair1".to_owned(),
            (Axiom::Feasible, _) => "NoBound".to_owned(),
            (Axiom::IntegerFeasible, _) => "NoLimit".to_owned(),
            (Axiom::Limits, _) => "Unlimited".to_owned(),
            (Axiom::Guarantees, _) => "Nobody".to_owned(),
            (Axiom::Proportional, Evidence::Nothing { user }) => {
                let (share, alpha) = self.whole_exponent(claim)?;
                format!("Nothing {share} ({}) {alpha} {user}", self.worths(&share, &alpha))
            }
            (axiom, _) if idle => match (bottleneck(axiom), claim.share.map(named)) {
                (Some(kind), _) => format!("IdleBottleneck {kind}"),
                (None, Some(share)) => format!("IdleShare {share} (worth_of_one the_problem (Some {share}))"),
                (None, None) if axiom == Axiom::IntegerParetoOptimal => "IdleWhole".to_owned(),
                (None, None) => "Idle".to_owned(),
            },
            (Axiom::MaxMin, _) => {
                let share = self.share(claim.share)?;
                format!("Unwanted {share} {}", self.alone(&share))
            }
            (axiom, _) if bottleneck(axiom).is_some() && holds => {
                let kind = bottleneck(axiom).unwrap_or_default();
                format!("UnwantedBottleneck {kind} (fun r => {})", self.alone("(Resource r)"))
            }
            _ => return Err("it has no margin"),
        })
    }

    fn limit(&self, limit: Limit) -> String {
        match limit {
            Limit::Row(at) => {
                let (i, r) = self.place(at);
                format!("Row {i} {r}")
            }
            Limit::Tasks(n) => format!("Tasks {n}"),
            Limit::Entry(n, i) => format!("Entry {n} {i}"),
        }
    }

    fn single_limit(&self, limit: SingleLimit) -> String {
        // A certificate that checks names servers that are listed.
        let at = |i, index| self.server_at(i, index).unwrap_or_default();
        match limit {
            SingleLimit::Row { row, index } => {
                let (i, r) = self.place(row);
                format!("RowOf {} {r}", at(i, index))
            }
            SingleLimit::Tasks(n) => format!("TasksOf {n}"),
            SingleLimit::Entry { user, server, index } => format!("EntryOf {} {user}", at(server, index)),
        }
    }

    /// Where a single server stands among those that hold something, or among the classes.
    fn server_at(&self, class: usize, at: u64) -> Option<usize> {
        match &self.servers {
            Some(servers) => servers.iter().position(|one| (one.server, one.index) == (class, at)),
            None => Some(class),
        }
    }

    fn short(&self, short: &[(usize, Short)]) -> String {
        let of = |n: usize| {
            let found = short.binary_search_by_key(&n, |(user, _)| *user).ok()?;
            let of_user = &short[found].1;
            Some(if self.servers.is_some() {
                let rows = |i: usize| {
                    let rows = of_user.iter().find(|(class, _)| *class == i).map(|(_, rows)| rows.as_slice());
                    list(rows.unwrap_or_default().iter().map(|at| index(self.place(*at).1)))
                };
                list((0..self.problem.n_servers()).map(rows))
            } else {
                let rows = of_user.iter().filter_map(|(_, rows)| rows.first()).map(|at| self.place(*at));
                self.by_class(&rows.collect::<Vec<_>>())
            })
        };
        let (name, nothing) =
            if self.servers.is_some() { ("PlacedShort", "nil") } else { ("Short", "0%nat") };
        let all = list((0..self.problem.n_users()).map(|n| option(of(n))));
        format!("{name} (for_classes {nothing} {all})")
    }

    /// A row for every class, 0 where the user cannot run.
    fn by_class(&self, rows: &[(usize, usize)]) -> String {
        let mut by_class = vec![0; self.problem.n_servers()];
        rows.iter().for_each(|(i, r)| by_class[*i] = *r);
        list(by_class.into_iter().map(index))
    }

    fn levels(&self, levels: &[Level]) -> String {
        let level = |level: &Level| {
            let PriceVector { user_weights, rows, users } = &level.prices;
            let weights = row(&spread(user_weights, self.problem.n_users()));
            let priced = rows.iter().map(|(at, price)| (*at, price));
            let users = spread(users, self.problem.n_users());
            let covers = list(level.covers.iter().map(|n| index(*n)));
            format!("({covers}, {weights},\n {})", self.priced(priced, &users))
        };
        list(levels.iter().map(level))
    }

    fn prices(&self, prices: &Prices) -> String {
        self.priced(prices.rows.iter().enumerate(), &prices.users)
    }

    fn priced<'q>(&self, rows: impl Iterator<Item = (usize, &'q Rational)>, users: &[Rational]) -> String {
        let mut by_class = vec![vec![Rational::new(); self.problem.n_resources()]; self.problem.n_servers()];
        for (at, price) in rows {
            let (i, r) = self.place(at);
            by_class[i][r].clone_from(price);
        }
        format!("(prices_of {} {})", table(&by_class), row(users))
    }

    pub(super) fn tasks(&self, tasks: &Tasks) -> String {
        format!("(rows {})", table(&dense(tasks, self.problem.n_servers())))
    }

    /// Single servers, each with its class and the tasks on it by user.
    pub(super) fn servers(&self, servers: &[Placement]) -> String {
        let of = |one: &Placement| {
            let tasks = row(&spread(&one.tasks, self.problem.n_users()));
            format!("({}, {tasks})", index(one.server))
        };
        list(servers.iter().map(of))
    }

    /// The class of a row, and its place in the class: the number of the resource; 0 for time.
    fn place(&self, at: usize) -> (usize, usize) {
        let row = &self.instance.constraints().rows()[at];
        let r = match row.kind {
            RowKind::Resource(r) => r,
            RowKind::Time => 0,
        };
        (row.server, r)
    }

    fn alone(&self, share: &str) -> String {
        format!("(alone_of the_problem {} {} {share})", self.x, self.tables)
    }

    fn worths(&self, share: &str, alpha: &str) -> String {
        format!("worths_of the_problem {} {} {share} {alpha}", self.x, self.tables)
    }

    fn share(&self, share: Option<Share>) -> Result<String, &'static str> {
        share.map(named).ok_or("it has no share")
    }

    /// What is shared (`None`: tasks) and alpha, where the kernel's margin is exact.
    fn exponent(&self, claim: &Claim) -> Result<(String, String), &'static str> {
        let of = self.whole_exponent(claim)?;
        let alpha = claim.alpha.as_ref().map_or(1, |alpha| alpha.numer().to_u64().unwrap_or(u64::MAX));
        let needs_room = alpha > 1 || matches!(claim.evidence, Evidence::Better(_));
        if needs_room && self.value_bits(claim).saturating_mul(alpha) > EXACT_BITS {
            return Err("its numbers are so long that the kernel rounds them");
        }
        Ok(of)
    }

    pub(super) fn whole_exponent(&self, claim: &Claim) -> Result<(String, String), &'static str> {
        let one = Rational::from(1);
        let alpha = claim.alpha.as_ref().unwrap_or(&one);
        if !alpha.is_integer() {
            return Err("its alpha is not whole, and what tasks are worth is irrational");
        }
        let share = claim.share.map_or_else(|| "None".to_owned(), |share| format!("(Some {})", named(share)));
        Ok((share, alpha.numer().to_string()))
    }

    /// Bits of what all users have, each as its share is worth.
    fn value_bits(&self, claim: &Claim) -> u64 {
        let share = claim.share.and_then(|share| share.coefficients(self.problem).ok());
        let bits = |q: &Rational| u64::from(q.numer().significant_bits().max(q.denom().significant_bits()));
        let of_user = |(n, on): (usize, &Vec<(usize, Rational)>)| {
            let worth = |i: usize, x: &Rational| match &share {
                Some(share) => Rational::from(share.of(n, i) * x),
                None => x.clone(),
            };
            bits(&on.iter().map(|(i, x)| worth(*i, x)).sum::<Rational>())
        };
        self.instance
            .tasks()
            .iter()
            .enumerate()
            .filter(|(n, _)| self.instance.is_active(*n))
            .map(of_user)
            .sum()
    }

    fn is_idle(&self) -> bool {
        (0..self.problem.n_users()).all(|n| !self.instance.is_active(n))
    }
}

/// The servers that hold something, by class and number.
pub(super) fn single_servers(placements: &[Placement]) -> Vec<Placement> {
    let holds = |one: &&Placement| one.tasks.iter().any(|(_, x)| !x.is_zero());
    let mut servers: Vec<Placement> = placements.iter().filter(holds).cloned().collect();
    servers.sort_by_key(|one| (one.server, one.index));
    servers
}

/// A share by its name in Spec.v, to stand as an argument.
pub(super) fn named(share: Share) -> String {
    match share {
        Share::Dominant => "Drfh".to_owned(),
        Share::Containerized => "Cdrf".to_owned(),
        Share::TaskShare => "Tsf".to_owned(),
        Share::Asset => "Asset".to_owned(),
        Share::Generic => "Generic".to_owned(),
        Share::Resource(r) => format!("(Resource {r})"),
    }
}

/// A bottleneck axiom by its name in Spec.v.
pub(super) fn bottleneck(axiom: Axiom) -> Option<&'static str> {
    match axiom {
        Axiom::BottleneckFair => Some("OnEveryClass"),
        Axiom::GlobalBottleneckFair => Some("OfTheCluster"),
        Axiom::SingleResourceFair => Some("Single"),
        _ => None,
    }
}
