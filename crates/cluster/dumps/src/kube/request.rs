//! The effective request of a pod: the amounts that the pod takes from a node.
//!
//! Follows Kubernetes 1.33, "Sidecar Containers" and "Pod Overhead". The request is the larger of two
//! amounts. The first amount is the sum over all containers and sidecars. The second amount is the largest
//! request of an init container together with the sidecars that start before it. If the pod itself states a
//! request, this request is used instead. The overhead of the pod is then added. A container that states only
//! a limit requests the limit.

use std::collections::HashMap;

use evenhand_problem::number::{MAX_DIGITS, parse_quantity, stated};
use rug::Rational;

use super::super::cluster::{Amounts, Cluster, add};
use super::super::tree::At;
use evenhand_import::ImportError;

/// A cache of quantities, keyed by their text. Dumps repeat a small number of quantities.
#[derive(Default)]
pub(in super::super) struct Quantities(HashMap<Box<str>, Rational>);

/// The largest number of quantities in the cache.
const MOST: usize = 10_000;
/// The inverse of the smallest unit of the API server. The server rounds quantities up to this unit.
const LEAST: u32 = 1_000_000_000;

impl Quantities {
    /// Reads a quantity of at least 0.
    pub fn read(&mut self, at: At<'_>) -> Result<Rational, ImportError> {
        let text = at.scalar()?;
        if let Some(known) = self.0.get(text) {
            return Ok(known.clone());
        }
        let value = parse_quantity(text).map_err(|error| at.error(error.to_string()))?;
        if value < 0 {
            return Err(at.error(format!(
                "{} is negative: expected a quantity of at least 0",
                super::super::tree::shown(text)
            )));
        }
        if stated(&value).is_none() {
            return Err(at.error(format!("a quantity of more than {MAX_DIGITS} digits")));
        }
        let scaled = Rational::from(&value * LEAST);
        let value = if scaled.is_integer() { value } else { scaled.ceil() / LEAST };
        if self.0.len() < MOST {
            self.0.insert(text.into(), value.clone());
        }
        Ok(value)
    }

    /// Reads the amounts of a field, which is an object with a quantity for each resource.
    pub fn amounts(
        &mut self,
        cluster: &mut Cluster,
        at: At<'_>,
        field: &str,
    ) -> Result<Amounts, ImportError> {
        let mut amounts = Amounts::new();
        for (name, value) in at.entries_of(field)? {
            // The number of pods that a node may run is not a resource that pods request.
            if name != "pods" {
                amounts.insert(cluster.resource(name), self.read(value)?);
            }
        }
        Ok(amounts)
    }

    fn container(&mut self, cluster: &mut Cluster, at: At<'_>) -> Result<Amounts, ImportError> {
        let Some(resources) = at.get("resources")? else { return Ok(Amounts::new()) };
        let mut asked = self.amounts(cluster, resources, "limits")?;
        asked.extend(self.amounts(cluster, resources, "requests")?);
        Ok(asked)
    }

    /// Returns the effective request of a pod with the specification `spec`.
    pub fn of_pod(&mut self, cluster: &mut Cluster, spec: At<'_>) -> Result<Amounts, ImportError> {
        let mut sum = Amounts::new();
        for container in spec.list_of("containers")? {
            add(&mut sum, &self.container(cluster, container)?);
        }
        let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
        for container in spec.list_of("initContainers")? {
            let mut asked = self.container(cluster, container)?;
            if container.text_of("restartPolicy")? == Some("Always") {
                add(&mut sidecars, &asked);
                asked = sidecars.clone();
            } else {
                add(&mut asked, &sidecars);
            }
            at_least(&mut most, &asked);
        }
        add(&mut sum, &sidecars);
        at_least(&mut sum, &most);
        if let Some(whole) = spec.get("resources")? {
            let limits = self.amounts(cluster, whole, "limits")?;
            let requests = self.amounts(cluster, whole, "requests")?;
            // A limit of the pod is its request only if neither the pod nor a container states a request.
            for (r, amount) in limits {
                sum.entry(r).or_insert(amount);
            }
            sum.extend(requests);
        }
        add(&mut sum, &self.amounts(cluster, spec, "overhead")?);
        match sum.values().all(|amount| stated(amount).is_some()) {
            true => Ok(sum),
            false => {
                Err(spec.error(format!("its requests add up to a number of more than {MAX_DIGITS} digits")))
            }
        }
    }
}

/// Raises each amount to at least the amount of the same resource in `others`.
fn at_least(amounts: &mut Amounts, others: &Amounts) {
    for (r, amount) in others {
        let known = amounts.entry(*r).or_default();
        if *known < *amount {
            *known = amount.clone();
        }
    }
}
