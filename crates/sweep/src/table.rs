//! Lines as a Parquet table. The columns are the same for every grid, so the files of several parts can be
//! combined into one table. Exact numbers are strings, and separate columns contain the nearest doubles.
//! Nested values are JSON.

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

/// The error of a table that cannot be written.
pub type TableError = ParquetError;

/// The number of bytes of text that are collected before they are written.
const GATHERED: usize = 16 << 20;

/// A column of strings: its name, and the function that returns its value for a line.
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

/// The columns of doubles. Each has a name, and a function that returns the string to convert.
const DOUBLES: [Text; 3] = [
    ("total_tasks_double", |line| line.total_tasks.as_deref()),
    ("least_dominant_share_double", |line| line.least_dominant_share.as_deref()),
    ("jain_double", |line| line.jain.as_deref()),
];

/// A table to which lines are added one by one.
pub struct Rows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    gathered: Vec<ReadLine>,
    bytes: usize,
}

impl<W: Write + Send> Rows<W> {
    /// Creates a table without rows.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be written.
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
    /// [`TableError`] if the text is not a line, or the table cannot be written.
    pub fn add(&mut self, text: &str) -> Result<(), TableError> {
        let line = ReadLine::parse(text).map_err(|error| ParquetError::External(Box::new(error)))?;
        self.gathered.push(line);
        self.bytes += text.len();
        if self.bytes > GATHERED { self.write() } else { Ok(()) }
    }

    /// Writes the remaining lines and the end of the table.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be written.
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

/// Returns the definition levels of Parquet: 1 for a value, and 0 for a missing value.
fn are_there<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::Rows;

    #[test]
    fn a_parquet_table_survives_writing_and_reading() {
        let lines = [
            r#"{"problem": "p", "number": 0, "sha256": "ab", "mechanism": "m", "settings": {"a": "1"}, "status": "solved",
                "tasks": {"u": "1"}, "total_tasks": "1/4", "least_dominant_share": "0", "jain": null, "utilisation": {}}"#,
            r#"{"problem": null, "number": 1, "sha256": null, "varied": {"/x": 1}, "mechanism": "m", "settings": {},
                "failed": "why", "cause": "input"}"#,
        ];
        let path = std::env::temp_dir().join(format!("evenhand-sweep-{}.parquet", std::process::id()));
        let mut rows = Rows::new(std::fs::File::create(&path).unwrap()).unwrap();
        lines.iter().for_each(|line| rows.add(line).unwrap());
        assert!(rows.add("{}").is_err());
        rows.finish().unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let read: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        std::fs::remove_file(&path).unwrap();
        let field = |row: usize, name: &str| {
            let (_, field) = read[row].get_column_iter().find(|(column, _)| *column == name).unwrap();
            field.clone()
        };
        let text = |text: &str| Field::Str(text.to_owned());
        assert_eq!(read.len(), 2);
        assert_eq!((field(0, "number"), field(1, "number")), (Field::Long(0), Field::Long(1)));
        assert_eq!((field(0, "problem"), field(1, "problem")), (text("p"), Field::Null));
        assert_eq!(
            (field(0, "total_tasks"), field(0, "total_tasks_double")),
            (text("1/4"), Field::Double(0.25))
        );
        assert_eq!(
            (field(0, "jain"), field(0, "jain_double"), field(0, "varied")),
            (Field::Null, Field::Null, Field::Null)
        );
        assert_eq!((field(1, "varied"), field(1, "cause")), (text(r#"{"/x": 1}"#), text("input")));
        assert_eq!(field(0, "settings"), text(r#"{"a": "1"}"#));
    }
}
