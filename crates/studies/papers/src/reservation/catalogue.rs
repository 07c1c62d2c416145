//! Guarantees of greedy packing for the types of real price lists, for any demand.

use evenhand_import::{Input, MachineType, catalogue};
use evenhand_problem::Rational;
use evenhand_problem::number::to_f64;
use rand::seq::index::sample;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::cases::{Type, certified, problem, with_loads, worst};
use crate::data::Data;
use crate::entry::{Entry, list};
use crate::error::PaperError;

const FILE: &str = "gcp_2026-07-30.csv.zst";
const REGION: &str = "us-central1";
/// The vCPU and GB of a server in the paper.
const SERVER: [u32; 2] = [80, 640];
/// The number of random sets of 3 to 6 types.
const SETS: usize = 20;
/// The number of types of the last set, which is larger than the random sets.
const LARGE: usize = 8;

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let folder = match Data::PriceList.folder() {
        Ok(folder) => folder,
        Err(missing) => {
            return Ok(missing.entries("price list of Google Cloud", &["reservation.catalogue"]));
        }
    };
    let table = Input::open(&folder.join(FILE))?;
    let all = catalogue(table, REGION)?;
    let fit: Vec<MachineType> =
        all.into_iter().filter(|t| t.vcpus <= SERVER[0] && t.memory <= SERVER[1]).collect();
    let mut random = Pcg64Mcg::seed_from_u64(2026);
    let mut entries = Vec::new();
    for set in 1..=SETS {
        let size = random.random_range(3..=6);
        entries.push(guarantee(&format!("set-{set}"), &drawn(&mut random, &fit, size))?);
    }
    entries.push(guarantee("eight-types", &drawn(&mut random, &fit, LARGE))?);
    Ok(entries)
}

fn drawn<'a>(random: &mut Pcg64Mcg, types: &'a [MachineType], size: usize) -> Vec<&'a MachineType> {
    sample(random, types.len(), size.min(types.len())).into_iter().map(|j| &types[j]).collect()
}

fn guarantee(id: &str, machines: &[&MachineType]) -> Result<Entry, PaperError> {
    let types: Vec<Type> = machines
        .iter()
        .map(|machine| Type {
            name: machine.name.clone(),
            demand: vec![machine.vcpus.clone(), machine.memory.clone()],
            reward: machine.price.clone(),
            load: Rational::from(1),
        })
        .collect();
    let capacity = SERVER.map(Rational::from);
    let found = worst(&problem(&capacity, &types)?)?;
    let attained = certified(&problem(&capacity, &with_loads(&types, &found.loads))?)?.ratio;
    if attained.as_ref() != Some(&found.ratio_upper) {
        return Err(format!("{id}: the worst loads do not give the ratio").into());
    }
    let names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
    Ok(Entry {
        id: format!("reservation.catalogue.{id}"),
        source: "price list of Google Cloud (us-central1, 2026-07-30) on servers of 80 vCPU and 640 GB",
        paper: String::new(),
        ours: format!("never below {:.6} of the optimum, whatever the demand", to_f64(&found.ratio_lower)),
        agrees: None,
        note: format!(
            "{}; rewards are list prices. The exact ratio is {}, reached at the loads {}; {} claims prove it",
            names.join(", "),
            found.ratio_lower,
            list(&found.loads),
            found.claims.len()
        ),
    })
}
