//! The series of a run as a Parquet file: the columns of the CSV, numbers as doubles and counts as integers.

use std::sync::Arc;

use evenhand_problem::Problem;
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::output::series;
use crate::run::Run;

/// What stands in one column.
enum Column {
    Numbers(Vec<f64>),
    Counts(Vec<i64>),
}

/// The columns of [`series_csv`](crate::series_csv) as one Parquet file without compression: its bytes.
///
/// # Errors
/// The writer refuses, which it has no reason to.
pub fn series_parquet(problem: &Problem, run: &Run) -> Result<Vec<u8>, ParquetError> {
    let columns = columns(problem, run);
    let field = |(name, column): &(String, Column)| {
        let physical = match column {
            Column::Numbers(_) => Physical::DOUBLE,
            Column::Counts(_) => Physical::INT64,
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("series").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_created_by("evenhand".to_owned()).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for (_, column) in columns {
        let Some(mut writer) = rows.next_column()? else { break };
        match column {
            Column::Numbers(values) => writer.typed::<DoubleType>().write_batch(&values, None, None)?,
            Column::Counts(values) => writer.typed::<Int64Type>().write_batch(&values, None, None)?,
        };
        writer.close()?;
    }
    rows.close()?;
    file.close()?;
    Ok(bytes)
}

fn columns(problem: &Problem, run: &Run) -> Vec<(String, Column)> {
    let series = series(problem, run);
    let count = |tasks: u64| i64::try_from(tasks).unwrap_or(i64::MAX);
    let running = run.rows.iter().map(|row| count(row.running.iter().sum()));
    let waiting = run.rows.iter().map(|row| count(row.waiting));
    let mut columns = vec![("time".to_owned(), Column::Numbers(series.times))];
    for (name, used) in problem.resources().iter().zip(series.utilisation) {
        columns.push((format!("utilisation of {name}"), Column::Numbers(used)));
    }
    columns.push(("running".to_owned(), Column::Counts(running.collect())));
    columns.push(("waiting".to_owned(), Column::Counts(waiting.collect())));
    if run.there.is_some() {
        let servers = run.rows.iter().map(|row| count(row.there.as_ref().map_or(0, |there| there.servers)));
        columns.push(("servers".to_owned(), Column::Counts(servers.collect())));
    }
    for (user, shares) in problem.users().iter().zip(series.shares) {
        columns.push((format!("share of {}", user.name()), Column::Numbers(shares)));
    }
    columns
}
