//! The evidence of a claim as a Coq term: a `claim` of `verification/proof/theories/Certificate.v`.

use evenhand_exact::{Axiom, Claim, Evidence, Level, PriceVector, Prices, Share, Tasks};
use evenhand_problem::{Placement, Rational, RowKind};

use super::Writer;
use super::literal::{dense, index, list, number, row, spread, table};

/// The largest total number of bits of all `U_n^alpha` for which the kernel computes exact margins.
const EXACT_BITS: u64 = 1 << 16;

impl Writer<'_, '_> {
    /// Returns the Coq term. Returns the reason as an error if the verified checker does not read this claim.
    pub(super) fn evidence(&self, claim: &Claim) -> Result<String, &'static str> {
        if let Some(why) = self.not_proved(claim.axiom) {
            return Err(why);
        }
        let Some(holds) = claim.holds else { return self.not_applicable(claim) };
        let Some(margin) = &claim.margin else { return self.without_margin(claim, holds) };
        let m = number(margin);
        if let Some(recomputed) = self.recomputed(claim.axiom, &m) {
            return Ok(recomputed);
        }
        Ok(match &claim.evidence {
            Evidence::Enclosed { .. } => return Err("the Coq theorems do not cover enclosed powers"),
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
            Evidence::Better(better) => {
                let (share, alpha) = self.exponent(claim)?;
                format!("Better {share} ({}) {alpha} {}", self.worths(&share, &alpha), self.tasks(better))
            }
            Evidence::Nothing { .. } => return Err("it has a margin"),
            _ => return Err("the Coq theorems do not cover this evidence"),
        })
    }

    /// Returns the reason why Coq cannot prove this axiom for this problem. Returns `None` if it can.
    fn not_proved(&self, axiom: Axiom) -> Option<&'static str> {
        use Axiom::*;
        let groups = self.problem.groups();
        let about_all = matches!(
            axiom,
            ParetoOptimal
                | IntegerParetoOptimal
                | MaxMin
                | BottleneckFair
                | GlobalBottleneckFair
                | SingleResourceFair
                | Proportional
        );
        let reasons = [
            (
                axiom == WorkConserving && groups.hold_back(),
                "the Coq theorems do not cover capacity that groups keep back",
            ),
            (
                about_all && groups.have_limits(),
                "the Coq theorems do not cover allocations within limits of groups",
            ),
            (
                axiom.is_about_optima() && groups.have_limits(),
                "the Coq theorems do not cover limits of groups as rows",
            ),
            (
                matches!(axiom, GroupSharingIncentive | GroupEnvyFree),
                "the Coq theorems do not cover gains of parties",
            ),
            (axiom == Tree, "the Coq theorems do not cover the result of hierarchical filling"),
        ];
        reasons.into_iter().find(|(applies, _)| *applies).map(|(_, why)| why)
    }

    /// Returns the claim of an axiom for which the allocation alone is evidence. Coq computes this evidence
    /// itself.
    fn recomputed(&self, axiom: Axiom, margin: &str) -> Option<String> {
        let (tables, of) = (self.tables, |name: &str| Some(name.to_owned()));
        match axiom {
            Axiom::Feasible => of("Feasible"),
            Axiom::IntegerFeasible => of("Integer"),
            Axiom::NonWasteful => of("NonWasteful"),
            Axiom::WorkConserving => of("Conserving"),
            Axiom::EnvyFree => Some(format!("envy_of the_problem {tables} {margin}")),
            Axiom::Ef1 => Some(format!("ef1_of the_problem {tables} {margin}")),
            Axiom::SharingIncentive => of("Sharing"),
            Axiom::Njc => of("Njc"),
            Axiom::PsDsf => Some(format!("PsDsf (levels_at the_problem {tables})")),
            Axiom::Limits => of("Limited"),
            Axiom::Guarantees => of("Guaranteed"),
            _ => None,
        }
    }

    fn not_applicable(&self, claim: &Claim) -> Result<String, &'static str> {
        match (claim.axiom, claim.share) {
            (Axiom::MaxMin | Axiom::Proportional, Some(share)) => {
                let share = self.share(Some(share))?;
                Ok(format!("Undefined {share} (worth_of_one the_problem (Some {share}))"))
            }
            (Axiom::IntegerFeasible, _) => Ok("NotSingle".to_owned()),
            (Axiom::Limits | Axiom::Guarantees, _) => Ok("NotAbout".to_owned()),
            (Axiom::Ef1 | Axiom::IntegerParetoOptimal, _) => Ok("NotWhole".to_owned()),
            (axiom, _) => match bottleneck(axiom) {
                Some(kind) => Ok(format!("NoBottleneck {kind}")),
                None => Err("the Coq theorems do not cover that an axiom does not apply"),
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

    /// Returns the single servers. Each server has its class and its tasks by user.
    pub(super) fn servers(&self, servers: &[Placement]) -> String {
        let of = |one: &Placement| {
            let tasks = row(&spread(&one.tasks, self.problem.n_users()));
            format!("({}, {tasks})", index(one.server))
        };
        list(servers.iter().map(of))
    }

    /// Returns the class of a row and the number of its resource. The number is 0 for a row of time.
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

    /// Returns alpha and the quantity that is shared (`None` stands for tasks). Returns an error if the
    /// kernel's margin is not exact.
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

    /// Returns the total number of bits of all users' utilities, in the units of the share.
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

/// Returns the servers that run a task, sorted by class and index.
pub(super) fn single_servers(placements: &[Placement]) -> Vec<Placement> {
    let holds = |one: &&Placement| one.tasks.iter().any(|(_, x)| !x.is_zero());
    let mut servers: Vec<Placement> = placements.iter().filter(holds).cloned().collect();
    servers.sort_by_key(|one| (one.server, one.index));
    servers
}

/// Returns the name of a share in Spec.v. The name can be used as an argument.
pub(super) fn named(share: Share) -> String {
    match share {
        Share::Dominant => "Drfh".to_owned(),
        // These shares have no theorem, so no file contains their names.
        Share::BestPart => "DrfhBest".to_owned(),
        Share::FinishTime => "FinishTime".to_owned(),
        Share::Containerized => "Cdrf".to_owned(),
        Share::TaskShare => "Tsf".to_owned(),
        Share::Asset => "Asset".to_owned(),
        Share::Generic => "Generic".to_owned(),
        Share::Resource(r) => format!("(Resource {r})"),
    }
}

/// Returns the name of a bottleneck axiom in Spec.v.
pub(super) fn bottleneck(axiom: Axiom) -> Option<&'static str> {
    match axiom {
        Axiom::BottleneckFair => Some("OnEveryClass"),
        Axiom::GlobalBottleneckFair => Some("OfTheCluster"),
        Axiom::SingleResourceFair => Some("Single"),
        _ => None,
    }
}
