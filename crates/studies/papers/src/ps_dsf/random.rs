//! Random problems in small numbers, so that ties and zeros are frequent.

use crate::error::PaperError;
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A distribution of random problems.
pub struct Law {
    /// The seed of the sequence.
    pub seed: u64,
    /// True if one resource is the dominant resource of every user on every class.
    pub one_bottleneck: bool,
}

impl Law {
    /// Returns the first `count` problems in which every user can run somewhere.
    pub fn problems(&self, count: usize) -> Result<Vec<Problem>, PaperError> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut problems = Vec::with_capacity(count);
        while problems.len() < count {
            let problem = self.draw(&mut random)?;
            if (0..problem.n_users()).all(|n| problem.is_active(n)) {
                problems.push(problem);
            }
        }
        Ok(problems)
    }

    /// Draws a problem with 2 to 4 users, 1 to 3 classes and 1 to 3 resources. Capacities are 1 to 9, demands 0 to 5,
    /// weights 1 to 3. A user may run on a class with probability 0.7.
    fn draw(&self, random: &mut Pcg64Mcg) -> Result<Problem, PaperError> {
        let resources: Vec<String> = (1..=random.random_range(1..=3)).map(|r| format!("r{r}")).collect();
        let n_servers = random.random_range(1..=3);
        let mut servers = Vec::new();
        for i in 0..n_servers {
            let first = random.random_range(1..=9);
            let mut capacity = vec![(resources[0].clone(), Rational::from(first))];
            for name in &resources[1..] {
                // If the first resource must be dominant, the capacity of every other resource is at least as large, or
                // the resource is absent.
                let absent = self.one_bottleneck && random.random_bool(0.3);
                let least = if self.one_bottleneck { first } else { 1 };
                let amount = if absent { 0 } else { random.random_range(least..=9) };
                capacity.push((name.clone(), Rational::from(amount)));
            }
            servers.push(ServerSpec { name: format!("s{}", i + 1), count: None, capacity });
        }
        let mut users = Vec::new();
        for n in 0..random.random_range(2..=4) {
            let first = random.random_range(1..=5);
            let mut demand = vec![(resources[0].clone(), Rational::from(first))];
            for name in &resources[1..] {
                let most = if self.one_bottleneck { first } else { 5 };
                demand.push((name.clone(), Rational::from(random.random_range(0..=most))));
            }
            let allowed: Vec<String> =
                (0..n_servers).filter(|_| random.random_bool(0.7)).map(|i| format!("s{}", i + 1)).collect();
            users.push(UserSpec {
                name: format!("user {}", n + 1),
                weight: Some(Rational::from(random.random_range(1..=3))),
                demand,
                servers: (!allowed.is_empty()).then_some(allowed),
                ..UserSpec::default()
            });
        }
        Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })
            .map_err(PaperError::from)
    }
}
