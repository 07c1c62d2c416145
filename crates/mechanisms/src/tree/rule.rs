//! Rules of schedulers that are cases of the definition (theory, section 9).

use evenhand_problem::groups::{GroupShare, Guarantees, ShareOf, ShareOver, ZeroWeight};
use evenhand_problem::names;

/// A scheduler whose rule is a case of the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Hierarchical DRF.
    Hdrf,
    /// Mesos.
    Mesos,
    /// Kueue, which gives nominal quota first.
    Kueue,
    /// Armada.
    Armada,
    /// `YuniKorn`.
    YuniKorn,
    /// Slurm.
    Slurm,
    /// KAI, resource by resource.
    Kai,
    /// The version of KAI in which the only queue of a priority takes all that is left.
    KaiSoleQueue,
    /// Volcano's plugin `proportion`, resource by resource.
    Volcano,
    /// Volcano's plugin `capacity`, resource by resource.
    VolcanoCapacity,
}

names! { Rule:
    Hdrf = "hdrf", "usage over the cluster: max_r U_r / C_r";
    Mesos = "mesos", "usage over the cluster, quotas as guarantees";
    Kueue = "kueue", "what exceeds the nominal quota over what can be lent, flavours added; nominal quota first";
    Armada = "armada", "usage over the cluster with the problem's multipliers: max_r m_r U_r / C_r";
    YuniKorn = "yunikorn", "usage over the guarantee: max_r U_r / G_r";
    Slurm = "slurm", "usage over the cluster, of one resource";
    Kai = "kai", "entitlements resource by resource: quotas, then by priority what is left, by weight";
    KaiSoleQueue = "kai-sole-queue", "the same, where the only queue of a priority takes all that is left";
    Volcano = "volcano", "entitlements resource by resource: guarantees, then the least part by weight grows";
    VolcanoCapacity = "volcano-capacity", "entitlements resource by resource: what queues deserve (their guarantees, lent or not)";
}

/// A rule that divides every resource alone, and gives entitlements in place of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerResource {
    /// Quotas in full, then what is left by priority and weight; nothing beyond its quota for a weight of 0.
    Kai {
        /// Whether the only child of a priority takes all that is left, also above what it asks for.
        sole_takes_all: bool,
    },
    /// Guarantees, then the least `e / w` rises; a weight of 0 comes last.
    Volcano,
    /// Guarantees, then what queues deserve by equal fractions of it; the rest belongs to no queue.
    VolcanoCapacity,
}

impl PerResource {
    /// Returns whether no other queue may use what is guaranteed to a queue and not used by it.
    pub(super) fn keeps_guarantees(self) -> bool {
        matches!(self, Self::Volcano | Self::VolcanoCapacity)
    }
}

impl Rule {
    /// How it divides single resources, if it does.
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

    /// Fields of the problem's own share that the rule leaves out: what they say is not done.
    #[must_use]
    pub fn leaves_out(self, stated: &GroupShare) -> Vec<&'static str> {
        let share = self.share(stated);
        let multipliers = !stated.multipliers.is_empty() && share.multipliers.is_empty();
        // KAI gives a weight of 0 nothing beyond its quota anyway.
        let is_kai = matches!(self.per_resource(), Some(PerResource::Kai { .. }));
        let never = |share: &GroupShare| share.zero_weight == ZeroWeight::Never;
        let zero_weight = never(stated) && !never(&share) && !is_kai;
        let guarantees = stated.guarantees != share.guarantees && self != Self::YuniKorn;
        let fields = [(multipliers, "multipliers"), (zero_weight, "zero-weight"), (guarantees, "guarantees")];
        fields.into_iter().filter(|(left_out, _)| *left_out).map(|(_, name)| name).collect()
    }

    /// The share by which siblings are filled, beside what the problem states; `None` where the rule is not that alone: it
    /// divides every resource alone.
    #[must_use]
    pub fn share_alone(self, stated: &GroupShare) -> Option<GroupShare> {
        self.per_resource().is_none().then(|| self.share(stated))
    }

    /// The share by which siblings are compared, with what it takes from the problem's own.
    pub(super) fn share(self, stated: &GroupShare) -> GroupShare {
        let usage = GroupShare::default();
        match self {
            Self::Kueue => {
                GroupShare { of: ShareOf::Surplus, over: ShareOver::Lendable, families: true, ..usage }
            }
            Self::Armada => GroupShare { multipliers: stated.multipliers.clone(), ..usage },
            // It compares by priority, then by usage over the guarantee, and knows no other use of it.
            Self::YuniKorn => {
                GroupShare { over: ShareOver::Guarantee, guarantees: Guarantees::Compared, ..usage }
            }
            _ => usage,
        }
    }
}
