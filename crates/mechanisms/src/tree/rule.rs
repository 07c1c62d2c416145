//! The rules of schedulers that are special cases of hierarchical filling (docs/theory.md, section 9).

use evenhand_problem::groups::{GroupShare, Guarantees, ShareOf, ShareOver, ZeroWeight};
use evenhand_problem::names;

/// A scheduler whose rule is a special case of hierarchical filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Hierarchical DRF, which compares the usage over the cluster.
    Hdrf,
    /// Mesos, whose quotas are guarantees.
    Mesos,
    /// Kueue, which puts the nominal quota first.
    Kueue,
    /// Armada, which uses the multipliers of the problem.
    Armada,
    /// `YuniKorn`, which compares the usage over the guarantee.
    YuniKorn,
    /// Slurm, which compares the usage of one resource over the cluster.
    Slurm,
    /// KAI, which divides each resource separately.
    Kai,
    /// The version of KAI in which the only queue of a priority takes everything that is left.
    KaiSoleQueue,
    /// Volcano's plugin `proportion`, which divides each resource separately.
    Volcano,
    /// Volcano's plugin `capacity`, which divides each resource separately.
    VolcanoCapacity,
}

names! { Rule:
    Hdrf = "hdrf", "usage over the cluster: max_r U_r / C_r";
    Mesos = "mesos", "usage over the cluster, quotas as guarantees";
    Kueue = "kueue", "usage above the nominal quota over the amount that can be lent, flavours added; nominal quota \
        first";
    Armada = "armada", "usage over the cluster with the problem's multipliers: max_r m_r U_r / C_r";
    YuniKorn = "yunikorn", "usage over the guarantee: max_r U_r / G_r";
    Slurm = "slurm", "usage over the cluster, of one resource";
    Kai = "kai", "entitlements resource by resource: quotas first, then the rest by priority and weight";
    KaiSoleQueue = "kai-sole-queue", "the same, where the only queue of a priority takes all that is left";
    Volcano = "volcano", "entitlements resource by resource: guarantees first, then the least share by weight grows";
    VolcanoCapacity = "volcano-capacity", "entitlements resource by resource: what queues deserve (their guarantees, lent or not)";
}

/// A rule that divides every resource separately, and gives entitlements instead of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerResource {
    /// Quotas come first, then the rest is divided by priority and weight. A queue of weight 0 gets nothing beyond
    /// its quota.
    Kai {
        /// `true` if the only child of a priority takes the whole rest, even more than it requests.
        sole_takes_all: bool,
    },
    /// Guarantees come first. Then the lowest entitlement divided by the weight, `e / w`, rises. Queues of weight 0
    /// come last.
    Volcano,
    /// Guarantees come first. Then queues get equal fractions of the amounts that they deserve. The rest belongs to no
    /// queue.
    VolcanoCapacity,
}

impl PerResource {
    /// Returns whether an unused guarantee is kept for its queue.
    pub(super) fn keeps_guarantees(self) -> bool {
        matches!(self, Self::Volcano | Self::VolcanoCapacity)
    }
}

impl Rule {
    /// Returns how the rule divides single resources, or `None` if it does not.
    #[must_use]
    pub fn per_resource(self) -> Option<PerResource> {
        match self {
            Self::Kai => Some(PerResource::Kai { sole_takes_all: false }),
            Self::KaiSoleQueue => Some(PerResource::Kai { sole_takes_all: true }),
            Self::Volcano => Some(PerResource::Volcano),
            Self::VolcanoCapacity => Some(PerResource::VolcanoCapacity),
            _ => None,
        }
    }

    /// Returns the fields of the problem's own share that the rule ignores.
    #[must_use]
    pub fn leaves_out(self, stated: &GroupShare) -> Vec<&'static str> {
        let share = self.share(stated);
        let multipliers = !stated.multipliers.is_empty() && share.multipliers.is_empty();
        // KAI never gives a queue of weight 0 more than its quota.
        let is_kai = matches!(self.per_resource(), Some(PerResource::Kai { .. }));
        let never = |share: &GroupShare| share.zero_weight == ZeroWeight::Never;
        let zero_weight = never(stated) && !never(&share) && !is_kai;
        let guarantees = stated.guarantees != share.guarantees && self != Self::YuniKorn;
        let fields = [(multipliers, "multipliers"), (zero_weight, "zero-weight"), (guarantees, "guarantees")];
        fields.into_iter().filter(|(left_out, _)| *left_out).map(|(_, name)| name).collect()
    }

    /// Returns the share by which siblings are filled, combined with the problem's own share. Returns `None` if the
    /// rule divides every resource separately, since such a rule is more than a share.
    #[must_use]
    pub fn share_alone(self, stated: &GroupShare) -> Option<GroupShare> {
        self.per_resource().is_none().then(|| self.share(stated))
    }

    /// Returns the share by which siblings are compared. Some of its fields are taken from the problem's own share.
    pub(super) fn share(self, stated: &GroupShare) -> GroupShare {
        let usage = GroupShare::default();
        match self {
            Self::Kueue => {
                GroupShare { of: ShareOf::Surplus, over: ShareOver::Lendable, families: true, ..usage }
            }
            Self::Armada => GroupShare { multipliers: stated.multipliers.clone(), ..usage },
            // YuniKorn compares by priority and then by usage over the guarantee. It uses guarantees for nothing
            // else.
            Self::YuniKorn => {
                GroupShare { over: ShareOver::Guarantee, guarantees: Guarantees::Compared, ..usage }
            }
            _ => usage,
        }
    }
}
