//! Closed sets of names: what the command line accepts, completes and explains.

use evenhand_lp::njc::Goal;

use crate::filling::{Score, ServerRule, Ties};
use crate::mechanism::Method;

/// A set of which every member has a name on the command line and in files.
pub trait Named: Copy + Send + Sync + 'static {
    /// All members, in the order in which help lists them.
    const ALL: &'static [Self];

    /// As on the command line.
    fn name(self) -> &'static str;

    /// What it means, in one line.
    fn about(self) -> &'static str;

    /// The member of that name.
    ///
    /// # Examples
    /// ```
    /// use evenhand_mechanisms::Named;
    /// use evenhand_mechanisms::filling::Score;
    /// assert_eq!(Score::named("tsf"), Some(Score::Tsf));
    /// assert_eq!(Score::named("fcfs"), None);
    /// ```
    #[must_use]
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|member| member.name() == name)
    }
}

impl Named for Score {
    const ALL: &'static [Self] = &[Self::Drf, Self::Tsf, Self::PsDsf, Self::ResidualPsDsf];

    fn name(self) -> &'static str {
        self.name()
    }

    fn about(self) -> &'static str {
        match self {
            Self::Drf => "Global dominant share by weight",
            Self::Tsf => "Tasks by weight and by the tasks that fit on all servers",
            Self::PsDsf => "Tasks by weight and by the tasks that fit on the empty server",
            Self::ResidualPsDsf => "The same with what is left of the server",
        }
    }
}

impl Named for ServerRule {
    const ALL: &'static [Self] = &[Self::Iid, Self::Rrr, Self::FirstFit, Self::BestFit, Self::Joint];

    fn name(self) -> &'static str {
        self.name()
    }

    fn about(self) -> &'static str {
        match self {
            Self::Iid => "For every task a random one of the servers on which some task fits",
            Self::Rrr => "Rounds, every server once in random order",
            Self::FirstFit => "The first server on which the task fits",
            Self::BestFit => "The server whose rest suits the task best",
            Self::Joint => "User and server together: the pair of least score",
        }
    }
}

impl Named for Ties {
    const ALL: &'static [Self] = &[Self::Low, Self::High, Self::Random];

    fn name(self) -> &'static str {
        self.name()
    }

    fn about(self) -> &'static str {
        match self {
            Self::Low => "The lowest index",
            Self::High => "The highest index",
            Self::Random => "One at random",
        }
    }
}

impl Named for Method {
    const ALL: &'static [Self] = &[Self::Sweep, Self::Algorithm1, Self::Market, Self::Trajectory];

    fn name(self) -> &'static str {
        self.name()
    }

    fn about(self) -> &'static str {
        match self {
            Self::Sweep => {
                "Every server class filled in turn until nothing changes, accelerated where that is slow"
            }
            Self::Algorithm1 => {
                "Algorithm I of the PS-DSF paper, step by step; it often only approaches its limit"
            }
            Self::Market => "The linear Fisher market",
            Self::Trajectory => "njc: the differential equation of the paper, integrated",
        }
    }
}

impl Named for Goal {
    const ALL: &'static [Self] = &[Self::MaxUtilisation, Self::MaxMinShare, Self::MaxTasks];

    fn name(self) -> &'static str {
        match self {
            Self::MaxUtilisation => "max-utilisation",
            Self::MaxMinShare => "max-min-share",
            Self::MaxTasks => "max-tasks",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::MaxUtilisation => "The most used parts of all resources of all servers together",
            Self::MaxMinShare => "The largest least dominant share by weight of the users that want more",
            Self::MaxTasks => "The most tasks",
        }
    }
}
