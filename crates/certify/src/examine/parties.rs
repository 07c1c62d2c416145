//! The group forms of sharing incentive and envy-freeness. A linear programme computes how much a party could gain.
//!
//! Prices for one comparison of a party often also bound its gain in other comparisons, which then need no programme.

use evenhand_exact::axiom::parties::Parties;
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Party, PartyPrices, PriceVector, Tasks};
use evenhand_levels::own_part::{Wanting, largest_gain};
use evenhand_problem::Rational;

use super::Undecided;

/// The results so far.
#[derive(Default)]
struct Results {
    /// The largest gain, the party that gains, the party that it envies if any, and the tasks that show the gain.
    most: Option<(Rational, Party, Option<Party>, Tasks)>,
    proofs: Vec<PartyPrices>,
}

/// Returns the claim that no party gains more than the tolerance.
///
/// # Errors
/// [`Undecided`] if the axiom is neither proven nor refuted.
pub(super) fn claim(instance: &Instance<'_>, axiom: Axiom, tolerance: &Rational) -> Result<Claim, Undecided> {
    let parties = Parties::new(instance).map_err(evenhand_exact::Refusal::from)?;
    let compared = parties.compared(axiom == Axiom::GroupEnvyFree).map_err(evenhand_exact::Refusal::from)?;
    let mut found = Results::default();
    // All comparisons of one party are consecutive. `first` is the position of the first proof of the present party.
    let mut first = 0;
    for (party, other) in compared {
        if found.proofs.last().is_some_and(|proof| proof.party != party) {
            first = found.proofs.len();
        }
        found.compare(instance, &parties, first, (party, other))?;
    }
    let judge = |evidence| Claim::with_evidence(axiom, None, evidence, instance, tolerance);
    match found.most {
        Some((gain, party, envied, allocation)) if gain > *tolerance => {
            Ok(judge(Evidence::PartyGains { party, envied, allocation })?)
        }
        None => Ok(judge(Evidence::None)?),
        Some(_) => Ok(judge(Evidence::PartyPrices(found.proofs))?),
    }
}

impl Results {
    /// Compares a party with another party, or with its own part. The proofs of this party start at `first`.
    fn compare(
        &mut self,
        instance: &Instance<'_>,
        parties: &Parties<'_, '_>,
        first: usize,
        (party, other): (Party, Option<Party>),
    ) -> Result<(), Undecided> {
        let amounts = parties.amounts(party, other);
        if let Some((most, ..)) = &self.most {
            let is_enough = |proof: &&mut PartyPrices| {
                parties.bound(party, &amounts, &proof.prices).is_ok_and(|bound| bound <= *most)
            };
            let known = self.proofs[first..].iter_mut().filter(|proof| proof.party == party);
            if let Some(proof) = known.into_iter().find(is_enough) {
                proof.envied.extend(other);
                return Ok(());
            }
        }
        let wanting = |user: &usize| Wanting {
            user: *user,
            has: instance.total(*user),
            unit: instance.scale(*user).clone(),
        };
        let users: Vec<Wanting> = parties.users(party).iter().map(wanting).collect();
        let gain = largest_gain(instance.constraints(), &amounts, &users)?;
        let prices = PriceVector { user_weights: gain.weights, rows: gain.prices, users: gain.user_prices };
        self.proofs.push(PartyPrices { party, envied: other.into_iter().collect(), prices });
        if self.most.as_ref().is_none_or(|(most, ..)| gain.gain > *most) {
            self.most = Some((gain.gain, party, other, gain.tasks));
        }
        Ok(())
    }
}
