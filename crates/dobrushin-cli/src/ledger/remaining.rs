//! A table without the records of people who are left out.

use crate::problem::Problem;
use crate::table_file::{Cells, Columns, Rows};
use std::path::Path;

/// Rows of which some are left out.
pub struct Remaining<'a> {
    /// All of them.
    pub rows: &'a dyn Rows,
    /// The places of those that are left out, from 1 upwards and in order.
    pub gone: &'a [u64],
}

impl Rows for Remaining<'_> {
    fn path(&self) -> &Path {
        self.rows.path()
    }

    fn columns(&self, wanted: &[&str]) -> Result<Box<dyn Columns>, Problem> {
        let columns = self.rows.columns(wanted)?;
        match self.gone {
            [] => Ok(columns),
            gone => Ok(Box::new(Fewer { columns, gone: gone.to_vec(), read: 0 })),
        }
    }
}

struct Fewer {
    columns: Box<dyn Columns>,
    gone: Vec<u64>,
    /// How many rows were read, with those that are left out.
    read: u64,
}

impl Columns for Fewer {
    fn becoming(&mut self, bytes: usize) {
        self.columns.becoming(bytes);
    }

    fn next(&mut self) -> Result<(Cells, u64), Problem> {
        loop {
            let (cells, reached) = self.columns.next()?;
            let before = self.read;
            self.read += cells.len() as u64;
            let kept = cells.without(|row| self.gone.binary_search(&(before + row as u64 + 1)).is_ok());
            // A batch without rows would be the end.
            if !kept.is_empty() || before == self.read {
                return Ok((kept, reached));
            }
        }
    }

    fn length(&self) -> Option<u64> {
        self.columns.length()
    }

    fn place(&self) -> &'static str {
        self.columns.place()
    }
}
