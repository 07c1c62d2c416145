//! The series that is read back from Parquet equals the series as CSV.

use std::path::Path;

use evenhand_problem::format::Source;
use evenhand_simulate::{ReadScenario, run, series_csv, series_parquet};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

#[test]
fn parquet_and_csv_series_agree() {
    let text = r#"{"kind": "scenario", "resources": ["cpu, all", "memory"], "policy": {"server": "best-fit"},
        "servers": [{"name": "A", "count": 3, "capacity": {"cpu, all": 4, "memory": 9}}],
        "users": [{"name": "a \"1\"", "demand": {"cpu, all": 1, "memory": 2},
                   "poisson": {"rate": 2, "tasks": 2, "duration": {"exponential": 4}}},
                  {"name": "b", "demand": {"cpu, all": 3, "memory": 1},
                   "jobs": [{"at": 3, "tasks": 20, "duration": 1}]}],
        "horizon": 60, "every": "1/7"}"#;
    let scenario = Source { name: "s.json", text }.scenario(Path::new("")).unwrap();
    let simulated = run(&scenario, &[0], &|_, _| {}).unwrap();
    let (problem, run) = &simulated.runs[0];
    let path = std::env::temp_dir().join(format!("evenhand-series-{}.parquet", std::process::id()));
    std::fs::write(&path, series_parquet(problem, run).unwrap()).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let csv = series_csv(problem, run);
    let mut lines = csv.lines();
    let names: Vec<&str> = vec![
        "time",
        "utilisation of cpu, all",
        "utilisation of memory",
        "running",
        "waiting",
        "share of a \"1\"",
        "share of b",
    ];
    assert_eq!(lines.next().unwrap().matches(',').count(), names.len(), "a comma is in a name");
    let mut rows = 0;
    for (row, line) in reader.get_row_iter(None).unwrap().zip(lines.by_ref()) {
        let row = row.unwrap();
        assert_eq!(row.get_column_iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
        let numbers: Vec<String> = row
            .get_column_iter()
            .map(|(_, field)| match field {
                Field::Double(value) => value.to_string(),
                Field::Long(value) => value.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(numbers.join(","), line);
        rows += 1;
    }
    assert_eq!(lines.next(), None);
    assert_eq!(rows, 421);
    std::fs::remove_file(&path).unwrap();
    // A run without a series gives a file without rows.
    let none = evenhand_simulate::Run { rows: Vec::new(), ..run.clone() };
    assert!(series_parquet(problem, &none).unwrap().starts_with(b"PAR1"));
}
