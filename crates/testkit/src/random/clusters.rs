//! Random clusters with placement constraints of several shapes.

use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

use super::problems::{build, class_name, resource_name};
use super::static_shares::Noise;

/// The classes on which users may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eligibility {
    /// All classes.
    Everywhere,
    /// One to three classes.
    Few,
    /// Each class with a probability of one half.
    Half,
    /// The classes of one of several zones, or sometimes of two zones.
    Zones,
}

/// The shape of a random cluster.
#[derive(Debug, Clone, Copy)]
pub struct Cluster {
    pub users: usize,
    pub classes: usize,
    pub resources: usize,
    pub eligibility: Eligibility,
    /// The percentage of demands and capacities that are 0.
    pub zero: u32,
    /// The percentage of users with finite tasks.
    pub finite: u32,
    /// The scale of random amounts: demands are from 1 to this number. Small numbers lead to ties.
    pub most: u32,
    /// The largest weight. The least weight is 1.
    pub weights: u32,
}

impl Cluster {
    /// Returns a random shape.
    pub fn any(noise: &mut Noise) -> Self {
        let eligibility = [Eligibility::Everywhere, Eligibility::Few, Eligibility::Half, Eligibility::Zones];
        Self {
            users: 2 + noise.below(70) as usize,
            classes: 1 + noise.below(24) as usize,
            resources: 1 + noise.below(4) as usize,
            eligibility: eligibility[noise.below(4) as usize],
            zero: [0, 0, 25, 50][noise.below(4) as usize],
            finite: [0, 0, 30, 100][noise.below(4) as usize],
            most: [2, 8, 64, 4096][noise.below(4) as usize],
            weights: [1, 1, 5][noise.below(3) as usize],
        }
    }

    pub fn problem(&self, noise: &mut Noise) -> Problem {
        let capacity = |noise: &mut Noise| self.vector(noise, self.most * 16, false);
        let servers = (0..self.classes).map(|i| ServerSpec {
            name: class_name(i),
            count: Some(Rational::from(1 + noise.below(10))),
            capacity: capacity(noise),
        });
        let servers = servers.collect();
        let users = (0..self.users).map(|n| self.user(n, noise)).collect();
        let resources = (0..self.resources).map(resource_name).collect();
        build(ProblemSpec { name: String::new(), resources, servers, users })
    }

    fn user(&self, n: usize, noise: &mut Noise) -> UserSpec {
        let finite = noise.below(100) < self.finite;
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(1 + noise.below(self.weights))),
            tasks: finite.then(|| Rational::from((1 + noise.below(40 * self.most), 1 + noise.below(4)))),
            demand: self.vector(noise, self.most, true),
            servers: self.servers(noise).map(|list| list.into_iter().map(class_name).collect()),
            ..UserSpec::default()
        }
    }

    fn servers(&self, noise: &mut Noise) -> Option<Vec<usize>> {
        let classes = u32::try_from(self.classes).expect("few classes");
        let zone = 1 + classes / 4;
        let mut list: Vec<usize> = match self.eligibility {
            Eligibility::Everywhere => return None,
            Eligibility::Few => (0..=noise.below(3)).map(|_| noise.below(classes) as usize).collect(),
            Eligibility::Half => (0..self.classes).filter(|_| noise.below(2) == 0).collect(),
            Eligibility::Zones => {
                let zones: Vec<u32> =
                    (0..=u32::from(noise.below(10) == 0)).map(|_| noise.below(classes) / zone).collect();
                (0..classes).filter(|i| zones.contains(&(i / zone))).map(|i| i as usize).collect()
            }
        };
        if list.is_empty() {
            list.push(0);
        }
        list.sort_unstable();
        list.dedup();
        Some(list)
    }

    fn vector(&self, noise: &mut Noise, most: u32, some: bool) -> Vec<(String, Rational)> {
        let kept = noise.below(self.resources as u32) as usize;
        let value = |r: usize| {
            let value = 1 + noise.below(most);
            let zero = noise.below(100) < self.zero && !(some && r == kept);
            (resource_name(r), Rational::from(if zero { 0 } else { value }))
        };
        (0..self.resources).map(value).collect()
    }
}
