//! What a pod takes of a node: its effective request.
//!
//! Kubernetes 1.33, "Sidecar Containers" and "Pod Overhead": the larger of what all containers and sidecars ask for
//! together, and of what any init container asks for beside the sidecars started before it; what the pod states as a whole
//! takes the place of that; the overhead is added. A container that states a limit and no request asks for the limit.

use std::collections::HashMap;

use evenhand_problem::number::{MAX_DIGITS, parse_quantity, stated};
use rug::Rational;

use super::super::cluster::{Amounts, Cluster, add};
use super::super::tree::At;
use evenhand_import::ImportError;

/// Quantities that have been read: dumps repeat a few of them.
#[derive(Default)]
pub(in super::super) struct Quantities(HashMap<Box<str>, Rational>);

/// Most quantities that are kept.
const MOST: usize = 10_000;
/// The least that the API server keeps of a quantity.
const LEAST: u32 = 1_000_000_000;

impl Quantities {
    /// A quantity of at least 0.
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

    /// Amounts by resource, of a field that is an object.
    pub fn amounts(
        &mut self,
        cluster: &mut Cluster,
        at: At<'_>,
        field: &str,
    ) -> Result<Amounts, ImportError> {
        let mut amounts = Amounts::new();
        for (name, value) in at.entries_of(field)? {
            // How many pods a node may run is no resource that a pod asks for.
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

    /// What the pod of a specification asks for.
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
            // A limit of the pod is its request only where neither it nor a container states one.
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

/// Raises amounts to others.
fn at_least(amounts: &mut Amounts, others: &Amounts) {
    for (r, amount) in others {
        let known = amounts.entry(*r).or_default();
        if *known < *amount {
            *known = amount.clone();
        }
    }
}
