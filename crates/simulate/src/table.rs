//! The series of a run as a Parquet file: the columns of the CSV, numbers as doubles and counts as integers.

use std::sync::Arc;

use evenhand_problem::Problem;
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::output::{Column, columns};
use crate::run::Run;

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
