//! Tests of KAI: a small snapshot in the format of its interface, the same snapshot in a zip archive, and
//! dumps that are refused.

use std::io::{Cursor, Write};

use evenhand_dumps::{Options, snapshot};
use evenhand_import::Input;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::System;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::common::{classes, exactly, left_out, refuses, users};

const DUMP: &str = r#"{"config": {"actions": "allocate"}, "schedulerParams": {}, "rawObjects": {
  "pods": [
    {"metadata": {"name": "keeper", "namespace": "kai-resource-reservation"}, "spec": {"nodeName": "n1",
      "containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]}, "status": {"phase": "Running"}},
    {"metadata": {"name": "half", "namespace": "x", "annotations": {"pod-group-name": "g1", "gpu-fraction": "0.5"}}, "spec": {"nodeName": "n1",
      "containers": [{"resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Running"}},
    {"metadata": {"name": "w0", "namespace": "x", "annotations": {"pod-group-name": "g2"}}, "spec": {
      "containers": [{"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "2"}}}]}, "status": {"phase": "Pending"}},
    {"metadata": {"name": "w1", "namespace": "x", "annotations": {"pod-group-name": "g2"}}, "spec": {
      "containers": [{"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "2"}}}]}, "status": {"phase": "Pending"}}],
  "nodes": [{"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "16", "memory": "1000k", "nvidia.com/gpu": "8", "pods": "110"}}}],
  "queues": [
    {"metadata": {"name": "dept"}, "spec": {"priority": 200, "resources": {
      "gpu": {"quota": 4, "overQuotaWeight": 3, "limit": -1}, "cpu": {"quota": -1, "overQuotaWeight": 1, "limit": 8000}, "memory": {"quota": 0.25, "overQuotaWeight": 3, "limit": -1}}}},
    {"metadata": {"name": "team"}, "spec": {"parentQueue": "dept", "resources": {
      "gpu": {"quota": 2.5, "overQuotaWeight": 1, "limit": 6}, "cpu": {"quota": 1500, "overQuotaWeight": 1, "limit": -1}, "memory": {"overQuotaWeight": 1, "limit": -1}}},
      "status": {"allocated": {"nvidia.com/gpu": "500m"}, "requested": {"nvidia.com/gpu": "4500m"}}}],
  "podGroups": [
    {"metadata": {"name": "g1", "namespace": "x"}, "spec": {"minMember": 1, "queue": "team"}},
    {"metadata": {"name": "g2", "namespace": "x"}, "spec": {"minMember": 2, "queue": "team", "preemptibility": "non-preemptible", "topologyConstraint": {}}}],
  "bindRequests": [], "configMaps": [{"metadata": {"name": "c"}}]}}"#;

#[test]
fn queues_are_groups() {
    let snapshot = exactly(System::Kai, &[("dump", DUMP)]);
    assert_eq!(classes(&snapshot), ["1 x n1: 16 1000000 8"]);
    assert_eq!(
        users(&snapshot),
        [
            "team/1: cpu 1, nvidia.com/gpu 1/2; 1 run, 0 wait; all",
            "team/2: cpu 1, nvidia.com/gpu 2; 0 run, 2 wait; all, gang 2",
        ]
    );
    let groups = snapshot.problem.groups().list();
    let (dept, team) = (&groups[0], &groups[1]);
    assert_eq!((dept.priority, team.priority, team.parent), (200, 100, Some(0)));
    assert_eq!((dept.weight.clone(), team.weight.clone()), (Rational::from(3), Rational::from(1)));
    let of = |amounts: [(usize, (i64, i64)); 3]| Some(amounts.map(|(r, x)| (r, Rational::from(x))).to_vec());
    // An unlimited quota counts as the capacity of the cluster, up to the limit. A unit of memory is a
    // million bytes.
    assert_eq!(dept.guarantee, of([(0, (8, 1)), (1, (250_000, 1)), (2, (4, 1))]));
    assert_eq!(team.guarantee, of([(0, (3, 2)), (1, (0, 1)), (2, (5, 2))]));
    assert_eq!(dept.limit, [(0, Rational::from(8))]);
    assert_eq!(team.limit, [(2, Rational::from(6))]);
    let reported: Vec<_> =
        snapshot.reported.iter().map(|of| (of.what.as_str(), of.value.clone().unwrap())).collect();
    assert_eq!(reported, [("allocated", Rational::from((1, 2))), ("requested", Rational::from((9, 2)))]);
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["pods that reserve GPUs which other pods share"].0, 1);
    // It is not known whether a single GPU has one half free.
    let fraction = snapshot.constraints.iter().find(|of| of.user == 0).unwrap();
    assert_eq!(fraction.not_modelled, ["whether a single GPU has this fraction free"]);
    assert_eq!(left_out["unlimited quotas, which promise the capacity of the whole cluster"].1, ["dept"]);
    assert_eq!(
        left_out["over-quota weights that differ by resource: that of the GPUs counts for all"].1,
        ["dept"]
    );
    // Pods of a group that is not preemptible are protected.
    assert!(snapshot.constraints.iter().any(|of| of.protected));
    assert!(!left_out.keys().any(|what| what.contains("topologyConstraint")));
}

#[test]
fn errors_name_the_place() {
    let with = |from: &str, to: &str, expected: &str| {
        let text = DUMP.replacen(from, to, 1);
        assert_ne!(text, DUMP);
        refuses(System::Kai, &[("dump", &text)], expected);
    };
    with(
        "\"quota\": 4",
        "\"quota\": -4",
        "dump: rawObjects.queues[0].spec.resources.gpu.quota: -4 is negative",
    );
    with(
        "\"quota\": 4",
        "\"quota\": \"8x\"",
        "rawObjects.queues[0].spec.resources.gpu.quota: `8x` is not a number",
    );
    with(
        "\"gpu-fraction\": \"0.5\"",
        "\"gpu-fraction\": \"-8\"",
        "rawObjects.pods[1].metadata.annotations.gpu-fraction: -8 is negative",
    );
    with(
        "\"cpu\": \"16\"",
        "\"cpu\": \"8x\"",
        "rawObjects.nodes[0].status.allocatable.cpu: `8x` is not a number",
    );
    with(
        "\"parentQueue\": \"dept\"",
        "\"parentQueue\": \"team\"",
        "no problem can be made of this: groups[1].parent",
    );
    with("\"name\": \"w1\"", "\"name\": \"w0\"", "rawObjects.pods[3]: the Pod `x/w0` is given twice");
    with("\"minMember\": 2", "\"minMember\": -2", "rawObjects.podGroups[1].spec.minMember: -2 is negative");
    refuses(System::Kai, &[("dump", &DUMP[..900])], "the file is cut off");
    refuses(System::Kai, &[("dump", "{\"pods\": []}")], "dump: the field `kind` is missing");
}

/// Returns a zip archive of one file. The checksum and the size come after the file, as Go writes them.
fn zip(text: &str, is_wide: bool) -> Vec<u8> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::fast());
    deflated.write_all(text.as_bytes()).unwrap();
    let deflated = deflated.finish().unwrap();
    let mut sum = flate2::Crc::new();
    sum.update(text.as_bytes());
    let mut bytes = b"PK\x03\x04\x14\0\x08\0\x08\0".to_vec();
    bytes.extend([0; 16]);
    bytes.extend([13, 0, 2, 0]);
    bytes.extend(b"snapshot.json..");
    bytes.extend(&deflated);
    bytes.extend(b"PK\x07\x08");
    bytes.extend(sum.sum().to_le_bytes());
    for size in [deflated.len(), text.len()] {
        let size = (size as u64).to_le_bytes();
        bytes.extend(if is_wide { &size[..] } else { &size[..4] });
    }
    bytes.extend(b"PK\x01\x02 and the rest of the list");
    bytes
}

#[test]
fn reads_a_zip_archive_of_one_file() {
    let read = |bytes: Vec<u8>| {
        let input = Input::new("snapshot.zip", Cursor::new(bytes)).map_err(|error| error.to_string())?;
        snapshot(System::Kai, vec![input], &Options::default()).map_err(|error| error.to_string())
    };
    let plain = read(DUMP.as_bytes().to_vec()).unwrap();
    for is_wide in [false, true] {
        assert_eq!(read(zip(DUMP, is_wide)).unwrap(), plain);
    }
    let whole = zip(DUMP, false);
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        read(bytes).unwrap_err()
    };
    let list = whole.len() - 29;
    assert_eq!(&whole[list..list + 4], b"PK\x01\x02");
    assert!(with(8, 0).contains("not compressed by deflate"));
    assert!(with(list - 12, whole[list - 12] ^ 1).contains("snapshot.zip:"), "a checksum");
    assert!(with(list + 2, 9).contains("the list of its files is missing"));
    for length in (0..whole.len() - 26).step_by(7).filter(|length| *length > 3) {
        assert!(read(whole[..length].to_vec()).is_err(), "{length}");
    }
    let mut two = whole[..list].to_vec();
    two.extend(b"PK\x03\x04");
    two.extend([0; 40]);
    assert!(read(two).unwrap_err().contains("the zip archive has several files"));
}
