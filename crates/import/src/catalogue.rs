//! Price lists of cloud machine types, in one table.

use evenhand_problem::number;
use rug::Rational;

use super::{ImportError, Input};

const COLUMNS: [&str; 11] = [
    "instance_type",
    "vcpus",
    "memory_gb",
    "shared_cpu",
    "accelerators",
    "region",
    "usd_per_hour",
    "usd_per_hour_spot",
    "usd_per_month",
    "usd_per_month_1y",
    "usd_per_month_3y",
];

/// A machine type that a provider rents out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineType {
    /// The provider's name of the type.
    pub name: String,
    /// The number of virtual cores.
    pub vcpus: Rational,
    /// The memory in GB.
    pub memory: Rational,
    /// The price on demand in dollars per hour, exactly the decimal of the list.
    pub price: Rational,
}

/// Reads the machine types of one region, in the order of the table. Types that share cores or have
/// accelerators are left out. Numbers are exact.
///
/// # Errors
/// Returns an [`ImportError`] if the file cannot be read, or its header or a row is malformed.
pub fn catalogue(table: Input, region: &str) -> Result<Vec<MachineType>, ImportError> {
    let mut rows = table.rows("the header of a price list");
    let header = rows.first()?;
    if !header.is(&COLUMNS) {
        return Err(header.error(format!("not the header of a price list: expected {}", COLUMNS.join(","))));
    }
    let mut types = Vec::new();
    while let Some(row) = rows.next()? {
        row.expect_columns(COLUMNS.len())?;
        let exact = |column: usize| {
            number::parse(row.field(column))
                .ok()
                .filter(|value| *value > 0)
                .ok_or_else(|| row.column_error(column, COLUMNS[column], "a positive number"))
        };
        let is_whole_machine = row.field(3) == "False" && row.field(4).is_empty();
        if row.field(5) == region && is_whole_machine {
            let name = row.field(0).to_owned();
            types.push(MachineType { name, vcpus: exact(1)?, memory: exact(2)?, price: exact(6)? });
        }
    }
    Ok(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &str) -> Result<Vec<MachineType>, ImportError> {
        let text = format!("{}\n{rows}", COLUMNS.join(","));
        catalogue(Input::new("list.csv", std::io::Cursor::new(text.into_bytes()))?, "here")
    }

    #[test]
    fn reads_whole_machines_of_one_region() {
        let rows = "small,2,7.5,False,,here,0.1,,,,\nsmall,2,7.5,False,,there,0.2,,,,\n\
                    shared,1,1,True,,here,0.1,,,,\nwith-gpu,2,7,False,a100=1,here,4,,,,\n";
        let types = read(rows).expect("a table");
        assert_eq!(types.len(), 1);
        assert_eq!(types[0].memory, Rational::from((15, 2)));
        assert_eq!(types[0].price, Rational::from((1, 10)));
    }

    #[test]
    fn malformed_rows_are_named() {
        for (rows, place) in [
            ("small,2,7.5,False,,here,free,,,,\n", "list.csv:2: usd_per_hour: found `free`"),
            ("small,2,7.5,False,,here,0,,,,\n", "list.csv:2: usd_per_hour: found `0`"),
            ("small,2,7.5\n", "list.csv:2: found 3 columns: expected 11"),
        ] {
            let error = read(rows).expect_err("malformed").to_string();
            assert!(error.starts_with(place), "{error}");
        }
        let other = Input::new("list.csv", std::io::Cursor::new(b"a,b\n".to_vec())).expect("bytes");
        assert!(catalogue(other, "here").is_err());
    }
}
