//! The two axioms of parties: when they apply, and how their evidence is judged, read and written.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, Rational};
use serde_json::value::RawValue;

use super::Parties;
use crate::axiom::groups;
use crate::axiom::rule::{Rule, wrong_form};
use crate::evidence::{Evidence, Party, PartyPrices};
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};

/// An axiom about parties: `group-sharing-incentive`, or `group-envy-free` if `envy` is true.
pub(crate) struct OfParties {
    name: &'static str,
    envy: bool,
}

/// The axiom `group-sharing-incentive`.
pub(crate) static GROUP_SHARING_INCENTIVE: OfParties =
    OfParties { name: "group-sharing-incentive", envy: false };
/// The axiom `group-envy-free`.
pub(crate) static GROUP_ENVY_FREE: OfParties = OfParties { name: "group-envy-free", envy: true };

impl Rule for OfParties {
    fn name(&self) -> &'static str {
        self.name
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        groups::of_groups(problem)
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        instance.divides()
    }

    fn needs_evidence(&self) -> bool {
        true
    }

    fn judge(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        groups::of_groups(instance.problem()).and_then(|()| self.applies(instance))?;
        let parties = Parties::new(instance)?;
        match evidence {
            Evidence::PartyPrices(proofs) => Ok((true, parties.margin_of_prices(proofs)?)),
            Evidence::None => Ok((true, None)),
            Evidence::PartyGains { party, allocation, .. } => {
                Ok((false, Some(-parties.gain(*party, allocation))))
            }
            _ => Err(wrong_form()),
        }
    }

    /// Reads `{"proofs": [{"of": PARTY, "envied": [PARTY], "user_weights", "prices", "user_prices"}]}`, or
    /// `{"of", "envied", "allocation"}`. A party is `{"group"}` or `{"user"}`.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let own: &[&str] = if self.envy { &["of", "envied"] } else { &["of"] };
        if let Some(raw) = object.get("proofs") {
            reader.only(object, &["proofs"])?;
            let mut proofs = Vec::new();
            for raw in reader.document.list(raw)? {
                let object = reader.object(raw)?;
                reader.only(&object, &[own, &["user_weights", "prices", "user_prices"]].concat())?;
                let mut envied = Vec::new();
                if self.envy {
                    for raw in reader.document.list(reader.need(&object, "envied")?)? {
                        envied.push(party(reader, raw)?);
                    }
                }
                let prices = reader.price_vector(&object)?;
                proofs.push(PartyPrices {
                    party: party(reader, reader.need(&object, "of")?)?,
                    envied,
                    prices,
                });
            }
            return Ok(Evidence::PartyPrices(proofs));
        }
        reader.only(object, &[own, &["allocation"]].concat())?;
        Ok(Evidence::PartyGains {
            party: party(reader, reader.need(object, "of")?)?,
            envied: self.envy.then(|| party(reader, reader.need(object, "envied")?)).transpose()?,
            allocation: reader.tasks(reader.need(object, "allocation")?)?,
        })
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let named = |party: &Party| match party {
            Party::Group(v) => fields([("group", names.group_name(*v))]),
            Party::User(n) => fields([("user", names.user_name(*n))]),
        };
        match evidence {
            Evidence::PartyPrices(proofs) => {
                let proof = |proof: &PartyPrices| {
                    let envied = || Json::List(proof.envied.iter().map(named).collect());
                    let mut object = vec![("of", named(&proof.party))];
                    object.extend(self.envy.then(|| ("envied", envied())));
                    object.extend(names.price_vector(&proof.prices));
                    Json::object(object)
                };
                Some(fields([("proofs", Json::List(proofs.iter().map(proof).collect()))]))
            }
            Evidence::PartyGains { party, envied, allocation } => {
                let mut object = vec![("of", named(party))];
                object.extend(envied.as_ref().map(|envied| ("envied", named(envied))));
                object.push(("allocation", names.tasks(allocation)));
                Some(Json::object(object))
            }
            _ => None,
        }
    }
}

fn party<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<Party, FormatError> {
    let object = reader.object(raw)?;
    if object.get("group").is_some() {
        reader.only(&object, &["group"])?;
        return reader.named_group(&object, "group").map(Party::Group);
    }
    reader.only(&object, &["user"])?;
    reader.named_user(&object, "user").map(Party::User)
}
