//! Kesidis, Table II: totals over 200 and over 100,000 trials, with confidence intervals.

use crate::entry::Entry;
use crate::error::PaperError;
use evenhand_mechanisms::filling::{Rule, Score, ServerRule, Statistic, sample};
use evenhand_problem::Rational;

/// The number of trials of the paper, and a much larger number.
const TRIALS: [u64; 2] = [200, 100_000];
/// The seed of all trials.
const SEED: u64 = 2018;

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problem = crate::kesidis::example::example(["1", "1"])?;
    let mut entries = Vec::new();
    for score in [Score::Drf, Score::Tsf, Score::PsDsf] {
        let rule = Rule { score, server: ServerRule::Iid, ..Rule::default() };
        let mut of_trials = Vec::new();
        for trials in TRIALS {
            let mut total = Statistic::default();
            sample(&problem, rule, &Rational::from(1), SEED, trials, |x| {
                total.add(x.iter().flatten().sum::<u64>() as f64);
            })?;
            of_trials.push(format!("{:.3} +- {:.3}", total.mean, total.half_width()));
        }
        entries.push(Entry {
            id: format!("simulation.kesidis.table-2.{score}.total"),
            source: "Kesidis, Table II: tasks in total, mean with its 95 % confidence interval",
            paper: String::new(),
            ours: format!("{} by 200 trials, {} by 100,000", of_trials[0], of_trials[1]),
            agrees: None,
            note: "`reproduce kesidis` shows the printed means and deviations of Tables II to V next to ours"
                .to_owned(),
        });
    }
    Ok(entries)
}
