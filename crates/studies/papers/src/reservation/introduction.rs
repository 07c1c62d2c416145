//! The example of the introduction of the Reservation paper: one large type, and two types that fit together
//! on a server.

use evenhand_problem::Rational;

use super::cases::{Type, certified, problem, row};
use crate::entry::{Entry, list};
use crate::error::PaperError;

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut types = Vec::new();
    for (name, demand, reward) in [("large", "0.6 0.6", 4), ("cpu", "0.7 0.1", 3), ("memory", "0.1 0.7", 3)] {
        let (reward, load) = (Rational::from(reward), Rational::from(1));
        types.push(Type { name: name.to_owned(), demand: row(demand)?, reward, load });
    }
    let capacity = row("1 1")?;
    let certificate = certified(&problem(&capacity, &types)?)?;
    let half = super::cases::with_loads(&types, &row("1/2 1/2 1/2")?);
    let contested = certified(&problem(&capacity, &half)?)?;
    Ok(vec![
        Entry {
            id: "reservation.introduction".to_owned(),
            source: "Reservation, section 1: the most that a server can earn",
            paper: "6".to_owned(),
            ours: certificate.optimum.assignment.reward.to_string(),
            agrees: Some(certificate.optimum.assignment.reward == 6 && certificate.greedy.reward == 6),
            note: "The value is the reward of greedy and of the optimum with one job of each type per \
                   server. Both put the two smaller types together."
                .to_owned(),
        },
        Entry {
            id: "reservation.introduction.half".to_owned(),
            source: "Reservation, section 1, with half a job of each type a server",
            paper: String::new(),
            ours: list(&[contested.greedy.reward, contested.optimum.assignment.reward]),
            agrees: None,
            note:
                "The values are the rewards of greedy and of the optimum. Both use half of the servers for \
                   the pair of smaller types and half for the large type."
                    .to_owned(),
        },
    ])
}
