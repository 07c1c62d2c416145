//! External data that is not part of this repository, and the message for missing data.

use crate::entry::Entry;
use std::fmt;
use std::path::PathBuf;

/// A set of external data from which entries are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The machines and the first task events of Google's clusterdata-2011-2.
    Google,
    /// The nodes and pods of Alibaba's cluster-trace-gpu-v2023.
    Openb,
    /// A price list of virtual machines.
    PriceList,
}

impl Data {
    /// Returns the folder of the data and the required files.
    const fn place(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Google => (
                "google2011",
                &[
                    "machine_configs_t0.csv",
                    "machine_configs_all_trace.csv",
                    "task_events.part-00000-of-00500.csv.gz",
                ],
            ),
            Self::Openb => (
                "alibaba_gpu2023_openb",
                &[
                    "openb_node_list_all_node.csv.gz",
                    "openb_pod_list_default.csv.gz",
                    "openb_pod_list_gpuspec33.csv.gz",
                ],
            ),
            Self::PriceList => ("vm_catalogues", &["gcp_2026-07-30.csv.zst"]),
        }
    }

    /// Returns the folder that contains the files. It is inside the folder named by `EVENHAND_DATA`, or else inside
    /// `../shared/data`.
    ///
    /// # Errors
    /// A file does not exist or is empty.
    pub fn folder(self) -> Result<PathBuf, Missing> {
        let all = std::env::var_os("EVENHAND_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
        let (name, files) = self.place();
        let folder = all.join(name);
        let is_there =
            |file: &&str| folder.join(file).metadata().is_ok_and(|about| about.is_file() && about.len() > 0);
        match files.iter().find(|file| !is_there(file)) {
            None => Ok(folder),
            Some(file) => Err(Missing { file: format!("{name}/{file}") }),
        }
    }
}

/// An error that reports missing data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The first file that is missing.
    file: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the data is not here: set EVENHAND_DATA to a folder with {}", self.file)
    }
}

impl std::error::Error for Missing {}

impl Missing {
    /// Returns unchecked entries that replace the entries that need the data. `ids` are their ids, and
    /// `source` is their place in the paper.
    pub(crate) fn entries(&self, source: &'static str, ids: &[&str]) -> Vec<Entry> {
        let entry = |id: &&str| Entry {
            id: (*id).to_owned(),
            source,
            paper: String::new(),
            ours: String::new(),
            agrees: None,
            note: self.to_string(),
        };
        ids.iter().map(entry).collect()
    }
}
