//! Users, servers, resources and rows: indices in memory, names in files.

pub(crate) mod read;
pub(crate) mod write;
