//! The tables and figures of the DRFH paper.

use super::exhibit::Exhibit;
use super::system::{self, Words};
use crate::data::Data;
use crate::drfh;
use crate::error::PaperError;
use crate::instance::solve;
use crate::simulation::{dynamic, google};

pub const EXHIBITS: &[Exhibit] = &[
    Exhibit::new("drfh.table-1", "Servers of a Google cluster", &["drfh.table-1"]),
    Exhibit::new("drfh.table-2", "Utilisation with slots of several sizes", &["simulation.drfh.table-2"])
        .of(Data::Google),
    Exhibit::new("drfh.figure-1", "Two servers and two users", &[]).drawn(figure_1),
    Exhibit::new("drfh.figure-2", "DRF in each server on its own", &["drfh.figure-2"]).drawn(figure_2),
    Exhibit::new("drfh.figure-3", "Equal shares over the cluster", &["drfh.figure-3"]).drawn(figure_3),
    Exhibit::new(
        "drfh.figure-4",
        "Three users come and go on 100 servers",
        &["drfh.figure-4", "simulation.drfh.figure-4"],
    )
    .drawn(dynamic::picture),
    Exhibit::new("drfh.figure-5", "Utilisation over the run", &["simulation.drfh.figure-5"])
        .drawn(google::figure_5)
        .of(Data::Google),
    Exhibit::new(
        "drfh.figure-6",
        "Completion times of jobs",
        &["simulation.drfh.figure-6a", "simulation.drfh.figure-6b"],
    )
    .drawn(google::figure_6)
    .of(Data::Google),
    Exhibit::new(
        "drfh.figure-7",
        "Task completion ratios, best fit against slots",
        &["simulation.drfh.figure-7"],
    )
    .drawn(google::figure_7)
    .of(Data::Google),
    Exhibit::new(
        "drfh.figure-8",
        "Task completion ratios, shared against dedicated clouds",
        &["simulation.drfh.figure-8"],
    )
    .drawn(google::figure_8)
    .of(Data::Google),
];

const SERVERS: &[&str] = &["server 1", "server 2"];
const RESOURCES: &[&str] = &["CPU", "memory"];

fn figure_1() -> Result<String, PaperError> {
    let title = "Two servers and two users";
    let words = Words { title, servers: SERVERS, resources: RESOURCES };
    system::diagram(&drfh::two_servers()?, &words, false)
}

fn figure_2() -> Result<String, PaperError> {
    draw_holdings("per-server-drf", "DRF in each server on its own: 6 tasks each")
}

fn figure_3() -> Result<String, PaperError> {
    draw_holdings("drfh", "DRFH: 10 tasks each")
}

fn draw_holdings(mechanism: &str, title: &str) -> Result<String, PaperError> {
    let problem = drfh::two_servers()?;
    let words = Words { title, servers: SERVERS, resources: RESOURCES };
    system::holdings(&problem, &solve(&problem, mechanism)?, &words)
}
