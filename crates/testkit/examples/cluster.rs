//! Writes the dump of an invented cluster to standard output: `cluster NODES PODS QUEUES SEED
//! kubernetes|v1beta1|v1beta2`.

use std::io::{BufWriter, Write};

use evenhand_testkit::clusters::{ClusterSize, write_cluster};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<usize>().ok());
    let (Some(nodes), Some(pods), Some(queues), Some(seed)) = (number(0), number(1), number(2), number(3))
    else {
        return Err(std::io::Error::other("cluster NODES PODS QUEUES SEED kubernetes|v1beta1|v1beta2"));
    };
    let kueue = match arguments.get(4).map(String::as_str) {
        Some("v1beta1") => Some("v1beta1"),
        Some("v1beta2") => Some("v1beta2"),
        _ => None,
    };
    let size = ClusterSize { nodes, pods, queues, kueue, odd: false };
    let mut out = BufWriter::new(std::io::stdout().lock());
    write_cluster(&mut out, size, seed as u64)?;
    out.flush()
}
