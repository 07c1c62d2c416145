//! All integration tests of this crate in one program, so that only one program is linked.

mod admission_files;
mod auto_scaling;
mod bounded;
mod checkpoints;
mod common;
mod course;
mod distributed;
mod machines;
mod order;
mod parquet;
mod queues;
mod reservation;
mod rounds;
mod scenarios;
mod stopped;
mod traces;
mod usage;
