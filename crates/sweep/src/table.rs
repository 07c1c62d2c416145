//! Lines as a table of Parquet. Its columns are the same for every grid, so that the files of parts are one table too:
//! exact numbers are texts, with the nearest double beside them, and what has fields of its own is JSON.

use std::io::Write;
use std::sync::Arc;

use evenhand_problem::number;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::line::ReadLine;

/// Why a table cannot be written.
pub type TableError = ParquetError;

/// Bytes of text that are gathered before they are written.
const GATHERED: usize = 16 << 20;

/// A column of texts: its name, and what a line has in it.
type Text = (&'static str, fn(&ReadLine) -> Option<&str>);

const TEXTS: [Text; 15] = [
    ("problem", |line| line.problem.as_deref()),
    ("sha256", |line| line.sha256.as_deref()),
    ("varied", |line| line.varied.as_ref().map(|raw| raw.get())),
    ("mechanism", |line| Some(&line.mechanism)),
    ("settings", |line| Some(line.settings.get())),
    ("status", |line| line.status.as_deref()),
    ("tasks", |line| line.tasks.as_ref().map(|raw| raw.get())),
    ("total_tasks", |line| line.total_tasks.as_deref()),
    ("least_dominant_share", |line| line.least_dominant_share.as_deref()),
    ("jain", |line| line.jain.as_deref()),
    ("utilisation", |line| line.utilisation.as_ref().map(|raw| raw.get())),
    ("axioms", |line| line.axioms.as_ref().map(|raw| raw.get())),
    ("not_applicable", |line| line.not_applicable.as_deref()),
    ("failed", |line| line.failed.as_deref()),
    ("cause", |line| line.cause.as_deref()),
];

/// Columns of doubles, beside the texts from which they come.
const DOUBLES: [Text; 3] = [
    ("total_tasks_double", |line| line.total_tasks.as_deref()),
    ("least_dominant_share_double", |line| line.least_dominant_share.as_deref()),
    ("jain_double", |line| line.jain.as_deref()),
];

/// A table that is being written, line by line.
pub struct Rows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    gathered: Vec<ReadLine>,
    bytes: usize,
}

impl<W: Write + Send> Rows<W> {
    /// A table without rows.
    ///
    /// # Errors
    /// [`TableError`], as all of these: it cannot be written.
    pub fn new(out: W) -> Result<Self, TableError> {
        let number = Type::primitive_type_builder("number", Physical::INT64);
        let mut fields = vec![Arc::new(number.with_repetition(Repetition::REQUIRED).build()?)];
        for (name, _) in TEXTS {
            let text = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .with_converted_type(ConvertedType::UTF8);
            fields.push(Arc::new(text.with_repetition(Repetition::OPTIONAL).build()?));
        }
        for (name, _) in DOUBLES {
            let double = Type::primitive_type_builder(name, Physical::DOUBLE);
            fields.push(Arc::new(double.with_repetition(Repetition::OPTIONAL).build()?));
        }
        let schema = Type::group_type_builder("sweep").with_fields(fields).build()?;
        let properties = WriterProperties::builder().set_created_by("evenhand".to_owned()).build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { file, gathered: Vec::new(), bytes: 0 })
    }

    /// Adds the text of a line.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn add(&mut self, text: &str) -> Result<(), TableError> {
        let line = ReadLine::parse(text).map_err(|error| ParquetError::External(Box::new(error)))?;
        self.gathered.push(line);
        self.bytes += text.len();
        if self.bytes > GATHERED { self.write() } else { Ok(()) }
    }

    /// Writes what is left, and the end of the table.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn finish(mut self) -> Result<(), TableError> {
        self.write()?;
        self.file.close().map(drop)
    }

    fn write(&mut self) -> Result<(), TableError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let lines = std::mem::take(&mut self.gathered);
        self.bytes = 0;
        let mut group = self.file.next_row_group()?;
        if let Some(mut column) = group.next_column()? {
            let numbers: Vec<i64> =
                lines.iter().map(|line| i64::try_from(line.number).unwrap_or(i64::MAX)).collect();
            column.typed::<Int64Type>().write_batch(&numbers, None, None)?;
            column.close()?;
        }
        for (_, of) in TEXTS {
            let Some(mut column) = group.next_column()? else { break };
            let texts: Vec<Option<&str>> = lines.iter().map(of).collect();
            let values: Vec<ByteArray> = texts.iter().flatten().map(|text| ByteArray::from(*text)).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&are_there(&texts)), None)?;
            column.close()?;
        }
        for (_, of) in DOUBLES {
            let Some(mut column) = group.next_column()? else { break };
            let double = |text| number::parse_result(text).ok().map(|value| number::to_f64(&value));
            let doubles: Vec<Option<f64>> = lines.iter().map(|line| of(line).and_then(double)).collect();
            let values: Vec<f64> = doubles.iter().flatten().copied().collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&are_there(&doubles)), None)?;
            column.close()?;
        }
        group.close().map(drop)
    }
}

/// Definition levels: 1 where there is a value.
fn are_there<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}
