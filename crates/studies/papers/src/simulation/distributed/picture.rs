//! Draws PS-DSF, Figure 6.

use evenhand_report::plot::{Axis, Figure, LineStyle, Plot, Series};
use evenhand_simulate::distributed::{Absence, Network, follow};

use super::{AWAY, HORIZON, cpu, without_user_4};
use crate::error::PaperError;
use crate::instance::solve;
use crate::ps_dsf::figure_5;

/// Draws the CPU utilisation of two classes over time. PS-DSF is simulated by its distributed procedure. The
/// other mechanisms are shown by their allocations with and without user 4.
pub fn figure_6() -> Result<String, PaperError> {
    let problem = figure_5(&["2/15", "0.2"])?;
    let absence = Absence { user: 3, from: AWAY.0, to: AWAY.1 };
    let (states, _) = follow(&problem, &[absence], Network::default(), (HORIZON, 1.0), 1, None)?;
    let mut others = Vec::new();
    for (mechanism, name) in [("tsf", "TSF"), ("drfh", "C-DRFH")] {
        let with = solve(&problem, mechanism)?;
        others.push((name, with, without_user_4(&problem, mechanism)?));
    }
    let plot = |class: usize, name: &str| {
        let points = states.iter().map(|state| (state.time, state.utilisation[class][0])).collect();
        let mut series = vec![Series::new("PS-DSF", points).without_marks(LineStyle::Solid)];
        for (name, with, (fewer, without)) in &others {
            let (with, without) = (cpu(&problem, with, class), cpu(fewer, without, class));
            let steps = [(0.0, with), (AWAY.0, with), (AWAY.0, without), (AWAY.1, without), (AWAY.1, with)];
            let steps = steps.into_iter().chain([(HORIZON, with)]).collect();
            series.push(Series::new(*name, steps).without_marks(LineStyle::Dashed));
        }
        Plot {
            title: format!("{name}; user 4 is away from {:.0} to {:.0} s", AWAY.0, AWAY.1),
            x: Axis::linear("time (s)"),
            y: Axis::linear("CPU utilisation").with_range(0.0, 1.02),
            series,
        }
    };
    let plots = vec![plot(2, "third class"), plot(3, "fourth class")];
    Ok(Figure { title: String::new(), plots, columns: 2 }.to_svg()?)
}
