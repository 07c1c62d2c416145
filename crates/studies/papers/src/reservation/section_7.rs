//! Reservation, section 7.1: random collections of VM types, and the worst collection under growing load.

use evenhand_certify::ratio::{Sweep, sweep};
use evenhand_packing::greedy::critical_loads;
use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Rational, Reservation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::cases::{Type, certified, problem, with_loads, worst};
use crate::entry::{Entry, list};
use crate::error::PaperError;

/// The number of random collections for each range of loads.
const COLLECTIONS: usize = 500;
/// The number of steps in a range of loads. All loads are multiples of a step.
const GRID: u32 = 1000;
/// The vCPU and GB of a server.
pub(super) const SERVER: [u32; 2] = [80, 640];

/// Returns a type with this number of vCPU and GB. Its reward is 1 per vCPU plus 1 per 8 GB.
fn vm(cpu: u32, memory: u32) -> Type {
    Type {
        name: format!("{cpu} vCPU {memory} GB"),
        demand: vec![Rational::from(cpu), Rational::from(memory)],
        reward: Rational::from(cpu) + Rational::from((memory, 8)),
        load: Rational::from(1),
    }
}

fn servers(types: &[Type]) -> Result<Reservation, PaperError> {
    problem(&SERVER.map(Rational::from), types)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = vec![
        statistics("unit", "uniform on (0, 1)", |_| Rational::from(1))?,
        statistics("third", "uniform on (0, a third of the jobs that fit on a server)", |most| {
            Rational::from((most, 3))
        })?,
    ];
    entries.extend(worst_types()?);
    Ok(entries)
}

/// Returns three small and three large types. Among the three types of one size, the first has much memory
/// per vCPU, the second has little, and the third has 4 GB per vCPU. Types that do not fit on a server are
/// drawn again.
fn collection(random: &mut Pcg64Mcg) -> Vec<Type> {
    let mut types: Vec<Type> = Vec::new();
    for sizes in [&[2, 4, 8][..], &[32, 64]] {
        for ratios in [&[8, 16][..], &[1, 2], &[4]] {
            loop {
                let cpu = sizes[random.random_range(0..sizes.len())];
                let memory = cpu * ratios[random.random_range(0..ratios.len())];
                if memory <= SERVER[1] {
                    types.push(vm(cpu, memory));
                    break;
                }
            }
        }
    }
    types
}

/// Returns the entry on how far greedy is below the optimum on random collections. `range` returns the largest load of
/// a type, given the number of its jobs that fit on a server.
fn statistics(id: &str, loads: &str, range: fn(u64) -> Rational) -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(71);
    let (mut optimal, mut sum, mut least) = (0, 0.0, Rational::from(1));
    for _ in 0..COLLECTIONS {
        let mut types = collection(&mut random);
        let fit = servers(&types)?;
        for (j, each) in types.iter_mut().enumerate() {
            each.load = Rational::from((random.random_range(1..GRID), GRID)) * range(fit.most(0, j));
        }
        let problem = servers(&types)?;
        let mut best = MaxReward::new(&problem);
        let sizes = [Rational::from(1)];
        let reward = greedy::fluid(&mut best, &problem.loads(), &sizes)?.reward;
        let optimum = configuration_lp::solve(&best, &problem.loads(), &sizes)?.value;
        let ratio = reward / optimum;
        optimal += usize::from(ratio == 1);
        sum += to_f64(&ratio);
        least = least.min(ratio);
    }
    Ok(Entry {
        id: format!("reservation.section-7.1.{id}"),
        source: "Reservation, section 7.1: random collections of the types of Table 1",
        paper: String::new(),
        ours: format!(
            "greedy is optimal in {:.1} %, earns {:.4} of the optimum on average, at worst {:.4}",
            100.0 * optimal as f64 / COLLECTIONS as f64,
            sum / COLLECTIONS as f64,
            to_f64(&least)
        ),
        agrees: None,
        note: format!(
            "{COLLECTIONS} collections, loads {loads}; each ratio is exact. The text of the paper has lost \
             the range of the loads and the three numbers"
        ),
    })
}

/// Returns the four types that the paper calls its worst example.
pub(super) fn four_types() -> [Type; 4] {
    [vm(1, 1), vm(4, 16), vm(2, 32), vm(32, 256)]
}

/// Returns the rewards of greedy and of the optimum at multiples of the worst loads, as in Figure 2.
pub fn sweep_of_worst_types() -> Result<Sweep, PaperError> {
    /// The number of steps of 1/10, which give multiples up to 5. The second critical load is 13/3.
    const STEPS: u32 = 50;
    let types = four_types();
    let found = worst(&servers(&types)?)?;
    let problem = servers(&with_loads(&types, &found.loads))?;
    let multiples: Vec<Rational> = (1..=STEPS).map(|k| Rational::from((k, 10))).collect();
    Ok(sweep(&problem, &multiples, &mut |_| {})?)
}

fn worst_types() -> Result<Vec<Entry>, PaperError> {
    let types = four_types();
    let found = worst(&servers(&types)?)?;
    let other = [1, 0, 2, 3].map(|j: usize| types[j].clone());
    let in_other_order = worst(&servers(&other)?)?.ratio_lower;
    let at_worst = with_loads(&types, &found.loads);
    let problem = servers(&at_worst)?;
    let certificate = certified(&problem)?;
    let proven = certificate.ratio.as_ref() == Some(&found.ratio_upper);
    let printed = Rational::from((86, 100));
    let half = Rational::from((1, 200));
    let agrees = (Rational::from(&found.ratio_lower - &printed)).abs() <= half;
    let critical = critical_loads(&mut MaxReward::new(&problem), &found.loads)?;
    let number = |value: &Option<Rational>| {
        value.as_ref().map_or("none".to_owned(), |value| format!("{value} = {:.6}", to_f64(value)))
    };
    Ok(vec![
        Entry {
            id: "reservation.section-7.1.worst-types".to_owned(),
            source: "Reservation, section 7.1 and Figure 3: (1,1), (4,16), (2,32), (32,256)",
            paper: "0.86".to_owned(),
            ours: format!("{} = {:.6}", found.ratio_lower, to_f64(&found.ratio_lower)),
            agrees: Some(agrees && proven),
            note: format!(
                "This is the proven infimum over all loads, at the loads {}. If the first two types are \
                 exchanged, which decides ties, {} = {:.6}. So no loads give 0.86. Moreover, (1,1) is not a \
                 size of Table 1.",
                list(&found.loads),
                in_other_order,
                to_f64(&in_other_order)
            ),
        },
        Entry {
            id: "reservation.figure-2".to_owned(),
            source: "Reservation, Figure 2: the two critical loads",
            paper: String::new(),
            ours: format!("{} and {}", number(&critical.all_served), number(&critical.all_best)),
            agrees: None,
            note:
                "The numbers are multiples of the worst loads. Up to the first multiple, greedy serves all \
                 jobs. From the second multiple on, every server earns the largest possible reward. The text \
                 of the paper has lost its numbers; its worst point is at the multiple 1, as here."
                    .to_owned(),
        },
    ])
}
