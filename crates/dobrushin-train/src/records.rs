//! Where records come from.

use crate::{Bounds, Table};
use std::borrow::Cow;

/// Records that are brought into memory when a step needs them.
pub trait Records: Send {
    /// What all records obey.
    fn bounds(&self) -> &Bounds;
    /// How many targets a record has.
    fn tasks(&self) -> usize;
    /// How many records there are.
    fn count(&self) -> u64;
    /// Whether they can be had in any order; otherwise one after the other, and from the first again at any time.
    fn any_order(&self) -> bool;
    /// A table, and where in it the wanted records are.
    ///
    /// # Errors
    /// What went wrong with reading, in words.
    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String>;
}

impl Records for Table {
    fn bounds(&self) -> &Bounds {
        Table::bounds(self)
    }

    fn tasks(&self) -> usize {
        Table::tasks(self)
    }

    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn any_order(&self) -> bool {
        true
    }

    fn bring<'a>(&'a mut self, wanted: &'a [u32]) -> Result<(&'a Table, Cow<'a, [u32]>), String> {
        Ok((self, Cow::Borrowed(wanted)))
    }
}
