//! The tables and figures of the PS-DSF paper.

use super::exhibit::Exhibit;
use super::system::{self, Words};
use crate::error::PaperError;
use crate::instance::solve;
use crate::ps_dsf::{figures, tables};
use crate::simulation::distributed;

pub const EXHIBITS: &[Exhibit] = &[
    Exhibit::new("ps-dsf.table-1", "What the mechanisms promise", &["ps-dsf.table-1"]),
    Exhibit::new("ps-dsf.table-3", "Tasks of a user alone on each class", &["ps-dsf.table-3"]),
    Exhibit::new("ps-dsf.table-4", "Tasks under PS-DSF and TSF", &["ps-dsf.table-4", "ps-dsf.section-5"]),
    Exhibit::new("ps-dsf.figure-1", "Three users on two servers", &["ps-dsf.figure-1"]).drawn(figure_1),
    Exhibit::new("ps-dsf.figure-2", "Four users on two servers", &[]).drawn(figure_2),
    Exhibit::new("ps-dsf.figure-3", "PS-DSF on Figure 2", &["ps-dsf.figure-3"]).drawn(figure_3),
    Exhibit::new("ps-dsf.figure-4", "Two users on three channels", &["ps-dsf.figure-4"]).drawn(figure_4),
    Exhibit::new("ps-dsf.figure-5", "Four users on four classes of servers", &[]).drawn(figure_5),
    Exhibit::new(
        "ps-dsf.figure-6",
        "CPU utilisation of two classes over time",
        &["simulation.ps-dsf.figure-6"],
    )
    .drawn(distributed::figure_6),
];

const SERVERS: &[&str] = &["server 1", "server 2"];
const RESOURCES: &[&str] = &["cores", "memory", "bandwidth"];

fn figure_1() -> Result<String, PaperError> {
    let title = "Three users on two servers, one without bandwidth";
    let words = Words { title, servers: SERVERS, resources: RESOURCES };
    system::diagram(&figures::figure_1()?, &words, false)
}

fn figure_2() -> Result<String, PaperError> {
    let title = "Four users on two servers, one without bandwidth";
    let words = Words { title, servers: SERVERS, resources: RESOURCES };
    system::diagram(&figures::figure_2()?, &words, false)
}

fn figure_3() -> Result<String, PaperError> {
    let problem = figures::figure_2()?;
    let title = "PS-DSF: 3.6, 3.6, 8 and 8 tasks";
    let words = Words { title, servers: SERVERS, resources: RESOURCES };
    system::holdings(&problem, &solve(&problem, "ps-dsf")?, &words)
}

fn figure_4() -> Result<String, PaperError> {
    let title = "Two users on three channels: rates that fit the text";
    let servers = &["channel 1", "channel 2", "channel 3"];
    let words = Words { title, servers, resources: &["bandwidth"] };
    system::diagram(&figures::some_channels()?, &words, true)
}

fn figure_5() -> Result<String, PaperError> {
    let title = "120 servers of four classes: tasks of each user alone on a class";
    let servers = &["class A", "class B", "class C", "class D"];
    let words = Words { title, servers, resources: &["CPU", "memory"] };
    system::diagram(&tables::figure_5_of_table_3()?, &words, true)
}
