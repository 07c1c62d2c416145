//! What greedy earns at least, read off its own steps (theory, section 6, Theorem C).

use evenhand_exact::ratio::RatioCertificate;
use evenhand_problem::Rational;

/// A part of the optimum that greedy earns at least, without a linear programme.
///
/// One pool: a piece is a run of steps of one configuration, and while it lasts what is missing to the optimum
/// shrinks by the factor `1 - tau`, where `tau` is the piece's part of the servers: 1 minus the product of these.
/// Where servers are left greedy has served all that fits, and the bound is 1. Several pools: 1/2.
#[must_use]
pub fn lower_bound(certificate: &RatioCertificate) -> Rational {
    if certificate.problem.pools().len() > 1 {
        return Rational::from((1, 2));
    }
    let mut pieces: Vec<(&_, Rational)> = Vec::new();
    for step in &certificate.greedy.steps {
        match pieces.last_mut() {
            Some((configuration, servers)) if *configuration == &step.configuration => {
                *servers += &step.servers;
            }
            _ => pieces.push((&step.configuration, step.servers.clone())),
        }
    }
    // The fluid problem has one server in all.
    let used: Rational = pieces.iter().map(|(_, servers)| servers).sum();
    if used < 1 {
        return Rational::from(1);
    }
    1 - pieces.iter().fold(Rational::from(1), |missing, (_, servers)| missing * (1 - servers.clone()))
}
