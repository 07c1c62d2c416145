//! The tables and figures of the Reservation paper.

use super::exhibit::Exhibit;
use crate::data::Data;
use crate::error::PaperError;
use crate::reservation;
use crate::simulation::{admission, priorities};

pub const EXHIBITS: &[Exhibit] = &[
    Exhibit::new(
        "reservation.table-1",
        "Sizes of virtual machines: random collections of them",
        &["reservation.section-7.1.unit", "reservation.section-7.1.third"],
    ),
    Exhibit::new("reservation.figure-1", "The state at the end of CRA", &[]).drawn(admission::state_of_cra),
    Exhibit::new(
        "reservation.figure-2",
        "Greedy and optimal reward over the load",
        &["reservation.figure-2", "reservation.section-7.1.worst-types"],
    )
    .drawn(figure_2),
    Exhibit::new(
        "reservation.figure-3",
        "Reward of DRA by the number of servers",
        &["simulation.reservation.figure-3", "simulation.reservation.static"],
    )
    .drawn(admission::by_servers),
    Exhibit::new(
        "reservation.figure-4",
        "Reward of DRA over time",
        &[
            "simulation.reservation.figure-4",
            "simulation.reservation.theorem-6.1",
            "simulation.reservation.lyapunov",
        ],
    )
    .drawn(admission::over_time),
    Exhibit::new(
        "reservation.figure-5",
        "Rewards on a trace by the number of servers",
        &["simulation.reservation.figure-5"],
    )
    .drawn(priorities::figure_5)
    .of(Data::Google),
    Exhibit::new(
        "reservation.figure-6",
        "Rewards on a trace over time",
        &["simulation.reservation.figure-6"],
    )
    .drawn(priorities::figure_6)
    .of(Data::Google),
];

fn figure_2() -> Result<String, PaperError> {
    let sweep = reservation::section_7::sweep_of_worst_types()?;
    Ok(evenhand_report::sweep(&sweep, "the types of section 7.1").to_svg()?)
}
